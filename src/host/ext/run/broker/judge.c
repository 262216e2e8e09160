/* Whether a call is allowed. What it touches is read from its params, never from its
 * declaration. Then every manifest that binds the extension is checked, then the policy. */
#include "ext/run/broker/broker.h"

#include "json/text.h"

/* The object with path, url and the like: params, or the input of a tool. */
static const struct pl_json_node *object_of(const struct pl_ext_hostcall *call)
{
    bool is_tool = pl_str_eq(call->method_name, PL_STR("tool"));
    return is_tool ? pl_json_member(&call->doc, call->params, "input", PL_JSON_OBJECT)
                   : call->params;
}

static bool keep_what(struct pl_ext_hostcall *call, struct pl_str what, struct pl_str target)
{
    call->what = pl_arena_dup(&call->arena, pl_str_slice(what, 0, 500));
    call->target = pl_arena_dup(&call->arena, target);
    if ((call->what.ptr || !what.len) && (call->target.ptr || !target.len))
        return true;
    pl_hostcall_fail(call, "internal", NULL, "out of memory");
    return false;
}

static struct pl_str first_segment(struct pl_str path)
{
    const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    return slash ? pl_str_slice(path, 0, (size_t)(slash - path.ptr)) : PL_STR("");
}

/* A path of the workspace, cleaned. The wish names it, unless it is in the extension's own
 * state. */
static bool aim_path(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    struct pl_str path, clean;
    if (!pl_hostcall_text(call, object, "path", &path))
        return false;
    if (pl_ext_path_clean(&call->arena, path.ptr ? path : PL_STR("."), &clean) != PL_OK) {
        call->reason = PL_EXT_REASON_PATH_ESCAPE;
        return keep_what(call, path, PL_STR(""));
    }
    return keep_what(call, clean, first_segment(clean));
}

static bool aim_url(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    struct pl_str url;
    struct pl_url parts;
    if (!pl_hostcall_text(call, object, "url", &url))
        return false;
    if (!url.len) {
        pl_hostcall_fail(call, "invalid_request", NULL, "http needs a url");
        return false;
    }
    if (pl_url_parse(&call->arena, url, NULL, &parts, NULL) != PL_OK) {
        pl_hostcall_fail(call, "invalid_request", NULL, "this is no URL");
        return false;
    }
    return keep_what(call, url, parts.host);
}

/* Only the program is remembered; a person sees the whole command. */
static bool aim_command(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    struct pl_str command;
    bool is_bash = pl_str_eq(call->method_name, PL_STR("tool"));
    if (!pl_hostcall_text(call, object, is_bash ? "command" : "cmd", &command))
        return false;
    if (!command.len) {
        pl_hostcall_fail(call, "invalid_request", NULL,
                         is_bash ? "bash needs a command" : "exec needs a cmd");
        return false;
    }
    return keep_what(call, command, is_bash ? PL_STR("bash") : command);
}

static bool aim_env(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    struct pl_str name;
    if (!pl_hostcall_text(call, object, "name", &name))
        return false;
    return keep_what(call, name, name);
}

static bool aim_none(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    (void)object;
    return keep_what(call, PL_STR(""), PL_STR(""));
}

static bool aim_tool(struct pl_ext_hostcall *call, const struct pl_json_node *object)
{
    struct pl_str name;
    (void)object;
    return pl_hostcall_text(call, call->params, "name", &name) && keep_what(call, name, name);
}

bool pl_hostcall_aim(struct pl_ext_hostcall *call)
{
    static bool (*const aims[])(struct pl_ext_hostcall *, const struct pl_json_node *) = {
        [PL_EXT_CAP_READ] = aim_path,    [PL_EXT_CAP_WRITE] = aim_path,
        [PL_EXT_CAP_HTTP] = aim_url,     [PL_EXT_CAP_EVENTS] = aim_none,
        [PL_EXT_CAP_SESSION] = aim_none, [PL_EXT_CAP_UI] = aim_none,
        [PL_EXT_CAP_EXEC] = aim_command, [PL_EXT_CAP_ENV] = aim_env,
        [PL_EXT_CAP_TOOL] = aim_tool,    [PL_EXT_CAP_LOG] = aim_none,
    };
    call->reason = PL_EXT_REASON_COUNT;
    return aims[call->capability](call, object_of(call));
}

enum pl_ext_reason pl_hostcall_judge_scope(const struct pl_ext_hostcall *call,
                                           struct pl_arena *arena, const struct pl_ext_wish *wish)
{
    const struct pl_ext_manifest *manifests[] = {&call->known->package.manifest,
                                                 &call->registered->said.manifest,
                                                 &call->first->said.manifest};
    size_t n = call->first == call->registered ? 2 : 3; /* it has registered once */
    for (size_t i = 0; i < n; i++) {
        enum pl_ext_reason reason = PL_EXT_REASON_SCOPE;
        if (pl_ext_manifest_judge(arena, manifests[i], wish, &reason) != PL_OK ||
            reason != PL_EXT_REASON_COUNT)
            return reason;
    }
    return PL_EXT_REASON_COUNT;
}

