#include "format/pieces/fresh_ids.h"

void pl_fresh_ids_init(struct pl_fresh_ids *ids, struct pl_conv *conv, const char *prefix)
{
    *ids = (struct pl_fresh_ids){.conv = conv, .prefix = prefix};
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        bool is_new;
        struct pl_str id = pl_conv_text(conv, conv->messages.ptr[i].id);
        if (id.len && !pl_map_put(&ids->used, id, &is_new))
            conv->status = PL_NOMEM;
    }
}

void pl_fresh_ids_deinit(struct pl_fresh_ids *ids)
{
    pl_map_deinit(&ids->used);
}

static bool is_text(struct pl_val val)
{
    return val.kind == PL_VAL_TEXT ||
           (val.kind == PL_VAL_NODE && pl_json_kind(val.node) == PL_JSON_STRING);
}

struct pl_val pl_fresh_ids_take(struct pl_fresh_ids *ids, struct pl_val wanted, uint32_t number)
{
    bool is_new = false;
    struct pl_str id = pl_conv_text(ids->conv, wanted);
    struct pl_map_entry *entry = id.len && is_text(wanted) ? pl_map_get(&ids->used, id) : NULL;
    if (entry && !entry->value) {
        entry->value = 1;
        return wanted;
    }
    while (ids->conv->status == PL_OK && !is_new) {
        id = pl_conv_printf(ids->conv, "%s_%u", ids->prefix, number++);
        if (ids->conv->status == PL_OK && !pl_map_put(&ids->used, id, &is_new))
            ids->conv->status = PL_NOMEM;
    }
    ids->n_made++;
    return pl_val_text(id);
}
