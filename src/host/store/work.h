/* Scheduled tasks with their runs, and blobs, which are too large for a row. The rules of store.h
 * apply. */
#ifndef PL_STORE_WORK_H
#define PL_STORE_WORK_H

#include "store/store.h"

/* --- scheduled tasks ------------------------------------------------------------------------- */

struct pl_task_row {
    struct pl_str id, user_id; /* "task_" and a UUID */
    struct pl_str title;
    struct pl_str prompt;     /* text; {NULL, 0} if prompt_ref is set */
    struct pl_str prompt_ref; /* JSON {prompt_id, label | version, variables}; or {NULL, 0} */
    struct pl_str cron, timezone;
    struct pl_str model;   /* or {NULL, 0} */
    struct pl_str overlap; /* "skip", "queue", "allow", "replace" */
    bool enabled, skip_confirmations;
    int64_t expires_ms;            /* 0: never */
    int64_t next_ms;               /* the next occurrence; INT64_MAX: none */
    int64_t last_ms;               /* the newest occurrence that was handled; 0: none */
    int64_t n_failures;            /* in a row */
    struct pl_str disabled_reason; /* or {NULL, 0} */
    int64_t revision;              /* grows with every change */
    int64_t created_ms, updated_ms;
};

struct pl_task_run_row {
    struct pl_str id, task_id; /* "run_" and a UUID */
    struct pl_str session_id;  /* {NULL, 0}: none was created (missed, skipped, failed to start) */
    struct pl_str status;      /* "running", "completed", "failed"; "missed", "skipped", "queued" */
    struct pl_str error;       /* or {NULL, 0} */
    int64_t due_ms;            /* the occurrence; for a manual run: the time of the request */
    bool is_manual;
    int64_t n_missed;                  /* additional occurrences that this row represents */
    int64_t triggered_ms, finished_ms; /* 0: not yet */
    bool is_elsewhere; /* set by reads: another node runs it, and that node is not gone */
};

void pl_batch_create_task(struct pl_batch *batch, const struct pl_task_row *task);
/* Writes all fields but id, user and created_ms. row->revision is the expected one (PL_CONFLICT as
 * for prompts); the stored one is incremented. */
void pl_batch_update_task(struct pl_batch *batch, const struct pl_task_row *task);
void pl_batch_delete_task(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* One occurrence is one row: PL_CONFLICT if (task, due_ms, is_manual false) already exists, so that
 * one of several schedulers wins. Put it into the batch that creates its session. */
void pl_batch_create_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* Writes status, error, session_id, finished_ms. */
void pl_batch_update_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* The same for a queued run that starts: PL_NOT_FOUND if it is no longer queued. If several
 * processes try, one wins. */
void pl_batch_start_run(struct pl_batch *batch, const struct pl_task_run_row *run);
/* Takes over a run of a node that is gone: PL_NOT_FOUND if another node was faster. */
void pl_batch_adopt_run(struct pl_batch *batch, struct pl_str id);
/* Advances next_ms and last_ms, never back. If the task has been changed since `revision` was read,
 * it stays unchanged, and that is not a failure. */
void pl_batch_advance_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                           int64_t last_ms, int64_t next_ms);
/* The other way: makes next_ms earlier, never later, under the same condition. */
void pl_batch_rewind_task(struct pl_batch *batch, struct pl_str id, int64_t revision,
                          int64_t next_ms);
/* Counts a failure (or resets the count), and disables the task with a reason after `limit`
 * failures in a row. */
void pl_batch_count_task(struct pl_batch *batch, struct pl_str id, bool has_failed, int64_t limit,
                         struct pl_str disabled_reason, int64_t now_ms);
/* After a crash: marks running runs as failed with this error, except runs of sessions that still
 * wait for an answer. */
void pl_batch_settle_runs(struct pl_batch *batch, struct pl_str error, int64_t now_ms);

