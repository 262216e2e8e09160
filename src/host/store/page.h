/* Data for the web page (store.h): calls of models one by one, drafts of prompts, settings of
 * users. */
#ifndef PL_STORE_PAGE_H
#define PL_STORE_PAGE_H

#include "store/store.h"

/* --- runs: calls of models that are over ------------------------------------------------------ */

struct pl_model_run {
    struct pl_str id; /* "run_" and a UUID */
    struct pl_str user_id;
    struct pl_str key_id; /* empty: through the control socket */
    struct pl_str source; /* "chat", "prompt", "task", "gateway", … */
    struct pl_str status; /* "completed", "failed", "stopped" */
    struct pl_str model;
    struct pl_str session_id, turn_id, prompt_id; /* {NULL, 0}: none; may be deleted */
    struct pl_str error;                          /* a code; {NULL, 0}: none */
    int64_t version;                              /* of the prompt; 0: none */
    int64_t started_ms;
    int64_t first_ms; /* time to the first word; -1: there was none */
    int64_t total_ms;
    int64_t input_tokens, output_tokens, cached_tokens;
    int64_t cost_micro; /* micro-dollars; -1: unknown */
};

/* Ignored if the user was erased. */
void pl_batch_put_model_run(struct pl_batch *batch, const struct pl_model_run *run);
/* The same for many runs, at a lower cost for each: does not look whether the user was erased.
 * After the last run of a user, pl_batch_drop_gone_model_runs must follow. */
void pl_batch_add_model_run(struct pl_batch *batch, const struct pl_model_run *run);
void pl_batch_drop_gone_model_runs(struct pl_batch *batch, struct pl_str user_id);
void pl_batch_expire_model_runs(struct pl_batch *batch, int64_t before_ms);

struct pl_model_run_query {
    struct pl_str user_id;
    int64_t from_ms, to_ms;                         /* to_ms is exclusive */
    struct pl_str model, prompt_id, source, status; /* empty: any */
    /* Pages, newest first: runs before this one. */
    int64_t before_ms;       /* INT64_MAX: from the newest on */
    struct pl_str before_id; /* empty if before_ms is INT64_MAX */
    size_t limit;
};
struct pl_model_run_page {
    struct pl_model_run *items; /* arena */
    size_t n_items;
    int64_t total;
    bool has_more;
};
enum pl_status pl_store_model_run_list(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_model_run_query *query,
                                       struct pl_model_run_page *ret_page, struct pl_error *err);
enum pl_status pl_store_model_run_get(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str user_id, struct pl_str id,
                                      struct pl_model_run *ret_run, struct pl_error *err);

/* Sums per bucket of time and group. */
struct pl_model_run_sum {
    int64_t at_ms; /* start of the bucket */
    struct pl_str group;
    int64_t n, n_failed, input_tokens, output_tokens, cost_micro;
    int64_t first_sum_ms, n_first, total_sum_ms;
};
struct pl_model_run_series {
    const struct pl_model_run_query *which;
    int64_t bucket_ms, offset_ms; /* buckets begin at multiples of bucket_ms in local time, which is
                                     offset_ms east of UTC */
    struct pl_str group;          /* "model", "source", "status" or "" */
    size_t limit;
};
enum pl_status pl_store_model_run_sums(struct pl_store *store, struct pl_arena *arena,
                                       const struct pl_model_run_series *series,
                                       struct pl_model_run_sum **ret_sums, size_t *ret_n,
                                       bool *ret_has_more, struct pl_error *err);

/* The total cost of a session's calls, and the number of its questions that wait for a person. */
enum pl_status pl_store_session_sums(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, int64_t *ret_cost_micro,
                                     int64_t *ret_n_questions, struct pl_error *err);

/* --- drafts ---------------------------------------------------------------------------------- */

