/* Builds the table of vendors, aliases and families from a configuration, and checks it: names,
 * URLs, keys. */
#include "model/vendor/vendors_int.h"

#include "base/mem.h"
#include "model/facts.h"
#include "model/model_int.h"

#include <stdio.h>
#include <strings.h>

const struct pl_vendor_kind pl_vendor_kinds[] = {
    {"openai", "openai-responses", "https://api.openai.com", "OPENAI_API_KEY", "OPENAI_BASE_URL",
     false, PL_EMBED_OPENAI},
    {"openai-chat", "openai-chat", "https://api.openai.com", "OPENAI_API_KEY", "OPENAI_BASE_URL",
     false, PL_EMBED_OPENAI},
    {"anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY",
     "ANTHROPIC_BASE_URL", false, PL_EMBED_NONE},
    {"gemini", "gemini", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY",
     "GOOGLE_GEMINI_BASE_URL", false, PL_EMBED_GEMINI},
    {"ollama", "openai-chat", "http://127.0.0.1:11434", NULL, "OLLAMA_HOST", true, PL_EMBED_OLLAMA},
    {"llamacpp", "openai-chat", "http://127.0.0.1:8080", NULL, NULL, true, PL_EMBED_OPENAI},
    {"vllm", "openai-chat", "http://127.0.0.1:8000", NULL, NULL, true, PL_EMBED_OPENAI},
    {"lmstudio", "openai-chat", "http://127.0.0.1:1234", NULL, NULL, true, PL_EMBED_OPENAI},
    {.name = NULL},
};

const struct pl_cooldown *pl_cooldown_at(const struct pl_models *models, size_t i)
{
    return i < models->n_cooldowns ? &models->cooldowns[i] : NULL;
}

/* --- making ---------------------------------------------------------------------------------- */

static const char *copy(struct pl_arena *arena, const char *text)
{
    struct pl_str whole = pl_arena_dup(arena, (struct pl_str){text, strlen(text) + 1});
    return whole.ptr;
}

static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";
    size_t n = strlen(name);
    return n && n <= 64 && strspn(name, allowed) == n;
}

static bool is_ours(struct pl_str name)
{
    return pl_str_eq(name, PL_STR("demo")) || pl_str_eq(name, PL_STR("replay"));
}

/* "/v1", "/v1beta", "/v4/openai": an address with a version keeps it. */
static bool has_version(struct pl_str url)
{
    for (size_t i = 0; i + 2 < url.len; i++)
        if (url.ptr[i] == '/' && url.ptr[i + 1] == 'v' && url.ptr[i + 2] >= '0' &&
            url.ptr[i + 2] <= '9')
            return true;
    return false;
}

static enum pl_status read_base(struct pl_models *made, const struct pl_vendor_config *config,
                                const char **ret_url, struct pl_error *err)
{
    struct pl_str url = pl_str_of(config->base_url);
    bool is_http = pl_str_starts(url, PL_STR("http://")) || pl_str_starts(url, PL_STR("https://"));
    for (size_t i = 0; is_http && i < url.len; i++)
        is_http = url.ptr[i] > ' ' && url.ptr[i] < 0x7F && !strchr("?#@\\", url.ptr[i]);
    if (!is_http)
        return pl_fail(err, PL_INVALID,
                       "the base_url of the provider %s must be an http:// or https:// address "
                       "without user, query or fragment",
                       config->name);
    while (url.ptr[url.len - 1] == '/')
        url.len--;
    const char *version = strcmp(config->dialect, "gemini") == 0 ? "/v1beta" : "/v1";
    size_t n = url.len + strlen(version) + 1;
    char *text = pl_arena_alloc(&made->arena, n, 1);
    if (!text)
        return PL_NOMEM;
    snprintf(text, n, "%.*s%s", PL_STR_ARG(url), has_version(url) ? "" : version);
    *ret_url = text;
    return PL_OK;
}

/* A key is sent in a header. */
static enum pl_status check_key(const struct pl_vendor_config *config, struct pl_error *err)
{
    for (const char *at = config->key; at && *at; at++)
        if (*at <= ' ' || *at >= 0x7F)
            return pl_fail(err, PL_INVALID,
                           "the key of the provider %s (%s) contains a blank or an invalid "
                           "character",
                           config->name, config->key_from ? config->key_from : "from its file");
    return PL_OK;
}

