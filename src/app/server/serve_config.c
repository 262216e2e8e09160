/* One table has a row for each setting. Flags, environment and file are read by it into the same
 * values, and the first source wins. */
#include "app/server/serve_config.h"

#include "app/server/sections/serve_oidc.h"
#include "app/server/serve_environment.h"
#include "app/server/serve_models.h"
#include "app/server/serve_node.h"
#include "app/server/store_password.h"
#include "base/text/suggest.h"
#include "ext/cell/level.h"
#include "ext/cell/uids.h"
#include "promptfile/yaml.h"
#include "http/client_address.h"
#include "io/fetch/fetch.h"
#include "io/file/file.h"
#include "json/text.h"
#include "json/write.h"
#include "server/setup.h"
#include "session/session.h"
#include "shard/access_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 256 << 10, MAX_LIST = 64, NO_OPTION = -1 };

/* LIVE: SIGHUP can change it. FIXED: needs a restart. */
enum life { LIVE, FIXED };

enum kind { TEXT, PORT, COUNT, TIME, PERIOD, FLAG, LIST, LEVEL };

struct setting {
    const char *name; /* in the file; in the environment in capitals with the prefix PARLEY_ */
    enum life life;
    int option; /* a pl_option_id, or NO_OPTION */
    enum kind kind;
    size_t place; /* offset in pl_server_config */
    const char *otherwise;
    uint64_t least, most; /* of a number */
};

