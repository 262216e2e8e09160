/* Keys change the text as expected, and the terminal shows it: a small screen interprets the
 * output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/editor.h"
#include "terminal/width.h"

#include <stdio.h>

struct typing {
    struct pl_keys keys;
    struct pl_typed history;
    struct pl_editor editor;
    enum pl_editor_wish wish; /* of the last key that had one */
};

static void begin(struct typing *t)
{
    *t = (struct typing){0};
    pl_keys_init(&t->keys);
    pl_editor_init(&t->editor, &t->history, 1 << 20);
}

static void end(struct typing *t)
{
    pl_keys_deinit(&t->keys);
    pl_editor_deinit(&t->editor);
    pl_typed_deinit(&t->history);
}

static void type(struct typing *t, const char *bytes)
{
    t->wish = PL_EDITOR_GOES_ON;
    assert_int_equal(pl_keys_feed(&t->keys, pl_str_of(bytes)), PL_OK);
    for (struct pl_key key; pl_keys_next(&t->keys, &key);) {
        enum pl_editor_wish wish = pl_editor_take(&t->editor, &key);
        t->wish = wish != PL_EDITOR_GOES_ON ? wish : t->wish;
    }
}

/* The text, with | at the cursor. */
static void expect(struct typing *t, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf told;
    pl_buf_init(&told, 0);
    struct pl_str text = pl_editor_text(&t->editor);
    pl_buf_add(&told, pl_str_slice(text, 0, t->editor.cursor));
    pl_buf_addc(&told, '|');
    pl_buf_add(&told, pl_str_slice(text, t->editor.cursor, text.len));
    pl_buf_addc(&told, '\0');
    assert_string_equal(told.ptr, expected);
}

