/* Lenient JSON: what is tolerated, what is reported, and what stays an error. */
#include "base/buf.h"
#include "json/parse/lenient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct pl_arena arena;
static struct pl_json_doc doc;
static struct pl_json_notes notes;
static struct pl_error err;

static int set_up(void **state)
{
    (void)state;
    pl_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pl_arena_deinit(&arena);
    return 0;
}

static enum pl_status read_text(struct pl_str text)
{
    memset(&err, 0, sizeof err);
    return pl_json_parse_lenient(&arena, text, NULL, &doc, &notes, &err);
}

/* `expected` lists the notes as letters with the bytes they cover: "c:// x|t:,". */
static void assert_notes(const char *text, const char *blanked, const char *expected)
{
    static const char letters[] = "bcCtds";
    if (read_text(pl_str_of(text)) != PL_OK)
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(doc.text.len, strlen(text));
    if (!pl_str_eq(doc.text, pl_str_of(blanked)))
        fail_msg("%.*s", PL_STR_ARG(doc.text));
    PL_CLEANUP_BUF struct pl_buf found;
    pl_buf_init(&found, 0);
    uint32_t last = 0;
    for (uint32_t i = 0; i < notes.len; i++) {
        pl_buf_addf(&found, "%s%c:", i ? "|" : "", letters[notes.items[i].kind]);
        pl_buf_add(&found, (struct pl_str){text + notes.items[i].off, notes.items[i].len});
        assert_true(notes.items[i].off >= last);
        last = notes.items[i].off;
    }
    pl_buf_addc(&found, 0);
    assert_string_equal(found.ptr, expected);
}

static void strict_text_has_no_notes(void **state)
{
    (void)state;
    const char *text =
        " {\"a\": [1, \"// no /* comment */ , ]\", \"\\\\\", \"\\\"//\"], \"b\":{}} ";
    assert_notes(text, text, "");
}

static void comments_become_white_space_and_keep_line_breaks(void **state)
{
    (void)state;
    assert_notes("// top\n[1, /* a\nb */ 2] // end", "      \n[1,     \n     2]       ",
                 "c:// top|C:/* a\nb */|c:// end");
    assert_notes("[1//x\r\n,2/**/]/***/", "[1   \r\n,2    ]     ", "c://x|C:/**/|C:/***/");
    assert_notes("[/*/ */1,2//*\n]", "[      1,2   \n]", "C:/*/ */|c://*");
    assert_notes("[\"\\\\\"//\"\n]", "[\"\\\\\"   \n]", "c://\"");
    assert_notes("[1]//é", "[1]    ", "c://é");
}

static void a_comma_before_a_closing_bracket_is_dropped(void **state)
{
    (void)state;
    assert_notes("[1,]", "[1 ]", "t:,");
    assert_notes("{\"a\":[[],],\"b\":{ } , }", "{\"a\":[[] ],\"b\":{ }   }", "t:,|t:,");
    assert_notes("[true, /* x */ ]", "[true          ]", "t:,|C:/* x */");
    assert_notes("[\"a\", // x\n]", "[\"a\"      \n]", "t:,|c:// x");
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    assert_notes("\xEF\xBB\xBF[]", "   []", "b:\xEF\xBB\xBF");
}

static void duplicate_keys_are_reported_and_the_last_counts(void **state)
{
    (void)state;
    const char *text = "{\"a\":1,\"b\":{\"c\":0,\"\\u0063\":0},\"a\":2,\"a\":3}";
    assert_notes(text, text, "d:\"\\u0063\"|d:\"a\"|d:\"a\"");
    const struct pl_json_node *a = pl_json_get(&doc, doc.root, PL_STR("a"));
    assert_true(pl_str_eq(pl_json_span(&doc, a), PL_STR("3")));
}

static void duplicates_among_many_keys_are_reported(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum { N = 30000 };
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, "%c\"%d\":0", i ? ',' : '{', i == N / 2 ? 7 : i);
    pl_buf_adds(&text, ",\"\\u0037\":{}}");
    assert_int_equal(read_text(pl_buf_str(&text)), PL_OK);
    assert_int_equal(notes.len, 2);
    assert_int_equal(notes.items[0].kind, PL_JSON_NOTE_DUPLICATE_KEY);
    assert_int_equal(notes.items[0].len, 3);
    assert_int_equal(notes.items[1].len, 8);
}