/* A model keeps the name it was requested by, so the entries differ only in the context window: one
 * for every size. */
static enum pl_status make_families(struct pl_models *made, struct pl_vendor_own *own)
{
    size_t n_windows = 0;
    while (pl_windows[n_windows].prefix)
        n_windows++;
    struct pl_model_info *infos = pl_arena_zalloc(&made->arena, n_windows + 1, sizeof *infos);
    if (!infos)
        return PL_NOMEM;
    for (size_t i = 0; i <= n_windows; i++)
        infos[i] = (struct pl_model_info){
            .name = own->vendor.name,
            .about = "A model of a vendor",
            .context_window = pl_windows[i].n_tokens, /* 0 after the last */
            .is_family = true,
        };
    own->families = infos;
    own->n_families = n_windows + 1;
    return PL_OK;
}

enum pl_status pl_model_info_make(struct pl_arena *arena, const struct pl_vendor *vendor,
                                  struct pl_str model, struct pl_model_info *ret_info)
{
    size_t n = strlen(vendor->name) + model.len + 2;
    char *name = pl_arena_alloc(arena, n, 1);
    if (!name)
        return PL_NOMEM;
    snprintf(name, n, "%s/%.*s", vendor->name, PL_STR_ARG(model));
    *ret_info = (struct pl_model_info){
        .name = name,
        .about = "A model of a vendor",
        .context_window = pl_profile_window(model),
    };
    return PL_OK;
}

static bool is_known_name(const struct pl_model_facts *facts, const struct pl_vendor_own *own)
{
    return facts->is_listed && pl_model_facts_are_of(facts, own->vendor.name);
}

static enum pl_status list_models(struct pl_models *made, struct pl_vendor_own *own,
                                  const char *const *names)
{
    size_t n = 0;
    for (size_t i = 0; names && names[i]; i++)
        n++;
    for (const struct pl_model_facts *facts = pl_model_facts; !names && facts->prefix; facts++)
        n += is_known_name(facts, own);
    struct pl_model_info *infos = pl_arena_zalloc(&made->arena, n + 1, sizeof *infos);
    enum pl_status status = infos ? PL_OK : PL_NOMEM;
    n = 0;
    for (size_t i = 0; status == PL_OK && names && names[i]; i++)
        status = pl_model_info_make(&made->arena, &own->vendor, pl_str_of(names[i]), &infos[n++]);
    for (const struct pl_model_facts *facts = pl_model_facts;
         status == PL_OK && !names && facts->prefix; facts++)
        if (is_known_name(facts, own))
            status = pl_model_info_make(&made->arena, &own->vendor, pl_str_of(facts->prefix),
                                        &infos[n++]);
    own->models = infos;
    own->n_models = n;
    return status;
}

static const char *copy_or_null(struct pl_models *made, const char *text, enum pl_status *status)
{
    const char *copied = text ? copy(&made->arena, text) : NULL;
    if (text && !copied)
        *status = PL_NOMEM;
    return copied;
}

static const struct pl_priced_model *
copy_prices(struct pl_models *made, const struct pl_priced_model *prices, enum pl_status *status)
{
    size_t n = 0;
    while (prices && prices[n].model)
        n++;
    struct pl_priced_model *copy = n ? pl_arena_zalloc(&made->arena, n + 1, sizeof *copy) : NULL;
    if (n && !copy)
        *status = PL_NOMEM;
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = prices[i];
        copy[i].model = copy_or_null(made, prices[i].model, status);
    }
    return copy;
}

/* Headers that are set by the connection, the dialect or the key. */
static bool is_own_header(const char *line)
{
    static const char *const names[] = {
        "host",       "content-length",  "content-type", "transfer-encoding",
        "connection", "authorization",   "x-api-key",    "x-goog-api-key",
        "accept",     "traceparent",     "te",           "upgrade",
        "expect",     "accept-encoding", "trailer",
    };
    size_t n = strcspn(line, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(line, names[i], n) == 0)
            return true;
    return false;
}

