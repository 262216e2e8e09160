/* The quick check never accepts what the parser refuses, and accepts usual tool calls. */
#include "json/parse/surely.h"

#include "base/text/utf8.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static bool is_object(struct pl_str text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    return pl_json_parse(&arena, text, NULL, &doc, NULL) == PL_OK &&
           pl_json_kind(doc.root) == PL_JSON_OBJECT;
}

/* Whether the quick check breaks its contract, which is limited to valid UTF-8. */
static bool is_deceived(struct pl_str text)
{
    return pl_utf8_is_valid(text) && pl_json_is_surely_object(text) && !is_object(text);
}

static bool is_sure(const char *text)
{
    return pl_json_is_surely_object(pl_str_of(text));
}

static const char *const usual[] = {
    "{}",
    "{ }",
    "{\"path\": \"src/svc/mailbox.py\", \"offset\": 0, \"limit\": 200}",
    "{\"a\":[],\"b\":{},\"c\":[1,-2.5e3,true,false,null,\"x\"],\"d\":{\"a\":{\"a\":[[{}]]}}}",
    "{\"text\":\"line\\n\\ttab \\\"quoted\\\" \\\\ \\/ \\b\\f\\r, more than a block\\\\\"}",
    "{\n  \"ok\": true,\n  \"note\": \"\xE5\xB7\xB2\xE6\x9B\xBF\xE6\x8D\xA2\"\n}",
    "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,\"k\":11}",
};
enum { N_USUAL = sizeof usual / sizeof *usual };

static void what_calls_usually_say_is_sure(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_USUAL; i++) {
        assert_true(is_sure(usual[i]));
        assert_true(is_object(pl_str_of(usual[i])));
    }
}

static void what_is_no_strict_object_is_never_sure(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "1",
        " {}",
        "{} x",
        "{}}",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "{\"a\":[1,]}",
        "{\"a\":[1}",
        "{\"a\":{]}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":1e+}",
        "{\"a\":tru}",
        "{\"a\":nul",
        "{a:1}",
        "{\"a\":'x'}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\",
        "{\"a\":\"x",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}",
        "{\"a\"1}",
        "{1:1}",
        "{\"a\":1}\"",
        "{\"a\":+1}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(is_sure(bad[i]));
}

static void what_is_unusual_is_left_to_the_parser(void **state)
{
    (void)state;
    assert_false(is_sure("{\"a\":\"\\u0041\"}"));
    assert_false(is_sure("{\"\\n\":1}"));
    assert_false(is_sure("{\"a\":123456789012345678901234567890123}"));
    assert_true(is_sure("{\"a\":12345678901234567890123456789012}"));
    char deep[64] = "{\"a\":";
    size_t n = strlen(deep);
    memset(deep + n, '[', 15);
    memset(deep + n + 15, ']', 15);
    deep[n + 30] = '}';
    assert_true(is_sure(deep));
    memset(deep + n, '[', 16);
    memset(deep + n + 16, ']', 16);
    deep[n + 32] = '}';
    assert_false(is_sure(deep));
}

/* Bytes are changed, removed and duplicated, at every place. */
static void no_change_of_a_byte_deceives_it(void **state)
{
    (void)state;
    static const char bytes[] = "{}[]\",:\\ntu0-.e \n\t\x01z";
    char text[256];
    for (size_t i = 0; i < N_USUAL; i++) {
        size_t n = strlen(usual[i]);
        for (size_t at = 0; at < n; at++) {
            for (size_t k = 0; k < sizeof bytes - 1; k++) {
                memcpy(text, usual[i], n);
                text[at] = bytes[k];
                if (is_deceived((struct pl_str){text, n}))
                    fail_msg("%.*s", (int)n, text);
            }
            memcpy(text, usual[i], at);
            memcpy(text + at, usual[i] + at + 1, n - at - 1);
            assert_false(is_deceived((struct pl_str){text, n - 1}));
            memcpy(text, usual[i], at + 1);
            memcpy(text + at + 1, usual[i] + at, n - at);
            assert_false(is_deceived((struct pl_str){text, n + 1}));
            assert_false(pl_json_is_surely_object((struct pl_str){usual[i], at}));
        }
    }
}

/* An escape may begin with the last byte of a block, and a text may end anywhere in a block. */
static void a_string_is_followed_over_every_border(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        char *text = calloc(1, n + 20);
        size_t len =
            (size_t)sprintf(text, "{\"a\":\"%.*s\\\"\\\\%.*s\"}", (int)(n / 2),
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", (int)(n - n / 2),
                            "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        char *exact = malloc(len);
        memcpy(exact, text, len);
        assert_true(pl_json_is_surely_object((struct pl_str){exact, len}));
        assert_false(pl_json_is_surely_object((struct pl_str){exact, len - 2}));
        free(exact);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_calls_usually_say_is_sure),
        cmocka_unit_test(what_is_no_strict_object_is_never_sure),
        cmocka_unit_test(what_is_unusual_is_left_to_the_parser),
        cmocka_unit_test(no_change_of_a_byte_deceives_it),
        cmocka_unit_test(a_string_is_followed_over_every_border),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