enum pl_status pl_store_task_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_task_row *ret_task, struct pl_error *err);
struct pl_task_query {
    struct pl_str user_id;
    int is_enabled;     /* 0, 1; -1: any */
    struct pl_str text; /* in the title, ignoring case; empty: any */
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
/* Enabled tasks of all users with next_ms <= now_ms, the longest due first. */
enum pl_status pl_store_task_due(struct pl_store *store, struct pl_arena *arena, int64_t now_ms,
                                 size_t limit, struct pl_task_page *ret_page, struct pl_error *err);
/* The smallest next_ms of all enabled tasks; INT64_MAX: none. */
enum pl_status pl_store_task_next(struct pl_store *store, int64_t *ret_next_ms,
                                  struct pl_error *err);

struct pl_task_run_page {
    struct pl_task_run_row *items; /* arena; newest due first */
    size_t n_items;
    int64_t total;
    bool has_more;
};
struct pl_task_run_query {
    struct pl_str task_id;               /* the caller has checked its owner */
    struct pl_str status;                /* empty: any */
    int64_t due_after_ms, due_before_ms; /* exclusive; -1 and INT64_MAX: no bound */
    size_t limit;
    int64_t offset;
};
enum pl_status pl_store_run_list(struct pl_store *store, struct pl_arena *arena,
                                 const struct pl_task_run_query *query,
                                 struct pl_task_run_page *ret_page, struct pl_error *err);

/* --- blobs ----------------------------------------------------------------------------------- */

/* Bytes are stored once, by their SHA-256, in pieces; every user who has them has a row. An upload
 * first puts its pieces under its own id, in separate batches. The blob exists once the last batch
 * (pl_batch_create_blob) is committed. Unfinished uploads are swept. */
#define PL_BLOB_PIECE (256u << 10)

struct pl_blob_row {
    struct pl_str id, user_id; /* "blob_" and a UUID */
    struct pl_str hash;        /* 32 bytes */
    int64_t n_bytes;
    struct pl_str content_type, name; /* name may be {NULL, 0} */
    int64_t created_ms;
    bool is_servers;   /* for creation: the server keeps it for a record that will refer to it; its
                          user did not ask for a blob */
    int64_t unused_ms; /* set by reads: since when possibly nothing refers to it; 0: a record refers
                          to it, or its user uploaded it; -1: from before this was tracked */
};

/* Piece i of the upload with this blob's id; all pieces but the last have PL_BLOB_PIECE bytes. */
void pl_batch_put_piece(struct pl_batch *batch, struct pl_str blob_id, int64_t i,
                        struct pl_str bytes, int64_t now_ms);
/* Completes the upload. If the bytes already exist, its pieces are dropped. */
void pl_batch_create_blob(struct pl_batch *batch, const struct pl_blob_row *blob);
/* The bytes are deleted with the row of their last user. */
void pl_batch_delete_blob(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* A client named it and will refer to it: if it is unused, its unused_ms becomes now. */
void pl_batch_touch_blob(struct pl_batch *batch, struct pl_str id, int64_t now_ms);

/* When a session, prompt or task is stored, its texts are searched for ids of blobs. Those blobs of
 * the same user then belong to it until it is deleted. A blob becomes a candidate for deletion when
 * one of its owners is deleted, or when the server created it for an owner that never came. */
struct pl_unused_blob {
    struct pl_str id, user_id;
    int64_t n_bytes;
    int64_t unused_ms;
    bool is_used; /* a record refers to it after all */
};
/* Blobs of all users that are possibly unused since until_ms or before, oldest first. */
enum pl_status pl_store_blob_unused(struct pl_store *store, struct pl_arena *arena,
                                    int64_t until_ms, size_t limit,
                                    struct pl_unused_blob **ret_blobs, size_t *ret_n,
                                    struct pl_error *err);
/* The blob is used: it is not checked again until an owner is deleted. */
void pl_batch_settle_blob(struct pl_batch *batch, const struct pl_unused_blob *blob);
/* Deletes it. PL_NOT_FOUND: a record refers to it by now, or it was touched or deleted. */
void pl_batch_collect_blob(struct pl_batch *batch, const struct pl_unused_blob *blob);

/* Drops one abandoned upload; or all unfinished ones that were begun before this time. */
void pl_batch_drop_upload(struct pl_batch *batch, struct pl_str blob_id);
void pl_batch_sweep_uploads(struct pl_batch *batch, int64_t begun_before_ms);

enum pl_status pl_store_blob_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str id,
                                 struct pl_blob_row *ret_blob, struct pl_error *err);
/* A user's blob with these bytes. */
enum pl_status pl_store_blob_find(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str hash,
                                  struct pl_blob_row *ret_blob, struct pl_error *err);
/* Piece i of the bytes, in the arena. */
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