static bool is_header_line(const char *line)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "!#$%&'*+-.^_`|~";
    size_t n = strspn(line, name);
    if (!n || strncmp(line + n, ": ", 2) != 0 || !line[n + 2])
        return false;
    for (const char *at = line + n + 2; *at; at++)
        if (*at < ' ' || *at >= 0x7F)
            return false;
    return line[n + 2] != ' ' && line[strlen(line) - 1] != ' ';
}

/* Messages contain no values, because they may be secrets. */
static enum pl_status check_headers(const struct pl_vendor_config *config, struct pl_error *err)
{
    size_t n = 0;
    for (const char *const *line = config->headers; line && *line; line++, n++) {
        int n_name = (int)strcspn(*line, ":");
        n_name = n_name < 64 ? n_name : 64;
        if (!is_header_line(*line))
            return pl_fail(err, PL_INVALID,
                           "the header \"%.*s\" of the provider %s is not valid: a name has "
                           "letters, digits and hyphens, and a value visible characters of ASCII",
                           n_name, *line, config->name);
        if (is_own_header(*line))
            return pl_fail(err, PL_INVALID,
                           "the header %.*s of the provider %s cannot be set: Parley writes it "
                           "itself; a key is key_env or key_file",
                           n_name, *line, config->name);
    }
    return n <= PL_VENDOR_MAX_HEADERS
               ? PL_OK
               : pl_fail(err, PL_INVALID, "the provider %s has more than %d headers", config->name,
                         PL_VENDOR_MAX_HEADERS);
}

static const char *const *copy_headers(struct pl_models *made, const char *const *lines,
                                       enum pl_status *status)
{
    size_t n = 0;
    while (lines && lines[n])
        n++;
    const char **copied = n ? pl_arena_zalloc(&made->arena, n + 1, sizeof *copied) : NULL;
    if (n && !copied)
        *status = PL_NOMEM;
    for (size_t i = 0; copied && i < n; i++)
        copied[i] = copy_or_null(made, lines[i], status);
    return copied;
}

static enum pl_status check_limits(const struct pl_vendor_config *config, struct pl_error *err)
{
    const struct pl_gate_limits *limits = &config->limits;
    if (limits->max || (!limits->max_waiting && !limits->wait_ms))
        return PL_OK;
    return pl_fail(err, PL_INVALID,
                   "the provider %s has a queue but no max_concurrent: nobody would ever wait",
                   config->name);
}

static enum pl_status check_vendor(const struct pl_models *made,
                                   const struct pl_vendor_config *config, struct pl_error *err)
{
    if (!is_name(config->name) || is_ours(pl_str_of(config->name)))
        return pl_fail(err, PL_INVALID,
                       "\"%.64s\" is not a valid provider name: use letters, digits, - _ . and :, "
                       "but not demo or replay",
                       config->name);
    for (size_t i = 0; i < made->n_vendors; i++)
        if (strcmp(made->vendors[i].vendor.name, config->name) == 0)
            return pl_fail(err, PL_INVALID, "there are two providers with the name %s",
                           config->name);
    if (config->profile && !pl_profile_find(pl_str_of(config->profile)))
        return pl_fail(err, PL_INVALID, "the provider %s: there is no profile \"%.64s\"",
                       config->name, config->profile);
    enum pl_status status = check_key(config, err);
    if (status == PL_OK)
        status = check_headers(config, err);
    return status == PL_OK ? check_limits(config, err) : status;
}

/* As configured; otherwise as for the well-known vendor of that name and dialect; otherwise by the
 * dialect. */
