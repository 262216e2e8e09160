/* Links are collected in a list of the request. Each pass replaces the stored ones; new ones are
 * fetched between the passes, one after the other. */
#include "service/blobs/media_import.h"

#include "conv/link.h"
#include "format/source.h"
#include "json/edit/edit.h"
#include "service/blobs/blob_fetch.h"
#include "service/request_options.h"

#include <stdio.h>

enum link_state { LINK_WANTED, LINK_STORED, LINK_LEFT };

struct pl_media_import_link {
    struct pl_media_import_link *next;
    enum link_state state;
    struct pl_str url;
    struct pl_str value;   /* STORED: the JSON that replaces it */
    struct pl_str message; /* LEFT: the reason */
};

struct storing {
    struct pl_media_import *media;
    struct pl_arena *arena;
    const struct pl_media_import_options *options;
    struct pl_source source;
    struct pl_json_edit edit;
    PL_VEC(struct pl_media_import_note) notes;
    size_t n_stored;
    size_t n_new; /* new links of this document */
};

static bool is_wanted(const struct storing *s, struct pl_str url)
{
    int64_t end_s;
    return pl_link_is_web(url) && (!s->options->is_expiring_only || pl_link_expires(url, &end_s));
}

/* --- links ----------------------------------------------------------------------------------- */

static void leave(struct pl_media_import_link *link, struct pl_arena *arena, const char *why)
{
    struct pl_str message = pl_arena_dup(arena, pl_str_of(why));
    link->state = LINK_LEFT;
    link->message = message.ptr ? message : PL_STR("out of memory");
}

static struct pl_media_import_link *add_link(struct storing *s, struct pl_str url)
{
    struct pl_media_import_link *link = pl_arena_zalloc(s->arena, 1, sizeof *link);
    struct pl_str copy = link ? pl_arena_dup(s->arena, url) : (struct pl_str){0};
    if (!copy.ptr)
        return NULL;
    link->url = copy;
    if (++s->n_new > PL_MEDIA_MAX_LINKS)
        leave(link, s->arena, "the document has more URLs than can be downloaded at once");
    if (s->media->last)
        s->media->last->next = link;
    else
        s->media->first = link;
    s->media->last = link;
    return link;
}

static struct pl_media_import_link *find_link(struct storing *s, struct pl_str url)
{
    for (struct pl_media_import_link *link = s->media->first; link; link = link->next)
        if (pl_str_eq(link->url, url))
            return link;
    return add_link(s, url);
}

/* Notes each link once. */
static enum pl_status note(struct storing *s, const struct pl_media_import_link *link)
{
    for (size_t i = 0; i < s->notes.len; i++)
        if (pl_str_eq(s->notes.ptr[i].url, link->url))
            return PL_OK;
    return pl_vec_push(&s->notes, ((struct pl_media_import_note){link->url, link->message}))
               ? PL_OK
               : PL_NOMEM;
}

/* --- a document ------------------------------------------------------------------------------ */

static enum pl_status store_part(struct storing *s, const struct pl_part *part)
{
    struct pl_str url;
    if (part->kind < PL_PART_IMAGE || part->kind > PL_PART_FILE || part->url.kind != PL_VAL_NODE ||
        pl_json_kind(part->url.node) != PL_JSON_STRING)
        return PL_OK;
    url = pl_conv_text(&s->source.conv, part->url);
    if (s->source.conv.status != PL_OK || !is_wanted(s, url))
        return s->source.conv.status;
    const struct pl_media_import_link *link = find_link(s, url);
    if (!link)
        return PL_NOMEM;
    if (link->state == LINK_LEFT)
        return note(s, link);
    if (link->state == LINK_WANTED)
        return PL_OK;
    s->n_stored++;
    return pl_json_edit_set_node(&s->edit, part->url.node, link->value, NULL);
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
                                struct pl_media_import_stored *ret_stored)
{
    /* The original text, with comments, if it was read leniently. */
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
    struct pl_media_import_note *notes = n_bytes ? pl_arena_alloc(s->arena, n_bytes, 1) : NULL;
    if (status == PL_OK && n_bytes && !notes)
        status = PL_NOMEM;
    if (status != PL_OK)
        return status;
    if (notes)
        memcpy(notes, s->notes.ptr, n_bytes);
    *ret_stored = (struct pl_media_import_stored){
        .text = text, .n_stored = s->n_stored, .notes = notes, .n_notes = s->notes.len};
    return PL_OK;
}

