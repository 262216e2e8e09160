/* Reads vendors and aliases from the configuration file and the environment. Checks each member
 * here, so that an error can name its line. */
#include "app/server/serve_models.h"

#include "app/server/sections/secret_file.h"
#include "app/server/serve_config.h"
#include "base/text/suggest.h"
#include "json/number.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_VENDORS = 64, MAX_ALIASES = 256, MAX_MODELS = 256 };

const char *const pl_serve_models_settings[] = {"providers", "aliases", NULL};

struct reading {
    const struct pl_serve_models_source *source;
    struct pl_vendor_config *vendors; /* arena; MAX_VENDORS entries */
    size_t n_vendors;
    struct pl_alias_config *aliases; /* arena; MAX_ALIASES entries */
    size_t n_aliases;
    char place[4096]; /* the file, and the current line */
};

/* An error ends the reading, unless all errors are collected. */
static enum pl_status note(const struct reading *r, enum pl_status status,
                           const struct pl_error *err)
{
    if (!r->source->problems || status == PL_OK || status == PL_NOMEM)
        return status;
    pl_buf_addf(r->source->problems, "%s\n", err->message);
    return PL_OK;
}

/* Sets the position for the next error message. */
static void go_to(struct reading *r, const char *name, const char *below)
{
    size_t line = pl_serve_config_line(r->source->yaml, name, below);
    int n = snprintf(r->place, sizeof r->place, "%s", r->source->path);
    if (line && n > 0 && (size_t)n < sizeof r->place)
        snprintf(r->place + n, sizeof r->place - (size_t)n, ", line %zu", line);
}

/* --- values of the file ---------------------------------------------------------------------- */

