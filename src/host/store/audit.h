/* The audit log (store.h): rows are only added. access/audit.h seals them. */
#ifndef PL_STORE_AUDIT_H
#define PL_STORE_AUDIT_H

#include "store/store.h"

struct pl_audit_row {
    int64_t number; /* grows; there may be gaps */
    int64_t at_ms;
    struct pl_str user_id, key_id; /* the actor; empty: the server itself, no key */
    struct pl_str action;          /* "key.create" */
    struct pl_str object;          /* the id of the affected object, or empty */
    struct pl_str detail;          /* JSON, or empty */
    struct pl_str hash;            /* 32 bytes; empty: not sealed yet */
};

void pl_batch_add_audit(struct pl_batch *batch, const struct pl_audit_row *row);
/* Put this before sealing rows: the whole batch fails with PL_NOT_FOUND if the setting no longer
 * has this value (empty: none), because another process has sealed in the meantime. */
void pl_batch_begin_seal(struct pl_batch *batch, struct pl_str setting, struct pl_str head);
/* Sets the hash of a row, once, and records it as the last sealed one. */
void pl_batch_seal_audit(struct pl_batch *batch, int64_t number, struct pl_str hash);

struct pl_audit_page {
    struct pl_audit_row *rows; /* arena */
    size_t n_rows;
    bool has_more;
};
enum pl_audit_order { PL_AUDIT_OLDEST, PL_AUDIT_NEWEST, PL_AUDIT_UNSEALED };
/* Rows after (OLDEST, UNSEALED) or before (NEWEST) this number. */
enum pl_status pl_store_audit_list(struct pl_store *store, struct pl_arena *arena,
                                   enum pl_audit_order order, int64_t number, size_t limit,
                                   struct pl_audit_page *ret_page, struct pl_error *err);
/* The newest sealed row; number 0: none. */
enum pl_status pl_store_audit_last(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_audit_row *ret_row, struct pl_error *err);

#endif
