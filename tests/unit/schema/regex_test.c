#include "schema/regex/regex_int.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TEXTS = 16 };

/* Matches and non-matches of a pattern; both lists are NULL-terminated. */
struct sample {
    const char *pattern;
    const char *found[MAX_TEXTS], *missed[MAX_TEXTS];
};

static const struct sample samples[] = {
    /* plain terms */
    {"", {"", "x"}, {NULL}},
    {"^abc$", {"abc"}, {"abc\n", "abcd", "\nabc", "Abc"}},
    {"a|b|", {"a", "", "c"}, {NULL}},
    {"^(?:a|bc)$", {"a", "bc"}, {"abc", ""}},
    {"^.$", {"a", "é", "🐲", "\t"}, {"", "\n", "\r", "\u2028", "\u2029", "ab"}},
    {"^a.b$",
     {"a\xc2\x85"
      "b",
      "a\vb"},
     {"a\nb"}},
    {"x#y z", {"x#y z"}, {"xy", "x"}},
    /* quantifiers */
    {"^a{2,3}$", {"aa", "aaa"}, {"a", "aaaa"}},
    {"^a{2,}?$", {"aa", "aaaaa"}, {"a"}},
    {"^a*?b+?c??$", {"b", "abc", "aabb"}, {"a", "ac"}},
    {"^🐲*$", {"", "🐲", "🐲🐲"}, {"🐉", "D"}},
    /* Annex B, where it is harmless */
    {"^a{$", {"a{"}, {"a"}},
    {"^a{,5}$", {"a{,5}"}, {"", "aa"}},
    {"^{}]$", {"{}]"}, {""}},
    {"^\\-\\_\\@\\ \\。$", {"-_@ 。"}, {"\\-"}},
    {"^[\\w-.]$", {"a", "-", "."}, {"/", ","}},
    {"^[a-\\d]$", {"a", "-", "5"}, {"b"}},
    {"^(?=a)*a$", {"a"}, {"b"}},
    /* escapes for characters */
    {"^\\t\\n\\v\\f\\r\\0$", {NULL}, {"\t\n\v\f\r"}},
    {"^\\v$", {"\v"}, {"\n", "\u2028"}},
    {"^\\cC\\cj$", {"\003\n"}, {"Cj"}},
    {"^\\x41\\u0042\\u{43}\\u{1F432}\\uD83D\\uDC32$", {"ABC🐲🐲"}, {"ABC"}},
    {"^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$", {"^$\\.*+?()[]{}|/"}, {""}},
    {"\\uD83D", {NULL}, {"🐲", "x", "\uFFFD"}},
    /* sets */
    {"^\\d$", {"0", "9"}, {"߀", "４", "a"}},
    {"^\\D$", {"߀", "a"}, {"0"}},
    {"^\\w$", {"a", "Z", "_", "5"}, {"é", "-", "ſ"}},
    {"^\\W$", {"é", "-"}, {"a"}},
    {"^\\s$",
     {" ", "\t", "\n", "\v", "\f", "\r", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000",
      "\ufeff"},
     {"\x01", "–", "\u180e", "\u200b", "\xc2\x85"}},
    {"^\\S$", {"\x01", "–", "\u200b", "🐲"}, {" ", "\u00a0", "\ufeff", "\u2028"}},
    /* classes */
    {"^[a-cx-]$", {"a", "c", "x", "-"}, {"d", "y"}},
    {"^[^a-c]$", {"d", "é", "\n"}, {"a", ""}},
    {"^[\\s\\d]$", {" ", "\ufeff", "1"}, {"a"}},
    {"^[\\S]$", {"a", "🐲"}, {" ", "\ufeff", "\u3000"}},
    {"^[^\\S]$", {" ", "\ufeff"}, {"a", "🐲"}},
    {"^[^\\D]$", {"7"}, {"a", "߀"}},
    {"^[^\\W_]$", {"a"}, {"_", "é"}},
    {"^[\\b]$", {"\b"}, {"b"}},
    {"^[\\]\\[^$.(]$", {"]", "[", "^", "$", ".", "("}, {"\\"}},
    {"^[🐲-🐴]$", {"🐳"}, {"🐱", "x"}},
    {"^[\\uD83D\\uDC32]$", {"🐲"}, {"🐳"}},
    {"^[\\uD800-\\uFFFF]$", {"\uE000", "\uFFFD"}, {"a", "\uD7FF"}},
    {"^[\\uD800-\\uDFFF]$", {NULL}, {"a", "🐲"}},
    {"^[^\\uD800-\\uDFFF]$", {"a", "🐲"}, {""}},
    {"[]", {NULL}, {"", "a"}},
    {"^[^]$", {"a", "\n", "🐲"}, {"", "ab"}},
    {"^a[]*b[^]+$", {"ab1", "ab\n\n"}, {"ab"}},
    /* properties */
    {"^\\p{Letter}+$", {"Hello", "π", "漢"}, {"1", ""}},
    {"^\\p{digit}+$", {"42", "৪২"}, {"-"}},
    {"^\\P{Lu}$", {"a", "1"}, {"A", "É"}},
    {"^[\\p{Lu}\\p{Nd}]$", {"É", "৪"}, {"é"}},
    {"^\\p{LC}\\p{Cased_Letter}$", {"aA"}, {"漢漢"}},
    {"^\\p{General_Category=Decimal_Number}\\p{gc=Nd}$", {"1৪"}, {"aa"}},
    {"^\\p{Script=Greek}\\p{sc=Grek}$", {"αΩ"}, {"ab"}},
    {"^\\p{Script_Extensions=Hira}$", {"ひ", "ー"}, {"ア"}},
    {"^\\p{Script=Hira}$", {"ひ"}, {"ー"}},
    {"^\\p{Assigned}$", {"a"}, {"\u0378"}},
    {"^\\P{Assigned}$", {"\u0378"}, {"a"}},
    {"^\\p{ASCII}\\p{Any}\\p{Emoji}$", {"a漢😀"}, {"漢a😀"}},
    {"^\\p{White_Space}\\p{ID_Start}$", {" a"}, {"a "}},
    /* groups and references */
    {"^(a)(?<n>b)\\2\\k<n>\\1$", {"abbba"}, {"abab"}},
    {"^\\k<n>(?<n>a)\\1$", {"aa"}, {"a", "aaa"}},
    {"^(?:a|(b))\\1c$", {"ac", "bbc"}, {"bc", "aac"}},
    {"^(a\\1)$", {"a"}, {"aa"}},
    {"^(?<\\u0061>x)(?<$_é>y)\\k<a>\\k<$_é>$", {"xyxy"}, {"xy"}},
    {"^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$", {"abcdefghijj"}, {"abcdefghija0"}},
    {"^(?!.*bad)(?=.*good)", {"good"}, {"good bad", ""}},
    {"(?<=a|bc)d", {"ad", "bcd"}, {"cd", "d"}},
    {"(?<!\\d{2})x", {"1x", "x"}, {"12x"}},
    {"\\bfoo\\b", {"a foo b", "éfoo"}, {"foobar"}},
    {"\\Boo", {"foo"}, {"oo"}},
};

