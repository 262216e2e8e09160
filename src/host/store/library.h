/* The library of a user: prompts with their versions and labels, and memories. The rules of store.h
 * apply: puts go into a batch, reads block on a worker, records of other users are not found.
 *
 * Both are searched by terms (base/text/terms.h): a query finds a row if they share `terms`. The
 * database only indexes and ranks terms and knows nothing of languages, so every store finds
 * Chinese words of two characters (docs/adr/0011). The total of a search stops at a thousand, which
 * limits its cost. */
#ifndef PL_STORE_LIBRARY_H
#define PL_STORE_LIBRARY_H

#include "store/store.h"

/* --- prompts --------------------------------------------------------------------------------- */

struct pl_prompt_row {
    struct pl_str id, user_id; /* "prompt_" and a UUID */
    struct pl_str name, description;
    struct pl_str folder; /* "" is the root; "team/audit" otherwise */
    struct pl_str tags;   /* JSON array of strings, sorted, without duplicates */
    struct pl_str labels; /* JSON object: label -> version, sorted by label. Read only */
    struct pl_str type;   /* of the latest version. Read only */
    bool is_pinned;
    int64_t latest_version;
    int64_t revision; /* grows with every change, including versions and labels: the ETag */
    int64_t created_ms, updated_ms;
    /* Written, never read: name, description, tags and the latest text. Only the first 256 KiB
     * count. */
    struct pl_str terms;
    /* Written, never read: its directory among exported files (pl_prompt_directory). */
    struct pl_str directory;
};

struct pl_prompt_version_row {
    struct pl_str prompt_id;
    int64_t version;       /* from 1 */
    struct pl_str type;    /* "text", "structured" */
    struct pl_str content; /* the text itself, or the JSON of a structured chat, byte for byte */
    struct pl_str note;
    struct pl_str hash;    /* 32 bytes, SHA-256 of type, NUL, content */
    int64_t based_on;      /* the version it was made from; 0: none */
    int64_t restored_from; /* the version restored by a rollback; 0: none */
    int64_t created_ms;
};

/* Creates the prompt with revision 1; put its first version into the same batch. */
void pl_batch_create_prompt(struct pl_batch *batch, const struct pl_prompt_row *prompt);
/* Changes name, description, folder, tags, pin, latest_version, updated_ms, terms and directory
 * ({NULL, 0} keeps either of the last two). row->revision is the expected one: the batch fails with
 * PL_CONFLICT if the stored one differs or this user has no such prompt. The stored one is
 * incremented. */
void pl_batch_update_prompt(struct pl_batch *batch, const struct pl_prompt_row *row);
/* PL_CONFLICT if this version already exists. */
void pl_batch_put_prompt_version(struct pl_batch *batch, struct pl_str user_id,
                                 const struct pl_prompt_version_row *version);
/* Moves a label; version 0 removes it. PL_NOT_FOUND if there is no such version. */
void pl_batch_put_prompt_label(struct pl_batch *batch, struct pl_str user_id,
                               struct pl_str prompt_id, struct pl_str label, int64_t version);
void pl_batch_delete_prompt(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);

enum pl_status pl_store_prompt_get(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str user_id, struct pl_str id,
                                   struct pl_prompt_row *ret_prompt, struct pl_error *err);
/* Whether another user's prompt has this id, so that this user cannot use it. */
enum pl_status pl_store_prompt_is_others(struct pl_store *store, struct pl_str user_id,
                                         struct pl_str id, bool *ret_is, struct pl_error *err);

struct pl_prompt_query {
    struct pl_str user_id;
    bool has_folder;
    struct pl_str folder;     /* this folder and its subfolders; "" is all */
    struct pl_str tag, label; /* empty: any */
    bool has_pinned, is_pinned;
    struct pl_str terms; /* best match first; empty: pinned first, then last changed first */
    size_t limit;
    size_t max_bytes; /* without terms, of all rows but the first; 0: no limit */
    int64_t offset;
    /* Pages by cursor, only without terms. */
    bool has_cursor, cursor_is_pinned;
    int64_t cursor_updated_ms;
    struct pl_str cursor_id;
};
struct pl_prompt_page {
    struct pl_prompt_row *items; /* arena */
    size_t n_items;
    int64_t total;
    bool has_more;
};
enum pl_status pl_store_prompt_list(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_prompt_query *query,
                                    struct pl_prompt_page *ret_page, struct pl_error *err);

/* Prompts after after_id (empty: all), oldest first, without a total. */
enum pl_status pl_store_prompt_walk(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str after_id, size_t limit,
                                    struct pl_prompt_page *ret_page, struct pl_error *err);
/* Whether a prompt older than before_id (empty: any) has this directory. */
enum pl_status pl_store_prompt_directory(struct pl_store *store, struct pl_str user_id,
                                         struct pl_str directory, struct pl_str before_id,
                                         bool *ret_is_there, struct pl_error *err);

