/* Matches the declarations of a request with its history: declares the tools that were called, and
 * removes the tool choice if there are no tools. */
#include "conv/repair/repair_int.h"

#include "base/map.h"

/* Whether the target gets this tool. One that runs at another vendor is not written. */
static bool is_declared(const struct pl_repair *r, const struct pl_tool *tool)
{
    if (tool->is_hosted)
        return r->rules->keeps_signatures && !r->rules->chooses_functions_only;
    return pl_val_is_set(tool->name);
}

bool pl_repair_has_declared(const struct pl_repair *r)
{
    for (size_t i = 0; i < r->conv->tools.len; i++)
        if (is_declared(r, &r->conv->tools.ptr[i]))
            return true;
    return false;
}

/* The minimal declaration of a tool: its name, and that it takes an object. */
static void declare(struct pl_repair *r, const struct pl_unit *unit, const struct pl_part *call)
{
    struct pl_str name = pl_conv_text(r->conv, call->name);
    struct pl_tool *tool = pl_conv_add_tool(r->conv, NULL);
    tool->name = pl_val_text(name);
    tool->schema = pl_val_json(PL_STR("{\"type\":\"object\"}"));
    tool->is_changed = true;
    r->conv->settings.is_changed = true;
    pl_repair_note(r, PL_LOSS_SYNTHESISED, pl_unit_node(r, unit, call),
                   "a request with calls must declare tools; a minimal declaration of %.*s was "
                   "added",
                   PL_STR_ARG(name));
}

static void declare_called(struct pl_repair *r)
{
    struct pl_map seen = {0};
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
            const struct pl_part *call = pl_unit_part(r, unit, i);
            struct pl_str name = pl_conv_text(r->conv, call->name);
            bool is_new;
            if (call->kind != PL_PART_CALL || !name.len)
                continue;
            if (!pl_map_put(&seen, name, &is_new))
                r->conv->status = PL_NOMEM;
            else if (is_new)
                declare(r, unit, call);
        }
    }
    pl_map_deinit(&seen);
}

static void drop_choice(struct pl_repair *r)
{
    struct pl_settings *s = &r->conv->settings;
    const struct pl_json_node *whole = s->allowed ? s->allowed_val.node : s->choice_val.node;
    if (s->choice != PL_CHOICE_UNSET && whole)
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, whole, "there is no tool to choose");
    if (s->parallel.is_set && s->parallel.val.node)
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, s->parallel.val.node, "there is no tool to call");
    s->is_changed |= s->choice != PL_CHOICE_UNSET || s->parallel.is_set;
    s->choice = PL_CHOICE_UNSET;
    s->choice_val = s->choice_name = s->allowed_val = (struct pl_val){0};
    s->allowed = NULL;
    s->parallel = (struct pl_flag){0};
}

void pl_repair_declarations(struct pl_repair *r)
{
    if (!r->rules->wants_tools_for_calls && !r->rules->wants_tools_for_choice)
        return;
    if (pl_repair_has_declared(r))
        return;
    if (r->rules->wants_tools_for_calls)
        declare_called(r);
    if (r->rules->wants_tools_for_choice && !pl_repair_has_declared(r))
        drop_choice(r);
}
