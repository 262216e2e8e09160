/* The outcome of a transaction whose connection broke, as the writer's row tells it. Every
 * transaction of a node first writes its number into its row (postgres/commit.c). Two changes of
 * the row look alike. The node itself raises the row's generation when it connects again, so that
 * late statements of the old connection fail: it may try again. Another node sets is_gone, for
 * ever. */
#ifndef PL_CLUSTER_COMMIT_MARK_H
#define PL_CLUSTER_COMMIT_MARK_H

#include <stdbool.h>
#include <stdint.h>

enum pl_commit_mark {
    PL_COMMIT_MARK_DURABLE, /* the transaction in doubt was committed */
    PL_COMMIT_MARK_UNDONE,  /* it was not, and never will be: do it again */
    PL_COMMIT_MARK_FENCED,  /* others have taken over */
    PL_COMMIT_MARK_REWOUND, /* the database lost what it had acknowledged: a failover went back */
};

struct pl_commit_mark_row {
    bool is_there, is_gone;
    int64_t number; /* of the last transaction that is durable */
};

/* `acknowledged` is the last number that was durable before, `in_doubt` the one that was sent and
 * not answered; the same where nothing was under way. */
enum pl_commit_mark pl_commit_mark(const struct pl_commit_mark_row *row, int64_t acknowledged,
                                   int64_t in_doubt);

#endif
