/* Requests to the provider.
 *
 *     machine oidc-flow
 *
 *     HERE -> ASKING -> HERE      an answer came
 *     HERE -> WORKING -> HERE     a worker was at it
 *     HERE, ASKING -> OVER        answered, or the browser is gone
 *
 * The memory is the exchange's. A request to the provider ends if the browser leaves. A worker
 * completes its work first, and then finds that the browser is gone. */
#include "service/admin/login/oidc_flow.h"

#include "base/table.h"
#include "base/text/base64.h"
#include "io/move.h"
#include "io/upstream/upstream.h"
#include "model/vendor/vendor.h"
#include "shard/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_ANSWER = 1 << 20, ANSWER_MS = 10000, MAX_URL = 1100 };

#define TO(name) PL_TO(PL_OIDC_##name)
static const struct pl_state states[] = {
    [PL_OIDC_HERE] = {"here", TO(ASKING) | TO(WORKING) | TO(OVER)},
    [PL_OIDC_ASKING] = {"asking", TO(HERE) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                        .why = "the times of the upstream call, ten seconds each"},
    [PL_OIDC_WORKING] = {"working", TO(HERE), PL_WAIT_SET, PL_CANCEL_NONE,
                         .why = "queue_wait_ms in the queue; a worker always comes back"},
    [PL_OIDC_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("oidc-flow", states);

static void become(struct pl_oidc_flow *flow, enum pl_oidc_flow_state to)
{
    flow->state = (enum pl_oidc_flow_state)pl_move(&machine, flow, flow->state, to);
}

static struct pl_oidc_cache *cache_of(const struct pl_oidc_flow *flow)
{
    return flow->x->shard->server->oidc;
}

static struct pl_oidc_when now_of(const struct pl_oidc_flow *flow)
{
    return (struct pl_oidc_when){pl_loop_now_ms(flow->x->shard->loop), flow->x->setup->generation};
}

/* --- beginning and end ----------------------------------------------------------------------- */

void pl_oidc_flow_end(struct pl_oidc_flow *flow)
{
    become(flow, PL_OIDC_OVER);
    pl_exchange_watch(flow->x, NULL);
    pl_upstream_cancel(PL_TAKE(flow->call));
    pl_buf_deinit(&flow->answer);
    pl_oidc_cache_leave(cache_of(flow));
}

static void gone(struct pl_exchange *x)
{
    struct pl_oidc_flow *flow = x->state;
    if (flow->state != PL_OIDC_ASKING)
        return;
    pl_oidc_flow_end(flow);
    pl_exchange_finish(x);
}

struct pl_oidc_flow *pl_oidc_flow_begin(struct pl_exchange *x)
{
    const struct pl_oidc_config *config = x->setup->config.oidc;
    if (!config) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "This server has no OpenID Connect (oidc: in its configuration); sign "
                            "in with a key.");
        pl_exchange_finish(x);
        return NULL;
    }
    struct pl_oidc_flow *flow = pl_exchange_room(x, sizeof *flow);
    if (!flow)
        return NULL;
    if (!pl_oidc_cache_enter(x->shard->server->oidc)) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "Too many people sign in at this moment; try again.");
        pl_exchange_finish(x);
        return NULL;
    }
    flow->x = x;
    flow->config = config;
    pl_buf_init(&flow->answer, 0);
    x->state = flow;
    pl_exchange_watch(x, gone);
    return flow;
}

void pl_oidc_flow_refuse(struct pl_oidc_flow *flow, enum pl_problem problem, const char *format,
                         ...)
{
    struct pl_exchange *x = flow->x;
    char sentence[480];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING, "a sign-in failed: %s", sentence);
    pl_exchange_problem(x, problem, NULL, "%s", sentence);
    pl_oidc_flow_end(flow);
    pl_exchange_finish(x);
}

static void refuse_memory(struct pl_oidc_flow *flow)
{
    pl_exchange_fail(flow->x, PL_NOMEM, NULL);
    pl_oidc_flow_end(flow);
    pl_exchange_finish(flow->x);
}

/* --- asking ---------------------------------------------------------------------------------- */

static void on_head(void *ctx, int status)
{
    struct pl_oidc_flow *flow = ctx;
    flow->status = status;
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct pl_oidc_flow *flow = ctx;
    if (flow->answer.len + piece.len > MAX_ANSWER) {
        become(flow, PL_OIDC_HERE);
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                            "The provider's %s is larger than 1 MiB.", flow->asked);
        return;
    }
    pl_buf_add(&flow->answer, piece);
}

static void on_end(void *ctx)
{
    struct pl_oidc_flow *flow = ctx;
    flow->call = NULL;
    become(flow, PL_OIDC_HERE);
    if (flow->answer.status != PL_OK)
        refuse_memory(flow);
    else
        flow->next(flow);
}

static void on_failed(void *ctx, enum pl_upstream_failure why, const char *sentence)
{
    struct pl_oidc_flow *flow = ctx;
    (void)why;
    flow->call = NULL;
    become(flow, PL_OIDC_HERE);
    pl_oidc_cache_drop(cache_of(flow));
    pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                        "The OpenID provider %.200s cannot be asked for its %s (%.160s); try again "
                        "later.",
                        flow->config->issuer, flow->asked, sentence);
}

