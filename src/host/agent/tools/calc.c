/* Two stacks (Dijkstra's shunting yard): values, and operators that wait for their right operand.
 * Both have a fixed size, so depth costs neither memory nor stack. */
#include "agent/tools/calc.h"

#include "base/ascii.h"
#include "json/number.h"

#include <math.h>

struct value {
    bool is_whole;
    int64_t whole;
    double number;
};

static struct value of_whole(int64_t whole)
{
    return (struct value){true, whole, (double)whole};
}

/* A double that is exactly an integer becomes one. */
static struct value of_number(double number)
{
    bool is_whole = fabs(number) < 9007199254740992.0 && trunc(number) == number;
    return (struct value){is_whole, is_whole ? (int64_t)number : 0, number};
}

/* --- functions and constants ----------------------------------------------------------------- */

static struct value take_abs(const struct value *args, size_t n)
{
    (void)n;
    if (args[0].is_whole && args[0].whole > INT64_MIN)
        return of_whole(args[0].whole < 0 ? -args[0].whole : args[0].whole);
    return of_number(fabs(args[0].number));
}

static struct value take_best(const struct value *args, size_t n, bool is_max)
{
    struct value best = args[0];
    for (size_t i = 1; i < n; i++) {
        bool both = best.is_whole && args[i].is_whole;
        bool is_less = both ? args[i].whole < best.whole : args[i].number < best.number;
        bool is_more = both ? args[i].whole > best.whole : args[i].number > best.number;
        if (is_max ? is_more : is_less)
            best = args[i];
    }
    return best;
}

static struct value take_max(const struct value *args, size_t n)
{
    return take_best(args, n, true);
}

static struct value take_min(const struct value *args, size_t n)
{
    return take_best(args, n, false);
}

/* round(x) or round(x, digits after the point) */
static struct value take_round(const struct value *args, size_t n)
{
    if (args[0].is_whole && (n == 1 || args[1].number >= 0))
        return args[0];
    double scale = n == 2 ? pow(10, round(args[1].number)) : 1;
    return of_number(round(args[0].number * scale) / scale);
}

/* X(name, function of one double) */
#define PLAIN_TABLE(X)                                                                             \
    X(ceil)                                                                                        \
    X(cos)                                                                                         \
    X(exp)                                                                                         \
    X(floor)                                                                                       \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(sqrt)                                                                                        \
    X(tan)                                                                                         \
    X(trunc)

#define X(name)                                                                                    \
    static struct value take_##name(const struct value *args, size_t n)                            \
    {                                                                                              \
        (void)n;                                                                                   \
        return of_number(name(args[0].number));                                                    \
    }
PLAIN_TABLE(X)
#undef X

static struct value take_ln(const struct value *args, size_t n)
{
    (void)n;
    return of_number(log(args[0].number));
}

enum { ANY_NUMBER = 64 };

static const struct function {
    const char *name;
    size_t n_min, n_max;
    struct value (*take)(const struct value *args, size_t n);
} functions[] = {{"abs", 1, 1, take_abs},
                 {"ln", 1, 1, take_ln},
                 {"max", 1, ANY_NUMBER, take_max},
                 {"min", 1, ANY_NUMBER, take_min},
                 {"round", 1, 2, take_round},
#define X(name) {#name, 1, 1, take_##name},
                 PLAIN_TABLE(X)
#undef X
};

static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};

const char *pl_calc_names(void)
{
#define X(name) ", " #name
    return "abs, ln, max, min, round" PLAIN_TABLE(X) ", pi, e";
#undef X
}

/* --- operators ------------------------------------------------------------------------------- */

enum op { OP_BRACKET, OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_REST, OP_NEGATE, OP_POWER };

static const struct {
    int level;
    bool is_right; /* right-associative */
} ops[] = {
    [OP_BRACKET] = {0, false},  [OP_ADD] = {1, false},    [OP_SUBTRACT] = {1, false},
    [OP_MULTIPLY] = {2, false}, [OP_DIVIDE] = {2, false}, [OP_REST] = {2, false},
    [OP_NEGATE] = {3, true},    [OP_POWER] = {4, true},
};

struct waiting {
    enum op op;
    size_t at;                       /* its position in the text */
    const struct function *function; /* for a bracket; NULL: a plain one */
    size_t n_values;                 /* for a bracket: the number of values below its arguments */
};

struct calc {
    struct pl_str text;
    size_t at;
    struct value values[PL_CALC_MAX_DEPTH + 2];
    struct waiting waits[PL_CALC_MAX_DEPTH];
    size_t n_values, n_waits;
    struct pl_error *err;
};

static enum pl_status fail(struct calc *c, size_t at, const char *says)
{
    return pl_fail(c->err, PL_INVALID, "%s (character %zu of the expression)", says, at + 1);
}

static struct value power(struct value a, struct value b)
{
    int64_t result = 1, base = a.whole;
    if (!a.is_whole || !b.is_whole || b.whole < 0)
        return of_number(pow(a.number, b.number));
    for (int64_t n = b.whole; n; n >>= 1) {
        if ((n & 1) && __builtin_mul_overflow(result, base, &result))
            return of_number(pow(a.number, b.number));
        if (n > 1 && __builtin_mul_overflow(base, base, &base))
            return of_number(pow(a.number, b.number));
    }
    return of_whole(result);
}

