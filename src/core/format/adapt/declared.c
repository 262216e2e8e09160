/* Every vendor refuses a choice of a tool that is not declared, and two tools with one name. Documents
 * of one's own vendor are left alone, except Anthropic's. */
#include "format/adapt/declared.h"

#include "base/map.h"
#include "format/pieces/choice.h"

static bool wants_unique_names(const struct pl_conversion *conversion)
{
    bool is_vendors = conversion->to == &pl_format_openai_chat ||
                      conversion->to == &pl_format_openai_responses ||
                      conversion->to == &pl_format_gemini;
    return conversion->to == &pl_format_anthropic ||
           (is_vendors && conversion->from != conversion->to);
}

/* Collects the names, and removes later tools with a name that is taken. */
static void list_names(struct pl_conv *conv, const struct pl_conversion *conversion,
                       struct pl_map *names)
{
    size_t n = 0;
    for (size_t i = 0; i < conv->tools.len; i++) {
        struct pl_tool *tool = &conv->tools.ptr[i];
        bool is_new = true;
        if (!tool->is_hosted && pl_val_is_set(tool->name) &&
            !pl_map_put(names, pl_conv_text(conv, tool->name), &is_new))
            conv->status = PL_NOMEM;
        if (is_new || !tool->node || !wants_unique_names(conversion)) {
            conv->tools.ptr[n++] = *tool;
            continue;
        }
        pl_conv_loss(conv, PL_LOSS_DROPPED, tool->node,
                     "another tool has this name; the first one is kept");
        conv->settings.is_changed = true;
    }
    conv->tools.len = n;
}

static bool is_declared(struct pl_conv *conv, const struct pl_map *names, struct pl_val name)
{
    return pl_map_get(names, pl_conv_text(conv, name)) != NULL;
}

/* The model chooses itself. `name` is reported; NULL: all names were. */
static void drop_choice(struct pl_conv *conv, const struct pl_json_node *name)
{
    struct pl_settings *s = &conv->settings;
    if (name)
        pl_conv_loss(conv, PL_LOSS_DROPPED, name, "no tool of this name is declared");
    const struct pl_json_node *whole = s->allowed ? s->allowed_val.node : s->choice_val.node;
    if (whole && pl_conv_fate_of(conv, whole) == PL_FATE_NONE)
        pl_conv_know_all(conv, whole);
    s->choice = PL_CHOICE_UNSET;
    s->choice_val = s->choice_name = s->allowed_val = (struct pl_val){0};
    s->allowed = NULL;
    s->is_changed = true;
}

/* Drops the names in a limited choice that are not declared. */
static void limit_allowed(struct pl_conv *conv, const struct pl_map *names)
{
    const struct pl_json_node *list = conv->settings.allowed;
    uint32_t n_left = 0;
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e)) {
        struct pl_val name = pl_choice_allowed_name(conv, e);
        if (!pl_val_is_set(name) || is_declared(conv, names, name)) {
            n_left++;
            continue;
        }
        pl_conv_loss(conv, PL_LOSS_DROPPED, e, "no tool of this name is declared");
        conv->settings.is_changed = true;
    }
    if (!n_left)
        drop_choice(conv, NULL);
}

void pl_format_declare(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    struct pl_map names = {0};
    const struct pl_settings *s = &conv->settings;
    bool has_choice = s->allowed || (s->choice == PL_CHOICE_ONE && pl_val_is_set(s->choice_name));
    if (conversion->kind == PL_KIND_RESPONSE || (!has_choice && !wants_unique_names(conversion)))
        return;
    /* Vendors name their own tools, and in their own documents a choice may be one of them. */
    bool is_open = false;
    for (size_t i = 0; i < conv->tools.len; i++)
        is_open |= conv->tools.ptr[i].is_hosted && conversion->from == conversion->to;
    list_names(conv, conversion, &names);
    if (conv->status == PL_OK && has_choice && !is_open) {
        if (s->allowed)
            limit_allowed(conv, &names);
        else if (!is_declared(conv, &names, s->choice_name))
            drop_choice(conv, s->choice_name.node);
    }
    pl_map_deinit(&names);
}
