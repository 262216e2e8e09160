/* Runs a prompt: one session per model, in parallel.
 *
 *     plan (worker) -> a session each -> all begun: "session" answers
 *                                     -> all at rest: "answer" reads what was said (worker),
 *                                        deletes the sessions, answers
 *
 * With an Idempotency-Key the first session's transaction claims the key; the others begin after
 * that. The ids of all sessions come from the seed that is stored with the key. So a repetition
 * after a crash finds the sessions: it begins missing ones, waits for running ones, and repeats
 * interrupted ones in a session with the next id. "answer" stores its answer with the key in the
 * transaction that deletes the first session.
 *
 * Everything is in the exchange's arena. The exchange is answered when no operation is pending;
 * n_waiting counts them. A client that disconnects changes nothing. */
#include "agent/background/background_session.h"
#include "agent/tools/offer.h"
#include "base/table.h"
#include "http/exchange.h"
#include "http/trace.h"
#include "io/clock.h"
#include "json/text.h"
#include "model/model.h"
#include "service/prompts/prompt_answer.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/prompt_run.h"
#include "service/prompts/routes.h"
#include "service/request_options.h"
#include "shard/setup.h"
#include "transaction/claim_row.h"
#include "transaction/idempotency.h"

#include <stdio.h>

enum { MAX_MODELS = 8, MAX_TRIES = 8 };
#define MAX_WAIT_MS (INT64_C(30) * 60 * 1000)

/* Only an item in ASKED has a session to be read and deleted. */
enum item_state {
    ITEM_ASKED,
    ITEM_REFUSED, /* no session was created */
    ITEM_GONE,    /* its session was deleted: by its owner, or after a timeout */
};

struct item {
    struct running *running;
    enum item_state state;
    struct pl_background_session background;
    struct pl_session_command bye; /* deletes the session */
    struct pl_prompt_said said;
    uint32_t n_tries; /* sessions created for it before a crash, including the last one */
    bool is_found;    /* the last one exists */
};

struct running {
    struct pl_exchange *x;
    struct pl_prompt_run run;
    struct pl_str tools;    /* JSON: the tools offered to the models */
    struct pl_str override; /* JSON: the prefill of the answer; empty: no prefill */
    struct pl_str prompt_id;
    bool is_answer;
    struct item *items;
    size_t n_items, n_sent, n_waiting;
    struct pl_id_seed seed; /* for the sessions' ids */
    struct pl_timer limit;
    void (*next)(struct running *running); /* called when nothing is pending */
};

/* --- plan (worker) --------------------------------------------------------------------------- */

static const struct pl_json_node *list_of_models(struct pl_exchange *x)
{
    return x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("models")) : NULL;
}

static bool make_items(struct pl_exchange *x, struct running *running)
{
    const struct pl_json_node *list = list_of_models(x);
    running->n_items = list ? pl_json_count(list) : 1;
    running->items = pl_arena_zalloc(&x->arena, running->n_items, sizeof *running->items);
    for (size_t i = 0; running->items && i < running->n_items; i++)
        running->items[i].running = running;
    if (running->items && running->n_items <= MAX_MODELS)
        return true;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    return false;
}

static bool read_models(struct pl_exchange *x, struct running *running)
{
    struct pl_str one = pl_body_text(x, "model");
    const struct pl_json_node *list = list_of_models(x);
    if (!list) {
        running->items[0].background.record.model = running->run.model;
        return !one.len ||
               pl_option_model(x, one, "/model", &running->items[0].background.record.model);
    }
    const struct pl_json_node *node = pl_json_first(list);
    for (size_t i = 0; i < running->n_items; i++, node = pl_json_next(node)) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/models/%zu", i);
        if (pl_json_text(&x->arena, &x->body, node, &one) != PL_OK) {
            pl_exchange_fail(x, PL_NOMEM, NULL);
            return false;
        }
        if (!pl_option_model(x, one, pointer, &running->items[i].background.record.model))
            return false;
    }
    return true;
}

