/* A manifest is a list of requirements. A call is allowed if one requirement has its capability,
 * its method and its place. A refusal has the reason of the closest requirement. */
#include "extproto/manifest.h"

#include "extproto/path_scope.h"
#include "json/text.h"

#include <stdio.h>

struct reader {
    struct pl_arena *arena;        /* borrowed */
    const struct pl_json_doc *doc; /* borrowed */
    struct pl_error *err;          /* borrowed; may be NULL */
    char place[128];               /* pointer to the current requirement */
};

static enum pl_status no_memory(struct reader *r)
{
    return pl_fail(r->err, PL_NOMEM, "out of memory");
}

static enum pl_status refuse(struct reader *r, const char *member, size_t i, struct pl_str text,
                             const char *why)
{
    enum pl_status status =
        pl_fail(r->err, PL_INVALID, "\"%.*s\" %s", PL_STR_ARG(pl_str_slice(text, 0, 100)), why);
    pl_error_point(r->err, "%s/%s/%zu", r->place, member, i);
    return status;
}

/* Reads the strings of a list; an absent list stays absent. */
static enum pl_status read_texts(struct reader *r, const struct pl_json_node *object,
                                 const char *key, struct pl_ext_texts *ret_texts)
{
    const struct pl_json_node *list = pl_json_member(r->doc, object, key, PL_JSON_ARRAY);
    struct pl_ext_texts texts = {.is_given = list != NULL};
    if (!list) {
        *ret_texts = texts;
        return PL_OK;
    }
    texts.items = pl_arena_alloc(r->arena, pl_json_count(list) + 1, sizeof *texts.items);
    if (!texts.items)
        return no_memory(r);
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (pl_json_text(r->arena, r->doc, n, &texts.items[texts.n++]) != PL_OK)
            return no_memory(r);
    *ret_texts = texts;
    return PL_OK;
}

static enum pl_status check_paths(struct reader *r, const struct pl_ext_texts *paths)
{
    for (size_t i = 0; i < paths->n; i++) {
        const char *why = pl_ext_glob_refusal(paths->items[i]);
        if (why)
            return refuse(r, "scope/paths", i, paths->items[i], why);
    }
    return PL_OK;
}

static enum pl_status read_hosts(struct reader *r, const struct pl_json_node *scope,
                                 struct pl_ext_requirement *requirement)
{
    struct pl_ext_texts texts;
    enum pl_status status = read_texts(r, scope, "hosts", &texts);
    if (status != PL_OK || !texts.n)
        return status;
    requirement->hosts = pl_arena_alloc(r->arena, texts.n, sizeof *requirement->hosts);
    if (!requirement->hosts)
        return no_memory(r);
    for (; requirement->n_hosts < texts.n && status == PL_OK; requirement->n_hosts++) {
        size_t i = requirement->n_hosts;
        status = pl_ext_host_read(r->arena, texts.items[i], &requirement->hosts[i], r->err);
        if (status == PL_INVALID)
            pl_error_point(r->err, "%s/scope/hosts/%zu", r->place, i);
    }
    return status;
}

static enum pl_status check_env(struct reader *r, const struct pl_ext_texts *env)
{
    for (size_t i = 0; i < env->n; i++) {
        struct pl_str name = env->items[i];
        if (!name.len || memchr(name.ptr, '=', name.len) || memchr(name.ptr, 0, name.len))
            return refuse(r, "scope/env", i, name, "is no name of a variable");
    }
    return PL_OK;
}

static enum pl_status read_capability(struct reader *r, const struct pl_json_node *n,
                                      enum pl_ext_capability *ret_capability)
{
    struct pl_str name;
    if (pl_json_text(r->arena, r->doc, n, &name) != PL_OK)
        return no_memory(r);
    *ret_capability = pl_ext_capability_find(name);
    if (*ret_capability != PL_EXT_CAP_NONE)
        return PL_OK;
    enum pl_status status = pl_fail(r->err, PL_INVALID,
                                    "\"%.*s\" is not a capability; there are read, write, http, "
                                    "events, session, ui, exec, env, tool and log",
                                    PL_STR_ARG(pl_str_slice(name, 0, 100)));
    pl_error_point(r->err, "%s", r->place);
    return status;
}

