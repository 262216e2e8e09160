#include "schema/format/format.h"

#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SAMPLES = 64, LONG_TEXT = 100 * 1024 };

/* Texts by format; both lists are NULL-terminated. */
struct samples {
    const char *format;
    const char *valid[MAX_SAMPLES], *invalid[MAX_SAMPLES];
};

#define LABEL_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct samples samples[] = {
    {"date",
     {"2026-01-31", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "1582-10-10"},
     {"", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-31",
      "2026-01-31 ", " 2026-01-31", "2026/01/31", "20260131", "2026-W05", "26-01-31", "2026-01-3x",
      "+2026-01-31", "2026-01-31T00:00:00Z", "২026-01-01", "2026–01–01"}},
    {"date-time",
     {"2026-01-31T09:30:00Z", "2026-01-31t09:30:00z", "2026-01-31T09:30:00.123456789012345+08:00",
      "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.5-08:00"},
     {"", "2026-01-31", "2026-01-31 09:30:00Z", "2026-01-31T09:30:00", "2026-01-31T24:00:00Z",
      "2026-02-30T09:30:00Z", "1998-12-31T23:58:60Z", "1998-12-31T23:59:61Z",
      "2026-01-31T09:30:00+24:00", "2026-01-31T09:30:00+08", "2026-01-31T09:30:00+08:00Z",
      "2026-01-31T", "T09:30:00Z", "2026-01-31T09:30:00Z\n"}},
    {"duration",
     {"P4Y", "P1M", "P1D", "P2W", "PT36H", "PT1M", "PT0S", "P1Y2M3DT4H5M6S", "P1DT12H", "P1M2D",
      "P01D", "P99999999999999999999999999D"},
     {"",       "P",     "PT",    "P1",    "1D",   "P1YT",   "P1Y2D",
      "PT1H2S", "P2D1Y", "P1W2D", "P1Y2W", "PT1W", "P1WT1H", "P1.5D",
      "PT1D",   "P1H",   "P-1D",  "-P1D",  "P1D ", "PW",     "p1d"}},
    {"email",
     {"ada@example.com", "a.b.c@example.com", "a@localhost", "!#$%&'*+-/=?^_`{|}~@example.com",
      "\"a b\"@example.com", "\"a\\\"b@c\"@example.com", "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]",
      "a@xn--9n2bp8q.test"},
     {"",
      "@",
      "ada",
      "@example.com",
      "ada@",
      ".a@example.com",
      "a.@example.com",
      "a..b@example.com",
      "a b@example.com",
      "\"a@example.com",
      "\"a\"b@example.com",
      "a@b@example.com",
      "a@-b.com",
      "a@b_c.com",
      "a@[192.0.2.256]",
      "a@[IPv6:1]",
      "a@[x-y:z]",
      "a@[192.0.2.1",
      "用户@example.com",
      "a@例子.中国",
      "\"\x01\"@example.com",
      "\"\\\x01\"@example.com",
      LABEL_63 "aa@example.com"}},
    {"hostname",
     {"a", "www.example.com", "1host", "a--b.com", "ab--cd.com", "123", "A.EXAMPLE",
      LABEL_63 ".com", "xn--9n2bp8q.xn--9t4b11yi5a", "XN--9N2BP8Q", "xn--zca29lwxobi7a"},
     {"",
      ".",
      ".a",
      "a.",
      "a..b",
      "-a",
      "a-",
      "a_b",
      "a b",
      "例子.中国",
      LABEL_63 "a.com",
      "a。b",
      "xn--",
      "xn--X",
      "xn--99999999",
      "xn--hello-txk",
      "xn--al-0ea",
      "xn--abc-",
      "XN--aa---o47jg78q",
      LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_63}},
    {"idn-email",
     {"用户@例子.中国", "ada@example.com", "δοκιμή@example.com", "\"δ δ\"@example.com",
      "user@cafe\u0301.com", "𝕏@example.com"},
     {"", "用户", "用户@", "@例子.中国", "用 户@例子.中国", "user＠example.com", "a@-例子.中国"}},
    {"idn-hostname",
     {"例子.中国", "例子。中国", "例子．中国", "例子｡中国", "실례.테스트", "www.example.com",
      "xn--ihqwcrb4cv8a8dqg056pqjye", "l·l", "α͵β", "א׳ב", "・丈", "क्\u200dष", "ßς་〇", "א.ab",
      "a1.א"},
     {"",
      ".",
      "。",
      "a。",
      "a..b",
      "-例子",
      "例子-",
      "ab--cd",
      "aü--c",
      "Ünder.com",
      "l·a",
      "α͵S",
      "a׳ב",
      "・",
      "क\u200dष",
      "א0٠",
      "aא",
      "0a.א",
      "ˆ.א",
      "aˆ.א",
      "\u0300a",
      "cafe\u0301.com",
      "-> $1.00 <--",
      "xn--X",
      "xn---9uc",
      "xn--0ca24w"}},
    {"ipv4",
     {"0.0.0.0", "255.255.255.255", "192.0.2.1"},
     {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.04", "1..2.3", ".1.2.3", "1.2.3.4.",
      " 1.2.3.4", "1.2.3.4 ", "0x7f.0.0.1", "1.2.3.4/24", "+1.2.3.4", "1.2.3.1000"}},
    {"ipv6",
     {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::8", "2001:DB8::a", "1:2:3:4:5:6:7::",
      "::2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:192.0.2.1", "1::d6:192.168.0.1"},
     {"",
      ":",
      ":::",
      "1",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      ":1::2",
      "1:",
      "1::2:",
      "12345::",
      "::g",
      "1:2:3:4:5:6:7:192.0.2.1",
      "::192.0.2",
      "::192.0.2.01",
      "::1%eth0",
      "[::1]",
      "::1/64",
      "1:2:3:4::5:6:7:8",
      "192.0.2.1",
      ":2:3:4:5:6:7:8"}},
    {"iri",
     {"https://例子.中国/路径?查=询#片", "urn:x", "http://[2001:db8::1]", "http://[v1.a:b]",
      "http://a/?q=\U000f0000"},
     {"", "/路径", "路径", "http://a/ b", "http://a/\U000f0000", "http://a/#\U000f0000",
      "http://2001:db8::1", "http://a/\uffff", "例:路径", "http://a/\xc2\x80"}},
    {"iri-reference",
     {"", "/路径", "路径", "#片", "//例子.中国", "?查=询", "https://例子.中国"},
     {"\\路径", "#片\\", "路:径", "//a:端口"}},
    {"json-pointer",
     {"", "/", "/a", "/a/0/b", "/~0~1", "//", "/例"},
     {"a", "#/a", "/~", "/~2", "/a~", "~0", " /a"}},
    {"regex",
     {"", "^[a-z]+$", "(?<=a+)b", "\\p{Letter}", "(?<n>a)\\k<n>", "[]", "[^]", "a{99999}", "\\-"},
     {"(", "^(abc]", "\\a", "(?i)a", "(?P<n>a)", "[[:alpha:]]", "a++", "\\Z", "[z-a]", "*"}},
    {"relative-json-pointer",
     {"0", "1", "10/a", "0#", "0/", "2/a~1b"},
     {"", "/a", "-1", "+1", "01", "01#", "0##", "1#/a", "0a", "0/~", "#"}},
    {"time",
     {"09:30:00Z", "09:30:00z", "17:30:00+08:00", "00:00:00-00:00", "09:30:00.5Z", "23:59:60Z",
      "07:59:60+08:00", "01:29:60+01:30", "00:29:60-23:30"},
     {"", "09:30:00", "9:30:00Z", "24:00:00Z", "09:60:00Z", "09:30:61Z", "09:30:00.Z", "09:30Z",
      "22:59:60Z", "23:59:60+08:00", "09:30:00+8:00", "09:30:00+24:00", "09:30:00+08:60",
      "09:30:00+0800", "09:30:00 Z", "09-30-00Z", "1২:00:00Z"}},
    {"uri",
     {"https://example.com/path?q=1#f", "mailto:a@b", "urn:x:y", "a:", "http://",
      "http://a:", "http://a:80/", "http://u:p@a", "http://[::1]:8080/", "http://[vF.x]",
      "http://999.1.1.1", "http://a/%20", "file:///etc", "x-y+z.1:a"},
     {"",
      "/path",
      "example.com",
      "://a",
      "1a:b",
      "a_b:c",
      "http://a b",
      "http://a/<>",
      "http://a/{}",
      "http://a/%",
      "http://a/%2",
      "http://a/%zz",
      "http://a/#a#b",
      "http://a:b/",
      "http://[::1",
      "http://[x]",
      "http://[v.x]",
      "http://[v1]",
      "http://[v1.]",
      "http://[::1]a",
      "http:/[::1]",
      "http://a/é",
      "http://a\\b",
      "http://a@b@c",
      "http://[::ffff:01.2.3.4]"}},
    {"uri-reference",
     {"", "/a", "a", "./a:b", "?q", "#f", "//a", "//", "../a", "http://a"},
     {"\\a", "1:b", "a b", "#a#b", "/[a]", "//a:x", "/é", ":a"}},
    {"uri-template",
     {"", "/users/{id}{?page}", "{+a}", "{#a}", "{.a,b}", "{/a*}", "{;a:1}", "{&a:9999}", "{=a}",
      "{a.b}", "{%41}", "例{a}", "a'b", "a%20b"},
     {"{",     "}",      "{}",        "{a",     "a}",   "{{a}}",  "{a,}", "{,a,b,}",
      "{a b}", "{a:0}",  "{a:10000}", "{a:01}", "{a:}", "{a..b}", "{.}",  "{a.}",
      "{+}",   "{a*:1}", "{$a}",      "{例}",   "a b",  "a<b",    "a%2",  "{%4}"}},
    {"uuid",
     {"2eb8aa08-aa98-11ea-b4aa-73b441d16380", "00000000-0000-0000-0000-000000000000",
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"},
     {"", "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
      "2eb8aa08-aa98-11ea-b4aa-73b441d163800", "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
      "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", "2eb8aa0-8aa98-11e-ab4aa7-3b441d16380",
      "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380"}},
};

