/* Lint across messages: ids, names, turns, empty messages, and the total size. */
#include "conv/lint/lint_int.h"

#include "base/map.h"

static void lint_message_ids(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    struct pl_map seen = {0}; /* id -> offset of its node + 1 */
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_val val = conv->messages.ptr[i].id;
        struct pl_str id = pl_conv_text(conv, val);
        if (!id.len || !val.node)
            continue;
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(&seen, id, &is_new);
        if (!entry)
            conv->status = PL_NOMEM;
        else if (is_new)
            entry->value = val.node->off;
        else if (entry->value != val.node->off) /* one element may be several messages */
            pl_lint_add(lint, "id.duplicate", PL_SEVERITY_ERROR, val.node,
                        "another message also has the id \"%.*s\"",
                        PL_STR_ARG(pl_lint_label(lint, val)));
    }
    pl_map_deinit(&seen);
}

/* Call ids: two equal ids in one message cannot be answered; repeated later they are only
 * confusing. */
static void lint_call_ids(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    struct pl_map seen = {0}; /* id -> message + 1 */
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < message->n_parts && conv->status == PL_OK; k++) {
            const struct pl_part *part = &pl_conv_parts(conv, message)[k];
            struct pl_str id = pl_conv_text(conv, part->id);
            if (part->kind != PL_PART_CALL || !id.len)
                continue;
            bool is_new;
            struct pl_map_entry *entry = pl_map_put(&seen, id, &is_new);
            if (!entry) {
                conv->status = PL_NOMEM;
                break;
            }
            bool is_same = !is_new && entry->value == i + 1;
            if (!is_new)
                pl_lint_add_fixable(lint, "id.duplicate",
                                    is_same ? PL_SEVERITY_ERROR : PL_SEVERITY_WARNING,
                                    part->id.node ? part->id.node : pl_lint_node(message, part),
                                    "another call also has the id \"%.*s\", so results are "
                                    "ambiguous",
                                    PL_STR_ARG(pl_lint_label(lint, part->id)));
            entry->value = i + 1;
        }
    }
    pl_map_deinit(&seen);
}

/* If one agent has a name, there are several, and a message without a name could be from any of
 * them. */
static void lint_names(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    struct pl_map names = {0};
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        struct pl_str name = pl_conv_text(conv, message->name);
        bool is_new;
        if (message->role == PL_ROLE_ASSISTANT && name.len && !pl_map_put(&names, name, &is_new))
            conv->status = PL_NOMEM;
    }
    for (size_t i = 0; i < conv->messages.len && names.n_entries > 0; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        if (message->role == PL_ROLE_ASSISTANT && pl_conv_text(conv, message->name).len == 0)
            pl_lint_add(lint, "agent.name_missing", PL_SEVERITY_WARNING, message->node,
                        "%u agent%s a name here; set `name` to say which one this is",
                        (unsigned)names.n_entries, names.n_entries > 1 ? "s have" : " has");
    }
    pl_map_deinit(&names);
}

static bool is_blank(struct pl_lint *lint, const struct pl_part *part)
{
    return part->kind == PL_PART_TEXT && !pl_val_is_set(part->signature) &&
           pl_conv_is_blank(lint->conv, part->text);
}

static void lint_emptiness(struct pl_lint *lint, size_t i)
{
    struct pl_conv *conv = lint->conv;
    const struct pl_message *message = &conv->messages.ptr[i];
    enum pl_severity severity = lint->opts->refuses_empty ? PL_SEVERITY_ERROR : PL_SEVERITY_WARNING;
    uint32_t n_blank = 0;
    for (uint32_t k = 0; k < message->n_parts; k++)
        n_blank += is_blank(lint, &pl_conv_parts(conv, message)[k]);
    /* An empty last message of the assistant asks the model to continue: no vendor refuses it. */
    bool is_last = message->role == PL_ROLE_ASSISTANT && i + 1 == conv->messages.len;
    if (n_blank == message->n_parts) {
        if (is_last)
            pl_lint_add(lint, "content.empty", PL_SEVERITY_WARNING, message->node,
                        "the assistant's message is empty: no text, no call, no reasoning; remove "
                        "it or give the answer");
        else
            pl_lint_add_fixable(lint, "content.empty", severity, message->node,
                                "this message is empty; remove it");
        return;
    }
    for (uint32_t k = 0; k < message->n_parts; k++) {
        const struct pl_part *part = &pl_conv_parts(conv, message)[k];
        if (part->node && is_blank(lint, part))
            pl_lint_add_fixable(lint, "content.empty", severity, part->node,
                                "this text is empty; remove it");
    }
}