static const char *keep(const struct reading *r, struct pl_str text)
{
    char *copy = pl_arena_alloc(r->source->arena, text.len + 1, 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* Reads a string; `what` names it in messages. */
static enum pl_status read_text(const struct reading *r, const struct pl_json_node *node,
                                const char *what, const char **ret, struct pl_error *err)
{
    struct pl_str text;
    if (pl_json_kind(node) != PL_JSON_STRING)
        return pl_fail(err, PL_INVALID, "%s: %s must be a string, not %s", r->place, what,
                       pl_json_kind_name(pl_json_kind(node)));
    if (pl_json_text(r->source->arena, r->source->file, node, &text) != PL_OK)
        return PL_NOMEM;
    if (!text.len || memchr(text.ptr, '\0', text.len))
        return pl_fail(err, PL_INVALID, "%s: %s is empty", r->place, what);
    *ret = keep(r, text);
    return *ret ? PL_OK : PL_NOMEM;
}

/* Reads a string, or a list of strings. */
static enum pl_status read_list(const struct reading *r, const struct pl_json_node *node,
                                const char *what, const char *const **ret, struct pl_error *err)
{
    bool is_list = pl_json_kind(node) == PL_JSON_ARRAY;
    size_t n = is_list ? pl_json_count(node) : 1, i = 0;
    if (n > MAX_MODELS)
        return pl_fail(err, PL_INVALID, "%s: %s has more than %d names", r->place, what,
                       MAX_MODELS);
    const char **texts = pl_arena_zalloc(r->source->arena, n + 1, sizeof *texts);
    if (!texts)
        return PL_NOMEM;
    enum pl_status status = is_list ? PL_OK : read_text(r, node, what, &texts[0], err);
    for (const struct pl_json_node *one = pl_json_first(node);
         is_list && status == PL_OK && one < pl_json_end(node); one = pl_json_next(one))
        status = read_text(r, one, what, &texts[i++], err);
    *ret = texts;
    return status;
}

/* --- keys ------------------------------------------------------------------------------------ */

static enum pl_status find_key(const struct reading *r, struct pl_vendor_config *vendor,
                               const char *variable, const char *file, struct pl_error *err)
{
    if (variable && file)
        return pl_fail(err, PL_INVALID,
                       "%s: the provider %s has both key_env and key_file; give only one", r->place,
                       vendor->name);
    vendor->key_from = variable ? variable : file;
    if (file)
        return pl_secret_file_read(r->source->arena, file, "key", &vendor->key, err);
    const char *key = variable ? getenv(variable) : NULL;
    if (variable && (!key || !*key))
        return pl_fail(err, PL_INVALID,
                       "%s: the provider %s takes its key from %s, which is not set", r->place,
                       vendor->name, variable);
    vendor->key = key;
    return PL_OK;
}

/* --- "providers" ----------------------------------------------------------------------------- */

enum field {
    DIALECT,
    BASE_URL,
    KEY_ENV,
    KEY_FILE,
    CA_FILE,
    PROFILE,
    EMBEDDINGS,
    MODELS,
    PRICES,
    HEADERS,
    CONNECT_MS,
    FIRST_BYTE_MS,
    IDLE_MS,
    MAX_CONCURRENT,
    QUEUE,
    QUEUE_MS,
    N_FIELDS
};
static const char *const field_names[N_FIELDS] = {
    "dialect",    "base_url",       "key_env", "key_file", "ca_file",    "profile",
    "embeddings", "models",         "prices",  "headers",  "connect_ms", "first_byte_ms",
    "idle_ms",    "max_concurrent", "queue",   "queue_ms",
};

static int field_of(struct pl_str name, struct pl_suggest *suggest)
{
    for (int i = 0; i < N_FIELDS; i++) {
        if (pl_str_eq(name, pl_str_of(field_names[i])))
            return i;
        pl_suggest_offer(suggest, field_names[i]);
    }
    return -1;
}

/* Reads a price: dollars per million tokens. */
static enum pl_status read_price(struct reading *r, const struct pl_json_node *key,
                                 const char *what, struct pl_model_prices *prices,
                                 struct pl_error *err)
{
    const struct {
        const char *name;
        int64_t *price;
    } sorts[] = {{"input", &prices->input},
                 {"output", &prices->output},
                 {"cache_read", &prices->cache_read},
                 {"cache_write", &prices->cache_write}};
    struct pl_str name = pl_json_raw(r->source->file, key);
    struct pl_suggest suggest = pl_suggest(name);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        pl_suggest_offer(&suggest, sorts[i].name);
        if (!pl_str_eq(name, pl_str_of(sorts[i].name)))
            continue;
        double usd = pl_json_kind(key + 1) == PL_JSON_NUMBER
                         ? pl_json_number_double(pl_json_span(r->source->file, key + 1))
                         : -1;
        if (!(usd >= 0 && usd <= 1e6))
            return pl_fail(err, PL_INVALID,
                           "%s: %s: %s must be a number of dollars for a million tokens", r->place,
                           what, sorts[i].name);
        *sorts[i].price = (int64_t)(usd * 1e6 + 0.5);
        return PL_OK;
    }
    return pl_fail(err, PL_INVALID, "%s: %s: there is no price \"%.*s\"%s%s%s", r->place, what,
                   PL_STR_ARG(name), suggest.best ? "; did you mean \"" : "",
                   suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
}

/* Reads {model: {input: …, output: …}}; "*" means every model of the provider. */
static enum pl_status read_prices(struct reading *r, const struct pl_json_node *object,
                                  const char *what, const struct pl_priced_model **ret_prices,
                                  struct pl_error *err)
{
    enum pl_status status = PL_OK;
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s: %s must be {MODEL: {input: …, output: …}}", r->place,
                       what);
    size_t n = 0;
    struct pl_priced_model *list =
        pl_arena_zalloc(r->source->arena, pl_json_count(object) + 1, sizeof *list);
    if (!list)
        return PL_NOMEM;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key), n++) {
        const struct pl_json_node *value = key + 1;
        list[n].prices = (struct pl_model_prices){-1, -1, -1, -1, NULL};
        status = read_text(r, key, "the name of a model", &list[n].model, err);
        if (status == PL_OK && pl_json_kind(value) != PL_JSON_OBJECT)
            status = pl_fail(err, PL_INVALID, "%s: %s must be {MODEL: {input: …, output: …}}",
                             r->place, what);
        if (status != PL_OK)
            break;
        for (const struct pl_json_node *one = pl_json_first_member(value);
             status == PL_OK && one < pl_json_end(value); one = pl_json_next_member(one))
            status = read_price(r, one, what, &list[n].prices, err);
        /* Without a cache price, cached tokens cost as much as other input. */
        if (list[n].prices.cache_read < 0)
            list[n].prices.cache_read = list[n].prices.input;
        if (list[n].prices.cache_write < 0)
            list[n].prices.cache_write = list[n].prices.input;
        if (status == PL_OK && (list[n].prices.input < 0 || list[n].prices.output < 0))
            status = pl_fail(err, PL_INVALID, "%s: %s: %s needs input and output", r->place, what,
                             list[n].model);
    }
    *ret_prices = list;
    return status;
}

