/* Inside the meter: usage that is summed in memory before it is stored, one row for each user, key,
 * model and day. */
#ifndef PL_ACCESS_METER_METER_SUMS_H
#define PL_ACCESS_METER_METER_SUMS_H

#include "base/table.h"
#include "store/gateway.h"

/* Zeroed: empty. */
struct pl_meter_sums {
    struct pl_table rows; /* owned */
};

/* False: out of memory, and nothing was added. */
bool pl_meter_sums_add(struct pl_meter_sums *sums, const struct pl_usage_row *row);
/* Adds all of `from`, if there is memory. */
void pl_meter_sums_add_all(struct pl_meter_sums *sums, const struct pl_meter_sums *from);
/* Adds them to the batch, without removing them. Returns their number. */
size_t pl_meter_sums_put(const struct pl_meter_sums *sums, struct pl_batch *batch);
void pl_meter_sums_forget_user(struct pl_meter_sums *sums, struct pl_str user_id);
/* Empties it. */
void pl_meter_sums_deinit(struct pl_meter_sums *sums);

#endif