typedef enum pl_status search_fn(const struct pl_regex *, struct pl_regex_scratch *, struct pl_str);

/* Both engines must give the same results, each with and without its meter. */
static void each_sample(bool wants_jit, search_fn *search)
{
    struct pl_regex_scratch *scratch;

    assert_int_equal(pl_regex_scratch_create(&scratch), PL_OK);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *sample = &samples[i];
        struct pl_error err = {0};
        struct pl_regex *regex;
        if (pl_regex_compile_with(pl_str_of(sample->pattern), wants_jit, &regex, &err) != PL_OK)
            fail_msg("%s: %s", sample->pattern, err.message);
        for (size_t k = 0; sample->found[k]; k++)
            if (search(regex, scratch, pl_str_of(sample->found[k])) != PL_OK)
                fail_msg("%s misses \"%s\"", sample->pattern, sample->found[k]);
        for (size_t k = 0; sample->missed[k]; k++)
            if (search(regex, scratch, pl_str_of(sample->missed[k])) != PL_NOT_FOUND)
                fail_msg("%s finds \"%s\"", sample->pattern, sample->missed[k]);
        pl_regex_destroy(regex);
    }
    pl_regex_scratch_destroy(scratch);
}

static void patterns_mean_what_ecma_262_says(void **state)
{
    (void)state;
    each_sample(true, pl_regex_search);
}

