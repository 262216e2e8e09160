/* Gives call ids the length that the target wants, or removes them. (tools.c makes them unique in
 * their turn.)
 *
 * A new id is made from the old one alone, so the same conversation always gets the same ids; the
 * result that answers a call gets the id of its call. */
#include "conv/repair/repair_int.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "base/map.h"

struct ids {
    struct pl_repair *r;
    uint32_t length;       /* of every id, letters and digits only; 0: only `most` applies */
    uint32_t most;         /* longest id to make */
    struct pl_map renamed; /* old id -> new id + 1, an index in `news` */
    struct pl_map taken;   /* new ids in use */
    PL_VEC(struct pl_str) news;
};

static bool is_wanted(const struct ids *ids, struct pl_str id)
{
    if (!ids->length)
        return id.len <= ids->most;
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!pl_ascii_is_alnum(c))
            return false;
    }
    return id.len == ids->length;
}

static struct pl_str spell(struct ids *ids, struct pl_str id, uint64_t attempt)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char made[PL_REPAIR_MAX_ID];
    uint64_t left = 0;
    for (uint32_t i = 0; i < ids->most; i++) {
        if (i % 9 == 0)
            left = pl_hash_with((struct pl_hash_key){{attempt, i}}, id);
        made[i] = digits[left % (sizeof digits - 1)];
        left /= sizeof digits - 1;
    }
    struct pl_str kept = pl_arena_dup(ids->r->conv->arena, (struct pl_str){made, ids->most});
    if (!kept.ptr)
        ids->r->conv->status = PL_NOMEM;
    return kept;
}

/* A new id that is not in use. */
static struct pl_str make_id(struct ids *ids, struct pl_str old)
{
    for (uint64_t attempt = 0; ids->r->conv->status == PL_OK; attempt++) {
        struct pl_str made = spell(ids, old, attempt);
        bool is_new;
        if (!pl_map_put(&ids->taken, made, &is_new))
            ids->r->conv->status = PL_NOMEM;
        else if (is_new)
            return made;
    }
    return (struct pl_str){0};
}

static void rename_id(struct ids *ids, struct pl_val *id, bool *is_changed)
{
    struct pl_conv *conv = ids->r->conv;
    struct pl_str old = pl_conv_text(conv, *id);
    if (!old.len || is_wanted(ids, old))
        return;
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(&ids->renamed, old, &is_new);
    if (!entry) {
        conv->status = PL_NOMEM;
        return;
    }
    if (is_new) {
        struct pl_str made = make_id(ids, old);
        if (!pl_vec_push(&ids->news, made))
            conv->status = PL_NOMEM;
        entry->value = ids->news.len;
    }
    if (conv->status != PL_OK)
        return;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, id->node,
                 ids->length ? "the target accepts only ids of %u letters and digits"
                             : "the target accepts ids of at most %u characters",
                 (unsigned)ids->most);
    *id = pl_val_text(ids->news.ptr[entry->value - 1]);
    *is_changed = true;
}

/* Ids of the right length stay, so they must not be given to other calls. */
static void take_right_ones(struct ids *ids)
{
    struct pl_repair *r = ids->r;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++)
        for (uint32_t i = 0; i < r->now.units.ptr[u].n; i++) {
            struct pl_part *part = pl_unit_part(r, &r->now.units.ptr[u], i);
            if (part->kind != PL_PART_CALL && part->kind != PL_PART_RESULT)
                continue;
            struct pl_str id = pl_conv_text(r->conv, part->id);
            bool is_new;
            if (is_wanted(ids, id) && !pl_map_put(&ids->taken, id, &is_new))
                r->conv->status = PL_NOMEM;
        }
}

static void drop_id(struct pl_conv *conv, struct pl_val *id, bool *is_changed)
{
    if (!pl_val_is_set(*id))
        return;
    pl_conv_loss(conv, PL_LOSS_DROPPED, id->node,
                 "the target matches results by order and accepts "
                 "no ids");
    *id = (struct pl_val){0};
    *is_changed = true;
}

static void walk_ids(struct ids *ids)
{
    struct pl_repair *r = ids->r;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        struct pl_unit *unit = &r->now.units.ptr[u];
        bool is_changed = false;
        for (uint32_t i = 0; i < unit->n; i++) {
            struct pl_part *part = pl_unit_part(r, unit, i);
            if (part->kind != PL_PART_CALL && part->kind != PL_PART_RESULT)
                continue;
            if (r->rules->refuses_call_ids)
                drop_id(r->conv, &part->id, &is_changed);
            else
                rename_id(ids, &part->id, &is_changed);
        }
        unit->is_changed |= is_changed;
        r->is_changed |= is_changed;
    }
}

static uint32_t capped(uint32_t length)
{
    return length < PL_REPAIR_MAX_ID ? length : PL_REPAIR_MAX_ID;
}

void pl_repair_ids(struct pl_repair *r)
{
    const struct pl_repair_rules *rules = r->rules;
    struct ids ids = {.r = r, .length = capped(rules->id_length)};
    ids.most = ids.length ? ids.length : capped(rules->max_id_length);
    if (!ids.most && !rules->refuses_call_ids)
        return;
    if (!rules->refuses_call_ids)
        take_right_ones(&ids);
    walk_ids(&ids);
    pl_map_deinit(&ids.renamed);
    pl_map_deinit(&ids.taken);
    pl_vec_deinit(&ids.news);
}
