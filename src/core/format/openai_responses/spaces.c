/* Namespaces of tools, for targets that have none.
 *
 * Tools of a namespace are listed among the others under their own names, which clients expect. If
 * two tools have the same name, those in a namespace are renamed to namespace__name, in
 * declarations and calls alike. */
#include "format/openai_responses/openai_responses_int.h"

#include "base/map.h"

static struct pl_str full_name(struct pl_conv *conv, struct pl_val space, struct pl_val name)
{
    struct pl_str a = pl_conv_text(conv, space), b = pl_conv_text(conv, name);
    return pl_conv_printf(conv, "%.*s__%.*s", PL_STR_ARG(a), PL_STR_ARG(b));
}

static bool count_name(struct pl_conv *conv, struct pl_map *names, struct pl_val name)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(names, pl_conv_text(conv, name), &is_new);
    if (!entry) {
        conv->status = PL_NOMEM;
        return false;
    }
    return ++entry->value > 1;
}

/* The name stays linked to its node, so that the new one can be reported (adapt/fit.c). */
static void qualify(struct pl_conv *conv, const struct pl_map *names, struct pl_val space,
                    struct pl_val *name)
{
    const struct pl_map_entry *entry =
        pl_val_is_set(space) ? pl_map_get(names, pl_conv_text(conv, *name)) : NULL;
    if (!entry || entry->value < 2)
        return;
    struct pl_str made = full_name(conv, space, *name);
    *name = (struct pl_val){.kind = PL_VAL_TEXT, .node = name->node, .str = made};
}

void pl_responses_name_apart(struct pl_conv *conv)
{
    struct pl_map names = {0};
    bool is_shared = false, has_spaces = false;
    for (size_t i = 0; i < conv->tools.len; i++)
        has_spaces |= pl_val_is_set(conv->tools.ptr[i].space);
    for (size_t i = 0; i < conv->tools.len && has_spaces && conv->status == PL_OK; i++)
        if (!conv->tools.ptr[i].is_hosted)
            is_shared |= count_name(conv, &names, conv->tools.ptr[i].name);
    for (size_t i = 0; i < conv->tools.len && is_shared && conv->status == PL_OK; i++)
        qualify(conv, &names, conv->tools.ptr[i].space, &conv->tools.ptr[i].name);
    for (size_t i = 0; i < conv->parts.len && is_shared && conv->status == PL_OK; i++)
        qualify(conv, &names, conv->parts.ptr[i].space, &conv->parts.ptr[i].name);
    pl_map_deinit(&names);
}
