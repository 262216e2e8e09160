/* The standing of an extension: what it may do, what requires a question, what is denied and
 * why; its tools and hooks. Used for the answer to its registration and for `explain`. */
#include "ext/run/ext_int.h"

/* Capabilities that a remote extension cannot have: it has no cell. */
static bool needs_cell(enum pl_ext_capability capability)
{
    static const uint32_t of_cells =
        PL_EXT_CAP_BIT(PL_EXT_CAP_READ) | PL_EXT_CAP_BIT(PL_EXT_CAP_WRITE) |
        PL_EXT_CAP_BIT(PL_EXT_CAP_EXEC) | PL_EXT_CAP_BIT(PL_EXT_CAP_ENV) |
        PL_EXT_CAP_BIT(PL_EXT_CAP_HTTP);
    return of_cells & PL_EXT_CAP_BIT(capability);
}

enum pl_ext_reason pl_ext_standing_judge(const struct pl_ext_standing *standing,
                                         enum pl_ext_capability capability)
{
    uint32_t bit = PL_EXT_CAP_BIT(capability);
    const struct pl_ext_manifest *manifests[] = {
        &standing->known->package.manifest,
        standing->registered ? &standing->registered->said.manifest : NULL,
        standing->first ? &standing->first->said.manifest : NULL,
    };
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++)
        if (manifests[i] && !(pl_ext_manifest_capabilities(manifests[i]) & bit))
            return PL_EXT_REASON_NOT_DECLARED;
    if (standing->is_remote && needs_cell(capability))
        return PL_EXT_REASON_REMOTE;
    return pl_ext_policy_judge(&standing->known->package.policy,
                               pl_str_of(pl_ext_capability_name(capability)));
}

static void write_texts(struct pl_json_out *out, const char *key, const struct pl_ext_texts *texts)
{
    if (!texts->is_given)
        return;
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < texts->n; i++)
        pl_json_out_text(out, texts->items[i]);
    pl_json_out_close(out, ']');
}

static void write_hosts(struct pl_json_out *out, const struct pl_ext_requirement *one)
{
    if (!one->n_hosts)
        return;
    pl_json_out_key(out, "hosts");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < one->n_hosts; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_buf_addf(&text, "%s%s%.*s", one->hosts[i].is_plain ? "http://" : "",
                    one->hosts[i].is_suffix ? "*." : "", PL_STR_ARG(one->hosts[i].host));
        if (one->hosts[i].port != (one->hosts[i].is_plain ? 80 : 443))
            pl_buf_addf(&text, ":%d", (int)one->hosts[i].port);
        pl_json_out_text(out, pl_buf_str(&text));
    }
    pl_json_out_close(out, ']');
}

static void write_requirement(struct pl_json_out *out, const struct pl_ext_requirement *one)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "capability");
    pl_json_out_text(out, pl_str_of(pl_ext_capability_name(one->capability)));
    write_texts(out, "methods", &one->methods);
    if (one->paths.is_given || one->n_hosts || one->env.is_given) {
        pl_json_out_key(out, "scope");
        pl_json_out_open(out, '{');
        write_texts(out, "paths", &one->paths);
        write_hosts(out, one);
        write_texts(out, "env", &one->env);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, '}');
}

static void write_denied(struct pl_json_out *out, enum pl_ext_capability capability,
                         enum pl_ext_reason reason)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "capability");
    pl_json_out_text(out, pl_str_of(pl_ext_capability_name(capability)));
    pl_json_out_key(out, "reason");
    pl_json_out_text(out, pl_str_of(pl_ext_reason_text(reason)));
    pl_json_out_close(out, '}');
}

