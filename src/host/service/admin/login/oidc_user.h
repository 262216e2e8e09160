/* Who a person of the provider is here: finds or makes the user, and signs in. */
#ifndef PL_SERVICE_ADMIN_LOGIN_OIDC_USER_H
#define PL_SERVICE_ADMIN_LOGIN_OIDC_USER_H

#include "service/admin/login/oidc_flow.h"

/* On a worker: checks the ID token (flow->found: PL_NOT_FOUND wants newer keys) and looks the person
 * up. A failure is in flow->err. */
void pl_oidc_user_find(struct pl_oidc_flow *flow);
/* Whether the provider has more to say before it is decided. */
bool pl_oidc_user_needs_info(const struct pl_oidc_flow *flow);
/* Decides, commits, answers with the cookie and a redirect, or with the reason why not. The flow is
 * over. */
void pl_oidc_user_sign_in(struct pl_oidc_flow *flow);

#endif
