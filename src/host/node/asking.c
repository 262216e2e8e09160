/* Asks: commands to sessions that another node owns.
 *
 * An ask has a number, and the owner executes it once: if it arrives again it gets the same answer
 * (serving.c). So an ask without an answer is sent again, through the store, as long as the same
 * node owns the session. If another node owns it by now, it is unknown whether the ask was
 * executed. A repeatable command then looks for the new owner; a change is refused, and the client
 * decides. An owner that answers "not mine" has done nothing. */
#include "base/mem.h"
#include "live/listener.h"
#include "live/wire/command_wire.h"
#include "node/node_int.h"
#include "shard/setup.h"
#include "store/node/owners.h"

struct ask {
    struct pl_table_link link; /* key: the bytes of the number */
    uint64_t number;
    struct pl_session_command *command;
    struct pl_node_id to;
    int64_t since_ms, sent_ms;
    bool is_looking; /* a job uses it */
    bool is_over;    /* … and nobody waits for it any more */
    struct pl_buf body;
    struct pl_node_seats *seats;
    struct pl_job job;
    struct pl_session_held held;
    enum pl_status status;
};

static void destroy(struct ask *ask)
{
    pl_buf_deinit(&ask->body);
    pl_mem_free(ask);
}

/* Ends the ask and returns its command. */
static struct pl_session_command *end(struct ask *ask)
{
    struct pl_session_command *command = ask->command;
    pl_table_remove(&ask->seats->asks, &ask->link);
    if (ask->is_looking)
        ask->is_over = true;
    else
        destroy(ask);
    return command;
}

static bool is_repeatable(const struct pl_session_command *command)
{
    return command->kind == PL_COMMAND_LOOK || command->kind == PL_COMMAND_SUBSCRIBE ||
           command->kind == PL_COMMAND_REST;
}

static void refuse_unknown(struct pl_session_command *command)
{
    pl_seat_refuse(command, PL_PROBLEM_OVERLOADED,
                   "The node that has this session does not answer; try again soon.");
}

static void send(struct ask *ask, bool is_by_store)
{
    ask->sent_ms = pl_loop_now_ms(ask->seats->shard->loop);
    pl_post_send(ask->seats->node, &ask->to, PL_NODE_LETTER_ASK, pl_buf_str(&ask->body),
                 is_by_store);
}

void pl_ask_send(struct pl_seat *seat, struct pl_session_command *command)
{
    struct pl_node_seats *seats = seat->seats;
    struct ask *ask = pl_mem_alloc(1, sizeof *ask);
    if (!ask) {
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    *ask = (struct ask){.number = atomic_fetch_add(&seats->node->n_asks, 1) + 1,
                        .command = command,
                        .to = seat->owner,
                        .seats = seats,
                        .since_ms = pl_loop_now_ms(seats->shard->loop)};
    ask->link.key = (struct pl_str){(const char *)&ask->number, sizeof ask->number};
    if (command->subscription)
        command->wants_whole = pl_lane_is_whole(command->subscription->lane);
    pl_buf_init(&ask->body, 0);
    pl_node_fields_put_bytes(&ask->body, command->session_id);
    pl_node_fields_put_number(&ask->body, (int64_t)ask->number);
    pl_node_fields_put_number(&ask->body, pl_node_base_ms(seats->node));
    enum pl_status status = pl_command_wire_write_ask(command, &ask->body, &command->err);
    bool is_whole =
        status == PL_OK && ask->body.status == PL_OK && pl_table_put(&seats->asks, &ask->link);
    if (!is_whole) {
        destroy(ask);
        pl_seat_refuse(command,
                       status == PL_INVALID ? PL_PROBLEM_INVALID_REQUEST : PL_PROBLEM_OVERLOADED,
                       NULL);
        return;
    }
    seat->asked_ms = ask->since_ms;
    atomic_fetch_add(&seats->node->n_forwarded, 1);
    send(ask, false);
}

/* The last number so far, unless an earlier ask still waits to listen to this session: then the
 * number before that ask. */
int64_t pl_ask_before_listening(struct pl_node_seats *seats, struct pl_str session_id)
{
    uint64_t last = atomic_load(&seats->node->n_asks);
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&seats->asks, link));) {
        const struct ask *ask = PL_CONTAINER_OF(link, struct ask, link);
        if (ask->command->kind == PL_COMMAND_SUBSCRIBE && ask->number <= last &&
            pl_str_eq(ask->command->session_id, session_id))
            last = ask->number - 1;
    }
    return (int64_t)last;
}

/* --- answers --------------------------------------------------------------------------------- */

static struct ask *find(struct pl_node_seats *seats, uint64_t number)
{
    struct pl_table_link *link =
        pl_table_get(&seats->asks, (struct pl_str){(const char *)&number, sizeof number});
    return link ? PL_CONTAINER_OF(link, struct ask, link) : NULL;
}

/* The owner no longer has the session, and has done nothing. */
static void look_elsewhere(struct pl_node_seats *seats, struct ask *ask)
{
    struct pl_session_command *command = end(ask);
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    if (seat)
        pl_seat_lose_owner(seat);
    pl_seat_route(seats, command);
}