/* Reads {Name: value}, or {Name: {env: VARIABLE}} for a secret value. Messages never contain a
 * value. */
static enum pl_status read_header(struct reading *r, const struct pl_json_node *key,
                                  const char *what, const char **ret_line, struct pl_error *err)
{
    const struct pl_json_node *node = key + 1;
    const char *name, *value = NULL, *variable = NULL;
    enum pl_status status = read_text(r, key, "the name of a header", &name, err);
    bool is_object = pl_json_kind(node) == PL_JSON_OBJECT;
    const struct pl_json_node *env =
        is_object ? pl_json_get(r->source->file, node, PL_STR("env")) : NULL;
    if (status == PL_OK && is_object && (!env || pl_json_count(node) != 1))
        return pl_fail(err, PL_INVALID, "%s: %s: %.64s must be a text or {env: VARIABLE}", r->place,
                       what, name);
    if (status == PL_OK)
        status = read_text(r, env ? env : node, what, env ? &variable : &value, err);
    if (status != PL_OK)
        return status;
    if (variable)
        value = getenv(variable);
    if (!value || !*value)
        return pl_fail(err, PL_INVALID, "%s: %s: %.64s takes its value from %s, which is not set",
                       r->place, what, name, variable);
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_buf_addf(&line, "%s: %s", name, value);
    *ret_line = line.status == PL_OK ? keep(r, pl_buf_str(&line)) : NULL;
    return *ret_line ? PL_OK : PL_NOMEM;
}

static enum pl_status read_headers(struct reading *r, const struct pl_json_node *object,
                                   const char *what, const char *const **ret, struct pl_error *err)
{
    size_t n = 0;
    enum pl_status status = PL_OK;
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s: %s must be {NAME: value}", r->place, what);
    const char **lines =
        pl_arena_zalloc(r->source->arena, pl_json_count(object) + 1, sizeof *lines);
    if (!lines)
        return PL_NOMEM;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key))
        status = read_header(r, key, what, &lines[n++], err);
    *ret = lines;
    return status;
}

/* Reads a whole number within bounds. */
static enum pl_status read_number(const struct reading *r, const struct pl_json_node *node,
                                  const char *what, int64_t least, int64_t most, int64_t *ret,
                                  struct pl_error *err)
{
    if (pl_json_kind(node) == PL_JSON_NUMBER &&
        pl_json_number_int64(pl_json_span(r->source->file, node), ret) && *ret >= least &&
        *ret <= most)
        return PL_OK;
    return pl_fail(err, PL_INVALID, "%s: %s must be a whole number from %lld to %lld", r->place,
                   what, (long long)least, (long long)most);
}

static enum pl_status read_vendor_number(struct reading *r, int field,
                                         const struct pl_json_node *node, const char *what,
                                         struct pl_vendor_config *vendor, struct pl_error *err)
{
    enum { MAX_MS = 86400000, MAX_CALLS = 100000 };
    int64_t n = 0;
    enum pl_status status =
        read_number(r, node, what, field == QUEUE ? 0 : 1,
                    field == MAX_CONCURRENT || field == QUEUE ? MAX_CALLS : MAX_MS, &n, err);
    switch (field) {
    case CONNECT_MS:
        vendor->connect_ms = n;
        break;
    case FIRST_BYTE_MS:
        vendor->first_byte_ms = n;
        break;
    case IDLE_MS:
        vendor->idle_ms = n;
        break;
    case MAX_CONCURRENT:
        vendor->limits.max = (size_t)n;
        break;
    case QUEUE:
        vendor->limits.max_waiting = (size_t)n;
        break;
    default:
        vendor->limits.wait_ms = n;
        break;
    }
    return status;
}

