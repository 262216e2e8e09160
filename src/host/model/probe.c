/* Finds the models of servers on this machine with GET /v1/models, if they listen. libcurl is
 * loaded only if one does. */
#include "base/mem.h"
#include "io/upstream/http_call.h"
#include "io/net/knock.h"
#include "json/number.h"
#include "json/text.h"
#include "model/vendor/vendors_int.h"
#include "wire/url.h"

#include <stdio.h>

enum { KNOCK_MS = 300, PROBE_MS = 1000, MAX_ANSWER = 4 << 20, MAX_MODELS = 1000 };

/* Only an address is checked by a connection; a host name is assumed to be there. */
static bool is_there(struct pl_arena *arena, const char *base_url)
{
    struct pl_url url;
    struct pl_error err = {0};
    if (pl_url_parse(arena, pl_str_of(base_url), NULL, &url, &err) != PL_OK)
        return false;
    int32_t port = url.port < 0 ? pl_url_default_port(url.scheme) : url.port;
    return url.host_kind != PL_URL_HOST_ADDRESS || pl_knock(&url.address, (uint16_t)port, KNOCK_MS);
}

/* {"data":[{"id":…},…]} */
static enum pl_status read_models(struct pl_found_models *found, const struct pl_vendor *vendor,
                                  struct pl_str answer)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&found->arena, answer, NULL, &doc, NULL);
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return status == PL_NOMEM ? status : PL_INVALID;
    const struct pl_json_node *data = pl_json_get(&doc, doc.root, PL_STR("data"));
    if (!data || pl_json_kind(data) != PL_JSON_ARRAY)
        return PL_INVALID;
    size_t most = pl_json_count(data) < MAX_MODELS ? pl_json_count(data) : MAX_MODELS;
    struct pl_model_info *models = pl_arena_zalloc(&found->arena, most + 1, sizeof *models);
    if (!models)
        return PL_NOMEM;
    found->models = models;
    for (const struct pl_json_node *n = pl_json_first(data);
         status == PL_OK && n < pl_json_end(data) && found->n_models < most; n = pl_json_next(n)) {
        const struct pl_json_node *id =
            pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(&doc, n, PL_STR("id")) : NULL;
        struct pl_str name = {NULL, 0};
        if (!id || pl_json_kind(id) != PL_JSON_STRING)
            continue;
        status = pl_json_text(&found->arena, &doc, id, &name);
        if (status != PL_OK || !pl_model_name_is_safe(name))
            continue;
        struct pl_model_info *info = &models[found->n_models++];
        const struct pl_json_node *created = pl_json_get(&doc, n, PL_STR("created"));
        status = pl_model_info_make(&found->arena, vendor, name, info);
        if (created && pl_json_kind(created) == PL_JSON_NUMBER &&
            !pl_json_number_int64(pl_json_span(&doc, created), &info->created_s))
            info->created_s = 0;
    }
    return status;
}

static enum pl_status ask(struct pl_found_models *found, const struct pl_vendor *vendor)
{
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    char url[512];
    int n = snprintf(url, sizeof url, "%s/models", vendor->base_url), http_status = 0;
    struct pl_error err = {0};
    if (n < 0 || (size_t)n >= sizeof url || !is_there(&found->arena, vendor->base_url))
        return PL_NOT_FOUND;
    struct pl_http_call call = {
        .method = "GET",
        .url = url,
        .bearer = vendor->key,
        .max_bytes = MAX_ANSWER,
        .timeout_ms = PROBE_MS,
    };
    enum pl_status status = pl_http_call(&call, &http_status, &answer, &err);
    if (status != PL_OK || http_status != 200)
        return status == PL_OK ? PL_NOT_FOUND : status;
    /* The strings of the answer are views of it until they are copied. */
    return read_models(found, vendor, pl_buf_str(&answer));
}

static void probe(struct pl_vendor_own *own)
{
    struct pl_found_models *found = pl_mem_alloc(1, sizeof *found);
    if (!found)
        return;
    *found = (struct pl_found_models){0};
    pl_arena_init(&found->arena, 0);
    struct pl_found_models *none = NULL;
    if (ask(found, &own->vendor) == PL_OK &&
        atomic_compare_exchange_strong(&own->found, &none, found))
        return;
    pl_arena_deinit(&found->arena);
    pl_mem_free(found);
}

void pl_models_probe(struct pl_models *models)
{
    for (size_t i = 0; i < models->n_vendors; i++)
        if (models->vendors[i].is_local)
            probe(&models->vendors[i]);
}
