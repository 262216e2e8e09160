/* Commands of the rest of the server to a session, handled in the order of their arrival. */
#include "access/meter/meter.h"
#include "agent/chat_message.h"
#include "agent/context/replay_source.h"
#include "agent/driver_int.h"
#include "agent/activity_int.h"
#include "agent/running_turns.h"
#include "base/mem.h"
#include "io/clock.h"
#include "model/model.h"
#include "store/node/owners.h"
#include "store/page.h"

#include <assert.h>
#include <stdio.h>

void pl_driver_answer(struct pl_session_command *command)
{
    if (command->reply.status != PL_OK) {
        command->problem = PL_PROBLEM_OVERLOADED;
        (void)pl_fail(&command->err, PL_NOMEM, "There is not enough memory for the answer.");
    }
    pl_session_command_answer(command);
}

void pl_driver_refuse(struct pl_session_command *command, enum pl_problem problem,
                      const struct pl_error *err)
{
    command->problem = problem;
    if (err)
        command->err = *err;
    pl_driver_answer(command);
}

static void refuse_text(struct pl_session_command *command, enum pl_problem problem,
                        const char *text)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "%s", text);
    pl_driver_refuse(command, problem, &err);
}

static void fill_position(const struct pl_driver *driver, struct pl_session_command *command)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    command->epoch = record->epoch;
    command->position = pl_session_position(driver->session);
    command->version = record->version;
    command->next_entry = record->next_entry;
}

static void empty(struct pl_session_out *out)
{
    out->frames.len = out->rows.len = out->effects.len = 0;
}

void pl_driver_answer_in_line(struct pl_driver *driver, struct pl_session_command *command)
{
    empty(&driver->drivers->out);
    fill_position(driver, command);
    pl_commit_queue_carry_out(driver, command, false);
}

/* --- events ---------------------------------------------------------------------------------- */

static enum pl_problem problem_of(enum pl_refusal refusal, enum pl_status status)
{
    static const enum pl_problem problems[] = {
        [PL_REFUSAL_BUSY] = PL_PROBLEM_SESSION_BUSY,
        [PL_REFUSAL_QUESTION_PENDING] = PL_PROBLEM_QUESTION_PENDING,
        [PL_REFUSAL_QUESTION_NOT_PENDING] = PL_PROBLEM_QUESTION_NOT_PENDING,
        [PL_REFUSAL_QUEUE_FULL] = PL_PROBLEM_RATE_LIMITED,
        [PL_REFUSAL_INVALID] = PL_PROBLEM_INVALID_REQUEST,
        [PL_REFUSAL_NOT_FOUND] = PL_PROBLEM_NOT_FOUND,
    };
    return refusal == PL_REFUSAL_NONE ? pl_problem_of(status) : problems[refusal];
}

/* Whether it was sent for another version; then the command is answered. */
static bool is_outdated(struct pl_driver *driver, struct pl_session_command *command)
{
    if (command->if_version < 0 ||
        command->if_version == pl_session_record(driver->session)->version)
        return false;
    refuse_text(command, PL_PROBLEM_PRECONDITION_FAILED,
                "The session has changed in the meantime; read it again and repeat with its new "
                "ETag.");
    return true;
}

static void refuse_turns(struct pl_session_command *command, size_t n)
{
    char text[96];
    snprintf(text, sizeof text,
             "You already have %zu running turns; wait for one to end, or stop one.", n);
    refuse_text(command, PL_PROBLEM_RATE_LIMITED, text);
}

static bool starts_turn(const struct pl_driver *driver, const struct pl_session_command *command)
{
    return command->n_says || (command->kind == PL_COMMAND_EVENT &&
                               command->event.kind == PL_SE_CHAT && !driver->is_counted);
}

/* Whether the driver itself has to refuse it; then the command is answered. */
static bool is_refused(struct pl_driver *driver, struct pl_session_command *command)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    struct pl_server *server = driver->drivers->shard->server;
    int64_t quota = pl_meter_quota(server->meter, record->user_id, PL_LIMIT_TURNS);
    size_t max_turns = quota && quota < PL_MAX_RUNNING ? (size_t)quota : PL_MAX_RUNNING;
    bool starts = starts_turn(driver, command);
    if (is_outdated(driver, command))
        return true;
    if (starts && pl_life_is_closing(&server->life))
        refuse_text(command, PL_PROBLEM_OVERLOADED, "The server is stopping; try again soon.");
    else if (starts && pl_running_of(server, record->user_id) + command->n_elsewhere >= max_turns)
        refuse_turns(command, max_turns);
    else if (!pl_queued_memory_has_room(driver, &command->event))
        refuse_text(command, PL_PROBLEM_RATE_LIMITED,
                    "Your messages that are waiting use your share of the memory; wait for an "
                    "answer to end, or stop one.");
    else
        return false;
    return true;
}

