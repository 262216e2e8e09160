/* terminal/ survives running out of memory: it returns an error, and nothing leaks. */
#include "fault/fault.h"
#include "terminal/editor.h"
#include "terminal/markdown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static enum pl_status edit(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_typed typed = {0};
    struct pl_keys keys;
    struct pl_editor editor;
    struct pl_key key;
    pl_buf_init(&out, 0);
    pl_keys_init(&keys);
    enum pl_status status = pl_typed_read(&typed, PL_STR("one\ntwo\\nlines\n"));
    pl_editor_init(&editor, &typed, 1 << 20);
    if (status == PL_OK)
        status = pl_keys_feed(&keys, PL_STR("hello\033[A\033[A\022two\033\r\027\031\033[200~a\nb"));
    while (status == PL_OK && pl_keys_next(&keys, &key))
        (void)pl_editor_take(&editor, &key);
    if (status == PL_OK)
        pl_editor_draw(&editor, &(struct pl_editor_look){PL_STR("> "), 40, 10, true}, &out);
    if (status == PL_OK)
        status = keys.status != PL_OK ? keys.status : editor.status;
    if (status == PL_OK)
        status = out.status;
    pl_editor_deinit(&editor);
    pl_keys_deinit(&keys);
    pl_typed_deinit(&typed);
    return status;
}

/* The typed text is kept if the history cannot be shown. */
static enum pl_status recall(void *ctx)
{
    (void)ctx;
    struct pl_typed typed = {0};
    struct pl_editor editor;
    static const char words[] = "what was typed";
    enum pl_status status =
        pl_typed_read(&typed, PL_STR("an entry that is longer than what was typed, by far\n"));
    pl_editor_init(&editor, &typed, 1 << 20);
    for (const char *at = words; *at && status == PL_OK && editor.status == PL_OK; at++)
        (void)pl_editor_take(&editor, &(struct pl_key){.kind = PL_KEY_TEXT, .text = {at, 1}});
    bool is_typed = status == PL_OK && editor.status == PL_OK;
    if (is_typed)
        (void)pl_editor_take(&editor, &(struct pl_key){.kind = PL_KEY_UP});
    if (is_typed && editor.status != PL_OK)
        assert_true(pl_str_eq(pl_editor_text(&editor), pl_str_of(words)));
    status = status == PL_OK ? editor.status : status;
    pl_editor_deinit(&editor);
    pl_typed_deinit(&typed);
    return status;
}

static enum pl_status render(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_markdown md;
    pl_buf_init(&out, 0);
    pl_markdown_init(&md, 40);
    pl_markdown_feed(&md, PL_STR("# a **b** c\n\n```c\nint x;\n```\n- d"), &out);
    pl_markdown_end(&md, &out);
    pl_markdown_deinit(&md);
    return out.status;
}

static void editing(void **state)
{
    (void)state;
    assert_true(pl_fault_each(edit, NULL) > 5);
}

static void recalling(void **state)
{
    (void)state;
    assert_true(pl_fault_each(recall, NULL) > 2);
}

static void rendering(void **state)
{
    (void)state;
    assert_true(pl_fault_each(render, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(editing),
        cmocka_unit_test(recalling),
        cmocka_unit_test(rendering),
    };
    return cmocka_run_group_tests_name("fault/terminal", tests, NULL, NULL);
}
