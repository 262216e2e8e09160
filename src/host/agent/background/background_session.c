/* Creates a session, sends it one message, and reports when it is at rest. Both are commands to the
 * session's shard; this object owns their strings and sends one after the other. */
#include "agent/background/background_session.h"

#include "agent/chat_message.h"
#include "agent/session_copy.h"
#include "base/table.h"

static struct pl_background_session *background_of(struct pl_session_command *command)
{
    return PL_CONTAINER_OF(command, struct pl_background_session, command);
}

/* On the session's shard: adds its initial turns, after the session's own row. */
static void extend(struct pl_session_command *command, struct pl_batch *batch)
{
    struct pl_background_session *background = background_of(command);
    struct pl_server *server = background->home->server;
    struct pl_session_copy copying = {
        .record = {.id = background->record.id},
        .seed = pl_shard_seed(pl_shard_of_session(server, background->record.id)),
        .batch = batch,
    };
    for (size_t i = 0; i < background->n_turns; i++)
        pl_session_copy_add(&copying, &background->turns[i]);
    if (background->extend)
        background->extend(background, batch);
}

static void take_problem(struct pl_background_session *background)
{
    background->problem = background->command.problem;
    background->err = background->command.err;
    pl_session_command_deinit(&background->command);
}

static void on_rest(struct pl_session_command *command)
{
    struct pl_background_session *background = background_of(command);
    background->status = command->status;
    take_problem(background);
    background->done(background);
}

void pl_background_session_wait(struct pl_background_session *background)
{
    pl_session_command_init(&background->command, PL_COMMAND_REST, background->home,
                            background->record.user_id, background->record.id);
    background->command.waits_for_person = background->waits_for_person;
    background->command.done = on_rest;
    pl_session_command_send(&background->command);
}

static void on_created(struct pl_session_command *command)
{
    struct pl_background_session *background = background_of(command);
    take_problem(background);
    background->status = PL_SESSION_RUNNING;
    bool goes_on = background->problem == PL_PROBLEM_COUNT && background->done;
    if (background->started)
        background->started(background);
    if (goes_on)
        pl_background_session_wait(background);
}

void pl_background_session_send(struct pl_background_session *background)
{
    struct pl_session_record *record = &background->record;
    struct pl_id_seed seed = pl_shard_seed(background->home);
    if (!record->id.len) {
        background->id = pl_id_take(&seed, "sess_");
        record->id = pl_str_of(background->id.text);
    }
    record->created_ms = record->updated_ms = seed.unix_ms;
    record->next_entry = (int64_t)background->n_turns;
    if (!record->intent.ptr)
        record->intent = PL_STR("");
    background->says = (struct pl_session_event){.kind = PL_SE_CHAT};
    background->says.chat.message = background->message;
    background->says.chat.override = background->override;
    background->says.chat.trace_id = background->trace_id;
    background->says.chat.key_id = background->key_id;
    struct pl_session_command *command = &background->command;
    pl_session_command_init(command, PL_COMMAND_CREATE, background->home, record->user_id,
                            record->id);
    command->record = *record;
    command->says = &background->says;
    command->n_says = 1;
    command->extend = extend;
    command->done = on_created;
    pl_session_command_send(command);
}