/* Defaults of a limit: as many may wait as may run, for ten seconds. */
static void complete_limits(struct pl_vendor_config *vendor, bool has_queue)
{
    struct pl_gate_limits *limits = &vendor->limits;
    if (!limits->max)
        return;
    if (!has_queue)
        limits->max_waiting = limits->max;
    if (!limits->wait_ms)
        limits->wait_ms = 10000;
}

static enum pl_status read_fields(struct reading *r, const struct pl_json_node *object,
                                  struct pl_vendor_config *vendor, const char *texts[N_FIELDS],
                                  struct pl_error *err)
{
    enum pl_status status = PL_OK;
    bool has_queue = false;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key)) {
        struct pl_str name = pl_json_raw(r->source->file, key);
        struct pl_suggest suggest = pl_suggest(name);
        char what[160];
        int field = field_of(name, &suggest);
        if (field < 0)
            return pl_fail(err, PL_INVALID, "%s: the provider %s has no \"%.*s\"%s%s%s", r->place,
                           vendor->name, PL_STR_ARG(name), suggest.best ? "; did you mean \"" : "",
                           suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
        snprintf(what, sizeof what, "%s of the provider %.64s", field_names[field], vendor->name);
        has_queue |= field == QUEUE;
        status = field == MODELS    ? read_list(r, key + 1, what, &vendor->models, err)
                 : field == PRICES  ? read_prices(r, key + 1, what, &vendor->prices, err)
                 : field == HEADERS ? read_headers(r, key + 1, what, &vendor->headers, err)
                 : field > HEADERS  ? read_vendor_number(r, field, key + 1, what, vendor, err)
                                    : read_text(r, key + 1, what, &texts[field], err);
    }
    complete_limits(vendor, has_queue);
    return status;
}

static const struct pl_vendor_kind *kind_of(const char *name)
{
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

/* A well-known provider supplies defaults for absent members. */
static enum pl_status read_vendor(struct reading *r, const struct pl_json_node *key,
                                  struct pl_error *err)
{
    const char *texts[N_FIELDS] = {NULL};
    struct pl_vendor_config *vendor = &r->vendors[r->n_vendors];
    enum pl_status status = read_text(r, key, "the name of a provider", &vendor->name, err);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(key + 1) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "%s: the provider %s must be {dialect: …, base_url: …}",
                       r->place, vendor->name);
    status = read_fields(r, key + 1, vendor, texts, err);
    if (status != PL_OK)
        return status;
    const struct pl_vendor_kind *kind = kind_of(vendor->name);
    vendor->dialect = texts[DIALECT] ? texts[DIALECT] : kind ? kind->dialect : NULL;
    vendor->base_url = texts[BASE_URL] ? texts[BASE_URL] : kind ? kind->base_url : NULL;
    vendor->ca_file = texts[CA_FILE];
    vendor->profile = texts[PROFILE];
    vendor->embeddings = texts[EMBEDDINGS];
    if (!vendor->dialect || !vendor->base_url)
        return pl_fail(err, PL_INVALID, "%s: the provider %s needs a dialect and a base_url",
                       r->place, vendor->name);
    const char *variable = texts[KEY_ENV];
    if (!variable && !texts[KEY_FILE] && kind)
        variable = kind->key_variable;
    vendor->place = keep(r, pl_str_of(r->place));
    if (!vendor->place)
        return PL_NOMEM;
    /* An invalid URL is still shown and may contain a password. */
    if (r->source->problems && strpbrk(vendor->base_url, "@?#"))
        vendor->base_url = "***";
    status = note(r, find_key(r, vendor, variable, texts[KEY_FILE], err), err);
    r->n_vendors += status == PL_OK;
    return status;
}

static bool has_vendor(const struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->n_vendors; i++)
        if (strcmp(r->vendors[i].name, name) == 0)
            return true;
    return false;
}

