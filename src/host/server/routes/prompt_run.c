/* Running a prompt: a session per model, side by side.
 *
 *     plan (worker) -> an errand each -> all begun: "session" answers
 *                                     -> all at rest: "answer" reads what was said (worker),
 *                                        deletes the sessions, answers
 *
 * Everything is of the exchange's arena, and the exchange is answered when nothing is on its way
 * any more: n_waiting counts that. A client that goes away changes nothing. */
#include "base/table.h"
#include "io/clock.h"
#include "json/text.h"
#include "model/model.h"
#include "server/asking.h"
#include "server/errand.h"
#include "server/exchange_int.h"
#include "server/prompt_exchange.h"
#include "server/prompt_run.h"
#include "server/setup.h"
#include "server/wishes.h"

#include <stdio.h>

enum { MAX_MODELS = 8, NEWEST_TURNS = 16 };
#define MAX_WAIT_MS (INT64_C(30) * 60 * 1000)

struct item {
    struct running *running;
    struct pl_errand errand;
    struct pl_ask bye;               /* deletes the session */
    struct pl_str text, turn, error; /* what is told; ptr NULL: null */
    bool is_refused, is_late, is_leaving;
};

struct running {
    struct pl_exchange *x;
    struct pl_prompt_run run;
    struct pl_str prompt_id;
    bool is_answer;
    struct item *items;
    size_t n_items, n_waiting;
    struct pl_timer limit;
    void (*next)(struct running *running); /* when nothing is waited for */
};

/* --- plan (worker) --------------------------------------------------------------------------- */

static bool read_models(struct pl_exchange *x, struct running *running)
{
    struct pl_str one = pl_body_text(x, "model");
    const struct pl_json_node *list =
        x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("models")) : NULL;
    running->n_items = list ? pl_json_count(list) : 1;
    running->items = pl_arena_zalloc(&x->arena, running->n_items, sizeof *running->items);
    if (!running->items || running->n_items > MAX_MODELS) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return false;
    }
    if (!list) {
        running->items[0].errand.record.model = running->run.model;
        return !one.len || pl_wish_model(x, one, "/model", &running->items[0].errand.record.model);
    }
    const struct pl_json_node *node = pl_json_first(list);
    for (size_t i = 0; i < running->n_items; i++, node = pl_json_next(node)) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/models/%zu", i);
        if (pl_json_text(&x->arena, &x->body, node, &one) != PL_OK) {
            pl_exchange_fail(x, PL_NOMEM, NULL);
            return false;
        }
        if (!pl_wish_model(x, one, pointer, &running->items[i].errand.record.model))
            return false;
    }
    return true;
}

static bool make_run(struct pl_exchange *x, const struct pl_prompt_version_row *version,
                     struct pl_prompt_run *ret_run)
{
    struct pl_prompt_text text = pl_prompt_text_of(version);
    struct pl_render_opts opts = {0};
    struct pl_rendered rendered;
    struct pl_error err = {0};
    if (!pl_body_vars(x, &opts))
        return false;
    pl_rendered_init(&rendered);
    enum pl_status status = pl_prompt_run_make(x->setup->models, &x->arena, &text, &opts,
                                               pl_clock_unix_ms(), &rendered, ret_run, &err);
    if (status != PL_OK && !pl_exchange_fail_vars(x, status, &rendered))
        pl_exchange_fail(x, status, &err);
    pl_rendered_deinit(&rendered);
    return status == PL_OK;
}

