#include "cluster/commit_mark.h"

/* A number that this writer never sent means that the row belongs to another writer. */
enum pl_commit_mark pl_commit_mark(const struct pl_commit_mark_row *row, int64_t acknowledged,
                                   int64_t in_doubt)
{
    if (!row->is_there || row->is_gone || row->number > in_doubt)
        return PL_COMMIT_MARK_FENCED;
    if (row->number < acknowledged)
        return PL_COMMIT_MARK_REWOUND;
    return row->number == in_doubt ? PL_COMMIT_MARK_DURABLE : PL_COMMIT_MARK_UNDONE;
}
