/* An extension as JSON: what was accepted, what it has registered, what the policy allows. */
#include "service/extensions/extension_json.h"

#include "ext/run/ext.h"
#include "http/json_members.h"
#include "io/file/file.h"
#include "json/text.h"
#include "service/request_options.h"

enum { NOTES_BYTES = 64 << 10 };

static void put_texts(struct pl_json_out *out, const char *name, const struct pl_ext_texts *texts)
{
    if (!texts->is_given)
        return;
    pl_json_out_key(out, name);
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < texts->n; i++)
        pl_json_out_text(out, texts->items[i]);
    pl_json_out_close(out, ']');
}

/* In the syntax of a manifest. */
static void spell_host(struct pl_buf *to, const struct pl_ext_host *host)
{
    pl_buf_addf(to, "%s%s%.*s", host->is_plain ? "http://" : "", host->is_suffix ? "*." : "",
                PL_STR_ARG(host->host));
    if (host->port != (host->is_plain ? 80 : 443))
        pl_buf_addf(to, ":%d", (int)host->port);
}

static void put_hosts(struct pl_json_out *out, const struct pl_ext_requirement *requirement)
{
    if (!requirement->n_hosts)
        return;
    pl_json_out_key(out, "hosts");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < requirement->n_hosts; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        spell_host(&text, &requirement->hosts[i]);
        pl_json_out_text(out, pl_buf_str(&text));
    }
    pl_json_out_close(out, ']');
}

static const char *decision_word(enum pl_ext_decision decision)
{
    static const char *const words[] = {
        [PL_EXT_ALLOW] = "allow", [PL_EXT_ASK] = "ask", [PL_EXT_DENY] = "deny"};
    return words[decision];
}

/* Whether the previous version required this too. */
static bool was_asked(const struct pl_ext_manifest *before, struct pl_ext_requirement *requirement)
{
    struct pl_ext_manifest one = {.requirements = requirement, .n = 1};
    return pl_ext_manifest_covers(before, &one);
}

void pl_extension_write_capabilities(struct pl_json_out *out, const struct pl_ext_package *package,
                                     const struct pl_ext_manifest *before)
{
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < package->manifest.n; i++) {
        const struct pl_ext_requirement *requirement = &package->manifest.requirements[i];
        struct pl_str name = pl_str_of(pl_ext_capability_name(requirement->capability));
        enum pl_ext_reason reason = pl_ext_policy_judge(&package->policy, name);
        pl_json_out_open(out, '{');
        pl_put_text(out, "capability", name);
        put_texts(out, "methods", &requirement->methods);
        put_texts(out, "paths", &requirement->paths);
        put_hosts(out, requirement);
        put_texts(out, "env", &requirement->env);
        pl_put_text(out, "decision", pl_str_of(decision_word(pl_ext_reason_decision(reason))));
        pl_put_text(out, "reason", pl_str_of(pl_ext_reason_text(reason)));
        if (before && !was_asked(before, &package->manifest.requirements[i]))
            pl_put_text(out, "new_since_version", package->version);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

static void say_list(struct pl_buf *to, const char *what, const struct pl_ext_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        pl_buf_adds(to, i ? ", " : what);
        pl_buf_add(to, texts->items[i]);
    }
}

void pl_extension_say_capabilities(struct pl_buf *to, const struct pl_ext_manifest *manifest)
{
    for (size_t i = 0; i < manifest->n; i++) {
        const struct pl_ext_requirement *requirement = &manifest->requirements[i];
        pl_buf_adds(to, i ? "; " : "");
        pl_buf_adds(to, pl_ext_capability_name(requirement->capability));
        say_list(to, " by ", &requirement->methods);
        say_list(to, " in ", &requirement->paths);
        for (size_t k = 0; k < requirement->n_hosts; k++) {
            pl_buf_adds(to, k ? ", " : " to ");
            spell_host(to, &requirement->hosts[k]);
        }
        say_list(to, " of ", &requirement->env);
    }
}

/* --- what it has registered ------------------------------------------------------------------- */

/* The names in a list of the last registration; empty before the first. */
static void put_names(struct pl_json_out *out, const char *name, const struct pl_json_doc *doc,
                      const char *list_name)
{
    const struct pl_json_node *list =
        doc->root ? pl_json_member(doc, doc->root, list_name, PL_JSON_ARRAY) : NULL;
    pl_json_out_key(out, name);
    pl_json_out_open(out, '[');
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        const struct pl_json_node *text =
            pl_json_is(n, PL_JSON_STRING) ? n : pl_json_member(doc, n, "name", PL_JSON_STRING);
        if (text)
            pl_json_out_raw(out, pl_json_span(doc, text));
    }
    pl_json_out_close(out, ']');
}

