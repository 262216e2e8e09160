/* The outcome of a transaction whose connection broke, decided from the writer's row. Every
 * transaction of a node first writes its number into the row (postgres/commit.c). Two changes of
 * the row look alike. If the node itself reconnects, it raises the generation of the row, so that
 * late statements of the old connection fail; it may then try again. If another node took over, it
 * sets is_gone, permanently. */
#ifndef PL_CLUSTER_COMMIT_MARK_H
#define PL_CLUSTER_COMMIT_MARK_H

#include <stdbool.h>
#include <stdint.h>

enum pl_commit_mark {
    PL_COMMIT_MARK_DURABLE, /* the transaction in doubt was committed */
    PL_COMMIT_MARK_UNDONE,  /* it was not and never will be: repeat it */
    PL_COMMIT_MARK_FENCED,  /* another node took over */
    PL_COMMIT_MARK_REWOUND, /* the database lost acknowledged transactions: a failover went back */
};

struct pl_commit_mark_row {
    bool is_there, is_gone;
    int64_t number; /* the last durable transaction */
};

/* `acknowledged` is the last number known to be durable. `in_doubt` is the number that was sent but
 * not answered; it equals `acknowledged` if nothing was in flight. */
enum pl_commit_mark pl_commit_mark(const struct pl_commit_mark_row *row, int64_t acknowledged,
                                   int64_t in_doubt);

#endif
