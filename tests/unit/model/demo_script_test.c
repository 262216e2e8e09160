#include "model/builtin/demo_script.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static enum pl_status read_part(const char *text, size_t part, struct pl_demo_script *ret_script,
                                struct pl_error *err)
{
    return pl_demo_script_read(pl_str_of(text), part, ret_script, err);
}

static void is_line(const struct pl_demo_line *line, enum pl_demo_verb verb, const char *name,
                    const char *text, int64_t number, int64_t number2)
{
    assert_int_equal(line->verb, verb);
    assert_true(pl_str_eq(line->name, pl_str_of(name)));
    assert_true(pl_str_eq(line->text, pl_str_of(text)));
    assert_int_equal(line->number, number);
    assert_int_equal(line->number2, number2);
}

static void every_verb_is_read_with_what_stands_behind_it(void **state)
{
    (void)state;
    struct pl_demo_script script;
    assert_int_equal(read_part("#!demo\nsay a b\r\nthink c\nrepeat 3  x \nwait 40\n\n"
                               "call echo {\"a\": 1}\nblock plan_status {}\nusage 5 6\n"
                               "fail too bad\noverflow\ntold",
                               0, &script, NULL),
                     PL_OK);
    assert_int_equal(script.lines.len, 10);
    const struct pl_demo_line *lines = script.lines.ptr;
    is_line(&lines[0], PL_DEMO_SAY, "", "a b", 0, 0);
    is_line(&lines[1], PL_DEMO_THINK, "", "c", 0, 0);
    is_line(&lines[2], PL_DEMO_REPEAT, "", " x ", 3, 0);
    is_line(&lines[3], PL_DEMO_WAIT, "", "", 40, 0);
    is_line(&lines[4], PL_DEMO_CALL, "echo", "{\"a\": 1}", 0, 0);
    is_line(&lines[5], PL_DEMO_BLOCK, "plan_status", "{}", 0, 0);
    is_line(&lines[6], PL_DEMO_USAGE, "", "", 5, 6);
    is_line(&lines[7], PL_DEMO_FAIL, "", "too bad", 0, 0);
    is_line(&lines[8], PL_DEMO_OVERFLOW, "", "", 0, 0);
    is_line(&lines[9], PL_DEMO_TOLD, "", "", 0, 0);
    pl_demo_script_deinit(&script);
}

static void a_part_is_what_stands_between_two_rules(void **state)
{
    (void)state;
    struct pl_demo_script script;
    const char *text = "#!demo\nsay one\n---\nsay two\nsay three\n---\n";
    assert_int_equal(read_part(text, 1, &script, NULL), PL_OK);
    assert_int_equal(script.lines.len, 2);
    is_line(&script.lines.ptr[0], PL_DEMO_SAY, "", "two", 0, 0);
    pl_demo_script_deinit(&script);
    assert_int_equal(read_part(text, 2, &script, NULL), PL_OK);
    assert_int_equal(script.lines.len, 0);
    pl_demo_script_deinit(&script);
    assert_int_equal(read_part(text, 3, &script, NULL), PL_OK);
    assert_int_equal(script.lines.len, 1);
    is_line(&script.lines.ptr[0], PL_DEMO_SAY, "", "Done.", 0, 0);
    pl_demo_script_deinit(&script);
}

static void text_without_the_first_line_is_no_script(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "say a", "#!demo ", " #!demo\nsay a", "#!dem"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pl_demo_script script;
        assert_int_equal(read_part(texts[i], 0, &script, NULL), PL_NOT_FOUND);
    }
}

static void a_line_that_says_nothing_is_refused_with_its_number(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "sing a song",
        "SAY a",
        " say a",
        "repeat x y",
        "repeat",
        "repeat -1 a",
        "wait",
        "wait soon",
        "wait 1.5",
        "wait 1000000000",
        "call",
        "call  {}",
        "block",
        "usage 1",
        "usage",
        "usage 1 x",
        "saying a",
        "----",
        "# not a comment here",
        "overflowing",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pl_buf text PL_CLEANUP_BUF;
        pl_buf_init(&text, 0);
        pl_buf_addf(&text, "#!demo\nsay fine\n\n%s\n---\nsay fine", lines[i]);
        struct pl_demo_script script;
        struct pl_error err = {0};
        assert_int_equal(pl_demo_script_read(pl_buf_str(&text), 0, &script, &err), PL_SYNTAX);
        assert_non_null(strstr(err.message, "Line 4 "));
        assert_non_null(strstr(err.message, lines[i]));
        /* The next part is read when its time comes. */
        assert_int_equal(pl_demo_script_read(pl_buf_str(&text), 1, &script, &err), PL_OK);
        pl_demo_script_deinit(&script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_read_with_what_stands_behind_it),
        cmocka_unit_test(a_part_is_what_stands_between_two_rules),
        cmocka_unit_test(text_without_the_first_line_is_no_script),
        cmocka_unit_test(a_line_that_says_nothing_is_refused_with_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