static bool has_part(const struct pl_conv *conv, const struct pl_message *message,
                     enum pl_part_kind kind)
{
    for (uint32_t k = 0; k < message->n_parts; k++)
        if (pl_conv_parts(conv, message)[k].kind == kind)
            return true;
    return false;
}

static void lint_alternation(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    const struct pl_lint_opts *opts = lint->opts;
    if (!opts->wants_alternation && !opts->requires_alternation)
        return;
    for (size_t i = 1; i < conv->messages.len; i++) {
        const struct pl_message *before = &conv->messages.ptr[i - 1];
        const struct pl_message *message = &conv->messages.ptr[i];
        bool is_turn = message->role == PL_ROLE_USER || message->role == PL_ROLE_ASSISTANT;
        if (!is_turn || message->role != before->role || message->is_phase_split ||
            has_part(conv, before, PL_PART_RESULT))
            continue;
        pl_lint_add_fixable(lint, "turn.alternation",
                            opts->requires_alternation ? PL_SEVERITY_ERROR : PL_SEVERITY_WARNING,
                            message->node, "two %s messages in a row; %s treats them as one",
                            message->role == PL_ROLE_USER ? "user" : "assistant",
                            opts->target ? opts->target : "the target");
    }
}

static void lint_ends(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    const char *target = lint->opts->target ? lint->opts->target : "the target";
    size_t first = 0;
    while (first < conv->messages.len && conv->messages.ptr[first].role <= PL_ROLE_DEVELOPER)
        first++;
    if (conv->messages.len == 0 || conv->answer.is_set)
        return;
    if (first == conv->messages.len) {
        if (lint->opts->wants_user_first)
            pl_lint_add(lint, "turn.first", PL_SEVERITY_ERROR, conv->messages.ptr[first - 1].node,
                        "only the system speaks; %s expects a user message", target);
        return;
    }
    const struct pl_message *last = &conv->messages.ptr[conv->messages.len - 1];
    if (lint->opts->wants_user_first && conv->messages.ptr[first].role == PL_ROLE_ASSISTANT)
        pl_lint_add_fixable(lint, "turn.first", PL_SEVERITY_ERROR, conv->messages.ptr[first].node,
                            "the first message is the assistant's; %s expects the user's", target);
    if (lint->opts->refuses_prefill && last->role == PL_ROLE_ASSISTANT &&
        !has_part(conv, last, PL_PART_CALL))
        pl_lint_add_fixable(lint, "turn.prefill", PL_SEVERITY_ERROR, last->node,
                            "the last message is the assistant's; %s does not continue it", target);
}

/* About four bytes of English make a token. */
static int64_t estimate(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    int64_t n_bytes = 0;
    for (size_t i = 0; i < conv->parts.len; i++) {
        n_bytes += (int64_t)pl_conv_text(conv, conv->parts.ptr[i].text).len;
        n_bytes += (int64_t)pl_conv_text(conv, conv->parts.ptr[i].args).len;
    }
    for (size_t i = 0; i < conv->children.len; i++)
        n_bytes += (int64_t)pl_conv_text(conv, conv->children.ptr[i].text).len;
    for (size_t i = 0; i < conv->tools.len; i++)
        n_bytes += conv->tools.ptr[i].node ? conv->tools.ptr[i].node->len : 0;
    return n_bytes / 4;
}

static void lint_size(struct pl_lint *lint)
{
    const struct pl_lint_opts *opts = lint->opts;
    if (opts->max_tokens <= 0)
        return;
    int64_t n = opts->n_tokens ? opts->n_tokens : estimate(lint);
    if (n > opts->max_tokens)
        pl_lint_add(lint, "context.exceeded", PL_SEVERITY_ERROR, lint->conv->list,
                    "%s%lld tokens exceed the context window of %lld; trim the conversation "
                    "(parley trim)",
                    opts->n_tokens ? "" : "about ", (long long)n, (long long)opts->max_tokens);
}

void pl_lint_turns(struct pl_lint *lint)
{
    lint_message_ids(lint);
    lint_call_ids(lint);
    lint_names(lint);
    for (size_t i = 0; i < lint->conv->messages.len && lint->conv->status == PL_OK; i++)
        lint_emptiness(lint, i);
    lint_alternation(lint);
    lint_ends(lint);
    lint_size(lint);
}
