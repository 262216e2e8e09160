/* The settings `oidc:` of the configuration: who vouches for people, and what that makes of them. */
#ifndef PL_ACCESS_OIDC_CONFIG_H
#define PL_ACCESS_OIDC_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct pl_oidc_config {
    const char *issuer; /* https, or http on this machine; exactly as the provider spells it */
    const char *client_id;
    const char *client_secret; /* NULL: a public client, which PKCE alone protects. Never shown */
    const char *secret_from;   /* the file or the variable it was read from; NULL: there is none */
    const char *scopes;        /* "openid profile email" */
    const char *groups_claim;  /* a member, or a JSON Pointer: "/realm_access/roles" */
    const char *name_claim;    /* "preferred_username" */
    const char *const *allowed_groups; /* who may sign in; ended by NULL; NULL: everybody */
    const char *const *admin_groups;   /* who is an administrator; the same; NULL: roles stay */
    const char *ca_file;               /* certificates to trust besides the system's; NULL: none */
    bool links_existing; /* the first sign-in takes over a user of the same name, if there is one */
    int64_t leeway_ms;   /* how far the clocks may differ: 60,000 */
};

#endif