/* OLLAMA_HOST is a host, a port, both, or a URL; the wildcard address means this machine. */
static const char *ollama_url(const struct reading *r, const char *host)
{
    struct pl_str text = pl_str_of(host);
    char url[300];
    if (pl_str_starts(text, PL_STR("http://")) || pl_str_starts(text, PL_STR("https://")))
        return host;
    if (pl_str_starts(text, PL_STR("0.0.0.0")))
        text = pl_str_slice(text, 7, text.len);
    bool has_host = text.len && text.ptr[0] != ':';
    bool has_port = text.len && memchr(text.ptr, ':', text.len);
    snprintf(url, sizeof url, "http://%s%.*s%s", has_host ? "" : "127.0.0.1",
             (int)(text.len < 200 ? text.len : 200), text.len ? text.ptr : "",
             has_port ? "" : ":11434");
    return keep(r, pl_str_of(url));
}

/* Adds vendors from the environment, unless the file has one of that name. */
static enum pl_status add_known(struct reading *r)
{
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++) {
        const char *key = kind->key_variable ? getenv(kind->key_variable) : NULL;
        const char *base = kind->base_variable ? getenv(kind->base_variable) : NULL;
        bool is_there = kind->is_local || (key && *key);
        if (!is_there || has_vendor(r, kind->name) || r->n_vendors == MAX_VENDORS)
            continue;
        if (base && *base && kind->is_local)
            base = ollama_url(r, base);
        if (kind->is_local && kind->base_variable && getenv(kind->base_variable) && !base)
            return PL_NOMEM;
        r->vendors[r->n_vendors++] = (struct pl_vendor_config){
            .name = kind->name,
            .dialect = kind->dialect,
            .base_url = base && *base ? base : kind->base_url,
            .key = kind->key_variable ? key : NULL,
            .key_from = kind->key_variable,
            .is_local = kind->is_local,
        };
    }
    return PL_OK;
}

/* --- "aliases" ------------------------------------------------------------------------------- */

/* Reads a name, or {model: name, weight: n}. */
static enum pl_status read_target(struct reading *r, const struct pl_json_node *node,
                                  const char *what, const char **ret_name, uint32_t *ret_weight,
                                  bool *has_weights, struct pl_error *err)
{
    const struct pl_json_doc *file = r->source->file;
    int64_t weight = 1;
    *ret_weight = 1;
    if (pl_json_kind(node) != PL_JSON_OBJECT)
        return read_text(r, node, what, ret_name, err);
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(node);
         status == PL_OK && key < pl_json_end(node); key = pl_json_next_member(key)) {
        if (pl_json_key_is(file, key, PL_STR("model"))) {
            status = read_text(r, key + 1, what, ret_name, err);
        } else if (pl_json_key_is(file, key, PL_STR("weight"))) {
            char weight_of[140];
            snprintf(weight_of, sizeof weight_of, "a weight of %s", what);
            *has_weights = true;
            status = read_number(r, key + 1, weight_of, 1, PL_SPREAD_MAX_WEIGHT, &weight, err);
        } else {
            struct pl_str name = pl_json_raw(file, key);
            struct pl_suggest suggest = pl_suggest(name);
            pl_suggest_offer(&suggest, "model");
            pl_suggest_offer(&suggest, "weight");
            status = pl_fail(err, PL_INVALID, "%s: a target of %s has no \"%.*s\"%s%s%s", r->place,
                             what, PL_STR_ARG(name), suggest.best ? "; did you mean \"" : "",
                             suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
        }
    }
    *ret_weight = (uint32_t)weight;
    if (status == PL_OK && !*ret_name)
        status = pl_fail(err, PL_INVALID, "%s: a target of %s needs a model", r->place, what);
    return status;
}

static enum pl_status read_targets(struct reading *r, const struct pl_json_node *list,
                                   const char *what, struct pl_alias_config *alias,
                                   struct pl_error *err)
{
    size_t n = pl_json_kind(list) == PL_JSON_ARRAY ? pl_json_count(list) : 0, i = 0;
    bool has_weights = false;
    if (!n || n > MAX_MODELS)
        return pl_fail(err, PL_INVALID, "%s: the targets of %s must be a list of models", r->place,
                       what);
    const char **names = pl_arena_zalloc(r->source->arena, n + 1, sizeof *names);
    uint32_t *weights = pl_arena_zalloc(r->source->arena, n, sizeof *weights);
    enum pl_status status = names && weights ? PL_OK : PL_NOMEM;
    for (const struct pl_json_node *one = pl_json_first(list);
         status == PL_OK && one < pl_json_end(list); one = pl_json_next(one), i++)
        status = read_target(r, one, what, &names[i], &weights[i], &has_weights, err);
    alias->targets = names;
    alias->weights = has_weights ? weights : NULL;
    return status;
}