static void take_answer(struct pl_node_seats *seats, struct pl_session_command *command,
                        const struct pl_node_id *sender, struct pl_str answer)
{
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    bool is_there = seat && seat->state == PL_SEAT_AWAY && pl_node_id_eq(&seat->owner, sender);
    struct pl_error err = {0};
    if (pl_command_wire_read_answer(answer, command, &err) != PL_OK) {
        pl_buf_clear(&command->reply);
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    command->served_by = *sender;
    if (seat)
        seat->asked_ms = pl_loop_now_ms(seats->shard->loop);
    bool listens = command->kind == PL_COMMAND_SUBSCRIBE && command->problem == PL_PROBLEM_COUNT;
    if (listens && !(is_there && pl_mirror_enter(seat, command))) {
        /* This reader may not be able to use the owner's replay, but it can use a snapshot. */
        command->has_since = false;
        pl_buf_clear(&command->reply);
        pl_seat_route(seats, command);
        return;
    }
    pl_session_command_answer(command);
}

void pl_ask_answered(struct pl_node_seats *seats, const struct pl_node_id *sender,
                     struct pl_str body)
{
    struct pl_node_fields fields = pl_node_fields_of(body);
    (void)pl_node_fields_bytes(&fields); /* the session's id */
    uint64_t number = (uint64_t)pl_node_fields_number(&fields);
    bool is_mine = pl_node_fields_number(&fields) != 0;
    struct ask *ask = fields.status == PL_OK ? find(seats, number) : NULL;
    if (!ask || !pl_node_id_eq(&ask->to, sender))
        return; /* already answered, or given up */
    if (is_mine)
        take_answer(seats, end(ask), sender, fields.left);
    else
        look_elsewhere(seats, ask);
}

/* --- without an answer ----------------------------------------------------------------------- */

static void give_up(struct ask *ask)
{
    struct pl_node_seats *seats = ask->seats;
    struct pl_session_command *command = end(ask);
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    if (seat)
        pl_seat_lose_owner(seat);
    if (is_repeatable(command))
        pl_seat_route(seats, command);
    else
        refuse_unknown(command);
}

/* Reads the session's id from the ask: the command may be answered meanwhile, and its id freed. */
static void look_run(struct pl_job *job)
{
    struct ask *ask = PL_CONTAINER_OF(job, struct ask, job);
    struct pl_node_fields fields = pl_node_fields_of(pl_buf_str(&ask->body));
    struct pl_str session_id = pl_node_fields_bytes(&fields);
    ask->status =
        pl_store_session_held(ask->seats->shard->server->store, session_id, &ask->held, NULL);
}

static void look_done(struct pl_job *job)
{
    struct ask *ask = PL_CONTAINER_OF(job, struct ask, job);
    const struct pl_owning_row *row = &ask->held.row;
    ask->is_looking = false;
    if (ask->is_over)
        destroy(ask);
    else if (job->is_refused || ask->status != PL_OK)
        ask->sent_ms = pl_loop_now_ms(ask->seats->shard->loop); /* the tick tries again */
    else if (row->has_owner && !row->is_owner_gone && pl_node_id_eq(&row->owner, &ask->to))
        send(ask, true);
    else
        give_up(ask);
}

static void look_again(struct ask *ask)
{
    struct pl_shard *shard = ask->seats->shard;
    ask->is_looking = true;
    ask->job = (struct pl_job){.owner = pl_owner_of(ask->command->user_id),
                               .wait_ms = shard->setup->config.queue_wait_ms,
                               .run = look_run,
                               .done = look_done};
    pl_workers_submit(shard->server->workers, shard->loop, &ask->job);
}

void pl_ask_tick(struct pl_node_seats *seats)
{
    int64_t now_ms = pl_loop_now_ms(seats->shard->loop);
    struct pl_table_link *link = pl_table_next(&seats->asks, NULL);
    while (link) {
        struct ask *ask = PL_CONTAINER_OF(link, struct ask, link);
        link = pl_table_next(&seats->asks, link);
        bool has_limit = ask->command->kind != PL_COMMAND_REST;
        if (has_limit && now_ms - ask->since_ms >= PL_NODE_ASK_MOST_MS)
            refuse_unknown(end(ask)); /* also if the database cannot name the owner */
        else if (!ask->is_looking && now_ms - ask->sent_ms >= PL_NODE_ASK_AGAIN_MS)
            look_again(ask);
    }
}

void pl_ask_peer_gone(struct pl_node_seats *seats, const struct pl_node_id *gone)
{
    struct pl_table_link *link = pl_table_next(&seats->asks, NULL);
    while (link) {
        struct ask *ask = PL_CONTAINER_OF(link, struct ask, link);
        link = pl_table_next(&seats->asks, link);
        if (pl_node_id_eq(&ask->to, gone))
            give_up(ask);
    }
}

void pl_ask_end_all(struct pl_node_seats *seats)
{
    struct pl_table_link *link;
    while ((link = pl_table_next(&seats->asks, NULL)))
        refuse_unknown(end(PL_CONTAINER_OF(link, struct ask, link)));
}

bool pl_ask_is_listening(struct pl_node_seats *seats, const struct pl_node_id *owner,
                         struct pl_str session_id)
{
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&seats->asks, link));) {
        const struct ask *ask = PL_CONTAINER_OF(link, struct ask, link);
        if (ask->command->kind == PL_COMMAND_SUBSCRIBE && pl_node_id_eq(&ask->to, owner) &&
            pl_str_eq(ask->command->session_id, session_id))
            return true;
    }
    return false;
}
