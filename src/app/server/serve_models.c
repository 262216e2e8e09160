/* Reads vendors and aliases from the configuration file and the environment. Each member is checked
 * here, so that an error can name its line. */
#include "app/server/serve_models.h"

#include "app/server/serve_config.h"
#include "base/text/suggest.h"
#include "io/file/file.h"
#include "io/system/machine.h"
#include "json/number.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_KEY_FILE = 64 << 10, MAX_VENDORS = 64, MAX_ALIASES = 256, MAX_MODELS = 256 };

const char *const pl_serve_models_settings[] = {"providers", "aliases", NULL};

struct reading {
    const struct pl_serve_models_source *source;
    struct pl_vendor_config *vendors; /* arena; MAX_VENDORS of them */
    size_t n_vendors;
    struct pl_alias_config *aliases; /* arena; MAX_ALIASES of them */
    size_t n_aliases;
    char place[4096]; /* the file, and the line of what is being read */
};

/* A mistake ends the reading, unless all of them are gathered. */
static enum pl_status note(const struct reading *r, enum pl_status status,
                           const struct pl_error *err)
{
    if (!r->source->problems || status == PL_OK || status == PL_NOMEM)
        return status;
    pl_buf_addf(r->source->problems, "%s\n", err->message);
    return PL_OK;
}

/* Where the next mistake is, for the sentence about it. */
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

/* A string of the file; `what` is its place, for the sentence. */
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

/* A text, or a list of them. */
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

static enum pl_status read_key_file(const struct reading *r, const char *path, const char **ret_key,
                                    struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_path_info info = pl_path_look(path);
    if (info.is_there && (info.mode & 077))
        return pl_fail(err, PL_INVALID,
                       "other users can read the key in %s; protect it with \"chmod 600\"", path);
    enum pl_status status = pl_file_read(path, MAX_KEY_FILE, NULL, &file, err);
    if (status != PL_OK) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", err->message);
        return pl_fail(err, status, "the key in %s cannot be read: %s", path, why);
    }
    struct pl_str text = file.bytes;
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    if (!text.len || memchr(text.ptr, '\0', text.len))
        return pl_fail(err, PL_INVALID, "%s contains no key", path);
    *ret_key = keep(r, text);
    return *ret_key ? PL_OK : PL_NOMEM;
}

static enum pl_status find_key(const struct reading *r, struct pl_vendor_config *vendor,
                               const char *variable, const char *file, struct pl_error *err)
{
    if (variable && file)
        return pl_fail(err, PL_INVALID,
                       "%s: the provider %s has both key_env and key_file; give only one", r->place,
                       vendor->name);
    vendor->key_from = variable ? variable : file;
    if (file)
        return read_key_file(r, file, &vendor->key, err);
    const char *key = variable ? getenv(variable) : NULL;
    if (variable && (!key || !*key))
        return pl_fail(err, PL_INVALID,
                       "%s: the provider %s takes its key from %s, which is not set", r->place,
                       vendor->name, variable);
    vendor->key = key;
    return PL_OK;
}

/* --- "providers" ----------------------------------------------------------------------------- */

enum field { DIALECT, BASE_URL, KEY_ENV, KEY_FILE, CA_FILE, PROFILE, MODELS, PRICES, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"dialect", "base_url", "key_env", "key_file",
                                                  "ca_file", "profile",  "models",  "prices"};

static int field_of(struct pl_str name, struct pl_suggest *suggest)
{
    for (int i = 0; i < N_FIELDS; i++) {
        if (pl_str_eq(name, pl_str_of(field_names[i])))
            return i;
        pl_suggest_offer(suggest, field_names[i]);
    }
    return -1;
}

/* One price: dollars for a million tokens. */
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

/* {model: {input: …, output: …}}; "*" is every model of the provider. */
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
        /* What was read from a cache or written to it costs at least what is not known. */
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

static enum pl_status read_fields(struct reading *r, const struct pl_json_node *object,
                                  struct pl_vendor_config *vendor, const char *texts[N_FIELDS],
                                  struct pl_error *err)
{
    enum pl_status status = PL_OK;
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
        status = field == MODELS   ? read_list(r, key + 1, what, &vendor->models, err)
                 : field == PRICES ? read_prices(r, key + 1, what, &vendor->prices, err)
                                   : read_text(r, key + 1, what, &texts[field], err);
    }
    return status;
}

static const struct pl_vendor_kind *kind_of(const char *name)
{
    for (const struct pl_vendor_kind *kind = pl_vendor_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

/* What is not said of one everybody knows is what everybody knows. */
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
    if (!vendor->dialect || !vendor->base_url)
        return pl_fail(err, PL_INVALID, "%s: the provider %s needs a dialect and a base_url",
                       r->place, vendor->name);
    const char *variable = texts[KEY_ENV];
    if (!variable && !texts[KEY_FILE] && kind)
        variable = kind->key_variable;
    vendor->place = keep(r, pl_str_of(r->place));
    if (!vendor->place)
        return PL_NOMEM;
    /* What is shown in spite of its mistakes may have a password in it. */
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

/* OLLAMA_HOST is a host, a port, both, or an address; what everybody listens on means this machine.
 */
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

/* Those of the environment, unless the file has one of that name. */
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

static enum pl_status read_alias(struct reading *r, const struct pl_json_node *key,
                                 struct pl_error *err)
{
    struct pl_alias_config *alias = &r->aliases[r->n_aliases];
    char what[100];
    enum pl_status status = read_text(r, key, "the name of an alias", &alias->name, err);
    if (status != PL_OK)
        return status;
    snprintf(what, sizeof what, "the alias %.64s", alias->name);
    status = read_list(r, key + 1, what, &alias->targets, err);
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
           is_same_text(a->profile, b->profile) && is_same_list(a->models, b->models) &&
           a->is_local == b->is_local && is_same_prices(a->prices, b->prices);
}

static bool is_same_alias(const struct pl_alias_config *a, const struct pl_alias_config *b)
{
    return is_same_text(a->name, b->name) && is_same_list(a->targets, b->targets);
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

void pl_serve_models_print(struct pl_console *console, const struct pl_models_config *config)
{
    for (size_t i = 0; i < config->n_vendors; i++) {
        const struct pl_vendor_config *vendor = &config->vendors[i];
        pl_console_putf(console, "provider %s: %s at ", vendor->name, vendor->dialect);
        pl_console_put_safe(console, pl_str_of(vendor->base_url));
        pl_console_puts(console, vendor->key_from ? ", key from " : "");
        pl_console_put_safe(console, pl_str_of(vendor->key_from));
        pl_console_puts(console, vendor->key_from && !vendor->key ? " (missing)\n" : "\n");
    }
    for (size_t i = 0; i < config->n_aliases; i++) {
        pl_console_putf(console, "alias %s:", config->aliases[i].name);
        for (const char *const *target = config->aliases[i].targets; *target; target++) {
            pl_console_puts(console, target == config->aliases[i].targets ? " " : ", then ");
            pl_console_put_safe(console, pl_str_of(*target));
        }
        pl_console_puts(console, "\n");
    }
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
    for (size_t i = 0; i < config->n_aliases; i++) {
        pl_json_out_key(out, config->aliases[i].name);
        pl_json_out_open(out, '[');
        for (const char *const *target = config->aliases[i].targets; *target; target++)
            pl_json_out_text(out, pl_str_of(*target));
        pl_json_out_close(out, ']');
    }
    pl_json_out_close(out, '}');
}