#define AT(member) offsetof(struct pl_server_config, member)
static const struct setting settings[] = {
    {"host", FIXED, PL_OPT_HOST, TEXT, AT(host), "127.0.0.1", 0, 0},
    {"port", FIXED, PL_OPT_PORT, PORT, AT(port), "8787", 0, 65535},
    {"data", FIXED, PL_OPT_DATA, TEXT, AT(data_dir), NULL, 0, 0},
    {"store", FIXED, PL_OPT_STORE, TEXT, AT(store_url), NULL, 0, 0},
    {"store_password_file", FIXED, NO_OPTION, TEXT, AT(store_password_file), NULL, 0, 0},
    {"store_answer_ms", FIXED, NO_OPTION, TIME, AT(store_answer_ms), "5000", 100, 600000},
    {"store_away_ms", FIXED, NO_OPTION, TIME, AT(store_away_ms), "600000", 100, 86400000},
    {"node", FIXED, PL_OPT_NODE, TEXT, AT(node_name), NULL, 0, 0},
    {"address", FIXED, PL_OPT_ADDRESS, TEXT, AT(node_address), NULL, 0, 0},
    {"bus", FIXED, PL_OPT_BUS, TEXT, AT(bus_url), NULL, 0, 0},
    {"bus_file", FIXED, NO_OPTION, TEXT, AT(bus_file), NULL, 0, 0},
    {"bus_ca", FIXED, PL_OPT_BUS_CA, TEXT, AT(bus_ca), NULL, 0, 0},
    {"bus_cert", FIXED, PL_OPT_BUS_CERT, TEXT, AT(bus_cert), NULL, 0, 0},
    {"bus_key", FIXED, PL_OPT_BUS_KEY, TEXT, AT(bus_key), NULL, 0, 0},
    {"bus_creds", FIXED, PL_OPT_BUS_CREDS, TEXT, AT(bus_creds), NULL, 0, 0},
    {"unix", FIXED, PL_OPT_UNIX, TEXT, AT(unix_path), NULL, 0, 0},
    {"ui_dir", LIVE, PL_OPT_UI_DIR, TEXT, AT(ui_dir), NULL, 0, 0},
    {"tls_cert", LIVE, PL_OPT_TLS_CERT, TEXT, AT(tls_cert), NULL, 0, 0},
    {"tls_key", LIVE, PL_OPT_TLS_KEY, TEXT, AT(tls_key), NULL, 0, 0},
    {"behind_proxy", FIXED, PL_OPT_BEHIND_PROXY, FLAG, AT(is_behind_proxy), "false", 0, 0},
    {"trusted_proxies", LIVE, NO_OPTION, LIST, AT(proxies), NULL, 0, 0},
    {"proxy_protocol", LIVE, NO_OPTION, LIST, AT(proxy_protocol), NULL, 0, 0},
    {"allow_host", LIVE, PL_OPT_ALLOW_HOST, LIST, AT(hosts), NULL, 0, 0},
    {"allow_origin", LIVE, PL_OPT_ALLOW_ORIGIN, LIST, AT(origins), NULL, 0, 0},
    {"allow_fetch", LIVE, PL_OPT_ALLOW_FETCH, LIST, AT(fetch_hosts), NULL, 0, 0},
    {"shards", FIXED, PL_OPT_SHARDS, COUNT, AT(n_shards), "0", 0, 64},
    {"workers", FIXED, PL_OPT_WORKERS, COUNT, AT(n_workers), "4", 1, 256},
    {"fetch_ms", LIVE, NO_OPTION, TIME, AT(fetch_ms), "30000", 1, 600000},
    {"queue_wait_ms", LIVE, NO_OPTION, TIME, AT(queue_wait_ms), "30000", 1, 600000},
    {"max_connections", LIVE, PL_OPT_MAX_CONNECTIONS, COUNT, AT(max_connections), "20000", 1,
     1000000},
    {"max_connections_per_address", LIVE, PL_OPT_MAX_ADDRESS_CONNECTIONS, COUNT,
     AT(max_address_connections), "0", 0, 1000000},
    {"body_memory_mib", LIVE, PL_OPT_BODY_MEMORY, COUNT, AT(body_memory_mib), "256", 4, 1048576},
    {"drain_accept_ms", LIVE, PL_OPT_DRAIN_ACCEPT, TIME, AT(drain_accept_ms), "0", 0, 600000},
    {"drain_ms", LIVE, PL_OPT_DRAIN, TIME, AT(drain_ms), "30000", 0, 600000},
    {"log_level", LIVE, PL_OPT_LOG_LEVEL, LEVEL, AT(log_level), "info", 0, 0},
    {"log_json", FIXED, PL_OPT_LOG_JSON, FLAG, AT(is_log_json), "false", 0, 0},
    {"access_log", FIXED, NO_OPTION, TEXT, AT(access_log), "off", 0, 0},
    {"access_log_level", LIVE, NO_OPTION, TEXT, AT(access_log_level), "request", 0, 0},
    {"access_log_max_mib", FIXED, NO_OPTION, COUNT, AT(access_log_max_mib), "100", 1, 1048576},
    {"access_log_keep", FIXED, NO_OPTION, COUNT, AT(access_log_keep), "7", 1, 1000},
    {"model", LIVE, PL_OPT_MODEL, TEXT, AT(default_model), "demo/echo", 0, 0},
    {"gateway_record", LIVE, NO_OPTION, TEXT, AT(gateway_record), "off", 0, 0},
    {"allow_unpriced", LIVE, NO_OPTION, FLAG, AT(allows_unpriced), "false", 0, 0},
    {"probe", LIVE, NO_OPTION, FLAG, AT(is_probing), "true", 0, 0},
    {"upstream_connect_ms", LIVE, NO_OPTION, TIME, AT(upstream_connect_ms), "10000", 1, 600000},
    {"upstream_first_byte_ms", LIVE, NO_OPTION, TIME, AT(upstream_first_byte_ms), "120000", 1,
     3600000},
    {"upstream_idle_ms", LIVE, NO_OPTION, TIME, AT(upstream_idle_ms), "90000", 1, 3600000},
    {"upstream_cooldown_ms", LIVE, NO_OPTION, TIME, AT(upstream_cooldown_ms), "10000", 0, 3600000},
    {"upstream_answer_ms", LIVE, NO_OPTION, TIME, AT(answer_ms), "1800000", 1, 86400000},
    {"demo_word_ms", LIVE, NO_OPTION, TIME, AT(demo_word_ms), "60", 0, 10000},
    {"client_tool_ms", LIVE, NO_OPTION, TIME, AT(client_tool_ms), "600000", 1, 86400000},
    {"turn_ms", LIVE, NO_OPTION, TIME, AT(turn_ms), "1800000", 1, PL_SESSION_MAX_MS},
    {"otlp_endpoint", FIXED, NO_OPTION, TEXT, AT(otlp_endpoint), NULL, 0, 0},
    {"otlp_headers_file", FIXED, NO_OPTION, TEXT, AT(otlp_headers_file), NULL, 0, 0},
    {"otlp_sample_percent", FIXED, NO_OPTION, COUNT, AT(otlp_percent), "100", 0, 100},
    {"deleted_days", LIVE, NO_OPTION, COUNT, AT(deleted_days), "30", 0, 36500},
    {"retention_days", LIVE, NO_OPTION, COUNT, AT(retention_days), "0", 0, 36500},
    {"blob_grace", LIVE, NO_OPTION, PERIOD, AT(blob_grace), "1d", 0, 0},
    {"backup_dir", LIVE, NO_OPTION, TEXT, AT(backup_dir), NULL, 0, 0},
    {"backup_every", LIVE, NO_OPTION, PERIOD, AT(backup_every), "off", 0, 0},
    {"backup_keep", LIVE, NO_OPTION, COUNT, AT(backup_keep), "7", 1, 10000},
    {"schedules", FIXED, NO_OPTION, FLAG, AT(has_schedules), "true", 0, 0},
    {"until_unused", FIXED, NO_OPTION, FLAG, AT(ends_unused), "false", 0, 0},
    {"workspace", FIXED, PL_OPT_WORKSPACE, TEXT, AT(workspace), NULL, 0, 0},
    {"ext_env", LIVE, NO_OPTION, LIST, AT(ext_env), NULL, 0, 0},
    {"task_ms", LIVE, NO_OPTION, TIME, AT(task_ms), "1800000", 1, 86400000},
    {"ext_sandbox", FIXED, PL_OPT_EXT_SANDBOX, TEXT, AT(ext_sandbox), "full", 0, 0},
    {"ext_uids", FIXED, PL_OPT_EXT_UIDS, TEXT, AT(ext_uids), PL_CELL_UIDS, 0, 0},
    {"unsafe_no_sandbox", FIXED, PL_OPT_UNSAFE_NO_SANDBOX, FLAG, AT(is_unsafe), "false", 0, 0},
};
#undef AT
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static const char *const levels[] = {"error", "warning", "info", "request"};

/* A setting as given: several texts for a list, otherwise one. */
struct value {
    const char *texts[MAX_LIST + 1];
    size_t n;
    const char *origin; /* "--port", "PARLEY_PORT", the file name, "default" */
    size_t line;        /* in the file; 0: unknown, or another source */
};

