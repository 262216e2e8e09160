/* Asks: what the rest of the server wants of a session, in the order it was wanted. */
#include "base/mem.h"
#include "model/model.h"
#include "server/chatting.h"
#include "server/driver_int.h"
#include "server/replay.h"

void pl_ask_init(struct pl_ask *ask, enum pl_ask_kind kind, struct pl_shard *home,
                 struct pl_str user_id, struct pl_str session_id)
{
    *ask = (struct pl_ask){
        .kind = kind,
        .home = home,
        .user_id = user_id,
        .session_id = session_id,
        .if_version = -1,
        .problem = PL_PROBLEM_COUNT,
    };
    pl_buf_init(&ask->reply, 0);
}

void pl_ask_deinit(struct pl_ask *ask)
{
    pl_buf_deinit(&ask->reply);
}

static void open_answer(struct pl_letter *letter)
{
    struct pl_ask *ask = PL_CONTAINER_OF(letter, struct pl_ask, letter);
    ask->done(ask);
}

void pl_driver_answer(struct pl_ask *ask)
{
    if (ask->reply.status != PL_OK) {
        ask->problem = PL_PROBLEM_OVERLOADED;
        (void)pl_fail(&ask->err, PL_NOMEM, "There was not enough memory for the answer.");
    }
    ask->letter.open = open_answer;
    pl_loop_post(ask->home->loop, &ask->letter);
}

void pl_driver_refuse(struct pl_ask *ask, enum pl_problem problem, const struct pl_error *err)
{
    ask->problem = problem;
    if (err)
        ask->err = *err;
    pl_driver_answer(ask);
}

static void refuse_text(struct pl_ask *ask, enum pl_problem problem, const char *text)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "%s", text);
    pl_driver_refuse(ask, problem, &err);
}

static void fill_position(const struct pl_driver *driver, struct pl_ask *ask)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    ask->epoch = record->epoch;
    ask->position = pl_session_position(driver->session);
    ask->version = record->version;
    ask->next_entry = record->next_entry;
}

static void empty(struct pl_session_out *out)
{
    out->frames.len = out->rows.len = out->effects.len = 0;
}

void pl_driver_answer_in_line(struct pl_driver *driver, struct pl_ask *ask)
{
    empty(&driver->drivers->out);
    fill_position(driver, ask);
    pl_line_carry_out(driver, ask, false);
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

/* Whether it was meant for another version; then the ask is answered. */
static bool is_outdated(struct pl_driver *driver, struct pl_ask *ask)
{
    if (ask->if_version < 0 || ask->if_version == pl_session_record(driver->session)->version)
        return false;
    refuse_text(ask, PL_PROBLEM_PRECONDITION_FAILED,
                "The session has changed since; read it again and repeat with its new ETag.");
    return true;
}

/* Whether the driver itself has something against it; then the ask is answered. */
static bool is_refused(struct pl_driver *driver, struct pl_ask *ask)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    struct pl_server *server = driver->drivers->shard->server;
    bool starts = ask->n_says || (ask->event.kind == PL_SE_CHAT && !driver->is_counted);
    if (is_outdated(driver, ask))
        return true;
    if (starts && pl_life_is_closing(&server->life))
        refuse_text(ask, PL_PROBLEM_OVERLOADED, "The server is going away; try again soon.");
    else if (starts && pl_running_of(server, record->user_id) >= PL_MAX_RUNNING)
        refuse_text(ask, PL_PROBLEM_RATE_LIMITED,
                    "64 of your turns are running already; wait for one to end, or stop one.");
    else
        return false;
    return true;
}

/* A change begins with what is overdue. */
static bool is_ready_for_change(struct pl_driver *driver, struct pl_ask *ask)
{
    if (pl_driver_recover(driver))
        return true;
    pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
    return false;
}

static void handle_event(struct pl_driver *driver, struct pl_ask *ask)
{
    if (is_refused(driver, ask) || !is_ready_for_change(driver, ask))
        return;
    struct pl_error err = {0};
    pl_chat_complete(driver->drivers->shard, pl_session_record(driver->session), &ask->event);
    enum pl_status status = pl_line_apply(driver, ask->event, &err);
    if (status == PL_NOMEM) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, &err);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
        return;
    }
    if (status != PL_OK) {
        pl_driver_refuse(ask, problem_of(driver->drivers->out.refusal, status), &err);
        return;
    }
    fill_position(driver, ask);
    pl_buf_add(&ask->reply, driver->drivers->out.reply);
    struct pl_batch *batch = ask->extend ? pl_line_batch(driver) : NULL;
    if (batch)
        ask->extend(ask, batch);
    pl_line_carry_out(driver, ask, batch != NULL);
}

