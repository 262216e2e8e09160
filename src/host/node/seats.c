/* Seats: the location of the sessions of a shard. A command goes to the seat of its session, and
 * from there to the driver here or to the owner elsewhere. A session without an owner is claimed
 * first.
 *
 *     machine seat
 *
 *     NEW -> LOOKING -> CLAIMING -> OWNED -> RELEASING -> FREE
 *     NEW -> OWNED                        a new session
 *     NEW -> FREE                         out of memory
 *     LOOKING -> OWNED                    this node owns it already
 *     LOOKING -> AWAY                     another node owns it
 *     LOOKING -> FREE                     nobody wants to change it, or it does not exist
 *     CLAIMING -> LOOKING                 another node was faster
 *     CLAIMING -> FREE                    it could not be claimed
 *     OWNED -> LOOKING                    the driver found that this node does not own it
 *     RELEASING -> LOOKING                a command came meanwhile
 *     OWNED, AWAY -> FREE
 *
 * core/cluster/owning.h decides whether to serve a command, read the store, claim the session, ask
 * its owner, or refuse. */
#include "base/mem.h"
#include "io/move.h"
#include "live/listener.h"
#include "node/node_int.h"
#include "shard/setup.h"
#include "store/node/owners.h"

#include <stdio.h>

#define TO(name) PL_TO(PL_SEAT_##name)
#define A_WORKER "a worker always comes back; it waits for queue_wait_ms at most"
static const struct pl_state states[] = {
    [PL_SEAT_NEW] = {"new", TO(LOOKING) | TO(OWNED) | TO(FREE)},
    [PL_SEAT_LOOKING] = {"looking", TO(CLAIMING) | TO(OWNED) | TO(AWAY) | TO(FREE), PL_WAIT_OPEN,
                         PL_CANCEL_LATER, .why = A_WORKER},
    [PL_SEAT_CLAIMING] = {"claiming", TO(OWNED) | TO(LOOKING) | TO(FREE), PL_WAIT_OPEN,
                          PL_CANCEL_LATER, .why = "the store always comes back"},
    [PL_SEAT_OWNED] = {"owned", TO(RELEASING) | TO(LOOKING) | TO(FREE), PL_WAIT_OPEN,
                       PL_CANCEL_ENDS, .why = "as long as its driver is in memory"},
    [PL_SEAT_RELEASING] = {"releasing", TO(LOOKING) | TO(FREE), PL_WAIT_OPEN, PL_CANCEL_LATER,
                           .why = "the store always comes back"},
    [PL_SEAT_AWAY] = {"away", TO(FREE), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "PL_NODE_KNOWN_MS after it was last asked for"},
    [PL_SEAT_FREE] = {"free", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("seat", states);

static void begin_look(struct pl_seat *seat);

static void become(struct pl_seat *seat, enum pl_seat_state to)
{
    if ((seat->state == PL_SEAT_OWNED) != (to == PL_SEAT_OWNED))
        atomic_fetch_add(&seat->seats->node->n_owned, to == PL_SEAT_OWNED ? 1 : -1);
    seat->state = (enum pl_seat_state)pl_move(&machine, seat, seat->state, to);
}

struct pl_seat *pl_seat_find(struct pl_node_seats *seats, struct pl_str session_id)
{
    struct pl_table_link *link = pl_table_get(&seats->by_id, session_id);
    return link ? PL_CONTAINER_OF(link, struct pl_seat, link) : NULL;
}

static struct pl_seat *create(struct pl_node_seats *seats, struct pl_str session_id)
{
    struct pl_seat *seat = pl_mem_alloc(1, sizeof *seat + session_id.len);
    if (!seat)
        return NULL;
    *seat = (struct pl_seat){.seats = seats};
    memcpy(seat + 1, session_id.ptr, session_id.len);
    seat->link.key = (struct pl_str){(const char *)(seat + 1), session_id.len};
    pl_feed_init(&seat->feed, &seats->feeds, seat->link.key);
    if (pl_table_put(&seats->by_id, &seat->link))
        return seat;
    pl_mem_free(seat);
    return NULL;
}

static void destroy(struct pl_seat *seat)
{
    if (seat->state != PL_SEAT_FREE)
        become(seat, PL_SEAT_FREE);
    pl_table_remove(&seat->seats->by_id, &seat->link);
    pl_feed_deinit(&seat->feed);
    pl_mem_free(seat);
}

/* --- commands -------------------------------------------------------------------------------- */

void pl_seat_refuse(struct pl_session_command *command, enum pl_problem problem, const char *text)
{
    command->problem = problem;
    if (text)
        (void)pl_fail(&command->err, PL_IO, "%s", text);
    pl_session_command_answer(command);
}

static bool is_asked(const struct pl_session_command *command)
{
    return !pl_node_id_is_zero(&command->asker);
}

static void append(struct pl_seat *seat, struct pl_session_command *command)
{
    command->next = NULL;
    if (seat->commands)
        seat->last_command->next = command;
    else
        seat->commands = command;
    seat->last_command = command;
}

static struct pl_session_command *take_all(struct pl_seat *seat)
{
    struct pl_session_command *commands = seat->commands;
    seat->commands = seat->last_command = NULL;
    return commands;
}

static void refuse_all(struct pl_seat *seat, enum pl_problem problem, const char *text)
{
    for (struct pl_session_command *command = take_all(seat), *next; command; command = next) {
        next = command->next;
        pl_seat_refuse(command, problem, text);
    }
}

static enum pl_owning_want want_of(const struct pl_session_command *command)
{
    static const enum pl_owning_want wants[] = {
        [PL_COMMAND_CREATE] = PL_OWNING_CHANGE, [PL_COMMAND_EVENT] = PL_OWNING_CHANGE,
        [PL_COMMAND_LOOK] = PL_OWNING_LOOK,     [PL_COMMAND_SUBSCRIBE] = PL_OWNING_LISTEN,
        [PL_COMMAND_DELETE] = PL_OWNING_CHANGE, [PL_COMMAND_REST] = PL_OWNING_CHANGE,
    };
    return wants[command->kind];
}

/* Executes a decision; true: the command waits for a claim. */
static bool carry_out(struct pl_seat *seat, struct pl_session_command *command,
                      enum pl_owning_do what)
{
    const struct pl_session_owner *drivers = seat->seats->node->above->drivers;
    switch (what) {
    case PL_OWNING_DO_SERVE:
        command->served_by = pl_node_me(seat->seats->node);
        drivers->carry_out(command);
        return false;
    case PL_OWNING_DO_READ:
        drivers->look_stored(command);
        return false;
    case PL_OWNING_DO_ASK:
        pl_ask_send(seat, command);
        return false;
    case PL_OWNING_DO_REFUSE:
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED,
                       "This node cannot reach the database at the moment; try again soon.");
        return false;
    case PL_OWNING_DO_CLAIM:
        append(seat, command);
        return true;
    }
    return false;
}

/* --- claiming -------------------------------------------------------------------------------- */

struct seating {
    struct pl_job job;
    struct pl_node_seats *seats;
    struct pl_seat *seat; /* stays until the job is done */
    struct pl_session_held held;
    enum pl_status status;
};

static void serve_all(struct pl_seat *seat)
{
    for (struct pl_session_command *command = take_all(seat), *next; command; command = next) {
        next = command->next;
        bool holds = pl_node_holds(seat->seats->node);
        (void)carry_out(seat, command, pl_owning_decide(want_of(command), PL_OWNING_MINE, holds));
    }
}

static void claimed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_seat *seat = ctx;
    (void)err;
    if (status == PL_OK) {
        become(seat, PL_SEAT_OWNED);
        serve_all(seat);
    } else if (status == PL_CONFLICT) {
        begin_look(seat);
    } else {
        enum pl_problem problem =
            status == PL_NOT_FOUND ? PL_PROBLEM_NOT_FOUND : PL_PROBLEM_OVERLOADED;
        become(seat, PL_SEAT_FREE);
        refuse_all(seat, problem, NULL);
        destroy(seat);
    }
}

