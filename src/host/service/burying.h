/* Deletes things so that they can be restored within deleted_days. */
#ifndef PL_SERVICE_BURYING_H
#define PL_SERVICE_BURYING_H

#include "http/exchange.h"
#include "store/page.h"

/* Whether deleted things are kept for a while; false: deleted_days is 0. */
bool pl_exchange_keeps_deleted(const struct pl_exchange *x);
/* Replaces pl_batch_delete_…: if deleted things are kept, adds the change to the batch. False:
 * the caller deletes for good. */
bool pl_exchange_bury(struct pl_exchange *x, struct pl_batch *batch, enum pl_deleted_kind kind,
                      struct pl_str id);

#endif