static void plan(struct pl_exchange *x)
{
    struct running *running = pl_arena_zalloc(&x->arena, 1, sizeof *running);
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    x->state = running;
    if (!running)
        pl_exchange_fail(x, PL_NOMEM, NULL);
    if (!running || !pl_prompt_find_named(x, &prompt, &version) ||
        !make_run(x, &version, &running->run))
        return;
    running->x = x;
    running->prompt_id = prompt.id;
    running->run.name = prompt.name;
    running->run.version = version.version;
    running->is_answer = pl_str_eq(pl_body_text(x, "mode"), PL_STR("answer"));
    (void)read_models(x, running);
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

/* The one that the session was made with, or the server's. */
static struct pl_str model_of(const struct item *item)
{
    const struct pl_setup *setup = item->running->x->setup;
    if (item->errand.record.model.len)
        return item->errand.record.model;
    struct pl_str name = pl_str_of(setup->config.default_model);
    const struct pl_model_info *info = pl_model_find(setup->models, name);
    return info ? pl_model_name(info, name) : name;
}

static void write_item(struct pl_json_out *out, const struct item *item)
{
    const struct pl_errand *errand = &item->errand;
    bool is_kept = !item->is_refused && !item->running->is_answer;
    enum pl_session_status status = item->is_refused ? PL_SESSION_FAILED : errand->status;
    pl_json_out_open(out, '{');
    write_text(out, "model", model_of(item));
    write_text(out, "session_id", is_kept ? errand->record.id : (struct pl_str){0});
    write_text(out, "status", pl_str_of(pl_session_status_text(status)));
    write_text(out, "text", item->text);
    pl_json_out_key(out, "turn");
    pl_json_out_raw(out, item->turn.ptr ? item->turn : PL_STR("null"));
    write_text(out, "error", item->error);
    pl_json_out_close(out, '}');
}

static void answer(struct running *running)
{
    struct pl_exchange *x = running->x;
    if (!x->is_problem) {
        struct pl_json_out out = pl_json_out(&x->reply);
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
    pl_exchange_finish(x);
}

/* One thing less is on its way. */
static void arrived(struct running *running)
{
    if (--running->n_waiting == 0)
        running->next(running);
}

/* --- leaving --------------------------------------------------------------------------------- */

static void said_bye(struct pl_ask *ask)
{
    struct item *item = PL_CONTAINER_OF(ask, struct item, bye);
    pl_ask_deinit(ask);
    arrived(item->running);
}

static void say_bye(struct item *item)
{
    const struct pl_session_record *record = &item->errand.record;
    item->is_leaving = true;
    item->running->n_waiting++;
    pl_ask_init(&item->bye, PL_ASK_DELETE, item->running->x->shard, record->user_id, record->id);
    item->bye.if_version = -1;
    item->bye.done = said_bye;
    pl_ask_send(&item->bye);
}

/* The sessions were only there to be asked. */
static void leave(struct pl_exchange *x)
{
    struct running *running = x->state;
    running->next = answer;
    running->n_waiting = 1;
    for (size_t i = 0; i < running->n_items; i++)
        if (!running->items[i].is_refused && !running->items[i].is_leaving)
            say_bye(&running->items[i]);
    arrived(running);
}

/* --- what was said (worker) ------------------------------------------------------------------ */

/* The texts of a turn, one behind the other, and its error. */
static enum pl_status read_said(struct pl_arena *arena, struct item *item)
{
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 0);
    enum pl_status status = pl_json_parse(arena, item->turn, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *blocks = pl_json_get(&doc, doc.root, PL_STR("blocks"));
    const struct pl_json_node *error = pl_json_get(&doc, doc.root, PL_STR("error"));
    for (const struct pl_json_node *block = pl_json_first(blocks);
         block < pl_json_end(blocks) && status == PL_OK; block = pl_json_next(block)) {
        const struct pl_json_node *type = pl_json_get(&doc, block, PL_STR("type"));
        const struct pl_json_node *content = pl_json_get(&doc, block, PL_STR("content"));
        struct pl_str text = {0};
        if (!type || !content || pl_json_kind(content) != PL_JSON_STRING ||
            !pl_json_text_is(&doc, type, PL_STR("text")))
            continue;
        status = pl_json_text(arena, &doc, content, &text);
        pl_buf_add(&words, text);
    }
    if (status == PL_OK && error && pl_json_kind(error) == PL_JSON_STRING)
        status = pl_json_text(arena, &doc, error, &item->error);
    item->text = words.len ? pl_arena_dup(arena, pl_buf_str(&words)) : PL_STR("");
    return status == PL_OK && (words.status != PL_OK || !item->text.ptr) ? PL_NOMEM : status;
}

static enum pl_status is_assistants(struct pl_arena *arena, struct pl_str turn, bool *ret_is)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, turn, &pl_json_own, &doc, NULL);
    const struct pl_json_node *role =
        status == PL_OK ? pl_json_get(&doc, doc.root, PL_STR("role")) : NULL;
    *ret_is = role && pl_json_text_is(&doc, role, PL_STR("assistant"));
    return status;
}

/* The last turn of the assistant, with what it says. */
static enum pl_status read_item(struct pl_exchange *x, struct item *item, struct pl_error *err)
{
    struct pl_turn_query query = {
        .session_id = item->errand.record.id,
        .loop_id = PL_STR("root"),
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = NEWEST_TURNS,
        .is_newest_first = true,
    };
    struct pl_turn_page page = {0};
    enum pl_status status =
        pl_store_turn_list(x->shard->server->store, &x->arena, &query, &page, err);
    for (size_t i = page.n_items; i > 0 && status == PL_OK && !item->turn.ptr; i--) {
        PL_CLEANUP_BUF struct pl_buf turn;
        bool is_it = false;
        pl_buf_init(&turn, 0);
        status = pl_turn_row_write(&page.items[i - 1], &turn);
        if (status == PL_OK)
            status = is_assistants(&x->arena, pl_buf_str(&turn), &is_it);
        if (status == PL_OK && is_it)
            item->turn = pl_arena_dup(&x->arena, pl_buf_str(&turn));
        if (status == PL_OK && is_it && !item->turn.ptr)
            status = PL_NOMEM;
    }
    if (status == PL_OK && item->turn.ptr)
        status = read_said(&x->arena, item);
    return status;
}

