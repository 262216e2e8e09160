/* A parsed register payload: the extension, its maximum rights, its tools, commands and hooks.
 *
 * An error in the extension itself refuses the register. An error in a tool or hook refuses only
 * that one, and the answer to the register has the reason. */
#ifndef PL_EXTPROTO_REGISTRATION_H
#define PL_EXTPROTO_REGISTRATION_H

#include "extproto/frame.h"
#include "extproto/hook.h"
#include "extproto/manifest.h"

enum pl_ext_exposure { PL_EXT_EXPOSURE_DIRECT, PL_EXT_EXPOSURE_DEFERRED, PL_EXT_EXPOSURE_HIDDEN };

struct pl_ext_tool {
    struct pl_str name, label, description;   /* arena or views; label may be empty */
    const struct pl_json_node *parameters;    /* a schema; NULL: any object */
    const struct pl_json_node *output_schema; /* or NULL */
    const struct pl_json_node *annotations;   /* or NULL; for display, never trusted */
    int64_t timeout_ms;                       /* 0: the default */
    bool is_sequential;
    enum pl_ext_exposure exposure;
    char hash[PL_EXT_HASH_SIZE]; /* of name, description and parameters: a change asks the person
                                  * again */
    const char *refusal;         /* NULL: the tool is offered */
};

struct pl_ext_command {
    struct pl_str name, description;
};

struct pl_ext_registration {
    struct pl_str name, version;
    struct pl_ext_manifest manifest;
    struct pl_ext_tool *tools; /* arena; refused ones, too */
    size_t n_tools;
    struct pl_ext_command *commands; /* arena */
    size_t n_commands;
    struct pl_ext_subscription *subscriptions; /* arena */
    size_t n_subscriptions;
    struct pl_str *unknown_hooks; /* arena */
    size_t n_unknown_hooks;
};

/* `payload` must match the schema of a register. PL_INVALID: the extension is refused; err has the
 * pointer into the payload. PL_NOMEM. */
enum pl_status pl_ext_registration_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                        const struct pl_json_node *payload,
                                        struct pl_ext_registration *ret_registration,
                                        struct pl_error *err);

/* Whether a name is valid for tools and commands, or for extensions: ^[A-Za-z0-9_-]{1,64}$ and
 * ^[a-z0-9][a-z0-9._-]{0,63}$. */
bool pl_ext_is_tool_name(struct pl_str name);
bool pl_ext_is_id(struct pl_str id);

#endif