/* Reads {spread: …, targets: […]}. */
static enum pl_status read_spread_alias(struct reading *r, const struct pl_json_node *object,
                                        const char *what, struct pl_alias_config *alias,
                                        struct pl_error *err)
{
    const struct pl_json_doc *file = r->source->file;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key)) {
        struct pl_str name = pl_json_raw(file, key);
        struct pl_suggest suggest = pl_suggest(name);
        pl_suggest_offer(&suggest, "spread");
        pl_suggest_offer(&suggest, "targets");
        if (pl_str_eq(name, PL_STR("spread")))
            status = read_text(r, key + 1, what, &alias->spread, err);
        else if (pl_str_eq(name, PL_STR("targets")))
            status = read_targets(r, key + 1, what, alias, err);
        else
            status = pl_fail(err, PL_INVALID, "%s: %s has no \"%.*s\"%s%s%s", r->place, what,
                             PL_STR_ARG(name), suggest.best ? "; did you mean \"" : "",
                             suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
    }
    if (status == PL_OK && !alias->targets)
        status = pl_fail(err, PL_INVALID, "%s: %s needs targets", r->place, what);
    return status;
}

static enum pl_status read_alias(struct reading *r, const struct pl_json_node *key,
                                 struct pl_error *err)
{
    struct pl_alias_config *alias = &r->aliases[r->n_aliases];
    char what[100];
    enum pl_status status = read_text(r, key, "the name of an alias", &alias->name, err);
    if (status != PL_OK)
        return status;
    snprintf(what, sizeof what, "the alias %.64s", alias->name);
    *alias = (struct pl_alias_config){.name = alias->name};
    status = pl_json_kind(key + 1) == PL_JSON_OBJECT
                 ? read_spread_alias(r, key + 1, what, alias, err)
                 : read_list(r, key + 1, what, &alias->targets, err);
    alias->place = keep(r, pl_str_of(r->place));
    if (!alias->place)
        return PL_NOMEM;
    r->n_aliases += status == PL_OK;
    return status;
}

static enum pl_status read_members(struct reading *r, const char *name, size_t most,
                                   enum pl_status (*read)(struct reading *,
                                                          const struct pl_json_node *,
                                                          struct pl_error *),
                                   struct pl_error *err)
{
    const struct pl_json_doc *file = r->source->file;
    const struct pl_json_node *object =
        file && file->root ? pl_json_get(file, file->root, pl_str_of(name)) : NULL;
    enum pl_status status = PL_OK;
    if (!object || pl_json_kind(object) == PL_JSON_NULL)
        return PL_OK;
    go_to(r, name, NULL);
    if (pl_json_kind(object) != PL_JSON_OBJECT || pl_json_count(object) > most)
        return pl_fail(err, PL_INVALID, "%s: \"%s\" must be a map of at most %zu names", r->place,
                       name, most);
    for (const struct pl_json_node *key = pl_json_first_member(object);
         status == PL_OK && key < pl_json_end(object); key = pl_json_next_member(key)) {
        const char *below = keep(r, pl_json_raw(file, key));
        if (!below)
            return PL_NOMEM;
        go_to(r, name, below);
        status = note(r, read(r, key, err), err);
    }
    return status;
}

enum pl_status pl_serve_models_read(const struct pl_serve_models_source *source,
                                    struct pl_models_config *config, struct pl_error *err)
{
    struct reading r = {.source = source};
    r.vendors = pl_arena_zalloc(source->arena, MAX_VENDORS, sizeof *r.vendors);
    r.aliases = pl_arena_zalloc(source->arena, MAX_ALIASES, sizeof *r.aliases);
    enum pl_status status = r.vendors && r.aliases ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        status = read_members(&r, "providers", MAX_VENDORS / 2, read_vendor, err);
    if (status == PL_OK)
        status = add_known(&r);
    if (status == PL_OK)
        status = read_members(&r, "aliases", MAX_ALIASES, read_alias, err);
    if (status != PL_OK)
        return status;
    config->vendors = r.vendors;
    config->n_vendors = r.n_vendors;
    config->aliases = r.aliases;
    config->n_aliases = r.n_aliases;
    return PL_OK;
}

