/* parley ext add and update: shows what an extension may do, asks for consent, and sends the
 * package. */
#include "app/extension/ext_int.h"

#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "json/text.h"

#include <stdio.h>
#include <unistd.h>

static void put_list(struct pl_console *console, const char *what, const struct pl_ext_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        pl_console_puts(console, i ? ", " : what);
        pl_console_put_safe(console, texts->items[i]);
    }
}

static void put_hosts(struct pl_console *console, const struct pl_ext_requirement *requirement)
{
    for (size_t i = 0; i < requirement->n_hosts; i++) {
        const struct pl_ext_host *host = &requirement->hosts[i];
        pl_console_puts(console, i ? ", " : " to ");
        pl_console_puts(console, host->is_plain ? "http://" : "");
        pl_console_puts(console, host->is_suffix ? "*." : "");
        pl_console_put_safe(console, host->host);
        if (host->port != (host->is_plain ? 80 : 443))
            pl_console_putf(console, ":%d", (int)host->port);
    }
}

/* A walk through the values of all uses of an option; each may be several names with commas. */
struct names {
    const struct pl_deed *deed;
    enum pl_option_id id;
    size_t n_uses;  /* seen */
    const char *at; /* the rest of the current one; NULL before the first */
};

static bool next_name(struct names *walk, struct pl_str *ret_name)
{
    while (!walk->at || !*walk->at) {
        if (walk->n_uses == walk->deed->args->uses.len)
            return false;
        const struct pl_option_use *use = &walk->deed->args->uses.ptr[walk->n_uses++];
        if (use->option->id == walk->id)
            walk->at = use->values[0];
    }
    size_t n = strcspn(walk->at, ",");
    *ret_name = (struct pl_str){walk->at, n};
    walk->at += n + (walk->at[n] == ',');
    return true;
}

/* The capabilities that an option names; the server refuses unknown names. */
static uint32_t named_set(const struct pl_deed *deed, enum pl_option_id id)
{
    uint32_t set = 0;
    struct pl_str name;
    struct names walk = {.deed = deed, .id = id};
    while (next_name(&walk, &name)) {
        enum pl_ext_capability c = pl_ext_capability_find(name);
        set |= c == PL_EXT_CAP_NONE ? 0 : PL_EXT_CAP_BIT(c);
    }
    return set;
}

/* Prints a line for each requirement, with the decision of the policy. */
static void show(struct pl_deed *deed, const struct pl_ext_source *source, const char *profile)
{
    static const char *const words[] = {
        [PL_EXT_ALLOW] = "allowed", [PL_EXT_ASK] = "asks each time", [PL_EXT_DENY] = "denied"};
    const struct pl_ext_package *package = &source->package;
    struct pl_console *console = deed->console;
    struct pl_ext_policy policy;
    if (!pl_ext_policy_of_profile(pl_str_of(profile), &policy))
        policy = (struct pl_ext_policy){0};
    policy.extension_allow = named_set(deed, PL_OPT_GRANT);
    policy.extension_deny = named_set(deed, PL_OPT_DENY);
    pl_console_put_safe(console, package->id);
    pl_console_puts(console, " ");
    pl_console_put_safe(console, package->version);
    pl_console_putf(console, " (%s, profile %s) may:\n", pl_ext_runtime_word(package->runtime),
                    profile);
    for (size_t i = 0; i < package->manifest.n; i++) {
        const struct pl_ext_requirement *requirement = &package->manifest.requirements[i];
        struct pl_str name = pl_str_of(pl_ext_capability_name(requirement->capability));
        enum pl_ext_reason reason = pl_ext_policy_judge(&policy, name);
        pl_console_putf(console, "  %-8.*s %s", PL_STR_ARG(name),
                        words[pl_ext_reason_decision(reason)]);
        put_list(console, "; by ", &requirement->methods);
        put_list(console, "; in ", &requirement->paths);
        put_hosts(console, requirement);
        put_list(console, "; of ", &requirement->env);
        pl_console_puts(console, "\n");
    }
}

static enum pl_exit ask_person(struct pl_deed *deed)
{
    if (pl_args_has(deed->args, PL_OPT_YES))
        return PL_EXIT_OK;
    if (!isatty(STDIN_FILENO) || !deed->console->err_is_terminal)
        return pl_deed_usage(deed, "a person must accept the extension, and there is no terminal "
                                   "to ask; --yes accepts what is shown above");
    if (pl_console_ask(deed->console, "Accept?"))
        return PL_EXIT_OK;
    pl_console_say(deed->console, "nothing was changed");
    return PL_EXIT_NO;
}

/* --- the request ------------------------------------------------------------------------------ */

static void out_file(struct pl_json_out *out, const struct pl_ext_file *file)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "path");
    pl_json_out_text(out, file->path);
    if (!memchr(file->bytes.ptr ? file->bytes.ptr : "", 0, file->bytes.len) &&
        pl_utf8_is_valid(file->bytes)) {
        pl_json_out_key(out, "content");
        pl_json_out_text(out, file->bytes);
    } else {
        PL_CLEANUP_BUF struct pl_buf encoded;
        pl_buf_init(&encoded, 0);
        pl_base64_encode(&encoded, file->bytes);
        pl_json_out_key(out, "content_base64");
        pl_json_out_text(out, pl_buf_str(&encoded));
        if (encoded.status != PL_OK)
            out->buf->status = encoded.status;
    }
    if (file->is_executable) {
        pl_json_out_key(out, "executable");
        pl_json_out_bool(out, true);
    }
    pl_json_out_close(out, '}');
}

