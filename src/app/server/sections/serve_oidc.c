/* Reads `oidc:`. A table has a row for each member; their combination is checked afterwards. */
#include "app/server/sections/serve_oidc.h"

#include "access/oidc/provider.h"
#include "app/server/sections/secret_file.h"
#include "app/server/serve_config.h"
#include "base/text/suggest.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_GROUPS = 256, MAX_LEEWAY_S = 600 };

enum member_kind { MEMBER_TEXT, MEMBER_GROUPS, MEMBER_FLAG, MEMBER_SECONDS, MEMBER_SECRET };

static const struct member {
    const char *name;
    enum member_kind kind;
    size_t place; /* offset in pl_oidc_config; for a secret the index in `secrets` */
} members[] = {
    {"issuer", MEMBER_TEXT, offsetof(struct pl_oidc_config, issuer)},
    {"client_id", MEMBER_TEXT, offsetof(struct pl_oidc_config, client_id)},
    {"client_secret_file", MEMBER_SECRET, 0},
    {"client_secret_env", MEMBER_SECRET, 1},
    {"scopes", MEMBER_TEXT, offsetof(struct pl_oidc_config, scopes)},
    {"groups_claim", MEMBER_TEXT, offsetof(struct pl_oidc_config, groups_claim)},
    {"name_claim", MEMBER_TEXT, offsetof(struct pl_oidc_config, name_claim)},
    {"allowed_groups", MEMBER_GROUPS, offsetof(struct pl_oidc_config, allowed_groups)},
    {"admin_groups", MEMBER_GROUPS, offsetof(struct pl_oidc_config, admin_groups)},
    {"ca_file", MEMBER_TEXT, offsetof(struct pl_oidc_config, ca_file)},
    {"link_existing", MEMBER_FLAG, offsetof(struct pl_oidc_config, links_existing)},
    {"leeway_s", MEMBER_SECONDS, offsetof(struct pl_oidc_config, leeway_ms)},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

struct oidc_reading {
    const struct pl_serve_models_source *source;
    struct pl_oidc_config *config;
    const char *secrets[2]; /* the file, the variable */
    char place[4096];       /* the file, and the current line */
};

/* --- one member ------------------------------------------------------------------------------ */

static enum pl_status read_text(const struct oidc_reading *r, const struct pl_json_node *node,
                                const char *name, const char **ret, struct pl_error *err)
{
    struct pl_str text;
    if (pl_json_kind(node) != PL_JSON_STRING)
        return pl_fail(err, PL_INVALID, "%s: oidc.%s must be a text, not %s", r->place, name,
                       pl_json_kind_name(pl_json_kind(node)));
    if (pl_json_text(r->source->arena, r->source->file, node, &text) != PL_OK)
        return PL_NOMEM;
    if (!text.len || memchr(text.ptr, '\0', text.len))
        return pl_fail(err, PL_INVALID, "%s: oidc.%s is empty", r->place, name);
    char *copy = pl_arena_alloc(r->source->arena, text.len + 1, 1);
    if (!copy)
        return PL_NOMEM;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret = copy;
    return PL_OK;
}

/* An empty list is an error: it would lock out everybody, or nobody. */
static enum pl_status read_groups(const struct oidc_reading *r, const struct pl_json_node *node,
                                  const char *name, const char *const **ret, struct pl_error *err)
{
    bool is_list = pl_json_kind(node) == PL_JSON_ARRAY;
    size_t n = is_list ? pl_json_count(node) : 1, i = 0;
    if (!n || n > MAX_GROUPS)
        return pl_fail(err, PL_INVALID, "%s: oidc.%s must have 1 to %d names; leave it out instead",
                       r->place, name, MAX_GROUPS);
    const char **texts = pl_arena_zalloc(r->source->arena, n + 1, sizeof *texts);
    if (!texts)
        return PL_NOMEM;
    enum pl_status status = is_list ? PL_OK : read_text(r, node, name, &texts[0], err);
    for (const struct pl_json_node *one = pl_json_first(node);
         is_list && status == PL_OK && one < pl_json_end(node); one = pl_json_next(one))
        status = read_text(r, one, name, &texts[i++], err);
    *ret = texts;
    return status;
}

static enum pl_status read_seconds(const struct oidc_reading *r, const struct pl_json_node *node,
                                   const char *name, int64_t *ret_ms, struct pl_error *err)
{
    int64_t s = -1;
    if (pl_json_kind(node) != PL_JSON_NUMBER ||
        !pl_json_number_int64(pl_json_span(r->source->file, node), &s) || s < 0 || s > MAX_LEEWAY_S)
        return pl_fail(err, PL_INVALID, "%s: oidc.%s must be a whole number from 0 to %d", r->place,
                       name, MAX_LEEWAY_S);
    *ret_ms = s * 1000;
    return PL_OK;
}

static enum pl_status read_member(struct oidc_reading *r, const struct member *member,
                                  const struct pl_json_node *node, struct pl_error *err)
{
    void *place = (char *)r->config + member->place;
    switch (member->kind) {
    case MEMBER_TEXT:
        return read_text(r, node, member->name, place, err);
    case MEMBER_SECRET:
        return read_text(r, node, member->name, &r->secrets[member->place], err);
    case MEMBER_GROUPS:
        return read_groups(r, node, member->name, place, err);
    case MEMBER_SECONDS:
        return read_seconds(r, node, member->name, place, err);
    case MEMBER_FLAG:
        if (pl_json_kind(node) != PL_JSON_TRUE && pl_json_kind(node) != PL_JSON_FALSE)
            return pl_fail(err, PL_INVALID, "%s: oidc.%s must be true or false", r->place,
                           member->name);
        *(bool *)place = pl_json_kind(node) == PL_JSON_TRUE;
        return PL_OK;
    }
    return PL_INTERNAL;
}

/* Sets the position for the next error message. */
static void go_to(struct oidc_reading *r, const char *below)
{
    size_t line = pl_serve_config_line(r->source->yaml, "oidc", below);
    int n = snprintf(r->place, sizeof r->place, "%s", r->source->path);
    if (line && n > 0 && (size_t)n < sizeof r->place)
        snprintf(r->place + n, sizeof r->place - (size_t)n, ", line %zu", line);
}

static enum pl_status read_members(struct oidc_reading *r, const struct pl_json_node *object,
                                   struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key)) {
        struct pl_str name = pl_json_raw(r->source->file, key);
        struct pl_suggest suggest = pl_suggest(name);
        const struct member *member = NULL;
        for (size_t i = 0; i < N_MEMBERS && !member; i++) {
            member = pl_str_eq(name, pl_str_of(members[i].name)) ? &members[i] : NULL;
            pl_suggest_offer(&suggest, members[i].name);
        }
        go_to(r, member ? member->name : NULL);
        if (!member)
            return pl_fail(err, PL_INVALID, "%s: oidc has no \"%.*s\"%s%s%s", r->place,
                           PL_STR_ARG(name), suggest.best ? "; did you mean \"" : "",
                           suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
        status = read_member(r, member, key + 1, err);
    }
    return status;
}

