/* Backups that the server makes by itself: every backup_every into backup_dir, of which backup_keep
 * stay. On the first shard, but the job. */
#ifndef PL_SERVICE_ADMIN_BACKUP_SCHEDULE_H
#define PL_SERVICE_ADMIN_BACKUP_SCHEDULE_H

#include "shard/shard.h"

struct pl_backup_schedule {
    struct pl_server *server; /* borrowed */
    struct pl_timer timer;
    struct pl_job job;
    struct pl_setup *setup; /* held while the job is away */
    int64_t failed_ms;      /* when one last failed, by the loop's clock; 0: the last one did not */
    enum pl_status status;
    struct pl_error err;
    bool is_made; /* it was due */
};

void pl_backup_schedule_start(struct pl_backup_schedule *schedule, struct pl_server *server);

#endif