struct reading {
    struct pl_arena *arena;     /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *path;           /* of the file; NULL: no file */
    struct pl_json_doc file;    /* root NULL: no file */
    struct pl_str yaml;         /* arena; the raw file */
    struct pl_buf *problems;    /* borrowed; NULL: stop at the first error */
    struct value values[N_SETTINGS];
};

/* An error ends the reading, unless all errors are collected. */
static enum pl_status note(struct reading *reading, enum pl_status status, struct pl_error *err)
{
    if (!reading->problems || status == PL_OK || status == PL_NOMEM)
        return status;
    pl_buf_addf(reading->problems, "%s\n", err->message);
    return PL_OK;
}

/* NULL if out of memory. */
static const char *format_text(struct pl_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *format_text(struct pl_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : pl_arena_alloc(arena, (size_t)n + 1, 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

/* "$XDG_…/parley", or a path below the home directory. */
static const char *home_path(struct pl_arena *arena, const char *variable, const char *below_home,
                             const char *rest)
{
    const char *base = getenv(variable), *home = getenv("HOME");
    if (base && base[0] == '/')
        return format_text(arena, "%s/parley%s", base, rest);
    return format_text(arena, "%s/%s/parley%s", home && *home ? home : "", below_home, rest);
}

/* PL_NOMEM for a NULL text, since its allocation failed. */
static enum pl_status add(struct value *value, const char *text)
{
    if (!text)
        return PL_NOMEM;
    if (value->n == MAX_LIST)
        return PL_LIMIT;
    value->texts[value->n++] = text;
    return PL_OK;
}

/* --- the three places ------------------------------------------------------------------------ */

static enum pl_status from_flags(struct reading *reading, const struct setting *setting,
                                 struct value *value)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < reading->args->uses.len; i++) {
        const struct pl_option_use *use = &reading->args->uses.ptr[i];
        if ((int)use->option->id != setting->option)
            continue;
        value->origin = format_text(reading->arena, "--%s", use->option->name);
        status =
            value->origin ? add(value, setting->kind == FLAG ? "true" : use->values[0]) : PL_NOMEM;
    }
    return status;
}

/* Splits at commas. */
static enum pl_status split(struct pl_arena *arena, const char *text, struct value *value)
{
    enum pl_status status = PL_OK;
    for (const char *at = text; status == PL_OK && *at;) {
        size_t n = strcspn(at, ",");
        if (n)
            status = add(value, format_text(arena, "%.*s", (int)n, at));
        at += n + (at[n] == ',');
    }
    return status;
}

static enum pl_status from_environment(struct reading *reading, const struct setting *setting,
                                       struct value *value)
{
    char name[64];
    int n = snprintf(name, sizeof name, "PARLEY_%s", setting->name);
    for (int i = 0; i < n; i++)
        name[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
    const char *text = getenv(name);
    if (!text || !*text)
        return PL_OK;
    value->origin = format_text(reading->arena, "%s", name);
    if (!value->origin)
        return PL_NOMEM;
    return setting->kind == LIST ? split(reading->arena, text, value) : add(value, text);
}

/* A scalar of the file, as text. */
static const char *scalar(struct reading *reading, const struct pl_json_node *node)
{
    struct pl_str text = pl_json_span(&reading->file, node);
    if (pl_json_kind(node) == PL_JSON_STRING &&
        pl_json_text(reading->arena, &reading->file, node, &text) != PL_OK)
        return NULL;
    return format_text(reading->arena, "%.*s", PL_STR_ARG(text));
}

/* Whether a line begins with "name:", and its indentation. */
static bool is_key_line(struct pl_str line, const char *name, size_t *ret_indent)
{
    size_t n = strlen(name), at = 0;
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    *ret_indent = at;
    bool is_quoted = at < line.len && (line.ptr[at] == '"' || line.ptr[at] == '\'');
    struct pl_str rest = pl_str_slice(line, at + is_quoted, line.len);
    return rest.len > n + is_quoted && memcmp(rest.ptr, name, n) == 0 &&
           rest.ptr[n + is_quoted] == ':';
}

size_t pl_serve_config_line(struct pl_str yaml, const char *name, const char *below)
{
    size_t found = 0, line_no = 0, indent = 0;
    while (yaml.len) {
        const char *end = memchr(yaml.ptr, '\n', yaml.len);
        size_t n = end ? (size_t)(end - yaml.ptr) : yaml.len;
        bool is_key = is_key_line(pl_str_slice(yaml, 0, n), found ? below : name, &indent);
        yaml = pl_str_slice(yaml, n + 1, yaml.len);
        line_no++;
        if (!is_key || (indent == 0) != !found)
            continue;
        if (found || !below)
            return line_no;
        found = line_no;
    }
    return found;
}

static enum pl_status from_file(struct reading *reading, const struct setting *setting,
                                struct value *value, struct pl_error *err)
{
    const struct pl_json_node *node =
        reading->file.root
            ? pl_json_get(&reading->file, reading->file.root, pl_str_of(setting->name))
            : NULL;
    if (!node || pl_json_kind(node) == PL_JSON_NULL)
        return PL_OK;
    value->origin = reading->path;
    value->line = pl_serve_config_line(reading->yaml, setting->name, NULL);
    if (!pl_json_is_container(node))
        return add(value, scalar(reading, node));
    if (setting->kind != LIST || pl_json_kind(node) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "%s, line %zu: \"%s\" must be one value, not %s",
                       reading->path, value->line, setting->name,
                       pl_json_kind_name(pl_json_kind(node)));
    for (const struct pl_json_node *one = pl_json_first(node); one < pl_json_end(node);
         one = pl_json_next(one)) {
        enum pl_status status =
            pl_json_is_container(one) ? PL_INVALID : add(value, scalar(reading, one));
        if (status == PL_NOMEM)
            return status;
        if (status != PL_OK)
            return pl_fail(err, PL_INVALID,
                           "%s, line %zu: \"%s\" must be a list of at most %d names", reading->path,
                           value->line, setting->name, MAX_LIST);
    }
    return PL_OK;
}

static size_t line_of_name(struct reading *reading, struct pl_str name)
{
    const char *text = format_text(reading->arena, "%.*s", PL_STR_ARG(name));
    return text ? pl_serve_config_line(reading->yaml, text, NULL) : 0;
}

static enum pl_status check_names(struct reading *reading, struct pl_error *err)
{
    const struct pl_json_node *root = reading->file.root;
    if (pl_json_kind(root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s: the file must be a list of settings (name: value)",
                       reading->path);
    for (const struct pl_json_node *key = pl_json_first_member(root); key < pl_json_end(root);
         key = pl_json_next_member(key)) {
        struct pl_str name = pl_json_raw(&reading->file, key);
        struct pl_suggest suggest = pl_suggest(name);
        bool is_known = false;
        for (size_t i = 0; i < N_SETTINGS && !is_known; i++) {
            is_known = pl_str_eq(name, pl_str_of(settings[i].name));
            pl_suggest_offer(&suggest, settings[i].name);
        }
        for (size_t i = 0; pl_serve_models_settings[i] && !is_known; i++) {
            is_known = pl_str_eq(name, pl_str_of(pl_serve_models_settings[i]));
            pl_suggest_offer(&suggest, pl_serve_models_settings[i]);
        }
        is_known = is_known || pl_str_eq(name, PL_STR("oidc"));
        pl_suggest_offer(&suggest, "oidc");
        if (!is_known)
            return pl_fail(err, PL_INVALID, "%s, line %zu: there is no setting \"%.*s\"%s%s%s",
                           reading->path, line_of_name(reading, name), PL_STR_ARG(name),
                           suggest.best ? "; did you mean \"" : "",
                           suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
    }
    return PL_OK;
}

/* The named file, otherwise the default path. */
static const char *find_file(const struct reading *reading, bool *ret_is_named)
{
    const char *path = pl_args_value(reading->args, PL_OPT_CONFIG);
    if (!path)
        path = getenv("PARLEY_CONFIG");
    *ret_is_named = path && *path;
    return *ret_is_named ? path
                         : home_path(reading->arena, "XDG_CONFIG_HOME", ".config", "/config.yaml");
}

/* A file with only comments has no settings, like the example file. */
static bool is_blank(struct pl_str text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len, at = 0;
        while (at < n && (unsigned char)text.ptr[at] <= ' ')
            at++;
        if (at < n && text.ptr[at] != '#')
            return false;
        text = pl_str_slice(text, n + 1, text.len);
    }
    return true;
}

/* A missing file is an error only if it was named; an unreadable file always is. */
static enum pl_status read_file(struct reading *reading, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    bool is_named;
    const char *path = find_file(reading, &is_named);
    if (!path)
        return PL_NOMEM;
    if (!is_named && access(path, F_OK) != 0)
        return PL_OK;
    reading->path = path;
    enum pl_status status = pl_file_read(path, MAX_FILE_BYTES, NULL, &file, err);
    if (status == PL_OK && is_blank(file.bytes))
        return PL_OK;
    if (status == PL_OK)
        status = pl_yaml_read(&json, file.bytes, err);
    struct pl_str text = pl_arena_dup(reading->arena, pl_buf_str(&json));
    reading->yaml = pl_arena_dup(reading->arena, file.bytes);
    if (status == PL_OK && !text.ptr)
        status = PL_NOMEM;
    if (status == PL_OK)
        status = pl_json_parse(reading->arena, text, NULL, &reading->file, err);
    if (status == PL_OK)
        return check_names(reading, err);
    reading->file = (struct pl_json_doc){0};
    if (status == PL_NOMEM)
        return status;
    char why[400];
    snprintf(why, sizeof why, "%.399s", err->message);
    return pl_fail(err, PL_INVALID, "%s cannot be read: %s", path, why);
}

static enum pl_status by_default(struct reading *reading, const struct setting *setting,
                                 struct value *value)
{
    value->origin = "default";
    if (setting->option == PL_OPT_DATA)
        return add(value, home_path(reading->arena, "XDG_DATA_HOME", ".local/share", ""));
    return setting->otherwise ? add(value, setting->otherwise) : PL_OK;
}

static enum pl_status fail_memory(struct pl_error *err)
{
    return pl_fail(err, PL_NOMEM, "%s", pl_status_info(PL_NOMEM)->text);
}

static enum pl_status gather(struct pl_arena *arena, const struct pl_args *args,
                             struct pl_buf *problems, struct reading **ret_reading,
                             struct pl_error *err)
{
    struct reading *reading = pl_arena_zalloc(arena, 1, sizeof *reading);
    if (!reading)
        return PL_NOMEM;
    reading->arena = arena;
    reading->args = args;
    reading->problems = problems;
    enum pl_status status = note(reading, read_file(reading, err), err);
    for (size_t i = 0; status == PL_OK && i < N_SETTINGS; i++) {
        struct value *value = &reading->values[i];
        status = from_flags(reading, &settings[i], value);
        if (status == PL_OK && !value->n)
            status = from_environment(reading, &settings[i], value);
        if (status == PL_OK && !value->n)
            status = note(reading, from_file(reading, &settings[i], value, err), err);
        if (status == PL_OK && !value->n)
            status = by_default(reading, &settings[i], value);
        if (status == PL_LIMIT)
            return pl_fail(err, PL_USAGE, "\"%s\" is given more than %d times", settings[i].name,
                           MAX_LIST);
    }
    if (status == PL_OK)
        *ret_reading = reading;
    return status;
}

/* --- into the configuration ------------------------------------------------------------------ */

static enum pl_status wrong(const struct setting *setting, const struct value *value,
                            struct pl_error *err, const char *expected)
{
    char line[32] = "";
    if (value->line)
        snprintf(line, sizeof line, ", line %zu", value->line);
    return pl_fail(err, PL_USAGE, "%s (from %s%s) must be %s, not \"%s\"", setting->name,
                   value->origin, line, expected, value->texts[0]);
}

static enum pl_status read_number(const struct setting *setting, const struct value *value,
                                  uint64_t *ret, struct pl_error *err)
{
    uint64_t number = 0;
    const char *at = value->texts[0];
    for (; *at >= '0' && *at <= '9' && number <= setting->most; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (*at || at == value->texts[0] || number < setting->least || number > setting->most) {
        char expected[80];
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                 (unsigned long long)setting->least, (unsigned long long)setting->most);
        return wrong(setting, value, err, expected);
    }
    *ret = number;
    return PL_OK;
}

static enum pl_status put_number(const struct setting *setting, const struct value *value,
                                 struct pl_server_config *config, struct pl_error *err)
{
    uint64_t number = 0;
    enum pl_status status = read_number(setting, value, &number, err);
    if (status != PL_OK)
        return status;
    char *place = (char *)config + setting->place;
    if (setting->kind == PORT)
        *(uint16_t *)(void *)place = (uint16_t)number;
    else if (setting->kind == COUNT)
        *(size_t *)(void *)place = (size_t)number;
    else
        *(int64_t *)(void *)place = (int64_t)number;
    return PL_OK;
}

/* "30m", "6h", "1d", "2w"; "off" is 0. */
static enum pl_status put_period(const struct setting *setting, const struct value *value,
                                 struct pl_server_config *config, struct pl_error *err)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    enum { MOST = 100000 };
    const char *text = value->texts[0];
    size_t n = strspn(text, "0123456789");
    int64_t *place = (int64_t *)(void *)((char *)config + setting->place);
    int64_t number = 0;
    for (size_t i = 0; i < n && number <= MOST; i++)
        number = 10 * number + (text[i] - '0');
    if (strcmp(text, "off") == 0) {
        *place = 0;
        return PL_OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (number > 0 && number <= MOST && text[n] == units[i].unit && !text[n + 1]) {
            *place = number * units[i].ms;
            return PL_OK;
        }
    return wrong(setting, value, err, "off, or a time such as 30m, 6h, 1d or 2w");
}

static enum pl_status put_list(struct reading *reading, const struct value *value,
                               const char *const **to)
{
    const char **list = pl_arena_zalloc(reading->arena, value->n + 1, sizeof *list);
    if (!list)
        return PL_NOMEM;
    memcpy(list, value->texts, value->n * sizeof *list);
    *to = list;
    return PL_OK;
}

static enum pl_status put(struct reading *reading, const struct setting *setting,
                          const struct value *value, struct pl_server_config *config,
                          struct pl_error *err)
{
    char *place = (char *)config + setting->place;
    const char *text = value->n ? value->texts[value->n - 1] : NULL;
    switch (setting->kind) {
    case TEXT:
        *(const char **)(void *)place = text;
        return PL_OK;
    case PORT:
    case COUNT:
    case TIME:
        return put_number(setting, value, config, err);
    case PERIOD:
        return put_period(setting, value, config, err);
    case FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0 && strcmp(text, "1") != 0 &&
            strcmp(text, "0") != 0)
            return wrong(setting, value, err, "true or false");
        *(bool *)place = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        return PL_OK;
    case LIST:
        return put_list(reading, value, (const char *const **)(void *)place);
    case LEVEL:
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            if (strcmp(text, levels[i]) == 0) {
                config->log_level = (int)i;
                return PL_OK;
            }
        return wrong(setting, value, err, "error, warning, info or request");
    }
    return PL_INTERNAL;
}

/* Moves the password to store_password, and hides it from process lists. */
static enum pl_status take_password(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *config, struct pl_error *err)
{
    const char *given = pl_args_value(args, PL_OPT_STORE);
    if (!config->store_url)
        return PL_OK;
    enum pl_status status =
        pl_store_url_split(arena, config->store_url, &config->store_url, &config->store_password);
    if (given) {
        /* argv is writable, and its text is already copied. */
        char *words;
        memcpy(&words, &given, sizeof words);
        pl_store_url_scrub(words);
    }
    if (status == PL_OK && config->store_password_file)
        status = pl_store_password_read(arena, config->store_password_file, &config->store_password,
                                        err);
    return status;
}

/* Same for the bus. */
static enum pl_status take_bus(struct pl_arena *arena, const struct pl_args *args,
                               struct pl_server_config *config, struct pl_error *err)
{
    const char *given = pl_args_value(args, PL_OPT_BUS);
    if (config->bus_url)
        config->bus_url =
            pl_arena_dup(arena, (struct pl_str){config->bus_url, strlen(config->bus_url) + 1}).ptr;
    if (given && !config->bus_url)
        return PL_NOMEM;
    if (given) {
        char *words;
        memcpy(&words, &given, sizeof words);
        pl_bus_url_scrub(words);
    }
    return pl_serve_bus_read(arena, config, err);
}

static enum pl_status read_models(const struct pl_serve_models_source *source,
                                  struct pl_server_config *config, struct pl_error *err)
{
    struct pl_models_config *models = pl_arena_zalloc(source->arena, 1, sizeof *models);
    if (!models)
        return PL_NOMEM;
    models->connect_ms = config->upstream_connect_ms;
    models->first_byte_ms = config->upstream_first_byte_ms;
    models->idle_ms = config->upstream_idle_ms;
    models->cooldown_ms = config->upstream_cooldown_ms;
    models->demo_word_ms = config->demo_word_ms;
    config->models = models;
    return pl_serve_models_read(source, models, err);
}

static enum pl_status check_sandbox(struct pl_server_config *config, struct pl_error *err)
{
    enum pl_cell_level level = PL_CELL_FULL;
    uid_t first;
    size_t n;
    if (config->ext_sandbox && !pl_cell_level_find(pl_str_of(config->ext_sandbox), &level))
        return pl_fail(err, PL_USAGE,
                       "ext_sandbox must be full, namespaces, landlock or none, not \"%.40s\"",
                       config->ext_sandbox);
    if (config->is_unsafe && level != PL_CELL_FULL && level != PL_CELL_NONE)
        return pl_fail(err, PL_USAGE,
                       "unsafe_no_sandbox means ext_sandbox none; give one of the two");
    if (config->is_unsafe)
        config->ext_sandbox = pl_cell_level_name(PL_CELL_NONE);
    return config->ext_uids ? pl_cell_uids_read(config->ext_uids, &first, &n, err) : PL_OK;
}

static enum pl_status check_proxies(const char *name, const char *const *proxies,
                                    struct pl_error *err)
{
    for (; proxies && *proxies; proxies++)
        if (!pl_proxy_is_valid(pl_str_of(*proxies)))
            return pl_fail(err, PL_USAGE,
                           "%s \"%.100s\" is not an address; give one such as 10.0.0.1, a range "
                           "such as 10.0.0.0/8, or unix",
                           name, *proxies);
    return PL_OK;
}

/* Checks combinations of settings. */
static enum pl_status check_together(const struct pl_server_config *config, struct pl_error *err)
{
    for (const char *const *host = config->fetch_hosts; host && *host; host++)
        if (!pl_fetch_is_host(*host))
            return pl_fail(err, PL_USAGE,
                           "allow_fetch \"%.100s\" is not a host; give a name or an address, "
                           "optionally with a port, such as files.intranet:8080",
                           *host);
    enum pl_status status = check_proxies("trusted_proxies", config->proxies, err);
    if (status == PL_OK)
        status = check_proxies("proxy_protocol", config->proxy_protocol, err);
    if (status == PL_OK)
        status = pl_access_log_check(config, err);
    if (status != PL_OK)
        return status;
    if (config->proxy_protocol && config->proxy_protocol[0] && config->tls_cert)
        return pl_fail(err, PL_USAGE,
                       "proxy_protocol is for a proxy that does TLS; leave tls_cert and tls_key "
                       "out, and give behind_proxy");
    if (config->otlp_endpoint && strncmp(config->otlp_endpoint, "http://", 7) != 0 &&
        strncmp(config->otlp_endpoint, "https://", 8) != 0)
        return pl_fail(err, PL_USAGE,
                       "otlp_endpoint \"%.100s\" must be the address of a collector, such as "
                       "http://127.0.0.1:4318",
                       config->otlp_endpoint);
    if (config->otlp_headers_file && !config->otlp_endpoint)
        return pl_fail(err, PL_USAGE,
                       "otlp_headers_file needs otlp_endpoint: the address of the collector");
    if (config->backup_every && !config->backup_dir)
        return pl_fail(err, PL_USAGE,
                       "backup_every needs backup_dir: the directory for the backups, outside the "
                       "data directory");
    if (config->backup_every && config->store_url &&
        strncmp(config->store_url, "sqlite:", sizeof "sqlite:" - 1) != 0)
        return pl_fail(
            err, PL_USAGE,
            "backup_every works for a store in SQLite; for PostgreSQL use its own tools");
    if (!config->tls_cert != !config->tls_key)
        return pl_fail(err, PL_USAGE,
                       "a certificate needs its key: give both --tls-cert and --tls-key");
    return PL_OK;
}

/* Records where the default model was set: an error in its name is found later, with the models. */
static enum pl_status place_model(struct reading *reading, struct pl_server_config *config)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const struct value *value = &reading->values[i];
        if (settings[i].option != PL_OPT_MODEL || strcmp(value->origin, "default") == 0)
            continue;
        config->model_place =
            value->line ? format_text(reading->arena, "%s, line %zu", value->origin, value->line)
                        : value->origin;
        return config->model_place ? PL_OK : PL_NOMEM;
    }
    return PL_OK;
}

