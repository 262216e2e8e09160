/* Limits and schedules that nodes share without asking each other. */
#ifndef PL_CLUSTER_SHARING_H
#define PL_CLUSTER_SHARING_H

#include "cluster/node.h"

/* --- limits by the minute -------------------------------------------------------------------- */

/* Size of a grant. A node takes a limit (requests or tokens per minute) in grants, each one a
 * transaction. A grant is so small that the unused grants of all nodes together are at most a tenth
 * of the limit, but it is at least 1. 0 for a limit of 0. */
int64_t pl_grant_size(int64_t limit, size_t n_nodes);
/* The grant for a node that asks when `taken` of the limit is already granted; never more than the
 * rest. 0 if the minute is used up. */
int64_t pl_grant_take(int64_t limit, int64_t taken, size_t n_nodes);

/* --- schedules ------------------------------------------------------------------------------- */

enum { PL_NODE_ORDER_LATER_MS = 2000 };

/* How long a node waits before it runs an occurrence of a task: 0 if it is the first by hash(task,
 * node), otherwise two seconds, in case the first one does not run it. All nodes with the same list
 * agree on the first one, and a task stays there as long as that node exists. Only the unique row
 * in the store decides which node runs it. */
int64_t pl_node_order_wait_ms(struct pl_str task_id, const struct pl_node_id *me,
                              const struct pl_node_id *nodes, size_t n_nodes);

#endif