static enum pl_status read_requirement(struct reader *r, const struct pl_json_node *n,
                                       struct pl_ext_requirement *ret_requirement)
{
    struct pl_ext_requirement requirement = {0};
    const struct pl_json_node *name = pl_json_member(r->doc, n, "capability", PL_JSON_STRING);
    const struct pl_json_node *scope = pl_json_member(r->doc, n, "scope", PL_JSON_OBJECT);
    if (!name) {
        enum pl_status status = pl_fail(r->err, PL_INVALID, "a requirement names its capability");
        pl_error_point(r->err, "%s/capability", r->place);
        return status;
    }
    enum pl_status status = read_capability(r, name, &requirement.capability);
    if (status == PL_OK)
        status = read_texts(r, n, "methods", &requirement.methods);
    if (status == PL_OK)
        status = read_texts(r, scope, "paths", &requirement.paths);
    if (status == PL_OK)
        status = check_paths(r, &requirement.paths);
    if (status == PL_OK)
        status = read_hosts(r, scope, &requirement);
    if (status == PL_OK)
        status = read_texts(r, scope, "env", &requirement.env);
    if (status == PL_OK)
        status = check_env(r, &requirement.env);
    if (status == PL_OK)
        *ret_requirement = requirement;
    return status;
}

typedef enum pl_status read_fn(struct reader *r, const struct pl_json_node *n,
                               struct pl_ext_requirement *ret_requirement);

static enum pl_status read_flat(struct reader *r, const struct pl_json_node *n,
                                struct pl_ext_requirement *ret_requirement)
{
    *ret_requirement = (struct pl_ext_requirement){0};
    return read_capability(r, n, &ret_requirement->capability);
}

static enum pl_status read_list(struct reader *r, const struct pl_json_node *list,
                                const char *place, read_fn *read, struct pl_ext_manifest *manifest)
{
    enum pl_status status = PL_OK;
    manifest->requirements =
        pl_arena_alloc(r->arena, pl_json_count(list) + 1, sizeof *manifest->requirements);
    if (!manifest->requirements)
        return no_memory(r);
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n), manifest->n++) {
        snprintf(r->place, sizeof r->place, "%s/%zu", place, manifest->n);
        status = read(r, n, &manifest->requirements[manifest->n]);
    }
    return status;
}

enum pl_status pl_ext_manifest_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_ext_manifest *ret_manifest, struct pl_error *err)
{
    static struct pl_ext_requirement const only_log = {.capability = PL_EXT_CAP_LOG};
    struct reader r = {.arena = arena, .doc = doc, .err = err};
    struct pl_ext_manifest manifest = {0};
    const struct pl_json_node *scoped =
        pl_json_member(doc, object, "capability_manifest", PL_JSON_OBJECT);
    const struct pl_json_node *list = pl_json_member(doc, scoped, "capabilities", PL_JSON_ARRAY);
    const struct pl_json_node *flat = pl_json_member(doc, object, "capabilities", PL_JSON_ARRAY);
    enum pl_status status = PL_OK;
    if (list) {
        status =
            read_list(&r, list, "/capability_manifest/capabilities", read_requirement, &manifest);
    } else if (flat) {
        status = read_list(&r, flat, "/capabilities", read_flat, &manifest);
    } else {
        manifest.requirements = pl_arena_alloc(arena, 1, sizeof *manifest.requirements);
        if (!manifest.requirements)
            return no_memory(&r);
        manifest.requirements[manifest.n++] = only_log;
    }
    if (status == PL_OK)
        *ret_manifest = manifest;
    return status;
}

uint32_t pl_ext_manifest_capabilities(const struct pl_ext_manifest *manifest)
{
    uint32_t set = 0;
    for (size_t i = 0; i < manifest->n; i++)
        set |= PL_EXT_CAP_BIT(manifest->requirements[i].capability);
    return set;
}

static bool has_text(const struct pl_ext_texts *texts, struct pl_str text)
{
    for (size_t i = 0; i < texts->n; i++)
        if (pl_str_eq(texts->items[i], text))
            return true;
    return false;
}

static bool has_path(const struct pl_ext_texts *paths, struct pl_str path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (pl_ext_glob_match(paths->items[i], path))
            return true;
    return !paths->is_given;
}

