#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "property/generate.h"

#include "base/mem.h"
#include "json/text.h"

#include <stdio.h>

enum { MAX_RULES = 200, MAX_CALLS = 32, MAX_DEPTH = 12 };

struct rule {
    struct pl_str name, text;
};

struct pl_grammar {
    struct rule rules[MAX_RULES];
    size_t n_rules;
};

enum space { SPACE_NONE, SPACE_AFTER, SPACE_LINES, SPACE_ODD, N_SPACES };

struct maker {
    const struct pl_grammar *grammar;
    struct pl_buf *to;
    uint64_t random;
    enum space space;
    bool is_plain;  /* not JSON: written without changes */
    bool has_comma; /* a comma is due before the next value */
    bool is_open;   /* nothing was written since the last opening bracket */
    int depth;      /* of brackets, for indentation */
    int nesting;    /* of rules */
    unsigned n_keys, n_ids;
    unsigned first_call, n_calls; /* open calls: first_call … n_calls */
    unsigned answered;
    bool is_marked;
};

static uint32_t draw(struct maker *m, uint32_t below)
{
    m->random += 0x9e3779b97f4a7c15u;
    uint64_t z = m->random;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

#define PICK(m, table) (table)[draw(m, sizeof(table) / sizeof *(table))]

static void add_space(struct maker *m, bool is_break)
{
    static const char *const odd[] = {"", "", " ", "\n", "\t", "\r\n  ", "   "};
    if (m->space == SPACE_ODD)
        pl_buf_adds(m->to, PICK(m, odd));
    else if (m->space == SPACE_LINES && is_break) {
        pl_buf_addc(m->to, '\n');
        pl_buf_fill(m->to, ' ', 2 * (size_t)m->depth);
    }
}

/* Writes the comma and white space before a value or a key. */
static void begin(struct maker *m)
{
    if (m->is_plain)
        return;
    if (m->has_comma && !m->is_open) {
        pl_buf_addc(m->to, ',');
        if (m->space == SPACE_AFTER)
            pl_buf_addc(m->to, ' ');
    }
    if (m->has_comma || m->is_open)
        add_space(m, m->depth > 0);
    m->has_comma = m->is_open = false;
}

static void put(struct maker *m, struct pl_str json)
{
    begin(m);
    pl_buf_add(m->to, json);
}

static void put_bracket(struct maker *m, char c)
{
    if (c == '{' || c == '[') {
        begin(m);
        pl_buf_addc(m->to, c);
        m->depth++;
        m->is_open = true;
        return;
    }
    m->depth--;
    if (!m->is_open)
        add_space(m, true);
    m->has_comma = m->is_open = false;
    pl_buf_addc(m->to, c);
}

static void put_colon(struct maker *m)
{
    if (m->space == SPACE_ODD)
        add_space(m, false);
    pl_buf_addc(m->to, ':');
    if (m->space == SPACE_AFTER || m->space == SPACE_LINES)
        pl_buf_addc(m->to, ' ');
}

/* Pieces of texts as JSON inside quotes: the same letters in several spellings. */
static const char *const pieces[] = {
    "hello",
    "a",
    " ",
    "world, ",
    "x < y",
    "{{name}}",
    "\\n",
    "\\n\\n",
    "\\t",
    "\\\"q\\\"",
    "\\\\",
    "\\/",
    "/",
    "\\u4e2d",
    "中文",
    "你好,世界",
    "😀",
    "\\ud83d\\ude00",
    "\\u00e9",
    "é",
    "e\\u0301",
    "0",
    "null",
    "<cite id=\\\"c1\\\"/>",
    "\\u0041",
    "\\u001f",
    "~1",
    "%20",
    "{\\\"k\\\": 1}",
    "[1, 2]",
    "\\u2028",
    "Ünïcode",
    "the quick brown fox",
    "\\r\\n",
    "`code`",
    "data:",
    "'",
    "&amp;",
    "--",
    "?",
};

static void put_text(struct maker *m, bool may_be_marked)
{
    begin(m);
    pl_buf_addc(m->to, '"');
    uint32_t n = draw(m, 8);
    if (may_be_marked && !m->is_marked && draw(m, 2) == 0) {
        m->is_marked = true;
        pl_buf_adds(m->to, PL_GENERATE_MARK);
    }
    for (uint32_t i = 0; i < n; i++)
        pl_buf_adds(m->to, PICK(m, pieces));
    if (n == 0)
        pl_buf_addf(m->to, "words %u", draw(m, 1000));
    pl_buf_addc(m->to, '"');
}

static const char *const names[] = {"get_weather", "search", "Bash",      "read_file",
                                    "f",           "Add",    "run_query", "lookup-it"};

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "42",
    "0.10",
    "1e2",
    "1E+2",
    "-0",
    "1.50",
    "1e400",
    "3.14159265358979323846",
    "25227143063332189585438",
    "100000",
    "7",
};
static const char *const parts_of_one[] = {"0",    "1",   "0.7",    "0.70",
                                           "7e-1", "1.0", "0.2500", "5E-1"};