/* Converts all collected settings. If errors are collected, a setting with an error stays empty. */
static enum pl_status understand_settings(struct reading *reading, struct pl_server_config *config,
                                          struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < N_SETTINGS; i++)
        status = note(reading, put(reading, &settings[i], &reading->values[i], config, err), err);
    if (status == PL_OK)
        status = note(reading, take_password(reading->arena, reading->args, config, err), err);
    if (status == PL_OK)
        status = note(reading, take_bus(reading->arena, reading->args, config, err), err);
    return status;
}

static const char *name_at(size_t i)
{
    return i < N_SETTINGS ? settings[i].name : NULL;
}

static enum pl_status understand(struct reading *reading, struct pl_server_config *config,
                                 struct pl_error *err)
{
    enum pl_status status = note(reading, pl_serve_environment_check(name_at, err), err);
    if (status == PL_OK)
        status = understand_settings(reading, config, err);
    if (status == PL_OK)
        status = place_model(reading, config);
    struct pl_serve_models_source source = {reading->arena, &reading->file, reading->path,
                                            reading->yaml, reading->problems};
    if (status == PL_OK)
        status = note(reading, read_models(&source, config, err), err);
    if (status == PL_OK)
        status = note(reading, pl_serve_oidc_read(&source, &config->oidc, err), err);
    if (status == PL_OK)
        status = note(reading, check_together(config, err), err);
    if (status == PL_OK)
        status = note(reading, pl_serve_node_check(config, err), err);
    if (status == PL_OK)
        status = note(reading, check_sandbox(config, err), err);
    return status;
}

