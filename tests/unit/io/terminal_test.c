#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/system/terminal.h"

#include <string.h>
#include <unistd.h>

struct typed {
    int ends[2];
    struct pl_lines lines;
};

static void open_with(struct typed *t, size_t max_line, const char *text)
{
    assert_int_equal(pipe(t->ends), 0);
    assert_int_equal(write(t->ends[1], text, strlen(text)), strlen(text));
    pl_lines_init(&t->lines, t->ends[0], max_line);
}

static void hang_up(struct typed *t)
{
    close(t->ends[1]);
    t->ends[1] = -1;
}

static void done(struct typed *t)
{
    if (t->ends[1] >= 0)
        close(t->ends[1]);
    close(t->ends[0]);
    pl_lines_deinit(&t->lines);
}

static void next_is(struct typed *t, const char *text)
{
    struct pl_str line;
    assert_int_equal(pl_lines_next(&t->lines, &line, NULL), PL_OK);
    assert_int_equal(line.len, strlen(text));
    assert_memory_equal(line.ptr, text, line.len);
}

static void a_line_is_there_before_the_next_one_is_typed(void **state)
{
    (void)state;
    struct typed t;
    open_with(&t, 100, "one\n\ntwo\r\nthr");
    next_is(&t, "one");
    next_is(&t, "");
    next_is(&t, "two");
    assert_int_equal(write(t.ends[1], "ee\n", 3), 3);
    next_is(&t, "three");
    done(&t);
}

static void the_last_line_needs_no_break(void **state)
{
    (void)state;
    struct typed t;
    struct pl_str line;
    open_with(&t, 100, "one\ntwo");
    hang_up(&t);
    next_is(&t, "one");
    next_is(&t, "two");
    assert_int_equal(pl_lines_next(&t.lines, &line, NULL), PL_NOT_FOUND);
    assert_int_equal(pl_lines_next(&t.lines, &line, NULL), PL_NOT_FOUND);
    done(&t);
}

static void a_line_of_the_greatest_length_is_taken_and_a_longer_one_is_not(void **state)
{
    (void)state;
    struct typed t;
    struct pl_str line;
    struct pl_error err = {0};
    open_with(&t, 5, "12345\n123456\n");
    next_is(&t, "12345");
    assert_int_equal(pl_lines_next(&t.lines, &line, &err), PL_LIMIT);
    assert_string_equal(err.message, "a line has more than 5 bytes");
    done(&t);
    open_with(&t, 5, "123456");
    assert_int_equal(pl_lines_next(&t.lines, &line, &err), PL_LIMIT);
    done(&t);
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    struct pl_lines lines;
    struct pl_str line;
    struct pl_error err = {0};
    pl_lines_init(&lines, -1, 100);
    assert_int_equal(pl_lines_next(&lines, &line, &err), PL_IO);
    assert_non_null(strstr(err.message, "standard input cannot be read"));
    pl_lines_deinit(&lines);
    assert_false(pl_is_terminal(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_there_before_the_next_one_is_typed),
        cmocka_unit_test(the_last_line_needs_no_break),
        cmocka_unit_test(a_line_of_the_greatest_length_is_taken_and_a_longer_one_is_not),
        cmocka_unit_test(what_cannot_be_read_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