static const char *const counts[] = {"1", "64", "256", "1000", "4096", "8192"};

static void put_value(struct maker *m, int depth);

static void put_key(struct maker *m)
{
    char key[32];
    snprintf(key, sizeof key, "\"x_%u\"", m->n_keys++);
    put(m, pl_str_of(key));
}

static void put_object(struct maker *m, int depth)
{
    put_bracket(m, '{');
    for (uint32_t i = draw(m, 4); i > 0; i--) {
        put_key(m);
        put_colon(m);
        put_value(m, depth + 1);
        m->has_comma = true;
    }
    put_bracket(m, '}');
}

static void put_array(struct maker *m, int depth)
{
    put_bracket(m, '[');
    for (uint32_t i = draw(m, 3); i > 0; i--) {
        put_value(m, depth + 1);
        m->has_comma = true;
    }
    put_bracket(m, ']');
}

static void put_value(struct maker *m, int depth)
{
    static const char *const words[] = {"null", "true", "false"};
    switch (draw(m, depth < 3 ? 8 : 5)) {
    case 0:
        put(m, pl_str_of(PICK(m, words)));
        return;
    case 1:
    case 2:
        put(m, pl_str_of(PICK(m, numbers)));
        return;
    case 5:
        put_array(m, depth);
        return;
    case 6:
    case 7:
        put_object(m, depth);
        return;
    default:
        put_text(m, false);
    }
}

/* Writes a JSON value of another maker as a string: the arguments of a call. */
static void put_arguments(struct maker *m)
{
    static const char *const broken[] = {"{\"a\":", "not JSON", "", "{'a':1}"};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct maker inner = {
        .to = &text, .random = m->random, .is_marked = true, .space = draw(m, N_SPACES)};
    if (draw(m, 12) == 0)
        pl_buf_adds(&text, PICK(m, broken));
    else
        put_object(&inner, 0);
    m->random ^= inner.random << 1;
    begin(m);
    pl_json_quote(m->to, pl_buf_str(&text));
}

static void put_call(struct maker *m, char what)
{
    char id[40];
    if (what == 'c') {
        if (m->n_calls < MAX_CALLS)
            m->n_calls++;
        snprintf(id, sizeof id, "\"call_%u_x\"", m->n_calls);
    } else if (what == 'r') {
        m->answered = ++m->first_call;
        snprintf(id, sizeof id, "\"call_%u_x\"", m->answered);
    } else {
        unsigned of = what == 'f' ? m->n_calls : m->answered;
        snprintf(id, sizeof id, "\"%s\"", names[of * 5 % 8]);
    }
    put(m, pl_str_of(id));
}

static void put_number(struct maker *m, char what)
{
    const char *text = what == 'n'   ? PICK(m, numbers)
                       : what == 'p' ? PICK(m, parts_of_one)
                                     : PICK(m, counts);
    put(m, pl_str_of(text));
}