static struct value operate(enum op op, struct value a, struct value b)
{
    bool both = a.is_whole && b.is_whole;
    int64_t whole;
    switch (op) {
    case OP_ADD:
        return both && !__builtin_add_overflow(a.whole, b.whole, &whole)
                   ? of_whole(whole)
                   : of_number(a.number + b.number);
    case OP_SUBTRACT:
        return both && !__builtin_sub_overflow(a.whole, b.whole, &whole)
                   ? of_whole(whole)
                   : of_number(a.number - b.number);
    case OP_MULTIPLY:
        return both && !__builtin_mul_overflow(a.whole, b.whole, &whole)
                   ? of_whole(whole)
                   : of_number(a.number * b.number);
    case OP_DIVIDE: /* -1 could overflow, and is exact as a subtraction */
        if (both && b.whole == -1)
            return operate(OP_SUBTRACT, of_whole(0), a);
        return both && a.whole % b.whole == 0 ? of_whole(a.whole / b.whole)
                                              : of_number(a.number / b.number);
    case OP_REST:
        if (both)
            return of_whole(b.whole == -1 ? 0 : a.whole % b.whole);
        return of_number(fmod(a.number, b.number));
    default:
        return power(a, b);
    }
}

static enum pl_status check_value(struct calc *c, size_t at)
{
    double number = c->values[c->n_values - 1].number;
    if (isnan(number))
        return fail(c, at, "This has no real value");
    return isinf(number) ? fail(c, at, "This number is too large") : PL_OK;
}

/* Applies the last operator to its operands. */
static enum pl_status reduce(struct calc *c)
{
    struct waiting wait = c->waits[--c->n_waits];
    struct value right = c->values[--c->n_values];
    if (wait.op == OP_NEGATE) {
        c->values[c->n_values++] = operate(OP_SUBTRACT, of_whole(0), right);
        return PL_OK;
    }
    struct value left = c->values[--c->n_values];
    if ((wait.op == OP_DIVIDE || wait.op == OP_REST) && right.number == 0)
        return fail(c, wait.at, "This divides by zero");
    c->values[c->n_values++] = operate(wait.op, left, right);
    return check_value(c, wait.at);
}

