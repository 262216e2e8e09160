/* What nodes share without asking each other. */
#ifndef PL_CLUSTER_SHARING_H
#define PL_CLUSTER_SHARING_H

#include "cluster/node.h"

/* --- limits by the minute -------------------------------------------------------------------- */

/* A node takes a limit (requests or tokens a minute) in grants, each a transaction: small enough
 * that what the others hold and do not use is a tenth of it, and at least 1. 0 for a limit of 0. */
int64_t pl_grant_size(int64_t limit, size_t n_nodes);
/* The grant for a node that asks when `taken` of the limit are already given: never more than is
 * left. 0: the minute is used up. */
int64_t pl_grant_take(int64_t limit, int64_t taken, size_t n_nodes);

/* --- schedules ------------------------------------------------------------------------------- */

enum { PL_NODE_ORDER_LATER_MS = 2000 };

/* How long a node waits with an occurrence of a task: nothing if it is the first by hash(task,
 * node), else two seconds, in case that one does not run it. All nodes with the same list agree on
 * who is first; a task stays there as long as its node does. Only the store's unique row decides who
 * runs it. */
int64_t pl_node_order_wait_ms(struct pl_str task_id, const struct pl_node_id *me,
                              const struct pl_node_id *nodes, size_t n_nodes);

#endif
