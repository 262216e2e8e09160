/* Extensions (store.h): what an administrator added and accepted, the tools that were seen, the answers `always` of
 * users, and those for whom an extension is quarantined. The files of an extension are in DATA/extensions (ext/package);
 * nodes get them from node/packages.h. */
#ifndef PL_STORE_EXTENSIONS_H
#define PL_STORE_EXTENSIONS_H

#include "store/store.h"

struct pl_extension_row {
    struct pl_str id; /* as its manifest says: ^[a-z0-9][a-z0-9._-]{0,63}$ */
    struct pl_str name, version;
    struct pl_str runtime;         /* "process", "python", "node", "js", "mcp", "remote" */
    struct pl_str artifact;        /* SHA-256 of its tree, 64 hex digits: the name of its copy */
    struct pl_str manifest;        /* the accepted extension.json, canonical */
    struct pl_str manifest_hash;   /* SHA-256 of that, hex: answers hold for it */
    struct pl_str profile;         /* "safe", "balanced", "permissive" */
    struct pl_str granted, denied; /* capabilities, one to a line; may be empty */
    struct pl_str state;  /* "enabled", "disabled"; "quarantined": for all, of earlier versions */
    struct pl_str source; /* where it was added from, for a person to read */
    struct pl_str last_error; /* {NULL, 0}: none */
    struct pl_str registered; /* payload of the last register, JSON; {NULL, 0}: never ran */
    /* Before its last update with another manifest; {NULL, 0}: there was none. */
    struct pl_str before_version, before_manifest;
    int64_t revision; /* in a change: the one that was read */
    int64_t restarts; /* by an administrator, on all nodes; read only */
    int64_t created_ms, updated_ms;
};

/* PL_CONFLICT: there is one of this id. */
void pl_batch_create_extension(struct pl_batch *batch, const struct pl_extension_row *row);
/* All of it. PL_CONFLICT: its revision is another; PL_NOT_FOUND: it was removed. */
void pl_batch_update_extension(struct pl_batch *batch, const struct pl_extension_row *row);
/* The supervisor's: whatever the revision is. PL_NOT_FOUND. */
void pl_batch_set_extension_state(struct pl_batch *batch, struct pl_str id, struct pl_str state,
                                  struct pl_str last_error, int64_t now_ms);
/* Whoever runs it stops it, on every node. */
void pl_batch_restart_extension(struct pl_batch *batch, struct pl_str id);
/* The payload of a register that was accepted. PL_NOT_FOUND. */
void pl_batch_set_extension_registered(struct pl_batch *batch, struct pl_str id,
                                       struct pl_str registered);
/* With its tools, answers and quarantines. */
void pl_batch_delete_extension(struct pl_batch *batch, struct pl_str id);

/* PL_NOT_FOUND. */
enum pl_status pl_store_extension_get(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str id, struct pl_extension_row *ret_row,
                                      struct pl_error *err);
/* In the order of adding, which is the order of loading. */
enum pl_status pl_store_extension_list(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_extension_row **ret_rows, size_t *ret_n,
                                       struct pl_error *err);

/* A tool is pinned at first sight. Once `seen` is not `accepted`, it is withheld. */
struct pl_extension_tool_row {
    struct pl_str name;
    struct pl_str accepted, seen; /* hashes of name, description and schema, hex */
    struct pl_str definition;     /* as seen last, JSON */
    int64_t seen_ms;
};
/* What the extension has registered: `seen`, `definition`, `seen_ms`; a new one is accepted as it is.
 * PL_NOT_FOUND: no such extension. */
void pl_batch_see_extension_tool(struct pl_batch *batch, struct pl_str extension_id,
                                 const struct pl_extension_tool_row *tool);
/* A person has accepted the tool as it has this hash. PL_NOT_FOUND: it is not as that any more. */
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
    struct pl_str manifest_hash; /* it holds while the extension has this one */
    bool is_allowed;
    int64_t answered_ms;
};
void pl_batch_put_extension_answer(struct pl_batch *batch, struct pl_str extension_id,
                                   const struct pl_extension_answer_row *answer);
/* Of one user, or ({NULL, 0}) of all. */
void pl_batch_forget_extension_answers(struct pl_batch *batch, struct pl_str extension_id,
                                       struct pl_str user_id);
enum pl_status pl_store_extension_answers(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str extension_id, struct pl_str user_id,
                                          struct pl_extension_answer_row **ret_answers,
                                          size_t *ret_n, struct pl_error *err);

/* It crashed too often for this user. */
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
