/* A stored registration: reference-counted, because instances, offers and hooks on several
 * threads use it. */
#include "ext/run/host_int.h"

#include "base/mem.h"

struct pl_ext_registered *pl_ext_registered_hold(struct pl_ext_registered *registered)
{
    if (registered)
        atomic_fetch_add(&registered->n_refs, 1);
    return registered;
}

void pl_ext_registered_release(struct pl_ext_registered *registered)
{
    if (!registered || atomic_fetch_sub(&registered->n_refs, 1) != 1)
        return;
    pl_arena_deinit(&registered->arena);
    pl_mem_free(registered);
}

static bool is_changed(const struct pl_ext_tool *tool, const struct pl_extension_tool_row *pins,
                       size_t n_pins)
{
    for (size_t i = 0; i < n_pins; i++)
        if (pl_str_eq(pins[i].name, tool->name))
            return !pl_str_eq(pins[i].accepted, pl_str_of(tool->hash));
    return false;
}

/* Hooks with content require the capability session; without it they are denied. */
static enum pl_status deny_hooks(struct pl_ext_registered *r)
{
    bool may_see =
        pl_ext_manifest_capabilities(&r->said.manifest) & PL_EXT_CAP_BIT(PL_EXT_CAP_SESSION);
    size_t n = 0;
    r->denied_hooks =
        pl_arena_zalloc(&r->arena, r->said.n_subscriptions + 1, sizeof *r->denied_hooks);
    if (!r->denied_hooks)
        return PL_NOMEM;
    for (size_t i = 0; i < r->said.n_subscriptions; i++) {
        const struct pl_ext_subscription *one = &r->said.subscriptions[i];
        bool has_content =
            one->hook < PL_EXT_HOOK_COUNT && (pl_ext_hook_flags(one->hook) & PL_EXT_HOOK_CONTENT);
        if (has_content && !may_see)
            r->denied_hooks[r->n_denied_hooks++] = pl_str_of(pl_ext_hook_text(one->hook));
        else
            r->said.subscriptions[n++] = *one;
    }
    r->said.n_subscriptions = n;
    return PL_OK;
}

static enum pl_status fill(struct pl_ext_registered *r, struct pl_str payload,
                           struct pl_str artifact, const struct pl_extension_tool_row *pins,
                           size_t n_pins, struct pl_error *err)
{
    r->payload = pl_arena_dup(&r->arena, payload);
    r->artifact = pl_arena_dup(&r->arena, artifact);
    if (!r->payload.ptr || (!r->artifact.ptr && artifact.len))
        return pl_fail(err, PL_NOMEM, "out of memory");
    enum pl_status status = pl_json_parse(&r->arena, r->payload, NULL, &r->doc, err);
    if (status == PL_OK)
        status = pl_ext_registration_read(&r->arena, &r->doc, r->doc.root, &r->said, err);
    if (status != PL_OK)
        return status;
    r->is_withheld = pl_arena_zalloc(&r->arena, r->said.n_tools + 1, sizeof *r->is_withheld);
    if (!r->is_withheld || deny_hooks(r) != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < r->said.n_tools; i++)
        r->is_withheld[i] = is_changed(&r->said.tools[i], pins, n_pins);
    return PL_OK;
}

enum pl_status pl_ext_registered_create(struct pl_str payload, struct pl_str artifact,
                                        const struct pl_extension_tool_row *pins, size_t n_pins,
                                        struct pl_ext_registered **ret_registered,
                                        struct pl_error *err)
{
    struct pl_ext_registered *r = pl_mem_alloc(1, sizeof *r);
    if (!r)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *r = (struct pl_ext_registered){.n_refs = 1};
    pl_arena_init(&r->arena, 0);
    enum pl_status status = fill(r, payload, artifact, pins, n_pins, err);
    if (status == PL_OK)
        *ret_registered = r;
    else
        pl_ext_registered_release(r);
    return status;
}

/* The strictest subscription that matches. */
bool pl_ext_registered_wants(const struct pl_ext_registered *registered, enum pl_ext_hook hook,
                             struct pl_str tool_name, struct pl_ext_subscription *ret_subscription)
{
    bool wants = false;
    for (size_t i = 0; i < registered->said.n_subscriptions; i++) {
        const struct pl_ext_subscription *one = &registered->said.subscriptions[i];
        if (!pl_ext_subscription_wants(one, hook, tool_name))
            continue;
        if (ret_subscription && (!wants || one->is_closed))
            *ret_subscription = *one;
        wants = true;
    }
    return wants;
}
