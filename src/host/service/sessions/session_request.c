/* Connects an exchange and a command: the command is part of the exchange's memory, the reply
 * becomes the answer, and an Idempotency-Key is claimed in the session's transaction. */
#include "service/sessions/session_request.h"

#include "base/table.h"
#include "http/exchange.h"
#include "http/routes/route.h"
#include "live/session_home.h"
#include "transaction/claim_row.h"
#include "transaction/idempotency.h"

struct asking {
    struct pl_session_command command;
    struct pl_exchange *x;
    void (*then)(struct pl_exchange *x, struct pl_session_command *command);
    bool is_filled; /* the answer is in the exchange */
    bool is_owner_told;
};

struct pl_exchange *pl_session_command_exchange(struct pl_session_command *command)
{
    return PL_CONTAINER_OF(command, struct asking, command)->x;
}

void pl_exchange_position(struct pl_exchange *x, const struct pl_session_command *command)
{
    pl_exchange_header(x, PL_POSITION_HEADER, PL_POSITION_FORMAT, (long long)command->epoch,
                       (long long)command->position);
}

/* Names the node that has the session, for troubleshooting and for proxies. */
static void tell_owner(struct asking *asking)
{
    const struct pl_server *server = asking->x->shard->server;
    char name[PL_NODE_NAME_MAX + 1] = "";
    if (asking->is_owner_told || !server->session_home ||
        pl_node_id_is_zero(&asking->command.served_by))
        return;
    asking->is_owner_told = true;
    server->session_home->name_of(asking->x->shard->server, &asking->command.served_by, name);
    if (name[0])
        pl_exchange_header(asking->x, "X-Parley-Owner", "%s", name);
}

/* Makes the answer from the session's reply, once: with an Idempotency-Key it is needed before
 * the transaction, which stores it. */
static void fill_answer(struct asking *asking)
{
    struct pl_exchange *x = asking->x;
    const struct pl_session_command *command = &asking->command;
    if (asking->is_filled)
        return;
    asking->is_filled = true;
    x->status = x->route->status;
    if (command->kind == PL_COMMAND_CREATE) {
        pl_exchange_header(x, "Location", "/api/sessions/%.*s", PL_STR_ARG(command->session_id));
        (void)pl_exchange_etag(x, command->version);
    }
    pl_exchange_position(x, command);
    pl_buf_add(&x->reply, pl_buf_str(&command->reply));
}

/* Notes what was committed for the key. The row then has the answer, and this makes the same
 * one. */
static void take_claimed(struct asking *asking)
{
    const struct pl_session_command *command = &asking->command;
    if (!command->claimed || command->problem != PL_PROBLEM_COUNT)
        return;
    pl_claim_is_written(asking->x, command->claimed);
    if (!command->writes.kept.ptr)
        fill_answer(asking);
}

void pl_exchange_answer(struct pl_exchange *x, struct pl_session_command *command)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    take_claimed(asking);
    fill_answer(asking);
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

void pl_exchange_answer_problem(struct pl_exchange *x, struct pl_session_command *command)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    if (asking->is_filled) {
        pl_buf_clear(&x->headers);
        asking->is_owner_told = false;
    }
    tell_owner(asking);
    pl_exchange_problem(x, command->problem, &command->err, NULL);
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void on_answer(struct pl_session_command *command)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    struct pl_exchange *x = asking->x;
    if (command->problem == PL_PROBLEM_NOT_FOUND && !command->err.message[0])
        (void)pl_fail(&command->err, PL_NOT_FOUND, "You have no session %.*s.",
                      (int)(command->session_id.len < 80 ? command->session_id.len : 80),
                      command->session_id.ptr);
    if (command->problem != PL_PROBLEM_COUNT) {
        pl_exchange_answer_problem(x, command);
        return;
    }
    take_claimed(asking);
    tell_owner(asking);
    if (asking->then)
        asking->then(x, command);
    else
        pl_exchange_answer(x, command);
}

void pl_session_command_claim(struct pl_session_command *command, struct pl_batch *batch)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    struct pl_exchange *x = asking->x;
    if (!pl_exchange_claim(x)->key.len)
        return;
    if (!pl_exchange_kept_reply(x).ptr)
        fill_answer(asking);
    pl_claim_add(x, batch);
}

void pl_session_command_add_claim(struct pl_session_command *command)
{
    struct pl_exchange *x = pl_session_command_exchange(command);
    if (!pl_claim_row_of(x, false, &command->writes.claim))
        return;
    command->writes.claim.status = x->route->status;
    command->writes.kept = pl_exchange_kept_reply(x);
}

struct pl_session_command *
pl_exchange_ask(struct pl_exchange *x, enum pl_command_kind kind, struct pl_str session_id,
                void (*then)(struct pl_exchange *x, struct pl_session_command *command))
{
    struct asking *asking = pl_arena_zalloc(&x->arena, 1, sizeof *asking);
    if (!asking) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for this.");
        pl_exchange_finish(x);
        return NULL;
    }
    asking->x = x;
    asking->then = then;
    pl_session_command_init(&asking->command, kind, x->shard, x->caller.user_id, session_id);
    asking->command.done = on_answer;
    asking->command.by = x->span;
    if (pl_exchange_claim(x)->key.len && kind == PL_COMMAND_CREATE)
        asking->command.extend = pl_session_command_claim;
    else if (pl_exchange_claim(x)->key.len)
        pl_session_command_add_claim(&asking->command);
    return &asking->command;
}

void pl_exchange_look(struct pl_exchange *x,
                      void (*then)(struct pl_exchange *x, struct pl_session_command *command))
{
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_LOOK, x->args[0], then);
    if (command)
        pl_session_command_send(command);
}

struct pl_session_command *pl_exchange_ask_create(struct pl_exchange *x,
                                                  void (*then)(struct pl_exchange *x,
                                                               struct pl_session_command *command))
{
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_id id = pl_id_take(&seed, "sess_");
    struct pl_str text = pl_arena_dup(&x->arena, pl_str_of(id.text));
    if (!text.ptr) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for this.");
        pl_exchange_finish(x);
        return NULL;
    }
    struct pl_session_command *command = pl_exchange_ask(x, PL_COMMAND_CREATE, text, then);
    if (command)
        command->record = (struct pl_session_record){
            .id = text,
            .user_id = x->caller.user_id,
            .intent = PL_STR(""),
            .source = PL_STR("chat"),
            .status = PL_SESSION_CREATED,
            .created_ms = seed.unix_ms,
            .updated_ms = seed.unix_ms,
            .memory_enabled = true,
            .version = 1,
            .epoch = 1,
        };
    return command;
}