static void read_all(struct pl_exchange *x)
{
    struct running *running = x->state;
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < running->n_items && status == PL_OK; i++) {
        struct item *item = &running->items[i];
        if (!item->is_refused && !item->is_late)
            status = read_item(x, item, &err);
        if (item->errand.status == PL_SESSION_FAILED && !item->error.ptr)
            item->error = PL_STR("The model gave no answer.");
    }
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

/* --- on its way ------------------------------------------------------------------------------ */

/* When nobody would take it, the answer is the first one's problem. */
static bool is_all_refused(struct running *running)
{
    for (size_t i = 0; i < running->n_items; i++)
        if (!running->items[i].is_refused)
            return false;
    const struct pl_errand *first = &running->items[0].errand;
    pl_exchange_problem(running->x, first->problem, &first->err, NULL);
    return true;
}

static void all_arrived(struct running *running)
{
    struct pl_exchange *x = running->x;
    pl_timer_stop(x->shard->loop, &running->limit);
    if (is_all_refused(running) || !running->is_answer)
        answer(running);
    else
        pl_exchange_work(x, read_all, leave);
}

static void refuse(struct item *item)
{
    const struct pl_errand *errand = &item->errand;
    const char *says =
        errand->err.message[0] ? errand->err.message : pl_problem_info(errand->problem)->title;
    item->is_refused = true;
    item->error = pl_str_of(says);
}

static void started(struct pl_errand *errand)
{
    struct item *item = errand->ctx;
    bool is_refused = errand->problem != PL_PROBLEM_COUNT;
    if (is_refused) {
        refuse(item);
        /* Its transaction did not come about: the key is claimed when the answer is kept. */
        if (errand->extend)
            pl_exchange_own(item->running->x)->claim.is_added = false;
    }
    if (is_refused || !errand->done)
        arrived(item->running);
}

static void done(struct pl_errand *errand)
{
    struct item *item = errand->ctx;
    if (item->is_late) {
        errand->status = PL_SESSION_INTERRUPTED;
        item->error = PL_STR("There was no answer within 30 minutes.");
    } else if (errand->problem != PL_PROBLEM_COUNT) {
        errand->status = PL_SESSION_INTERRUPTED;
        item->is_late = item->is_leaving = true; /* nothing there to be read or deleted */
        item->error = PL_STR("The session was deleted, or the server went away, before it had "
                             "answered.");
    }
    arrived(item->running);
}

/* A session that is deleted is at rest: its errand ends with that. */
static void too_late(struct pl_timer *timer)
{
    struct running *running = PL_CONTAINER_OF(timer, struct running, limit);
    for (size_t i = 0; i < running->n_items; i++) {
        struct item *item = &running->items[i];
        if (item->is_refused || item->errand.status != PL_SESSION_RUNNING)
            continue;
        item->is_late = true;
        say_bye(item);
    }
}

static void claim(struct pl_errand *errand, struct pl_batch *batch)
{
    struct item *item = errand->ctx;
    pl_claim_add(pl_exchange_own(item->running->x), batch);
}

static void send_item(struct running *running, struct item *item)
{
    struct pl_exchange *x = running->x;
    struct pl_errand *errand = &item->errand;
    item->running = running;
    errand->home = x->shard;
    errand->record.user_id = x->caller.user_id;
    errand->record.intent = running->run.name;
    errand->record.status = PL_SESSION_CREATED;
    errand->record.memory_enabled = !running->is_answer;
    errand->record.version = errand->record.epoch = 1;
    errand->turns = running->run.turns;
    errand->n_turns = running->run.n_turns;
    errand->message = running->run.message;
    errand->extend = item == running->items ? claim : NULL;
    errand->started = started;
    errand->done = running->is_answer ? done : NULL;
    errand->ctx = item;
    running->n_waiting++;
    pl_errand_send(errand);
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
    for (size_t i = 0; i < running->n_items; i++)
        send_item(running, &running->items[i]);
    arrived(running);
}

static void prompt_run(struct pl_exchange *x)
{
    pl_exchange_work(x, plan, planned);
}

const struct pl_route pl_routes_prompt_run[] = {
    {PL_METHOD_POST, "/api/prompts/{id}/run", PL_ROUTE_IDEMPOTENT, prompt_run, "prompt_run",
     "Say a prompt to a model, or to several side by side", "prompts", "PromptRun",
     "PromptRunResult", 201, NULL},
    {0},
};