enum { N_FORMATS = sizeof samples / sizeof *samples };

/* Checks a copy of exact size, so that a sanitizer detects reads beyond the end. */
static bool is_valid(const char *format, struct pl_str text)
{
    const struct pl_schema_format *found = pl_schema_format_find(pl_str_of(format));
    char *copy = malloc(text.len + 1);
    bool answer;

    assert_non_null(found);
    assert_non_null(copy);
    memcpy(copy + 1, text.ptr, text.len);
    answer = found->is_valid((struct pl_str){text.len ? copy + 1 : NULL, text.len});
    free(copy);
    return answer;
}

static void valid_texts_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FORMATS; i++)
        for (size_t k = 0; samples[i].valid[k]; k++)
            if (!is_valid(samples[i].format, pl_str_of(samples[i].valid[k])))
                fail_msg("%s refused \"%s\"", samples[i].format, samples[i].valid[k]);
}

static void invalid_texts_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FORMATS; i++)
        for (size_t k = 0; samples[i].invalid[k]; k++)
            if (is_valid(samples[i].format, pl_str_of(samples[i].invalid[k])))
                fail_msg("%s accepted \"%s\"", samples[i].format, samples[i].invalid[k]);
}

static void every_format_has_its_entry_and_both_sentences(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FORMATS; i++) {
        const struct pl_schema_format *format = pl_schema_format_find(pl_str_of(samples[i].format));
        assert_non_null(format);
        assert_string_equal(format->name, samples[i].format);
        assert_true(strlen(format->expected_en) > 0 && strlen(format->expected_zh) > 0);
        assert_true(pl_utf8_is_valid(pl_str_of(format->expected_zh)));
        assert_string_not_equal(format->expected_en, format->expected_zh);
    }
}