/* Recovers first, if that is due. */
static bool is_ready_for_change(struct pl_driver *driver, struct pl_session_command *command)
{
    if (pl_driver_recover(driver))
        return true;
    pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
    return false;
}

static void handle_event(struct pl_driver *driver, struct pl_session_command *command)
{
    if (is_refused(driver, command) || !is_ready_for_change(driver, command))
        return;
    struct pl_error err = {0};
    command->before = pl_session_position(driver->session);
    if (command->by.id[0])
        driver->by = command->by;
    pl_chat_complete(driver->drivers->shard, pl_session_record(driver->session), &command->event);
    enum pl_status status = pl_commit_queue_apply(driver, command->event, &err);
    if (status == PL_NOMEM) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, &err);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
        return;
    }
    if (status != PL_OK) {
        pl_driver_refuse(command, problem_of(driver->drivers->out.refusal, status), &err);
        return;
    }
    if (command->event.kind == PL_SE_SETTINGS)
        pl_activities_pace(driver);
    fill_position(driver, command);
    pl_buf_add(&command->reply, driver->drivers->out.reply);
    bool has_writes = pl_session_command_has_writes(command);
    struct pl_batch *batch = has_writes ? pl_commit_queue_batch(driver) : NULL;
    if (has_writes && !batch) { /* the change must not be stored without them */
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    if (batch)
        pl_session_command_write(command, batch);
    pl_commit_queue_carry_out(driver, command, has_writes);
}

/* --- looking --------------------------------------------------------------------------------- */

void pl_driver_look(struct pl_driver *driver, struct pl_session_command *command)
{
    pl_look_write(driver->session, &command->reply);
    pl_driver_answer_in_line(driver, command);
}

/* --- rest ------------------------------------------------------------------------------------ */

static void handle_rest(struct pl_driver *driver, struct pl_session_command *command)
{
    command->next = driver->resters;
    driver->resters = command;
    pl_driver_settle(driver);
}

void pl_driver_answer_resters(struct pl_driver *driver)
{
    enum pl_session_status status = pl_session_record(driver->session)->status;
    if (status == PL_SESSION_RUNNING || driver->is_unsettled)
        return;
    for (struct pl_session_command **at = &driver->resters; *at;) {
        struct pl_session_command *command = *at;
        if (command->waits_for_person && status == PL_SESSION_WAITING) {
            at = &command->next;
            continue;
        }
        *at = command->next;
        fill_position(driver, command);
        command->status = status;
        pl_driver_answer(command);
    }
}

void pl_driver_refuse_resters(struct pl_driver *driver, enum pl_problem problem,
                              const struct pl_error *err)
{
    while (driver->resters) {
        struct pl_session_command *command = driver->resters;
        driver->resters = command->next;
        pl_driver_refuse(command, problem, err);
    }
}

/* --- deleting -------------------------------------------------------------------------------- */

/* Stops the session first, so that all its activities end; then deletes it. Later commands wait and
 * find nothing. */
static void handle_delete(struct pl_driver *driver, struct pl_session_command *command)
{
    if (is_outdated(driver, command) || !is_ready_for_change(driver, command))
        return;
    struct pl_error err = {0};
    enum pl_status status =
        pl_commit_queue_apply(driver, (struct pl_session_event){.kind = PL_SE_STOP}, &err);
    if (status == PL_OK)
        pl_commit_queue_carry_out(driver, NULL, false);
    struct pl_batch *batch = pl_driver_is_loaded(driver) ? pl_commit_queue_batch(driver) : NULL;
    if (status != PL_OK || !batch) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, &err);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
        return;
    }
    if (command->is_kept)
        pl_batch_bury(batch, PL_DELETED_SESSION, command->user_id, driver->link.key,
                      pl_clock_unix_ms());
    else
        pl_batch_delete_session(batch, command->user_id, driver->link.key);
    pl_session_command_write(command, batch);
    pl_driver_become(driver, PL_DRIVER_DELETING);
    fill_position(driver, command);
    empty(&driver->drivers->out);
    pl_commit_queue_carry_out(driver, command, true);
}

