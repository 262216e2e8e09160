/* Looks at a session that nobody drives: answers from the store, as a driver would. Nothing is
 * claimed or written, so any number of nodes may look. */
#include "agent/driver_int.h"
#include "base/mem.h"
#include "shard/setup.h"

void pl_look_write(const struct pl_session *session, struct pl_buf *to)
{
    pl_buf_adds(to, "{\"session\":");
    pl_session_write(session, to);
    pl_buf_adds(to, ",\"open_turns\":[");
    for (size_t i = 0; i < pl_session_n_open_turns(session); i++) {
        if (i)
            pl_buf_addc(to, ',');
        pl_session_write_open_turn(session, i, to);
    }
    pl_buf_adds(to, "],\"questions\":");
    pl_session_write_questions(session, to);
    pl_buf_adds(to, ",\"queue\":");
    pl_session_write_queue(session, to);
    pl_buf_addc(to, '}');
}

struct stored_look {
    struct pl_job job;
    struct pl_session_command *command;
    struct pl_store *store;
    enum pl_status status;
};

static enum pl_status look(struct pl_session_command *command, struct pl_store *store,
                           struct pl_arena *arena)
{
    struct pl_session_record record;
    struct pl_open_rows rows;
    struct pl_session *session = NULL;
    struct pl_error *err = &command->err;
    enum pl_status status =
        pl_store_session_get(store, arena, command->user_id, command->session_id, &record, err);
    if (status == PL_OK)
        status = pl_store_open_rows(store, arena, command->session_id, &rows, err);
    if (status == PL_OK)
        status = pl_session_load(&record, rows.turns, rows.n_turns, rows.questions,
                                 rows.n_questions, rows.queued, rows.n_queued, &session, err);
    if (status != PL_OK)
        return status;
    pl_look_write(session, &command->reply);
    command->epoch = record.epoch;
    command->position = pl_session_position(session);
    command->version = record.version;
    command->next_entry = record.next_entry;
    pl_session_destroy(session);
    return PL_OK;
}

static void look_run(struct pl_job *job)
{
    struct stored_look *stored = PL_CONTAINER_OF(job, struct stored_look, job);
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    stored->status = look(stored->command, stored->store, &arena);
}

static void look_done(struct pl_job *job)
{
    struct stored_look *stored = PL_CONTAINER_OF(job, struct stored_look, job);
    struct pl_session_command *command = stored->command;
    if (job->is_refused)
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
    else if (stored->status == PL_NOT_FOUND)
        pl_driver_refuse(command, PL_PROBLEM_NOT_FOUND, &(struct pl_error){0});
    else if (stored->status != PL_OK)
        pl_driver_refuse(command, pl_problem_of(stored->status), NULL);
    else
        pl_driver_answer(command);
    pl_mem_free(stored);
}

void pl_driver_look_stored(struct pl_session_command *command)
{
    struct pl_server *server = command->home->server;
    struct pl_shard *shard = pl_shard_of_session(server, command->session_id);
    struct stored_look *stored = pl_mem_alloc(1, sizeof *stored);
    if (!stored) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    *stored = (struct stored_look){
        .command = command,
        .store = server->store,
        .job = {.owner = pl_owner_of(command->user_id),
                .wait_ms = shard->setup->config.queue_wait_ms,
                .run = look_run,
                .done = look_done},
    };
    pl_workers_submit(server->workers, shard->loop, &stored->job);
}