static void patterns_mean_the_same_without_jit(void **state)
{
    (void)state;
    each_sample(false, pl_regex_search);
}

static void patterns_mean_the_same_when_metered(void **state)
{
    (void)state;
    each_sample(true, pl_regex_search_metered);
    each_sample(false, pl_regex_search_metered);
}

/* Each with the offset of its error. */
static const struct {
    const char *pattern;
    size_t offset;
} refused[] = {
    {"(", 0},
    {"ab(c", 2},
    {"a)", 1},
    {"^(abc]", 1},
    {"[a", 0},
    {"x[z-a]", 2},
    {"*", 0},
    {"a**", 2},
    {"a++", 2},
    {"a*+", 2},
    {"a{2}+", 4},
    {"a{2}{3}", 4},
    {"a???", 3},
    {"^*", 1},
    {"$+", 1},
    {"\\b?", 2},
    {"(?<=a)*", 6},
    {"a|*", 2},
    {"{2}", 0},
    {"a{3,2}", 1},
    {"\\", 0},
    {"a\\", 1},
    {"\\a", 0},
    {"\\A", 0},
    {"\\Z", 0},
    {"\\z", 0},
    {"\\e", 0},
    {"\\h", 0},
    {"\\R", 0},
    {"\\X", 0},
    {"\\K", 0},
    {"\\G", 0},
    {"\\Qa\\E", 0},
    {"\\C", 0},
    {"\\N", 0},
    {"\\g{1}", 0},
    {"(?i)a", 0},
    {"(?i:a)", 0},
    {"(?>a)", 0},
    {"(?#c)", 0},
    {"(?P<n>a)", 0},
    {"(?'n'a)", 0},
    {"(?|a)", 0},
    {"(?(1)a)", 0},
    {"(?R)", 0},
    {"(?&n)", 0},
    {"(?C1)", 0},
    {"(*FAIL)", 1},
    {"(*UTF)a", 1},
    {"[[:alpha:]]", 1},
    {"[a[:^digit:]]", 2},
    {"[[=a=]]", 1},
    {"[\\B]", 1},
    {"[\\k]", 1},
    {"\\00", 0},
    {"\\01", 0},
    {"\\1", 0},
    {"(a)\\2", 3},
    {"[\\1]", 1},
    {"\\x4", 0},
    {"\\xg1", 0},
    {"\\c", 0},
    {"\\c1", 0},
    {"\\u12", 0},
    {"\\u{}", 0},
    {"\\u{110000}", 0},
    {"\\u{12", 0},
    {"\\u{1g}", 0},
    {"\\p", 0},
    {"\\pL", 0},
    {"\\p{L", 0},
    {"\\p{}", 0},
    {"\\p{greek}", 0},
    {"\\p{Greek}", 0},
    {"\\p{^L}", 0},
    {"\\p{L&}", 0},
    {"\\p{lu}", 0},
    {"\\p{Script}", 0},
    {"\\p{sc=}", 0},
    {"\\p{Script=greek}", 0},
    {"\\p{sc:Grek}", 0},
    {"\\p{gc=Greek}", 0},
    {"\\p{Lu=Lu}", 0},
    {"\\p{Cn Cs}", 0},
    {"[\\p{Foo}]", 1},
    {"\\k", 0},
    {"\\k<n>", 0},
    {"(?<n>a)\\k<m>", 7},
    {"(?<n>a)\\k", 7},
    {"(?<n>a)\\k<n", 7},
    {"(?<n>a)(?<n>b)", 7},
    {"(?<>a)", 0},
    {"(?<1>a)", 0},
    {"(?<a-b>a)", 0},
    {"(?<a", 0},
    {"(?<\\x61>a)", 0},
    {"(?", 0},
    {"(?a)", 0},
    {"é(", 2},
};