/* --- looking --------------------------------------------------------------------------------- */

void pl_driver_look(struct pl_driver *driver, struct pl_ask *ask)
{
    struct pl_buf *to = &ask->reply;
    pl_buf_adds(to, "{\"session\":");
    pl_session_write(driver->session, to);
    pl_buf_adds(to, ",\"open_turns\":[");
    for (size_t i = 0; i < pl_session_n_open_turns(driver->session); i++) {
        if (i)
            pl_buf_addc(to, ',');
        pl_session_write_open_turn(driver->session, i, to);
    }
    pl_buf_adds(to, "],\"questions\":");
    pl_session_write_questions(driver->session, to);
    pl_buf_adds(to, ",\"queue\":");
    pl_session_write_queue(driver->session, to);
    pl_buf_addc(to, '}');
    pl_driver_answer_in_line(driver, ask);
}

/* --- rest ------------------------------------------------------------------------------------ */

static void handle_rest(struct pl_driver *driver, struct pl_ask *ask)
{
    ask->next = driver->resters;
    driver->resters = ask;
    pl_driver_settle(driver);
}

void pl_driver_answer_resters(struct pl_driver *driver)
{
    enum pl_session_status status = pl_session_record(driver->session)->status;
    if (status == PL_SESSION_RUNNING || driver->is_unsettled)
        return;
    for (struct pl_ask **at = &driver->resters; *at;) {
        struct pl_ask *ask = *at;
        if (ask->waits_for_person && status == PL_SESSION_WAITING) {
            at = &ask->next;
            continue;
        }
        *at = ask->next;
        fill_position(driver, ask);
        ask->status = status;
        pl_driver_answer(ask);
    }
}

void pl_driver_refuse_resters(struct pl_driver *driver, enum pl_problem problem,
                              const struct pl_error *err)
{
    while (driver->resters) {
        struct pl_ask *ask = driver->resters;
        driver->resters = ask->next;
        pl_driver_refuse(ask, problem, err);
    }
}

/* --- deleting -------------------------------------------------------------------------------- */

/* Stopped first, so that whatever is at work ends; then gone. What comes behind it waits and finds
 * nothing. */
static void handle_delete(struct pl_driver *driver, struct pl_ask *ask)
{
    if (is_outdated(driver, ask) || !is_ready_for_change(driver, ask))
        return;
    struct pl_error err = {0};
    enum pl_status status =
        pl_line_apply(driver, (struct pl_session_event){.kind = PL_SE_STOP}, &err);
    if (status == PL_OK)
        pl_line_carry_out(driver, NULL, false);
    struct pl_batch *batch = driver->state == PL_DRIVER_READY ? pl_line_batch(driver) : NULL;
    if (status != PL_OK || !batch) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, &err);
        pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
        return;
    }
    pl_batch_delete_session(batch, ask->user_id, driver->link.key);
    if (ask->extend)
        ask->extend(ask, batch);
    driver->is_deleting = true;
    fill_position(driver, ask);
    empty(&driver->drivers->out);
    pl_line_carry_out(driver, ask, true);
}

/* --- a message said before? a session to be played that is the user's? ----------------------- */

struct look_up {
    struct pl_job job;
    struct pl_driver *driver;
    struct pl_ask *ask;
    struct pl_store *store;
    struct pl_arena arena;
    struct pl_str user_id; /* arena */
    struct pl_str turn_id;
    enum pl_status status;
    struct pl_error err;
};

static bool has_client_id(const struct pl_ask *ask)
{
    return ask->event.kind == PL_SE_CHAT && ask->event.chat.client_message_id.len;
}

static struct pl_str model_named(const struct pl_ask *ask)
{
    if (ask->event.kind == PL_SE_CHAT)
        return ask->event.chat.model;
    return ask->event.kind == PL_SE_SETTINGS ? ask->event.settings.model : (struct pl_str){0};
}

/* PL_OK: it was said before. PL_CONFLICT: something else was, under the same id. */
static enum pl_status find_said(struct look_up *look, const struct pl_session_event *event)
{
    struct pl_str body = {0};
    bool is_same = false;
    enum pl_status status = pl_store_client_message_find(
        look->store, &look->arena, look->ask->session_id, event->chat.client_message_id,
        &look->turn_id, &body, &look->err);
    if (status == PL_OK)
        status = pl_body_says(body, event->chat.message, &is_same);
    if (status == PL_OK && !is_same)
        status = pl_fail(&look->err, PL_CONFLICT,
                         "Another message was said with this client_message_id; give each message "
                         "an id of its own.");
    return status;
}

