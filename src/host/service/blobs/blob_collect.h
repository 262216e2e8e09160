/* Deletes blobs without references for blob_grace: those of deleted sessions, prompts and tasks,
 * and those that the server created for a message that never came. A blob that a user added and
 * that was never used stays. Runs on the first shard, except the job. */
#ifndef PL_SERVICE_BLOBS_BLOB_COLLECT_H
#define PL_SERVICE_BLOBS_BLOB_COLLECT_H

#include "shard/shard.h"

struct pl_blob_collect {
    struct pl_server *server; /* borrowed */
    struct pl_timer timer;
    struct pl_job job;
    int64_t until_ms; /* of the step: unused since this instant or before */
    enum pl_status status;
    struct pl_error err;
    int64_t n_blobs, n_bytes; /* deleted in the step */
    bool has_more;            /* there may be enough for another step */
};

void pl_blob_collect_start(struct pl_blob_collect *collect, struct pl_server *server);

#endif
