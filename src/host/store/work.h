/* Scheduled tasks with their runs, and blobs, which are too large for a row. Rows and rules are as
 * in store.h. */
#ifndef PL_STORE_WORK_H
#define PL_STORE_WORK_H

#include "store/store.h"

/* --- scheduled tasks ------------------------------------------------------------------------- */

struct pl_task_row {
    struct pl_str id, user_id; /* "task_" and a UUID */
    struct pl_str title;
    struct pl_str prompt;     /* text; {NULL, 0} when a prompt of the library is named */
    struct pl_str prompt_ref; /* JSON {prompt_id, label | version, variables}; or {NULL, 0} */
    struct pl_str cron, timezone;
    struct pl_str model;   /* or {NULL, 0} */
    struct pl_str overlap; /* "skip", "queue", "allow", "replace" */
    bool enabled, skip_confirmations;
    int64_t expires_ms;            /* 0: never */
    int64_t next_ms;               /* the occurrence that is due next; INT64_MAX: none */
    int64_t last_ms;               /* the newest occurrence that was looked at; 0: none */
    int64_t n_failures;            /* in a row */
    struct pl_str disabled_reason; /* or {NULL, 0} */
    int64_t revision;              /* grows with every change */
    int64_t created_ms, updated_ms;
};

struct pl_task_run_row {
    struct pl_str id, task_id; /* "run_" and a UUID */
    struct pl_str session_id;  /* {NULL, 0}: none was made (missed, skipped, failed to start) */
    struct pl_str status;      /* "running", "completed", "failed"; "missed", "skipped", "queued" */
    struct pl_str error;       /* or {NULL, 0} */
    int64_t due_ms;            /* the occurrence; of a run by hand: when it was asked for */
    bool is_manual;
    int64_t n_missed;                  /* occurrences this row stands for besides its own */
    int64_t triggered_ms, finished_ms; /* 0: not yet */
    bool is_elsewhere; /* of one that was read: another node has it, and is not gone */
};

void pl_batch_create_task(struct pl_batch *batch, const struct pl_task_row *task);
/* Everything but id, user and created_ms. row->revision is the one expected (PL_CONFLICT as for
 * prompts); the stored one becomes one more. */
void pl_batch_update_task(struct pl_batch *batch, const struct pl_task_row *task);
void pl_batch_delete_task(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* One occurrence is one row: PL_CONFLICT when (task, due_ms, is_manual false) is there already, so
 * of several schedulers one wins. Put into the batch that makes its session. */
void pl_batch_create_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* status, error, session_id, finished_ms. */
void pl_batch_update_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* The same for one that is queued and begins: PL_NOT_FOUND where it is not queued any more. Of several
 * that try, one has it. */
void pl_batch_start_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* One of a node that is gone is this one's: PL_NOT_FOUND where another node was faster. */
void pl_batch_adopt_run(struct pl_batch *batch, struct pl_str id);
/* Moves next_ms and last_ms on, never back; a task that was changed meanwhile keeps what the change
 * wrote (revision is the one that was read). Not a failure when it was. */
void pl_batch_advance_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                           int64_t last_ms, int64_t next_ms);
/* The other way: next_ms comes sooner, never later, under the same condition. */
void pl_batch_rewind_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                          int64_t next_ms);
/* Counts a failure (or forgets them), and disables with a reason when there are `limit` in a row.
 */
void pl_batch_count_task(struct pl_batch *batch, struct pl_str id, bool has_failed, int64_t limit,
                         struct pl_str disabled_reason, int64_t now_ms);
/* After a crash: runs that were running are failed with this error. Runs of sessions that still
 * wait for an answer are left alone. */
void pl_batch_settle_runs(struct pl_batch *batch, struct pl_str error, int64_t now_ms);

enum pl_status pl_store_task_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_task_row *ret_task, struct pl_error *err);
struct pl_task_query {
    struct pl_str user_id;
    int is_enabled;     /* 0, 1; -1: any */
    struct pl_str text; /* in the title, without regard to case; empty: any */
    size_t limit;
    int64_t offset;
    struct pl_str after_id; /* pages by cursor, newest first; empty: from the newest on */
    size_t max_bytes;       /* of all rows but the first; 0: no limit */
};
struct pl_task_page {
    struct pl_task_row *items; /* arena */
    size_t n_items;
    int64_t total;
    bool has_more;
};
enum pl_status pl_store_task_list(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_task_query *query, struct pl_task_page *ret_page,
                                  struct pl_error *err);
/* Of all users: enabled ones with next_ms <= now_ms, the longest due first. */
enum pl_status pl_store_task_due(struct pl_store *store, struct pl_arena *arena, int64_t now_ms,
                                 size_t limit, struct pl_task_page *ret_page, struct pl_error *err);
