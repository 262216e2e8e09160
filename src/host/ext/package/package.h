/* An extension as a package: the content of its extension.json, and the place of its files.
 *
 *     SOURCE --archive, files--> DATA/extensions/ID/SHA256/   (a copy, read-only, none of its scripts run)
 *                                row of the store             (what a person has accepted)
 *
 * Code runs only from that copy. SHA256 is the hash of the tree, so a changed tree is another
 * artifact. */
#ifndef PL_EXT_PACKAGE_PACKAGE_H
#define PL_EXT_PACKAGE_PACKAGE_H

#include "extproto/frame.h"
#include "extproto/manifest.h"
#include "extproto/policy.h"
#include "store/extensions.h"

/* X(name, word, is an adapter: the calls inside it are not visible, and the scopes of its
 * manifest become mounts of its cell) */
#define PL_EXT_RUNTIME_TABLE(X)                                                                    \
    X(PROCESS, "process", false)                                                                   \
    X(PYTHON, "python", false)                                                                     \
    X(NODE, "node", false)                                                                         \
    X(JS, "js", true)                                                                              \
    X(MCP, "mcp", true)                                                                            \
    X(REMOTE, "remote", false)

enum pl_ext_runtime {
#define X(name, word, is_adapter) PL_EXT_RUNTIME_##name,
    PL_EXT_RUNTIME_TABLE(X)
#undef X
        PL_EXT_RUNTIME_COUNT,
};
const char *pl_ext_runtime_word(enum pl_ext_runtime runtime);
enum pl_ext_runtime pl_ext_runtime_find(struct pl_str word); /* COUNT: unknown word */
bool pl_ext_runtime_is_adapter(enum pl_ext_runtime runtime);

enum pl_ext_state {
    PL_EXT_STATE_ENABLED,
    PL_EXT_STATE_DISABLED,
    PL_EXT_STATE_QUARANTINED,
    PL_EXT_STATE_COUNT
};
const char *pl_ext_state_word(enum pl_ext_state state);
enum pl_ext_state pl_ext_state_find(struct pl_str word); /* COUNT: unknown word */

/* Adapters are Node programs that speak the protocol for another program; their files in a
 * package. */
#define PL_EXT_ADAPTER_PI  ".parley/pi.mjs"
#define PL_EXT_ADAPTER_MCP ".parley/mcp.mjs"
/* The limitations of an adapter for this extension: a JSON array of sentences. May be absent. */
#define PL_EXT_NOTES ".parley/notes.json"

struct pl_ext_package {
    struct pl_str id, name, version, description, api_version; /* arena */
    enum pl_ext_runtime runtime;
    struct pl_str entrypoint; /* a clean path in the package; empty for "remote" */
    struct pl_ext_texts args; /* after the entry point */
    struct pl_ext_manifest manifest;
    struct pl_str canonical;              /* extension.json, canonical */
    char manifest_hash[PL_EXT_HASH_SIZE]; /* of `canonical` */
    /* Set by pl_ext_package_of_row for an added extension; empty before. */
    struct pl_str artifact,
        dir; /* dir: DATA/extensions/ID/SHA256, NUL-terminated; empty: it runs elsewhere */
    struct pl_ext_policy policy; /* profile, granted, denied */
    enum pl_ext_state state;
};

/* Reads a set of capabilities, one name per line. PL_INVALID. */
enum pl_status pl_ext_capabilities_read(struct pl_str lines, uint32_t *ret_set,
                                        struct pl_error *err);

/* Reads an extension.json. PL_INVALID: err has the pointer, the error and the remedy. PL_NOMEM. */
enum pl_status pl_ext_package_read(struct pl_arena *arena, struct pl_str text,
                                   struct pl_ext_package *ret_package, struct pl_error *err);

/* Reads the package of an added extension. Reads no file. PL_INVALID: the row is damaged;
 * PL_NOMEM. */
enum pl_status pl_ext_package_of_row(struct pl_arena *arena, const char *data_dir,
                                     const struct pl_extension_row *row,
                                     struct pl_ext_package *ret_package, struct pl_error *err);

/* Whether its files are on this machine; true for one that runs elsewhere. Reads the disk. */
bool pl_ext_package_is_here(const struct pl_ext_package *package);

/* Why a package that is not here does not run, for a person or a model. */
#define PL_EXT_NOT_HERE                                                                            \
    "it is not installed on this node; if that stays so, an administrator adds it again with "     \
    "parley ext update"

/* Whether its copy is unchanged: hashes the tree, so it blocks. Call it before each start.
 * PL_CONFLICT: it was changed; PL_NOT_FOUND; PL_IO; PL_NOMEM. */
enum pl_status pl_ext_package_verify(const struct pl_ext_package *package, struct pl_error *err);

/* The command to run in a cell whose /ext is package->dir: NULL-terminated, in the arena. The
 * first word is an absolute path in the cell or the name of a runtime ("node", "python3").
 * PL_NOMEM. */
enum pl_status pl_ext_package_command(struct pl_arena *arena, const struct pl_ext_package *package,
                                      const char *const **ret_argv, struct pl_error *err);

#endif
