/* Lists the models in the format of the client's vendor: OpenAI, Anthropic (its clients send the
 * version of the API) or Google. A list has pages if the client requests them, with the cursors of
 * its vendor. */
#include "gateway/gateway.h"

#include "base/text/decimal.h"
#include "base/text/utc.h"
#include "gateway/routes.h"
#include "json/write.h"
#include "model/model.h"

#include <stdio.h>

enum { MAX_MODELS = 10000, MAX_PAGE = 1000 };

struct pl_str pl_gateway_model_in_path(struct pl_exchange *x)
{
    size_t n = 1, size = 0;
    if (!x->args[1].ptr)
        return x->args[0];
    for (; n < PL_ROUTE_MAX_ARGS && x->args[n].ptr; n++)
        size += x->args[n].len + 1;
    size += x->args[0].len;
    char *joined = pl_arena_alloc(&x->arena, size, 1);
    struct pl_str whole = {joined, 0};
    for (size_t i = 0; joined && i < n; i++) {
        if (i)
            joined[whole.len++] = '/';
        memcpy(joined + whole.len, x->args[i].ptr, x->args[i].len);
        whole.len += x->args[i].len;
    }
    return whole;
}

/* --- one model ------------------------------------------------------------------------------- */

static void member(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static struct pl_str owner_of(struct pl_str name)
{
    const char *slash = memchr(name.ptr, '/', name.len);
    return slash ? pl_str_slice(name, 0, (size_t)(slash - name.ptr)) : PL_STR("parley");
}

/* The date from the model's server, else the start of this server. */
static int64_t created_s(const struct pl_exchange *x, const struct pl_model_info *info)
{
    return info->created_s ? info->created_s : x->shard->server->started_ms / 1000;
}

typedef void write_model_fn(struct pl_exchange *x, struct pl_json_out *out,
                            const struct pl_model_info *info, struct pl_str name);

static void write_openai(struct pl_exchange *x, struct pl_json_out *out,
                         const struct pl_model_info *info, struct pl_str name)
{
    pl_json_out_open(out, '{');
    member(out, "id", name);
    member(out, "object", PL_STR("model"));
    pl_json_out_key(out, "created");
    pl_json_out_int(out, created_s(x, info));
    member(out, "owned_by", owner_of(name));
    pl_json_out_close(out, '}');
}

static void write_anthropic(struct pl_exchange *x, struct pl_json_out *out,
                            const struct pl_model_info *info, struct pl_str name)
{
    char instant[PL_UTC_SIZE];
    pl_utc_write(instant, created_s(x, info) * 1000);
    pl_json_out_open(out, '{');
    member(out, "type", PL_STR("model"));
    member(out, "id", name);
    member(out, "display_name", name);
    member(out, "created_at", (struct pl_str){instant, sizeof instant});
    pl_json_out_close(out, '}');
}

static void write_gemini(struct pl_exchange *x, struct pl_json_out *out,
                         const struct pl_model_info *info, struct pl_str name)
{
    char path[320];
    int n = snprintf(path, sizeof path, "models/%.*s", PL_STR_ARG(name));
    size_t len = n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1;
    (void)x;
    pl_json_out_open(out, '{');
    member(out, "name", (struct pl_str){path, len});
    member(out, "displayName", name);
    member(out, "description", pl_str_of(info->about));
    if (info->context_window) {
        pl_json_out_key(out, "inputTokenLimit");
        pl_json_out_int(out, info->context_window);
    }
    pl_json_out_key(out, "supportedGenerationMethods");
    pl_json_out_raw(
        out, info->is_embedding
                 ? PL_STR("[]")
                 : PL_STR("[\"generateContent\",\"streamGenerateContent\",\"countTokens\"]"));
    pl_json_out_close(out, '}');
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Our own embedding model comes after all chat models. */
static const struct pl_model_info *model_at(const struct pl_models *models, size_t i)
{
    const struct pl_model_info *info = pl_model_at(models, i);
    if (!info && (i == 0 || pl_model_at(models, i - 1)))
        info = pl_embedding_model;
    return info;
}

struct page {
    size_t from, to, n; /* the models from `from` up to `to`, of n */
};

static size_t count_models(const struct pl_models *models)
{
    size_t n = 0;
    while (n < MAX_MODELS && model_at(models, n))
        n++;
    return n;
}

/* The index of the model that a cursor names; false after making a problem. */
static bool find_cursor(struct pl_exchange *x, const char *param, const char *prefix,
                        size_t *ret_place)
{
    struct pl_str name = pl_target_param(&x->target, param);
    const struct pl_model_info *info;
    if (pl_str_starts(name, pl_str_of(prefix)))
        name = pl_str_slice(name, strlen(prefix), name.len);
    for (size_t i = 0; i < MAX_MODELS && (info = model_at(x->setup->models, i)); i++)
        if (pl_str_eq(pl_str_of(info->name), name)) {
            *ret_place = i;
            return true;
        }
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter %s names no model of this list.", param);
    return false;
}

/* The default is all models, so that nobody has to ask twice. */
static bool read_size(struct pl_exchange *x, const char *param, int64_t *ret_size)
{
    struct pl_str text = pl_target_param(&x->target, param);
    *ret_size = MAX_MODELS;
    if (!text.ptr || (pl_decimal_read(text, ret_size) && *ret_size >= 1 && *ret_size <= MAX_PAGE))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        "The parameter %s must be a number from 1 to %d.", param, MAX_PAGE);
    return false;
}

static bool read_page(struct pl_exchange *x, const char *size_param, const char *after,
                      const char *before, const char *prefix, struct page *ret)
{
    int64_t size;
    size_t n = count_models(x->setup->models), place;
    struct page page = {0, n, n};
    if (!read_size(x, size_param, &size))
        return false;
    if (pl_target_param(&x->target, after).len) {
        if (!find_cursor(x, after, prefix, &place))
            return false;
        page.from = place + 1;
    }
    if (before && pl_target_param(&x->target, before).len) {
        if (!find_cursor(x, before, prefix, &place))
            return false;
        page.to = place;
        page.from = place > (size_t)size ? place - (size_t)size : 0;
    }
    if (page.to - page.from > (size_t)size)
        page.to = page.from + (size_t)size;
    *ret = page;
    return true;
}

static void write_models(struct pl_exchange *x, struct pl_json_out *out, const char *key,
                         const struct page *page, write_model_fn *write)
{
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    for (size_t i = page->from; i < page->to; i++) {
        const struct pl_model_info *info = model_at(x->setup->models, i);
        write(x, out, info, pl_str_of(info->name));
    }
    pl_json_out_close(out, ']');
}

static bool is_anthropic(const struct pl_exchange *x)
{
    return pl_http_header_get(x->head, "anthropic-version").len > 0;
}

static void name_or_null(struct pl_exchange *x, struct pl_json_out *out, const char *key,
                         const struct page *page, size_t i)
{
    pl_json_out_key(out, key);
    if (page->from < page->to)
        pl_json_out_text(out, pl_str_of(model_at(x->setup->models, i)->name));
    else
        pl_json_out_null(out);
}

static void list_anthropic(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    struct page page;
    if (!read_page(x, "limit", "after_id", "before_id", "", &page))
        return;
    bool is_backwards = pl_target_param(&x->target, "before_id").len;
    pl_json_out_open(&out, '{');
    write_models(x, &out, "data", &page, write_anthropic);
    pl_json_out_key(&out, "has_more");
    pl_json_out_bool(&out, is_backwards ? page.from > 0 : page.to < page.n);
    name_or_null(x, &out, "first_id", &page, page.from);
    name_or_null(x, &out, "last_id", &page, page.to - 1);
    pl_json_out_close(&out, '}');
}

static void list_models(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    struct page page = {0, count_models(x->setup->models), 0};
    if (is_anthropic(x)) {
        list_anthropic(x);
        pl_exchange_finish(x);
        return;
    }
    pl_json_out_open(&out, '{');
    member(&out, "object", PL_STR("list"));
    write_models(x, &out, "data", &page, write_openai);
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

static void list_gemini(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    struct page page;
    if (read_page(x, "pageSize", "pageToken", NULL, "models/", &page)) {
        pl_json_out_open(&out, '{');
        write_models(x, &out, "models", &page, write_gemini);
        if (page.to < page.n && page.from < page.to)
            name_or_null(x, &out, "nextPageToken", &page, page.to - 1);
        pl_json_out_close(&out, '}');
    }
    pl_exchange_finish(x);
}

/* --- one by its name ------------------------------------------------------------------------- */

static const struct pl_model_info *find(struct pl_exchange *x, struct pl_str name)
{
    if (pl_str_eq(name, pl_str_of(pl_embedding_model->name)))
        return pl_embedding_model;
    return pl_model_find(x->setup->models, name);
}

/* The model may belong to a family: a listed entry of that name has more details. */
static const struct pl_model_info *listed(struct pl_exchange *x, const struct pl_model_info *info,
                                          struct pl_str name)
{
    const struct pl_model_info *at;
    for (size_t i = 0; info->is_family && i < MAX_MODELS && (at = model_at(x->setup->models, i));
         i++)
        if (pl_str_eq(pl_str_of(at->name), name))
            return at;
    return info;
}

static void show(struct pl_exchange *x, const struct pl_speech *speech, write_model_fn *write)
{
    struct pl_error err = {0};
    struct pl_str name = pl_gateway_model_in_path(x);
    const struct pl_model_info *info = name.len ? find(x, name) : NULL;
    struct pl_json_out out = pl_json_out(&x->reply);
    if (info) {
        write(x, &out, listed(x, info, name), pl_model_name(info, name));
    } else {
        (void)pl_model_missing(x->setup->models, name, &err);
        pl_speech_fail(speech, x, 404, "model_not_found", "%s", err.message);
    }
    pl_exchange_finish(x);
}

static void show_model(struct pl_exchange *x)
{
    if (is_anthropic(x))
        show(x, &pl_speech_anthropic, write_anthropic);
    else
        show(x, &pl_speech_openai_chat, write_openai);
}

static void show_gemini(struct pl_exchange *x)
{
    show(x, &pl_speech_gemini, write_gemini);
}

static void problem_gemini(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    pl_speech_gemini.say_problem(x, problem, detail);
}

#define SIZES "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}"
static const struct pl_route_param anthropic_params[] = {
    {"limit", SIZES, "Anthropic's clients: the maximum number; all by default"},
    {"after_id", "{\"type\":\"string\"}", "… those after this one"},
    {"before_id", "{\"type\":\"string\"}", "… those before this one"},
    {0},
};
static const struct pl_route_param gemini_params[] = {
    {"pageSize", SIZES, "The maximum number; all by default"},
    {"pageToken", "{\"type\":\"string\"}", "nextPageToken of the previous page"},
    {0},
};

#define LISTS PL_ROUTE_VENDOR_KEY, PL_FOR_GATEWAY | PL_FOR_READ
#define SHOWS "gateway", NULL, "AnyObject", 200, NULL, NULL

const struct pl_route pl_routes_gateway_models[] = {
    {PL_METHOD_GET, "/v1/models", LISTS, list_models, "gateway_models",
     "List the models in the format of OpenAI or (with anthropic-version) Anthropic", "gateway",
     NULL, "AnyObject", 200, anthropic_params, NULL, pl_gateway_problem},
    {PL_METHOD_GET, "/v1/models/{model}", LISTS, show_model, "gateway_model", "A model", SHOWS,
     pl_gateway_problem},
    {PL_METHOD_GET, "/v1/models/{vendor}/{model}", LISTS, show_model, "gateway_model_vendor",
     "A model with its vendor's name", SHOWS, pl_gateway_problem},
    {PL_METHOD_GET, "/v1/models/{vendor}/{owner}/{model}", LISTS, show_model, "gateway_model_owner",
     "A model whose own name has a slash", SHOWS, pl_gateway_problem},
    {PL_METHOD_GET, "/v1beta/models", LISTS, list_gemini, "gateway_gemini_models",
     "List the models in the format of Gemini", "gateway", NULL, "AnyObject", 200, gemini_params,
     NULL, problem_gemini},
    {PL_METHOD_GET, "/v1beta/models/{model}", LISTS, show_gemini, "gateway_gemini_model", "A model",
     SHOWS, problem_gemini},
    {PL_METHOD_GET, "/v1beta/models/{vendor}/{model}", LISTS, show_gemini,
     "gateway_gemini_model_vendor", "A model with its vendor's name", SHOWS, problem_gemini},
    {PL_METHOD_GET, "/v1beta/models/{vendor}/{owner}/{model}", LISTS, show_gemini,
     "gateway_gemini_model_owner", "A model whose own name has a slash", SHOWS, problem_gemini},
    {0},
};
