/* The table of methods, and the simple ones: log and env. */
#include "ext/run/method/method.h"

#include "base/mem.h"
#include "base/text/suggest.h"
#include "json/text.h"
#include "shard/setup.h"

#include <stdio.h>

/* --- log -------------------------------------------------------------------------------------- */

static void log_start(struct pl_ext_hostcall *call)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
    struct pl_str level, message, event;
    const char *word = NULL;
    if (!pl_hostcall_text(call, call->params, "level", &level) ||
        !pl_hostcall_text(call, call->params, "message", &message) ||
        !pl_hostcall_text(call, call->params, "event", &event))
        return;
    for (size_t i = 0; levels[i]; i++)
        if (!level.len || pl_str_eq(level, pl_str_of(levels[i])))
            word = word ? word : levels[i];
    word = level.len ? word : "info";
    if (!word || !message.len) {
        pl_hostcall_fail(call, "invalid_request", NULL,
                         "log needs a message, and a level of debug, info, warn, error");
        return;
    }
    int64_t now_ms = pl_loop_now_ms(call->exts->loop);
    if (!pl_ext_bucket_take(&call->instance->buckets[PL_EXT_QUOTA_LOG_LINES],
                            PL_EXT_QUOTA_LOG_LINES, 1, now_ms)) {
        struct pl_ext_instance *instance = call->instance;
        pl_hostcall_fail(call, "io", "quota", "at most 100 log lines a second");
        (void)pl_ext_instance_strike(instance, "log lines");
        return;
    }
    char name[65];
    snprintf(name, sizeof name, "%.*s", (int)(event.len < 64 ? event.len : 64),
             event.len ? event.ptr : "");
    pl_ext_instance_keep_line(call->instance, word, name[0] ? name : "extension.log",
                              pl_str_slice(message, 0, 8192));
    pl_buf_adds(&call->output, "{}");
    pl_hostcall_succeed(call);
}

/* --- env -------------------------------------------------------------------------------------- */

/* An entry of the setting: NAME=VALUE or NAME@HOST,…=VALUE. False: neither. */
static bool read_entry(const char *entry, struct pl_str *ret_name, struct pl_str *ret_value,
                       bool *ret_is_bound)
{
    const char *is = strchr(entry, '='), *at = strchr(entry, '@');
    if (!is)
        return false;
    *ret_is_bound = at && at < is;
    *ret_name = (struct pl_str){entry, (size_t)((*ret_is_bound ? at : is) - entry)};
    *ret_value = pl_str_of(is + 1);
    return true;
}

static bool find_entry(struct pl_shard *shard, struct pl_str name, struct pl_str *ret_value,
                       bool *ret_is_bound)
{
    const char *const *list = shard->setup->config.ext_env;
    struct pl_str found;
    for (size_t i = 0; list && list[i]; i++)
        if (read_entry(list[i], &found, ret_value, ret_is_bound) && pl_str_eq(found, name))
            return true;
    return false;
}

struct pl_str pl_ext_env_find(struct pl_shard *shard, struct pl_str name)
{
    struct pl_str value;
    bool is_bound;
    return find_entry(shard, name, &value, &is_bound) ? value : (struct pl_str){0};
}

bool pl_ext_env_is_secret(struct pl_shard *shard, struct pl_str name)
{
    struct pl_str value;
    bool is_bound;
    return pl_ext_is_secret_name(name) || (find_entry(shard, name, &value, &is_bound) && is_bound);
}

enum pl_status pl_ext_env_secrets(struct pl_shard *shard, struct pl_ext_secrets *ret_secrets)
{
    const char *const *list = shard->setup->config.ext_env;
    size_t most = 0;
    while (list && list[most])
        most++;
    struct pl_str *values = pl_mem_alloc(most + 1, sizeof *values);
    *ret_secrets = (struct pl_ext_secrets){.values = values};
    if (!values)
        return PL_NOMEM;
    for (size_t i = 0; i < most; i++) {
        struct pl_str name, value;
        bool is_bound;
        if (read_entry(list[i], &name, &value, &is_bound) &&
            (is_bound || pl_ext_is_secret_name(name)))
            values[ret_secrets->n++] = value;
    }
    return PL_OK;
}