static void (*const handlers[])(struct pl_driver *, struct pl_session_command *) = {
    [PL_COMMAND_EVENT] = handle_event,
    [PL_COMMAND_LOOK] = pl_driver_look,
    [PL_COMMAND_SUBSCRIBE] = pl_driver_subscribe,
    [PL_COMMAND_DELETE] = handle_delete,
    [PL_COMMAND_REST] = handle_rest,
};

/* --- a message said before? a session to be played that is the user's? ----------------------- */

struct look_up {
    struct pl_job job;
    struct pl_driver *driver;
    struct pl_session_command *command;
    struct pl_store *store;
    struct pl_arena arena;
    struct pl_str user_id; /* arena */
    struct pl_str turn_id;
    bool counts_turns;
    struct pl_node_id me;
    int64_t n_elsewhere;
    enum pl_status status;
    struct pl_error err;
};

static bool has_client_id(const struct pl_session_command *command)
{
    return command->event.kind == PL_SE_CHAT && command->event.chat.client_message_id.len;
}

static struct pl_str model_named(const struct pl_session_command *command)
{
    if (command->event.kind == PL_SE_CHAT)
        return command->event.chat.model;
    return command->event.kind == PL_SE_SETTINGS ? command->event.settings.model
                                                 : (struct pl_str){0};
}

/* PL_OK: the same message was received before. PL_CONFLICT: another message has the same id. */
static enum pl_status find_said(struct look_up *look, const struct pl_session_event *event)
{
    struct pl_str body = {0};
    bool is_same = false;
    enum pl_status status = pl_store_client_message_find(
        look->store, &look->arena, look->command->session_id, event->chat.client_message_id,
        &look->turn_id, &body, &look->err);
    if (status == PL_OK)
        status = pl_body_says(body, event->chat.message, &is_same);
    if (status == PL_OK && !is_same)
        status = pl_fail(&look->err, PL_CONFLICT,
                         "Another message has this client_message_id; use a new id for each "
                         "message.");
    return status;
}

/* Two nodes may get the same request; only the first finds no row. The check is made here, because
 * a failing transaction would fail for everything in it. PL_CONFLICT: the request was already
 * executed. */
static enum pl_status find_claimed(struct look_up *look)
{
    const struct pl_claim_row *claim = &look->command->writes.claim;
    struct pl_idempotency_row row;
    if (!claim->key.len || claim->is_expired)
        return PL_NOT_FOUND;
    enum pl_status status = pl_store_idempotency_get(look->store, &look->arena, claim->user_id,
                                                     claim->key, &row, &look->err);
    return status == PL_OK ? pl_fail(&look->err, PL_CONFLICT,
                                     "A request with this Idempotency-Key was carried out.")
                           : status;
}

static void look_up_run(struct pl_job *job)
{
    struct look_up *look = PL_CONTAINER_OF(job, struct look_up, job);
    const struct pl_session_command *command = look->command;
    look->status = find_claimed(look);
    if (look->status == PL_NOT_FOUND && has_client_id(command))
        look->status = find_said(look, &command->event);
    if (look->status != PL_NOT_FOUND)
        return;
    if (look->counts_turns)
        look->status = pl_store_running_elsewhere(look->store, look->user_id, &look->me,
                                                  &look->n_elsewhere, &look->err);
    if (look->status != PL_NOT_FOUND && look->status != PL_OK)
        return;
    enum pl_status status =
        pl_replay_check(look->store, &look->arena, look->user_id, model_named(command), &look->err);
    look->status = status == PL_OK ? PL_NOT_FOUND : status;
}

static void answer_duplicate(struct pl_driver *driver, struct pl_session_command *command,
                             struct pl_str turn_id)
{
    fill_position(driver, command);
    pl_buf_addf(&command->reply, "{\"session_id\":\"%s\",\"duplicate\":true", driver->id);
    if (turn_id.len)
        pl_buf_addf(&command->reply, ",\"turn_id\":\"%.*s\"", PL_STR_ARG(turn_id));
    pl_buf_addf(&command->reply, ",\"queued\":%s}", turn_id.len ? "false" : "true");
    pl_driver_answer(command);
}

static void look_up_done(struct pl_job *job)
{
    struct look_up *look = PL_CONTAINER_OF(job, struct look_up, job);
    struct pl_driver *driver = look->driver;
    pl_driver_is_back(driver, PL_AWAY_LOOK_UP);
    look->command->n_elsewhere = (size_t)look->n_elsewhere;
    if (driver->state != PL_DRIVER_READY || job->is_refused)
        pl_driver_refuse(look->command, PL_PROBLEM_OVERLOADED, NULL);
    else if (look->status == PL_NOT_FOUND)
        handlers[look->command->kind](driver, look->command);
    else if (look->status != PL_OK)
        pl_driver_refuse(look->command, pl_problem_of(look->status), &look->err);
    else
        answer_duplicate(driver, look->command, look->turn_id);
    pl_arena_deinit(&look->arena);
    pl_mem_free(look);
    pl_driver_go_through_commands(driver);
    pl_driver_settle(driver);
}

