/* CSV: cells, rows, quotes, and the position of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/text/csv.h"

/* Writes every cell in brackets and every row on a line; returns the status after the last row. */
static enum pl_status show(struct pl_str text, struct pl_buf *to, struct pl_error *err)
{
    struct pl_csv csv = pl_csv(text);
    struct pl_csv_cell cell;
    struct pl_arena arena;
    enum pl_status status;
    pl_arena_init(&arena, 0);
    while ((status = pl_csv_next(&csv, &arena, &cell, err)) == PL_OK) {
        pl_buf_addc(to, '[');
        pl_buf_add(to, cell.text);
        pl_buf_adds(to, cell.ends_row ? "]\n" : "]");
    }
    pl_buf_addc(to, '\0');
    pl_arena_deinit(&arena);
    return status;
}

static void check(const char *text, const char *expected)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    assert_int_equal(show(pl_str_of(text), &to, &err), PL_NOT_FOUND);
    assert_string_equal(to.ptr, expected);
}

static void check_wrong(const char *text, size_t line, size_t column)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    assert_int_equal(show(pl_str_of(text), &to, &err), PL_SYNTAX);
    assert_true(err.has_position);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
}

static void rows_end_in_line_breaks_of_either_kind(void **state)
{
    (void)state;
    check("a,b\n1,2\n", "[a][b]\n[1][2]\n");
    check("a,b\r\n1,2", "[a][b]\n[1][2]\n");
    check("a\rb\n", "[a\rb]\n");
    check("\xEF\xBB\xBF"
          "a\n",
          "[a]\n");
    check("", "");
}

static void an_empty_cell_is_a_cell(void **state)
{
    (void)state;
    check(",\n", "[][]\n");
    check("a,", "[a][]\n");
    check("\n\n", "[]\n[]\n");
    check("\"\"", "[]\n");
}

static void quotes_hold_commas_breaks_and_quotes(void **state)
{
    (void)state;
    check("\"a,b\",\"c\nd\"\n", "[a,b][c\nd]\n");
    check("\"say \"\"hi\"\"\",x", "[say \"hi\"][x]\n");
    check("\"\"\"\"", "[\"]\n");
    check(" a , b ", "[ a ][ b ]\n");
}

static void a_mistake_has_its_place(void **state)
{
    (void)state;
    check_wrong("a,b\n1,\"open\n", 2, 3);
    check_wrong("城,\"b\"x\n", 1, 6);
    check_wrong("a\nb\"c\n", 2, 2);
    check_wrong("\"\"\"", 1, 1);
}

static void out_of_memory_is_said(void **state)
{
    (void)state;
    struct pl_csv csv = pl_csv(PL_STR("\"\"\"a\"\"\""));
    struct pl_csv_cell cell;
    struct pl_arena arena;
    struct pl_error err = {0};
    pl_arena_init(&arena, 1);
    assert_int_equal(pl_csv_next(&csv, &arena, &cell, &err), PL_NOMEM);
    pl_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_end_in_line_breaks_of_either_kind),
        cmocka_unit_test(an_empty_cell_is_a_cell),
        cmocka_unit_test(quotes_hold_commas_breaks_and_quotes),
        cmocka_unit_test(a_mistake_has_its_place),
        cmocka_unit_test(out_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
