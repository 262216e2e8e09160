/* The settings `oidc:` of the configuration: the provider, and the rights of its users. */
#ifndef PL_ACCESS_OIDC_CONFIG_H
#define PL_ACCESS_OIDC_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct pl_oidc_config {
    const char *issuer; /* https, or http on this machine; exactly as the provider writes it */
    const char *client_id;
    const char *client_secret; /* NULL: a public client, protected by PKCE alone. Never shown */
    const char *secret_from;   /* the file or variable it was read from; may be NULL */
    const char *scopes;        /* "openid profile email" */
    const char *groups_claim;  /* a member, or a JSON Pointer: "/realm_access/roles" */
    const char *name_claim;    /* "preferred_username" */
    const char *const *allowed_groups; /* may sign in; ended by NULL; NULL: everybody */
    const char *const *admin_groups;   /* are administrators; ended by NULL; NULL: roles stay */
    const char *ca_file;               /* trusted besides the system's certificates; may be NULL */
    bool links_existing;               /* the first sign-in takes over a user of the same name */
    int64_t leeway_ms;                 /* allowed difference of clocks: 60,000 */
};

#endif
