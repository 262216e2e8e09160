/* The available models and their servers. Shows where the keys come from, never the keys. */
#include "format/format.h"
#include "format/profile.h"
#include "format/rules.h"
#include "http/json_members.h"
#include "model/facts.h"
#include "model/vendor/vendor.h"
#include "model/vendor/vendors.h"
#include "service/page/routes.h"

static void write_price(struct pl_json_out *out, const char *key, int64_t micro_dollars)
{
    pl_json_out_key(out, key);
    if (micro_dollars < 0)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, micro_dollars);
}

/* The prices of one model. An alias of several models has none: they depend on which one
 * answers. */
static void write_prices(struct pl_json_out *out, const struct pl_model_target *targets, size_t n)
{
    struct pl_model_prices prices = {.input = -1};
    if (n == 1)
        prices = pl_target_prices(&targets[0]);
    pl_json_out_key(out, "prices");
    if (prices.input < 0) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    write_price(out, "input", prices.input);
    write_price(out, "output", prices.output);
    write_price(out, "cache_read", prices.cache_read);
    write_price(out, "cache_write", prices.cache_write);
    pl_json_out_key(out, "dated");
    pl_json_out_text(out, pl_str_of(prices.dated));
    pl_json_out_close(out, '}');
}

static struct pl_str provider_of(struct pl_str name)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    return pl_str_slice(name, 0, slash ? (size_t)(slash - name.ptr) : name.len);
}

/* Writes the possible contents of a message: text, and the media that the format supports. */
static void write_inputs(struct pl_json_out *out, const struct pl_model_target *target)
{
    static const struct {
        enum pl_part_kind kind;
        const char *name;
    } media[] = {{PL_PART_IMAGE, "image"},
                 {PL_PART_AUDIO, "audio"},
                 {PL_PART_VIDEO, "video"},
                 {PL_PART_FILE, "document"}};
    struct pl_repair_rules rules = {0};
    if (target && target->format) {
        struct pl_conversion conversion = {.mode = PL_MODE_GATEWAY,
                                           .from = &pl_format_turns,
                                           .to = target->format,
                                           .profile = target->profile};
        rules = pl_format_rules(&conversion);
    }
    pl_json_out_key(out, "inputs");
    pl_json_out_open(out, '[');
    pl_json_out_text(out, PL_STR("text"));
    for (size_t i = 0; i < sizeof media / sizeof *media; i++)
        if (!(rules.refused_from_user & PL_PART_BIT(media[i].kind)))
            pl_json_out_text(out, pl_str_of(media[i].name));
    pl_json_out_close(out, ']');
}

/* How the amount of thinking is set, such as "effort" or "budget" (tokens); NULL: unknown. */
static const char *thinking_of(const struct pl_profile *profile)
{
    if (!profile || !profile->models)
        return NULL;
    bool has_efforts = profile->efforts != PL_EFFORT_BIT(PL_EFFORT_UNSET);
    if (profile->thinking_off && !profile->thinking_off[0])
        return "always";
    if (profile->refuses_adaptive_thinking)
        return "budget";
    if (!has_efforts)
        return "none";
    return profile->efforts || profile->refuses_thinking_budget ? "effort" : NULL;
}

static void write_abilities(struct pl_json_out *out, const struct pl_model_target *target)
{
    const struct pl_profile *profile = target ? target->profile : NULL;
    const char *thinking = thinking_of(profile);
    write_inputs(out, target);
    pl_put_bool(out, "tools", !profile || !profile->refuses_tools);
    pl_put_text(out, "thinking", thinking ? pl_str_of(thinking) : (struct pl_str){0});
}