static void put_named(struct maker *m, char what)
{
    static const char *const urls[] = {"https://x.test/a.png", "https://cdn.x.test/b.jpg?w=1&h=2"};
    static const char *const data[] = {"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
                                       "/9j/4AAQSkZJRg==", "R0lGODlhAQABAAAAACw="};
    static const char *const times[] = {"2026-11-15T08:30:00Z", "2026-01-02T03:04:05.678+08:00"};
    static const char *const words[] = {"alpha-1", "m",        "vendor/model-x:2",
                                        "gpt-5",   "claude-x", "models/gemini-z"};
    char text[160];
    switch (what) {
    case 'u':
        snprintf(text, sizeof text, "\"%s\"", PICK(m, urls));
        break;
    case 'd':
        snprintf(text, sizeof text, "\"%s\"", PICK(m, data));
        break;
    case 'D':
        snprintf(text, sizeof text, "\"data:image/png;base64,%s\"", PICK(m, data));
        break;
    case 'P':
        snprintf(text, sizeof text, "\"data:application/pdf;base64,%s\"", PICK(m, data));
        break;
    case 'z':
        snprintf(text, sizeof text, "\"%s\"", PICK(m, times));
        break;
    case 'e':
        snprintf(text, sizeof text, "\"msg-%u-id\"", m->n_ids++);
        break;
    case 'q':
        snprintf(text, sizeof text, "%u", m->n_ids);
        break;
    default:
        snprintf(text, sizeof text, "\"%s\"", PICK(m, words));
    }
    put(m, pl_str_of(text));
}

/* A text without escapes and without tokens of gpt-oss. */
static void put_plain(struct maker *m)
{
    static const char *const plain[] = {"hello ", "中文",       "😀",     "\n",      "a \"b\"",
                                        "\\",     "{\"a\": 1}", "< | >", "the end", " "};
    if (!m->is_marked) {
        m->is_marked = true;
        pl_buf_adds(m->to, PL_GENERATE_MARK);
    }
    for (uint32_t n = draw(m, 5); n > 0; n--)
        pl_buf_adds(m->to, PICK(m, plain));
}

/* $x */
static void put_made_up(struct maker *m, char what)
{
    static const char *const truth[] = {"true", "false"};
    switch (what) {
    case 't': /* a text */
    case 'm': /* text of a message */
        put_text(m, what == 'm');
        return;
    case 'T': /* a text of gpt-oss */
        put_plain(m);
        return;
    case 'b':
        put(m, pl_str_of(PICK(m, truth)));
        return;
    case 'j': /* any value */
        put_value(m, 1);
        return;
    case 'o': /* any object */
        put_object(m, 1);
        return;
    case 'a': /* the arguments of a call: an object as text, sometimes not JSON */
        put_arguments(m);
        return;
    case 'k': /* an unknown member name */
        put_key(m);
        return;
    case 'c': /* id of a new call */
    case 'f': /* name of the function it calls */
    case 'r': /* id of the oldest unanswered call, which is now answered */
    case 'g': /* name of its function */
        put_call(m, what);
        return;
    case 'n': /* any number */
    case 'p': /* 0 to 1 */
    case 'i': /* a count */
        put_number(m, what);
        return;
    default: /* u URL, d base64, D and P data URLs, z time, e new id, q its number, w a model */
        put_named(m, what);
    }
}

static void expand(struct maker *m, struct pl_str template);

static void put_rule(struct maker *m, struct pl_str name)
{
    const struct pl_grammar *g = m->grammar;
    size_t first = 0, n = 0;
    for (size_t i = 0; i < g->n_rules; i++)
        if (pl_str_eq(g->rules[i].name, name) && n++ == 0)
            first = i;
    if (n == 0)
        fail_msg("the grammar has no rule %.*s", PL_STR_ARG(name));
    size_t chosen = first + draw(m, (uint32_t)n);
    if (++m->nesting > MAX_DEPTH)
        fail_msg("the rule %.*s never ends", PL_STR_ARG(name));
    expand(m, g->rules[chosen].text);
    m->nesting--;
}