static void keys_edit(void **state)
{
    static const struct {
        const char *typed, *expected;
    } cases[] = {
        {"abc\033[D\033[DX", "aX|bc"},
        {"你好\177", "你|"},
        {"你好\033[D\177", "|好"},
        {"one two\033b\033b\033fX", "oneX| two"},
        {"one two\001\013", "|"},
        {"one two\027\027\031", "one two|"},
        {"one two\033b\025\005\031", "twoone |"},
        {"中文字\033[1;5D", "中文|字"},
        {"ab\024", "ba|"},
        {"one\033\rtwo\033[A", "one|\ntwo"},
        {"one\\\rtwo", "one\ntwo|"},
        {"a\033[200~x\ny\nz\033[201~", "ax\ny\nz|"},
        {"e\u0301\177", "|"},
        {"👨‍👩‍👧a\033[D\177", "|a"},
        {"ab\001\004", "|b"},
        {"two words\033\177", "two |"},
        {"abc\003", "|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct typing t;
        begin(&t);
        type(&t, cases[i].typed);
        expect(&t, cases[i].expected);
        end(&t);
    }
}

static void keys_wish(void **state)
{
    static const struct {
        const char *typed;
        enum pl_editor_wish wish;
    } cases[] = {
        {"a\r", PL_EDITOR_DONE},      {"\004", PL_EDITOR_ENDED},    {"\003", PL_EDITOR_INTERRUPTED},
        {"a\003", PL_EDITOR_GOES_ON}, {"/h\t", PL_EDITOR_COMPLETE}, {"\014", PL_EDITOR_CLEAR},
        {"\017", PL_EDITOR_OPEN},     {"\032", PL_EDITOR_SUSPEND},  {"a\004", PL_EDITOR_GOES_ON},
        {"a\\\r", PL_EDITOR_GOES_ON},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct typing t;
        begin(&t);
        type(&t, cases[i].typed);
        assert_int_equal(t.wish, cases[i].wish);
        end(&t);
    }
}

static void history_is_browsed_and_the_draft_comes_back(void **state)
{
    struct typing t;
    (void)state;
    begin(&t);
    assert_int_equal(pl_typed_add(&t.history, PL_STR("first")), PL_OK);
    assert_int_equal(pl_typed_add(&t.history, PL_STR("second\nline")), PL_OK);
    pl_editor_reset(&t.editor);
    type(&t, "draft\033[A");
    expect(&t, "second\nline|");
    type(&t, "\033[A\033[A\033[A");
    expect(&t, "first|");
    type(&t, "\033[B\033[B");
    expect(&t, "draft|");
    end(&t);
}

static void ctrl_r_finds_older_entries_letter_by_letter(void **state)
{
    struct typing t;
    (void)state;
    begin(&t);
    assert_int_equal(pl_typed_add(&t.history, PL_STR("make build")), PL_OK);
    assert_int_equal(pl_typed_add(&t.history, PL_STR("make test")), PL_OK);
    assert_int_equal(pl_typed_add(&t.history, PL_STR("other")), PL_OK);
    pl_editor_reset(&t.editor);
    type(&t, "kept\022ma");
    expect(&t, "|make test");
    type(&t, "\022");
    expect(&t, "|make build");
    type(&t, "\007");
    expect(&t, "kept|");
    type(&t, "\022bui\005!");
    expect(&t, "make build!|");
    /* A changed history entry is found in its original form. */
    pl_editor_reset(&t.editor);
    type(&t, "\033[A\025mine\022oth");
    expect(&t, "|other");
    end(&t);
}

static void history_is_bounded_and_survives_a_file(void **state)
{
    struct pl_typed history = {0}, again = {0};
    PL_CLEANUP_BUF struct pl_buf file;
    char text[16];
    (void)state;
    pl_buf_init(&file, 0);
    for (int i = 0; i < PL_TYPED_MAX + 1; i++) {
        snprintf(text, sizeof text, "n %d", i);
        assert_int_equal(pl_typed_add(&history, pl_str_of(text)), PL_OK);
    }
    assert_int_equal(history.entries.len, PL_TYPED_MAX);
    assert_true(pl_str_eq(history.entries.ptr[0], PL_STR("n 1")));
    assert_int_equal(pl_typed_add(&history, PL_STR("a\\b\nc")), PL_OK);
    assert_int_equal(pl_typed_add(&history, PL_STR("a\\b\nc")), PL_OK);
    pl_typed_write(&history, &file);
    assert_int_equal(pl_typed_read(&again, pl_buf_str(&file)), PL_OK);
    assert_int_equal(again.entries.len, PL_TYPED_MAX);
    assert_true(pl_str_eq(again.entries.ptr[PL_TYPED_MAX - 1], PL_STR("a\\b\nc")));
    char *longest = pl_mem_alloc(PL_TYPED_MAX_ENTRY + 1, 1);
    memset(longest, 'x', PL_TYPED_MAX_ENTRY + 1);
    assert_int_equal(pl_typed_add(&again, (struct pl_str){longest, PL_TYPED_MAX_ENTRY + 1}), PL_OK);
    assert_true(pl_str_eq(again.entries.ptr[PL_TYPED_MAX - 1], PL_STR("a\\b\nc")));
    pl_mem_free(longest);
    pl_typed_deinit(&history);
    pl_typed_deinit(&again);
}

static void a_text_that_is_too_long_is_refused_and_the_rest_stays(void **state)
{
    struct pl_editor editor;
    (void)state;
    pl_editor_init(&editor, NULL, 4);
    struct pl_key key = {PL_KEY_PASTE, PL_STR("abcd")}, more = {PL_KEY_TEXT, PL_STR("e")};
    assert_int_equal(pl_editor_take(&editor, &key), PL_EDITOR_GOES_ON);
    assert_int_equal(editor.status, PL_OK);
    assert_int_equal(pl_editor_take(&editor, &more), PL_EDITOR_GOES_ON);
    assert_int_equal(editor.status, PL_LIMIT);
    assert_true(pl_str_eq(pl_editor_text(&editor), PL_STR("abcd")));
    pl_editor_deinit(&editor);
}

/* --- a screen -------------------------------------------------------------------------------- */

enum { ROWS = 12, COLUMNS = 20 };

struct screen {
    char cells[ROWS][COLUMNS][16]; /* a cluster; the second cell of a wide one is empty */
    size_t row, column;
};

static size_t number_at(struct pl_str s, size_t *at)
{
    size_t n = 0;
    while (s.ptr[*at] >= '0' && s.ptr[*at] <= '9')
        n = n * 10 + (size_t)(s.ptr[(*at)++] - '0');
    return n;
}

static void clear_from(struct screen *screen, size_t row, size_t column)
{
    for (; row < ROWS; row++, column = 0)
        for (; column < COLUMNS; column++)
            screen->cells[row][column][0] = '\0';
}

static void play(struct screen *screen, struct pl_str bytes)
{
    for (size_t at = 0; at < bytes.len;) {
        char c = bytes.ptr[at];
        if (c == '\033') {
            at += 2;
            size_t n = number_at(bytes, &at);
            char what = bytes.ptr[at++];
            if (what == 'A')
                screen->row -= n;
            else if (what == 'J')
                clear_from(screen, screen->row, screen->column);
            else
                assert_int_equal(what, 'm');
        } else if (c == '\r' || c == '\n') {
            screen->column = c == '\r' ? 0 : screen->column;
            screen->row += c == '\n';
            at++;
        } else {
            unsigned width;
            size_t end = pl_cluster_end(bytes, at, &width);
            assert_true(screen->row < ROWS && screen->column + width <= COLUMNS - 1);
            assert_true(end - at < sizeof screen->cells[0][0]);
            memset(screen->cells[screen->row][screen->column], 0, sizeof screen->cells[0][0]);
            memcpy(screen->cells[screen->row][screen->column], bytes.ptr + at, end - at);
            screen->column += width;
            at = end;
        }
    }
}

static void expect_screen(struct typing *t, struct screen *screen, const char *expected)
{
    PL_CLEANUP_BUF struct pl_buf out, told;
    struct pl_editor_look look = {PL_STR("> "), COLUMNS, ROWS, true};
    pl_buf_init(&out, 0);
    pl_buf_init(&told, 0);
    pl_editor_draw(&t->editor, &look, &out);
    play(screen, pl_buf_str(&out));
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < COLUMNS; column++) {
            if (row == screen->row && column == screen->column)
                pl_buf_addc(&told, '|');
            pl_buf_adds(&told, screen->cells[row][column]);
        }
        pl_buf_addc(&told, '\n');
    }
    while (told.len > 1 && told.ptr[told.len - 1] == '\n' && told.ptr[told.len - 2] == '\n')
        told.len--;
    pl_buf_addc(&told, '\0');
    assert_string_equal(told.ptr, expected);
}

