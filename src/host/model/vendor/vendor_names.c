/* Resolves the name of a model. */
#include "io/clock.h"
#include "model/facts.h"
#include "model/model_int.h"
#include "model/vendor/vendors_int.h"

#include <stdio.h>

static struct pl_vendor_own *vendor_named(const struct pl_models *models, struct pl_str name)
{
    for (size_t i = 0; models && i < models->n_vendors; i++)
        if (pl_str_eq(name, pl_str_of(models->vendors[i].vendor.name)))
            return &models->vendors[i];
    return NULL;
}

static bool lists(const struct pl_model_info *models, size_t n, size_t n_vendor, struct pl_str name)
{
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(pl_str_of(models[i].name + n_vendor + 1), name))
            return true;
    return false;
}

/* The only vendor that lists the model. */
static struct pl_vendor_own *vendor_listing(const struct pl_models *models, struct pl_str model)
{
    struct pl_vendor_own *only = NULL;
    size_t n = 0;
    for (size_t i = 0; models && i < models->n_vendors; i++) {
        struct pl_vendor_own *own = &models->vendors[i];
        struct pl_found_models *found = atomic_load(&own->found);
        size_t n_name = strlen(own->vendor.name);
        if (!lists(own->models, own->n_models, n_name, model) &&
            !(found && lists(found->models, found->n_models, n_name, model)))
            continue;
        only = own;
        n++;
    }
    return n == 1 ? only : NULL;
}

static struct pl_vendor_own *vendor_of_bare(const struct pl_models *models, struct pl_str model)
{
    const struct pl_model_facts *facts = pl_model_facts_find(model);
    struct pl_vendor_own *own =
        facts && facts->vendor ? vendor_named(models, pl_str_of(facts->vendor)) : NULL;
    return own ? own : vendor_listing(models, model);
}

static const struct pl_model_info *family_of(const struct pl_vendor_own *own, struct pl_str model)
{
    int64_t window = pl_profile_window(model);
    for (size_t i = 0; i < own->n_families; i++)
        if (own->families[i].context_window == window)
            return &own->families[i];
    return &own->families[own->n_families - 1];
}

bool pl_model_name_is_safe(struct pl_str name)
{
    if (!name.len || name.len > 256)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] >= 0x7F || strchr("\"\\?#%", name.ptr[i]))
            return false;
    return true;
}

static bool resolve_vendor(const struct pl_models *models, struct pl_str name,
                           struct pl_model_target *ret_target)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    size_t n = slash ? (size_t)(slash - name.ptr) : 0;
    struct pl_vendor_own *own = slash ? vendor_named(models, pl_str_slice(name, 0, n)) : NULL;
    struct pl_str model = own ? pl_str_slice(name, n + 1, name.len) : name;
    if (!own)
        own = vendor_of_bare(models, name);
    if (!own || !pl_model_name_is_safe(model))
        return false;
    *ret_target = (struct pl_model_target){
        .vendor = &own->vendor,
        .format = own->format,
        .dialect = own->dialect,
        .profile =
            own->profile ? own->profile : pl_profile_of_model(pl_str_of(own->format->name), model),
        .info = family_of(own, model),
        .model = model,
    };
    return true;
}

static const struct pl_alias *alias_named(const struct pl_models *models, struct pl_str name)
{
    for (size_t i = 0; models && i < models->n_aliases; i++)
        if (pl_str_eq(name, pl_str_of(models->aliases[i].info.name)))
            return &models->aliases[i];
    return NULL;
}

const struct pl_model_info *pl_alias_find(const struct pl_models *models, struct pl_str name)
{
    const struct pl_alias *alias = alias_named(models, name);
    return alias ? &alias->info : NULL;
}

bool pl_model_resolve(const struct pl_models *models, struct pl_str name,
                      struct pl_model_target *ret_target)
{
    const struct pl_model_info *info = pl_model_find_own(name);
    if (!info && pl_str_eq(name, pl_str_of(pl_embedding_model->name)))
        info = pl_embedding_model;
    if (!info && resolve_vendor(models, name, ret_target))
        return true;
    if (!info)
        info = pl_model_find_bare(name);
    if (info)
        *ret_target = (struct pl_model_target){
            .info = info,
            .model = pl_model_name(info, name),
        };
    return info != NULL;
}

/* A model that is called by its own name also counts as load of a chain's target. */
static void find_load(const struct pl_models *models, struct pl_model_target *target)
{
    char name[320];
    if (!models || !models->n_cooldowns || !target->vendor)
        return;
    pl_target_name(target, name, sizeof name);
    for (size_t i = 0; i < models->n_cooldowns && !target->load; i++)
        if (strcmp(models->cooldowns[i].model, name) == 0)
            target->load = &models->cooldowns[i];
}