static void unknown_formats_are_not_found(void **state)
{
    static const char *const names[] = {"", "dat", "dates", "DATE", "color", "zzz", "a"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(pl_schema_format_find(pl_str_of(names[i])));
    assert_null(pl_schema_format_find((struct pl_str){"date\0", 5}));
}

/* A NUL is an ordinary character: it does not end a text early. Regular expressions accept it, and
 * so do JSON Pointers after their start. */
static void a_nul_does_not_hide_what_follows(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FORMATS; i++) {
        bool takes_nul = strcmp(samples[i].format, "regex") == 0;
        size_t len = strlen(samples[i].valid[0]);
        char text[128];
        memcpy(text, samples[i].valid[0], len);
        memcpy(text + len, "\0<", 2);
        assert_int_equal(is_valid(samples[i].format, (struct pl_str){text, len + 2}), takes_nul);
    }
    assert_true(is_valid("json-pointer", (struct pl_str){"/a\0b", 4}));
}

/* Only a sanitizer can detect a read beyond the end; the results do not matter here. */
static void every_prefix_of_a_sample_gets_an_answer(void **state)
{
    size_t n_answers = 0;

    (void)state;
    for (size_t i = 0; i < N_FORMATS; i++)
        for (size_t k = 0; samples[i].valid[k]; k++) {
            struct pl_str text = pl_str_of(samples[i].valid[k]);
            for (size_t n = 0; n <= text.len; n++) {
                struct pl_str prefix = pl_str_slice(text, 0, n);
                n_answers += pl_utf8_is_valid(prefix) && is_valid(samples[i].format, prefix);
            }
        }
    assert_true(n_answers > N_FORMATS);
}

