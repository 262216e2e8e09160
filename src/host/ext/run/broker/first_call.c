/* The first call of a tool of an MCP server. The calls inside its cell are not visible. So if it
 * has writable directories or hosts, a person is asked before each tool runs for the first time
 * in a session, unless the extension has the capability (`--grant`) or the profile is
 * permissive. */
#include "ext/run/broker/broker.h"

#include <stdio.h>

static const enum pl_ext_capability capabilities[] = {PL_EXT_CAP_WRITE, PL_EXT_CAP_HTTP};

static bool has(const struct pl_ext_adapter *adapter, enum pl_ext_capability capability)
{
    return capability == PL_EXT_CAP_WRITE ? adapter->writes : adapter->n_hosts > 0;
}

static bool is_granted(const struct pl_ext_ask *ask, enum pl_ext_capability capability)
{
    enum pl_ext_reason reason = pl_ext_policy_judge(&ask->instance->known->package.policy,
                                                    pl_str_of(pl_ext_capability_name(capability)));
    return reason == PL_EXT_REASON_EXTENSION_ALLOW || reason == PL_EXT_REASON_PERMISSIVE;
}

/* The text of the question: the tool, and the directories or hosts of its server. */
static struct pl_str where(struct pl_ext_ask *ask, enum pl_ext_capability capability)
{
    PL_CLEANUP_BUF struct pl_buf list;
    const struct pl_ext_manifest *manifest = &ask->instance->known->package.manifest;
    const struct pl_ext_adapter *adapter = ask->instance->adapter;
    pl_buf_init(&list, 0);
    pl_buf_addf(&list, "%.*s, which may %s", PL_STR_ARG(ask->name),
                capability == PL_EXT_CAP_WRITE ? "write" : "reach");
    for (size_t i = 0; i < manifest->n && capability == PL_EXT_CAP_WRITE; i++) {
        const struct pl_ext_requirement *one = &manifest->requirements[i];
        if (one->capability != PL_EXT_CAP_WRITE)
            continue;
        if (!one->paths.is_given)
            pl_buf_adds(&list, " the workspace");
        for (size_t j = 0; j < one->paths.n; j++)
            pl_buf_addf(&list, " %.*s", PL_STR_ARG(one->paths.items[j]));
    }
    for (size_t i = 0; i < adapter->n_hosts && capability == PL_EXT_CAP_HTTP; i++)
        pl_buf_addf(&list, " %s", adapter->hosts[i].name);
    return list.status == PL_OK ? pl_ext_ask_keep(ask, pl_str_slice(pl_buf_str(&list), 0, 300))
                                : ask->name;
}

static enum pl_ext_reason judge(const struct pl_ext_ask *ask, enum pl_ext_capability capability)
{
    enum { MOST_DENIALS = 3 };
    struct pl_ext_place *place = ask->instance->place;
    enum pl_ext_reason reason = pl_ext_answers_find(place, capability, ask->name, ask->session_id);
    if (reason != PL_EXT_REASON_PROMPT_REQUIRED)
        return reason;
    if (!ask->session_id.len || !ask->has_person)
        return PL_EXT_REASON_PROMPT_NO_PERSON;
    return pl_ext_denials_of(place, ask->session_id) >= MOST_DENIALS
               ? PL_EXT_REASON_PROMPT_CACHE_DENY
               : reason;
}

static void deny(struct pl_ext_ask *ask, enum pl_ext_capability capability,
                 enum pl_ext_reason reason)
{
    pl_ext_ask_fail(ask, PL_TOOL_ERROR_DENIED, "The tool %.*s may not use %s: %s",
                    PL_STR_ARG(ask->name), pl_ext_capability_name(capability),
                    pl_ext_reason_text(reason));
}

static void decided(struct pl_ext_ask *ask, enum pl_ext_reason reason)
{
    if (pl_ext_reason_decision(reason) != PL_EXT_ALLOW) {
        deny(ask, ask->asked, reason);
        return;
    }
    ask->allowed |= PL_EXT_CAP_BIT(ask->asked);
    if (!pl_ext_first_call(ask, ask->go))
        ask->go(ask);
}

bool pl_ext_first_call(struct pl_ext_ask *ask, void (*go)(struct pl_ext_ask *ask))
{
    const struct pl_ext_adapter *adapter = ask->instance->adapter;
    bool is_tool = ask->kind == PL_EXT_ASK_TOOL || ask->kind == PL_EXT_ASK_COMMAND;
    for (size_t i = 0; adapter && is_tool && i < sizeof capabilities / sizeof *capabilities; i++) {
        enum pl_ext_capability capability = capabilities[i];
        if (!has(adapter, capability) || (ask->allowed & PL_EXT_CAP_BIT(capability)) ||
            is_granted(ask, capability))
            continue;
        enum pl_ext_reason reason = judge(ask, capability);
        if (pl_ext_reason_decision(reason) == PL_EXT_ALLOW)
            continue;
        ask->asked = capability;
        ask->go = go;
        if (reason == PL_EXT_REASON_PROMPT_REQUIRED)
            pl_question_ask_call(ask, where(ask, capability), decided);
        else
            deny(ask, capability, reason);
        return true;
    }
    return false;
}