/* Applies all operators back to the open bracket. */
static enum pl_status reduce_to_bracket(struct calc *c)
{
    enum pl_status status = PL_OK;
    while (status == PL_OK && c->n_waits && c->waits[c->n_waits - 1].op != OP_BRACKET)
        status = reduce(c);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

static char peek(const struct calc *c, size_t ahead)
{
    return c->at + ahead < c->text.len ? c->text.ptr[c->at + ahead] : '\0';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static enum pl_status push_wait(struct calc *c, struct waiting wait)
{
    if (c->n_waits == PL_CALC_MAX_DEPTH)
        return fail(c, wait.at, "The expression is nested too deep");
    c->waits[c->n_waits++] = wait;
    return PL_OK;
}

static enum pl_status push_value(struct calc *c, struct value value, size_t at)
{
    if (c->n_values == PL_CALC_MAX_DEPTH + 1)
        return fail(c, at, "The expression is nested too deep");
    c->values[c->n_values++] = value;
    return check_value(c, at);
}

static void skip_digits(struct calc *c)
{
    while (pl_ascii_is_digit(peek(c, 0)))
        c->at++;
}

static enum pl_status read_number(struct calc *c)
{
    size_t begin = c->at;
    int64_t whole;
    skip_digits(c);
    if (peek(c, 0) == '.') {
        c->at++;
        skip_digits(c);
    }
    char sign = peek(c, 1);
    if ((peek(c, 0) == 'e' || peek(c, 0) == 'E') &&
        (pl_ascii_is_digit(sign) ||
         ((sign == '+' || sign == '-') && pl_ascii_is_digit(peek(c, 2))))) {
        c->at += 2;
        skip_digits(c);
    }
    struct pl_str text = pl_str_slice(c->text, begin, c->at);
    if (text.len == 1 && text.ptr[0] == '.')
        return fail(c, begin, "A number must have digits");
    if (pl_json_number_int64(text, &whole))
        return push_value(c, of_whole(whole), begin);
    return push_value(c, of_number(pl_json_number_double(text)), begin);
}

static enum pl_status read_name(struct calc *c)
{
    size_t begin = c->at;
    while (is_letter(peek(c, 0)) || pl_ascii_is_digit(peek(c, 0)))
        c->at++;
    struct pl_str name = pl_str_slice(c->text, begin, c->at);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (pl_str_eq(name, pl_str_of(constants[i].name)))
            return push_value(c, of_number(constants[i].value), begin);
    const struct function *found = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (pl_str_eq(name, pl_str_of(functions[i].name)))
            found = &functions[i];
    if (!found)
        return pl_fail(c->err, PL_INVALID,
                       "\"%.*s\" is unknown; use: %s (character %zu of the expression)",
                       (int)(name.len < 40 ? name.len : 40), name.ptr, pl_calc_names(), begin + 1);
    if (peek(c, 0) != '(')
        return fail(c, begin, "A function must be followed by its arguments in brackets");
    c->at++;
    return push_wait(c, (struct waiting){OP_BRACKET, begin, found, c->n_values});
}

/* Where a value is expected: a number, a name, a bracket or a sign. */
static enum pl_status read_value(struct calc *c, bool *expects_value)
{
    char next = peek(c, 0);
    size_t n_before = c->n_values;
    enum pl_status status;
    if (pl_ascii_is_digit(next) || next == '.') {
        status = read_number(c);
    } else if (is_letter(next)) {
        status = read_name(c);
    } else if (next == '(') {
        status = push_wait(c, (struct waiting){OP_BRACKET, c->at++, NULL, c->n_values});
    } else if (next == '-') {
        status = push_wait(c, (struct waiting){.op = OP_NEGATE, .at = c->at++});
    } else if (next == '+') {
        c->at++;
        return PL_OK;
    } else {
        return fail(c, c->at, "A number is missing here");
    }
    *expects_value = c->n_values == n_before;
    return status;
}

static enum pl_status close_bracket(struct calc *c)
{
    size_t at = c->at++;
    enum pl_status status = reduce_to_bracket(c);
    if (status != PL_OK)
        return status;
    if (!c->n_waits)
        return fail(c, at, "This bracket was not opened");
    struct waiting bracket = c->waits[--c->n_waits];
    size_t n = c->n_values - bracket.n_values;
    if (!bracket.function)
        return PL_OK;
    if (n < bracket.function->n_min || n > bracket.function->n_max)
        return fail(c, bracket.at, "This function has a different number of arguments");
    c->n_values = bracket.n_values + 1;
    c->values[bracket.n_values] = bracket.function->take(&c->values[bracket.n_values], n);
    return check_value(c, bracket.at);
}

static enum pl_status next_argument(struct calc *c)
{
    size_t at = c->at++;
    enum pl_status status = reduce_to_bracket(c);
    if (status == PL_OK && (!c->n_waits || !c->waits[c->n_waits - 1].function))
        status = fail(c, at, "A comma can only separate the arguments of a function");
    return status;
}

static enum pl_status read_operator(struct calc *c, bool *expects_value)
{
    static const struct {
        const char *sign;
        enum op op;
    } signs[] = {{"**", OP_POWER}, {"^", OP_POWER},    {"*", OP_MULTIPLY}, {"/", OP_DIVIDE},
                 {"%", OP_REST},   {"-", OP_SUBTRACT}, {"+", OP_ADD}};
    struct pl_str rest = pl_str_slice(c->text, c->at, c->text.len);
    size_t at = c->at, i = 0, n = sizeof signs / sizeof *signs;
    if (rest.ptr[0] == ')')
        return close_bracket(c);
    *expects_value = true;
    if (rest.ptr[0] == ',')
        return next_argument(c);
    while (i < n && !pl_str_starts(rest, pl_str_of(signs[i].sign)))
        i++;
    if (i == n)
        return fail(c, at, "An operator is missing here, one of + - * / % ^");
    enum op op = signs[i].op;
    c->at += strlen(signs[i].sign);
    enum pl_status status = PL_OK;
    while (status == PL_OK && c->n_waits) {
        int level = ops[c->waits[c->n_waits - 1].op].level;
        if (level < ops[op].level || (level == ops[op].level && ops[op].is_right))
            break;
        status = reduce(c);
    }
    return status == PL_OK ? push_wait(c, (struct waiting){.op = op, .at = at}) : status;
}

static enum pl_status evaluate(struct calc *c)
{
    bool expects_value = true;
    enum pl_status status = PL_OK;
    while (status == PL_OK) {
        while (peek(c, 0) == ' ' || (peek(c, 0) >= '\t' && peek(c, 0) <= '\r'))
            c->at++;
        if (c->at >= c->text.len)
            break;
        status = expects_value ? read_value(c, &expects_value) : read_operator(c, &expects_value);
    }
    if (status == PL_OK && expects_value)
        status = fail(c, c->at, "A number is missing at the end");
    if (status == PL_OK)
        status = reduce_to_bracket(c);
    if (status == PL_OK && c->n_waits)
        status = fail(c, c->waits[c->n_waits - 1].at, "This bracket is not closed");
    return status;
}

enum pl_status pl_calc(struct pl_str expression, struct pl_buf *to, struct pl_error *err)
{
    struct calc c = {.text = expression, .err = err};
    if (expression.len > PL_CALC_MAX_TEXT)
        return pl_fail(err, PL_INVALID, "An expression has at most %d bytes", PL_CALC_MAX_TEXT);
    enum pl_status status = evaluate(&c);
    if (status != PL_OK)
        return status;
    if (c.values[0].is_whole)
        pl_buf_addf(to, "%lld", (long long)c.values[0].whole);
    else
        pl_buf_addf(to, "%.15g", c.values[0].number);
    return to->status;
}
