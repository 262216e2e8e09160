/* A request of a browser that needs answers of the OpenID provider: asks it on the loop, one question
 * after another, and never waits. */
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
    const char *asked;             /* what is asked for, in messages */
    int status;                    /* of its answer */
    struct pl_buf answer;          /* owned */
    pl_oidc_next_fn *next;         /* with the answer */
    pl_oidc_next_fn *then;         /* with what was read in it, or found by a worker */
    pl_oidc_next_fn *work;
    /* What has come so far, all in the arena: */
    struct pl_str keys, id_token, access_token;
    struct pl_json_doc claims,
        info; /* of the ID token, of the provider's userinfo; root NULL: none */
    struct pl_str subject, name;
    struct pl_str user_id; /* empty: nobody here yet */
    bool is_linked;        /* a user of this name is taken over */
    bool were_keys_fresh;  /* they were asked for just now */
    enum pl_status found;  /* of a worker's look at the token and the store */
    struct pl_error err;
};

/* NULL after answering: there is no provider, no memory, or too many at once. */
struct pl_oidc_flow *pl_oidc_flow_begin(struct pl_exchange *x);
/* The provider's document, then `next`. Whatever fails answers and ends. */
void pl_oidc_flow_discover(struct pl_oidc_flow *flow, pl_oidc_next_fn *next);
/* The provider's keys, from what is kept or, with is_fresh, from itself. */
void pl_oidc_flow_read_keys(struct pl_oidc_flow *flow, bool is_fresh, pl_oidc_next_fn *next);
/* The code for tokens: flow->status and answer. */
void pl_oidc_flow_redeem(struct pl_oidc_flow *flow, struct pl_str code, const char *redirect_uri,
                         pl_oidc_next_fn *next);
/* What the provider says about the person. */
void pl_oidc_flow_read_info(struct pl_oidc_flow *flow, pl_oidc_next_fn *next);
/* On a worker, which may use the store. */
void pl_oidc_flow_work(struct pl_oidc_flow *flow, pl_oidc_next_fn *work, pl_oidc_next_fn *next);

/* Answers with a problem; the flow is over. */
void pl_oidc_flow_refuse(struct pl_oidc_flow *flow, enum pl_problem problem, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));
/* It is over, and the exchange is the caller's again. */
void pl_oidc_flow_end(struct pl_oidc_flow *flow);

/* Appends name=value for a query or a form, with & before it unless it is the first. */
void pl_oidc_add_param(struct pl_buf *to, const char *name, struct pl_str value);

#endif