/* Its capabilities with this decision. */
static void write_decided(const struct pl_ext_standing *standing, const char *key,
                          enum pl_ext_decision decision, struct pl_json_out *out)
{
    const struct pl_ext_manifest *manifest = standing->registered
                                                 ? &standing->registered->said.manifest
                                                 : &standing->known->package.manifest;
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < manifest->n; i++) {
        const struct pl_ext_requirement *one = &manifest->requirements[i];
        enum pl_ext_reason reason = pl_ext_standing_judge(standing, one->capability);
        if (pl_ext_reason_decision(reason) != decision)
            continue;
        if (decision == PL_EXT_DENY)
            write_denied(out, one->capability, reason);
        else
            write_requirement(out, one);
    }
    pl_json_out_close(out, ']');
}

static void write_tools(const struct pl_ext_registered *r, struct pl_json_out *out)
{
    pl_json_out_key(out, "tools");
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < r->said.n_tools; i++) {
        const struct pl_ext_tool *tool = &r->said.tools[i];
        if (tool->refusal || r->is_withheld[i])
            continue;
        pl_json_out_key_str(out, tool->name);
        pl_json_out_text(out, tool->label.len ? tool->label : tool->name);
    }
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "refused_tools");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < r->said.n_tools; i++) {
        const struct pl_ext_tool *tool = &r->said.tools[i];
        if (!tool->refusal && !r->is_withheld[i])
            continue;
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "name");
        pl_json_out_text(out, tool->name);
        pl_json_out_key(out, "reason");
        pl_json_out_text(out, pl_str_of(tool->refusal ? tool->refusal
                                                      : "it has changed: a person must accept it"));
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

static void write_hooks(const struct pl_ext_registered *r, struct pl_json_out *out)
{
    pl_json_out_key(out, "hooks");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < r->said.n_subscriptions; i++) {
        const struct pl_ext_subscription *one = &r->said.subscriptions[i];
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        if (one->hook == PL_EXT_HOOK_COUNT)
            pl_buf_addf(&text, "bus:%.*s", PL_STR_ARG(one->glob));
        else
            pl_buf_addf(&text, "%s%s%.*s", pl_ext_hook_text(one->hook), one->glob.len ? ":" : "",
                        PL_STR_ARG(one->glob));
        pl_json_out_text(out, pl_buf_str(&text));
    }
    pl_json_out_close(out, ']');
    const struct {
        const char *key;
        const struct pl_str *items;
        size_t n;
    } lists[] = {{"denied_hooks", r->denied_hooks, r->n_denied_hooks},
                 {"unknown_hooks", r->said.unknown_hooks, r->said.n_unknown_hooks}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        pl_json_out_key(out, lists[i].key);
        pl_json_out_open(out, '[');
        for (size_t k = 0; k < lists[i].n; k++)
            pl_json_out_text(out, lists[i].items[k]);
        pl_json_out_close(out, ']');
    }
}

static void write_commands(const struct pl_ext_registered *r, struct pl_json_out *out)
{
    pl_json_out_key(out, "commands");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < r->said.n_commands; i++)
        pl_json_out_text(out, r->said.commands[i].name);
    pl_json_out_close(out, ']');
}

void pl_ext_standing_write(const struct pl_ext_standing *standing, struct pl_json_out *out)
{
    write_decided(standing, "granted", PL_EXT_ALLOW, out);
    write_decided(standing, "denied", PL_EXT_DENY, out);
    write_decided(standing, "asks", PL_EXT_ASK, out);
    if (!standing->registered)
        return;
    write_tools(standing->registered, out);
    write_commands(standing->registered, out);
    write_hooks(standing->registered, out);
}

/* Its state for this user, and the reason. */
static void write_state(struct pl_ext_server *host, const struct pl_ext_known *known,
                        struct pl_str user_id, struct pl_json_out *out)
{
    enum pl_ext_state state = pl_ext_known_state(known, user_id);
    char why[256] = "";
    bool is_mine = false;
    (void)pl_ext_quarantines(host, known->package.id, user_id, &is_mine, why, sizeof why);
    const struct {
        const char *key;
        struct pl_str value;
    } members[] = {
        {"id", known->package.id},
        {"name", known->package.name},
        {"version", known->package.version},
        {"description", known->package.description},
        {"state", pl_str_of(pl_ext_state_word(state))},
        {"last_error", is_mine             ? pl_str_of(why)
                       : known->is_missing ? PL_STR(PL_EXT_NOT_HERE)
                                           : PL_STR("")},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_json_out_key(out, members[i].key);
        pl_json_out_text(out, members[i].value);
    }
    pl_json_out_key(out, "is_installed");
    pl_json_out_bool(out, !known->is_missing);
    pl_ext_sandbox_write(host, known->package.id, user_id, !known->package.dir.len, out);
}

