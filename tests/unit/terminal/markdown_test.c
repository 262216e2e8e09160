/* Answers on a terminal, whole and byte by byte: the output has the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/markdown.h"
#include "terminal/width.h"

static void render(struct pl_str text, size_t columns, size_t step, struct pl_buf *to)
{
    struct pl_markdown md;
    pl_markdown_init(&md, columns);
    for (size_t at = 0; at < text.len; at += step)
        pl_markdown_feed(&md, pl_str_slice(text, at, at + step), to);
    pl_markdown_end(&md, to);
    pl_markdown_deinit(&md);
}

/* Without styles: dim as (…), others as <…>. */
static void expect_at(size_t columns, const char *text, const char *expected)
{
    for (size_t step = 1; step < 3; step++) {
        PL_CLEANUP_BUF struct pl_buf out, told;
        pl_buf_init(&out, 0);
        pl_buf_init(&told, 0);
        render(pl_str_of(text), columns, step == 1 ? 1 : SIZE_MAX / 2, &out);
        for (size_t i = 0; i < out.len; i++) {
            static const char *const codes[][2] = {
                {"\033[0m", ">"},  {"\033[1m", "B<"}, {"\033[2m", ""},   {"\033[3m", "I<"},
                {"\033[4m", "U<"}, {"\033[9m", "S<"}, {"\033[36m", "C<"}};
            size_t k = 0, n = sizeof codes / sizeof *codes;
            while (k < n && !pl_str_begins(pl_str_slice(pl_buf_str(&out), i, out.len), codes[k][0]))
                k++;
            if (k == 2) { /* dim: frames */
                i += 3;
                size_t end =
                    pl_str_find(pl_str_slice(pl_buf_str(&out), i, out.len), PL_STR("\033[0m"));
                assert_int_not_equal(end, SIZE_MAX);
                pl_buf_add(&told, pl_str_slice(pl_buf_str(&out), i + 1, i + end));
                i += end + 3;
            } else if (k < n) {
                pl_buf_adds(&told, codes[k][1]);
                i += strlen(codes[k][0]) - 1;
            } else {
                assert_int_not_equal(out.ptr[i], '\033');
                pl_buf_addc(&told, out.ptr[i]);
            }
        }
        pl_buf_addc(&told, '\0');
        assert_string_equal(told.ptr, expected);
    }
}

static void expect(const char *text, const char *expected)
{
    expect_at(40, text, expected);
}

static void words_and_emphasis(void **state)
{
    (void)state;
    expect("plain text", "plain text\n");
    expect("a **bold word** b", "a B<bold> B<word> b\n");
    expect("*it* _it_ ***both*** ~~gone~~", "I<it> I<it> B<I<both> S<gone>\n");
    expect("`a * b` and ``x`y``", "C<a> C<*> C<b> and C<x`y>\n");
    expect("2 * 3 * 4, snake_case_name, a*b*c", "2 * 3 * 4, snake_case_name, a*b*c\n");
    expect("\\*not\\* C:\\dir", "*not* C:\\dir\n");
    expect("**never closed\n\nnext", "B<never> B<closed>\n\nnext\n");
    expect("中文**粗体**文", "中文B<粗>B<体>文\n");
}

static void lines(void **state)
{
    (void)state;
    expect("# One\n### Three\n#not", "B<U<One>\nB<Three>\n#not\n");
    expect("###### Six\n####### seven\n#######", "B<Six>\n####### seven\n#######\n");
    expect("- a\n  * b\n10. c\n1.5 is", "• a\n  • b\n10. c\n1.5 is\n");
    expect("> said", "▌ said\n");
    expect("a\n***\nb", "a\n───────────────────────────────────────\nb\n");
    expect("a\n\n\nb\n", "a\n\n\nb\n");
    expect("a\r\nb", "a\nb\n");
}

static void rows_are_broken_between_words(void **state)
{
    (void)state;
    expect_at(21, "one two three four five six", "one two three four\nfive six\n");
    expect_at(21, "- one two three four five six", "• one two three four\n  five six\n");
    expect_at(21, "中文中文中文中文中文中文中文", "中文中文中文中文中文\n中文中文\n");
    expect_at(21, "中文中文中文中文中文。中文", "中文中文中文中文中\n文。中文\n");
    expect_at(21, "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrst\nuvwxyz\n");
}

