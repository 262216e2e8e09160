/* Signing in with OpenID Connect: the code flow with PKCE (RFC 7636), state and nonce.
 *
 *     GET /api/login/oidc ─303─> the provider ─> GET /api/login/oidc/callback?code=…&state=…
 *       ─> tokens for the code ─> the ID token is checked ─> a user, a cookie ─303─> the page
 *
 * A person sees these answers, so a problem is a page if the browser asks for one. */
#include "access/auth.h"
#include "access/oidc/id_token.h"
#include "access/sign_in.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "json/text.h"
#include "service/admin/login/oidc_flow.h"
#include "service/admin/login/oidc_user.h"
#include "service/admin/routes.h"

#include <stdio.h>

#define BEGIN_PATH    "/api/login/oidc"
#define CALLBACK_PATH "/api/login/oidc/callback"

enum { MAX_HOST = 300, MAX_CODE = 4096, MAX_WORD = 64 };

/* --- a problem as a page --------------------------------------------------------------------- */

static void add_html(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        pl_buf_adds(to, c == '<'   ? "&lt;"
                        : c == '>' ? "&gt;"
                        : c == '&' ? "&amp;"
                        : c == '"' ? "&quot;"
                                   : "");
        if (c != '<' && c != '>' && c != '&' && c != '"')
            pl_buf_addc(to, c);
    }
}

static void say_problem(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    bool is_chinese = pl_exchange_wants_chinese(x);
    struct pl_str accepts = pl_http_header_get(x->head, "accept");
    if (pl_str_find(accepts, PL_STR("text/html")) == SIZE_MAX) {
        pl_problem_write(problem, detail, NULL, x->request_id, is_chinese, &x->reply);
        return;
    }
    const char *title = is_chinese ? "无法登录" : "You are not signed in";
    x->content_type = "text/html; charset=utf-8";
    pl_buf_addf(&x->reply,
                "<!doctype html>\n<html lang=\"%s\"><meta charset=\"utf-8\"><title>%s</title>\n"
                "<h1>%s</h1>\n<p>",
                is_chinese ? "zh" : "en", title, title);
    add_html(&x->reply, pl_str_of(detail));
    pl_buf_addf(&x->reply, "</p>\n<p><a href=\"" BEGIN_PATH "\">%s</a></p>\n<p>%s</p></html>\n",
                is_chinese ? "重新登录" : "Sign in again", x->request_id);
}

/* --- away ------------------------------------------------------------------------------------ */

/* The address of the callback, as the browser knows this server. */
static bool write_redirect(const struct pl_exchange *x, struct pl_buf *to)
{
    struct pl_str host = pl_http_header_get(x->head, "host");
    if (!host.len || host.len > MAX_HOST)
        return false;
    pl_buf_addf(to, "%s://%.*s" CALLBACK_PATH, pl_sign_in_is_secure(x) ? "https" : "http",
                PL_STR_ARG(host));
    return to->status == PL_OK;
}

static void add_location(struct pl_oidc_flow *flow, struct pl_str redirect, struct pl_buf *to)
{
    const struct pl_oidc_config *config = flow->config;
    const char *endpoint = flow->provider.authorization_endpoint;
    pl_buf_adds(to, "Location: ");
    pl_buf_adds(to, endpoint);
    pl_buf_addc(to, strchr(endpoint, '?') ? '&' : '?');
    pl_oidc_add_param(to, "response_type", PL_STR("code"));
    pl_oidc_add_param(to, "client_id", pl_str_of(config->client_id));
    pl_oidc_add_param(to, "redirect_uri", redirect);
    pl_oidc_add_param(to, "scope", pl_str_of(config->scopes));
    pl_oidc_add_param(to, "state", pl_str_of(flow->attempt.state));
    pl_oidc_add_param(to, "nonce", pl_str_of(flow->attempt.nonce));
    pl_oidc_add_param(to, "code_challenge", pl_str_of(flow->attempt.challenge));
    pl_oidc_add_param(to, "code_challenge_method", PL_STR("S256"));
    pl_buf_adds(to, "\r\n");
}

static void send_away(struct pl_oidc_flow *flow)
{
    struct pl_exchange *x = flow->x;
    struct pl_str path = pl_target_param(&x->target, "return_to");
    int64_t now_ms = pl_loop_unix_ms(x->shard->loop);
    PL_CLEANUP_BUF struct pl_buf cookie, redirect, location;
    pl_buf_init(&cookie, 0);
    pl_buf_init(&redirect, 0);
    pl_buf_init(&location, 0);
    if (!pl_oidc_attempt_make(now_ms, path.ptr ? path : PL_STR("/"), &cookie) ||
        !pl_oidc_attempt_read(&x->arena, pl_buf_str(&cookie), &flow->attempt)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
        return;
    }
    if (!write_redirect(x, &redirect)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                            "The request does not say which host it is for.");
        return;
    }
    add_location(flow, pl_buf_str(&redirect), &location);
    pl_oidc_flow_end(flow);
    pl_sign_in_attempt_set(x, pl_buf_str(&cookie), PL_OIDC_ATTEMPT_MS);
    pl_buf_add(&x->headers, pl_buf_str(&location));
    x->status = 303;
    if (location.status != PL_OK || x->headers.status != PL_OK)
        pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