static void out_names(struct pl_deed *deed, enum pl_option_id id, const char *member)
{
    struct pl_str name;
    struct names walk = {.deed = deed, .id = id};
    if (!pl_args_has(deed->args, id))
        return;
    pl_json_out_key(&deed->out, member);
    pl_json_out_open(&deed->out, '[');
    while (next_name(&walk, &name))
        pl_json_out_text(&deed->out, name);
    pl_json_out_close(&deed->out, ']');
}

static void out_package(struct pl_deed *deed, const struct pl_ext_source *source)
{
    if (source->dir && deed->api.is_local) {
        pl_json_out_key(&deed->out, "path");
        pl_json_out_text(&deed->out, pl_str_of(source->dir));
        return;
    }
    pl_json_out_key(&deed->out, "files");
    pl_json_out_open(&deed->out, '[');
    for (size_t i = 0; i < source->tree.n; i++)
        out_file(&deed->out, &source->tree.files[i]);
    pl_json_out_close(&deed->out, ']');
}

static enum pl_exit send(struct pl_deed *deed, const struct pl_ext_source *source, bool is_update)
{
    const char *profile = pl_deed_option(deed, PL_OPT_PROFILE);
    pl_json_out_open(&deed->out, '{');
    out_package(deed, source);
    pl_json_out_key(&deed->out, "accepts");
    pl_json_out_text(&deed->out, pl_str_of(source->package.manifest_hash));
    pl_json_out_key(&deed->out, "source");
    pl_json_out_text(&deed->out, pl_str_slice(source->says, 0, 1000));
    pl_json_out_key(&deed->out, "update");
    pl_json_out_bool(&deed->out, is_update);
    if (profile) {
        pl_json_out_key(&deed->out, "profile");
        pl_json_out_text(&deed->out, pl_str_of(profile));
    }
    out_names(deed, PL_OPT_GRANT, "grant");
    out_names(deed, PL_OPT_DENY, "deny");
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/extensions");
    if (code != PL_EXIT_OK)
        return code;
    return pl_deed_done(deed, "%s %.*s", is_update ? "updated" : "added",
                        PL_STR_ARG(source->package.id));
}

/* --- the verbs -------------------------------------------------------------------------------- */

static enum pl_exit find_word(struct pl_deed *deed, const char **ret_word)
{
    *ret_word = NULL;
    if (pl_args_has(deed->args, PL_OPT_MCP))
        return PL_EXIT_OK;
    static const enum pl_option_id ids[] = {PL_OPT_READ, PL_OPT_WRITE, PL_OPT_HOST, PL_OPT_ENV};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (pl_args_has(deed->args, ids[i]))
            return pl_deed_usage(deed, "--read, --write, --host and --env work only with --mcp; "
                                       "other extensions declare this in their extension.json");
    if (deed->n_words != 1)
        return pl_deed_usage(deed, "one SOURCE is needed: a directory, a file.ts of pi, or the "
                                   "name of a shipped extension");
    *ret_word = deed->words[0];
    return PL_EXIT_OK;
}

enum pl_exit pl_ext_run_add(struct pl_deed *deed)
{
    struct pl_ext_source source;
    const char *word, *profile = pl_deed_option(deed, PL_OPT_PROFILE);
    enum pl_exit code = find_word(deed, &word);
    if (code != PL_EXIT_OK)
        return code;
    code = pl_ext_source_read(deed, word, &source);
    if (code == PL_EXIT_OK) {
        if (!deed->api.is_json)
            show(deed, &source, profile ? profile : pl_ext_profile_names[0]);
        code = ask_person(deed);
    }
    if (code == PL_EXIT_OK)
        code = send(deed, &source, false);
    pl_ext_source_drop(&source);
    return code;
}

/* Whether the server has already accepted this manifest: the hashes are equal. */
static enum pl_exit is_accepted(struct pl_deed *deed, const struct pl_ext_source *source,
                                bool *ret_is_accepted)
{
    const char *id = pl_deed_keep(deed, source->package.id);
    const char *path = id ? pl_api_path(&deed->api, "/api/extensions/%", id, NULL) : NULL;
    enum pl_exit code = path ? pl_deed_ask(deed, "GET", path) : pl_deed_stop(deed, PL_NOMEM);
    *ret_is_accepted =
        code == PL_EXIT_OK && pl_str_eq(pl_deed_text(deed, deed->answer.root, "manifest_hash"),
                                        pl_str_of(source->package.manifest_hash));
    return code;
}

enum pl_exit pl_ext_run_update(struct pl_deed *deed)
{
    struct pl_ext_source source;
    const char *word, *profile = pl_deed_option(deed, PL_OPT_PROFILE);
    bool is_accepted_already = false;
    enum pl_exit code = find_word(deed, &word);
    if (code != PL_EXIT_OK)
        return code;
    code = pl_ext_source_read(deed, word, &source);
    if (code == PL_EXIT_OK)
        code = is_accepted(deed, &source, &is_accepted_already);
    if (code == PL_EXIT_OK && !is_accepted_already) {
        if (!deed->api.is_json)
            show(deed, &source,
                 profile ? profile
                         : pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "profile")));
        code = ask_person(deed);
    }
    if (code == PL_EXIT_OK)
        code = send(deed, &source, true);
    pl_ext_source_drop(&source);
    return code;
}