static void code_has_a_frame(void **state)
{
    (void)state;
    expect("```c\nint x;\n\n\tif (**a**)\n```\nafter",
           "┌─ c ──────────────────────────────────\n│ C<int x;>\n│ \n│ C<    if (**a**)>\n"
           "└──────────────────────────────────────\nafter\n");
    expect("```\nnever closed", "┌──────────────────────────────────────\n│ C<never closed>\n"
                                "└──────────────────────────────────────\n");
}

static void tables(void **state)
{
    (void)state;
    expect("| a | 中文 |\n|---|---:|\n| **x** | 1 |\n| y\\|z |\nend",
           "┌─────┬──────┐\n│ B<a>   │ B<中文> │\n├─────┼──────┤\n│ x   │    1 │\n│ y|z │      │\n"
           "└─────┴──────┘\nend\n");
    expect_at(24, "| name | what |\n|:-:|---|\n| a | one two three four |\n",
              "┌──────┬──────────────┐\n│ B<name> │ B<what>         │\n├──────┼──────────────┤\n"
              "│  a   │ one two      │\n│      │ three four   │\n└──────┴──────────────┘\n");
    expect("| not a table\nx", "| not a table\nx\n");
}

static void a_word_that_has_not_ended_is_shown_until_more_comes(void **state)
{
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_markdown md;
    (void)state;
    pl_buf_init(&out, 0);
    pl_markdown_init(&md, 40);
    pl_markdown_feed(&md, PL_STR("one tw"), &out);
    pl_markdown_show(&md, &out);
    pl_markdown_feed(&md, PL_STR("o **"), &out);
    pl_markdown_show(&md, &out);
    pl_markdown_end(&md, &out);
    pl_markdown_deinit(&md);
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, "one tw\033[3D\033[K two **\n");
}

/* Whatever a model writes, the output has only our own escapes. */
static void a_model_sends_no_control_sequence(void **state)
{
    static const char *const hostile[] = {
        "\033]0;title\a",
        "\033[2J",
        "\033P+q\033\\",
        "\302\23331m",
        "`\033[31m`",
        "# \033c",
        "```\n\033[2J\n```",
        "```\033[1m\nx\n```",
        "| \033[1m |\n|---|\n| \033]8;;x\a |",
        "> \b\b\b",
        "- \r\033[A",
        "a\rb",
        "\u202Eabc",
        "**\033[1m**",
        "\033",
        "\x9B",
        "x\n\033\n",
        "\\\033[m",
    };
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        for (size_t step = 1; step < 4; step++) {
            PL_CLEANUP_BUF struct pl_buf out;
            pl_buf_init(&out, 0);
            render(pl_str_of(hostile[i]), 40, step, &out);
            for (size_t k = 0; k < out.len; k++) {
                unsigned char c = (unsigned char)out.ptr[k];
                if (c == '\033') { /* ESC [ digits m */
                    assert_int_equal(out.ptr[++k], '[');
                    while (out.ptr[k + 1] >= '0' && out.ptr[k + 1] <= '9')
                        k++;
                    assert_int_equal(out.ptr[++k], 'm');
                } else if (c != '\n') {
                    assert_true(c >= 0x20 && c != 0x7F);
                }
            }
            assert_int_equal(pl_str_find(pl_buf_str(&out), PL_STR("\302\233")), SIZE_MAX);
            assert_int_equal(pl_str_find(pl_buf_str(&out), PL_STR("\u202E")), SIZE_MAX);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_emphasis),
        cmocka_unit_test(lines),
        cmocka_unit_test(rows_are_broken_between_words),
        cmocka_unit_test(code_has_a_frame),
        cmocka_unit_test(tables),
        cmocka_unit_test(a_word_that_has_not_ended_is_shown_until_more_comes),
        cmocka_unit_test(a_model_sends_no_control_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
