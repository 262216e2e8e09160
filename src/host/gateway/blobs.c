/* Blobs that a request names by their address here, /api/blobs/ID. No vendor can fetch them, so
 * their bytes are put into the request, in the shape that its dialect has for data. */
#include "gateway/call.h"

#include "agent/context/inline_media.h"
#include "base/text/base64.h"
#include "base/text/search.h"
#include "format/source.h"
#include "json/edit/edit.h"
#include "json/text.h"
#include "json/write.h"
#include "service/request_options.h"
#include "store/work.h"

#define BLOBS "/api/blobs/"

struct putting {
    struct pl_gateway_call *call;
    struct pl_source source;
    struct pl_json_edit edit;
    struct pl_error err;
    int64_t n_left; /* bytes that may still be inserted */
};

/* A blob and the place where its bytes go. */
struct place {
    const struct pl_part *part;
    struct pl_blob_row blob;
    struct pl_buf base64; /* owned */
};

/* Looks at the JSON text, where a slash may be escaped ("\/api\/blobs\/ID"). True may be wrong, for
 * an address in words: put() looks at the decoded URL of each part. */
bool pl_gateway_call_names_blobs(const struct pl_gateway_call *call)
{
    const struct pl_str part = PL_STR("/blobs"), api = PL_STR("/api");
    struct pl_str rest = call->text;
    for (size_t at; (at = pl_str_search(rest, part)) != SIZE_MAX;) {
        size_t end = at && rest.ptr[at - 1] == '\\' ? at - 1 : at;
        bool is_ours = end >= api.len && pl_str_eq(pl_str_slice(rest, end - api.len, end), api);
        rest = pl_str_slice(rest, at + part.len, rest.len);
        if (is_ours && rest.len && (rest.ptr[0] == '/' || rest.ptr[0] == '\\'))
            return true;
    }
    return false;
}

/* --- one shape for each dialect -------------------------------------------------------------- */

static void write_data_url(struct pl_json_out *out, const struct place *place)
{
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    pl_buf_addf(&url, "data:%.*s;base64,", PL_STR_ARG(place->blob.content_type));
    pl_buf_add(&url, pl_buf_str(&place->base64));
    if (url.status != PL_OK)
        out->buf->status = url.status;
    pl_json_out_text(out, pl_buf_str(&url));
}

/* A data URL is valid in place of the URL. */
static enum pl_status set_url(struct putting *p, const struct place *place)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_out out = pl_json_out(&json);
    write_data_url(&out, place);
    return json.status == PL_OK
               ? pl_json_edit_set_node(&p->edit, place->part->url.node, pl_buf_str(&json), &p->err)
               : json.status;
}

/* {"type":"input_file","file_url":…} has its data in another member, with a name. */
static enum pl_status set_input(struct putting *p, const struct place *place)
{
    const struct pl_json_node *part = place->part->node;
    const struct pl_json_node *url = pl_json_get(&p->source.doc, part, PL_STR("file_url"));
    if (!url)
        return set_url(p, place);
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_out out = pl_json_out(&json);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, PL_STR("input_file"));
    pl_json_out_key(&out, "filename");
    pl_json_out_text(&out, place->blob.name.len ? place->blob.name : place->blob.id);
    pl_json_out_key(&out, "file_data");
    write_data_url(&out, place);
    pl_json_out_close(&out, '}');
    return json.status == PL_OK ? pl_json_edit_set_node(&p->edit, part, pl_buf_str(&json), &p->err)
                                : json.status;
}

/* {"type":"base64","media_type":…,"data":…} or {"mimeType":…,"data":…} */
static void write_data(struct pl_buf *to, const struct place *place, const char *type_key,
                       const char *type)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    if (type) {
        pl_json_out_key(&out, "type");
        pl_json_out_text(&out, pl_str_of(type));
    }
    pl_json_out_key(&out, type_key);
    pl_json_out_text(&out, place->blob.content_type);
    pl_json_out_key(&out, "data");
    pl_json_out_text(&out, pl_buf_str(&place->base64));
    pl_json_out_close(&out, '}');
}

static enum pl_status set_source(struct putting *p, const struct place *place)
{
    const struct pl_json_node *source =
        pl_json_member(&p->source.doc, place->part->node, "source", PL_JSON_OBJECT);
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    write_data(&json, place, "media_type", "base64");
    if (!source || json.status != PL_OK)
        return source ? json.status : PL_OK;
    return pl_json_edit_set_node(&p->edit, source, pl_buf_str(&json), &p->err);
}