static const struct pl_upstream_ops ops = {
    .on_head = on_head, .on_body = on_body, .on_end = on_end, .on_failed = on_failed};

static void ask(struct pl_oidc_flow *flow, const char *what, const char *method, const char *url,
                const char *const *headers, struct pl_buf *body, pl_oidc_next_fn *next)
{
    struct pl_shard *shard = flow->x->shard;
    struct pl_error err = {0};
    struct pl_upstream_request request = {
        .method = method,
        .url = url,
        .headers = headers,
        .body = body,
        .ca_file = flow->config->ca_file,
        .connect_ms = ANSWER_MS,
        .first_byte_ms = ANSWER_MS,
        .idle_ms = ANSWER_MS,
    };
    /* A server that shuts down starts nothing new, and nobody waits for an answer. */
    if (!flow->x->conn) {
        pl_oidc_flow_end(flow);
        pl_exchange_finish(flow->x);
        return;
    }
    flow->asked = what;
    flow->next = next;
    flow->status = 0;
    pl_buf_clear(&flow->answer);
    enum pl_status status = pl_vendor_upstreams(shard->loop, &shard->upstreams, &err);
    if (status == PL_OK)
        status = pl_upstream_start(shard->upstreams, &request, &ops, flow, &flow->call, &err);
    if (status == PL_OK)
        become(flow, PL_OIDC_ASKING);
    else
        pl_oidc_flow_refuse(flow, pl_problem_of(status),
                            "The OpenID provider cannot be asked: %.300s", err.message);
}

static const char *const json_headers[] = {"Accept: application/json", NULL};

/* --- its document ---------------------------------------------------------------------------- */

static bool is_found(struct pl_oidc_flow *flow)
{
    if (flow->status == 200)
        return true;
    pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                        "The OpenID provider %.200s answers with %d when it is asked for its %s.",
                        flow->config->issuer, flow->status, flow->asked);
    return false;
}

static void write_document_url(const struct pl_oidc_flow *flow, char to[MAX_URL])
{
    struct pl_str issuer = pl_str_of(flow->config->issuer);
    if (issuer.len && issuer.ptr[issuer.len - 1] == '/')
        issuer.len--;
    snprintf(to, MAX_URL, "%.*s/.well-known/openid-configuration", PL_STR_ARG(issuer));
}

static bool read_document(struct pl_oidc_flow *flow, struct pl_str text)
{
    struct pl_error err = {0};
    enum pl_status status =
        pl_oidc_provider_read(&flow->x->arena, flow->config, text, &flow->provider, &err);
    if (status == PL_NOMEM)
        refuse_memory(flow);
    else if (status != PL_OK)
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                            "The document at %.200s/.well-known/openid-configuration cannot be "
                            "used: %.200s.",
                            flow->config->issuer, err.message);
    return status == PL_OK;
}

static void document_came(struct pl_oidc_flow *flow)
{
    char url[MAX_URL];
    struct pl_str text = pl_arena_dup(&flow->x->arena, pl_buf_str(&flow->answer));
    if (!is_found(flow) || !read_document(flow, text))
        return;
    write_document_url(flow, url);
    pl_oidc_cache_put(cache_of(flow), PL_OIDC_KEPT_DOCUMENT, url, text, now_of(flow));
    flow->then(flow);
}

void pl_oidc_flow_discover(struct pl_oidc_flow *flow, pl_oidc_next_fn *next)
{
    char url[MAX_URL];
    struct pl_str kept;
    write_document_url(flow, url);
    flow->then = next;
    if (pl_oidc_cache_get(cache_of(flow), PL_OIDC_KEPT_DOCUMENT, url, now_of(flow), &flow->x->arena,
                          &kept) != PL_OK)
        refuse_memory(flow);
    else if (!kept.len)
        ask(flow, "configuration", "GET", url, json_headers, NULL, document_came);
    else if (read_document(flow, kept))
        next(flow);
}

/* --- its keys -------------------------------------------------------------------------------- */

static void keys_came(struct pl_oidc_flow *flow)
{
    if (!is_found(flow))
        return;
    flow->keys = pl_arena_dup(&flow->x->arena, pl_buf_str(&flow->answer));
    flow->were_keys_fresh = true;
    pl_oidc_cache_put(cache_of(flow), PL_OIDC_KEPT_KEYS, flow->provider.jwks_uri, flow->keys,
                      now_of(flow));
    flow->then(flow);
}

void pl_oidc_flow_read_keys(struct pl_oidc_flow *flow, bool is_fresh, pl_oidc_next_fn *next)
{
    struct pl_str kept = {0};
    flow->then = next;
    if (!is_fresh && pl_oidc_cache_get(cache_of(flow), PL_OIDC_KEPT_KEYS, flow->provider.jwks_uri,
                                       now_of(flow), &flow->x->arena, &kept) != PL_OK) {
        refuse_memory(flow);
        return;
    }
    if (!kept.len) {
        ask(flow, "keys", "GET", flow->provider.jwks_uri, json_headers, NULL, keys_came);
        return;
    }
    flow->keys = kept;
    next(flow);
}

