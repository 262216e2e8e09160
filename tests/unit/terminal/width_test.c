/* Cells of texts, and the ends of clusters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/safe.h"
#include "terminal/width.h"

static void each_character_has_its_cells(void **state)
{
    static const struct {
        const char *text;
        size_t cells;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"é", 1},
        {"e\u0301", 1}, /* a combining accent */
        {"中文", 4},
        {"ｆｕｌｌ", 8}, /* fullwidth */
        {"ﾊﾝｶｸ", 4},     /* halfwidth */
        {"한국어", 6},
        {"\u1112\u1161\u11AB", 2}, /* the same syllable, in parts */
        {"🙂", 2},
        {"👍🏽", 2},           /* with a skin tone */
        {"👨‍👩‍👧", 2}, /* joined */
        {"🇩🇪🇫🇷", 4},               /* two flags */
        {"\u200B", 0},
        {"ไทย", 3},
        {"ก็", 1},
        {"—", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pl_width(pl_str_of(cases[i].text)) != cases[i].cells)
            fail_msg("\"%s\" has %zu cells, not %zu", cases[i].text,
                     pl_width(pl_str_of(cases[i].text)), cases[i].cells);
}

static void clusters_are_what_backspace_takes(void **state)
{
    struct pl_str text = PL_STR("a中e\u0301👨‍👩‍👧🇩🇪\n");
    static const size_t edges[] = {0, 1, 4, 7, 25, 33, 34};
    size_t at = text.len;
    (void)state;
    for (size_t i = sizeof edges / sizeof *edges - 1; i > 0; i--) {
        assert_int_equal(at, edges[i]);
        at = pl_cluster_before(text, at);
    }
    assert_int_equal(at, 0);
    assert_int_equal(pl_cluster_before(text, 0), 0);
}

static void a_text_is_cut_between_clusters(void **state)
{
    (void)state;
    assert_int_equal(pl_width_cut(PL_STR("中文"), 3).len, 3);
    assert_int_equal(pl_width_cut(PL_STR("中文"), 4).len, 6);
    assert_int_equal(pl_width_cut(PL_STR("e\u0301x"), 1).len, 3);
    assert_int_equal(pl_width_cut(PL_STR("x"), 0).len, 0);
}

static void bytes_that_are_no_utf8_take_a_cell(void **state)
{
    (void)state;
    assert_int_equal(pl_width(PL_STR("\xFF\xC3")), 2);
}

static void foreign_text_sends_no_control_character(void **state)
{
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    (void)state;
    pl_safe_add(&out, PL_STR("a\033[2Jb\xC2\x9B"
                             "1m\u202Ec\x80\u200D"));
    pl_safe_add_prose(&out, PL_STR("\a👩‍🚀"));
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, "a\\u{1B}[2Jb\\u{9B}1m\\u{202E}c\\x80\\u{200D}\\u{7}👩‍🚀");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_character_has_its_cells),
        cmocka_unit_test(clusters_are_what_backspace_takes),
        cmocka_unit_test(a_text_is_cut_between_clusters),
        cmocka_unit_test(bytes_that_are_no_utf8_take_a_cell),
        cmocka_unit_test(foreign_text_sends_no_control_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
