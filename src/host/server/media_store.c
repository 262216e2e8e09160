#include "server/media_store.h"

#include "conv/link.h"
#include "format/source.h"
#include "io/clock.h"
#include "json/edit.h"
#include "server/blob_store.h"

#include <stdio.h>

/* A link that was looked at, and what it became. */
struct link {
    struct pl_str url;   /* arena */
    struct pl_str value; /* JSON: what stands for it now; {NULL, 0}: it stays */
};

struct storing {
    struct pl_server *server;
    const struct pl_server_config *config;
    struct pl_arena *arena;
    const struct pl_media_wish *wish;
    struct pl_source source;
    struct pl_json_edit edit;
    PL_VEC(struct link) links;
    PL_VEC(struct pl_media_note) notes;
    size_t n_stored;
    int64_t deadline_ms;
};

static bool is_wanted(const struct storing *s, struct pl_str url)
{
    int64_t end_s;
    return pl_link_is_web(url) && (!s->wish->is_expiring_only || pl_link_expires(url, &end_s));
}

static enum pl_status add_note(struct storing *s, struct pl_str url, const char *message)
{
    struct pl_media_note note = {url, pl_arena_dup(s->arena, pl_str_of(message))};
    return note.message.ptr && pl_vec_push(&s->notes, note) ? PL_OK : PL_NOMEM;
}

/* Fetches it and says what stands for it, or why it stays. */
static enum pl_status fetch_link(struct storing *s, struct link *link)
{
    struct pl_blob_row blob;
    struct pl_blob_fetched fetched;
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf bytes;
    char value[80];
    pl_buf_init(&bytes, 0);
    if (s->links.len > PL_MEDIA_MAX_LINKS)
        return add_note(s, link->url, "the document has more links than are fetched at once");
    if (pl_clock_ms() >= s->deadline_ms)
        return add_note(s, link->url, "fetching the links before it took too long");
    enum pl_status status = pl_blob_fetch(s->config, s->arena, link->url, &bytes, &fetched, &err);
    if (status == PL_OK)
        status = pl_blob_store(s->server, s->arena, s->wish->user_id, pl_buf_str(&bytes),
                               fetched.type, fetched.name, &blob, &err);
    if (status == PL_NOMEM)
        return status;
    if (status != PL_OK)
        return add_note(s, link->url, err.message);
    snprintf(value, sizeof value, "\"/api/blobs/%.*s\"", PL_STR_ARG(blob.id));
    link->value = pl_arena_dup(s->arena, pl_str_of(value));
    return link->value.ptr ? PL_OK : PL_NOMEM;
}

/* The same link is fetched once. */
static enum pl_status find_link(struct storing *s, struct pl_str url, struct pl_str *ret_value)
{
    for (size_t i = 0; i < s->links.len; i++)
        if (pl_str_eq(s->links.ptr[i].url, url)) {
            *ret_value = s->links.ptr[i].value;
            return PL_OK;
        }
    struct link link = {.url = pl_arena_dup(s->arena, url)};
    if (!link.url.ptr || !pl_vec_push(&s->links, link))
        return PL_NOMEM;
    struct link *added = &s->links.ptr[s->links.len - 1];
    enum pl_status status = fetch_link(s, added);
    *ret_value = added->value;
    return status;
}

static enum pl_status store_part(struct storing *s, const struct pl_part *part)
{
    struct pl_str url, value = {0};
    if (part->kind < PL_PART_IMAGE || part->kind > PL_PART_FILE || part->url.kind != PL_VAL_NODE ||
        pl_json_kind(part->url.node) != PL_JSON_STRING)
        return PL_OK;
    url = pl_conv_text(&s->source.conv, part->url);
    if (s->source.conv.status != PL_OK || !is_wanted(s, url))
        return s->source.conv.status;
    enum pl_status status = find_link(s, url, &value);
    if (status != PL_OK || !value.ptr)
        return status;
    s->n_stored++;
    return pl_json_edit_set_node(&s->edit, part->url.node, value, NULL);
}

static enum pl_status store_message(struct storing *s, const struct pl_message *message)
{
    enum pl_status status = PL_OK;
    for (uint32_t i = 0; i < message->n_parts && status == PL_OK; i++) {
        const struct pl_part *part = &pl_conv_parts(&s->source.conv, message)[i];
        status = store_part(s, part);
        for (uint32_t k = 0; part->kind == PL_PART_RESULT && k < part->n_children; k++)
            if (status == PL_OK)
                status = store_part(s, &pl_conv_children(&s->source.conv, part)[k]);
    }
    return status;
}

static enum pl_status write_document(struct storing *s, struct pl_str *ret_text)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_json_edit_write(&s->edit, &text);
    if (status != PL_OK)
        return status;
    *ret_text = pl_arena_dup(s->arena, pl_buf_str(&text));
    return ret_text->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status store_all(struct storing *s, struct pl_str document,
                                struct pl_media_stored *ret_stored)
{
    /* As it was given, comments and all, where it was read leniently. */
    struct pl_json_doc doc = s->source.doc;
    struct pl_str text = document;
    doc.text = s->source.text;
    pl_json_edit_init(&s->edit, s->arena, &doc);
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < s->source.conv.messages.len && status == PL_OK; i++)
        status = store_message(s, &s->source.conv.messages.ptr[i]);
    if (status == PL_OK && s->n_stored)
        status = write_document(s, &text);
    pl_json_edit_deinit(&s->edit);
    size_t n_bytes = s->notes.len * sizeof *s->notes.ptr;
    struct pl_media_note *notes = n_bytes ? pl_arena_alloc(s->arena, n_bytes, 1) : NULL;
    if (status == PL_OK && n_bytes && !notes)
        status = PL_NOMEM;
    if (status != PL_OK)
        return status;
    if (notes)
        memcpy(notes, s->notes.ptr, n_bytes);
    *ret_stored = (struct pl_media_stored){
        .text = text, .n_stored = s->n_stored, .notes = notes, .n_notes = s->notes.len};
    return PL_OK;
}

enum pl_status pl_media_store(struct pl_server *server, const struct pl_server_config *config,
                              struct pl_arena *arena, struct pl_str document,
                              const struct pl_media_wish *wish, struct pl_media_stored *ret_stored,
                              struct pl_error *err)
{
    struct storing s = {
        .server = server,
        .config = config,
        .arena = arena,
        .wish = wish,
        .deadline_ms = pl_clock_ms() + PL_MEDIA_TOTAL_MS,
    };
    enum pl_status status = pl_source_open(&s.source, document, wish->from, err);
    if (status == PL_OK && s.source.text.ptr != document.ptr)
        *ret_stored = (struct pl_media_stored){.text = document};
    else if (status == PL_OK)
        status = store_all(&s, document, ret_stored);
    pl_source_close(&s.source);
    pl_vec_deinit(&s.links);
    pl_vec_deinit(&s.notes);
    return status;
}