static void other_dialects_are_refused_where_they_begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pl_str pattern = pl_str_of(refused[i].pattern);
        struct pl_regex *regex = NULL;
        struct pl_error err = {0};
        if (pl_regex_compile(pattern, &regex, &err) != PL_SYNTAX)
            fail_msg("%s was not refused", refused[i].pattern);
        assert_null(regex);
        if (!err.has_position || err.offset != refused[i].offset)
            fail_msg("%s: at %zu: %s", refused[i].pattern, err.offset, err.message);
        assert_int_equal(pl_regex_translate(pattern, false, NULL, NULL, NULL), PL_SYNTAX);
    }
}

static void bad_utf8_is_refused(void **state)
{
    struct pl_regex *regex = NULL;
    struct pl_error err = {0};

    (void)state;
    assert_int_equal(pl_regex_compile(PL_STR("ab\xff"), &regex, &err), PL_SYNTAX);
    assert_int_equal(err.offset, 2);
    assert_null(regex);
}

/* The grammar allows these; the message says what to write instead. */
static void what_the_engine_cannot_do_is_a_limit_with_its_place(void **state)
{
    static const struct {
        const char *pattern;
        size_t offset;
    } limited[] = {{"a(?<=b+)c", 1},
                   {"a{65536}", 1},
                   {"a{1,99999999999}", 1},
                   {"é\\p{CWKCF}", 2},
                   {"(?:(?:a{999}){999}){999}", 24}};

    (void)state;
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        struct pl_regex *regex = NULL;
        struct pl_error err = {0};
        struct pl_str pattern = pl_str_of(limited[i].pattern);
        assert_int_equal(pl_regex_compile(pattern, &regex, &err), PL_LIMIT);
        assert_null(regex);
        assert_true(err.has_position);
        if (err.offset != limited[i].offset)
            fail_msg("%s: at %zu: %s", limited[i].pattern, err.offset, err.message);
        assert_int_equal(pl_regex_translate(pattern, false, NULL, NULL, NULL), PL_OK);
    }
}

/* A pattern of head, `n` times `body` and `n` times tail; a # in the body is replaced by the number
 * of the repetition. */
static enum pl_status compile_repeated(const char *head, const char *body, size_t n,
                                       const char *tail, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf pattern;
    struct pl_regex *regex = NULL;
    enum pl_status status;

    pl_buf_init(&pattern, 0);
    pl_buf_adds(&pattern, head);
    for (size_t i = 0; i < n; i++) {
        size_t n_before = strcspn(body, "#");
        pl_buf_add(&pattern, pl_str_slice(pl_str_of(body), 0, n_before));
        if (body[n_before])
            pl_buf_addf(&pattern, "%zu%s", i, body + n_before + 1);
    }
    for (size_t i = 0; i < n && *tail; i++)
        pl_buf_adds(&pattern, tail);
    assert_int_equal(pattern.status, PL_OK);
    status = pl_regex_compile(pl_buf_str(&pattern), &regex, err);
    assert_true((status == PL_OK) == (regex != NULL));
    pl_regex_destroy(regex);
    return status;
}

static void size_limits_are_exact(void **state)
{
    struct pl_error err = {0};

    (void)state;
    assert_int_equal(compile_repeated("", "a", PL_REGEX_MAX_PATTERN, "", &err), PL_OK);
    assert_int_equal(compile_repeated("", "a", PL_REGEX_MAX_PATTERN + 1, "", &err), PL_LIMIT);
    assert_int_equal(compile_repeated("", "(", PL_REGEX_MAX_DEPTH, ")", &err), PL_OK);
    assert_int_equal(compile_repeated("", "(", PL_REGEX_MAX_DEPTH + 1, ")", &err), PL_LIMIT);
    assert_int_equal(err.offset, PL_REGEX_MAX_DEPTH);
    assert_int_equal(compile_repeated("\\k<n0>", "(?<n#>)", PL_REGEX_MAX_NAMES, "", &err), PL_OK);
    assert_int_equal(compile_repeated("", "(?<n#>)", PL_REGEX_MAX_NAMES + 1, "", &err), PL_LIMIT);
    /* The longest translation: \S in a class. */
    assert_int_equal(compile_repeated("[", "\\S", PL_REGEX_MAX_PATTERN / 2 - 1, "", &err),
                     PL_SYNTAX);
    assert_int_equal(compile_repeated("", "[\\S]", PL_REGEX_MAX_PATTERN / 4, "", &err), PL_LIMIT);
}

