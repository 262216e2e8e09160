/* A table lists the members that each hook may answer: name, type and effect. */
#include "extproto/hook.h"

#include "extproto/path_scope.h"
#include "json/text.h"

#define DECIDES PL_EXT_HOOK_DECIDES
#define CLOSED  PL_EXT_HOOK_CLOSED
#define CONTENT PL_EXT_HOOK_CONTENT
#define OF_TOOL PL_EXT_HOOK_OF_TOOL

static const struct {
    const char *text;
    unsigned flags;
} hooks[] = {
#define X(name, text, flags) [PL_EXT_HOOK_##name] = {text, flags},
    PL_EXT_HOOK_TABLE(X)
#undef X
};

const char *pl_ext_hook_text(enum pl_ext_hook hook)
{
    return hooks[hook].text;
}

unsigned pl_ext_hook_flags(enum pl_ext_hook hook)
{
    return hooks[hook].flags;
}

enum pl_ext_hook pl_ext_hook_find(struct pl_str text)
{
    unsigned hook = 0;
    while (hook < PL_EXT_HOOK_COUNT && !pl_str_eq(text, pl_str_of(hooks[hook].text)))
        hook++;
    return (enum pl_ext_hook)hook;
}

bool pl_ext_subscription_read(struct pl_str text, struct pl_ext_subscription *ret_subscription)
{
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    size_t n_name = colon ? (size_t)(colon - text.ptr) : text.len;
    struct pl_str name = pl_str_slice(text, 0, n_name);
    struct pl_str glob = pl_str_slice(text, n_name + 1, text.len);
    bool is_strict = name.len && name.ptr[name.len - 1] == '!';
    struct pl_ext_subscription subscription = {.glob = glob};
    name.len -= is_strict;
    subscription.hook = pl_ext_hook_find(name);
    if (subscription.hook == PL_EXT_HOOK_COUNT) {
        bool is_topic = pl_str_eq(name, PL_STR("bus")) && glob.len && !is_strict;
        if (is_topic)
            *ret_subscription = subscription;
        return is_topic;
    }
    unsigned flags = hooks[subscription.hook].flags;
    if ((colon && (!glob.len || !(flags & OF_TOOL))) || (is_strict && !(flags & DECIDES)))
        return false;
    subscription.is_closed = is_strict || flags & CLOSED;
    *ret_subscription = subscription;
    return true;
}

bool pl_ext_subscription_wants(const struct pl_ext_subscription *subscription,
                               enum pl_ext_hook hook, struct pl_str tool)
{
    return subscription->hook == hook &&
           (!subscription->glob.len || pl_ext_glob_match(subscription->glob, tool));
}

/* --- answers ---------------------------------------------------------------------------------- */

enum effect { CHANGES, BLOCKS, ASKS, REASON, ACTS, TRANSFORMS };

static const struct member {
    enum pl_ext_hook hook;
    const char *key;
    enum pl_json_kind kind; /* PL_JSON_TRUE: either boolean; PL_JSON_NULL: any value */
    enum effect effect;
} members[] = {
    {PL_EXT_HOOK_INPUT, "action", PL_JSON_STRING, ACTS},
    {PL_EXT_HOOK_INPUT, "text", PL_JSON_STRING, TRANSFORMS},
    {PL_EXT_HOOK_BEFORE_AGENT_START, "message", PL_JSON_NULL, CHANGES},
    {PL_EXT_HOOK_BEFORE_AGENT_START, "system_prompt", PL_JSON_STRING, CHANGES},
    {PL_EXT_HOOK_CONTEXT, "messages", PL_JSON_ARRAY, CHANGES},
    {PL_EXT_HOOK_BEFORE_PROVIDER_REQUEST, "payload", PL_JSON_OBJECT, CHANGES},
    {PL_EXT_HOOK_TOOL_CALL, "block", PL_JSON_TRUE, BLOCKS},
    {PL_EXT_HOOK_TOOL_CALL, "ask", PL_JSON_TRUE, ASKS},
    {PL_EXT_HOOK_TOOL_CALL, "reason", PL_JSON_STRING, REASON},
    {PL_EXT_HOOK_TOOL_CALL, "input", PL_JSON_OBJECT, CHANGES},
    {PL_EXT_HOOK_TOOL_CALL_FINAL, "block", PL_JSON_TRUE, BLOCKS},
    {PL_EXT_HOOK_TOOL_CALL_FINAL, "reason", PL_JSON_STRING, REASON},
    {PL_EXT_HOOK_TOOL_RESULT, "content", PL_JSON_ARRAY, CHANGES},
    {PL_EXT_HOOK_TOOL_RESULT, "details", PL_JSON_NULL, CHANGES},
    {PL_EXT_HOOK_TOOL_RESULT, "is_error", PL_JSON_TRUE, CHANGES},
    {PL_EXT_HOOK_SESSION_BEFORE_COMPACT, "cancel", PL_JSON_TRUE, BLOCKS},
    {PL_EXT_HOOK_SESSION_BEFORE_COMPACT, "reason", PL_JSON_STRING, REASON},
    {PL_EXT_HOOK_SESSION_BEFORE_COMPACT, "summary", PL_JSON_STRING, CHANGES},
    {PL_EXT_HOOK_SESSION_BEFORE_FORK, "cancel", PL_JSON_TRUE, BLOCKS},
    {PL_EXT_HOOK_SESSION_BEFORE_FORK, "reason", PL_JSON_STRING, REASON},
    {PL_EXT_HOOK_SESSION_BEFORE_SWITCH, "cancel", PL_JSON_TRUE, BLOCKS},
    {PL_EXT_HOOK_SESSION_BEFORE_SWITCH, "reason", PL_JSON_STRING, REASON},
};