/* --- the code, and the person ---------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static void add_encoded(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_plain(text.ptr[i]))
            pl_buf_addc(to, text.ptr[i]);
        else
            pl_buf_addf(to, "%%%02X", (unsigned char)text.ptr[i]);
}

void pl_oidc_add_param(struct pl_buf *to, const char *name, struct pl_str value)
{
    if (to->len && to->ptr[to->len - 1] != '?' && to->ptr[to->len - 1] != '&')
        pl_buf_addc(to, '&');
    pl_buf_adds(to, name);
    pl_buf_addc(to, '=');
    add_encoded(to, value);
}

/* RFC 6749, 2.3.1: both are form-encoded before they are joined. */
static void write_basic(const struct pl_oidc_config *config, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf pair;
    pl_buf_init(&pair, 0);
    add_encoded(&pair, pl_str_of(config->client_id));
    pl_buf_addc(&pair, ':');
    add_encoded(&pair, pl_str_of(config->client_secret));
    pl_buf_adds(to, "Authorization: Basic ");
    pl_base64_encode(to, pl_buf_str(&pair));
    pl_buf_addc(to, 0);
    if (pair.status != PL_OK)
        to->status = pair.status;
}

void pl_oidc_flow_redeem(struct pl_oidc_flow *flow, struct pl_str code, const char *redirect_uri,
                         pl_oidc_next_fn *next)
{
    const struct pl_oidc_config *config = flow->config;
    bool is_basic = config->client_secret && flow->provider.takes_basic;
    PL_CLEANUP_BUF struct pl_buf basic, form;
    pl_buf_init(&basic, 0);
    pl_buf_init(&form, 0);
    pl_oidc_add_param(&form, "grant_type", PL_STR("authorization_code"));
    pl_oidc_add_param(&form, "code", code);
    pl_oidc_add_param(&form, "redirect_uri", pl_str_of(redirect_uri));
    pl_oidc_add_param(&form, "code_verifier", pl_str_of(flow->attempt.verifier));
    if (is_basic)
        write_basic(config, &basic);
    else
        pl_oidc_add_param(&form, "client_id", pl_str_of(config->client_id));
    if (config->client_secret && !is_basic)
        pl_oidc_add_param(&form, "client_secret", pl_str_of(config->client_secret));
    const char *const headers[] = {"Accept: application/json",
                                   "Content-Type: application/x-www-form-urlencoded",
                                   is_basic ? basic.ptr : NULL, NULL};
    if (basic.status != PL_OK || form.status != PL_OK)
        refuse_memory(flow);
    else
        ask(flow, "tokens", "POST", flow->provider.token_endpoint, headers, &form, next);
}

static void info_came(struct pl_oidc_flow *flow)
{
    struct pl_arena *arena = &flow->x->arena;
    if (!is_found(flow))
        return;
    struct pl_str text = pl_arena_dup(arena, pl_buf_str(&flow->answer));
    enum pl_status status =
        text.ptr ? pl_json_parse(arena, text, NULL, &flow->info, NULL) : PL_NOMEM;
    if (status == PL_NOMEM)
        refuse_memory(flow);
    else if (status != PL_OK || pl_json_kind(flow->info.root) != PL_JSON_OBJECT)
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                            "What the OpenID provider says about you (userinfo) is not a JSON "
                            "object.");
    else
        flow->then(flow);
}

void pl_oidc_flow_read_info(struct pl_oidc_flow *flow, pl_oidc_next_fn *next)
{
    PL_CLEANUP_BUF struct pl_buf bearer;
    pl_buf_init(&bearer, 0);
    pl_buf_addf(&bearer, "Authorization: Bearer %.*s", PL_STR_ARG(flow->access_token));
    pl_buf_addc(&bearer, 0);
    const char *const headers[] = {"Accept: application/json", bearer.ptr, NULL};
    flow->then = next;
    if (bearer.status != PL_OK)
        refuse_memory(flow);
    else
        ask(flow, "userinfo", "GET", flow->provider.userinfo_endpoint, headers, NULL, info_came);
}

/* --- workers --------------------------------------------------------------------------------- */

static void run(struct pl_exchange *x)
{
    struct pl_oidc_flow *flow = x->state;
    flow->work(flow);
}

static void ran(struct pl_exchange *x)
{
    struct pl_oidc_flow *flow = x->state;
    become(flow, PL_OIDC_HERE);
    if (!x->is_problem) {
        flow->then(flow);
        return;
    }
    pl_oidc_flow_end(flow);
    pl_exchange_finish(x);
}

void pl_oidc_flow_work(struct pl_oidc_flow *flow, pl_oidc_next_fn *work, pl_oidc_next_fn *next)
{
    flow->work = work;
    flow->then = next;
    become(flow, PL_OIDC_WORKING);
    pl_exchange_work(flow->x, run, ran);
}
