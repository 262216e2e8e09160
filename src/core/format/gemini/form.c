/* Contents in a form that the API refuses: a role of its older clients or none, results in the turn
 * of the model, calls in that of the user. The reader understands them. */
#include "format/gemini/gemini_int.h"

static bool has_field(const struct pl_conv *conv, const struct pl_json_node *parts, const char *key)
{
    if (!pl_json_is(parts, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *p = pl_json_first(parts); p < pl_json_end(parts);
         p = pl_json_next(p))
        if (pl_gemini_field(conv, p, key))
            return true;
    return false;
}

void pl_gemini_check_form(struct pl_conv *conv, struct pl_message *m)
{
    const struct pl_json_node *role = pl_conv_node(conv, m->node, "role");
    const struct pl_json_node *parts = pl_conv_node(conv, m->node, "parts");
    const char *why = NULL;
    bool is_model = pl_conv_says(conv, role, "model");
    if (!is_model && !pl_conv_says(conv, role, "user") && (role || conv->messages.len > 1))
        why = "the role is user or model";
    else if (is_model && has_field(conv, parts, "functionResponse"))
        why = "results are in a turn of the user";
    else if (!is_model && has_field(conv, parts, "functionCall"))
        why = "calls are in a turn of the model";
    if (!why)
        return;
    pl_conv_loss(conv, PL_LOSS_MOVED, m->node, "%s", why);
    pl_conv_know(conv, role);
    m->is_changed = true;
}