static void look_up_run(struct pl_job *job)
{
    struct look_up *look = PL_CONTAINER_OF(job, struct look_up, job);
    const struct pl_ask *ask = look->ask;
    look->status = PL_NOT_FOUND;
    if (has_client_id(ask))
        look->status = find_said(look, &ask->event);
    if (look->status != PL_NOT_FOUND)
        return;
    enum pl_status status =
        pl_replay_check(look->store, &look->arena, look->user_id, model_named(ask), &look->err);
    look->status = status == PL_OK ? PL_NOT_FOUND : status;
}

static void answer_duplicate(struct pl_driver *driver, struct pl_ask *ask, struct pl_str turn_id)
{
    fill_position(driver, ask);
    pl_buf_addf(&ask->reply, "{\"session_id\":\"%s\",\"duplicate\":true", driver->id);
    if (turn_id.len)
        pl_buf_addf(&ask->reply, ",\"turn_id\":\"%.*s\"", PL_STR_ARG(turn_id));
    pl_buf_addf(&ask->reply, ",\"queued\":%s}", turn_id.len ? "false" : "true");
    pl_driver_answer(ask);
}

static void look_up_done(struct pl_job *job)
{
    struct look_up *look = PL_CONTAINER_OF(job, struct look_up, job);
    struct pl_driver *driver = look->driver;
    driver->is_looking_up = false;
    if (driver->state != PL_DRIVER_READY || job->is_refused)
        pl_driver_refuse(look->ask, PL_PROBLEM_OVERLOADED, NULL);
    else if (look->status == PL_NOT_FOUND)
        handle_event(driver, look->ask);
    else if (look->status != PL_OK)
        pl_driver_refuse(look->ask, pl_problem_of(look->status), &look->err);
    else
        answer_duplicate(driver, look->ask, look->turn_id);
    pl_arena_deinit(&look->arena);
    pl_mem_free(look);
    pl_driver_go_through_asks(driver);
    pl_driver_settle(driver);
}

