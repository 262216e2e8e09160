/* JSON errors in Chinese: every sentence of the parser, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "json/json.h"
#include "json/parse/error_zh.h"

static bool has_english_word(const char *text)
{
    static const char *const words[] = {"expected", "found",    "remove", "the ",   "must",
                                        "write ",   "JSON has", "half",   "closed", "deeper"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

static void what_the_parser_finds_is_said_in_chinese(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{'a':1}",
        "[NaN]",
        "[True]",
        "[+1]",
        "[01]",
        "[.5]",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":}",
        "\"a",
        "[\"\\x\"]",
        "[\"\\u12\"]",
        "[\"\\ud800\"]",
        "[\"\t\"]",
        "1 2",
        "// comment",
        "[undefined]",
        "[tru]",
        "{\"a\":1,\"a\":2}",
        "[\"\xFF\"]",
        "[-Infinity]",
        "\xEF\xBB\xBF[]",
        "[\x01]",
        "{1:2}",
        "[}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        struct pl_error err = {0};
        assert_int_not_equal(pl_json_parse(&arena, pl_str_of(texts[i]), NULL, &doc, &err), PL_OK);
        pl_json_error_in_chinese(&err);
        if (has_english_word(err.message))
            fail_msg("%s: %s", texts[i], err.message);
    }
}

static void other_messages_stay(void **state)
{
    (void)state;
    struct pl_error err = {0};
    snprintf(err.message, sizeof err.message, "something else, but found nothing");
    pl_json_error_in_chinese(&err);
    assert_string_equal(err.message, "something else, but found nothing");
    memset(err.message, 'x', sizeof err.message - 1);
    pl_json_error_in_chinese(&err);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    err.message[0] = '\0';
    pl_json_error_in_chinese(&err);
    assert_string_equal(err.message, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_parser_finds_is_said_in_chinese),
        cmocka_unit_test(other_messages_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