/* Searches a text of `n` times c, followed by `last` unless it is NUL. */
static enum pl_status search_run(const char *pattern, bool wants_jit, char c, size_t n, char last)
{
    struct pl_regex *regex;
    struct pl_regex_scratch *scratch;
    char *text = malloc(n + 1);
    enum pl_status status;

    assert_non_null(text);
    memset(text, c, n);
    if (last)
        text[n++] = last;
    assert_int_equal(pl_regex_compile_with(pl_str_of(pattern), wants_jit, &regex, NULL), PL_OK);
    assert_int_equal(pl_regex_scratch_create(&scratch), PL_OK);
    status = pl_regex_search(regex, scratch, (struct pl_str){text, n});
    pl_regex_scratch_destroy(scratch);
    pl_regex_destroy(regex);
    free(text);
    return status;
}

static void catastrophic_patterns_give_up(void **state)
{
    (void)state;
    for (int wants_jit = 0; wants_jit < 2; wants_jit++) {
        assert_int_equal(search_run("(a+)+$", wants_jit, 'a', 40, 'b'), PL_LIMIT);
        assert_int_equal(search_run("^(?:a|a)*$", wants_jit, 'a', 60, 'b'), PL_LIMIT);
        assert_int_equal(search_run("^(?:.*.*)*[!=]$", wants_jit, 'a', 300, 'b'), PL_LIMIT);
        assert_int_equal(search_run("^(?:(.+)\\1?)+$", wants_jit, 'a', 5000, '\n'), PL_LIMIT);
    }
}

/* PCRE2's own limits count per starting point and do not detect this. */
static void quadratic_searches_give_up(void **state)
{
    (void)state;
    assert_int_equal(search_run("\\d+x", true, '1', 1000000, 0), PL_LIMIT);
    assert_int_equal(search_run("\\d+[xy]", false, '1', 1000000, 0), PL_LIMIT);
}

static void linear_searches_in_long_texts_come_to_an_end(void **state)
{
    static const char base64[] = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

    (void)state;
    assert_int_equal(search_run(base64, true, 'a', 4000000, 0), PL_OK);
    assert_int_equal(search_run(base64, true, 'a', 4000000, '='), PL_NOT_FOUND);
    assert_int_equal(search_run("^[a-z]+$", true, 'a', 4000000, 0), PL_OK);
    assert_int_equal(search_run("^[a-z]+$", false, 'a', 4000000, '1'), PL_NOT_FOUND);
    assert_int_equal(search_run("1$", true, 'a', 4000000, '1'), PL_OK);
    assert_int_equal(search_run("foo|bar", true, 'b', 1000000, 0), PL_NOT_FOUND);
    assert_int_equal(search_run("^.{0,65535}$", true, 'a', 65535, 0), PL_OK);
    assert_int_equal(search_run("^.{0,65535}$", true, 'a', 65536, 0), PL_NOT_FOUND);
}

/* Texts below and above the length at which the meter starts. */
static void the_meter_sets_in_without_changing_an_answer(void **state)
{
    (void)state;
    for (size_t n = PL_REGEX_FAST_BYTES - 2; n < PL_REGEX_FAST_BYTES + 3; n++) {
        assert_int_equal(search_run("^a+b$", true, 'a', n, 'b'), PL_OK);
        assert_int_equal(search_run("^a+b$", true, 'a', n, 'c'), PL_NOT_FOUND);
        assert_int_equal(search_run("(a)\\1b", true, 'a', n, 'b'), PL_OK);
        assert_int_equal(search_run("(a)\\1b", true, 'a', n, 'c'), PL_NOT_FOUND);
    }
    /* Beyond the limit of the fast try, but not catastrophic. */
    assert_int_equal(search_run("^(?:a?){15}(?:a|b){9}$", true, 'a', 8, 'c'), PL_NOT_FOUND);
}

