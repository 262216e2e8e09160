/*     once a minute ─> worker: is the newest backup in the directory older than backup_every?
 *                      ─> copy, durable under its name ─> delete the oldest beyond backup_keep
 *
 * The state is the directory: a crash loses nothing, and a restart makes no extra backup. An old
 * backup is deleted only after a new one is complete. */
#include "service/admin/backup/backup_schedule.h"

#include "base/table.h"
#include "io/clock.h"
#include "io/file/file_tree.h"
#include "io/file/outfile.h"
#include "service/admin/backup/backup_files.h"
#include "service/admin/backup/backup_place.h"
#include "shard/log.h"
#include "shard/setup.h"
#include "store/store.h"

#include <unistd.h>

enum { LOOK_MS = 60000, RETRY_MS = 15 * 60000 };

static enum pl_status write_backup(struct pl_backup_schedule *schedule, const char *path)
{
    static const struct pl_outfile_rules rules = {
        .is_new = true, .is_private = true, .is_durable = true, .is_file = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    struct pl_outfile_place place;
    struct pl_error *err = &schedule->err;
    enum pl_status status = pl_path_make_parents(path, err);
    if (status == PL_OK)
        status = pl_outfile_find(path, &place, err);
    if (status == PL_OK)
        status = pl_backup_check_place(&schedule->setup->config, &place, err);
    if (status == PL_OK)
        status = pl_outfile_open(&out, path, &rules, err);
    if (status == PL_OK)
        status = pl_store_backup(schedule->server->store, out.part, err);
    return status == PL_OK ? pl_outfile_commit(&out, err) : status;
}

static enum pl_status delete_oldest(struct pl_backup_schedule *schedule, struct pl_arena *arena)
{
    const struct pl_server_config *config = &schedule->setup->config;
    struct pl_backup_files files;
    enum pl_status status = pl_backup_files_list(arena, config->backup_dir, &files, &schedule->err);
    for (size_t i = 0; status == PL_OK && i + config->backup_keep < files.n; i++)
        unlink(files.files[i].path);
    return status;
}

/* Ignores backups from the future, so that a clock that was set back does not stop the backups. */
static bool is_due(const struct pl_backup_files *files, int64_t now_ms, int64_t every_ms)
{
    int64_t newest_ms = -1;
    for (size_t i = 0; i < files->n; i++)
        if (files->files[i].unix_ms <= now_ms)
            newest_ms = files->files[i].unix_ms;
    return newest_ms < 0 || now_ms - newest_ms >= every_ms;
}

static enum pl_status make(struct pl_backup_schedule *schedule, struct pl_arena *arena)
{
    const struct pl_server_config *config = &schedule->setup->config;
    struct pl_backup_files files = {0};
    char path[PATH_MAX];
    int64_t now_ms = pl_clock_unix_ms();
    enum pl_status status =
        pl_path_is_directory(config->backup_dir)
            ? pl_backup_files_list(arena, config->backup_dir, &files, &schedule->err)
            : PL_OK;
    if (status != PL_OK || !is_due(&files, now_ms, config->backup_every))
        return status;
    if (atomic_exchange(&schedule->server->is_backing_up, true))
        return PL_OK; /* another backup is under way; tried again in a minute */
    status = pl_backup_file_name(config->backup_dir, now_ms, path, &schedule->err);
    if (status == PL_OK)
        status = write_backup(schedule, path);
    atomic_store(&schedule->server->is_backing_up, false);
    schedule->is_made = status == PL_OK;
    return status == PL_OK ? delete_oldest(schedule, arena) : status;
}

static void run(struct pl_job *job)
{
    struct pl_backup_schedule *schedule = PL_CONTAINER_OF(job, struct pl_backup_schedule, job);
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    schedule->status = make(schedule, &arena);
    pl_arena_deinit(&arena);
}

static void look(struct pl_timer *timer);

static void done(struct pl_job *job)
{
    struct pl_backup_schedule *schedule = PL_CONTAINER_OF(job, struct pl_backup_schedule, job);
    struct pl_shard *first = schedule->server->shards[0];
    if (schedule->is_made)
        pl_log_say(schedule->server->log, first, PL_LOG_INFO, "a backup was made in %s",
                   schedule->setup->config.backup_dir);
    if (!job->is_refused && schedule->status != PL_OK)
        pl_log_say(schedule->server->log, first, PL_LOG_ERROR,
                   "the scheduled backup failed, and is tried again in 15 minutes: %s",
                   schedule->err.message);
    schedule->failed_ms = schedule->status == PL_OK ? 0 : pl_loop_now_ms(first->loop);
    pl_setup_release(first, PL_TAKE(schedule->setup));
    if (!pl_life_is_closing(&schedule->server->life))
        pl_timer_start(first->loop, &schedule->timer, LOOK_MS, look);
}

static void look(struct pl_timer *timer)
{
    struct pl_backup_schedule *schedule = PL_CONTAINER_OF(timer, struct pl_backup_schedule, timer);
    struct pl_shard *first = schedule->server->shards[0];
    const struct pl_server_config *config = &first->setup->config;
    bool rests = schedule->failed_ms &&
                 pl_loop_now_ms(first->loop) - schedule->failed_ms < (int64_t)RETRY_MS;
    if (!config->backup_every || rests) {
        pl_timer_start(first->loop, timer, LOOK_MS, look);
        return;
    }
    schedule->setup = pl_setup_hold(first);
    schedule->is_made = false;
    schedule->status = PL_OK;
    schedule->err = (struct pl_error){0};
    schedule->job = (struct pl_job){
        .lane = PL_WORK_FILE,
        .wait_ms = config->queue_wait_ms,
        .run = run,
        .done = done,
    };
    pl_workers_submit(schedule->server->workers, first->loop, &schedule->job);
}

void pl_backup_schedule_start(struct pl_backup_schedule *schedule, struct pl_server *server)
{
    *schedule = (struct pl_backup_schedule){.server = server};
    pl_timer_start(server->shards[0]->loop, &schedule->timer, 0, look);
}
