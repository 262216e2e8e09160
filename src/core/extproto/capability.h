/* The ten capabilities of the extension protocol (seed 004), and which one a host_call needs.
 *
 * The host derives the capability from method and params. The extension must declare the same
 * capability, so policy and audit never depend on the extension's claim. */
#ifndef PL_EXTPROTO_CAPABILITY_H
#define PL_EXTPROTO_CAPABILITY_H

#include "json/json.h"

enum pl_ext_capability {
    PL_EXT_CAP_READ,
    PL_EXT_CAP_WRITE,
    PL_EXT_CAP_HTTP,
    PL_EXT_CAP_EVENTS,
    PL_EXT_CAP_SESSION,
    PL_EXT_CAP_UI,
    PL_EXT_CAP_EXEC,
    PL_EXT_CAP_ENV,
    PL_EXT_CAP_TOOL,
    PL_EXT_CAP_LOG,
    PL_EXT_CAP_NONE, /* an unknown name, or nothing derived */
};

/* A set of capabilities: bit c for capability c. */
#define PL_EXT_CAP_BIT(c) (UINT32_C(1) << (c))

/* E.g. "read"; never NULL. Empty for PL_EXT_CAP_NONE. */
const char *pl_ext_capability_name(enum pl_ext_capability capability);
/* Ignores white space around the name and the case of its letters. */
enum pl_ext_capability pl_ext_capability_find(struct pl_str name);

/* The capability a host_call needs. `params` may be any value or NULL. PL_EXT_CAP_NONE: the call is
 * invalid (an unknown method, a tool without a name, an unknown operation of fs). */
enum pl_ext_capability pl_ext_capability_derive(struct pl_str method, const struct pl_json_doc *doc,
                                                const struct pl_json_node *params);

#endif