/* An allocator that counts, and fails on the Nth call if requested. */
struct counter {
    size_t n_calls, fail_at;
    long n_live;
};

static void *count(void *ctx, void *ptr, size_t size)
{
    struct counter *counter = ctx;

    if (size == 0) {
        counter->n_live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (++counter->n_calls == counter->fail_at)
        return NULL;
    counter->n_live += ptr == NULL;
    return realloc(ptr, size);
}

static void a_search_allocates_nothing(void **state)
{
    struct counter counter = {0};
    struct pl_regex *regex;
    struct pl_regex_scratch *scratch;
    size_t n_before;

    (void)state;
    pl_mem_set_hook(count, &counter);
    assert_int_equal(pl_regex_compile(PL_STR("^[a-zA-Z0-9_-]{1,64}$"), &regex, NULL), PL_OK);
    assert_int_equal(pl_regex_scratch_create(&scratch), PL_OK);
    n_before = counter.n_calls;
    assert_int_equal(pl_regex_search(regex, scratch, PL_STR("get_weather")), PL_OK);
    assert_int_equal(pl_regex_search(regex, scratch, PL_STR("get weather")), PL_NOT_FOUND);
    assert_int_equal(pl_regex_search(regex, scratch, (struct pl_str){0}), PL_NOT_FOUND);
    assert_int_equal(counter.n_calls, n_before);
    pl_regex_scratch_destroy(scratch);
    pl_regex_destroy(regex);
    pl_mem_set_hook(NULL, NULL);
    assert_true(n_before > 0);
    assert_int_equal(counter.n_live, 0);
}

/* Does everything once; PL_NOMEM if memory ran out where it is required. */
static enum pl_status compile_and_search(bool wants_jit)
{
    struct pl_regex *regex = NULL;
    struct pl_regex_scratch *scratch = NULL;
    enum pl_status status =
        pl_regex_compile_with(PL_STR("^(?<n>[a-z\\s]+)\\k<n>$"), wants_jit, &regex, NULL);

    if (status == PL_OK)
        status = pl_regex_scratch_create(&scratch);
    if (status == PL_OK)
        status = pl_regex_search(regex, scratch, PL_STR("abcabc"));
    pl_regex_scratch_destroy(scratch);
    pl_regex_destroy(regex);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int wants_jit = 0; wants_jit < 2; wants_jit++) {
        size_t n = 1;
        for (;; n++) {
            struct counter counter = {.fail_at = n};
            enum pl_status status;
            pl_mem_set_hook(count, &counter);
            status = compile_and_search(wants_jit);
            pl_mem_set_hook(NULL, NULL);
            assert_int_equal(counter.n_live, 0);
            if (counter.n_calls < n) {
                assert_int_equal(status, PL_OK);
                break;
            }
            /* Without memory for machine code, the interpreter is used. */
            assert_true(status == PL_NOMEM || (wants_jit && status == PL_OK));
        }
        assert_true(n > 5);
    }
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    pl_regex_destroy(NULL);
    pl_regex_scratch_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_mean_what_ecma_262_says),
        cmocka_unit_test(patterns_mean_the_same_without_jit),
        cmocka_unit_test(patterns_mean_the_same_when_metered),
        cmocka_unit_test(other_dialects_are_refused_where_they_begin),
        cmocka_unit_test(bad_utf8_is_refused),
        cmocka_unit_test(what_the_engine_cannot_do_is_a_limit_with_its_place),
        cmocka_unit_test(size_limits_are_exact),
        cmocka_unit_test(catastrophic_patterns_give_up),
        cmocka_unit_test(quadratic_searches_give_up),
        cmocka_unit_test(linear_searches_in_long_texts_come_to_an_end),
        cmocka_unit_test(the_meter_sets_in_without_changing_an_answer),
        cmocka_unit_test(a_search_allocates_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
