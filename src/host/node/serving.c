/* Executes the asks of other nodes. The same ask may come again, because its answer was lost or
 * late: an ask in progress continues, and an answered one gets the same answer for a minute. LOOK
 * and SUBSCRIBE are executed again each time, because their answers describe one moment. */
#include "base/mem.h"
#include "live/wire/command_wire.h"
#include "node/node_int.h"

enum { KEPT_MAX_BYTES = 4 << 20 };

struct served {
    struct pl_table_link link; /* key: asker and number */
    struct key {
        struct pl_node_id asker;
        uint64_t number;
    } key;
    struct pl_node_seats *seats;
    struct pl_session_command command;
    struct pl_arena arena; /* the data of the command */
    bool is_kept;          /* in the table */
    bool is_answered;
    int64_t answered_ms;
    struct pl_buf answer; /* body of the letter */
};

static void destroy(struct served *served)
{
    if (served->is_kept)
        pl_table_remove(&served->seats->served, &served->link);
    pl_session_command_deinit(&served->command);
    pl_arena_deinit(&served->arena);
    pl_buf_deinit(&served->answer);
    pl_mem_free(served);
}

static void send(struct served *served)
{
    pl_post_send(served->seats->node, &served->key.asker, PL_NODE_LETTER_ANSWER,
                 pl_buf_str(&served->answer), false);
}

static void begin_answer(struct served *served, bool is_mine)
{
    struct pl_buf *to = &served->answer;
    pl_node_fields_put_bytes(to, served->command.session_id);
    pl_node_fields_put_number(to, (int64_t)served->key.number);
    pl_node_fields_put_number(to, is_mine);
}

/* Sends no answer when out of memory: the asker asks again, or gives up. */
static void on_done(struct pl_session_command *command)
{
    struct served *served = PL_CONTAINER_OF(command, struct served, command);
    begin_answer(served, true);
    enum pl_status status = pl_command_wire_write_answer(command, &served->answer, NULL);
    if (status == PL_OK)
        status = served->answer.status;
    if (status == PL_OK)
        send(served);
    served->is_answered = true;
    served->answered_ms = pl_loop_now_ms(served->seats->shard->loop);
    if (!served->is_kept || status != PL_OK)
        destroy(served);
}

void pl_serve_not_mine(struct pl_session_command *command)
{
    struct served *served = PL_CONTAINER_OF(command, struct served, command);
    begin_answer(served, false);
    if (served->answer.status == PL_OK)
        send(served);
    /* Nothing was done, so the same ask may be executed if it comes again. */
    pl_session_command_give_up(command);
    destroy(served);
}

static struct served *create(struct pl_node_seats *seats, const struct key *key)
{
    struct served *served = pl_mem_alloc(1, sizeof *served);
    if (!served)
        return NULL;
    *served = (struct served){.key = *key, .seats = seats};
    served->link.key = (struct pl_str){(const char *)&served->key, sizeof served->key};
    pl_arena_init(&served->arena, 0);
    pl_buf_init(&served->answer, 0);
    pl_session_command_init(&served->command, PL_COMMAND_LOOK, seats->shard, (struct pl_str){0},
                            (struct pl_str){0});
    return served;
}

static bool is_repeatable(const struct pl_session_command *command)
{
    return command->kind == PL_COMMAND_LOOK || command->kind == PL_COMMAND_SUBSCRIBE;
}

/* Answers are kept for a minute. An older ask may have been executed already: nobody waits for it
 * any more, and somebody who can write to the bus may have recorded it. */
static bool is_old(const struct pl_node *node, int64_t made_ms)
{
    int64_t base_ms = pl_node_base_ms(node);
    return made_ms < base_ms - PL_NODE_ASK_OLD_MS || made_ms > base_ms + PL_NODE_ASK_OLD_MS;
}

void pl_serve(struct pl_node_seats *seats, const struct pl_node_id *sender, struct pl_str body)
{
    struct pl_node_fields fields = pl_node_fields_of(body);
    (void)pl_node_fields_bytes(&fields);
    struct key key;
    memset(&key, 0, sizeof key);
    key.asker = *sender;
    key.number = (uint64_t)pl_node_fields_number(&fields);
    int64_t made_ms = pl_node_fields_number(&fields);
    if (fields.status != PL_OK)
        return;
    struct pl_table_link *link =
        pl_table_get(&seats->served, (struct pl_str){(const char *)&key, sizeof key});
    if (link) {
        struct served *known = PL_CONTAINER_OF(link, struct served, link);
        if (known->is_answered && known->answer.len)
            send(known);
        return;
    }
    if (is_old(seats->node, made_ms)) {
        atomic_fetch_add(&seats->node->n_lost, 1);
        return;
    }
    struct served *served = create(seats, &key);
    if (!served)
        return;
    struct pl_session_command *command = &served->command;
    struct pl_error err = {0};
    if (pl_command_wire_read_ask(fields.left, &served->arena, command, &err) != PL_OK) {
        destroy(served); /* the asker gives up, or asks again */
        return;
    }
    command->asker = *sender;
    command->ask = (int64_t)key.number;
    command->done = on_done;
    pl_session_command_enter(command);
    served->is_kept = !is_repeatable(command) && pl_table_put(&seats->served, &served->link);
    pl_seat_route(seats, command);
}

/* --- kept answers ---------------------------------------------------------------------------- */

void pl_serve_tick(struct pl_node_seats *seats)
{
    int64_t now_ms = pl_loop_now_ms(seats->shard->loop);
    size_t n_bytes = 0;
    struct pl_table_link *link = pl_table_next(&seats->served, NULL);
    while (link) {
        struct served *served = PL_CONTAINER_OF(link, struct served, link);
        link = pl_table_next(&seats->served, link);
        n_bytes += served->answer.len;
        if (served->is_answered && now_ms - served->answered_ms > PL_NODE_ANSWER_KEPT_MS) {
            destroy(served);
        } else if (served->is_answered && n_bytes > KEPT_MAX_BYTES) {
            /* Keeps the entry: the same ask gets no answer again, and its asker gives up. */
            n_bytes -= served->answer.len;
            pl_buf_deinit(&served->answer);
            pl_buf_init(&served->answer, 0);
        }
    }
}

/* Asks in progress are still answered, but no longer kept. */
void pl_serve_end_all(struct pl_node_seats *seats)
{
    struct pl_table_link *link = pl_table_next(&seats->served, NULL);
    while (link) {
        struct served *served = PL_CONTAINER_OF(link, struct served, link);
        link = pl_table_next(&seats->served, link);
        if (served->is_answered) {
            destroy(served);
        } else {
            pl_table_remove(&seats->served, &served->link);
            served->is_kept = false;
        }
    }
}