static void begin_claim(struct pl_seat *seat)
{
    struct pl_node_seats *seats = seat->seats;
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        refuse_all(seat, PL_PROBLEM_OVERLOADED, NULL);
        destroy(seat);
        return;
    }
    struct pl_node_id me = pl_node_me(seats->node);
    become(seat, PL_SEAT_CLAIMING);
    pl_batch_claim_session(batch, seat->link.key, &me);
    pl_store_submit(seats->shard->server->store, seats->shard->loop, batch, claimed, seat);
}

/* --- looking --------------------------------------------------------------------------------- */

static void look_run(struct pl_job *job)
{
    struct seating *seating = PL_CONTAINER_OF(job, struct seating, job);
    seating->status = pl_store_session_held(seating->seats->shard->server->store,
                                            seating->seat->link.key, &seating->held, NULL);
}

static bool is_too_late(const struct pl_seat *seat, const struct pl_session_command *command)
{
    int64_t now_ms = pl_loop_now_ms(seat->seats->shard->loop);
    return now_ms - command->routed_ms >= PL_NODE_ASK_MOST_MS;
}

/* Handles all waiting commands, now that the owner is known. */
static void seat_all(struct pl_seat *seat, enum pl_owning_whose whose)
{
    struct pl_session_command *commands = take_all(seat);
    bool wants_claim = false;
    for (struct pl_session_command *command = commands, *next; command; command = next) {
        next = command->next;
        bool holds = pl_node_holds(seat->seats->node);
        if (is_asked(command) && whose != PL_OWNING_MINE)
            pl_serve_not_mine(command);
        else if (is_too_late(seat, command))
            pl_seat_refuse(command, PL_PROBLEM_OVERLOADED,
                           "The node that has this session does not answer; try again soon.");
        else if (carry_out(seat, command, pl_owning_decide(want_of(command), whose, holds)))
            wants_claim = true;
    }
    if (wants_claim)
        begin_claim(seat);
    else if (seat->state == PL_SEAT_LOOKING)
        destroy(seat);
}

