/* Writes the header from a report, and leaves out what is no loss. */
#include "service/loss_header.h"

#include "format/bookkeeping.h"
#include "json/json.h"
#include "json/text.h"

enum { MAX_LOSS_HEADER = 1000 };

/* A pointer may have anything in it, a header's value may not. */
static void add_pointer(struct pl_buf *to, struct pl_str pointer)
{
    if (!pointer.len)
        pl_buf_addc(to, '/');
    for (size_t i = 0; i < pointer.len; i++) {
        unsigned char c = (unsigned char)pointer.ptr[i];
        if (c > ' ' && c < 0x7F && c != ',' && c != '%')
            pl_buf_addc(to, (char)c);
        else
            pl_buf_addf(to, "%%%02X", c);
    }
}

/* A value that moved, or was added because the target requires it, is not lost. */
static bool is_lost(const struct pl_json_doc *doc, const struct pl_json_node *code)
{
    return !pl_json_key_is(doc, code, PL_STR("moved")) &&
           !pl_json_key_is(doc, code, PL_STR("synthesised"));
}

static bool is_full(const struct pl_buf *header)
{
    return header->len >= 3 && memcmp(header->ptr + header->len - 3, "...", 3) == 0;
}

/* answer NULL: the losses are not those of an answer. */
static void add_loss(struct pl_buf *to, struct pl_arena *arena, const char *where,
                     const struct pl_format *answer, const struct pl_json_doc *doc,
                     const struct pl_json_node *loss)
{
    struct pl_str pointer = {0};
    const struct pl_json_node *code = pl_json_get(doc, loss, PL_STR("code"));
    const struct pl_json_node *at = pl_json_get(doc, loss, PL_STR("pointer"));
    size_t before = to->len;
    if (!code || !at || !is_lost(doc, code) || pl_json_text(arena, doc, at, &pointer) != PL_OK ||
        is_full(to))
        return;
    if (answer &&
        (pl_json_key_is(doc, code, PL_STR("merged")) || pl_answer_is_bookkeeping(answer, pointer)))
        return;
    if (to->len)
        pl_buf_add(to, PL_STR(", "));
    pl_buf_add(to, pl_json_raw(doc, code));
    pl_buf_addc(to, ' ');
    pl_buf_adds(to, where);
    add_pointer(to, pointer);
    if (to->len <= MAX_LOSS_HEADER)
        return;
    to->len = before;
    pl_buf_add(to, before ? PL_STR(", ...") : PL_STR("..."));
}

static void add_losses(struct pl_buf *to, struct pl_arena *arena, const char *where,
                       const struct pl_format *answer, struct pl_str report)
{
    static const char none[] = "\"lossless\":true}";
    size_t n = sizeof none - 1;
    struct pl_json_doc doc;
    if (report.len < n || memcmp(report.ptr + report.len - n, none, n) == 0)
        return;
    struct pl_str kept = pl_arena_dup(arena, report);
    if (!kept.ptr || pl_json_parse(arena, kept, &pl_json_own, &doc, NULL) != PL_OK)
        return;
    const struct pl_json_node *losses = pl_json_get(&doc, doc.root, PL_STR("losses"));
    if (!losses || pl_json_kind(losses) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *loss = pl_json_first(losses); loss < pl_json_end(losses);
         loss = pl_json_next(loss))
        add_loss(to, arena, where, answer, &doc, loss);
}

void pl_loss_header_add(struct pl_buf *to, struct pl_arena *arena, const char *where,
                        struct pl_str report)
{
    add_losses(to, arena, where, NULL, report);
}

void pl_loss_header_add_answer(struct pl_buf *to, struct pl_arena *arena,
                               const struct pl_format *format, struct pl_str report)
{
    add_losses(to, arena, "answer#", format, report);
}