static enum pl_status read_by(enum pl_status (*fn)(struct reading *, struct pl_server_config *,
                                                   struct pl_error *),
                              struct pl_arena *arena, const struct pl_args *args,
                              struct pl_server_config *ret_config, struct pl_error *err)
{
    struct reading *reading = NULL;
    struct pl_server_config config = {0};
    enum pl_status status = gather(arena, args, NULL, &reading, err);
    if (status == PL_OK)
        status = fn(reading, &config, err);
    if (status == PL_OK)
        *ret_config = config;
    return status == PL_NOMEM ? fail_memory(err) : status;
}

enum pl_status pl_serve_config_read(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err)
{
    return read_by(understand, arena, args, ret_config, err);
}

enum pl_status pl_serve_config_find(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err)
{
    return read_by(understand_settings, arena, args, ret_config, err);
}

/* --- reading it again ------------------------------------------------------------------------ */

static bool is_same_list(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a && b && a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return !(a && a[i]) && !(b && b[i]);
}

/* Sizes of numbers and flags. */
static const size_t sizes[] = {
    [PORT] = sizeof(uint16_t),  [COUNT] = sizeof(size_t), [TIME] = sizeof(int64_t),
    [PERIOD] = sizeof(int64_t), [FLAG] = sizeof(bool),    [LEVEL] = sizeof(int),
};

