/* A table has the order of the lists: the first list that has the capability decides. */
#include "extproto/policy.h"

#define SEEN                                                                                       \
    (PL_EXT_CAP_BIT(PL_EXT_CAP_READ) | PL_EXT_CAP_BIT(PL_EXT_CAP_HTTP) |                           \
     PL_EXT_CAP_BIT(PL_EXT_CAP_EVENTS) | PL_EXT_CAP_BIT(PL_EXT_CAP_SESSION) |                      \
     PL_EXT_CAP_BIT(PL_EXT_CAP_UI) | PL_EXT_CAP_BIT(PL_EXT_CAP_LOG))

const char *const pl_ext_profile_names[] = {"balanced", "safe", "permissive", NULL};

static const struct pl_ext_policy profiles[] = {
    {.mode = PL_EXT_MODE_PROMPT, .defaults = SEEN},
    {.mode = PL_EXT_MODE_STRICT,
     .defaults = SEEN,
     .deny = PL_EXT_CAP_BIT(PL_EXT_CAP_EXEC) | PL_EXT_CAP_BIT(PL_EXT_CAP_ENV)},
    {.mode = PL_EXT_MODE_PERMISSIVE},
};

static const enum pl_ext_reason reason_of_mode[] = {
    [PL_EXT_MODE_STRICT] = PL_EXT_REASON_NOT_IN_DEFAULT_CAPS,
    [PL_EXT_MODE_PROMPT] = PL_EXT_REASON_PROMPT_REQUIRED,
    [PL_EXT_MODE_PERMISSIVE] = PL_EXT_REASON_PERMISSIVE,
};

static const struct {
    const char *text;
    enum pl_ext_decision decision;
} reasons[] = {
#define X(name, decision, text) [PL_EXT_REASON_##name] = {text, PL_EXT_##decision},
    PL_EXT_REASON_TABLE(X)
#undef X
};

const char *pl_ext_reason_text(enum pl_ext_reason reason)
{
    return reasons[reason].text;
}

enum pl_ext_decision pl_ext_reason_decision(enum pl_ext_reason reason)
{
    return reasons[reason].decision;
}

bool pl_ext_policy_of_profile(struct pl_str profile, struct pl_ext_policy *ret_policy)
{
    for (size_t i = 0; pl_ext_profile_names[i]; i++)
        if (pl_str_eq(profile, pl_str_of(pl_ext_profile_names[i]))) {
            *ret_policy = profiles[i];
            return true;
        }
    return false;
}

static bool is_blank(struct pl_str text)
{
    size_t i = 0;
    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    return i == text.len;
}

enum pl_ext_reason pl_ext_policy_judge(const struct pl_ext_policy *policy, struct pl_str name)
{
    enum pl_ext_capability capability = pl_ext_capability_find(name);
    const struct {
        uint32_t list;
        enum pl_ext_reason reason;
    } order[] = {
        {policy->extension_deny, PL_EXT_REASON_EXTENSION_DENY},
        {policy->deny, PL_EXT_REASON_DENY_CAPS},
        {policy->extension_allow, PL_EXT_REASON_EXTENSION_ALLOW},
        {policy->defaults, PL_EXT_REASON_DEFAULT_CAPS},
    };
    if (capability == PL_EXT_CAP_NONE)
        return is_blank(name) ? PL_EXT_REASON_EMPTY_CAPABILITY : PL_EXT_REASON_NOT_DECLARED;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i].list & PL_EXT_CAP_BIT(capability))
            return order[i].reason;
    return reason_of_mode[policy->mode];
}