/* --- all of them ----------------------------------------------------------------------------- */

static enum pl_status find_secret(struct oidc_reading *r, struct pl_error *err)
{
    const char *file = r->secrets[0], *variable = r->secrets[1];
    go_to(r, NULL);
    if (file && variable)
        return pl_fail(err, PL_INVALID,
                       "%s: oidc has both client_secret_file and client_secret_env; give only one",
                       r->place);
    r->config->secret_from = file ? file : variable;
    if (file)
        return pl_secret_file_read(r->source->arena, file, "client's secret",
                                   &r->config->client_secret, err);
    const char *secret = variable ? getenv(variable) : NULL;
    if (variable && (!secret || !*secret))
        return pl_fail(err, PL_INVALID,
                       "%s: oidc takes the client's secret from %s, which is not set", r->place,
                       variable);
    r->config->client_secret = secret;
    return PL_OK;
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n)
        if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static bool is_claim(const char *name)
{
    return name[0] != '/' || pl_json_pointer_is_valid(pl_str_of(name));
}

static enum pl_status check(struct oidc_reading *r, struct pl_error *err)
{
    const struct pl_oidc_config *config = r->config;
    go_to(r, NULL);
    if (!config->issuer || !config->client_id)
        return pl_fail(err, PL_INVALID, "%s: oidc needs an issuer and a client_id", r->place);
    go_to(r, "issuer");
    if (!pl_oidc_url_is_good(config->issuer) || strchr(config->issuer, '?'))
        return pl_fail(err, PL_INVALID,
                       "%s: oidc.issuer must be an https URL (http only on this machine) without "
                       "password, query and fragment, such as https://login.example.org",
                       r->place);
    go_to(r, "scopes");
    if (!has_word(config->scopes, "openid"))
        return pl_fail(err, PL_INVALID, "%s: oidc.scopes must have openid", r->place);
    go_to(r, "groups_claim");
    if (!is_claim(config->groups_claim) || !is_claim(config->name_claim))
        return pl_fail(err, PL_INVALID,
                       "%s: a claim that begins with a slash must be a JSON Pointer, such as "
                       "/realm_access/roles",
                       r->place);
    return PL_OK;
}