static void put_tools(struct pl_json_out *out, const struct pl_extension_tool_row *tools, size_t n)
{
    pl_json_out_key(out, "tools");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        pl_json_out_open(out, '{');
        pl_put_text(out, "name", tools[i].name);
        pl_put_text(out, "hash", tools[i].seen);
        pl_put_bool(out, "is_withheld", !pl_str_eq(tools[i].seen, tools[i].accepted));
        pl_put_raw(out, "definition", tools[i].definition);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

static void put_lines(struct pl_json_out *out, const char *name, struct pl_str lines)
{
    pl_json_out_key(out, name);
    pl_lines_write(out, lines);
}

/* The notes of the package: what its adapter does not support. */
static void put_notes(struct pl_json_out *out, struct pl_exchange *x,
                      const struct pl_ext_package *package)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    struct pl_json_doc doc;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%.*s/%s", PL_STR_ARG(package->dir), PL_EXT_NOTES);
    pl_buf_addc(&path, '\0');
    bool is_read = path.status == PL_OK &&
                   pl_file_read(path.ptr, NOTES_BYTES, NULL, &file, NULL) == PL_OK &&
                   pl_json_parse(&x->arena, file.bytes, NULL, &doc, NULL) == PL_OK &&
                   pl_json_kind(doc.root) == PL_JSON_ARRAY;
    pl_put_raw(out, "notes", is_read ? pl_json_span(&doc, doc.root) : PL_STR("[]"));
}

void pl_extension_write(struct pl_json_out *out, struct pl_exchange *x,
                        const struct pl_extension_row *row,
                        const struct pl_extension_tool_row *tools, size_t n_tools)
{
    struct pl_ext_package package;
    struct pl_json_doc registered = {0};
    struct pl_error err = {0};
    enum pl_status status =
        pl_ext_package_of_row(&x->arena, x->setup->config.data_dir, row, &package, &err);
    if (row->registered.ptr &&
        pl_json_parse(&x->arena, row->registered, &pl_json_own, &registered, NULL) != PL_OK)
        registered.root = NULL;
    char why[256];
    bool is_quarantined = false;
    size_t n_quarantined = pl_ext_quarantines(x->shard->server->ext, row->id, x->caller.user_id,
                                              &is_quarantined, why, sizeof why);
    is_quarantined &= pl_str_eq(row->state, PL_STR("enabled"));
    bool is_here = status != PL_OK || pl_ext_package_is_here(&package);
    pl_json_out_open(out, '{');
    pl_put_text(out, "id", row->id);
    pl_put_text(out, "name", row->name);
    pl_put_text(out, "version", row->version);
    pl_put_text(out, "description", status == PL_OK ? package.description : PL_STR(""));
    pl_put_text(out, "runtime", row->runtime);
    pl_put_text(out, "state", is_quarantined ? PL_STR("quarantined") : row->state);
    pl_put_bool(out, "is_installed", is_here);
    if (x->caller.is_admin)
        pl_put_int(out, "quarantined_users", (int64_t)n_quarantined);
    pl_put_text(out, "artifact", row->artifact);
    pl_put_text(out, "manifest_hash", row->manifest_hash);
    pl_put_text(out, "profile", row->profile);
    put_lines(out, "granted", row->granted);
    put_lines(out, "denied", row->denied);
    pl_json_out_key(out, "capabilities");
    struct pl_ext_package before;
    bool has_before = row->before_manifest.len &&
                      pl_ext_package_read(&x->arena, row->before_manifest, &before, NULL) == PL_OK;
    if (status == PL_OK)
        pl_extension_write_capabilities(out, &package, has_before ? &before.manifest : NULL);
    else
        pl_json_out_raw(out, PL_STR("[]"));
    if (tools || !n_tools) {
        put_tools(out, tools, n_tools);
        if (status == PL_OK)
            put_notes(out, x, &package);
    }
    put_names(out, "commands", &registered, "slash_commands");
    put_names(out, "hooks", &registered, "event_hooks");
    pl_put_text(out, "source", row->source);
    pl_put_text(out, "last_error",
                status != PL_OK  ? pl_str_of(err.message)
                : is_quarantined ? pl_str_of(why)
                : !is_here       ? PL_STR(PL_EXT_NOT_HERE)
                                 : row->last_error);
    if (has_before)
        pl_put_text(out, "version_before", row->before_version);
    pl_ext_sandbox_write(x->shard->server->ext, row->id, x->caller.user_id,
                         pl_str_eq(row->runtime, PL_STR("remote")), out);
    pl_put_int(out, "revision", row->revision);
    pl_put_time(out, "created_at", row->created_ms);
    pl_put_time(out, "updated_at", row->updated_ms);
    pl_json_out_close(out, '}');
}

bool pl_extension_find(struct pl_exchange *x, struct pl_extension_row *ret_row)
{
    struct pl_error err = {0};
    enum pl_status status =
        pl_store_extension_get(x->shard->server->store, &x->arena, x->args[0], ret_row, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

void pl_extension_tell(struct pl_exchange *x, struct pl_str id)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_extension_row row;
    struct pl_extension_tool_row *tools = NULL;
    size_t n_tools = 0;
    struct pl_error err = {0};
    enum pl_status status = pl_store_extension_get(store, &x->arena, id, &row, &err);
    if (status == PL_OK)
        status = pl_store_extension_tools(store, &x->arena, id, &tools, &n_tools, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_extension_write(&out, x, &row, tools, n_tools);
}