static bool is_same(const struct setting *setting, const struct pl_server_config *a,
                    const struct pl_server_config *b)
{
    const void *at_a = (const char *)a + setting->place, *at_b = (const char *)b + setting->place;
    if (setting->kind == LIST)
        return is_same_list(*(const char *const *const *)at_a, *(const char *const *const *)at_b);
    if (setting->kind != TEXT)
        return memcmp(at_a, at_b, sizes[setting->kind]) == 0;
    const char *text_a = *(const char *const *)at_a, *text_b = *(const char *const *)at_b;
    return text_a && text_b ? strcmp(text_a, text_b) == 0 : text_a == text_b;
}

/* Keeps the old value, as a copy. No list is FIXED. */
static enum pl_status keep_old(const struct setting *setting, struct pl_arena *arena,
                               const struct pl_server_config *now, struct pl_server_config *config)
{
    const void *from = (const char *)now + setting->place;
    void *to = (char *)config + setting->place;
    if (setting->kind != TEXT) {
        memcpy(to, from, sizes[setting->kind]);
        return PL_OK;
    }
    const char *text = *(const char *const *)from;
    const char *copy = text ? format_text(arena, "%s", text) : NULL;
    *(const char **)to = copy;
    return text && !copy ? PL_NOMEM : PL_OK;
}