bool pl_ext_env_binds(struct pl_shard *shard, struct pl_str name, struct pl_str host)
{
    const char *const *list = shard->setup->config.ext_env;
    for (size_t i = 0; list && list[i]; i++) {
        const char *is = strchr(list[i], '='), *at = strchr(list[i], '@');
        if (!is || !at || at > is || name.len != (size_t)(at - list[i]) ||
            memcmp(name.ptr, list[i], name.len) != 0)
            continue;
        for (const char *from = at + 1; from < is;) {
            size_t n = strcspn(from, ",=");
            if (n == host.len && memcmp(from, host.ptr, n) == 0)
                return true;
            from += n + 1;
        }
    }
    return false;
}

/* A secret is replaced by a placeholder, which http replaces in requests to the hosts it is
 * bound to. */
static void put_value(struct pl_ext_hostcall *call, struct pl_json_out *out, struct pl_str name)
{
    struct pl_str value = {0};
    bool is_bound;
    pl_json_out_key_str(out, name);
    if (!find_entry(call->exts->shard, name, &value, &is_bound)) {
        pl_json_out_null(out);
    } else if (is_bound || pl_ext_is_secret_name(name)) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_buf_addf(&text, PL_EXT_SECRET_MARK "%.*s}}", PL_STR_ARG(name));
        pl_json_out_text(out, pl_buf_str(&text));
    } else {
        pl_json_out_text(out, value);
    }
}

static void env_start(struct pl_ext_hostcall *call)
{
    static const char *const members[] = {"name", "names", NULL};
    struct pl_str name;
    const struct pl_json_node *names = pl_json_get(&call->doc, call->params, PL_STR("names"));
    if (!pl_hostcall_members(call, call->params, members) ||
        !pl_hostcall_text(call, call->params, "name", &name))
        return;
    if ((!name.len && !names) || (names && !pl_json_is(names, PL_JSON_ARRAY))) {
        pl_hostcall_fail(call, "invalid_request", NULL, "env needs a name, or names: an array");
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "values");
    pl_json_out_open(&out, '{');
    if (name.len)
        put_value(call, &out, name);
    for (const struct pl_json_node *n = names ? pl_json_first(names) : NULL;
         n && n < pl_json_end(names); n = pl_json_next(n)) {
        struct pl_str one;
        if (!pl_json_is(n, PL_JSON_STRING) ||
            pl_json_text(&call->arena, &call->doc, n, &one) != PL_OK) {
            pl_hostcall_fail(call, "invalid_request", NULL, "a name is a string");
            return;
        }
        if (!pl_str_eq(one, name))
            put_value(call, &out, one);
    }
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct pl_ext_method methods[] = {
    {"tool", 0, 30000, pl_ext_tool_start, pl_ext_tool_cancel},
    {"fs", PL_EXT_METHOD_STREAMS, 10000, pl_ext_fs_start, NULL},
    {"exec", PL_EXT_METHOD_STREAMS, 120000, pl_ext_exec_start, pl_ext_exec_cancel},
    {"http", PL_EXT_METHOD_STREAMS, 30000, pl_ext_http_start, pl_ext_http_cancel},
    {"session", PL_EXT_METHOD_SESSION, 10000, pl_ext_session_start, pl_ext_session_cancel},
    {"ui", PL_EXT_METHOD_SESSION, PL_EXT_MOST_MS, pl_ext_ui_start, pl_ext_session_cancel},
    {"events", PL_EXT_METHOD_SESSION, 10000, pl_ext_events_start, pl_ext_session_cancel},
    {"env", PL_EXT_METHOD_AT_ONCE, 10000, env_start, NULL},
    {"log", PL_EXT_METHOD_AT_ONCE, 10000, log_start, NULL},
};

const struct pl_ext_method *pl_ext_method_find(struct pl_str name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (pl_str_eq(pl_str_of(methods[i].name), name))
            return &methods[i];
    return NULL;
}