static enum pl_status read_embeddings(const struct pl_vendor_config *config,
                                      enum pl_embed_shape *ret_shape, struct pl_error *err)
{
    static const struct {
        const char *dialect;
        enum pl_embed_shape shape;
    } usual[] = {{"openai-chat", PL_EMBED_OPENAI},
                 {"openai-responses", PL_EMBED_OPENAI},
                 {"gemini", PL_EMBED_GEMINI}};
    for (int i = 0; config->embeddings && i < PL_EMBED_SHAPES; i++)
        if (strcmp(pl_embed_words[i], config->embeddings) == 0) {
            *ret_shape = (enum pl_embed_shape)i;
            return PL_OK;
        }
    if (config->embeddings)
        return pl_fail(err, PL_INVALID,
                       "the provider %s has the embeddings \"%.64s\"; they must be openai, ollama, "
                       "gemini or none",
                       config->name, config->embeddings);
    *ret_shape = PL_EMBED_NONE;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i].dialect, config->dialect) == 0)
            *ret_shape = usual[i].shape;
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++)
        if (strcmp(kind->name, config->name) == 0 && strcmp(kind->dialect, config->dialect) == 0)
            *ret_shape = kind->embeds;
    return PL_OK;
}

static enum pl_status add_vendor(struct pl_models *made, const struct pl_models_config *times,
                                 const struct pl_vendor_config *config, struct pl_error *err)
{
    enum pl_status status = check_vendor(made, config, err);
    if (status != PL_OK)
        return status;
    struct pl_vendor_own *own = &made->vendors[made->n_vendors];
    own->format = pl_format_find(pl_str_of(config->dialect));
    own->dialect = pl_dialect_find(pl_str_of(config->dialect));
    if (!own->format || !own->dialect || !own->format->is_vendor)
        return pl_fail(err, PL_INVALID,
                       "the provider %s has the dialect \"%.64s\"; it must be openai-chat, "
                       "openai-responses, anthropic or gemini",
                       config->name, config->dialect);
    own->profile = config->profile ? pl_profile_find(pl_str_of(config->profile)) : NULL;
    own->is_local = config->is_local;
    own->vendor = (struct pl_vendor){
        .name = copy_or_null(made, config->name, &status),
        .dialect = own->format->name,
        .key = copy_or_null(made, config->key, &status),
        .key_from = copy_or_null(made, config->key_from, &status),
        .ca_file = copy_or_null(made, config->ca_file, &status),
        .connect_ms = config->connect_ms ? config->connect_ms : times->connect_ms,
        .first_byte_ms = config->first_byte_ms ? config->first_byte_ms : times->first_byte_ms,
        .idle_ms = config->idle_ms ? config->idle_ms : times->idle_ms,
        .headers = copy_headers(made, config->headers, &status),
        .is_local = config->is_local,
        .prices = copy_prices(made, config->prices, &status),
        .home = made,
        .stats = pl_arena_zalloc(&made->arena, 1, sizeof(struct pl_vendor_stats)),
    };
    own->limits = config->limits;
    if (status == PL_OK && own->limits.max)
        own->vendor.gate = pl_gate_create(&own->limits);
    /* Counted from here on, so that its resources are freed. */
    made->n_vendors++;
    if (!own->vendor.stats || (own->limits.max && !own->vendor.gate))
        status = PL_NOMEM;
    if (status == PL_OK)
        status = read_embeddings(config, &own->vendor.embeds, err);
    if (status == PL_OK)
        status = read_base(made, config, &own->vendor.base_url, err);
    if (status == PL_OK)
        status = make_families(made, own);
    if (status == PL_OK)
        status = list_models(made, own, config->models);
    return status;
}

static enum pl_status check_alias(const struct pl_models *made,
                                  const struct pl_alias_config *config, size_t n_targets,
                                  struct pl_error *err)
{
    struct pl_str name = pl_str_of(config->name);
    if (!is_name(config->name) || is_ours(name))
        return pl_fail(
            err, PL_INVALID,
            "\"%.64s\" is not a valid alias: use letters, digits, - _ . and :", config->name);
    for (size_t i = 0; i < made->n_aliases; i++)
        if (strcmp(made->aliases[i].info.name, config->name) == 0)
            return pl_fail(err, PL_INVALID, "there are two aliases with the name %s", config->name);
    if (!n_targets || n_targets > PL_VENDOR_MAX_CHAIN)
        return pl_fail(err, PL_INVALID, "the alias %s must have 1 to %d models", config->name,
                       PL_VENDOR_MAX_CHAIN);
    return PL_OK;
}