static const struct member *find_member(enum pl_ext_hook hook, const struct pl_json_doc *doc,
                                        const struct pl_json_node *key)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].hook == hook && pl_json_text_is(doc, key, pl_str_of(members[i].key)))
            return &members[i];
    return NULL;
}

static bool is_of_kind(const struct pl_json_node *n, enum pl_json_kind kind)
{
    enum pl_json_kind is = pl_json_kind(n);
    return kind == PL_JSON_NULL || is == kind || (kind == PL_JSON_TRUE && is == PL_JSON_FALSE);
}

static enum pl_status refuse(struct pl_error *err, const struct member *member, const char *why)
{
    enum pl_status status = pl_fail(err, PL_INVALID, "%s", why);
    pl_error_point(err, "/%s", member->key);
    return status;
}

/* State while an answer is read. */
struct answering {
    enum pl_ext_hook hook;
    const struct pl_json_doc *doc;   /* borrowed */
    const struct pl_json_node *data; /* borrowed */
    struct pl_error *err;            /* borrowed; may be NULL */
    struct pl_ext_answer answer;
    bool needs_text, has_text; /* for the action transform */
};

static enum pl_status act(struct answering *a, const struct member *member,
                          const struct pl_json_node *value)
{
    if (pl_json_text_is(a->doc, value, PL_STR("handled")))
        a->answer.is_handled = true;
    else if (pl_json_text_is(a->doc, value, PL_STR("transform")))
        a->needs_text = true;
    else if (!pl_json_text_is(a->doc, value, PL_STR("continue")))
        return refuse(a->err, member, "an action is continue, transform or handled");
    return PL_OK;
}

static enum pl_status refuse_unknown(struct answering *a, const struct pl_json_node *key)
{
    struct pl_str raw = pl_str_slice(pl_json_raw(a->doc, key), 0, 80);
    enum pl_status status = pl_fail(a->err, PL_INVALID, "an answer to %s has no member \"%.*s\"",
                                    hooks[a->hook].text, PL_STR_ARG(raw));
    pl_error_point(a->err, "/%.*s", PL_STR_ARG(raw));
    return status;
}

static enum pl_status take_member(struct answering *a, const struct pl_json_node *key)
{
    const struct member *member = find_member(a->hook, a->doc, key);
    const struct pl_json_node *value = key + 1;
    enum pl_ext_verdict wanted = PL_EXT_VERDICT_GO;
    if (!member)
        return refuse_unknown(a, key);
    if (!is_of_kind(value, member->kind))
        return refuse(a->err, member, "the member has the wrong type");
    switch (member->effect) {
    case ACTS:
        return act(a, member, value);
    case CHANGES:
        a->answer.changed = a->data;
        break;
    case REASON:
        a->answer.reason = value;
        break;
    case TRANSFORMS:
        a->has_text = true;
        break;
    case BLOCKS:
        wanted = PL_EXT_VERDICT_BLOCK;
        break;
    default: /* ASKS */
        wanted = PL_EXT_VERDICT_ASK;
        break;
    }
    if (pl_json_is(value, PL_JSON_TRUE))
        a->answer.verdict = pl_ext_verdict_join(a->answer.verdict, wanted);
    return PL_OK;
}

enum pl_status pl_ext_answer_read(enum pl_ext_hook hook, const struct pl_json_doc *doc,
                                  const struct pl_json_node *data, struct pl_ext_answer *ret_answer,
                                  struct pl_error *err)
{
    struct answering a = {.hook = hook, .doc = doc, .data = data, .err = err};
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = data ? pl_json_first_member(data) : NULL;
         data && key < pl_json_end(data) && status == PL_OK; key = pl_json_next_member(key))
        status = take_member(&a, key);
    if (status != PL_OK)
        return status;
    if (a.needs_text != a.has_text) {
        status = pl_fail(err, PL_INVALID, "the action transform and the member text go together");
        pl_error_point(err, "/text");
        return status;
    }
    if (a.has_text)
        a.answer.changed = data;
    *ret_answer = a.answer;
    return PL_OK;
}

enum pl_ext_verdict pl_ext_answer_missing(const struct pl_ext_subscription *subscription)
{
    return subscription->is_closed ? PL_EXT_VERDICT_BLOCK : PL_EXT_VERDICT_GO;
}

enum pl_ext_verdict pl_ext_verdict_join(enum pl_ext_verdict a, enum pl_ext_verdict b)
{
    return a > b ? a : b;
}