/* Whether the requirement's scope contains the place of the call. */
static enum pl_status judge_place(struct pl_arena *arena,
                                  const struct pl_ext_requirement *requirement,
                                  const struct pl_ext_wish *wish, enum pl_ext_reason *ret_reason)
{
    *ret_reason = PL_EXT_REASON_SCOPE;
    if (wish->path && !has_path(&requirement->paths, *wish->path))
        return PL_OK;
    if (wish->env && !has_text(&requirement->env, *wish->env))
        return PL_OK;
    if (wish->url)
        return pl_ext_hosts_judge(arena, requirement->hosts, requirement->n_hosts, *wish->url,
                                  ret_reason);
    *ret_reason = PL_EXT_REASON_COUNT;
    return PL_OK;
}

enum pl_status pl_ext_manifest_judge(struct pl_arena *arena, const struct pl_ext_manifest *manifest,
                                     const struct pl_ext_wish *wish, enum pl_ext_reason *ret_reason)
{
    enum pl_ext_reason closest = PL_EXT_REASON_NOT_DECLARED;
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < manifest->n && closest != PL_EXT_REASON_COUNT && status == PL_OK; i++) {
        const struct pl_ext_requirement *requirement = &manifest->requirements[i];
        if (requirement->capability != wish->capability)
            continue;
        if (requirement->methods.is_given && !has_text(&requirement->methods, wish->method)) {
            if (closest == PL_EXT_REASON_NOT_DECLARED)
                closest = PL_EXT_REASON_METHOD_NOT_DECLARED;
            continue;
        }
        status = judge_place(arena, requirement, wish, &closest);
    }
    if (status == PL_OK)
        *ret_reason = closest;
    return status;
}

/* --- one manifest within another ------------------------------------------------------------- */

static bool covers_texts(const struct pl_ext_texts *outer, const struct pl_ext_texts *inner)
{
    for (size_t i = 0; i < inner->n; i++)
        if (!has_text(outer, inner->items[i]))
            return false;
    return true;
}

static bool covers_methods(const struct pl_ext_texts *outer, const struct pl_ext_texts *inner)
{
    return !outer->is_given || (inner->is_given && covers_texts(outer, inner));
}

static bool covers_glob(const struct pl_ext_texts *outer, struct pl_str glob)
{
    for (size_t i = 0; i < outer->n; i++)
        if (pl_ext_glob_covers(outer->items[i], glob))
            return true;
    return false;
}

static bool covers_paths(const struct pl_ext_texts *outer, const struct pl_ext_texts *inner)
{
    if (!outer->is_given)
        return true;
    if (!inner->is_given)
        return covers_glob(outer, PL_STR("**"));
    for (size_t i = 0; i < inner->n; i++)
        if (!covers_glob(outer, inner->items[i]))
            return false;
    return true;
}

static bool covers_host(const struct pl_ext_requirement *outer, const struct pl_ext_host *host)
{
    for (size_t i = 0; i < outer->n_hosts; i++)
        if (pl_ext_host_covers(&outer->hosts[i], host))
            return true;
    return false;
}

static bool covers_hosts(const struct pl_ext_requirement *outer,
                         const struct pl_ext_requirement *inner)
{
    for (size_t i = 0; i < inner->n_hosts; i++)
        if (!covers_host(outer, &inner->hosts[i]))
            return false;
    return true;
}

static bool covers(const struct pl_ext_requirement *outer, const struct pl_ext_requirement *inner)
{
    return outer->capability == inner->capability &&
           covers_methods(&outer->methods, &inner->methods) &&
           covers_paths(&outer->paths, &inner->paths) && covers_hosts(outer, inner) &&
           covers_texts(&outer->env, &inner->env);
}

static bool covers_one(const struct pl_ext_manifest *outer, const struct pl_ext_requirement *inner)
{
    for (size_t i = 0; i < outer->n; i++)
        if (covers(&outer->requirements[i], inner))
            return true;
    return false;
}

bool pl_ext_manifest_covers(const struct pl_ext_manifest *outer,
                            const struct pl_ext_manifest *inner)
{
    for (size_t i = 0; i < inner->n; i++)
        if (!covers_one(outer, &inner->requirements[i]))
            return false;
    return true;
}