static void half_surrogate_pairs_are_reported(void **state)
{
    (void)state;
    const char *text =
        "{\"\\uD800\":[\"\\ud83d\\ude00\",\"x\\uDFFF\\\\ud800\",\"\\uDbff\\n\\udc00\"]}";
    assert_notes(text, text, "s:\\uD800|s:\\uDFFF|s:\\uDbff|s:\\udc00");
    text = "[\"\\ud83d\\ud83d\\ude00\",\"\\ud7ff\\ue000\"]";
    assert_notes(text, text, "s:\\ud83d");
}

static void everything_else_stays_an_error(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",           "[,]",      "{,}",       "[1,,]",     "{\"a\":,}",    ",",
        "[1,],",      "/",        "[1]/",      "[1 / 2]",   "{\"a\",}",     "'a'",
        "[1}",        "{a:1}",    "[NaN]",     "// only",   "/* a */",      "[1]]",
        "[1,}",       "\"a\nb\"", "[01]",      "[1 2]",     "\xEF\xBB\xBF", "[/ /x\n1]",
        "[\"a\\x\"]", "[//\n,]",  "[1,/**/,]", "\"/* \"*/", "[1] // x\n 2", "[\"a]//\"",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pl_json_doc before = doc;
        if (read_text(pl_str_of(bad[i])) != PL_SYNTAX)
            fail_msg("%s", bad[i]);
        assert_memory_equal(&before, &doc, sizeof doc);
        assert_true(err.has_position && err.message[0]);
    }
}

static void an_open_comment_is_an_error_where_it_starts(void **state)
{
    (void)state;
    static const char *const bad[] = {"[1,\n  /* x", "[1,\n  /*", "[1,\n  /*/", "[1,\n  /* *"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(pl_str_of(bad[i])), PL_SYNTAX);
        assert_int_equal(err.offset, 6);
        assert_int_equal(err.line, 2);
        assert_int_equal(err.column, 3);
        assert_non_null(strstr(err.message, "*/"));
    }
}

static void invalid_utf8_in_a_comment_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(read_text(PL_STR("[] // \xFF")), PL_SYNTAX);
    assert_int_equal(err.offset, 6);
}

/* The comment is longer in bytes than in characters; the column counts characters. */
static void errors_have_the_position_in_the_given_text(void **state)
{
    (void)state;
    assert_int_equal(read_text(PL_STR("[1, /* é中 */ x]")), PL_SYNTAX);
    assert_int_equal(err.offset, 16);
    assert_int_equal(err.column, 14);
}

static void the_limits_of_strict_parsing_hold(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_fill(&text, '[', 1000000);
    assert_int_equal(read_text(pl_buf_str(&text)), PL_LIMIT);
}

static void every_note_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < PL_JSON_NOTE_COUNT; i++)
        assert_true(strlen(pl_json_note_name((enum pl_json_note_kind)i)) > 0);
    assert_string_equal(pl_json_note_name(PL_JSON_NOTE_TRAILING_COMMA), "trailing comma");
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(strict_text_has_no_notes),
        WITH_ARENA(comments_become_white_space_and_keep_line_breaks),
        WITH_ARENA(a_comma_before_a_closing_bracket_is_dropped),
        WITH_ARENA(a_byte_order_mark_is_skipped),
        WITH_ARENA(duplicate_keys_are_reported_and_the_last_counts),
        WITH_ARENA(duplicates_among_many_keys_are_reported),
        WITH_ARENA(half_surrogate_pairs_are_reported),
        WITH_ARENA(everything_else_stays_an_error),
        WITH_ARENA(an_open_comment_is_an_error_where_it_starts),
        WITH_ARENA(invalid_utf8_in_a_comment_is_an_error),
        WITH_ARENA(errors_have_the_position_in_the_given_text),
        WITH_ARENA(the_limits_of_strict_parsing_hold),
        WITH_ARENA(every_note_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