size_t pl_model_targets(const struct pl_models *models, struct pl_str name,
                        struct pl_model_target ret_targets[PL_VENDOR_MAX_CHAIN])
{
    const struct pl_alias *alias = alias_named(models, name);
    size_t n = 0;
    if (!alias && pl_model_resolve(models, name, &ret_targets[0])) {
        find_load(models, &ret_targets[0]);
        return 1;
    }
    if (!alias)
        return 0;
    for (size_t i = 0; i < alias->n_targets; i++) {
        if (!pl_model_resolve(models, alias->targets[i], &ret_targets[n]))
            continue;
        if (alias->cooldowns && ret_targets[n].vendor) {
            ret_targets[n].cooldown = alias->cooldowns[i];
            ret_targets[n].load = alias->cooldowns[i];
        }
        ret_targets[n].spread =
            alias->spread.by == PL_SPREAD_ORDER ? NULL : (struct pl_spread_state *)&alias->spread;
        ret_targets[n].weight = alias->weights ? alias->weights[i] : 1;
        n++;
    }
    return n;
}

void pl_targets_spread(const struct pl_model_target *targets, size_t n,
                       uint8_t ret_order[PL_VENDOR_MAX_CHAIN])
{
    struct pl_spread_state *spread = n ? targets[0].spread : NULL;
    uint32_t weights[PL_VENDOR_MAX_CHAIN];
    int64_t busy[PL_VENDOR_MAX_CHAIN];
    for (size_t i = 0; i < n; i++) {
        weights[i] = targets[i].weight ? targets[i].weight : 1;
        busy[i] = targets[i].load
                      ? atomic_load_explicit(&targets[i].load->n_running, memory_order_relaxed)
                      : 0;
    }
    uint64_t n_before =
        spread ? atomic_fetch_add_explicit(&spread->n_calls, 1, memory_order_relaxed) : 0;
    pl_spread_decide(spread ? spread->by : PL_SPREAD_ORDER, n, weights, busy, n_before, ret_order);
}

size_t pl_targets_enter(const struct pl_model_target *targets, size_t n, size_t i,
                        enum pl_cooldown_pass *ret_pass)
{
    int64_t now_ms = pl_clock_ms();
    enum pl_cooldown_pass pass = PL_PASS_NONE;
    while (i < n && (pass = pl_cooldown_enter(targets[i].cooldown, now_ms)) == PL_PASS_NONE)
        i++;
    *ret_pass = pass;
    return i;
}

int64_t pl_targets_rest_s(const struct pl_model_target *targets, size_t n)
{
    int64_t least_ms = INT64_MAX, now_ms = pl_clock_ms();
    for (size_t i = 0; i < n; i++) {
        int64_t left_ms =
            targets[i].cooldown ? pl_cooldown_left_ms(targets[i].cooldown, now_ms) : 0;
        least_ms = left_ms < least_ms ? left_ms : least_ms;
    }
    return least_ms > 1000 ? (least_ms + 999) / 1000 : 1;
}

const struct pl_model_info *pl_vendors_model_at(const struct pl_models *models, size_t i)
{
    if (!models)
        return NULL;
    if (i < models->n_aliases)
        return &models->aliases[i].info;
    i -= models->n_aliases;
    for (size_t v = 0; v < models->n_vendors; v++) {
        const struct pl_vendor_own *own = &models->vendors[v];
        if (i < own->n_models)
            return &own->models[i];
        i -= own->n_models;
        const struct pl_found_models *found = atomic_load(&own->found);
        if (found && i < found->n_models)
            return &found->models[i];
        i -= found ? found->n_models : 0;
    }
    return NULL;
}

/* --- what to say of one that is not there ---------------------------------------------------- */

static const struct pl_vendor_kind *kind_named(struct pl_str name)
{
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++)
        if (kind->key_variable && pl_str_eq(name, pl_str_of(kind->name)))
            return kind;
    return NULL;
}

enum pl_status pl_model_missing(const struct pl_models *models, struct pl_str name,
                                struct pl_error *err)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    const struct pl_model_facts *facts = slash ? NULL : pl_model_facts_find(name);
    struct pl_str vendor = slash   ? pl_str_slice(name, 0, (size_t)(slash - name.ptr))
                           : facts ? pl_str_of(facts->vendor)
                                   : (struct pl_str){NULL, 0};
    const struct pl_vendor_kind *kind = vendor.len ? kind_named(vendor) : NULL;
    struct pl_str shown = pl_str_slice(name, 0, 80);
    if (pl_str_eq(name, pl_str_of(pl_embedding_model->name)))
        return pl_fail(err, PL_NOT_FOUND,
                       "The model %.*s makes embeddings (POST /v1/embeddings) and does not chat.",
                       PL_STR_ARG(shown));
    if (kind && !vendor_named(models, vendor))
        return pl_fail(err, PL_NOT_FOUND,
                       "The model %.*s needs a key of %s: set %s and start the server again.",
                       PL_STR_ARG(shown), kind->name, kind->key_variable);
    return pl_fail(err, PL_NOT_FOUND, "There is no model %.*s; GET /api/models lists the models.",
                   PL_STR_ARG(shown));
}

void pl_target_name(const struct pl_model_target *target, char *to, size_t n)
{
    const struct pl_str pieces[] = {
        target->vendor ? pl_str_of(target->vendor->name) : PL_STR(""),
        target->vendor ? PL_STR("/") : PL_STR(""),
        target->model,
    };
    size_t at = 0;
    /* Every call needs the name several times, so nothing is formatted. */
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t room = n - 1 - at, len = pieces[i].len < room ? pieces[i].len : room;
        if (len)
            memcpy(to + at, pieces[i].ptr, len);
        at += len;
    }
    to[at] = 0;
}
