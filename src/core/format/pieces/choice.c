#include "format/pieces/choice.h"

bool pl_choice_read_allowed(struct pl_conv *conv, const struct pl_json_node *whole,
                            const struct pl_json_node *body)
{
    static const char *const modes[] = {"auto", "required", NULL};
    static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY};
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *type = pl_conv_node(conv, whole, "type");
    if (!pl_conv_says(conv, type, "allowed_tools"))
        return false;
    const struct pl_json_node *mode = pl_conv_member(conv, body, "mode", PL_WANT_STRING);
    const struct pl_json_node *tools = pl_conv_member(conv, body, "tools", PL_WANT_ARRAY);
    int word = pl_conv_word(conv, mode, modes);
    if (word < 0 || !tools)
        return false;
    s->choice = choices[word];
    s->choice_val = pl_val_node(mode);
    s->allowed = tools;
    s->allowed_val = pl_val_node(whole);
    return true;
}

bool pl_choice_is_dropped(const struct pl_conv *conv, const struct pl_json_node *entry)
{
    return pl_conv_fate_of(conv, entry) == PL_FATE_REPORTED;
}

struct pl_val pl_choice_allowed_name(struct pl_conv *conv, const struct pl_json_node *entry)
{
    static const char *const bodies[] = {"function", "custom"};
    if (pl_choice_is_dropped(conv, entry))
        return (struct pl_val){0};
    if (pl_json_kind(entry) == PL_JSON_STRING)
        return pl_val_node(entry);
    struct pl_val name = pl_conv_get(conv, entry, "name", PL_WANT_STRING);
    for (size_t i = 0; i < 2 && !pl_val_is_set(name); i++)
        name = pl_conv_get(conv, pl_conv_member(conv, entry, bodies[i], PL_WANT_OBJECT), "name",
                           PL_WANT_STRING);
    return name;
}

size_t pl_choice_count_allowed(struct pl_conv *conv)
{
    const struct pl_json_node *list = conv->settings.allowed;
    size_t n = 0;
    if (!list)
        return 0;
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e))
        n += pl_val_is_set(pl_choice_allowed_name(conv, e));
    return n;
}

void pl_choice_know_allowed(struct pl_conv *conv)
{
    const struct pl_json_node *list = conv->settings.allowed;
    pl_conv_know(conv, pl_conv_node(conv, conv->settings.allowed_val.node, "type"));
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e))
        if (pl_val_is_set(pl_choice_allowed_name(conv, e)))
            pl_conv_know(conv, pl_conv_node(conv, e, "type"));
}

void pl_choice_report_mode(struct pl_conv *conv)
{
    const struct pl_json_node *mode = conv->settings.choice_val.node;
    if (pl_conv_says(conv, mode, "VALIDATED"))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, mode,
                     "written as auto: calls are not checked against their declarations here");
}