static void look_done(struct pl_job *job)
{
    struct seating *seating = PL_CONTAINER_OF(job, struct seating, job);
    struct pl_seat *seat = seating->seat;
    enum pl_status status = job->is_refused ? PL_LIMIT : seating->status;
    struct pl_owning_row row = seating->held.row;
    struct pl_node_id me = pl_node_me(seat->seats->node);
    pl_mem_free(seating);
    if (status != PL_OK) {
        refuse_all(seat, status == PL_NOT_FOUND ? PL_PROBLEM_NOT_FOUND : PL_PROBLEM_OVERLOADED,
                   NULL);
        destroy(seat);
        return;
    }
    enum pl_owning_whose whose = pl_owning_whose(&row, &me);
    if (whose == PL_OWNING_MINE)
        become(seat, PL_SEAT_OWNED);
    if (whose == PL_OWNING_ANOTHERS) {
        become(seat, PL_SEAT_AWAY);
        seat->owner = row.owner;
        seat->asked_ms = pl_loop_now_ms(seat->seats->shard->loop);
    }
    seat_all(seat, whose);
}

static void begin_look(struct pl_seat *seat)
{
    struct pl_shard *shard = seat->seats->shard;
    struct seating *seating = pl_mem_alloc(1, sizeof *seating);
    if (!seating) {
        refuse_all(seat, PL_PROBLEM_OVERLOADED, NULL);
        destroy(seat);
        return;
    }
    become(seat, PL_SEAT_LOOKING);
    *seating = (struct seating){
        .seats = seat->seats,
        .seat = seat,
        .job = {.owner = pl_owner_of(seat->commands ? seat->commands->user_id : (struct pl_str){0}),
                .wait_ms = shard->setup->config.queue_wait_ms,
                .run = look_run,
                .done = look_done},
    };
    pl_workers_submit(shard->server->workers, shard->loop, &seating->job);
}

void pl_seat_lose_owner(struct pl_seat *seat)
{
    if (seat->state != PL_SEAT_AWAY)
        return;
    pl_feed_resync(&seat->feed, false);
    destroy(seat);
}

/* --- releasing ------------------------------------------------------------------------------- */

static void released(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_seat *seat = ctx;
    (void)status; /* if it failed, the next look finds that this node still owns the session */
    (void)err;
    if (seat->commands)
        begin_look(seat);
    else
        destroy(seat);
}

static void left(struct pl_shard *shard, struct pl_str session_id)
{
    struct pl_seat *seat = shard->seats ? pl_seat_find(shard->seats, session_id) : NULL;
    if (!seat || seat->state != PL_SEAT_OWNED)
        return;
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        destroy(seat);
        return;
    }
    struct pl_node_id me = pl_node_me(seat->seats->node);
    become(seat, PL_SEAT_RELEASING);
    pl_batch_release_session(batch, seat->link.key, &me);
    pl_store_submit(shard->server->store, shard->loop, batch, released, seat);
}

/* --- routing --------------------------------------------------------------------------------- */