static size_t put_rules(struct maker *m, struct pl_str template, size_t at)
{
    size_t end = at;
    while (end < template.len &&
           ((template.ptr[end] >= 'a' && template.ptr[end] <= 'z') || template.ptr[end] == '_'))
        end++;
    struct pl_str name = pl_str_slice(template, at, end);
    char mark = end < template.len ? template.ptr[end] : 0;
    uint32_t n = mark == '*' ? draw(m, 4) : mark == '+' ? 1 + draw(m, 3) : 1;
    if (mark == '%')
        n = m->n_calls - m->first_call;
    for (uint32_t i = 0; i < n; i++) {
        put_rule(m, name);
        m->has_comma |= mark == '*' || mark == '+' || mark == '%';
    }
    return mark == '*' || mark == '+' || mark == '%' ? end + 1 : end;
}

static size_t find_close(struct pl_str template, size_t at)
{
    int depth = 1;
    while (at < template.len && depth) {
        depth += (template.ptr[at] == '(') - (template.ptr[at] == ')');
        at++;
    }
    return at;
}

static size_t put_literal(struct maker *m, struct pl_str template, size_t at)
{
    size_t end = at + 1;
    bool is_string = template.ptr[at] == '\'';
    while (end < template.len && (is_string ? template.ptr[end] != '\''
                                            : strchr("abcdefghijklmnopqrstuvwxyz0123456789.-",
                                                     template.ptr[end]) != NULL))
        end++;
    if (!is_string) {
        put(m, pl_str_slice(template, at, end));
        return end;
    }
    begin(m);
    pl_buf_addc(m->to, '"');
    pl_buf_add(m->to, pl_str_slice(template, at + 1, end));
    pl_buf_addc(m->to, '"');
    return end + 1;
}

static size_t put_next(struct maker *m, struct pl_str template, size_t at)
{
    switch (template.ptr[at]) {
    case '@':
        return put_rules(m, template, at + 1);
    case '$':
        put_made_up(m, template.ptr[at + 1]);
        return at + 2;
    case '(': {
        size_t end = find_close(template, at + 1);
        if (draw(m, 2))
            expand(m, pl_str_slice(template, at + 1, end - 1));
        return end;
    }
    default:
        break;
    }
    if (m->is_plain) {
        pl_buf_addc(m->to, template.ptr[at]);
        return at + 1;
    }
    switch (template.ptr[at]) {
    case ',':
        m->has_comma = true;
        return at + 1;
    case ':':
        put_colon(m);
        return at + 1;
    case '{':
    case '[':
    case '}':
    case ']':
        put_bracket(m, template.ptr[at]);
        return at + 1;
    default:
        return put_literal(m, template, at);
    }
}

static void expand(struct maker *m, struct pl_str template)
{
    for (size_t at = 0; at < template.len;)
        at = put_next(m, template, at);
}

struct pl_grammar *pl_grammar_create(const char *rules)
{
    struct pl_grammar *g = pl_mem_alloc(1, sizeof *g);
    assert_non_null(g);
    g->n_rules = 0;
    for (const char *line = rules; *line;) {
        const char *end = strchr(line, '\n'), *colon = strstr(line, ": ");
        assert_non_null(end);
        assert_non_null(colon);
        assert_true(colon < end && g->n_rules < MAX_RULES);
        g->rules[g->n_rules++] =
            (struct rule){{line, (size_t)(colon - line)}, {colon + 2, (size_t)(end - colon - 2)}};
        line = end + 1;
    }
    return g;
}

void pl_grammar_destroy(struct pl_grammar *grammar)
{
    pl_mem_free(grammar);
}

void pl_generate(const struct pl_grammar *grammar, uint64_t seed, struct pl_buf *to)
{
    struct maker m = {.grammar = grammar, .to = to, .random = seed * 0x2545f4914f6cdd1du};
    m.is_plain = pl_str_eq(grammar->rules[0].name, PL_STR("text"));
    m.space = draw(&m, N_SPACES);
    put_rule(&m, grammar->rules[0].name);
    if (!m.is_plain && m.space == SPACE_LINES)
        pl_buf_addc(to, '\n');
    assert_int_equal(to->status, PL_OK);
}
