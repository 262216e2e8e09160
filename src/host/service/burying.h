/* Deleting so that it can be had back, as deleted_days says. */
#ifndef PL_SERVICE_BURYING_H
#define PL_SERVICE_BURYING_H

#include "http/exchange.h"
#include "store/page.h"

/* Whether what the caller deletes is kept for a while; false: deleted_days is 0. */
bool pl_exchange_keeps_deleted(const struct pl_exchange *x);
/* In place of a pl_batch_delete_…: into the batch, when deleted things are kept. False: the caller deletes it for good. */
bool pl_exchange_bury(struct pl_exchange *x, struct pl_batch *batch, enum pl_deleted_kind kind,
                      struct pl_str id);

#endif