static bool make_run(struct pl_exchange *x, const struct pl_prompt_version_row *version,
                     struct pl_prompt_run *ret_run)
{
    struct pl_prompt_text text = pl_prompt_text_of(version);
    struct pl_render_opts opts = {.refuses_unknown = true};
    struct pl_rendered rendered;
    struct pl_error err = {0};
    if (!pl_body_vars(x, &opts))
        return false;
    pl_rendered_init(&rendered);
    const struct pl_prompt_keeper keeper = {x->shard->server, x->caller.user_id};
    enum pl_status status = pl_prompt_run_make(&keeper, x->setup->models, &x->arena, &text, &opts,
                                               pl_clock_unix_ms(), &rendered, ret_run, &err);
    if (status != PL_OK && !pl_exchange_fail_vars(x, status, &rendered))
        pl_exchange_fail(x, status, &err);
    pl_rendered_deinit(&rendered);
    return status == PL_OK;
}

/* The id of the session for an item at its n-th attempt. */
static struct pl_id id_of(const struct running *running, size_t i, uint32_t n_try)
{
    struct pl_id_seed seed = running->seed;
    seed.n_taken = n_try * MAX_MODELS + (uint32_t)i;
    return pl_id_take(&seed, "sess_");
}

/* Finds the sessions that were started before a crash. */
static bool find_begun(struct pl_exchange *x, struct running *running, size_t *ret_n)
{
    struct pl_error err = {0};
    *ret_n = 0;
    for (size_t i = 0; i < running->n_items; i++) {
        struct item *item = &running->items[i];
        for (uint32_t n_try = 0; n_try < MAX_TRIES; n_try++) {
            struct pl_session_record record;
            struct pl_id id = id_of(running, i, n_try);
            enum pl_status status =
                pl_store_session_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                     pl_str_of(id.text), &record, &err);
            if (status == PL_NOT_FOUND)
                continue;
            if (status != PL_OK) {
                pl_exchange_fail(x, status, &err);
                return false;
            }
            item->is_found = true;
            item->n_tries = n_try + 1;
            item->background.id = id;
            item->background.record.model = record.model;
        }
        *ret_n += item->is_found;
    }
    return true;
}

/* The version that was run before a crash, otherwise the one that the request names. */
static bool find_version(struct pl_exchange *x, struct pl_prompt_row *ret_prompt,
                         struct pl_prompt_version_row *ret_version)
{
    const struct pl_claim *claim = pl_exchange_claim(x);
    char number[24];
    if (!claim->is_done)
        return pl_prompt_find_named(x, ret_prompt, ret_version);
    snprintf(number, sizeof number, "%lld", (long long)claim->note);
    return pl_prompt_find(x, ret_prompt) &&
           pl_prompt_find_version(x, ret_prompt, pl_str_of(number), ret_version);
}

/* The model of the session, otherwise the server's default. */
static struct pl_str model_of(const struct item *item)
{
    const struct pl_setup *setup = item->running->x->setup;
    if (item->background.record.model.len)
        return item->background.record.model;
    struct pl_str name = pl_str_of(setup->config.default_model);
    const struct pl_model_info *info = pl_model_find(setup->models, name);
    return info ? pl_model_name(info, name) : name;
}

/* The tools of the request, otherwise those of the prompt. Built-in tools are offered only on
 * request. */
