/*  disable -> stop -> read a page of sessions -> delete one after the other -> … -> erase the rest
 *
 * The user is disabled first, so nothing new begins. Sessions are deleted by commands to their
 * drivers, which stop them and notify listeners. Everything else goes in one transaction. It also
 * makes later writes of requests under way fail. */
#include "service/admin/user_erase.h"

#include "access/audit.h"
#include "access/key_table.h"
#include "access/meter/meter.h"
#include "agent/driver.h"
#include "base/table.h"
#include "live/hub.h"
#include "transaction/commit.h"

enum { PAGE = 100 };

struct erasing {
    struct pl_exchange *x;
    struct pl_str user_id;
    struct pl_session_page page; /* arena of the exchange */
    size_t n_done;
    uint64_t number;
    struct pl_user_change change;
    struct pl_session_command command;
};

static void read_page(struct pl_exchange *x);
static void delete_next(struct pl_exchange *x);

static void erased(struct pl_exchange *x)
{
    struct erasing *erasing = x->state;
    pl_auth_remove_user(x->shard->server->auth, erasing->user_id);
    pl_meter_forget_user(x->shard->server->meter, erasing->user_id);
    x->status = 204;
    pl_exchange_finish(x);
}

static void erase_rest(struct pl_exchange *x)
{
    struct erasing *erasing = x->state;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_erase_user(batch, erasing->user_id);
    pl_audit_add(x, batch, "user.erase", erasing->user_id, (struct pl_str){0});
    pl_exchange_commit_repeatable(x, batch, erased);
}

static void session_deleted(struct pl_session_command *command)
{
    struct erasing *erasing = PL_CONTAINER_OF(command, struct erasing, command);
    struct pl_exchange *x = erasing->x;
    bool is_gone = command->problem == PL_PROBLEM_COUNT || command->problem == PL_PROBLEM_NOT_FOUND;
    if (!is_gone)
        pl_exchange_problem(x, command->problem, &command->err, NULL);
    pl_session_command_deinit(command);
    erasing->n_done++;
    if (is_gone)
        delete_next(x);
    else
        pl_exchange_finish(x);
}

static void delete_next(struct pl_exchange *x)
{
    struct erasing *erasing = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    if (erasing->n_done < erasing->page.n_items) {
        pl_session_command_init(&erasing->command, PL_COMMAND_DELETE, x->shard, erasing->user_id,
                                erasing->page.items[erasing->n_done].id);
        erasing->command.done = session_deleted;
        pl_session_command_send(&erasing->command);
    } else if (erasing->page.n_items) {
        pl_exchange_work(x, read_page, delete_next);
    } else {
        erase_rest(x);
    }
}

static void read_page(struct pl_exchange *x)
{
    struct erasing *erasing = x->state;
    struct pl_session_query query = {
        .user_id = erasing->user_id, .status = PL_SESSION_STATUS_COUNT, .limit = PAGE};
    struct pl_error err = {0};
    erasing->n_done = 0;
    enum pl_status status =
        pl_store_session_list(x->shard->server->store, &x->arena, &query, &erasing->page, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void disabled(struct pl_exchange *x)
{
    struct erasing *erasing = x->state;
    struct pl_server *server = x->shard->server;
    (void)pl_auth_change_user(server->auth, &erasing->change, erasing->number);
    pl_hub_close_user_everywhere(server, erasing->user_id);
    pl_drivers_stop_user_everywhere(server, erasing->user_id);
    pl_exchange_work(x, read_page, delete_next);
}

void pl_user_erase(struct pl_exchange *x, struct pl_str user_id)
{
    struct erasing *erasing = pl_exchange_room(x, sizeof *erasing);
    if (!erasing)
        return;
    *erasing = (struct erasing){.x = x, .user_id = user_id};
    x->state = erasing;
    erasing->change = (struct pl_user_change){
        .id = user_id, .is_admin = -1, .disabled_ms = pl_loop_unix_ms(x->shard->loop)};
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_change_user(batch, &erasing->change);
    erasing->number = pl_auth_begin_change(x->shard->server->auth);
    pl_exchange_commit_repeatable(x, batch, disabled);
    pl_auth_end_change(x->shard->server->auth);
}
