/* Automatic backups: every backup_every into backup_dir, which keeps the newest backup_keep. On
 * the first shard, except the job. */
#ifndef PL_SERVICE_ADMIN_BACKUP_SCHEDULE_H
#define PL_SERVICE_ADMIN_BACKUP_SCHEDULE_H

#include "shard/shard.h"

struct pl_backup_schedule {
    struct pl_server *server; /* borrowed */
    struct pl_timer timer;
    struct pl_job job;
    struct pl_setup *setup; /* held while the job runs */
    int64_t failed_ms;      /* last failure, by the loop's clock; 0: the last backup succeeded */
    enum pl_status status;
    struct pl_error err;
    bool is_made; /* it was due and succeeded */
};

void pl_backup_schedule_start(struct pl_backup_schedule *schedule, struct pl_server *server);

#endif