static bool read_tools(struct pl_exchange *x, struct running *running)
{
    struct pl_error err = {0};
    struct pl_str given = pl_body_raw(x, "tools");
    bool is_given = given.len && !pl_str_eq(given, PL_STR("null"));
    running->tools = is_given                 ? given
                     : running->run.tools.len ? running->run.tools
                                              : PL_STR("\"none\"");
    if (!is_given)
        return true;
    enum pl_status status =
        pl_offer_check(&x->arena, &x->body, pl_json_get(&x->body, x->body.root, PL_STR("tools")),
                       "/tools", x->shard->server->ext, x->caller.user_id, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

/* The prefill of an answer, for models that continue it. */
static bool read_prefill(struct pl_exchange *x, struct running *running)
{
    struct pl_buf text PL_CLEANUP_BUF;
    struct pl_error err = {0};
    struct pl_str prefill = running->run.prefill;
    enum pl_status status = PL_OK;
    pl_buf_init(&text, 0);
    if (!prefill.len)
        return true;
    for (size_t i = 0; i < running->n_items && status == PL_OK; i++)
        status = pl_model_continues(x->setup->models, model_of(&running->items[i]), &err);
    pl_buf_adds(&text, "{\"prefill\":");
    pl_json_quote(&text, prefill);
    pl_buf_addc(&text, '}');
    running->override = pl_arena_dup(&x->arena, pl_buf_str(&text));
    if (status == PL_OK && (text.status != PL_OK || !running->override.ptr))
        status = PL_NOMEM;
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

static void plan(struct pl_exchange *x)
{
    struct running *running = x->state;
    struct pl_claim *claim = pl_exchange_claim(x);
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    size_t n_begun = 0;
    running->prompt_id = x->args[0];
    running->is_answer = pl_str_eq(pl_body_text(x, "mode"), PL_STR("answer"));
    if (!make_items(x, running) || (claim->is_done && !find_begun(x, running, &n_begun)))
        return;
    running->run.version = claim->note;
    /* Only the answer is left to do. */
    if (n_begun == running->n_items && !running->is_answer)
        return;
    if (!find_version(x, &prompt, &version) || !make_run(x, &version, &running->run))
        return;
    running->run.name = prompt.name;
    running->run.version = claim->note = version.version;
    if (read_models(x, running) && read_tools(x, running))
        (void)read_prefill(x, running);
}

/* --- the answer ------------------------------------------------------------------------------ */

static void write_text(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    if (text.ptr)
        pl_json_out_text(out, text);
    else
        pl_json_out_null(out);
}

static void write_item(struct pl_json_out *out, const struct item *item)
{
    const struct pl_background_session *background = &item->background;
    bool is_refused = item->state == ITEM_REFUSED;
    bool is_kept = !is_refused && !item->running->is_answer;
    enum pl_session_status status = is_refused ? PL_SESSION_FAILED : background->status;
    pl_json_out_open(out, '{');
    write_text(out, "model", model_of(item));
    write_text(out, "session_id", is_kept ? background->record.id : (struct pl_str){0});
    write_text(out, "status", pl_str_of(pl_session_status_text(status)));
    write_text(out, "text", item->said.text);
    pl_json_out_key(out, "turn");
    pl_json_out_raw(out, item->said.turn.ptr ? item->said.turn : PL_STR("null"));
    write_text(out, "error", item->said.error);
    pl_json_out_close(out, '}');
}

static void write_answer(const struct running *running)
{
    struct pl_exchange *x = running->x;
    struct pl_json_out out = pl_json_out(&x->reply);
    if (x->is_problem)
        return;
    x->status = 201;
    pl_json_out_open(&out, '{');
    write_text(&out, "prompt_id", running->prompt_id);
    pl_json_out_key(&out, "version");
    pl_json_out_int(&out, running->run.version);
    write_text(&out, "mode", running->is_answer ? PL_STR("answer") : PL_STR("session"));
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < running->n_items; i++)
        write_item(&out, &running->items[i]);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

static void finish(struct running *running)
{
    pl_exchange_finish(running->x);
}

/* One pending operation has finished. */
static void arrived(struct running *running)
{
    if (--running->n_waiting == 0)
        running->next(running);
}

/* --- leaving --------------------------------------------------------------------------------- */

static void said_bye(struct pl_session_command *command)
{
    struct item *item = PL_CONTAINER_OF(command, struct item, bye);
    struct running *running = item->running;
    /* If this transaction did not store the answer, the answer gets its own transaction. */
    if (command->problem == PL_PROBLEM_COUNT)
        pl_claim_is_written(running->x, command->claimed);
    pl_session_command_deinit(command);
    arrived(running);
}

static void say_bye(struct item *item, void (*done)(struct pl_session_command *command))
{
    const struct pl_session_record *record = &item->background.record;
    pl_session_command_init(&item->bye, PL_COMMAND_DELETE, item->running->x->shard, record->user_id,
                            record->id);
    item->bye.if_version = -1;
    item->bye.done = done;
}

static void keep_answer(struct pl_session_command *command, struct pl_exchange *x)
{
    if (pl_claim_row_of(x, true, &command->writes.claim))
        command->writes.kept = pl_buf_str(&x->reply);
}

/* Deletes the sessions, which existed only for this answer. */
static void leave(struct pl_exchange *x)
{
    struct running *running = x->state;
    bool is_kept = false;
    write_answer(running);
    running->next = finish;
    running->n_waiting = 1;
    for (size_t i = 0; i < running->n_items; i++) {
        struct item *item = &running->items[i];
        if (item->state != ITEM_ASKED)
            continue;
        say_bye(item, said_bye);
        if (!is_kept)
            keep_answer(&item->bye, x);
        is_kept = true;
        running->n_waiting++;
        pl_session_command_send(&item->bye);
    }
    arrived(running);
}

/* --- what was said (worker) ------------------------------------------------------------------ */

static void read_all(struct pl_exchange *x)
{
    struct running *running = x->state;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < running->n_items && status == PL_OK; i++) {
        struct item *item = &running->items[i];
        if (item->state == ITEM_ASKED)
            status = pl_prompt_said_read(x->shard->server->store, &x->arena,
                                         item->background.record.id, &item->said, &err);
        if (item->said.model.len)
            pl_exchange_add_used(x, item->said.model, item->said.n_input, item->said.n_output);
        if (item->background.status == PL_SESSION_FAILED && !item->said.error.ptr)
            item->said.error = PL_STR("The model gave no answer.");
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

/* --- on its way ------------------------------------------------------------------------------ */

/* If every model refused, the answer is the problem of the first. */
static bool is_all_refused(struct running *running)
{
    for (size_t i = 0; i < running->n_items; i++)
        if (running->items[i].state != ITEM_REFUSED)
            return false;
    const struct pl_background_session *first = &running->items[0].background;
    pl_exchange_problem(running->x, first->problem, &first->err, NULL);
    return true;
}

static void all_arrived(struct running *running)
{
    struct pl_exchange *x = running->x;
    pl_timer_stop(x->shard->loop, &running->limit);
    if (is_all_refused(running) || !running->is_answer) {
        write_answer(running);
        finish(running);
    } else {
        pl_exchange_work(x, read_all, leave);
    }
}

static void refuse(struct item *item)
{
    const struct pl_background_session *background = &item->background;
    const char *says = background->err.message[0] ? background->err.message
                                                  : pl_problem_info(background->problem)->title;
    item->state = ITEM_REFUSED;
    item->said.error = pl_str_of(says);
}

static void send_rest(struct running *running);

static void started(struct pl_background_session *background)
{
    struct item *item = background->ctx;
    struct running *running = item->running;
    bool is_refused = background->problem != PL_PROBLEM_COUNT;
    if (is_refused) {
        refuse(item);
        /* Its transaction failed: the next one claims the key. */
        if (background->extend)
            pl_claim_forget_row(pl_exchange_claim(running->x));
    }
    if (background->extend)
        send_rest(running);
    if (is_refused || !background->done)
        arrived(running);
}

static void done(struct pl_background_session *background)
{
    struct item *item = background->ctx;
    if (item->state == ITEM_GONE) {
        background->status = PL_SESSION_INTERRUPTED;
        item->said.error = PL_STR("There was no answer within 30 minutes.");
    } else if (background->problem != PL_PROBLEM_COUNT) {
        background->status = PL_SESSION_INTERRUPTED;
        item->state = ITEM_GONE;
        item->said.error = PL_STR("The session was deleted, or the server stopped, before there "
                                  "was an answer.");
    }
    arrived(item->running);
}

/* Deletes sessions that still run, which ends their runs. */
static void too_late(struct pl_timer *timer)
{
    struct running *running = PL_CONTAINER_OF(timer, struct running, limit);
    for (size_t i = 0; i < running->n_items; i++) {
        struct item *item = &running->items[i];
        if (item->state == ITEM_REFUSED || item->background.status != PL_SESSION_RUNNING)
            continue;
        item->state = ITEM_GONE;
        say_bye(item, said_bye);
        running->n_waiting++;
        pl_session_command_send(&item->bye);
    }
}

static void claim(struct pl_background_session *background, struct pl_batch *batch)
{
    struct item *item = background->ctx;
    pl_claim_add(item->running->x, batch);
}

static bool claims(const struct running *running)
{
    const struct pl_claim *own = pl_exchange_claim(running->x);
    return own->key.len && !pl_claim_has_row(own);
}

static void send_item(struct item *item)
{
    struct running *running = item->running;
    struct pl_background_session *background = &item->background;
    if (pl_exchange_claim(running->x)->key.len)
        background->id = id_of(running, (size_t)(item - running->items), item->n_tries);
    if (background->id.text[0])
        background->record.id = pl_str_of(background->id.text);
    background->record.intent = running->run.name;
    background->record.status = PL_SESSION_CREATED;
    background->record.source = PL_STR("prompt");
    background->record.memory_enabled = !running->is_answer;
    background->record.version = background->record.epoch = 1;
    background->turns = running->run.turns;
    background->n_turns = running->run.n_turns;
    background->message = running->run.message;
    background->override = running->override;
    background->trace_id = pl_trace_id(running->x);
    background->record.settings = running->run.settings;
    background->record.tools = running->tools;
    background->extend = claims(running) ? claim : NULL;
    background->started = started;
    background->done = running->is_answer ? done : NULL;
    pl_background_session_send(background);
}

static void said_bye_to_old(struct pl_session_command *command)
{
    struct item *item = PL_CONTAINER_OF(command, struct item, bye);
    bool is_gone = command->problem == PL_PROBLEM_COUNT || command->problem == PL_PROBLEM_NOT_FOUND;
    item->background.problem = command->problem;
    item->background.err = command->err;
    pl_session_command_deinit(command);
    if (is_gone) {
        send_item(item);
        return;
    }
    refuse(item);
    arrived(item->running);
}

/* A session started before a crash is at rest. A message that the crash interrupted is sent
 * again. */
static void was_at_rest(struct pl_background_session *background)
{
    struct item *item = background->ctx;
    bool is_there = background->problem == PL_PROBLEM_COUNT;
    if (item->state == ITEM_GONE) {
        done(background);
        return;
    }
    if (is_there && background->status != PL_SESSION_INTERRUPTED) {
        arrived(item->running);
        return;
    }
    say_bye(item, said_bye_to_old);
    pl_session_command_send(&item->bye);
}

static void take_up(struct item *item)
{
    struct pl_background_session *background = &item->background;
    background->record.id = pl_str_of(background->id.text);
    background->status = PL_SESSION_RUNNING;
    if (!item->running->is_answer) {
        arrived(item->running);
        return;
    }
    background->done = was_at_rest;
    pl_background_session_wait(background);
}

/* Starts everything that can start now; a session that claims the key is awaited first. */
static void send_rest(struct running *running)
{
    bool is_claiming = false;
    while (running->n_sent < running->n_items && !is_claiming) {
        struct item *item = &running->items[running->n_sent++];
        is_claiming = claims(running);
        item->running = running;
        item->background.problem = PL_PROBLEM_COUNT;
        item->background.home = running->x->shard;
        item->background.record.user_id = running->x->caller.user_id;
        item->background.key_id = running->x->caller.key_id;
        item->background.ctx = item;
        running->n_waiting++;
        if (item->is_found)
            take_up(item);
        else
            send_item(item);
    }
}

static void planned(struct pl_exchange *x)
{
    struct running *running = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    running->next = all_arrived;
    running->n_waiting = 1;
    if (running->is_answer)
        pl_timer_start(x->shard->loop, &running->limit, MAX_WAIT_MS, too_late);
    send_rest(running);
    arrived(running);
}

static void prompt_run(struct pl_exchange *x)
{
    struct running *running = pl_exchange_room(x, sizeof *running);
    if (!running)
        return;
    running->x = x;
    running->seed = pl_claim_seed(x);
    x->state = running;
    pl_exchange_work(x, plan, planned);
}

const struct pl_route pl_routes_prompt_run[] = {
    {PL_METHOD_POST, "/api/prompts/{id}/run", PL_ROUTE_IDEMPOTENT | PL_ROUTE_RETELLS, PL_FOR_ALL,
     prompt_run, "prompt_run", "Run a prompt with one model, or with several side by side",
     "prompts", "PromptRun", "PromptRunResult", 201, NULL},
    {0},
};