/* --- comparing ------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_list(const char *const *a, const char *const *b)
{
    size_t i = 0;
    while (a && b && a[i] && b[i] && strcmp(a[i], b[i]) == 0)
        i++;
    return !(a && a[i]) && !(b && b[i]) && !a == !b;
}

static bool is_same_prices(const struct pl_priced_model *a, const struct pl_priced_model *b)
{
    size_t i = 0;
    while (a && b && a[i].model && b[i].model && strcmp(a[i].model, b[i].model) == 0 &&
           a[i].prices.input == b[i].prices.input && a[i].prices.output == b[i].prices.output &&
           a[i].prices.cache_read == b[i].prices.cache_read &&
           a[i].prices.cache_write == b[i].prices.cache_write)
        i++;
    return !(a && a[i].model) && !(b && b[i].model);
}

static bool is_same_vendor(const struct pl_vendor_config *a, const struct pl_vendor_config *b)
{
    return is_same_text(a->name, b->name) && is_same_text(a->dialect, b->dialect) &&
           is_same_text(a->base_url, b->base_url) && is_same_text(a->key, b->key) &&
           is_same_text(a->ca_file, b->ca_file) && is_same_text(a->key_from, b->key_from) &&
           is_same_text(a->profile, b->profile) && is_same_text(a->embeddings, b->embeddings) &&
           is_same_list(a->models, b->models) && a->is_local == b->is_local &&
           is_same_prices(a->prices, b->prices);
}

static bool is_same_alias(const struct pl_alias_config *a, const struct pl_alias_config *b)
{
    bool is_same = is_same_text(a->name, b->name) && is_same_list(a->targets, b->targets) &&
                   is_same_text(a->spread, b->spread) && !a->weights == !b->weights;
    for (size_t i = 0; is_same && a->weights && a->targets[i]; i++)
        is_same = a->weights[i] == b->weights[i];
    return is_same;
}

static void add_changed(struct pl_buf *names, const char *name, bool is_same)
{
    if (!is_same)
        pl_buf_addf(names, "%s%s", names->len ? ", " : "", name);
}

void pl_serve_models_compare(const struct pl_models_config *a, const struct pl_models_config *b,
                             struct pl_buf *names)
{
    bool is_same = a->n_vendors == b->n_vendors;
    for (size_t i = 0; is_same && i < a->n_vendors; i++)
        is_same = is_same_vendor(&a->vendors[i], &b->vendors[i]);
    add_changed(names, "providers", is_same);
    is_same = a->n_aliases == b->n_aliases;
    for (size_t i = 0; is_same && i < a->n_aliases; i++)
        is_same = is_same_alias(&a->aliases[i], &b->aliases[i]);
    add_changed(names, "aliases", is_same);
}

/* --- showing --------------------------------------------------------------------------------- */

/* Numbers of a provider; 0: not set. */
struct number {
    const char *name;
    int64_t value;
};
enum { N_NUMBERS = 6 };

static void list_numbers(const struct pl_vendor_config *vendor, struct number ret[N_NUMBERS])
{
    const struct number numbers[N_NUMBERS] = {
        {"connect_ms", vendor->connect_ms},
        {"first_byte_ms", vendor->first_byte_ms},
        {"idle_ms", vendor->idle_ms},
        {"max_concurrent", (int64_t)vendor->limits.max},
        {"queue", (int64_t)vendor->limits.max_waiting},
        {"queue_ms", vendor->limits.wait_ms},
    };
    memcpy(ret, numbers, sizeof numbers);
}

/* Prints only the names of headers: a value may be a secret. */
static void print_more(struct pl_console *console, const struct pl_vendor_config *vendor)
{
    struct number numbers[N_NUMBERS];
    list_numbers(vendor, numbers);
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (numbers[i].value)
            pl_console_putf(console, ", %s %lld", numbers[i].name, (long long)numbers[i].value);
    if (vendor->embeddings) {
        pl_console_puts(console, ", embeddings ");
        pl_console_put_safe(console, pl_str_of(vendor->embeddings));
    }
    for (const char *const *line = vendor->headers; line && *line; line++) {
        pl_console_puts(console, line == vendor->headers ? ", headers " : " ");
        pl_console_put_safe(console, (struct pl_str){*line, strcspn(*line, ":")});
    }
}