static void add_name(struct pl_buf *names, const char *name)
{
    pl_buf_adds(names, names->len ? ", " : "");
    pl_buf_adds(names, name);
}

enum pl_status pl_serve_config_reread(struct pl_arena *arena, const struct pl_args *args,
                                      const struct pl_server_config *now,
                                      struct pl_server_config *ret_config, struct pl_buf *changed,
                                      struct pl_buf *kept, struct pl_error *err)
{
    struct pl_server_config config;
    enum pl_status status = pl_serve_config_read(arena, args, &config, err);
    if (status != PL_OK)
        return status;
    /* A certificate can change; TLS cannot be turned on or off. */
    bool is_tls_fixed = !now->tls_cert != !config.tls_cert;
    for (size_t i = 0; status == PL_OK && i < N_SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        bool is_tls = setting->option == PL_OPT_TLS_CERT || setting->option == PL_OPT_TLS_KEY;
        bool is_fixed = setting->life == FIXED || (is_tls && is_tls_fixed);
        if (is_same(setting, now, &config))
            continue;
        add_name(is_fixed ? kept : changed, setting->name);
        if (is_fixed)
            status = keep_old(setting, arena, now, &config);
    }
    pl_serve_models_compare(now->models, config.models, changed);
    if (!pl_serve_oidc_is_same(now->oidc, config.oidc))
        add_name(changed, "oidc");
    if (status == PL_OK)
        *ret_config = config;
    return status == PL_NOMEM ? fail_memory(err) : status;
}

