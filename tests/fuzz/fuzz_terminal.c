/* Any bytes as terminal input, and as output of a model. The edited text stays UTF-8 with its
 * cursor at a boundary, and the output has only text and our own sequences. */
#include "base/text/utf8.h"
#include "terminal/editor.h"
#include "terminal/markdown.h"
#include "terminal/width.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* Accepts text, line breaks, and complete ESC [ digits letter. */
static void must_be_ours(struct pl_str out, const char *letters)
{
    must(pl_utf8_is_valid(out));
    for (size_t i = 0; i < out.len; i++) {
        unsigned char c = (unsigned char)out.ptr[i];
        if (c == '\033') {
            must(++i < out.len && out.ptr[i] == '[');
            while (i + 1 < out.len && out.ptr[i + 1] >= '0' && out.ptr[i + 1] <= '9')
                i++;
            must(++i < out.len && strchr(letters, out.ptr[i]));
        } else {
            must((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\r');
        }
    }
}

static void edit(struct pl_str bytes, size_t step)
{
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_keys keys;
    struct pl_typed history = {0};
    struct pl_editor editor;
    struct pl_key key;
    pl_buf_init(&out, 0);
    pl_keys_init(&keys);
    must(pl_typed_read(&history, bytes) == PL_OK);
    pl_editor_init(&editor, &history, 1 << 16);
    for (size_t at = 0; at < bytes.len; at += step) {
        must(pl_keys_feed(&keys, pl_str_slice(bytes, at, at + step)) == PL_OK);
        while (pl_keys_next(&keys, &key)) {
            (void)pl_editor_take(&editor, &key);
            must(editor.cursor <= editor.text.len);
        }
        must(pl_utf8_is_valid(pl_editor_text(&editor)));
        must(pl_utf8_is_valid(pl_str_slice(pl_editor_text(&editor), 0, editor.cursor)));
        if (step > 1)
            pl_editor_draw(&editor, &(struct pl_editor_look){PL_STR("> "), step, step, true}, &out);
    }
    pl_editor_draw(&editor, &(struct pl_editor_look){PL_STR("> "), 30, 10, true}, &out);
    must_be_ours(pl_buf_str(&out), "mAJ");
    pl_editor_deinit(&editor);
    pl_typed_deinit(&history);
    pl_keys_deinit(&keys);
}

static void render(struct pl_str bytes, size_t step, struct pl_buf *out)
{
    struct pl_markdown md;
    pl_markdown_init(&md, 30);
    for (size_t at = 0; at < bytes.len; at += step)
        pl_markdown_feed(&md, pl_str_slice(bytes, at, at + step), out);
    pl_markdown_end(&md, out);
    pl_markdown_deinit(&md);
    must(out->status == PL_OK);
    must_be_ours(pl_buf_str(out), "m");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PL_CLEANUP_BUF struct pl_buf whole, pieces;
    struct pl_str bytes = {(const char *)data, size > 4096 ? 4096 : size};
    pl_buf_init(&whole, 0);
    pl_buf_init(&pieces, 0);
    edit(bytes, 1);
    edit(bytes, 29);
    render(bytes, SIZE_MAX / 2, &whole);
    render(bytes, 3, &pieces);
    return 0;
}