static enum pl_status describe_alias(struct pl_models *made, struct pl_alias *alias)
{
    PL_CLEANUP_BUF struct pl_buf about;
    pl_buf_init(&about, 0);
    pl_buf_adds(&about, "Alias of ");
    for (size_t i = 0; i < alias->n_targets; i++) {
        pl_buf_adds(&about, !i ? "" : alias->spread.by == PL_SPREAD_ORDER ? ", then " : ", ");
        pl_buf_add(&about, alias->targets[i]);
    }
    if (alias->spread.by != PL_SPREAD_ORDER)
        pl_buf_addf(&about, " (%s)", pl_spread_words[alias->spread.by]);
    pl_buf_addc(&about, '\0');
    alias->info.about = about.status == PL_OK ? copy(&made->arena, about.ptr) : NULL;
    return alias->info.about ? PL_OK : PL_NOMEM;
}

static enum pl_status read_spread(struct pl_models *made, const struct pl_alias_config *config,
                                  struct pl_alias *alias, struct pl_error *err)
{
    int by = config->spread ? -1 : PL_SPREAD_ORDER;
    for (int i = 0; config->spread && i < PL_SPREADS; i++)
        if (strcmp(config->spread, pl_spread_words[i]) == 0)
            by = i;
    if (by < 0)
        return pl_fail(err, PL_INVALID,
                       "the alias %s has the spread \"%.64s\"; it must be order, round_robin, "
                       "weighted or least_busy",
                       config->name, config->spread);
    alias->spread.by = (enum pl_spread)by;
    if (config->weights && by != PL_SPREAD_WEIGHTED)
        return pl_fail(err, PL_INVALID,
                       "the alias %s has weights, which only count with the spread weighted",
                       config->name);
    if (by != PL_SPREAD_ORDER && alias->n_targets < 2)
        return pl_fail(err, PL_INVALID,
                       "the alias %s has a spread but only one model; name several", config->name);
    if (!config->weights)
        return PL_OK;
    uint32_t *weights = pl_arena_alloc(&made->arena, alias->n_targets * sizeof *weights, 4);
    for (size_t i = 0; weights && i < alias->n_targets; i++)
        weights[i] = config->weights[i];
    alias->weights = weights;
    return weights ? PL_OK : PL_NOMEM;
}

static struct pl_cooldown *cooldown_of(struct pl_models *made, const char *model)
{
    for (size_t i = 0; i < made->n_cooldowns; i++)
        if (strcmp(made->cooldowns[i].model, model) == 0)
            return &made->cooldowns[i];
    struct pl_cooldown *cooldown = &made->cooldowns[made->n_cooldowns++];
    cooldown->model = model;
    cooldown->rest_ms = made->cooldown_ms;
    return cooldown;
}

static enum pl_status add_cooldowns(struct pl_models *made, struct pl_alias *alias)
{
    if (alias->n_targets < 2)
        return PL_OK;
    alias->cooldowns = pl_arena_zalloc(&made->arena, alias->n_targets, sizeof *alias->cooldowns);
    if (!alias->cooldowns)
        return PL_NOMEM;
    for (size_t i = 0; i < alias->n_targets; i++)
        alias->cooldowns[i] = cooldown_of(made, alias->targets[i].ptr);
    return PL_OK;
}

static enum pl_status add_alias(struct pl_models *made, const struct pl_alias_config *config,
                                struct pl_error *err)
{
    size_t n = 0;
    while (config->targets[n])
        n++;
    enum pl_status status = check_alias(made, config, n, err);
    if (status != PL_OK)
        return status;
    struct pl_alias *alias = &made->aliases[made->n_aliases];
    struct pl_str *targets = pl_arena_zalloc(&made->arena, n, sizeof *targets);
    alias->info.name = copy(&made->arena, config->name);
    if (!targets || !alias->info.name)
        return PL_NOMEM;
    int64_t least = 0;
    for (size_t i = 0; i < n; i++) {
        const char *target = copy(&made->arena, config->targets[i]);
        if (!target)
            return PL_NOMEM;
        targets[i] = pl_str_of(target);
        int64_t window = pl_profile_window(targets[i]);
        least = window && (!least || window < least) ? window : least;
    }
    alias->info.context_window = least;
    alias->targets = targets;
    alias->n_targets = n;
    status = read_spread(made, config, alias, err);
    if (status == PL_OK)
        status = add_cooldowns(made, alias);
    if (status == PL_OK)
        status = describe_alias(made, alias);
    made->n_aliases += status == PL_OK;
    return status;
}

