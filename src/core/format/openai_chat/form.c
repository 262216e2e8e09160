/* Messages in a form that the API refuses: without content, or calls and results without an id. The
 * reader understands them. */
#include "format/openai_chat/openai_chat_int.h"

/* Whether there is something instead of content. */
static bool says_otherwise(const struct pl_conv *conv, const struct pl_json_node *message)
{
    static const char *const keys[] = {"tool_calls", "function_call", "refusal", "audio", NULL};
    for (int i = 0; keys[i]; i++)
        if (pl_conv_node(conv, message, keys[i]))
            return true;
    return false;
}

static bool lacks_content(const struct pl_conv *conv, const struct pl_message *m)
{
    const struct pl_json_node *content = pl_conv_node(conv, m->node, "content");
    if (content)
        return pl_json_kind(content) == PL_JSON_ARRAY && !pl_json_count(content);
    return m->role != PL_ROLE_ASSISTANT || !says_otherwise(conv, m->node);
}

static bool lacks_id(struct pl_conv *conv, const struct pl_message *m)
{
    const struct pl_part *parts = pl_conv_parts(conv, m);
    for (uint32_t i = 0; i < m->n_parts; i++)
        if ((parts[i].kind == PL_PART_CALL || parts[i].kind == PL_PART_RESULT) &&
            !pl_conv_text(conv, parts[i].id).len)
            return true;
    return false;
}

void pl_openai_chat_check_form(struct pl_conv *conv, struct pl_message *m)
{
    bool is_empty = lacks_content(conv, m), is_nameless = lacks_id(conv, m);
    if (is_empty)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, m->node, "a message needs content; it is empty");
    if (is_nameless)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, m->node, "calls and results need ids");
    m->is_changed |= is_empty || is_nameless;
}