struct pl_draft_row {
    int64_t revision; /* 0: no draft */
    int64_t based_on; /* the version it was made from */
    int64_t updated_ms;
    struct pl_str type;    /* "text" or "structured" */
    struct pl_str extra;   /* JSON object: data that the page keeps beside the content */
    struct pl_str content; /* as in a version */
};
/* `revision` is the one to replace: PL_CONFLICT if the stored one differs. PL_NOT_FOUND: no such
 * prompt. */
void pl_batch_put_draft(struct pl_batch *batch, struct pl_str user_id, struct pl_str prompt_id,
                        const struct pl_draft_row *draft);
void pl_batch_delete_draft(struct pl_batch *batch, struct pl_str user_id, struct pl_str prompt_id);
enum pl_status pl_store_draft_get(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str prompt_id,
                                  struct pl_draft_row *ret_draft, struct pl_error *err);

/* --- cards ----------------------------------------------------------------------------------- */

enum { PL_CARD_MAX = 512 << 10 };

/* A card belongs to a session; a put with the same name replaces the card. */
void pl_batch_put_card(struct pl_batch *batch, struct pl_str session_id, struct pl_str name,
                       struct pl_str html);
enum pl_status pl_store_card_get(struct pl_store *store, struct pl_arena *arena, struct pl_str name,
                                 struct pl_str *ret_html, struct pl_error *err);

/* --- settings -------------------------------------------------------------------------------- */

/* A JSON object; `revision` is the one to replace, 0: none. */
void pl_batch_put_user_settings(struct pl_batch *batch, struct pl_str user_id, int64_t revision,
                                struct pl_str value);
/* Revision 0 and "{}" if nothing is stored. */
enum pl_status pl_store_user_settings_get(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str user_id, int64_t *ret_revision,
                                          struct pl_str *ret_value, struct pl_error *err);

/* --- deleted things that can be restored ------------------------------------------------------- */

enum pl_deleted_kind {
    PL_DELETED_SESSION,
    PL_DELETED_PROMPT,
    PL_DELETED_TASK,
    PL_DELETED_MEMORY,
    PL_DELETED_KINDS,
};
/* The number of deleted records kept per user and kind; the oldest are dropped first. */
enum { PL_DELETED_MAX = 200 };

struct pl_deleted_row {
    enum pl_deleted_kind kind;
    struct pl_str id;    /* for a memory: its number */
    struct pl_str title; /* the beginning of its name or text */
    int64_t deleted_ms;
};

/* "session", "prompt", "task", "memory". */
const char *pl_deleted_kind_name(enum pl_deleted_kind kind);
/* Derived from the form of the id; false: no known kind. */
bool pl_deleted_kind_of(struct pl_str id, enum pl_deleted_kind *ret_kind);

/* Deletes it in a way that it can be restored. Does nothing if it does not exist. */
void pl_batch_bury(struct pl_batch *batch, enum pl_deleted_kind kind, struct pl_str user_id,
                   struct pl_str id, int64_t now_ms);
/* Restores it; PL_NOT_FOUND if it is not among the user's deleted records. A task is restored
 * disabled. Of the quotas, only that of memories is checked. */
void pl_batch_raise(struct pl_batch *batch, enum pl_deleted_kind kind, struct pl_str user_id,
                    struct pl_str id);
/* Deletes permanently: one record, all of a user, or those of all users that were deleted before
 * before_ms. */
void pl_batch_drop_deleted(struct pl_batch *batch, enum pl_deleted_kind kind, struct pl_str user_id,
                           struct pl_str id);
void pl_batch_empty_deleted(struct pl_batch *batch, struct pl_str user_id);
void pl_batch_expire_deleted(struct pl_batch *batch, int64_t before_ms);
/* Newest first; `kind` empty: all. */
enum pl_status pl_store_deleted_list(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str user_id, struct pl_str kind,
                                     struct pl_deleted_row **ret_rows, size_t *ret_n,
                                     struct pl_error *err);

#endif