void pl_models_destroy(struct pl_models *models)
{
    if (!models)
        return;
    for (size_t i = 0; i < models->n_vendors; i++) {
        pl_gate_unref(models->vendors[i].vendor.gate);
        struct pl_found_models *found = atomic_load(&models->vendors[i].found);
        if (found)
            pl_arena_deinit(&found->arena);
        pl_mem_free(found);
    }
    pl_model_counts_release(models->counts);
    pl_arena_deinit(&models->arena);
    pl_mem_free(models);
}

void pl_gates_inherit(struct pl_models *models, const struct pl_models *before)
{
    for (size_t i = 0; i < models->n_vendors; i++) {
        struct pl_vendor_own *own = &models->vendors[i];
        struct pl_gate *old = NULL;
        for (size_t k = 0; k < before->n_vendors; k++)
            if (strcmp(own->vendor.name, before->vendors[k].vendor.name) == 0)
                old = before->vendors[k].vendor.gate;
        if (!old || !own->vendor.gate)
            continue;
        pl_gate_unref(own->vendor.gate);
        own->vendor.gate = pl_gate_ref(old);
        pl_gate_set(old, &own->limits);
    }
}

bool pl_gate_at(const struct pl_models *models, size_t i, const char **ret_name,
                struct pl_gate **ret_gate)
{
    if (!models || i >= models->n_vendors)
        return false;
    *ret_name = models->vendors[i].vendor.name;
    *ret_gate = models->vendors[i].vendor.gate;
    return true;
}

/* Prefixes the message with the place in the configuration. */
static enum pl_status say_place(enum pl_status status, const char *place, struct pl_error *err)
{
    if (status == PL_OK || status == PL_NOMEM || !place || !err)
        return status;
    struct pl_error why = *err;
    return pl_fail(err, status, "%.300s: %s", place, why.message);
}

enum pl_status pl_models_create(const struct pl_models_config *config,
                                struct pl_models **ret_models, struct pl_error *err)
{
    struct pl_models *made = pl_mem_alloc(1, sizeof *made);
    if (!made)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *made = (struct pl_models){.cooldown_ms = config->cooldown_ms,
                               .demo_word_ms = config->demo_word_ms};
    pl_arena_init(&made->arena, 0);
    made->vendors = pl_arena_zalloc(&made->arena, config->n_vendors + 1, sizeof *made->vendors);
    made->aliases = pl_arena_zalloc(&made->arena, config->n_aliases + 1, sizeof *made->aliases);
    made->cooldowns = pl_arena_zalloc(&made->arena, config->n_aliases * PL_VENDOR_MAX_CHAIN + 1,
                                      sizeof *made->cooldowns);
    made->counts = pl_model_counts_create();
    bool is_whole = made->vendors && made->aliases && made->cooldowns && made->counts;
    enum pl_status status = is_whole ? PL_OK : PL_NOMEM;
    for (size_t i = 0; status == PL_OK && i < config->n_vendors; i++)
        status = say_place(add_vendor(made, config, &config->vendors[i], err),
                           config->vendors[i].place, err);
    for (size_t i = 0; status == PL_OK && i < config->n_aliases; i++)
        status =
            say_place(add_alias(made, &config->aliases[i], err), config->aliases[i].place, err);
    if (status == PL_OK)
        *ret_models = made;
    else
        pl_models_destroy(made);
    return status == PL_NOMEM ? pl_fail(err, PL_NOMEM, "out of memory") : status;
}

int64_t pl_models_demo_word_ms(const struct pl_models *models)
{
    return models ? models->demo_word_ms : 0;
}

const struct pl_vendor *pl_models_vendor_at(const struct pl_models *models, size_t i)
{
    return models && i < models->n_vendors ? &models->vendors[i].vendor : NULL;
}