/* Turns on other nodes are not counted for the first turn of a user on this node, unless the user
 * has a limit: most users have one turn at a time. */
static bool counts_turns(const struct pl_driver *driver, const struct pl_session_command *command)
{
    struct pl_server *server = driver->drivers->shard->server;
    const struct pl_session_home *home = pl_drivers_home(driver->drivers);
    if (!home || !home->has_others(server) || !starts_turn(driver, command))
        return false;
    struct pl_str user_id = pl_session_record(driver->session)->user_id;
    return pl_running_of(server, user_id) || pl_meter_quota(server->meter, user_id, PL_LIMIT_TURNS);
}

static void start_look_up(struct pl_driver *driver, struct pl_session_command *command)
{
    struct pl_shard *shard = driver->drivers->shard;
    struct look_up *look = pl_mem_alloc(1, sizeof *look);
    if (!look) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    *look = (struct look_up){.driver = driver, .command = command, .store = shard->server->store};
    look->counts_turns = counts_turns(driver, command);
    if (look->counts_turns)
        look->me = pl_drivers_home(driver->drivers)->me(shard->server);
    pl_arena_init(&look->arena, 0);
    look->user_id = pl_arena_dup(&look->arena, pl_session_record(driver->session)->user_id);
    if (!look->user_id.ptr) {
        pl_mem_free(look);
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    look->job = (struct pl_job){
        .owner = pl_owner_of(look->user_id),
        .wait_ms = shard->setup->config.queue_wait_ms,
        .run = look_up_run,
        .done = look_up_done,
    };
    pl_driver_lend(driver, PL_AWAY_LOOK_UP);
    pl_workers_submit(shard->server->workers, shard->loop, &look->job);
}

/* --- the order ------------------------------------------------------------------------------- */

/* Without nodes the list of running requests is enough (transaction/idempotency.c). A node may get
 * commands from another node that it does not know yet. */
static bool has_shared_claim(const struct pl_driver *driver,
                             const struct pl_session_command *command)
{
    return command->writes.claim.key.len && pl_drivers_home(driver->drivers);
}

static bool needs_look_up(const struct pl_driver *driver, const struct pl_session_command *command)
{
    bool is_said = command->kind == PL_COMMAND_EVENT &&
                   (has_client_id(command) || pl_model_replayed(model_named(command)).len);
    return is_said || has_shared_claim(driver, command) || counts_turns(driver, command);
}

static void handle(struct pl_driver *driver, struct pl_session_command *command)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    if (command->user_id.ptr && !pl_str_eq(command->user_id, record->user_id))
        pl_driver_refuse(command, PL_PROBLEM_NOT_FOUND, NULL);
    else if (pl_intake_take(driver, command))
        return;
    else if (needs_look_up(driver, command))
        start_look_up(driver, command);
    else
        handlers[command->kind](driver, command);
}

/* A command that needs a look-up waits until everything before it is durable: only then does the
 * store know whether the message was received before. */
void pl_driver_go_through_commands(struct pl_driver *driver)
{
    while (driver->commands && driver->state == PL_DRIVER_READY &&
           !(driver->away & PL_AWAY_LOOK_UP)) {
        struct pl_session_command *command = driver->commands;
        if (needs_look_up(driver, command) && !pl_driver_is_at_rest(driver))
            return;
        driver->commands = command->next;
        handle(driver, command);
    }
}

static void append(struct pl_driver *driver, struct pl_session_command *command)
{
    command->next = NULL;
    if (driver->commands)
        driver->last_command->next = command;
    else
        driver->commands = command;
    driver->last_command = command;
}

/* The answer is known: adds the rows that are stored with the change. The batch is open and has the
 * session's own row. */
static void extend(struct pl_driver *driver, struct pl_session_command *command)
{
    assert(driver->batch);
    fill_position(driver, command);
    pl_session_write(driver->session, &command->reply);
    if (pl_session_command_has_writes(command))
        pl_session_command_write(command, driver->batch);
}

/* The first messages of a new session are stored in one transaction with its first row, so no
 * session exists that has only a part of them. */
