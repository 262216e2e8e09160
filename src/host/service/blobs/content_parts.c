/* Converts each part separately: a loss of the conversion is an error of the part. */
#include "service/blobs/content_parts.h"

#include "format/convert.h"
#include "json/text.h"

#define FRONT "[{\"role\":\"user\",\"content\":["
#define BACK  "]}]"

static bool has_type(const struct pl_json_doc *doc, const struct pl_json_node *part,
                     const char *const *types)
{
    const struct pl_json_node *type = pl_json_member(doc, part, "type", PL_JSON_STRING);
    for (; type && *types; types++)
        if (pl_json_text_is(doc, type, pl_str_of(*types)))
            return true;
    return false;
}

static bool is_part(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    static const char *const types[] = {"image_url", "input_audio", "file", NULL};
    return has_type(doc, part, types);
}

/* {"type":"text","text":…}; the reader of the blocks handles a part with more members. */
static const struct pl_json_node *text_of(const struct pl_json_doc *doc,
                                          const struct pl_json_node *part)
{
    static const char *const types[] = {"text", NULL};
    return has_type(doc, part, types) && pl_json_count(part) == 2
               ? pl_json_member(doc, part, "text", PL_JSON_STRING)
               : NULL;
}

bool pl_content_parts_has_media(const struct pl_json_doc *doc, const struct pl_json_node *list)
{
    static const char *const blocks[] = {"media", NULL};
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (is_part(doc, n) || has_type(doc, n, blocks))
            return true;
    return false;
}

/* Reports the first loss of the conversion as the error of the part. */
static enum pl_status fail_by_report(struct pl_arena *arena, struct pl_str report, size_t index,
                                     struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str pointer = PL_STR(""), detail = PL_STR("it has nothing that can be kept");
    const char prefix[] = "/0/content/0";
    enum pl_status status = pl_json_parse(arena, report, NULL, &doc, NULL);
    if (status == PL_NOMEM)
        return status;
    const struct pl_json_node *losses =
        status == PL_OK ? pl_json_member(&doc, doc.root, "losses", PL_JSON_ARRAY) : NULL;
    for (const struct pl_json_node *n = losses ? pl_json_first(losses) : NULL;
         n && n < pl_json_end(losses); n = pl_json_next(n)) {
        const struct pl_json_node *code = pl_json_get(&doc, n, PL_STR("code"));
        if (pl_json_text_is(&doc, code, PL_STR("synthesised")))
            continue;
        status = pl_json_text(arena, &doc, pl_json_get(&doc, n, PL_STR("pointer")), &pointer);
        if (status == PL_OK)
            status = pl_json_text(arena, &doc, pl_json_get(&doc, n, PL_STR("detail")), &detail);
        if (status != PL_OK)
            return status;
        break;
    }
    if (pl_str_starts(pointer, PL_STR(prefix)))
        pointer = pl_str_slice(pointer, sizeof prefix - 1, pointer.len);
    status = pl_fail(err, PL_INVALID, "Part %zu of the message cannot be kept: %.*s", index + 1,
                     PL_STR_ARG(detail));
    pl_error_point(err, "/%zu%.*s", index, PL_STR_ARG(pointer));
    return status;
}

/* Takes the single block that a part becomes. */
static enum pl_status take_block(struct pl_arena *arena, struct pl_str turns, struct pl_buf *to)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, turns, NULL, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *turn = pl_json_count(doc.root) ? pl_json_first(doc.root) : NULL;
    const struct pl_json_node *blocks =
        turn ? pl_json_member(&doc, turn, "blocks", PL_JSON_ARRAY) : NULL;
    if (!blocks || pl_json_count(blocks) != 1)
        return PL_INVALID;
    pl_buf_add(to, pl_json_span(&doc, pl_json_first(blocks)));
    return to->status;
}

static enum pl_status write_part(struct pl_arena *arena, struct pl_str part, size_t index,
                                 struct pl_buf *to, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf document;
    struct pl_converted converted;
    struct pl_convert_opts opts = {
        .from = &pl_format_harmony,
        .to = &pl_format_turns,
        .is_strict = true,
        .refuses_wrong_types = true,
    };
    pl_buf_init(&document, 0);
    pl_converted_init(&converted);
    pl_buf_adds(&document, FRONT);
    pl_buf_add(&document, part);
    pl_buf_adds(&document, BACK);
    enum pl_status status = document.status;
    if (status == PL_OK)
        status = pl_convert(pl_buf_str(&document), &opts, &converted, NULL);
    if (status == PL_OK)
        status = take_block(arena, pl_buf_str(&converted.out), to);
    if (status == PL_INVALID)
        status = fail_by_report(arena, pl_buf_str(&converted.report), index, err);
    pl_converted_deinit(&converted);
    return status;
}

enum pl_status pl_content_parts_write(struct pl_arena *arena, const struct pl_json_doc *doc,
                                      const struct pl_json_node *list, struct pl_buf *to,
                                      struct pl_error *err)
{
    enum pl_status status = PL_OK;
    size_t i = 0;
    pl_buf_addc(to, '[');
    for (const struct pl_json_node *n = pl_json_first(list);
         status == PL_OK && n < pl_json_end(list); n = pl_json_next(n), i++) {
        if (i)
            pl_buf_addc(to, ',');
        const struct pl_json_node *text = text_of(doc, n);
        if (is_part(doc, n)) {
            status = write_part(arena, pl_json_span(doc, n), i, to, err);
        } else if (text) {
            pl_buf_adds(to, "{\"type\":\"text\",\"content\":");
            pl_buf_add(to, pl_json_span(doc, text));
            pl_buf_addc(to, '}');
        } else {
            pl_buf_add(to, pl_json_span(doc, n));
        }
    }
    pl_buf_addc(to, ']');
    return status == PL_OK ? to->status : status;
}
