#include "cluster/sharing.h"
#include "base/hash.h"

/* --- limits by the minute -------------------------------------------------------------------- */

int64_t pl_grant_size(int64_t limit, size_t n_nodes)
{
    enum { SHARE = 10 };
    if (limit <= 0)
        return 0;
    uint64_t parts = 0;
    bool is_huge = __builtin_mul_overflow((uint64_t)(n_nodes ? n_nodes : 1), SHARE, &parts);
    int64_t size = is_huge ? 0 : (int64_t)((uint64_t)limit / parts);
    return size > 1 ? size : 1;
}

int64_t pl_grant_take(int64_t limit, int64_t taken, size_t n_nodes)
{
    int64_t size = pl_grant_size(limit, n_nodes), left = 0;
    if (taken < 0)
        taken = 0;
    if (limit > taken)
        left = limit - taken;
    return size < left ? size : left;
}

/* --- schedules ------------------------------------------------------------------------------- */

static uint64_t weight(struct pl_str task_id, const struct pl_node_id *node)
{
    uint64_t of_task = pl_hash_quick(task_id);
    char both[sizeof of_task + PL_NODE_ID_BYTES];
    for (size_t i = 0; i < sizeof of_task; i++)
        both[i] = (char)(of_task >> (8 * i));
    memcpy(both + sizeof of_task, node->bytes, PL_NODE_ID_BYTES);
    return pl_hash_quick((struct pl_str){both, sizeof both});
}

/* Of two nodes with the same weight, the one with the greater id comes first. */
static bool is_before(struct pl_str task_id, const struct pl_node_id *a, const struct pl_node_id *b)
{
    uint64_t of_a = weight(task_id, a), of_b = weight(task_id, b);
    return of_a != of_b ? of_a > of_b : memcmp(a->bytes, b->bytes, sizeof a->bytes) > 0;
}

int64_t pl_node_order_wait_ms(struct pl_str task_id, const struct pl_node_id *me,
                              const struct pl_node_id *nodes, size_t n_nodes)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (is_before(task_id, &nodes[i], me))
            return PL_NODE_ORDER_LATER_MS;
    return 0;
}