/* head, then `body` as often as fits in 100 KB, then tail. */
static bool is_long_text_valid(const char *format, const char *head, const char *body,
                               const char *tail)
{
    size_t n_head = strlen(head), n_body = strlen(body), n_tail = strlen(tail), len = n_head;
    char *text = malloc(LONG_TEXT + n_head + n_body + n_tail);
    bool answer;

    assert_non_null(text);
    memcpy(text, head, n_head);
    while (len < LONG_TEXT) {
        memcpy(text + len, body, n_body);
        len += n_body;
    }
    memcpy(text + len, tail, n_tail);
    answer = is_valid(format, (struct pl_str){text, len + n_tail});
    free(text);
    return answer;
}

static void long_texts_are_judged_to_their_end(void **state)
{
    (void)state;
    assert_true(is_long_text_valid("duration", "P", "9", "D"));
    assert_false(is_long_text_valid("duration", "P", "9", "DT"));
    assert_true(is_long_text_valid("time", "09:30:00.", "1", "Z"));
    assert_false(is_long_text_valid("time", "09:30:00.", "1", ""));
    assert_true(is_long_text_valid("uri", "http://a/", "%20/", ""));
    assert_false(is_long_text_valid("uri", "http://a/", "%20/", "%2"));
    assert_true(is_long_text_valid("uri-template", "", "{a,b}x", ""));
    assert_false(is_long_text_valid("uri-template", "", "{a,b}x", "{"));
    assert_true(is_long_text_valid("iri-reference", "", "/路", ""));
    assert_true(is_long_text_valid("json-pointer", "", "/~0", ""));
    assert_false(is_long_text_valid("json-pointer", "", "/~0", "~"));
    assert_true(is_long_text_valid("relative-json-pointer", "1", "0", "#"));
}

static void long_texts_are_refused_where_the_format_is_short(void **state)
{
    static const char *const formats[] = {"date",      "date-time",    "email", "hostname",
                                          "idn-email", "idn-hostname", "ipv4",  "ipv6",
                                          "regex",     "uuid"};
    static const char *const bodies[] = {"a",    "1", "a.", "1:", "例",
                                         "例。", "(", "@",  "\"", "xn--"};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
            assert_false(is_long_text_valid(formats[i], "", bodies[k], ""));
}

static void a_host_name_has_at_most_253_bytes_in_ascii(void **state)
{
    char name[4 * 64 + 1];

    (void)state;
    for (int i = 0; i < 4; i++)
        memcpy(name + 64 * i, LABEL_63 ".", 64);
    assert_true(is_valid("hostname", (struct pl_str){name, 253}));
    assert_false(is_valid("hostname", (struct pl_str){name, 254}));
    assert_true(is_valid("idn-hostname", (struct pl_str){name, 253}));
    assert_false(is_valid("idn-hostname", (struct pl_str){name, 254}));
}

