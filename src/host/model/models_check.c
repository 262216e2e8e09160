/* Follows each name of the configuration to a model. An alias must name models, so an alias that
 * names another alias is an error. If the aliases form a circle, the message shows it. */
#include "model/models_check.h"

#include "base/text/suggest.h"
#include "model/model.h"
#include "model/vendor/vendors_int.h"

#include <stdio.h>

enum { MAX_SAID = 300 };

struct names {
    struct pl_models *models;
    const struct pl_models_config *config;
    bool is_probing, has_probed;
    char *warning;
};

/* --- what was probably meant ------------------------------------------------------------------ */

/* The vendor is misspelt, and the model may be anything: "opneai/gpt-4o". */
static bool suggest_vendor(const struct names *names, const char *name, char *to, size_t size)
{
    const char *slash = strchr(name, '/');
    if (!slash)
        return false;
    struct pl_suggest suggest = pl_suggest((struct pl_str){name, (size_t)(slash - name)});
    for (size_t i = 0; i < names->models->n_vendors; i++)
        pl_suggest_offer(&suggest, names->models->vendors[i].vendor.name);
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++)
        pl_suggest_offer(&suggest, kind->name);
    pl_suggest_offer(&suggest, "demo");
    pl_suggest_offer(&suggest, "replay");
    bool is_known = suggest.best && pl_str_eq(suggest.typed, pl_str_of(suggest.best));
    if (!suggest.best || is_known)
        return false;
    return snprintf(to, size, "%s%s", suggest.best, slash) > 0;
}

static bool suggest_model(const struct names *names, const char *name, char *to, size_t size)
{
    const struct pl_model_info *model;
    struct pl_suggest suggest = pl_suggest(pl_str_of(name));
    for (size_t i = 0; (model = pl_model_at(names->models, i)); i++) {
        const char *slash = strchr(model->name, '/');
        pl_suggest_offer(&suggest, model->name);
        if (slash)
            pl_suggest_offer(&suggest, slash + 1);
    }
    if (!suggest.best)
        return false;
    snprintf(to, size, "%s", suggest.best);
    return true;
}

/* --- a name that leads nowhere ---------------------------------------------------------------- */

static const struct pl_alias_config *alias_named(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->config->n_aliases; i++)
        if (strcmp(names->config->aliases[i].name, name) == 0)
            return &names->config->aliases[i];
    return NULL;
}

static bool is_model(const struct names *names, const char *name)
{
    struct pl_model_target target;
    return pl_model_resolve(names->models, pl_str_of(name), &target);
}

/* Writes "a, b, a": follows the first alias among the targets until one repeats or none is left.
 * Returns true for a circle. */
static bool follow(const struct names *names, const struct pl_alias_config *from, char *said)
{
    const struct pl_alias_config *at = from;
    size_t n = (size_t)snprintf(said, MAX_SAID, "%.64s", from->name);
    for (size_t steps = 0; at && steps < names->config->n_aliases; steps++) {
        const struct pl_alias_config *next = NULL;
        for (const char *const *target = at->targets; *target && !next; target++)
            next = is_model(names, *target) ? NULL : alias_named(names, *target);
        if (next && n < MAX_SAID)
            n += (size_t)snprintf(said + n, MAX_SAID - n, ", %.64s", next->name);
        if (next == from)
            return true;
        at = next;
    }
    return false;
}

static enum pl_status refuse_alias_of_alias(const struct names *names,
                                            const struct pl_alias_config *alias, const char *target,
                                            const char *where, struct pl_error *err)
{
    char said[MAX_SAID];
    if (follow(names, alias, said))
        return pl_fail(err, PL_INVALID,
                       "%sthe alias %s goes in a circle (%s): name a model, as vendor/model", where,
                       alias->name, said);
    return pl_fail(err, PL_INVALID,
                   "%sthe alias %s names the alias %.64s, but an alias must name models: name "
                   "those of %.64s",
                   where, alias->name, target, target);
}

/* Explains why there is no such model, and suggests a name. PL_OK if the model may appear later;
 * then the sentence is a warning. */
static enum pl_status explain(const struct names *names, const char *who, const char *name,
                              const char *where, struct pl_error *err)
{
    char meant[160];
    struct pl_error why = {0};
    (void)pl_model_missing(names->models, pl_str_of(name), &why);
    const char *key = strstr(why.message, "needs a key of ");
    if (key)
        return pl_fail(err, PL_INVALID, "%s%s is %.80s, which %.*s", where, who, name,
                       (int)(strlen(key) - strlen(" and start the server again.")), key);
    if (suggest_vendor(names, name, meant, sizeof meant) ||
        suggest_model(names, name, meant, sizeof meant))
        return pl_fail(err, PL_INVALID,
                       "%s%s is %.80s, but there is no such model; did you mean %s?", where, who,
                       name, meant);
    bool is_ours = strncmp(name, "demo/", 5) == 0;
    if (!names->is_probing || is_ours)
        return pl_fail(err, PL_INVALID,
                       "%s%s is %.80s, but there is no such model; \"parley serve --print-config\" "
                       "shows the providers",
                       where, who, name);
    snprintf(names->warning, 512,
             "%s%s is %.80s, which no provider offers at present; requests for it fail until one "
             "does",
             where, who, name);
    return PL_OK;
}

/* --- all names -------------------------------------------------------------------------------- */

/* alias is NULL for the default model. */
static enum pl_status check_name(struct names *names, const struct pl_alias_config *alias,
                                 const char *name, const char *place, struct pl_error *err)
{
    char who[100], where[400] = "";
    if (is_model(names, name))
        return PL_OK;
    if (place)
        snprintf(where, sizeof where, "%.390s: ", place);
    snprintf(who, sizeof who, alias ? "a target of the alias %.64s" : "the default model",
             alias ? alias->name : "");
    if (alias && alias_named(names, name))
        return refuse_alias_of_alias(names, alias, name, where, err);
    if (!alias && alias_named(names, name))
        return PL_OK;
    if (names->is_probing && !names->has_probed) {
        names->has_probed = true;
        pl_models_probe(names->models);
        if (is_model(names, name))
            return PL_OK;
    }
    return explain(names, who, name, where, err);
}

enum pl_status pl_models_check(struct pl_models *models, const struct pl_models_config *config,
                               const char *default_model, const char *model_place, bool is_probing,
                               char warning[512], struct pl_error *err)
{
    struct names names = {models, config, is_probing, false, warning};
    enum pl_status status = PL_OK;
    warning[0] = '\0';
    for (size_t i = 0; status == PL_OK && i < config->n_aliases; i++)
        for (const char *const *target = config->aliases[i].targets; status == PL_OK && *target;
             target++)
            status =
                check_name(&names, &config->aliases[i], *target, config->aliases[i].place, err);
    if (status == PL_OK && default_model)
        status = check_name(&names, NULL, default_model, model_place, err);
    return status;
}