static void begin(struct pl_exchange *x)
{
    struct pl_str path = pl_target_param(&x->target, "return_to");
    if (path.ptr && !pl_oidc_return_is_good(path)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "return_to must be a path of this server, such as /sessions, with at "
                            "most %d characters.",
                            PL_OIDC_MAX_RETURN);
        pl_exchange_finish(x);
        return;
    }
    struct pl_oidc_flow *flow = pl_oidc_flow_begin(x);
    if (flow)
        pl_oidc_flow_discover(flow, send_away);
}

/* --- back again ------------------------------------------------------------------------------ */

/* An error word of the protocol, such as "invalid_grant". Other text is not repeated. */
static struct pl_str word_in(struct pl_str text)
{
    size_t n = 0;
    while (n < text.len && n < MAX_WORD &&
           ((text.ptr[n] >= 'a' && text.ptr[n] <= 'z') || text.ptr[n] == '_'))
        n++;
    return n && n == text.len ? text : PL_STR("no reason");
}

static void decide(struct pl_oidc_flow *flow)
{
    pl_oidc_user_sign_in(flow);
}

static void look_at_token(struct pl_oidc_flow *flow);

static void token_checked(struct pl_oidc_flow *flow)
{
    if (flow->found == PL_NOMEM) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
    } else if (flow->found == PL_NOT_FOUND && !flow->were_keys_fresh) {
        pl_oidc_flow_read_keys(flow, true, look_at_token);
    } else if (flow->found != PL_OK) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UNAUTHORIZED,
                            "The OpenID provider's answer is not accepted: %.300s.",
                            flow->err.message);
    } else if (pl_oidc_user_needs_info(flow)) {
        pl_oidc_flow_read_info(flow, decide);
    } else {
        decide(flow);
    }
}

static void look_at_token(struct pl_oidc_flow *flow)
{
    pl_oidc_flow_work(flow, pl_oidc_user_find, token_checked);
}

/* RFC 6749, 5.2. If the provider does not know this server, the operator has to act. */
static void refuse_code(struct pl_oidc_flow *flow, const struct pl_json_doc *answer)
{
    struct pl_str error = {0};
    if (answer)
        (void)pl_member_text(&flow->x->arena, answer, answer->root, "error", &error);
    error = word_in(error);
    if (pl_str_eq(error, PL_STR("invalid_grant")))
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UNAUTHORIZED,
                            "The OpenID provider does not accept this code: it was used before, or "
                            "is too old; sign in again.");
    else
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                            "The OpenID provider gives no tokens (%d, %.*s)%s.", flow->status,
                            PL_STR_ARG(error),
                            flow->status == 401 || pl_str_eq(error, PL_STR("invalid_client"))
                                ? "; the administrator checks client_id and the client's secret"
                                : "");
}

static void tokens_came(struct pl_oidc_flow *flow)
{
    struct pl_arena *arena = &flow->x->arena;
    struct pl_str text = pl_arena_dup(arena, pl_buf_str(&flow->answer));
    struct pl_json_doc answer;
    enum pl_status status = pl_json_parse(arena, text, NULL, &answer, NULL);
    bool is_object = status == PL_OK && pl_json_kind(answer.root) == PL_JSON_OBJECT;
    if (status == PL_NOMEM) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
        return;
    }
    if (flow->status != 200 || !is_object) {
        refuse_code(flow, is_object ? &answer : NULL);
        return;
    }
    if (pl_member_text(arena, &answer, answer.root, "id_token", &flow->id_token) != PL_OK ||
        pl_member_text(arena, &answer, answer.root, "access_token", &flow->access_token) != PL_OK) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
        return;
    }
    if (!flow->id_token.len) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UPSTREAM_FAILED,
                            "The OpenID provider gives no ID token; oidc.scopes must have openid.");
        return;
    }
    pl_oidc_flow_read_keys(flow, false, look_at_token);
}

/* RFC 9207: checks the issuer of the answer, if the provider sends it. */
static bool is_of_issuer(const struct pl_oidc_flow *flow)
{
    struct pl_str issuer = pl_target_param(&flow->x->target, "iss");
    if (!issuer.ptr)
        return !flow->provider.says_issuer;
    return pl_str_eq(issuer, pl_str_of(flow->config->issuer));
}