/* The published suite, if available. */

static const char suite_path[] = "JSON-Schema-Test-Suite/tests/draft2020-12/optional/format";

static DIR *open_suite(char path[static 1024])
{
    const char *places[] = {getenv("PARLEY_CORPORA"), "../shared/corpora", "../../shared/corpora"};

    for (size_t i = 0; i < 3; i++) {
        DIR *dir = NULL;
        if (!places[i])
            continue;
        (void)snprintf(path, 1024, "%s/%s", places[i], suite_path);
        dir = opendir(path);
        if (dir)
            return dir;
    }
    return NULL;
}

static struct pl_str read_file(struct pl_arena *arena, const char *dir, const char *name)
{
    enum { MAX_FILE = 1 << 20 };
    char path[2048], *text = pl_arena_alloc(arena, 1, MAX_FILE);
    FILE *file;
    size_t len;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    assert_non_null(text);
    assert_non_null(file);
    len = fread(text, 1, MAX_FILE, file);
    assert_int_equal(fclose(file), 0);
    assert_true(len > 0 && len < MAX_FILE);
    return (struct pl_str){text, len};
}

static struct pl_str text_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *node)
{
    struct pl_str text;

    assert_non_null(node);
    assert_int_equal(pl_json_text(arena, doc, node, &text), PL_OK);
    return text;
}

/* One group of the suite: a schema with a `format`, and instances; only strings count. */
static size_t run_group(struct pl_arena *arena, const struct pl_json_doc *doc,
                        const struct pl_json_node *group)
{
    const struct pl_json_node *schema = pl_json_get(doc, group, PL_STR("schema"));
    const struct pl_json_node *tests = pl_json_get(doc, group, PL_STR("tests"));
    struct pl_str name = text_of(arena, doc, pl_json_get(doc, schema, PL_STR("format")));
    const struct pl_schema_format *format = pl_schema_format_find(name);
    size_t n = 0;

    for (const struct pl_json_node *test = pl_json_first(tests); test < pl_json_end(tests);
         test = pl_json_next(test), n++) {
        const struct pl_json_node *data = pl_json_get(doc, test, PL_STR("data"));
        const struct pl_json_node *valid = pl_json_get(doc, test, PL_STR("valid"));
        bool answer = true;
        if (format && pl_json_kind(data) == PL_JSON_STRING)
            answer = format->is_valid(text_of(arena, doc, data));
        if (answer != (pl_json_kind(valid) == PL_JSON_TRUE))
            fail_msg("%.*s: %.*s", PL_STR_ARG(name), PL_STR_ARG(pl_json_span(doc, test)));
    }
    return n;
}

static void the_published_suite_passes(void **state)
{
    char path[1024];
    DIR *dir = open_suite(path);
    size_t n = 0;

    (void)state;
    if (!dir) {
        print_message("no %s under PARLEY_CORPORA or ../shared/corpora\n", suite_path);
        skip();
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_json_doc doc;
        if (!strstr(entry->d_name, ".json"))
            continue;
        pl_arena_init(&arena, 0);
        assert_int_equal(
            pl_json_parse(&arena, read_file(&arena, path, entry->d_name), NULL, &doc, NULL), PL_OK);
        for (const struct pl_json_node *group = pl_json_first(doc.root);
             group < pl_json_end(doc.root); group = pl_json_next(group))
            n += run_group(&arena, &doc, group);
    }
    (void)closedir(dir);
    assert_true(n >= 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_are_accepted),
        cmocka_unit_test(invalid_texts_are_refused),
        cmocka_unit_test(every_format_has_its_entry_and_both_sentences),
        cmocka_unit_test(unknown_formats_are_not_found),
        cmocka_unit_test(a_nul_does_not_hide_what_follows),
        cmocka_unit_test(every_prefix_of_a_sample_gets_an_answer),
        cmocka_unit_test(long_texts_are_judged_to_their_end),
        cmocka_unit_test(long_texts_are_refused_where_the_format_is_short),
        cmocka_unit_test(a_host_name_has_at_most_253_bytes_in_ascii),
        cmocka_unit_test(the_published_suite_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
