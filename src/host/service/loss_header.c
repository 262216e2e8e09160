/* Writes the header from a report, without the entries that are not losses. */
#include "service/loss_header.h"

#include "format/bookkeeping.h"
#include "format/format.h"
#include "json/json.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"

enum { MAX_LOSS_HEADER = 1000 };

/* Percent-encodes characters that a header's value may not have. */
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

/* The document that the report is about. */
struct about {
    const struct pl_format *format; /* NULL: any format */
    bool is_answer;                 /* of a vendor; otherwise a request of a client */
    struct pl_json_doc doc;         /* of an answer; root NULL: it cannot be read */
};

/* A member that the gateway itself obeys, whatever the vendor supports. */
static bool is_ours(const struct pl_format *format, struct pl_str pointer)
{
    return format == &pl_format_openai_responses && pl_str_eq(pointer, PL_STR("/store"));
}

static bool is_zero(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    int64_t n = 1;
    return pl_json_kind(node) == PL_JSON_NUMBER &&
           pl_json_number_int64(pl_json_span(doc, node), &n) && n == 0;
}

/* null, an empty container, or a zero counter; for a container, all values in it. */
static bool says_nothing(const struct pl_json_doc *doc, const struct pl_json_node *value,
                         bool is_counted)
{
    for (const struct pl_json_node *n = value; n < pl_json_end(value); n++) {
        enum pl_json_kind kind = pl_json_kind(n);
        if ((n->tag & PL_JSON_KEY) || kind == PL_JSON_NULL || kind == PL_JSON_OBJECT ||
            kind == PL_JSON_ARRAY || (is_counted && is_zero(doc, n)))
            continue;
        return false;
    }
    return true;
}

/* Whether nothing is lost with the value at this pointer. */
static bool is_nothing(const struct about *about, struct pl_str pointer)
{
    const struct pl_json_node *value = NULL;
    if (!about->is_answer)
        return is_ours(about->format, pointer);
    if (pl_answer_is_bookkeeping(about->format, pointer))
        return true;
    if (!about->doc.root || !pointer.len ||
        pl_json_pointer_get(&about->doc, pointer, &value, NULL) != PL_OK)
        return false;
    return says_nothing(&about->doc, value, pl_str_begins(pointer, "/usage"));
}

static void add_loss(struct pl_buf *to, struct pl_arena *arena, const char *where,
                     const struct about *about, const struct pl_json_doc *doc,
                     const struct pl_json_node *loss)
{
    struct pl_str pointer = {0};
    const struct pl_json_node *code = pl_json_get(doc, loss, PL_STR("code"));
    const struct pl_json_node *at = pl_json_get(doc, loss, PL_STR("pointer"));
    size_t before = to->len;
    if (!code || !at || !is_lost(doc, code) || pl_json_text(arena, doc, at, &pointer) != PL_OK ||
        is_full(to))
        return;
    if ((about->is_answer && pl_json_key_is(doc, code, PL_STR("merged"))) ||
        is_nothing(about, pointer))
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

static bool is_lossless(struct pl_str report)
{
    static const char none[] = "\"lossless\":true}";
    size_t n = sizeof none - 1;
    return report.len < n || memcmp(report.ptr + report.len - n, none, n) == 0;
}

static void add_losses(struct pl_buf *to, struct pl_arena *arena, const char *where,
                       const struct about *about, struct pl_str report)
{
    struct pl_json_doc doc;
    if (is_lossless(report))
        return;
    struct pl_str kept = pl_arena_dup(arena, report);
    if (!kept.ptr || pl_json_parse(arena, kept, &pl_json_own, &doc, NULL) != PL_OK)
        return;
    const struct pl_json_node *losses = pl_json_get(&doc, doc.root, PL_STR("losses"));
    if (!losses || pl_json_kind(losses) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *loss = pl_json_first(losses); loss < pl_json_end(losses);
         loss = pl_json_next(loss))
        add_loss(to, arena, where, about, &doc, loss);
}

void pl_loss_header_add(struct pl_buf *to, struct pl_arena *arena, const char *where,
                        struct pl_str report)
{
    add_losses(to, arena, where, &(struct about){0}, report);
}

void pl_loss_header_add_request(struct pl_buf *to, struct pl_arena *arena,
                                const struct pl_format *format, struct pl_str report)
{
    add_losses(to, arena, "", &(struct about){.format = format}, report);
}

void pl_loss_header_add_answer(struct pl_buf *to, struct pl_arena *arena,
                               const struct pl_format *format, struct pl_str answer,
                               struct pl_str report)
{
    struct about about = {.format = format, .is_answer = true};
    if (is_lossless(report))
        return;
    if (pl_json_parse(arena, answer, &pl_json_own, &about.doc, NULL) != PL_OK)
        about.doc.root = NULL;
    add_losses(to, arena, "answer#", &about, report);
}