static void make(struct pl_node_seats *seats, struct pl_session_command *command)
{
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    if (seat) {
        pl_seat_refuse(command, PL_PROBLEM_CONFLICT, NULL);
        return;
    }
    if (!pl_node_holds(seats->node)) {
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED,
                       "This node cannot reach the database at the moment; try again soon.");
        return;
    }
    seat = create(seats, command->session_id);
    if (!seat) {
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    become(seat, PL_SEAT_OWNED);
    command->served_by = pl_node_me(seats->node);
    seats->node->above->drivers->carry_out(command);
}

/* Another node wants to listen, or wants anything while this one ends: the session moves there if
 * nothing holds it here. Its driver leaves, the seat is released, and the asker is answered when
 * that is durable. */
static bool follows_asker(struct pl_seat *seat, struct pl_session_command *command)
{
    struct pl_node_seats *seats = seat->seats;
    bool is_ending = pl_life_is_ending(&seats->shard->server->life);
    if (!is_asked(command) || (command->kind != PL_COMMAND_SUBSCRIBE && !is_ending))
        return false;
    if (!seats->node->above->drivers->let_go(seats->shard, seat->link.key))
        return false;
    /* A session that was not in memory has no driver that would call this. */
    left(seats->shard, command->session_id);
    seat = pl_seat_find(seats, command->session_id);
    if (seat)
        append(seat, command);
    else
        pl_seat_route(seats, command);
    return true;
}

static void route_to(struct pl_seat *seat, struct pl_session_command *command)
{
    bool holds = pl_node_holds(seat->seats->node);
    switch (seat->state) {
    case PL_SEAT_OWNED:
        if (holds && follows_asker(seat, command))
            return;
        (void)carry_out(seat, command, pl_owning_decide(want_of(command), PL_OWNING_MINE, holds));
        return;
    case PL_SEAT_AWAY:
        if (is_asked(command))
            pl_serve_not_mine(command);
        else
            (void)carry_out(seat, command,
                            pl_owning_decide(want_of(command), PL_OWNING_ANOTHERS, holds));
        return;
    default:
        append(seat, command);
    }
}

void pl_seat_route(struct pl_node_seats *seats, struct pl_session_command *command)
{
    if (!command->routed_ms)
        command->routed_ms = pl_loop_now_ms(seats->shard->loop);
    if (command->kind == PL_COMMAND_CREATE) {
        make(seats, command);
        return;
    }
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    if (seat) {
        route_to(seat, command);
        return;
    }
    seat = create(seats, command->session_id);
    if (!seat) {
        pl_seat_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    append(seat, command);
    begin_look(seat);
}

static struct pl_node_seats *seats_of(struct pl_session_command *command)
{
    return pl_shard_of_session(command->home->server, command->session_id)->seats;
}

static void open_command(struct pl_letter *letter)
{
    struct pl_session_command *command = pl_session_command_open(letter);
    struct pl_node_seats *seats = seats_of(command);
    if (seats) {
        pl_seat_route(seats, command);
        return;
    }
    /* The server is ending, and this is its last thread. */
    command->problem = PL_PROBLEM_OVERLOADED;
    pl_session_command_answer_here(command);
}

/* The driver found that this node does not own the session: the row names the owner. */
static void moved(struct pl_session_command *command)
{
    struct pl_node_seats *seats = seats_of(command);
    struct pl_seat *seat = pl_seat_find(seats, command->session_id);
    if (seat && seat->state == PL_SEAT_OWNED) {
        append(seat, command);
        begin_look(seat);
        return;
    }
    pl_seat_route(seats, command);
}

static void open_unlisten(struct pl_letter *letter)
{
    struct pl_subscription *sub = PL_CONTAINER_OF(letter, struct pl_subscription, letter);
    struct pl_shard *shard = pl_shard_of_session(sub->server, (struct pl_str){sub->id, sub->n_id});
    if (shard->seats && pl_mirror_leave(shard->seats, sub))
        pl_mem_free(sub);
    else
        sub->server->node->above->drivers->open_unlisten(letter);
}

/* --- the post -------------------------------------------------------------------------------- */

/* This node is gone: the readers of its sessions subscribe again. */
static void lose(struct pl_node_seats *seats, const struct pl_node_id *node)
{
    struct pl_table_link *link = pl_table_next(&seats->by_id, NULL);
    while (link) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        link = pl_table_next(&seats->by_id, link);
        if (seat->state == PL_SEAT_AWAY && pl_node_id_eq(&seat->owner, node))
            pl_seat_lose_owner(seat);
    }
}