/* Folders or tags, with the number of prompts in each; sorted by the bytes of their names. */
struct pl_named_count {
    struct pl_str name;
    int64_t n;
};
struct pl_count_query {
    struct pl_str user_id;
    struct pl_str after; /* the last name of the previous page; {NULL, 0}: from the first on */
    size_t limit;
};
struct pl_count_page {
    struct pl_named_count *items; /* arena */
    size_t n_items;
    bool has_more;
};
enum pl_status pl_store_prompt_folders(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_count_query *query,
                                       struct pl_count_page *ret_page, struct pl_error *err);
enum pl_status pl_store_prompt_tags(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_count_query *query,
                                    struct pl_count_page *ret_page, struct pl_error *err);

enum pl_status pl_store_prompt_version_get(struct pl_store *store, struct pl_arena *arena,
                                           struct pl_str user_id, struct pl_str prompt_id,
                                           int64_t version,
                                           struct pl_prompt_version_row *ret_version,
                                           struct pl_error *err);
struct pl_prompt_version_page {
    struct pl_prompt_version_row *items; /* arena; newest first */
    size_t n_items;
    int64_t total;
    bool has_more;
};
/* Versions below `before` (INT64_MAX: from the newest on). */
enum pl_status pl_store_prompt_version_list(struct pl_store *store, struct pl_arena *arena,
                                            struct pl_str user_id, struct pl_str prompt_id,
                                            int64_t before, size_t limit,
                                            struct pl_prompt_version_page *ret_page,
                                            struct pl_error *err);

/* --- memories -------------------------------------------------------------------------------- */

#define PL_MEMORY_MAX_PER_USER 10000

struct pl_memory_row {
    int64_t id;        /* assigned by the store */
    struct pl_str uid; /* "mem_" and a UUID, made by the writer, to find the id of a new memory */
    struct pl_str user_id;
    struct pl_str type, content;
    struct pl_str skill_name, record_type, scope, owner, topic, mem0_id, write_reason; /* or NULL */
    struct pl_str source_session;                                                      /* text */
    int64_t superseded_by;                                                             /* 0: null */
    int64_t created_ms, updated_ms, last_hit_ms; /* 0: null, except for created_ms */
    int64_t hit_count;
    bool disabled;
    int64_t revision;    /* grows with every update, but not with superseding and hits */
    struct pl_str terms; /* written, never read */
    double score;        /* set by a search: 0 to 1, higher is better (memories.c). Read only */
};

/* PL_CONFLICT, with a message, if the user would have more than PL_MEMORY_MAX_PER_USER. A deletion
 * in the same batch makes room only if it comes first. (PL_LIMIT from a batch always means a full
 * disk.) */
void pl_batch_create_memory(struct pl_batch *batch, const struct pl_memory_row *memory);
/* Writes all fields but id, uid, user, superseded_by, created_ms and hits. memory->revision is the
 * expected one: PL_CONFLICT if the stored one differs or this user has no such memory. */
void pl_batch_update_memory(struct pl_batch *batch, const struct pl_memory_row *memory);
/* Memories that it superseded are then superseded by its successor, or by none if it has none. */
void pl_batch_delete_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id);
/* Compare and set: PL_CONFLICT if superseded_by is not `expected` (0: null), if either memory is
 * missing, or if the chain would become a cycle. `by` 0 clears it. */
void pl_batch_supersede_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id,
                               int64_t expected, int64_t by, int64_t now_ms);
/* Counts one more hit. */
void pl_batch_hit_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id, int64_t now_ms);

enum pl_status pl_store_memory_get(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str user_id, int64_t id,
                                   struct pl_memory_row *ret_memory, struct pl_error *err);
enum pl_status pl_store_memory_find(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str uid,
                                    struct pl_memory_row *ret_memory, struct pl_error *err);
/* The number of memories of a user. */
enum pl_status pl_store_memory_count(struct pl_store *store, struct pl_str user_id, int64_t *ret_n,
                                     struct pl_error *err);

struct pl_memory_query {
    struct pl_str user_id;
    struct pl_str type, skill_name, record_type, scope, owner, topic, mem0_id,
        source_session;             /* empty: any */
    int is_disabled, is_superseded; /* 0, 1; -1: any. Both are 0 for memories to inject */
    int64_t created_after_ms, created_before_ms; /* exclusive; 0 and INT64_MAX: no bound */
    struct pl_str terms; /* best first, by text score and recency; empty: newest first */
    int64_t now_ms;      /* for recency */
    size_t limit;
    int64_t offset;
    int64_t before_id; /* pages by cursor, only without terms; INT64_MAX: from the newest on */
};
struct pl_memory_page {
    struct pl_memory_row *items; /* arena */
    size_t n_items;
    int64_t total;
    bool has_more;
};
enum pl_status pl_store_memory_list(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_memory_query *query,
                                    struct pl_memory_page *ret_page, struct pl_error *err);

#endif