static void the_screen_shows_the_text(void **state)
{
    struct typing t;
    struct screen screen = {0};
    (void)state;
    begin(&t);
    expect_screen(&t, &screen, "> |\n");
    type(&t, "hello 中文字 and more words here");
    expect_screen(&t, &screen, "> hello 中文字 and \n  more words here|\n");
    type(&t, "\001\033f");
    expect_screen(&t, &screen, "> hello| 中文字 and \n  more words here\n");
    type(&t, "\013");
    expect_screen(&t, &screen, "> hello|\n");
    type(&t, "\033\rsecond\033\rthird\033[A");
    expect_screen(&t, &screen, "> hello\n  secon|d\n  third\n");
    type(&t, "\003");
    expect_screen(&t, &screen, "> |\n");
    end(&t);
}

static void a_text_taller_than_the_screen_shows_the_part_around_the_cursor(void **state)
{
    struct typing t;
    struct screen screen = {0};
    (void)state;
    begin(&t);
    for (int i = 0; i < 30; i++)
        type(&t, "line\033\r");
    type(&t, "last");
    expect_screen(&t, &screen,
                  "  line\n  line\n  line\n  line\n  line\n  line\n  line\n  line\n  line\n  line\n"
                  "  last|\n");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit),
        cmocka_unit_test(keys_wish),
        cmocka_unit_test(history_is_browsed_and_the_draft_comes_back),
        cmocka_unit_test(ctrl_r_finds_older_entries_letter_by_letter),
        cmocka_unit_test(history_is_bounded_and_survives_a_file),
        cmocka_unit_test(a_text_that_is_too_long_is_refused_and_the_rest_stays),
        cmocka_unit_test(the_screen_shows_the_text),
        cmocka_unit_test(a_text_taller_than_the_screen_shows_the_part_around_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
