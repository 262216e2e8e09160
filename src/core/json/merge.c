/* JSON Merge Patch (RFC 7396): a member of the patch replaces, null removes. */
#include "json/merge.h"

#include "base/arena.h"
#include "json/text.h"
#include "json/write.h"

struct merging {
    struct pl_arena *arena;
    struct pl_buf *to;
    const struct pl_json_doc *doc, *patch_doc;
};

static enum pl_status merge(const struct merging *m, const struct pl_json_node *n,
                            const struct pl_json_node *patch);

static void begin_member(const struct merging *m, size_t *n_written, struct pl_str key)
{
    if ((*n_written)++)
        pl_buf_addc(m->to, ',');
    pl_buf_add(m->to, key);
    pl_buf_addc(m->to, ':');
}

/* Members that the patch does not name stay; changed members keep their place. */
static enum pl_status merge_old(const struct merging *m, const struct pl_json_node *n,
                                const struct pl_json_node *patch, size_t *n_written)
{
    for (const struct pl_json_node *k = pl_json_first_member(n); k < pl_json_end(n);
         k = pl_json_next_member(k)) {
        struct pl_str name;
        enum pl_status status = pl_json_text(m->arena, m->doc, k, &name);
        if (status != PL_OK)
            return status;
        const struct pl_json_node *change = pl_json_get(m->patch_doc, patch, name);
        if (change && pl_json_kind(change) == PL_JSON_NULL)
            continue;
        begin_member(m, n_written, pl_json_span(m->doc, k));
        if (!change)
            pl_json_write_min(m->to, m->doc, k + 1);
        else
            status = merge(m, k + 1, change);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

static enum pl_status merge_new(const struct merging *m, const struct pl_json_node *n,
                                const struct pl_json_node *patch, size_t *n_written)
{
    for (const struct pl_json_node *k = pl_json_first_member(patch); k < pl_json_end(patch);
         k = pl_json_next_member(k)) {
        struct pl_str name;
        enum pl_status status = pl_json_text(m->arena, m->patch_doc, k, &name);
        if (status != PL_OK)
            return status;
        if (pl_json_kind(k + 1) == PL_JSON_NULL || (n && pl_json_get(m->doc, n, name)))
            continue;
        begin_member(m, n_written, pl_json_span(m->patch_doc, k));
        status = merge(m, NULL, k + 1);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* Recursive: the parser limits the depth. */
static enum pl_status merge(const struct merging *m, const struct pl_json_node *n,
                            const struct pl_json_node *patch)
{
    if (pl_json_kind(patch) != PL_JSON_OBJECT) {
        pl_json_write_min(m->to, m->patch_doc, patch);
        return PL_OK;
    }
    const struct pl_json_node *old = n && pl_json_kind(n) == PL_JSON_OBJECT ? n : NULL;
    size_t n_written = 0;
    pl_buf_addc(m->to, '{');
    enum pl_status status = old ? merge_old(m, old, patch, &n_written) : PL_OK;
    if (status == PL_OK)
        status = merge_new(m, old, patch, &n_written);
    pl_buf_addc(m->to, '}');
    return status;
}

enum pl_status pl_json_merge_write(struct pl_arena *arena, struct pl_buf *to,
                                   const struct pl_json_doc *doc, const struct pl_json_node *n,
                                   const struct pl_json_doc *patch_doc,
                                   const struct pl_json_node *patch)
{
    struct merging m = {arena, to, doc, patch_doc};
    enum pl_status status = merge(&m, n, patch);
    return status == PL_OK ? to->status : status;
}
