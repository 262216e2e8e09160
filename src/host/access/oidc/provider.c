/* The discovery document, and the cache of a provider's data. */
#include "access/oidc/provider.h"

#include "access/host_origin.h"
#include "base/buf.h"
#include "base/mem.h"
#include "json/text.h"
#include "wire/url.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_URL = 1000, MAX_AT_ONCE = 64 };

bool pl_oidc_url_is_good(const char *url)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_url parsed;
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
            return false;
    if (strlen(url) > MAX_URL || pl_url_parse(&arena, pl_str_of(url), NULL, &parsed, NULL) != PL_OK)
        return false;
    bool is_v6 = parsed.host.len > 2 && parsed.host.ptr[0] == '[';
    struct pl_str host = is_v6 ? pl_str_slice(parsed.host, 1, parsed.host.len - 1) : parsed.host;
    bool is_safe = pl_str_eq(parsed.scheme, PL_STR("https")) ||
                   (pl_str_eq(parsed.scheme, PL_STR("http")) && pl_host_is_loopback(host));
    return is_safe && parsed.host.len && !parsed.username.len && !parsed.password.len &&
           !parsed.fragment.ptr;
}

/* --- the document ---------------------------------------------------------------------------- */

static enum pl_status read_url(struct pl_arena *arena, const struct pl_json_doc *doc,
                               const char *name, bool is_needed, const char **ret_url,
                               struct pl_error *err)
{
    const struct pl_json_node *node = pl_json_member(doc, doc->root, name, PL_JSON_STRING);
    struct pl_str text = {0};
    if (!node && !is_needed)
        return PL_OK;
    if (node && pl_json_text(arena, doc, node, &text) != PL_OK)
        return PL_NOMEM;
    char *copy = pl_arena_alloc(arena, text.len + 1, 1);
    if (!copy)
        return PL_NOMEM;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    if (strlen(copy) != text.len || !pl_oidc_url_is_good(copy))
        return pl_fail(
            err, PL_INVALID,
            "its %s must be an https URL (http only on this machine) of at most %d bytes", name,
            MAX_URL);
    *ret_url = copy;
    return PL_OK;
}

/* Whether a list has this word. `otherwise` is the standard's default for a missing list. */
static bool lists(const struct pl_json_doc *doc, const char *name, const char *word, bool otherwise)
{
    const struct pl_json_node *list = pl_json_member(doc, doc->root, name, PL_JSON_ARRAY);
    if (!list)
        return otherwise;
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one))
        if (pl_json_text_is(doc, one, pl_str_of(word)))
            return true;
    return false;
}

static enum pl_status check_abilities(const struct pl_oidc_config *config,
                                      const struct pl_json_doc *doc,
                                      struct pl_oidc_provider *provider, struct pl_error *err)
{
    static const char methods[] = "token_endpoint_auth_methods_supported";
    provider->takes_basic = lists(doc, methods, "client_secret_basic", true);
    if (config->client_secret && !provider->takes_basic &&
        !lists(doc, methods, "client_secret_post", false))
        return pl_fail(err, PL_INVALID,
                       "it takes a client's secret neither as client_secret_basic nor as "
                       "client_secret_post");
    if (!lists(doc, "response_types_supported", "code", true))
        return pl_fail(err, PL_INVALID, "it does not offer the code flow");
    if (!lists(doc, "id_token_signing_alg_values_supported", "RS256", true) &&
        !lists(doc, "id_token_signing_alg_values_supported", "ES256", false))
        return pl_fail(err, PL_INVALID, "it signs neither with RS256 nor with ES256");
    provider->says_issuer = pl_json_member(
        doc, doc->root, "authorization_response_iss_parameter_supported", PL_JSON_TRUE);
    return PL_OK;
}