enum pl_status pl_serve_oidc_read(const struct pl_serve_models_source *source,
                                  const struct pl_oidc_config **ret_config, struct pl_error *err)
{
    const struct pl_json_doc *file = source->file;
    const struct pl_json_node *object =
        file && file->root ? pl_json_get(file, file->root, PL_STR("oidc")) : NULL;
    struct oidc_reading r = {.source = source};
    *ret_config = NULL;
    if (!object || pl_json_kind(object) == PL_JSON_NULL)
        return PL_OK;
    go_to(&r, NULL);
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s: oidc must be {issuer: …, client_id: …}", r.place);
    r.config = pl_arena_zalloc(source->arena, 1, sizeof *r.config);
    if (!r.config)
        return PL_NOMEM;
    *r.config = (struct pl_oidc_config){
        .scopes = "openid profile email",
        .groups_claim = "groups",
        .name_claim = "preferred_username",
        .leeway_ms = 60000,
    };
    enum pl_status status = read_members(&r, object, err);
    if (status == PL_OK)
        status = check(&r, err);
    if (status == PL_OK)
        status = find_secret(&r, err);
    if (status == PL_OK)
        *ret_config = r.config;
    return status;
}

/* --- comparing and showing ------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_list(const char *const *a, const char *const *b)
{
    size_t i = 0;
    if (!a || !b)
        return a == b;
    while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return !a[i] && !b[i];
}

bool pl_serve_oidc_is_same(const struct pl_oidc_config *a, const struct pl_oidc_config *b)
{
    if (!a || !b)
        return a == b;
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const void *at_a = (const char *)a + members[i].place;
        const void *at_b = (const char *)b + members[i].place;
        if ((members[i].kind == MEMBER_TEXT &&
             !is_same_text(*(const char *const *)at_a, *(const char *const *)at_b)) ||
            (members[i].kind == MEMBER_GROUPS &&
             !is_same_list(*(const char *const *const *)at_a, *(const char *const *const *)at_b)))
            return false;
    }
    return is_same_text(a->client_secret, b->client_secret) &&
           is_same_text(a->secret_from, b->secret_from) && a->links_existing == b->links_existing &&
           a->leeway_ms == b->leeway_ms;
}

void pl_serve_oidc_print(struct pl_console *console, const struct pl_oidc_config *config)
{
    if (!config)
        return;
    pl_console_puts(console, "oidc: ");
    pl_console_put_safe(console, pl_str_of(config->issuer));
    pl_console_puts(console, " as ");
    pl_console_put_safe(console, pl_str_of(config->client_id));
    pl_console_puts(console, config->secret_from ? ", secret from " : ", without a secret");
    pl_console_put_safe(console, pl_str_of(config->secret_from));
    pl_console_puts(console, "\n");
}

void pl_serve_oidc_write(struct pl_json_out *out, const struct pl_oidc_config *config)
{
    pl_json_out_key(out, "oidc");
    if (!config) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const void *place = (const char *)config + members[i].place;
        if (members[i].kind == MEMBER_SECRET)
            continue;
        pl_json_out_key(out, members[i].name);
        const char *const *groups =
            members[i].kind == MEMBER_GROUPS ? *(const char *const *const *)place : NULL;
        const char *text = members[i].kind == MEMBER_TEXT ? *(const char *const *)place : NULL;
        if (groups) {
            pl_json_out_open(out, '[');
            for (; *groups; groups++)
                pl_json_out_text(out, pl_str_of(*groups));
            pl_json_out_close(out, ']');
        } else if (text) {
            pl_json_out_text(out, pl_str_of(text));
        } else if (members[i].kind == MEMBER_FLAG) {
            pl_json_out_raw(out, *(const bool *)place ? PL_STR("true") : PL_STR("false"));
        } else if (members[i].kind == MEMBER_SECONDS) {
            char digits[24];
            snprintf(digits, sizeof digits, "%lld", (long long)*(const int64_t *)place / 1000);
            pl_json_out_raw(out, pl_str_of(digits));
        } else {
            pl_json_out_null(out);
        }
    }
    pl_json_out_key(out, "secret_from");
    if (config->secret_from)
        pl_json_out_text(out, pl_str_of(config->secret_from));
    else
        pl_json_out_null(out);
    pl_json_out_close(out, '}');
}