static bool is_of_state(const struct pl_ext_hostcall *call)
{
    const struct pl_json_node *root =
        pl_json_member(&call->doc, call->params, "root", PL_JSON_STRING);
    return pl_str_eq(call->method_name, PL_STR("fs")) && root &&
           pl_json_text_is(&call->doc, root, PL_STR("state"));
}

/* Judges each name that env requests. */
static enum pl_ext_reason judge_names(struct pl_ext_hostcall *call, struct pl_ext_wish *wish)
{
    const struct pl_json_node *names =
        pl_json_member(&call->doc, call->params, "names", PL_JSON_ARRAY);
    enum pl_ext_reason reason = PL_EXT_REASON_COUNT;
    if (call->target.len) {
        wish->env = &call->target;
        reason = pl_hostcall_judge_scope(call, &call->arena, wish);
    }
    for (const struct pl_json_node *n = names ? pl_json_first(names) : NULL;
         n && n < pl_json_end(names) && reason == PL_EXT_REASON_COUNT; n = pl_json_next(n)) {
        struct pl_str name;
        struct pl_ext_wish one = *wish;
        if (pl_json_text(&call->arena, &call->doc, n, &name) != PL_OK)
            return PL_EXT_REASON_SCOPE;
        one.env = &name;
        reason = pl_hostcall_judge_scope(call, &call->arena, &one);
    }
    return reason;
}

static enum pl_ext_reason judge_manifests(struct pl_ext_hostcall *call)
{
    struct pl_ext_wish wish = {.capability = call->capability, .method = call->method_name};
    struct pl_str url = {0};
    if (call->reason != PL_EXT_REASON_COUNT)
        return call->reason;
    if (call->capability == PL_EXT_CAP_ENV)
        return judge_names(call, &wish);
    if (call->capability == PL_EXT_CAP_HTTP) {
        if (!pl_hostcall_text(call, call->params, "url", &url))
            return PL_EXT_REASON_SCOPE;
        wish.url = &url;
    }
    bool is_path = (call->capability == PL_EXT_CAP_READ || call->capability == PL_EXT_CAP_WRITE) &&
                   !is_of_state(call);
    struct pl_str path = {0};
    if (is_path) {
        struct pl_str raw = {0};
        (void)pl_hostcall_text(call, object_of(call), "path", &raw);
        if (pl_ext_path_clean(&call->arena, raw.ptr ? raw : PL_STR("."), &path) != PL_OK)
            return PL_EXT_REASON_PATH_ESCAPE;
        wish.path = &path;
        if (call->capability == PL_EXT_CAP_WRITE && pl_ext_path_is_protected(path))
            return PL_EXT_REASON_PROTECTED_PATH;
    }
    enum pl_ext_reason reason = pl_hostcall_judge_scope(call, &call->arena, &wish);
    return reason;
}

bool pl_hostcall_is_granted(const struct pl_ext_hostcall *call, enum pl_ext_capability capability)
{
    struct pl_ext_standing standing = {call->known, call->registered, call->first,
                                       call->instance->is_remote};
    return pl_ext_reason_decision(pl_ext_standing_judge(&standing, capability)) == PL_EXT_ALLOW;
}

enum pl_ext_reason pl_hostcall_judge(struct pl_ext_hostcall *call)
{
    struct pl_ext_standing standing = {call->known, call->registered, call->first,
                                       call->instance->is_remote};
    enum pl_ext_reason whole = pl_ext_standing_judge(&standing, call->capability);
    if (whole == PL_EXT_REASON_NOT_DECLARED || whole == PL_EXT_REASON_REMOTE)
        return whole;
    enum pl_ext_reason reason = judge_manifests(call);
    if (reason != PL_EXT_REASON_COUNT)
        return reason;
    if (pl_ext_reason_decision(whole) != PL_EXT_ASK)
        return whole;
    reason = pl_ext_answers_find(call->instance->place, call->capability, call->target,
                                 call->session_id);
    if (reason != PL_EXT_REASON_PROMPT_REQUIRED)
        return reason;
    if (!call->session_id.len || !call->has_person)
        return PL_EXT_REASON_PROMPT_NO_PERSON;
    enum { MOST_DENIALS = 3 };
    return pl_ext_denials_of(call->instance->place, call->session_id) >= MOST_DENIALS
               ? PL_EXT_REASON_PROMPT_CACHE_DENY
               : PL_EXT_REASON_PROMPT_REQUIRED;
}