static void forget_listener(struct pl_node_seats *seats, const struct pl_node_id *gone)
{
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&seats->by_id, link));)
        seats->node->above->drivers->node_left(seats->shard, link->key, gone, INT64_MAX);
}

/* Letters of this node were lost: the readers of its sessions subscribe again. */
static void resync(struct pl_node_seats *seats, const struct pl_node_id *sender)
{
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&seats->by_id, link));) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        if (seat->state == PL_SEAT_AWAY && pl_node_id_eq(&seat->owner, sender))
            pl_feed_resync(&seat->feed, false);
    }
}

/* This node was taken over: it owns nothing any more, and has a new id for the others. */
static void drop(struct pl_node_seats *seats)
{
    struct pl_node *node = seats->node;
    node->above->drivers->drop_all(seats->shard);
    pl_ask_end_all(seats);
    pl_serve_end_all(seats);
    struct pl_table_link *link = pl_table_next(&seats->by_id, NULL);
    while (link) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        link = pl_table_next(&seats->by_id, link);
        if (seat->state == PL_SEAT_AWAY)
            pl_feed_resync(&seat->feed, false);
        if (seat->state == PL_SEAT_AWAY || seat->state == PL_SEAT_OWNED)
            destroy(seat);
    }
    pthread_mutex_lock(&node->lock);
    if (!--node->n_dropping)
        pthread_cond_signal(&node->wake);
    pthread_mutex_unlock(&node->lock);
}

/* This node ends: releases quiet sessions, so that others need not ask for them. */
static void give(struct pl_node_seats *seats)
{
    struct pl_table_link *link = pl_table_next(&seats->by_id, NULL);
    while (link) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        link = pl_table_next(&seats->by_id, link);
        char id[PL_ID_MAX];
        int n = snprintf(id, sizeof id, "%.*s", PL_STR_ARG(seat->link.key));
        if (seat->state == PL_SEAT_OWNED && n > 0 && (size_t)n < sizeof id &&
            seats->node->above->drivers->let_go(seats->shard, seat->link.key))
            left(seats->shard, pl_str_of(id)); /* a session that was not in memory has no driver */
    }
}

static void open_bell(struct pl_node_seats *seats, struct pl_str body)
{
    struct pl_node_fields fields = pl_node_fields_of(body);
    int64_t bell = pl_node_fields_number(&fields);
    struct pl_str text = pl_node_fields_bytes(&fields);
    if (fields.status == PL_OK)
        seats->node->above->bell(seats->shard->server, bell, text);
}

static void open_letter(struct pl_node_seats *seats, const struct pl_node_mail *mail)
{
    struct pl_node_fields fields = pl_node_fields_of((struct pl_str){mail->body, mail->n_body});
    struct pl_str session_id = pl_node_fields_bytes(&fields);
    switch (mail->kind) {
    case PL_NODE_LETTER_ASK:
        pl_serve(seats, &mail->sender, (struct pl_str){mail->body, mail->n_body});
        break;
    case PL_NODE_LETTER_ANSWER:
        pl_ask_answered(seats, &mail->sender, (struct pl_str){mail->body, mail->n_body});
        break;
    case PL_NODE_LETTER_FRAMES: {
        struct pl_str frames = pl_node_fields_bytes(&fields);
        if (fields.status == PL_OK)
            pl_mirror_frames(seats, &mail->sender, session_id, frames);
        break;
    }
    case PL_NODE_LETTER_BELL:
        open_bell(seats, (struct pl_str){mail->body, mail->n_body});
        break;
    case PL_NODE_LETTER_LEAVE: {
        int64_t ask = pl_node_fields_number(&fields);
        if (fields.status == PL_OK)
            seats->node->above->drivers->node_left(seats->shard, session_id, &mail->sender, ask);
        break;
    }
    default:
        break;
    }
}