static void say_all(struct pl_driver *driver, struct pl_session_command *command)
{
    const struct pl_session_out *out = &driver->drivers->out;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    driver->is_gathering = true;
    for (size_t i = 0; i < command->n_says && driver->state == PL_DRIVER_READY; i++) {
        struct pl_session_event event = command->says[i];
        pl_chat_complete(driver->drivers->shard, pl_session_record(driver->session), &event);
        status = pl_commit_queue_apply(driver, event, &err);
        if (status != PL_OK)
            break;
        bool is_last = i + 1 == command->n_says;
        if (is_last) {
            extend(driver, command);
            driver->is_gathering = false;
        }
        pl_commit_queue_carry_out(driver, is_last ? command : NULL, true);
        if (is_last)
            return;
    }
    driver->is_gathering = false;
    pl_driver_refuse(
        command, status == PL_OK ? PL_PROBLEM_OVERLOADED : problem_of(out->refusal, status), &err);
    pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
}

bool pl_driver_put_back(struct pl_driver *driver, struct pl_session_command *command)
{
    if (command->kind != PL_COMMAND_LOOK && command->kind != PL_COMMAND_SUBSCRIBE)
        return false;
    pl_buf_clear(&command->reply);
    command->problem = PL_PROBLEM_COUNT;
    if (!driver->commands)
        driver->last_command = command;
    command->next = driver->commands;
    driver->commands = command;
    return true;
}

/* The session's own row comes before rows that refer to it. */
static void put_first(struct pl_session_out *out, struct pl_batch *batch)
{
    for (size_t i = 0; i < out->rows.len; i++)
        pl_batch_put_row(batch, &out->rows.ptr[i]);
    out->rows.len = 0;
}

/* This node owns a new session from its first row on. */
static void claim_made(struct pl_driver *driver, struct pl_batch *batch)
{
    const struct pl_session_home *home = pl_drivers_home(driver->drivers);
    if (!home)
        return;
    driver->node = home->me(driver->drivers->shard->server);
    driver->generation = PL_FIRST_OWNED;
    pl_batch_claim_session(batch, driver->link.key, &driver->node);
}

static void handle_create(struct pl_drivers *drivers, struct pl_session_command *command)
{
    struct pl_driver *driver = pl_driver_create(drivers, command->session_id);
    struct pl_error err = {0};
    if (!driver) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    pl_driver_settle(driver);
    enum pl_status status =
        pl_session_create(&command->record, &drivers->out, &driver->session, &err);
    if (status != PL_OK) {
        pl_driver_become(driver, PL_DRIVER_GONE);
        pl_driver_refuse(command, pl_problem_of(status), &err);
        return;
    }
    if (command->n_says && is_refused(driver, command)) {
        pl_driver_become(driver, PL_DRIVER_GONE);
        return;
    }
    struct pl_batch *batch = pl_commit_queue_batch(driver);
    if (!batch) {
        pl_driver_become(driver, PL_DRIVER_GONE);
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    pl_driver_become(driver, PL_DRIVER_READY);
    pl_driver_tell_start(driver, command->record.source);
    put_first(&drivers->out, batch);
    claim_made(driver, batch);
    pl_batch_check_quota(
        batch, command->record.user_id, PL_LIMIT_SESSIONS,
        pl_meter_quota(drivers->shard->server->meter, command->record.user_id, PL_LIMIT_SESSIONS));
    if (command->n_says) {
        say_all(driver, command);
        return;
    }
    extend(driver, command);
    pl_commit_queue_carry_out(driver, command, true);
}

void pl_driver_open_command(struct pl_letter *letter)
{
    pl_driver_readmit(pl_session_command_open(letter));
}

void pl_driver_readmit(struct pl_session_command *command)
{
    struct pl_drivers *drivers =
        pl_shard_of_session(command->home->server, command->session_id)->drivers;
    if (!drivers) { /* the server is ending, and this is its last thread */
        command->problem = PL_PROBLEM_OVERLOADED;
        pl_session_command_answer_here(command);
        return;
    }
    struct pl_driver *driver = pl_driver_find(drivers, command->session_id);
    if (command->kind == PL_COMMAND_CREATE) {
        if (driver)
            pl_driver_refuse(command, PL_PROBLEM_CONFLICT, NULL);
        else
            handle_create(drivers, command);
        return;
    }
    bool is_new = !driver;
    if (is_new)
        driver = pl_driver_create(drivers, command->session_id);
    if (!driver) {
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    append(driver, command);
    if (is_new)
        pl_driver_load(driver);
    else
        pl_driver_go_through_commands(driver);
    pl_driver_settle(driver);
}
