/* History of typed messages: copies in a vector, and lines of a file. */
#include "terminal/typed.h"

#include "base/text/utf8.h"

static void drop_oldest(struct pl_typed *history, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        history->n_bytes -= history->entries.ptr[i].len;
        pl_mem_free((char *)history->entries.ptr[i].ptr);
    }
    history->entries.len -= n;
    if (history->entries.len)
        memmove(history->entries.ptr, history->entries.ptr + n,
                history->entries.len * sizeof *history->entries.ptr);
}

void pl_typed_deinit(struct pl_typed *history)
{
    drop_oldest(history, history->entries.len);
    pl_vec_deinit(&history->entries);
}

enum pl_status pl_typed_add(struct pl_typed *history, struct pl_str text)
{
    size_t n = history->entries.len;
    bool is_same = n && pl_str_eq(history->entries.ptr[n - 1], text);
    if (!text.len || text.len > PL_TYPED_MAX_ENTRY || is_same)
        return PL_OK;
    char *copy = pl_mem_alloc(text.len, 1);
    if (!copy || !pl_vec_push(&history->entries, (struct pl_str){copy, text.len})) {
        pl_mem_free(copy);
        return PL_NOMEM;
    }
    memcpy(copy, text.ptr, text.len);
    history->n_bytes += text.len;
    while (history->entries.len > PL_TYPED_MAX || history->n_bytes > PL_TYPED_MAX_FILE / 2)
        drop_oldest(history, 1);
    return PL_OK;
}

static void unescape(struct pl_str line, struct pl_buf *to)
{
    for (size_t i = 0; i < line.len; i++) {
        bool is_escape = line.ptr[i] == '\\' && i + 1 < line.len;
        i += is_escape;
        pl_buf_addc(to, (char)(is_escape && line.ptr[i] == 'n' ? '\n' : line.ptr[i]));
    }
}

enum pl_status pl_typed_read(struct pl_typed *history, struct pl_str file)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = PL_OK;
    for (size_t at = 0; at < file.len && status == PL_OK;) {
        const char *end = memchr(file.ptr + at, '\n', file.len - at);
        size_t to = end ? (size_t)(end - file.ptr) : file.len;
        struct pl_str line = pl_str_slice(file, at, to);
        pl_buf_clear(&text);
        unescape(line, &text);
        status = text.status;
        if (status == PL_OK && pl_utf8_is_valid(pl_buf_str(&text)))
            status = pl_typed_add(history, pl_buf_str(&text));
        at = to + 1;
    }
    return status;
}

void pl_typed_write(const struct pl_typed *history, struct pl_buf *to)
{
    for (size_t i = 0; i < history->entries.len; i++) {
        struct pl_str text = history->entries.ptr[i];
        for (size_t k = 0; k < text.len; k++) {
            char c = text.ptr[k];
            if (c == '\n' || c == '\\')
                pl_buf_addc(to, '\\');
            pl_buf_addc(to, (char)(c == '\n' ? 'n' : c));
        }
        pl_buf_addc(to, '\n');
    }
}
