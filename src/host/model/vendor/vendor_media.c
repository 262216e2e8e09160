/* A vendor that accepts no audio is sent a text instead. The conversion reports this with a pointer
 * to the block, "/turns/4/blocks/1". Here the report becomes a sentence that names the medium.
 * Older messages are left out, because they were reported when they were new. */
#include "model/vendor/vendor_media.h"

#include "base/buf.h"
#include "json/pointer.h"
#include "json/text.h"

enum { MAX_NOTICE = 1500 };

/* The index of the newest user turn; SIZE_MAX if there is none. */
static size_t newest_of(const struct pl_json_doc *turns)
{
    size_t newest = SIZE_MAX, i = 0;
    for (const struct pl_json_node *n = pl_json_first(turns->root); n < pl_json_end(turns->root);
         n = pl_json_next(n), i++) {
        const struct pl_json_node *role = pl_json_member(turns, n, "role", PL_JSON_STRING);
        if (role && pl_json_text_is(turns, role, PL_STR("user")))
            newest = i;
    }
    return newest;
}

/* Finds the media block that a pointer into the document names, if it is in the newest turn. */
static const struct pl_json_node *medium_at(const struct pl_json_doc *turns, size_t newest,
                                            struct pl_str pointer)
{
    char begin[64];
    int n = snprintf(begin, sizeof begin, "/turns/%zu/blocks/", newest);
    const struct pl_json_node *block = NULL;
    if (!pl_str_starts(pointer, (struct pl_str){begin, (size_t)n}))
        return NULL;
    struct pl_str inside = pl_str_slice(pointer, sizeof "/turns" - 1, pointer.len);
    if (pl_json_pointer_get(turns, inside, &block, NULL) != PL_OK)
        return NULL;
    const struct pl_json_node *type = pl_json_member(turns, block, "type", PL_JSON_STRING);
    return type && pl_json_text_is(turns, type, PL_STR("media"))
               ? pl_json_member(turns, block, "content", PL_JSON_OBJECT)
               : NULL;
}

static enum pl_status text_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *key,
                              struct pl_str *ret)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    *ret = (struct pl_str){0};
    return n ? pl_json_text(arena, doc, n, ret) : PL_OK;
}

struct telling {
    struct pl_arena *arena;
    struct pl_json_doc turns, report;
    size_t newest;
    struct pl_buf *to;
};

/* Writes "audio a.wav (the target accepts no audio …)". */
static enum pl_status add_loss(struct telling *t, const struct pl_json_node *loss)
{
    struct pl_str code, pointer, detail, kind, name;
    enum pl_status status = text_of(t->arena, &t->report, loss, "code", &code);
    if (status == PL_OK)
        status = text_of(t->arena, &t->report, loss, "pointer", &pointer);
    if (status != PL_OK || !pl_str_eq(code, PL_STR("dropped")) || t->to->len > MAX_NOTICE)
        return status;
    const struct pl_json_node *medium = medium_at(&t->turns, t->newest, pointer);
    if (!medium)
        return PL_OK;
    status = text_of(t->arena, &t->report, loss, "detail", &detail);
    if (status == PL_OK)
        status = text_of(t->arena, &t->turns, medium, "kind", &kind);
    if (status == PL_OK)
        status = text_of(t->arena, &t->turns, medium, "name", &name);
    if (status != PL_OK)
        return status;
    pl_buf_adds(t->to, t->to->len ? "; " : "");
    pl_buf_add(t->to, kind);
    pl_buf_adds(t->to, name.len ? " " : "");
    pl_buf_add(t->to, name);
    pl_buf_adds(t->to, " (");
    pl_buf_add(t->to, detail);
    pl_buf_addc(t->to, ')');
    return t->to->status;
}

static enum pl_status list_losses(struct telling *t)
{
    const struct pl_json_node *losses =
        pl_json_member(&t->report, t->report.root, "losses", PL_JSON_ARRAY);
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = losses ? pl_json_first(losses) : NULL;
         n && n < pl_json_end(losses) && status == PL_OK; n = pl_json_next(n))
        status = add_loss(t, n);
    return status;
}

enum pl_status pl_vendor_media_notice(struct pl_arena *arena, const struct pl_model_target *target,
                                      struct pl_str turns, struct pl_str report,
                                      struct pl_str *ret_notice)
{
    static const char mark[] = "\"type\":\"media\"";
    PL_CLEANUP_BUF struct pl_buf list, text;
    pl_buf_init(&list, 0);
    pl_buf_init(&text, 0);
    struct telling t = {.arena = arena, .to = &list};
    *ret_notice = (struct pl_str){0};
    if (!memmem(turns.ptr, turns.len, mark, sizeof mark - 1))
        return PL_OK;
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &t.turns, NULL);
    if (status == PL_OK)
        status = pl_json_parse(arena, report, &pl_json_own, &t.report, NULL);
    if (status != PL_OK)
        return status;
    t.newest = newest_of(&t.turns);
    status = list_losses(&t);
    if (status != PL_OK || !list.len)
        return status;
    pl_buf_addf(&text, "%s/", target->vendor->name);
    pl_buf_add(&text, target->model);
    pl_buf_adds(&text, " was not sent all media: ");
    pl_buf_add(&text, pl_buf_str(&list));
    pl_buf_addc(&text, '.');
    if (text.status != PL_OK)
        return text.status;
    *ret_notice = pl_arena_dup(arena, pl_buf_str(&text));
    return ret_notice->ptr ? PL_OK : PL_NOMEM;
}
