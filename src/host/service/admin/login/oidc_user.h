/* Finds or creates the user of a person of the provider, and signs in. */
#ifndef PL_SERVICE_ADMIN_LOGIN_OIDC_USER_H
#define PL_SERVICE_ADMIN_LOGIN_OIDC_USER_H

#include "service/admin/login/oidc_flow.h"

/* On a worker: checks the ID token (flow->found: PL_NOT_FOUND requires newer keys) and finds the
 * person's user. A failure is in flow->err. */
void pl_oidc_user_find(struct pl_oidc_flow *flow);
/* Whether userinfo is needed for the decision. */
bool pl_oidc_user_needs_info(const struct pl_oidc_flow *flow);
/* Decides, commits, and answers with the cookie and a redirect, or with the reason for a
 * refusal. Ends the flow. */
void pl_oidc_user_sign_in(struct pl_oidc_flow *flow);

#endif