static void start_look_up(struct pl_driver *driver, struct pl_ask *ask)
{
    struct pl_shard *shard = driver->drivers->shard;
    struct look_up *look = pl_mem_alloc(1, sizeof *look);
    if (!look) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    *look = (struct look_up){.driver = driver, .ask = ask, .store = shard->server->store};
    pl_arena_init(&look->arena, 0);
    look->user_id = pl_arena_dup(&look->arena, pl_session_record(driver->session)->user_id);
    if (!look->user_id.ptr) {
        pl_mem_free(look);
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    look->job = (struct pl_job){
        .owner = pl_owner_of(look->user_id),
        .wait_ms = shard->setup->config.queue_wait_ms,
        .run = look_up_run,
        .done = look_up_done,
    };
    driver->is_looking_up = true;
    pl_workers_submit(shard->server->workers, shard->loop, &look->job);
}

/* --- the order ------------------------------------------------------------------------------- */

static bool needs_look_up(const struct pl_ask *ask)
{
    return ask->kind == PL_ASK_EVENT &&
           (has_client_id(ask) || pl_model_replayed(model_named(ask)).len);
}

static void handle(struct pl_driver *driver, struct pl_ask *ask)
{
    static void (*const handlers[])(struct pl_driver *, struct pl_ask *) = {
        [PL_ASK_EVENT] = handle_event,
        [PL_ASK_LOOK] = pl_driver_look,
        [PL_ASK_SUBSCRIBE] = pl_driver_subscribe,
        [PL_ASK_DELETE] = handle_delete,
        [PL_ASK_REST] = handle_rest,
    };
    const struct pl_session_record *record = pl_session_record(driver->session);
    if (ask->user_id.ptr && !pl_str_eq(ask->user_id, record->user_id))
        pl_driver_refuse(ask, PL_PROBLEM_NOT_FOUND, NULL);
    else if (needs_look_up(ask))
        start_look_up(driver, ask);
    else
        handlers[ask->kind](driver, ask);
}

/* One that must look up waits until all before it is durable: only then can the store tell whether
 * the message was said before. */
void pl_driver_go_through_asks(struct pl_driver *driver)
{
    while (driver->asks && driver->state == PL_DRIVER_READY && !driver->is_looking_up &&
           !driver->is_deleting) {
        struct pl_ask *ask = driver->asks;
        if (needs_look_up(ask) && !pl_driver_is_at_rest(driver))
            return;
        driver->asks = ask->next;
        handle(driver, ask);
    }
}

static void append(struct pl_driver *driver, struct pl_ask *ask)
{
    ask->next = NULL;
    if (driver->asks)
        driver->last_ask->next = ask;
    else
        driver->asks = ask;
    driver->last_ask = ask;
}

/* The answer is known; whoever keeps it with the deed does so. */
static void extend(struct pl_driver *driver, struct pl_ask *ask)
{
    fill_position(driver, ask);
    pl_session_write(driver->session, &ask->reply);
    struct pl_batch *batch = ask->extend ? pl_line_batch(driver) : NULL;
    if (batch)
        ask->extend(ask, batch);
}

/* What is said to a new session at once, in one transaction with its first row: there is no session
 * to which only a part was said. */
static void say_all(struct pl_driver *driver, struct pl_ask *ask)
{
    const struct pl_session_out *out = &driver->drivers->out;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    driver->is_gathering = true;
    for (size_t i = 0; i < ask->n_says && driver->state == PL_DRIVER_READY; i++) {
        struct pl_session_event event = ask->says[i];
        pl_chat_complete(driver->drivers->shard, pl_session_record(driver->session), &event);
        status = pl_line_apply(driver, event, &err);
        if (status != PL_OK)
            break;
        bool is_last = i + 1 == ask->n_says;
        if (is_last) {
            extend(driver, ask);
            driver->is_gathering = false;
        }
        pl_line_carry_out(driver, is_last ? ask : NULL, true);
        if (is_last)
            return;
    }
    driver->is_gathering = false;
    pl_driver_refuse(
        ask, status == PL_OK ? PL_PROBLEM_OVERLOADED : problem_of(out->refusal, status), &err);
    pl_driver_break(driver, PL_PROBLEM_OVERLOADED, &err);
}

bool pl_driver_put_back(struct pl_driver *driver, struct pl_ask *ask)
{
    if (ask->kind != PL_ASK_LOOK && ask->kind != PL_ASK_SUBSCRIBE)
        return false;
    pl_buf_clear(&ask->reply);
    ask->problem = PL_PROBLEM_COUNT;
    if (!driver->asks)
        driver->last_ask = ask;
    ask->next = driver->asks;
    driver->asks = ask;
    return true;
}

/* The session's own row comes before whatever refers to it. */
static void put_first(struct pl_session_out *out, struct pl_batch *batch)
{
    for (size_t i = 0; i < out->rows.len; i++)
        pl_batch_put_row(batch, &out->rows.ptr[i]);
    out->rows.len = 0;
}

static void handle_create(struct pl_drivers *drivers, struct pl_ask *ask)
{
    struct pl_driver *driver = pl_driver_create(drivers, ask->session_id);
    struct pl_error err = {0};
    if (!driver) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    pl_driver_settle(driver);
    enum pl_status status = pl_session_create(&ask->record, &drivers->out, &driver->session, &err);
    if (status != PL_OK) {
        driver->state = PL_DRIVER_GONE;
        pl_driver_refuse(ask, pl_problem_of(status), &err);
        return;
    }
    if (ask->n_says && is_refused(driver, ask)) {
        driver->state = PL_DRIVER_GONE;
        return;
    }
    driver->state = PL_DRIVER_READY;
    struct pl_batch *batch = pl_line_batch(driver);
    if (batch)
        put_first(&drivers->out, batch);
    if (batch && ask->n_says) {
        say_all(driver, ask);
        return;
    }
    extend(driver, ask);
    pl_line_carry_out(driver, ask, true);
}

static void open_ask(struct pl_letter *letter)
{
    struct pl_ask *ask = PL_CONTAINER_OF(letter, struct pl_ask, letter);
    struct pl_drivers *drivers = pl_shard_of_session(ask->home->server, ask->session_id)->drivers;
    if (!drivers) { /* the server is ending, and this is its last thread */
        ask->problem = PL_PROBLEM_OVERLOADED;
        ask->done(ask);
        return;
    }
    struct pl_driver *driver = pl_driver_find(drivers, ask->session_id);
    if (ask->kind == PL_ASK_CREATE) {
        if (driver)
            pl_driver_refuse(ask, PL_PROBLEM_CONFLICT, NULL);
        else
            handle_create(drivers, ask);
        return;
    }
    bool is_new = !driver;
    if (is_new)
        driver = pl_driver_create(drivers, ask->session_id);
    if (!driver) {
        pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    append(driver, ask);
    if (is_new)
        pl_driver_load(driver);
    else
        pl_driver_go_through_asks(driver);
    pl_driver_settle(driver);
}

void pl_ask_send(struct pl_ask *ask)
{
    ask->letter.open = open_ask;
    pl_loop_post(pl_shard_of_session(ask->home->server, ask->session_id)->loop, &ask->letter);
}