void pl_serve_models_print(struct pl_console *console, const struct pl_models_config *config)
{
    for (size_t i = 0; i < config->n_vendors; i++) {
        const struct pl_vendor_config *vendor = &config->vendors[i];
        pl_console_putf(console, "provider %s: %s at ", vendor->name, vendor->dialect);
        pl_console_put_safe(console, pl_str_of(vendor->base_url));
        pl_console_puts(console, vendor->key_from ? ", key from " : "");
        pl_console_put_safe(console, pl_str_of(vendor->key_from));
        pl_console_puts(console, vendor->key_from && !vendor->key ? " (missing)" : "");
        print_more(console, vendor);
        pl_console_puts(console, "\n");
    }
    for (size_t i = 0; i < config->n_aliases; i++) {
        const struct pl_alias_config *alias = &config->aliases[i];
        pl_console_putf(console, "alias %s:", alias->name);
        for (const char *const *target = alias->targets; *target; target++) {
            bool is_first = target == alias->targets;
            pl_console_puts(console, is_first ? " " : alias->spread ? ", " : ", then ");
            pl_console_put_safe(console, pl_str_of(*target));
            if (alias->weights)
                pl_console_putf(console, " (weight %u)", alias->weights[target - alias->targets]);
        }
        pl_console_puts(console, alias->spread ? "; spread " : "");
        pl_console_put_safe(console, pl_str_of(alias->spread));
        pl_console_puts(console, "\n");
    }
}

static void write_more(struct pl_json_out *out, const struct pl_vendor_config *vendor)
{
    struct number numbers[N_NUMBERS];
    list_numbers(vendor, numbers);
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (numbers[i].value) {
            pl_json_out_key(out, numbers[i].name);
            pl_json_out_int(out, numbers[i].value);
        }
    if (vendor->embeddings) {
        pl_json_out_key(out, "embeddings");
        pl_json_out_text(out, pl_str_of(vendor->embeddings));
    }
    if (!vendor->headers)
        return;
    pl_json_out_key(out, "headers");
    pl_json_out_open(out, '[');
    for (const char *const *line = vendor->headers; *line; line++)
        pl_json_out_text(out, (struct pl_str){*line, strcspn(*line, ":")});
    pl_json_out_close(out, ']');
}

static void write_vendor(struct pl_json_out *out, const struct pl_vendor_config *vendor)
{
    const struct {
        const char *key, *text;
    } fields[] = {
        {"dialect", vendor->dialect},
        {"base_url", vendor->base_url},
        {"key_from", vendor->key_from},
    };
    pl_json_out_key(out, vendor->name);
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        pl_json_out_key(out, fields[i].key);
        if (fields[i].text)
            pl_json_out_text(out, pl_str_of(fields[i].text));
        else
            pl_json_out_null(out);
    }
    write_more(out, vendor);
    pl_json_out_close(out, '}');
}

static void write_alias(struct pl_json_out *out, const struct pl_alias_config *alias)
{
    pl_json_out_key(out, alias->name);
    if (alias->spread) {
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "spread");
        pl_json_out_text(out, pl_str_of(alias->spread));
        pl_json_out_key(out, "targets");
    }
    pl_json_out_open(out, '[');
    for (size_t i = 0; alias->targets[i]; i++) {
        if (!alias->weights) {
            pl_json_out_text(out, pl_str_of(alias->targets[i]));
            continue;
        }
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "model");
        pl_json_out_text(out, pl_str_of(alias->targets[i]));
        pl_json_out_key(out, "weight");
        pl_json_out_int(out, alias->weights[i]);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
    if (alias->spread)
        pl_json_out_close(out, '}');
}

void pl_serve_models_write(struct pl_json_out *out, const struct pl_models_config *config)
{
    pl_json_out_key(out, "providers");
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < config->n_vendors; i++)
        write_vendor(out, &config->vendors[i]);
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "aliases");
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < config->n_aliases; i++)
        write_alias(out, &config->aliases[i]);
    pl_json_out_close(out, '}');
}