/* --- showing --------------------------------------------------------------------------------- */

/* Whether a value is printed as a JSON number or boolean; an invalid value is printed as text. */
static bool is_bare(const struct setting *setting, const char *text)
{
    bool is_number = setting->kind == PORT || setting->kind == COUNT || setting->kind == TIME;
    if (setting->kind == FLAG)
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    bool has_zeros = text[0] == '0' && text[1];
    return is_number && text[0] && !has_zeros && !text[strspn(text, "0123456789")];
}

static void show_json(struct pl_json_out *out, const struct setting *setting,
                      const struct value *value)
{
    pl_json_out_key(out, setting->name);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "value");
    if (setting->kind == LIST)
        pl_json_out_open(out, '[');
    else if (!value->n)
        pl_json_out_null(out);
    for (size_t i = 0; i < value->n; i++) {
        if (is_bare(setting, value->texts[i]))
            pl_json_out_raw(out, pl_str_of(value->texts[i]));
        else
            pl_json_out_text(out, pl_str_of(value->texts[i]));
    }
    if (setting->kind == LIST)
        pl_json_out_close(out, ']');
    pl_json_out_key(out, "origin");
    pl_json_out_text(out, pl_str_of(value->origin));
    pl_json_out_close(out, '}');
}

static void show_line(struct pl_console *console, const struct setting *setting,
                      const struct value *value)
{
    pl_console_putf(console, "%s:", setting->name);
    for (size_t i = 0; i < value->n; i++) {
        pl_console_puts(console, i ? ", " : " ");
        pl_console_put_safe(console, pl_str_of(value->texts[i]));
    }
    pl_console_putf(console, "  # %s\n", value->origin);
}

/* Prints all problems except the last, which becomes the error. */
static enum pl_status say_problems(struct pl_console *console, const struct pl_buf *problems,
                                   struct pl_error *err)
{
    struct pl_str rest = pl_buf_str(problems);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pl_str line = pl_str_slice(rest, 0, (size_t)(end - rest.ptr));
        rest = pl_str_slice(rest, line.len + 1, rest.len);
        if (!rest.len)
            return pl_fail(err, PL_INVALID, "%.*s", PL_STR_ARG(line));
        pl_console_say(console, "%.*s", PL_STR_ARG(line));
    }
    return PL_OK;
}

enum pl_status pl_serve_config_check(struct pl_console *console,
                                     const struct pl_server_config *config, struct pl_error *err)
{
    struct pl_setup *setup = pl_setup_create();
    if (!setup)
        return pl_fail(err, PL_NOMEM, "out of memory");
    setup->config = *config;
    enum pl_status status = pl_setup_complete(setup, NULL, err);
    if (setup->warning[0])
        pl_console_say(console, "%s", setup->warning);
    pl_setup_destroy(setup);
    return status;
}

enum pl_status pl_serve_config_print(struct pl_console *console, struct pl_arena *arena,
                                     const struct pl_args *args, struct pl_error *err)
{
    struct pl_server_config config = {0};
    struct reading *reading = NULL;
    PL_CLEANUP_BUF struct pl_buf problems;
    pl_buf_init(&problems, 0);
    enum pl_status status = gather(arena, args, &problems, &reading, err);
    if (status == PL_OK)
        status = understand(reading, &config, err);
    if (status == PL_OK && config.models)
        status = note(reading, pl_serve_config_check(console, &config, err), err);
    if (status != PL_OK || problems.status != PL_OK)
        return fail_memory(err);
    bool is_json = pl_args_has(args, PL_OPT_JSON);
    struct pl_json_out out = pl_json_out(pl_console_out(console));
    if (is_json)
        pl_json_out_open(&out, '{');
    for (size_t i = 0; i < N_SETTINGS; i++) {
        struct value *value = &reading->values[i];
        if (settings[i].option == PL_OPT_STORE && value->n)
            value->texts[0] = pl_store_url_redact(arena, value->texts[0]);
        if (settings[i].option == PL_OPT_BUS && value->n)
            value->texts[0] = pl_bus_url_redact(arena, value->texts[0]);
        if (value->n && !value->texts[0])
            return fail_memory(err);
        if (is_json)
            show_json(&out, &settings[i], &reading->values[i]);
        else
            show_line(console, &settings[i], &reading->values[i]);
    }
    if (config.models && is_json)
        pl_serve_models_write(&out, config.models);
    else if (config.models)
        pl_serve_models_print(console, config.models);
    if (is_json)
        pl_serve_oidc_write(&out, config.oidc);
    else
        pl_serve_oidc_print(console, config.oidc);
    if (is_json) {
        pl_json_out_close(&out, '}');
        pl_console_puts(console, "\n");
    }
    return say_problems(console, &problems, err);
}