static void redeem(struct pl_oidc_flow *flow)
{
    struct pl_str code = pl_target_param(&flow->x->target, "code");
    PL_CLEANUP_BUF struct pl_buf redirect;
    pl_buf_init(&redirect, 0);
    if (!is_of_issuer(flow)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UNAUTHORIZED,
                            "This answer is of another OpenID provider than %.200s.",
                            flow->config->issuer);
        return;
    }
    if (!write_redirect(flow->x, &redirect)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                            "The request does not say which host it is for.");
        return;
    }
    pl_buf_addc(&redirect, 0);
    if (redirect.status != PL_OK)
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
    else
        pl_oidc_flow_redeem(flow, code, redirect.ptr, tokens_came);
}

/* Whether this browser began the sign-in recently; false after refusing. */
static bool is_begun_here(struct pl_oidc_flow *flow)
{
    struct pl_exchange *x = flow->x;
    struct pl_str state = pl_target_param(&x->target, "state");
    int64_t age_ms;
    if (!pl_oidc_attempt_read(&x->arena, pl_sign_in_attempt(x), &flow->attempt)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                            "This sign-in was not begun in this browser, or the browser keeps no "
                            "cookies; begin at " BEGIN_PATH ".");
        return false;
    }
    if (!state.ptr || !pl_str_eq(state, pl_str_of(flow->attempt.state))) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                            "This answer belongs to another sign-in than the last one of this "
                            "browser (its state); begin again at " BEGIN_PATH ".");
        return false;
    }
    age_ms = pl_loop_unix_ms(x->shard->loop) - flow->attempt.begun_ms;
    if (age_ms >= -flow->config->leeway_ms && age_ms <= PL_OIDC_ATTEMPT_MS)
        return true;
    pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                        "This sign-in took longer than ten minutes; begin again at " BEGIN_PATH
                        ".");
    return false;
}

static void callback(struct pl_exchange *x)
{
    struct pl_str error = pl_target_param(&x->target, "error");
    struct pl_str code = pl_target_param(&x->target, "code");
    struct pl_oidc_flow *flow = pl_oidc_flow_begin(x);
    if (!flow || !is_begun_here(flow))
        return;
    /* The attempt is used up, whatever the result. */
    pl_sign_in_attempt_set(x, (struct pl_str){0}, 0);
    if (error.ptr) {
        struct pl_str word = word_in(error);
        pl_oidc_flow_refuse(flow, PL_PROBLEM_UNAUTHORIZED,
                            "The OpenID provider did not sign you in (%.*s).", PL_STR_ARG(word));
    } else if (!code.len || code.len > MAX_CODE) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_INVALID_REQUEST,
                            "The OpenID provider's answer has no code.");
    } else {
        pl_oidc_flow_discover(flow, redeem);
    }
}

/* --- which ways there are -------------------------------------------------------------------- */

static void show_ways(struct pl_exchange *x)
{
    const struct pl_oidc_config *config = x->setup->config.oidc;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_bool(&out, "key", true);
    pl_put_bool(
        &out, "code",
        pl_auth_first_code_is_open(x->shard->server->auth, pl_loop_unix_ms(x->shard->loop)));
    pl_json_out_key(&out, "oidc");
    if (config) {
        pl_json_out_open(&out, '{');
        pl_put_text(&out, "url", PL_STR(BEGIN_PATH));
        pl_put_text(&out, "issuer", pl_str_of(config->issuer));
        pl_json_out_close(&out, '}');
    } else {
        pl_json_out_null(&out);
    }
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

static const struct pl_route_param begin_params[] = {
    {"return_to", "{\"type\":\"string\",\"maxLength\":512,\"pattern\":\"^/\"}",
     "The path of this server to go to afterwards; / by default"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param callback_params[] = {
    {"code", "{\"type\":\"string\"}", "The code to exchange for tokens"},
    {"state", "{\"type\":\"string\"}", "The state that was sent to the provider"},
    {"iss", "{\"type\":\"string\"}", "The issuer, if the provider sends it"},
    {"error", "{\"type\":\"string\"}", "The reason if there is no code"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_login[] = {
    {PL_METHOD_GET, "/api/login", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_ways, "login_ways",
     "List the ways to sign in", "keys", NULL, "LoginWays", 200, NULL},
    {PL_METHOD_GET, BEGIN_PATH, PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, begin,
     "login_oidc", "Sign in at the OpenID provider: sends the browser there", "keys", NULL, NULL,
     303, begin_params, .say_problem = say_problem},
    {PL_METHOD_GET, CALLBACK_PATH, PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY | PL_ROUTE_ANY_QUERY,
     PL_FOR_ANYBODY, callback, "login_oidc_callback",
     "The redirect URI of the OpenID provider: sets the cookie", "keys", NULL, NULL, 303,
     callback_params, .say_problem = say_problem},
    {0},
};