static enum pl_status set_inline_data(struct putting *p, const struct place *place)
{
    const struct pl_json_doc *doc = &p->source.doc;
    const struct pl_json_node *part = place->part->node;
    const struct pl_json_node *file = pl_json_get(doc, part, PL_STR("fileData"));
    file = file ? file : pl_json_get(doc, part, PL_STR("file_data"));
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    write_data(&json, place, "mimeType", NULL);
    if (!file || json.status != PL_OK)
        return file ? json.status : PL_OK;
    enum pl_status status = pl_json_edit_remove_node(&p->edit, part, file, &p->err);
    if (status == PL_OK)
        status = pl_json_edit_insert_after(&p->edit, part, NULL, PL_STR("inlineData"),
                                           pl_buf_str(&json), &p->err);
    return status;
}

static const struct {
    const struct pl_format *format;
    enum pl_status (*set)(struct putting *p, const struct place *place);
} shapes[] = {
    {&pl_format_openai_chat, set_url},
    {&pl_format_openai_responses, set_input},
    {&pl_format_anthropic, set_source},
    {&pl_format_gemini, set_inline_data},
};

/* --- the request ----------------------------------------------------------------------------- */

static enum pl_status find_blob(struct putting *p, struct pl_str id, struct place *place)
{
    struct pl_exchange *x = p->call->x;
    struct pl_store *store = x->shard->server->store;
    enum pl_status status =
        pl_store_blob_get(store, &x->arena, x->caller.user_id, id, &place->blob, &p->err);
    if (status == PL_NOT_FOUND || status == PL_INVALID)
        return pl_fail(&p->err, PL_INVALID, "You have no blob %.*s.",
                       (int)(id.len < 80 ? id.len : 80), id.ptr);
    if (status == PL_OK && place->blob.n_bytes > p->n_left)
        return pl_fail(&p->err, PL_LIMIT, "The blobs of one request have more than %lld bytes.",
                       (long long)PL_INLINE_MAX_BYTES);
    if (status != PL_OK)
        return status;
    p->n_left -= place->blob.n_bytes;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    status = pl_blob_bytes(store, &place->blob, &bytes, &p->err);
    if (status != PL_OK)
        return status;
    pl_base64_encode(&place->base64, pl_buf_str(&bytes));
    return place->base64.status;
}

static enum pl_status put(struct putting *p, const struct pl_part *part)
{
    struct pl_str prefix = PL_STR(BLOBS);
    if (part->kind < PL_PART_IMAGE || part->kind > PL_PART_FILE || part->url.kind != PL_VAL_NODE)
        return PL_OK;
    struct pl_str url = pl_conv_text(&p->source.conv, part->url);
    if (!pl_str_starts(url, prefix))
        return PL_OK;
    struct place place = {.part = part};
    pl_buf_init(&place.base64, 0);
    enum pl_status status = find_blob(p, pl_str_slice(url, prefix.len, url.len), &place);
    for (size_t i = 0; status == PL_OK && i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].format == p->source.format)
            status = shapes[i].set(p, &place);
    pl_buf_deinit(&place.base64);
    return status;
}

static enum pl_status put_all(struct putting *p)
{
    struct pl_conv *conv = &p->source.conv;
    enum pl_status status = PL_OK;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t i = 0; status == PL_OK && i < conv->parts.len; i++)
        status = put(p, &conv->parts.ptr[i]);
    for (size_t i = 0; status == PL_OK && i < conv->children.len; i++)
        status = put(p, &conv->children.ptr[i]);
    if (status == PL_OK)
        status = pl_json_edit_write(&p->edit, &text);
    if (status != PL_OK)
        return status;
    p->call->text = pl_arena_dup(&p->call->x->arena, pl_buf_str(&text));
    return p->call->text.ptr ? PL_OK : PL_NOMEM;
}

bool pl_gateway_call_put_blobs(struct pl_gateway_call *call)
{
    struct putting p = {.call = call, .n_left = PL_INLINE_MAX_BYTES};
    enum pl_status status =
        pl_source_open(&p.source, call->text, call->options.speech->format, PL_MAX_ITEMS, &p.err);
    if (status == PL_OK) {
        pl_json_edit_init(&p.edit, &call->x->arena, &p.source.doc);
        status = put_all(&p);
        pl_json_edit_deinit(&p.edit);
    }
    pl_source_close(&p.source);
    if (status != PL_OK)
        pl_gateway_call_refuse(call, status, &p.err);
    call->doc = (struct pl_json_doc){0};
    return status == PL_OK;
}
