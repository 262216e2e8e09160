/* Extensions (store.h): what an administrator added and accepted, the registered tools, the users'
 * answers `always`, and quarantines per user. The files of an extension are in DATA/extensions
 * (ext/package); other nodes get them from node/packages.h. */
#ifndef PL_STORE_EXTENSIONS_H
#define PL_STORE_EXTENSIONS_H

#include "store/store.h"

struct pl_extension_row {
    struct pl_str id; /* from its manifest: ^[a-z0-9][a-z0-9._-]{0,63}$ */
    struct pl_str name, version;
    struct pl_str runtime;         /* "process", "python", "node", "js", "mcp", "remote" */
    struct pl_str artifact;        /* SHA-256 of its tree, 64 hex digits: the name of its copy */
    struct pl_str manifest;        /* the accepted extension.json, canonical */
    struct pl_str manifest_hash;   /* SHA-256 of that, hex; answers are valid for this hash */
    struct pl_str profile;         /* "safe", "balanced", "permissive" */
    struct pl_str granted, denied; /* capabilities, one per line; may be empty */
    struct pl_str state;           /* "enabled", "disabled"; "quarantined": for all users, written
                                      by earlier versions */
    struct pl_str source;          /* where it was added from, for people */
    struct pl_str last_error;      /* {NULL, 0}: none */
    struct pl_str registered;      /* payload of the last register, JSON; {NULL, 0}: never ran */
    /* The state before its last update with another manifest; {NULL, 0}: none. */
    struct pl_str before_version, before_manifest;
    int64_t revision; /* in a change: the revision that was read */
    int64_t restarts; /* restarts by an administrator, on all nodes; read only */
    int64_t created_ms, updated_ms;
};

/* PL_CONFLICT: the id already exists. */
void pl_batch_create_extension(struct pl_batch *batch, const struct pl_extension_row *row);
/* Writes all fields. PL_CONFLICT: the revision differs; PL_NOT_FOUND: it was removed. */
void pl_batch_update_extension(struct pl_batch *batch, const struct pl_extension_row *row);
/* For the supervisor: ignores the revision. PL_NOT_FOUND. */
void pl_batch_set_extension_state(struct pl_batch *batch, struct pl_str id, struct pl_str state,
                                  struct pl_str last_error, int64_t now_ms);
/* Every node that runs it stops it. */
void pl_batch_restart_extension(struct pl_batch *batch, struct pl_str id);
/* The payload of an accepted register message. PL_NOT_FOUND. */
void pl_batch_set_extension_registered(struct pl_batch *batch, struct pl_str id,
                                       struct pl_str registered);
/* Also deletes its tools, answers and quarantines. */
void pl_batch_delete_extension(struct pl_batch *batch, struct pl_str id);

/* PL_NOT_FOUND. */
enum pl_status pl_store_extension_get(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str id, struct pl_extension_row *ret_row,
                                      struct pl_error *err);
/* In the order they were added, which is the order of loading. */
enum pl_status pl_store_extension_list(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_extension_row **ret_rows, size_t *ret_n,
                                       struct pl_error *err);

/* A tool is pinned when it is first seen. If `seen` later differs from `accepted`, it is
 * withheld. */
struct pl_extension_tool_row {
    struct pl_str name;
    struct pl_str accepted, seen; /* hashes of name, description and schema, hex */
    struct pl_str definition;     /* the last one seen, JSON */
    int64_t seen_ms;
};
/* Stores a registered tool: `seen`, `definition`, `seen_ms`. A new tool is accepted at once.
 * PL_NOT_FOUND: no such extension. */
void pl_batch_see_extension_tool(struct pl_batch *batch, struct pl_str extension_id,
                                 const struct pl_extension_tool_row *tool);
/* A person has accepted the tool with this hash. PL_NOT_FOUND: it no longer has this hash. */
void pl_batch_accept_extension_tool(struct pl_batch *batch, struct pl_str extension_id,
                                    struct pl_str name, struct pl_str hash);
enum pl_status pl_store_extension_tools(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str extension_id,
                                        struct pl_extension_tool_row **ret_tools, size_t *ret_n,
                                        struct pl_error *err);

struct pl_extension_answer_row {
    struct pl_str user_id;
    struct pl_str capability;
    struct pl_str target;        /* first directory, host, program or variable; may be empty */
    struct pl_str manifest_hash; /* valid while the extension has this hash */
    bool is_allowed;
    int64_t answered_ms;
};
void pl_batch_put_extension_answer(struct pl_batch *batch, struct pl_str extension_id,
                                   const struct pl_extension_answer_row *answer);
/* Of one user, or of all users ({NULL, 0}). */
void pl_batch_forget_extension_answers(struct pl_batch *batch, struct pl_str extension_id,
                                       struct pl_str user_id);
enum pl_status pl_store_extension_answers(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str extension_id, struct pl_str user_id,
                                          struct pl_extension_answer_row **ret_answers,
                                          size_t *ret_n, struct pl_error *err);

/* The extension crashed too often for this user. */
struct pl_extension_quarantine_row {
    struct pl_str user_id;
    struct pl_str error; /* of the last crash */
    int64_t since_ms;
};
/* PL_NOT_FOUND: no such extension. */
void pl_batch_quarantine_extension(struct pl_batch *batch, struct pl_str extension_id,
                                   const struct pl_extension_quarantine_row *row);
/* Of all users. */
void pl_batch_forget_extension_quarantines(struct pl_batch *batch, struct pl_str extension_id);
enum pl_status pl_store_extension_quarantines(struct pl_store *store, struct pl_arena *arena,
                                              struct pl_str extension_id,
                                              struct pl_extension_quarantine_row **ret_rows,
                                              size_t *ret_n, struct pl_error *err);

#endif