void pl_mail_open(struct pl_letter *letter)
{
    struct pl_node_mail *mail = PL_CONTAINER_OF(letter, struct pl_node_mail, letter);
    struct pl_node_seats *seats = mail->shard->seats;
    if (seats && mail->shard->drivers)
        switch (mail->what) {
        case PL_MAIL_LETTER:
            open_letter(seats, mail);
            break;
        case PL_MAIL_RESYNC:
            resync(seats, &mail->sender);
            break;
        case PL_MAIL_GONE:
            forget_listener(seats, &mail->sender);
            pl_ask_peer_gone(seats, &mail->sender);
            lose(seats, &mail->sender);
            break;
        case PL_MAIL_HUSH:
            seats->node->above->drivers->hush(seats->shard);
            for (struct pl_table_link *link = NULL; (link = pl_table_next(&seats->by_id, link));)
                pl_feed_resync(&PL_CONTAINER_OF(link, struct pl_seat, link)->feed, false);
            break;
        case PL_MAIL_GIVE:
            give(seats);
            break;
        case PL_MAIL_DROP:
            drop(seats);
            break;
        }
    pl_mem_free(mail);
}

/* --- life ------------------------------------------------------------------------------------ */

static void tick(struct pl_timer *timer)
{
    struct pl_node_seats *seats = PL_CONTAINER_OF(timer, struct pl_node_seats, tick);
    int64_t now_ms = pl_loop_now_ms(seats->shard->loop);
    pl_ask_tick(seats);
    pl_serve_tick(seats);
    struct pl_table_link *link = pl_table_next(&seats->by_id, NULL);
    while (link) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        link = pl_table_next(&seats->by_id, link);
        if (seat->state == PL_SEAT_AWAY && !seat->feed.n_listeners &&
            now_ms - seat->asked_ms > PL_NODE_KNOWN_MS)
            destroy(seat);
    }
    pl_timer_start(seats->shard->loop, timer, PL_NODE_TICK_MS, tick);
}

enum pl_status pl_node_seats_create(struct pl_shard *shard, struct pl_node_seats **ret_seats)
{
    struct pl_node_seats *seats = pl_mem_alloc(1, sizeof *seats);
    if (!seats)
        return PL_NOMEM;
    *seats = (struct pl_node_seats){.shard = shard, .node = shard->server->node};
    pl_feeds_init(&seats->feeds, shard);
    /* Keeps the generations apart from those of the drivers. */
    seats->feeds.n_generations = UINT64_C(1) << 62;
    pl_timer_start(shard->loop, &seats->tick, PL_NODE_TICK_MS, tick);
    *ret_seats = seats;
    return PL_OK;
}

void pl_node_seats_destroy(struct pl_node_seats *seats)
{
    if (!seats)
        return;
    pl_timer_stop(seats->shard->loop, &seats->tick);
    pl_ask_end_all(seats);
    pl_serve_end_all(seats);
    struct pl_table_link *link;
    while ((link = pl_table_next(&seats->by_id, NULL))) {
        struct pl_seat *seat = PL_CONTAINER_OF(link, struct pl_seat, link);
        refuse_all(seat, PL_PROBLEM_OVERLOADED, NULL);
        destroy(seat);
    }
    pl_table_deinit(&seats->by_id);
    pl_table_deinit(&seats->asks);
    pl_table_deinit(&seats->served);
    pl_feeds_deinit(&seats->feeds);
    pl_mem_free(seats);
}

static struct pl_node_id me(struct pl_server *server)
{
    return pl_node_me(server->node);
}

static int64_t quiet_ms(struct pl_server *server)
{
    return atomic_load(&server->node->n_others) ? PL_OWNING_QUIET_MS : PL_NODE_ALONE_QUIET_MS;
}

static bool has_others(struct pl_server *server)
{
    return pl_node_has_others(server->node);
}

static void send_frames(struct pl_server *server, const struct pl_node_id *to,
                        struct pl_str session_id, struct pl_str frames)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_node_fields_put_bytes(&body, session_id);
    pl_node_fields_put_bytes(&body, frames);
    if (body.status == PL_OK)
        pl_post_send(server->node, to, PL_NODE_LETTER_FRAMES, pl_buf_str(&body), false);
}

const struct pl_session_owner pl_node_owner = {
    .open_command = open_command,
    .open_unlisten = open_unlisten,
};

static bool may_publish(struct pl_server *server)
{
    return pl_node_holds(server->node);
}

static void name_of(struct pl_server *server, const struct pl_node_id *node,
                    char ret_name[PL_NODE_NAME_MAX + 1])
{
    pl_node_name_of(server->node, node, ret_name);
}

const struct pl_session_home pl_node_home = {
    .me = me,
    .name_of = name_of,
    .may_publish = may_publish,
    .has_others = has_others,
    .quiet_ms = quiet_ms,
    .left = left,
    .moved = moved,
    .send_frames = send_frames,
};