enum pl_status pl_media_import_store(struct pl_media_import *media, struct pl_arena *arena,
                                     struct pl_str document,
                                     const struct pl_media_import_options *options,
                                     struct pl_media_import_stored *ret_stored,
                                     struct pl_error *err)
{
    struct storing s = {.media = media, .arena = arena, .options = options};
    enum pl_status status = pl_source_open(&s.source, document, options->from, PL_MAX_ITEMS, err);
    if (status == PL_OK && s.source.text.ptr != document.ptr)
        *ret_stored = (struct pl_media_import_stored){.text = document};
    else if (status == PL_OK)
        status = store_all(&s, document, ret_stored);
    pl_source_close(&s.source);
    pl_vec_deinit(&s.notes);
    return status;
}

/* --- fetching, on the shard ------------------------------------------------------------------ */

static struct pl_media_import_link *next_wanted(struct pl_media_import_link *from)
{
    while (from && from->state != LINK_WANTED)
        from = from->next;
    return from;
}

bool pl_media_import_wants(const struct pl_media_import *media)
{
    return next_wanted(media->first) != NULL;
}

static void fetch_next(struct pl_media_import *media);

static void is_fetched(void *ctx, const struct pl_blob_fetched *fetched)
{
    struct pl_media_import *media = ctx;
    struct pl_media_import_link *link = media->next_wanted;
    struct pl_arena *arena = &media->x->arena;
    char value[80];
    if (fetched->status != PL_OK) {
        leave(link, arena, fetched->err.message);
    } else {
        snprintf(value, sizeof value, "\"/api/blobs/%.*s\"", PL_STR_ARG(fetched->blob.id));
        link->value = pl_arena_dup(arena, pl_str_of(value));
        link->state = LINK_STORED;
        if (!link->value.ptr)
            leave(link, arena, "out of memory");
    }
    fetch_next(media);
}

static void fetch_next(struct pl_media_import *media)
{
    struct pl_exchange *x = media->x;
    if (pl_life_is_over(&x->shard->server->life)) {
        pl_exchange_end_fetching(x);
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "The server is stopping.");
        media->after(x);
        return;
    }
    struct pl_media_import_link *link = next_wanted(media->next_wanted);
    bool is_late = pl_loop_now_ms(x->shard->loop) >= media->deadline_ms;
    while (link && is_late) {
        leave(link, &x->arena, "downloading the URLs before it took too long");
        link = next_wanted(link);
    }
    media->next_wanted = link;
    if (!link) {
        pl_exchange_end_fetching(x);
        media->after(x);
        return;
    }
    struct pl_blob_fetch_options options = {.config = &x->setup->config,
                                            .user_id = x->caller.user_id,
                                            .url = link->url,
                                            .is_servers = true};
    if (pl_blob_fetch_start(x->shard, &options, is_fetched, media))
        return;
    pl_exchange_end_fetching(x);
    pl_exchange_fail(x, PL_NOMEM, NULL);
    media->after(x);
}

void pl_media_import_fetch(struct pl_media_import *media, struct pl_exchange *x,
                           void (*after)(struct pl_exchange *x))
{
    if (!pl_exchange_begin_fetching(x)) {
        after(x);
        return;
    }
    media->x = x;
    media->after = after;
    media->next_wanted = media->first;
    media->deadline_ms = pl_loop_now_ms(x->shard->loop) + PL_MEDIA_TOTAL_MS;
    fetch_next(media);
}