enum pl_status pl_oidc_provider_read(struct pl_arena *arena, const struct pl_oidc_config *config,
                                     struct pl_str text, struct pl_oidc_provider *ret_provider,
                                     struct pl_error *err)
{
    struct pl_oidc_provider provider = {0};
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, text, NULL, &doc, NULL);
    if (status == PL_NOMEM)
        return status;
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "it is not a JSON object");
    const struct pl_json_node *issuer = pl_json_member(&doc, doc.root, "issuer", PL_JSON_STRING);
    if (!issuer || !pl_json_text_is(&doc, issuer, pl_str_of(config->issuer)))
        return pl_fail(err, PL_INVALID,
                       "it is of another issuer than %.200s; give oidc.issuer exactly as the "
                       "provider spells it",
                       config->issuer);
    const struct {
        const char *name;
        bool is_needed;
        const char **url;
    } urls[] = {
        {"authorization_endpoint", true, &provider.authorization_endpoint},
        {"token_endpoint", true, &provider.token_endpoint},
        {"jwks_uri", true, &provider.jwks_uri},
        {"userinfo_endpoint", false, &provider.userinfo_endpoint},
    };
    for (size_t i = 0; status == PL_OK && i < sizeof urls / sizeof *urls; i++)
        status = read_url(arena, &doc, urls[i].name, urls[i].is_needed, urls[i].url, err);
    if (status == PL_OK)
        status = check_abilities(config, &doc, &provider, err);
    if (status == PL_OK)
        *ret_provider = provider;
    return status;
}

/* --- cache ----------------------------------------------------------------------------------- */

struct kept {
    struct pl_buf url, text; /* owned */
    struct pl_oidc_when since;
};

struct pl_oidc_cache {
    pthread_mutex_t lock;
    struct kept kept[PL_OIDC_KEPT_COUNT]; /* under the lock, like the rest */
    size_t n_inside;
};

struct pl_oidc_cache *pl_oidc_cache_create(void)
{
    struct pl_oidc_cache *cache = pl_mem_alloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    *cache = (struct pl_oidc_cache){0};
    pthread_mutex_init(&cache->lock, NULL);
    for (size_t i = 0; i < PL_OIDC_KEPT_COUNT; i++) {
        pl_buf_init(&cache->kept[i].url, 0);
        pl_buf_init(&cache->kept[i].text, 0);
    }
    return cache;
}

static void forget(struct kept *kept)
{
    pl_buf_deinit(&kept->url);
    pl_buf_deinit(&kept->text);
    pl_buf_init(&kept->url, 0);
    pl_buf_init(&kept->text, 0);
}

void pl_oidc_cache_destroy(struct pl_oidc_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < PL_OIDC_KEPT_COUNT; i++)
        forget(&cache->kept[i]);
    pthread_mutex_destroy(&cache->lock);
    pl_mem_free(cache);
}

enum pl_status pl_oidc_cache_get(struct pl_oidc_cache *cache, enum pl_oidc_kept what,
                                 const char *url, struct pl_oidc_when when, struct pl_arena *arena,
                                 struct pl_str *ret_text)
{
    enum pl_status status = PL_OK;
    *ret_text = (struct pl_str){0};
    pthread_mutex_lock(&cache->lock);
    const struct kept *kept = &cache->kept[what];
    if (kept->text.len && pl_str_eq(pl_buf_str(&kept->url), pl_str_of(url)) &&
        kept->since.generation == when.generation &&
        when.now_ms - kept->since.now_ms < PL_OIDC_KEPT_MS) {
        *ret_text = pl_arena_dup(arena, pl_buf_str(&kept->text));
        status = ret_text->ptr ? PL_OK : PL_NOMEM;
    }
    pthread_mutex_unlock(&cache->lock);
    return status;
}

void pl_oidc_cache_put(struct pl_oidc_cache *cache, enum pl_oidc_kept what, const char *url,
                       struct pl_str text, struct pl_oidc_when when)
{
    pthread_mutex_lock(&cache->lock);
    struct kept *kept = &cache->kept[what];
    forget(kept);
    pl_buf_adds(&kept->url, url);
    pl_buf_add(&kept->text, text);
    kept->since = when;
    if (kept->url.status != PL_OK || kept->text.status != PL_OK)
        forget(kept);
    pthread_mutex_unlock(&cache->lock);
}

void pl_oidc_cache_drop(struct pl_oidc_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < PL_OIDC_KEPT_COUNT; i++)
        forget(&cache->kept[i]);
    pthread_mutex_unlock(&cache->lock);
}

bool pl_oidc_cache_enter(struct pl_oidc_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    bool may = cache->n_inside < MAX_AT_ONCE;
    cache->n_inside += may;
    pthread_mutex_unlock(&cache->lock);
    return may;
}

void pl_oidc_cache_leave(struct pl_oidc_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    cache->n_inside--;
    pthread_mutex_unlock(&cache->lock);
}
