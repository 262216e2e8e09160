/* A browser's request that needs answers of the OpenID provider: sends one request after another
 * on the loop, without blocking. */
#ifndef PL_SERVICE_ADMIN_LOGIN_OIDC_FLOW_H
#define PL_SERVICE_ADMIN_LOGIN_OIDC_FLOW_H

#include "access/oidc/attempt.h"
#include "access/oidc/oidc_config.h"
#include "access/oidc/provider.h"
#include "http/exchange.h"
#include "json/json.h"

struct pl_upstream_call;

enum pl_oidc_flow_state {
    PL_OIDC_HERE,
    PL_OIDC_ASKING,
    PL_OIDC_WORKING,
    PL_OIDC_OVER,
};

struct pl_oidc_flow;
typedef void pl_oidc_next_fn(struct pl_oidc_flow *flow);

struct pl_oidc_flow {
    struct pl_exchange *x;
    const struct pl_oidc_config *config; /* of the exchange's setup */
    struct pl_oidc_provider provider;
    struct pl_oidc_attempt attempt;
    enum pl_oidc_flow_state state;
    struct pl_upstream_call *call; /* owned while asking */
    const char *asked;             /* the name of the requested thing, for messages */
    int status;                    /* HTTP status of the answer */
    struct pl_buf answer;          /* owned */
    pl_oidc_next_fn *next;         /* called with the answer */
    pl_oidc_next_fn *then;         /* called after the answer was read, or a worker has finished */
    pl_oidc_next_fn *work;
    /* Results so far, all in the arena: */
    struct pl_str keys, id_token, access_token;
    struct pl_json_doc claims, info; /* of the ID token and of userinfo; root NULL: absent */
    struct pl_str subject, name;
    struct pl_str user_id; /* empty: no user yet */
    bool is_linked;        /* an existing user of this name is linked */
    bool were_keys_fresh;  /* the keys were fetched just now */
    enum pl_status found;  /* result of a worker's check of the token */
    struct pl_error err;
};

/* NULL after answering: no provider, no memory, or too many at once. */
struct pl_oidc_flow *pl_oidc_flow_begin(struct pl_exchange *x);
/* Fetches the provider's discovery document, then calls `next`. A failure answers and ends the
 * flow. */
void pl_oidc_flow_discover(struct pl_oidc_flow *flow, pl_oidc_next_fn *next);
/* Reads the provider's keys: from the cache or, with is_fresh, from the provider. */
void pl_oidc_flow_read_keys(struct pl_oidc_flow *flow, bool is_fresh, pl_oidc_next_fn *next);
/* Exchanges the code for tokens: flow->status and answer. */
void pl_oidc_flow_redeem(struct pl_oidc_flow *flow, struct pl_str code, const char *redirect_uri,
                         pl_oidc_next_fn *next);
/* Fetches the provider's userinfo. */
void pl_oidc_flow_read_info(struct pl_oidc_flow *flow, pl_oidc_next_fn *next);
/* Runs `work` on a worker, which may use the store. */
void pl_oidc_flow_work(struct pl_oidc_flow *flow, pl_oidc_next_fn *work, pl_oidc_next_fn *next);

/* Answers with a problem and ends the flow. */
void pl_oidc_flow_refuse(struct pl_oidc_flow *flow, enum pl_problem problem, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));
/* Ends the flow; the exchange is the caller's again. */
void pl_oidc_flow_end(struct pl_oidc_flow *flow);

/* Appends name=value for a query or a form, with & before it unless it is the first. */
void pl_oidc_add_param(struct pl_buf *to, const char *name, struct pl_str value);

#endif