/* For an alias: its first target. */
static void write_target(struct pl_json_out *out, struct pl_str name,
                         const struct pl_model_target *targets, size_t n)
{
    const struct pl_model_target *first = n ? &targets[0] : NULL;
    const struct pl_vendor *vendor = first ? first->vendor : NULL;
    const struct pl_model_facts *facts = vendor ? pl_model_facts_find(first->model) : NULL;
    bool is_demo = pl_str_starts(name, PL_STR("demo/"));
    bool has_key = !vendor || vendor->key || vendor->is_local || !vendor->key_from;
    pl_put_text(out, "provider", vendor ? pl_str_of(vendor->name) : provider_of(name));
    pl_put_text(out, "dialect", vendor ? pl_str_of(vendor->dialect) : (struct pl_str){0});
    pl_put_text(out, "profile",
                first && first->profile ? pl_str_of(first->profile->name) : (struct pl_str){0});
    pl_put_number(out, "max_output", facts ? facts->max_output : 0);
    write_abilities(out, first);
    pl_put_bool(out, "is_demo", is_demo);
    pl_put_bool(out, "is_alias",
                n > 1 || (vendor && !pl_str_starts(name, pl_str_of(vendor->name))));
    pl_put_text(out, "state", has_key ? PL_STR("ready") : PL_STR("no_key"));
    write_prices(out, targets, n);
}

static void list_models(struct pl_exchange *x)
{
    const struct pl_model_info *model;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; (model = pl_model_at(x->setup->models, i)); i++) {
        struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
        size_t n = pl_model_targets(x->setup->models, pl_str_of(model->name), targets);
        pl_json_out_open(&out, '{');
        pl_put_text(&out, "name", pl_str_of(model->name));
        pl_put_text(&out, "about", pl_str_of(model->about));
        pl_put_int(&out, "context_window", model->context_window);
        write_target(&out, pl_str_of(model->name), targets, n);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_put_text(&out, "default_model", pl_str_of(x->setup->config.default_model));
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

/* --- providers ------------------------------------------------------------------------------- */

static int64_t n_models_of(const struct pl_models *models, const char *name)
{
    const struct pl_model_info *model;
    int64_t n = 0;
    for (size_t i = 0; (model = pl_model_at(models, i)); i++)
        n += pl_str_eq(provider_of(pl_str_of(model->name)), pl_str_of(name));
    return n;
}

static void write_provider(struct pl_json_out *out, const struct pl_models *models,
                           const struct pl_vendor *vendor)
{
    int64_t n_models = n_models_of(models, vendor->name);
    bool needs_key = !vendor->is_local && vendor->key_from;
    const char *state = needs_key && !vendor->key       ? "no_key"
                        : vendor->is_local && !n_models ? "unreachable"
                                                        : "ready";
    pl_json_out_open(out, '{');
    pl_put_text(out, "name", pl_str_of(vendor->name));
    pl_put_text(out, "dialect", pl_str_of(vendor->dialect));
    pl_put_text(out, "state", pl_str_of(state));
    pl_put_text(out, "key_source",
                !vendor->key       ? (struct pl_str){0}
                : vendor->key_from ? PL_STR("environment")
                                   : PL_STR("configuration"));
    pl_put_text(out, "env", vendor->key_from ? pl_str_of(vendor->key_from) : (struct pl_str){0});
    pl_put_text(out, "found_at", pl_str_of(vendor->base_url));
    pl_put_bool(out, "is_local", vendor->is_local);
    pl_put_int(out, "models", n_models);
    pl_json_out_close(out, '}');
}

static void list_providers(struct pl_exchange *x)
{
    const struct pl_vendor *vendor;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    pl_json_out_raw(&out, PL_STR("{\"name\":\"demo\",\"dialect\":null,\"state\":\"ready\",\"key_"
                                 "source\":null,\"env\":null,\"found_at\":null,\"is_local\":true,"
                                 "\"models\":3}"));
    for (size_t i = 0; (vendor = pl_models_vendor_at(x->setup->models, i)); i++)
        write_provider(&out, x->setup->models, vendor);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

const struct pl_route pl_routes_models[] = {
    {PL_METHOD_GET, "/api/models", 0, PL_FOR_SESSIONS | PL_FOR_READ, list_models, "model_list",
     "List the models", "service", NULL, "ModelList", 200, NULL},
    {PL_METHOD_GET, "/api/providers", 0, PL_FOR_SESSIONS | PL_FOR_READ, list_providers,
     "provider_list", "List the providers of models, and the sources of their keys", "service",
     NULL, "ProviderList", 200, NULL},
    {0},
};