static void write_concern(struct pl_ext_server *host, const struct pl_ext_known *known,
                          struct pl_str user_id, struct pl_json_out *out)
{
    struct pl_ext_registered *registered = pl_ext_registered_of(host, known, user_id);
    struct pl_ext_standing standing = {
        .known = known, .registered = registered, .is_remote = !known->package.dir.len};
    const struct pl_ext_manifest *manifest =
        registered ? &registered->said.manifest : &known->package.manifest;
    static const char *const words[] = {
        [PL_EXT_ALLOW] = "allow", [PL_EXT_ASK] = "ask", [PL_EXT_DENY] = "deny"};
    pl_json_out_open(out, '{');
    write_state(host, known, user_id, out);
    pl_json_out_key(out, "capabilities");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < manifest->n; i++) {
        enum pl_ext_capability capability = manifest->requirements[i].capability;
        enum pl_ext_reason reason = pl_ext_standing_judge(&standing, capability);
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "capability");
        pl_json_out_text(out, pl_str_of(pl_ext_capability_name(capability)));
        pl_json_out_key(out, "decision");
        pl_json_out_text(out, pl_str_of(words[pl_ext_reason_decision(reason)]));
        pl_json_out_key(out, "reason");
        pl_json_out_text(out, pl_str_of(pl_ext_reason_text(reason)));
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
    pl_json_out_key(out, "tools");
    pl_json_out_open(out, '[');
    for (size_t i = 0; registered && i < registered->said.n_tools; i++)
        if (!registered->said.tools[i].refusal && !registered->is_withheld[i])
            pl_json_out_text(out, registered->said.tools[i].name);
    pl_json_out_close(out, ']');
    if (registered) {
        write_commands(registered, out);
    } else {
        pl_json_out_key(out, "commands");
        pl_json_out_raw(out, PL_STR("[]"));
    }
    pl_json_out_close(out, '}');
    pl_ext_registered_release(registered);
}

enum pl_status pl_ext_concerns_write(struct pl_ext_server *host, struct pl_str user_id,
                                     struct pl_buf *to)
{
    struct pl_ext_set *set = pl_ext_set_hold(host);
    struct pl_json_out out = pl_json_out(to);
    for (size_t i = 0, n = 0; i < set->n; i++) {
        if (set->items[i]->package.state == PL_EXT_STATE_DISABLED)
            continue;
        if (n++)
            pl_buf_addc(to, ',');
        out = pl_json_out(to);
        write_concern(host, set->items[i], user_id, &out);
    }
    pl_ext_set_release(set);
    return to->status;
}

enum pl_status pl_ext_explain(struct pl_ext_server *host, struct pl_str extension_id,
                              struct pl_str user_id, struct pl_buf *to)
{
    struct pl_ext_known *known = pl_ext_known_any(host, extension_id);
    if (!known)
        return PL_NOT_FOUND;
    struct pl_ext_registered *registered = pl_ext_registered_of(host, known, user_id);
    struct pl_ext_standing standing = {
        .known = known, .registered = registered, .is_remote = !known->package.dir.len};
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    write_state(host, known, user_id, &out);
    pl_json_out_key(&out, "profile");
    pl_json_out_text(&out, known->row.profile);
    pl_json_out_key(&out, "has_registered");
    pl_json_out_bool(&out, registered);
    pl_ext_standing_write(&standing, &out);
    pl_json_out_close(&out, '}');
    pl_ext_registered_release(registered);
    pl_ext_known_release(known);
    return to->status;
}