/* The least next_ms of all enabled tasks; INT64_MAX: none. */
enum pl_status pl_store_task_next(struct pl_store *store, int64_t *ret_next_ms,
                                  struct pl_error *err);

struct pl_task_run_page {
    struct pl_task_run_row *items; /* arena; newest due first */
    size_t n_items;
    int64_t total;
    bool has_more;
};
struct pl_task_run_query {
    struct pl_str task_id;               /* the caller has checked whose it is */
    struct pl_str status;                /* empty: any */
    int64_t due_after_ms, due_before_ms; /* exclusive; -1 and INT64_MAX: no bound */
    size_t limit;
    int64_t offset;
};
enum pl_status pl_store_run_list(struct pl_store *store, struct pl_arena *arena,
                                 const struct pl_task_run_query *query,
                                 struct pl_task_run_page *ret_page, struct pl_error *err);

/* --- blobs ----------------------------------------------------------------------------------- */

/* Bytes are kept once, by their SHA-256, in pieces; every user who has them has a row. An upload
 * first puts its pieces under its own id, in batches of their own, and exists when the last batch
 * (pl_batch_create_blob) is committed. Unfinished uploads are swept. */
#define PL_BLOB_PIECE (256u << 10)

struct pl_blob_row {
    struct pl_str id, user_id; /* "blob_" and a UUID */
    struct pl_str hash;        /* 32 bytes */
    int64_t n_bytes;
    struct pl_str content_type, name; /* name may be {NULL, 0} */
    int64_t created_ms;
    bool is_servers;   /* when it is created: the server keeps it for what will refer to it, and its
                          owner did not ask for a blob */
    int64_t unused_ms; /* when it is read: since when nothing may refer to it; 0: something does, or
                          its owner put it there; -1: from before this was counted */
};

/* piece i of the upload of this blob's id; every one but the last has PL_BLOB_PIECE bytes. */
void pl_batch_put_piece(struct pl_batch *batch, struct pl_str blob_id, int64_t i,
                        struct pl_str bytes, int64_t now_ms);
/* The upload is whole. Where the bytes were there already, its pieces are dropped again. */
void pl_batch_create_blob(struct pl_batch *batch, const struct pl_blob_row *blob);
/* The bytes go with the last user who has them. */
void pl_batch_delete_blob(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* A client named it, and will refer to it: what nothing refers to is as new again. */
void pl_batch_touch_blob(struct pl_batch *batch, struct pl_str id, int64_t now_ms);

/* When a session, prompt or task is stored, its texts are searched for ids of blobs, and those
 * blobs of the same user belong to it until it is deleted. A blob is looked at when one of its
 * owners was deleted, and when the server made it for an owner that never came. */
struct pl_unused_blob {
    struct pl_str id, user_id;
    int64_t n_bytes;
    int64_t unused_ms;
    bool is_used; /* something refers to it nevertheless */
};
/* Of all users, those that nothing may refer to since until_ms or before, the oldest first. */
enum pl_status pl_store_blob_unused(struct pl_store *store, struct pl_arena *arena,
                                    int64_t until_ms, size_t limit,
                                    struct pl_unused_blob **ret_blobs, size_t *ret_n,
                                    struct pl_error *err);
/* It is used: it is not looked at again until an owner goes. */
void pl_batch_settle_blob(struct pl_batch *batch, const struct pl_unused_blob *blob);
/* Deletes it. PL_NOT_FOUND: something refers to it by now, or it was touched or deleted. */
void pl_batch_collect_blob(struct pl_batch *batch, const struct pl_unused_blob *blob);

/* An upload that was given up; and all that were begun before this and never finished. */
void pl_batch_drop_upload(struct pl_batch *batch, struct pl_str blob_id);
void pl_batch_sweep_uploads(struct pl_batch *batch, int64_t begun_before_ms);

enum pl_status pl_store_blob_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_blob_row *ret_blob, struct pl_error *err);
/* A user's blob with these bytes. */
enum pl_status pl_store_blob_find(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str hash,
                                  struct pl_blob_row *ret_blob, struct pl_error *err);
/* Piece i of its bytes, into the arena. */
enum pl_status pl_store_blob_piece(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str hash, int64_t i, struct pl_str *ret_bytes,
                                   struct pl_error *err);
struct pl_blob_page {
    struct pl_blob_row *items; /* arena; newest first */
    size_t n_items;
    int64_t total;
    bool has_more;
};
enum pl_status pl_store_blob_list(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, size_t limit, int64_t offset,
                                  struct pl_blob_page *ret_page, struct pl_error *err);

#endif
