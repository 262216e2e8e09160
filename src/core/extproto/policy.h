/* Whether an extension may use a capability: the order of the lists, the profiles, and the reasons.
 * Reasons are stable names: clients and audit compare them. */
#ifndef PL_EXTPROTO_POLICY_H
#define PL_EXTPROTO_POLICY_H

#include "extproto/capability.h"

enum pl_ext_decision { PL_EXT_ALLOW, PL_EXT_ASK, PL_EXT_DENY };

/* X(name, decision, text) */
#define PL_EXT_REASON_TABLE(X)                                                                     \
    X(NOT_DECLARED, DENY, "not_declared")                                                          \
    X(METHOD_NOT_DECLARED, DENY, "method_not_declared")                                            \
    X(SCOPE, DENY, "scope")                                                                        \
    X(PATH_ESCAPE, DENY, "path_escape")                                                            \
    X(PROTECTED_PATH, DENY, "protected_path")                                                      \
    X(PRIVATE_ADDRESS, DENY, "private_address")                                                    \
    X(REMOTE, DENY, "remote")                                                                      \
    X(EXTENSION_DENY, DENY, "extension_deny")                                                      \
    X(DENY_CAPS, DENY, "deny_caps")                                                                \
    X(NOT_IN_DEFAULT_CAPS, DENY, "not_in_default_caps")                                            \
    X(PROMPT_USER_DENY, DENY, "prompt_user_deny")                                                  \
    X(PROMPT_CACHE_DENY, DENY, "prompt_cache_deny")                                                \
    X(PROMPT_TIMEOUT, DENY, "prompt_timeout")                                                      \
    X(PROMPT_NO_PERSON, DENY, "prompt_no_person")                                                  \
    X(EMPTY_CAPABILITY, DENY, "empty_capability")                                                  \
    X(SHUTDOWN, DENY, "shutdown")                                                                  \
    X(PROMPT_REQUIRED, ASK, "prompt_required")                                                     \
    X(EXTENSION_ALLOW, ALLOW, "extension_allow")                                                   \
    X(DEFAULT_CAPS, ALLOW, "default_caps")                                                         \
    X(PROMPT_USER_ALLOW, ALLOW, "prompt_user_allow")                                               \
    X(PROMPT_CACHE_ALLOW, ALLOW, "prompt_cache_allow")                                             \
    X(PERMISSIVE, ALLOW, "permissive")

enum pl_ext_reason {
#define X(name, decision, text) PL_EXT_REASON_##name,
    PL_EXT_REASON_TABLE(X)
#undef X
        PL_EXT_REASON_COUNT,
};

const char *pl_ext_reason_text(enum pl_ext_reason reason);
enum pl_ext_decision pl_ext_reason_decision(enum pl_ext_reason reason);

/* Decides about a capability that is in no list. */
enum pl_ext_mode { PL_EXT_MODE_STRICT, PL_EXT_MODE_PROMPT, PL_EXT_MODE_PERMISSIVE };

/* Sets of capabilities (PL_EXT_CAP_BIT). */
struct pl_ext_policy {
    enum pl_ext_mode mode;
    uint32_t defaults, deny;                  /* of the profile */
    uint32_t extension_allow, extension_deny; /* of this extension */
};

/* The policy of a profile, with empty lists for the extension; false: unknown profile. */
bool pl_ext_policy_of_profile(struct pl_str profile, struct pl_ext_policy *ret_policy);
/* Names of the profiles, NULL-terminated; the first is the default. */
extern const char *const pl_ext_profile_names[];

/* The order: extension deny, global deny, extension allow, defaults, mode. */
enum pl_ext_reason pl_ext_policy_judge(const struct pl_ext_policy *policy,
                                       struct pl_str capability);

#endif
