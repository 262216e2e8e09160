/* An ask: a request of a session to an extension, there and back.
 *
 *     machine ext-ask
 *
 *     NEW -> SENT -> WAITING -> QUEUED -> RUNNING -> ANSWERED
 *     SENT, WAITING, QUEUED -> ANSWERED       it could not be carried out, or nobody wants it any more
 *
 * From SENT to ANSWERED it belongs to the far side, the shard of the extension. Home has only `ctx`
 * and the number of pending letters, so a cancel and an answer may cross. */
#include "ext/run/broker/broker.h"

#include "base/mem.h"
#include "io/move.h"
#include "shard/setup.h"

#include <stdarg.h>
#include <stdio.h>

#define TO(name) PL_TO(PL_EXT_ASK_STATE_##name)
static const struct pl_state states[] = {
    [PL_EXT_ASK_STATE_NEW] = {"new", TO(SENT)},
    [PL_EXT_ASK_STATE_SENT] = {"sent", TO(WAITING) | TO(ANSWERED), PL_WAIT_OPEN, PL_CANCEL_LATER,
                               .why = "its letter is opened in the next turn of the loop"},
    [PL_EXT_ASK_STATE_WAITING] = {"waiting", TO(QUEUED) | TO(ANSWERED), PL_WAIT_SET,
                                  PL_CANCEL_LATER, .why = "the time an instance has to start"},
    [PL_EXT_ASK_STATE_QUEUED] = {"queued", TO(RUNNING) | TO(ANSWERED), PL_WAIT_SET, PL_CANCEL_LATER,
                                 .why = "the time of those before it"},
    [PL_EXT_ASK_STATE_RUNNING] = {"running", TO(ANSWERED), PL_WAIT_SET, PL_CANCEL_LATER,
                                  .why = "the time-out of the tool, command or hook"},
    [PL_EXT_ASK_STATE_ANSWERED] = {"answered", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("ext-ask", states);

void pl_ext_ask_become(struct pl_ext_ask *ask, enum pl_ext_ask_state state)
{
    ask->state = (enum pl_ext_ask_state)pl_move(&machine, ask, ask->state, state);
}

/* --- home ------------------------------------------------------------------------------------- */

struct pl_ext_ask *pl_ext_ask_create(struct pl_shard *home, enum pl_ext_ask_kind kind)
{
    struct pl_ext_ask *ask = pl_mem_alloc(1, sizeof *ask);
    if (!ask)
        return NULL;
    *ask = (struct pl_ext_ask){.kind = kind, .home = home, .hook = PL_EXT_HOOK_COUNT};
    pl_arena_init(&ask->arena, 0);
    pl_buf_init(&ask->reply, 0);
    pl_buf_init(&ask->progress, 0);
    return ask;
}

struct pl_str pl_ext_ask_keep(struct pl_ext_ask *ask, struct pl_str text)
{
    struct pl_str copy = pl_arena_dup(&ask->arena, text);
    if (!copy.ptr && text.len)
        ask->reply.status = PL_NOMEM;
    return copy;
}

void pl_ext_ask_destroy(struct pl_ext_ask *ask)
{
    pl_buf_deinit(&ask->reply);
    pl_buf_deinit(&ask->progress);
    pl_arena_deinit(&ask->arena);
    pl_mem_free(ask);
}

static void come_home(struct pl_ext_ask *ask)
{
    if (!--ask->n_away && ask->is_over)
        pl_ext_ask_destroy(ask);
}

static void on_home(struct pl_letter *letter)
{
    struct pl_ext_ask *ask = PL_CONTAINER_OF(letter, struct pl_ext_ask, letter);
    ask->is_over = true;
    if (ask->hash[0])
        pl_ext_audit_tool_call(ask, "tool_call.end", NULL, NULL);
    ask->done(ask);
    come_home(ask);
}

static void on_cancel_home(struct pl_letter *letter)
{
    come_home(PL_CONTAINER_OF(letter, struct pl_ext_ask, cancelling));
}

static struct pl_shard *far_of(const struct pl_ext_ask *ask)
{
    return pl_ext_shard_of(ask->home->server, ask->extension_id, ask->user_id);
}

static void on_cancelled(struct pl_letter *letter);
static void on_far(struct pl_letter *letter);

static void send(struct pl_ext_ask *ask)
{
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_SENT);
    ask->letter.open = on_far;
    pl_loop_post(far_of(ask)->loop, &ask->letter);
}

/* It returns without having been sent. */
static void fail_here(struct pl_ext_ask *ask, enum pl_tool_error error, const char *why)
{
    snprintf(ask->message, sizeof ask->message, "%s", why);
    ask->is_failed = true;
    ask->error = error;
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_SENT);
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_ANSWERED);
    ask->letter.open = on_home;
    pl_loop_post(ask->home->loop, &ask->letter);
}

static void on_audited(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_ext_ask *ask = ctx;
    char why[200];
    ask->is_auditing = false;
    if (status == PL_OK && ask->ctx) {
        send(ask);
        return;
    }
    snprintf(why, sizeof why, "No tool runs that cannot be audited: %.140s",
             status == PL_OK ? "" : err->message);
    fail_here(ask, status == PL_OK ? PL_TOOL_ERROR_INTERRUPTED : PL_TOOL_ERROR_NOT_AVAILABLE,
              status == PL_OK ? "It was cancelled" : why);
}

/* A tool call is durable in the audit before the extension gets it, because the calls inside an
 * adapter are not visible. */
void pl_ext_ask_send(struct pl_ext_ask *ask)
{
    struct pl_json_doc doc;
    ask->n_away = 1;
    ask->sent_ms = pl_loop_now_ms(ask->home->loop);
    if (ask->kind != PL_EXT_ASK_TOOL) {
        send(ask);
        return;
    }
    struct pl_str input = ask->input.len ? ask->input : PL_STR("{}");
    if (ask->reply.status != PL_OK ||
        pl_json_parse(&ask->arena, input, &pl_json_own, &doc, NULL) != PL_OK ||
        pl_ext_params_hash(ask->name, &doc, doc.root, ask->hash) != PL_OK) {
        ask->hash[0] = '\0';
        fail_here(ask, PL_TOOL_ERROR_MEMORY, "Out of memory.");
        return;
    }
    ask->is_auditing = true;
    pl_ext_audit_tool_call(ask, "tool_call.start", on_audited, ask);
}

void pl_ext_ask_cancel(struct pl_ext_ask *ask)
{
    if (!ask || !ask->ctx)
        return;
    ask->ctx = NULL;
    if (ask->is_over || ask->is_auditing)
        return;
    ask->n_away++;
    ask->cancelling.open = on_cancelled;
    pl_loop_post(far_of(ask)->loop, &ask->cancelling);
}

/* --- progress --------------------------------------------------------------------------------- */

enum { PROGRESS_MS = 100 };

struct telling {
    struct pl_letter letter;
    struct pl_ext_ask *ask;
    size_t n;
    char content[];
};

/* Letters of one sender arrive in order, so the ask is not home yet. */
static void on_told(struct pl_letter *letter)
{
    struct telling *telling = PL_CONTAINER_OF(letter, struct telling, letter);
    if (telling->ask->ctx && telling->ask->update)
        telling->ask->update(telling->ask, (struct pl_str){telling->content, telling->n});
    pl_mem_free(telling);
}

static void tell(struct pl_ext_ask *ask, struct pl_str content)
{
    struct telling *telling = pl_mem_alloc(1, sizeof *telling + content.len);
    if (!telling)
        return;
    *telling = (struct telling){.letter.open = on_told, .ask = ask, .n = content.len};
    memcpy(telling->content, content.ptr, content.len);
    pl_loop_post(ask->home->loop, &telling->letter);
}

static void tell_newest(struct pl_ext_ask *ask)
{
    if (ask->progress.len && ask->progress.status == PL_OK)
        tell(ask, pl_buf_str(&ask->progress));
    pl_buf_deinit(&ask->progress);
    pl_buf_init(&ask->progress, 0);
}

static void on_progressing(struct pl_timer *timer)
{
    struct pl_ext_ask *ask = PL_CONTAINER_OF(timer, struct pl_ext_ask, progressing);
    bool has_more = ask->progress.len;
    tell_newest(ask);
    if (has_more)
        pl_timer_start(ask->instance->exts->loop, timer, PROGRESS_MS, on_progressing);
}

/* Each replaces the last: the first is sent at once, then the newest, ten times a second. Each
 * of them goes to all clients of the user. */
void pl_ext_ask_tell(struct pl_ext_ask *ask, struct pl_str content)
{
    if (!ask->update)
        return;
    if (pl_timer_is_on(&ask->progressing)) {
        pl_buf_clear(&ask->progress);
        pl_buf_add(&ask->progress, content);
        return;
    }
    tell(ask, content);
    pl_timer_start(ask->instance->exts->loop, &ask->progressing, PROGRESS_MS, on_progressing);
}

static void end_progress(struct pl_ext_ask *ask, struct pl_loop *loop)
{
    pl_timer_stop(loop, &ask->progressing);
    tell_newest(ask);
}

/* --- answering -------------------------------------------------------------------------------- */

static void take_out(struct pl_ext_ask *ask, struct pl_ext_ask **list)
{
    for (struct pl_ext_ask **at = list; *at; at = &(*at)->next)
        if (*at == ask) {
            *at = ask->next;
            return;
        }
}

/* Removes it from the place or the instance, and sends it home. */
static void finish(struct pl_ext_ask *ask)
{
    struct pl_ext_instance *instance = ask->instance;
    struct pl_ext_shard *exts = far_of(ask)->exts;
    bool was_waiting = ask->state == PL_EXT_ASK_STATE_WAITING;
    pl_timer_stop(exts->loop, &ask->timer);
    end_progress(ask, exts->loop);
    pl_question_leave_call(ask);
    if (was_waiting) {
        struct pl_ext_place *place = pl_ext_place_find(exts, ask->extension_id, ask->user_id);
        if (place) {
            take_out(ask, &place->waiting);
            place->last_waiting = place->waiting;
            while (place->last_waiting && place->last_waiting->next)
                place->last_waiting = place->last_waiting->next;
        }
    }
    if (instance) {
        struct pl_ext_call *call = pl_ext_calls_find(&instance->out, pl_str_of(ask->call_id));
        take_out(ask, &instance->asks);
        if (call)
            pl_ext_calls_end(&instance->out, call);
        pl_ext_hostcalls_end(instance, ask);
        ask->instance = NULL;
        pl_ext_adapter_sweep(instance);
    }
    pl_ext_ask_cancel(PL_TAKE(ask->nested));
    pl_ext_audit_flush(exts); /* in the audit, its actions precede its end */
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_ANSWERED);
    ask->letter.open = on_home;
    pl_loop_post(ask->home->loop, &ask->letter);
    if (instance && !instance->is_over) {
        pl_ext_place_ready(instance->place);
        pl_ext_asks_pump(instance);
    }
}

void pl_ext_ask_answer(struct pl_ext_ask *ask, struct pl_str reply, bool is_error)
{
    pl_buf_add(&ask->reply, reply);
    ask->is_error = is_error;
    ask->is_failed = ask->reply.status != PL_OK;
    if (ask->is_failed) {
        ask->error = PL_TOOL_ERROR_MEMORY;
        snprintf(ask->message, sizeof ask->message, "Out of memory.");
    }
    finish(ask);
}

void pl_ext_ask_fail(struct pl_ext_ask *ask, enum pl_tool_error error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ask->message, sizeof ask->message, format, args);
    va_end(args);
    ask->is_failed = true;
    ask->error = error;
    finish(ask);
}

/* --- the far side ----------------------------------------------------------------------------- */

static void on_waited(struct pl_timer *timer)
{
    pl_ext_ask_fail(PL_CONTAINER_OF(timer, struct pl_ext_ask, timer), PL_TOOL_ERROR_TIMEOUT,
                    "The extension did not become ready in time");
}

static int64_t wait_ms(const struct pl_ext_ask *ask)
{
    enum { HOOK_MS = 15000, OTHER_MS = 75000 }; /* a start; a start after a crash */
    return ask->kind == PL_EXT_ASK_HOOK || ask->kind == PL_EXT_ASK_EVENT ? HOOK_MS : OTHER_MS;
}

static void stop_instance(struct pl_ext_shard *exts, struct pl_ext_ask *ask)
{
    struct pl_ext_place *place = pl_ext_place_find(exts, ask->extension_id, ask->user_id);
    if (place)
        pl_ext_place_pardon(place);
    if (place && place->instance)
        pl_ext_instance_stop(place->instance, "it is restarted, or was changed");
    pl_ext_ask_answer(ask, PL_STR("{}"), false);
}

static void on_far(struct pl_letter *letter)
{
    struct pl_ext_ask *ask = PL_CONTAINER_OF(letter, struct pl_ext_ask, letter);
    struct pl_ext_shard *exts = far_of(ask)->exts;
    if (!exts || exts->is_stopping) {
        snprintf(ask->message, sizeof ask->message, "The server ends");
        ask->is_failed = true;
        ask->error = PL_TOOL_ERROR_INTERRUPTED;
        pl_ext_ask_become(ask, PL_EXT_ASK_STATE_ANSWERED);
        ask->letter.open = on_home;
        pl_loop_post(ask->home->loop, &ask->letter);
        return;
    }
    if (ask->kind == PL_EXT_ASK_STOP) {
        stop_instance(exts, ask);
        return;
    }
    /* An ask that ran out of memory has no place: its ids may be missing. */
    struct pl_ext_place *place =
        ask->reply.status == PL_OK ? pl_ext_place_get(exts, ask->extension_id, ask->user_id) : NULL;
    if (!place) {
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_MEMORY, "Out of memory.");
        return;
    }
    pl_timer_start(exts->loop, &ask->timer, wait_ms(ask), on_waited);
    pl_ext_place_take(place, ask);
}

/* --- cancelling ------------------------------------------------------------------------------- */

static void tell_cancel(struct pl_ext_ask *ask)
{
    PL_CLEANUP_BUF struct pl_buf line;
    if (ask->state != PL_EXT_ASK_STATE_RUNNING || !ask->instance || ask->question)
        return;
    pl_buf_init(&line, 0);
    struct pl_json_out out =
        pl_ext_frame_begin(&line, PL_EXT_TYPE_EVENT_HOOK, pl_str_of(ask->call_id));
    pl_json_out_key(&out, "event");
    pl_json_out_text(&out, PL_STR("cancel"));
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "call_id");
    pl_json_out_text(&out, pl_str_of(ask->call_id));
    pl_json_out_close(&out, '}');
    pl_ext_frame_end(&out);
    pl_ext_instance_send(ask->instance, &line);
}

static void on_cancelled(struct pl_letter *letter)
{
    struct pl_ext_ask *ask = PL_CONTAINER_OF(letter, struct pl_ext_ask, cancelling);
    struct pl_loop *home = ask->home->loop;
    if (ask->state != PL_EXT_ASK_STATE_ANSWERED) {
        tell_cancel(ask);
        if (ask->state != PL_EXT_ASK_STATE_ANSWERED)
            pl_ext_ask_fail(ask, PL_TOOL_ERROR_INTERRUPTED, "It was cancelled");
    }
    ask->cancelling.open = on_cancel_home;
    pl_loop_post(home, &ask->cancelling);
}

/* --- the clock -------------------------------------------------------------------------------- */

static void on_late(struct pl_timer *timer)
{
    struct pl_ext_ask *ask = PL_CONTAINER_OF(timer, struct pl_ext_ask, timer);
    tell_cancel(ask);
    if (ask->state == PL_EXT_ASK_STATE_RUNNING)
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_TIMEOUT, "The extension %.*s did not answer in time",
                        PL_STR_ARG(ask->extension_id));
}

void pl_ext_ask_hold_clock(struct pl_ext_ask *ask)
{
    struct pl_loop *loop = ask->instance->exts->loop;
    if (ask->n_questions++ || !pl_timer_is_on(&ask->timer))
        return;
    ask->left_ms = ask->timer.due_ms - pl_loop_now_ms(loop);
    pl_timer_stop(loop, &ask->timer);
}

void pl_ext_ask_let_clock(struct pl_ext_ask *ask)
{
    if (--ask->n_questions || !ask->left_ms)
        return;
    pl_timer_start(ask->instance->exts->loop, &ask->timer, ask->left_ms > 1 ? ask->left_ms : 1,
                   on_late);
    ask->left_ms = 0;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int64_t limit_ms(const struct pl_ext_ask *ask)
{
    static const int64_t defaults[] = {
        [PL_EXT_ASK_TOOL] = PL_EXT_TOOL_MS,
        [PL_EXT_ASK_COMMAND] = PL_EXT_COMMAND_MS,
        [PL_EXT_ASK_HOOK] = PL_EXT_HOOK_MS,
    };
    int64_t ms = ask->timeout_ms > 0 ? ask->timeout_ms : defaults[ask->kind];
    return ms < PL_EXT_MOST_MS ? ms : PL_EXT_MOST_MS;
}

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void write_context(const struct pl_ext_ask *ask, struct pl_json_out *out, int64_t deadline)
{
    const struct pl_server_config *config = &ask->instance->exts->shard->setup->config;
    pl_json_out_key(out, "context");
    pl_json_out_open(out, '{');
    put(out, "session_id", ask->session_id);
    put(out, "turn_id", ask->turn_id);
    put(out, "loop_id", ask->loop_id);
    put(out, "tool_call_id", ask->tool_call_id);
    pl_json_out_key(out, "deadline_ms");
    pl_json_out_int(out, deadline);
    pl_json_out_key(out, "has_person");
    pl_json_out_bool(out, ask->has_person);
    pl_json_out_key(out, "workspace");
    pl_json_out_bool(out, config->workspace && !ask->instance->is_remote);
    pl_json_out_close(out, '}');
}

static struct pl_str or_object(struct pl_str json)
{
    return json.len ? json : PL_STR("{}");
}

static void write_tool(struct pl_ext_ask *ask, struct pl_buf *line)
{
    struct pl_str id = pl_str_of(ask->call_id);
    struct pl_json_out out = pl_ext_frame_begin(line, PL_EXT_TYPE_TOOL_CALL, id);
    int64_t unix_ms = pl_loop_unix_ms(ask->instance->exts->loop);
    put(&out, "call_id", id);
    put(&out, "name", ask->name);
    pl_json_out_key(&out, "input");
    pl_json_out_raw(&out, or_object(ask->input));
    write_context(ask, &out, unix_ms + limit_ms(ask));
    pl_ext_frame_end(&out);
}

static void write_command(struct pl_ext_ask *ask, struct pl_buf *line)
{
    struct pl_json_out out =
        pl_ext_frame_begin(line, PL_EXT_TYPE_SLASH_COMMAND, pl_str_of(ask->call_id));
    put(&out, "name", ask->name);
    pl_json_out_key(&out, "args");
    pl_json_out_raw(&out, ask->args.len ? ask->args : PL_STR("[]"));
    pl_json_out_key(&out, "input");
    pl_json_out_raw(&out, or_object(ask->input));
    pl_ext_frame_end(&out);
}

static void write_hook(struct pl_ext_ask *ask, struct pl_buf *line)
{
    struct pl_json_out out =
        pl_ext_frame_begin(line, PL_EXT_TYPE_EVENT_HOOK, pl_str_of(ask->call_id));
    put(&out, "event",
        ask->hook < PL_EXT_HOOK_COUNT ? pl_str_of(pl_ext_hook_text(ask->hook)) : ask->name);
    pl_json_out_key(&out, "data");
    pl_json_out_raw(&out, or_object(ask->input));
    pl_ext_frame_end(&out);
}

static void send_frame(struct pl_ext_ask *ask)
{
    static void (*const writers[])(struct pl_ext_ask *, struct pl_buf *) = {
        [PL_EXT_ASK_TOOL] = write_tool,
        [PL_EXT_ASK_COMMAND] = write_command,
        [PL_EXT_ASK_HOOK] = write_hook,
    };
    struct pl_ext_instance *instance = ask->instance;
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    writers[ask->kind](ask, &line);
    if (line.len > PL_EXT_LINE_BYTES) {
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_LIMIT,
                        "What it would be sent is longer than a line may be (8 MiB)");
        return;
    }
    pl_ext_instance_send(instance, &line);
}

static void run(struct pl_ext_ask *ask)
{
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_RUNNING);
    pl_timer_start(ask->instance->exts->loop, &ask->timer, limit_ms(ask), on_late);
    if (!pl_ext_first_call(ask, send_frame))
        send_frame(ask);
}

void pl_ext_asks_pump(struct pl_ext_instance *instance)
{
    struct pl_ext_call *call;
    while (!instance->is_over && instance->life == PL_EXT_LIFE_READY &&
           (call = pl_ext_calls_next(&instance->out)))
        run(call->thing);
}

/* Only the newest update counts: a slow reader gets no more of them than it reads. */
static bool is_superfluous(const struct pl_ext_ask *ask, const struct pl_ext_instance *instance)
{
    enum { UNREAD = 256 << 10 };
    return ask->hook == PL_EXT_HOOK_MESSAGE_UPDATE && instance->channel &&
           pl_ext_channel_n_written(instance->channel) - pl_ext_channel_n_taken(instance->channel) >
               UNREAD;
}

static void send_event(struct pl_ext_ask *ask, struct pl_ext_instance *instance)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    write_hook(ask, &line);
    if (line.len <= PL_EXT_LINE_BYTES && !is_superfluous(ask, instance))
        pl_ext_instance_send(instance, &line);
    pl_ext_ask_answer(ask, PL_STR("{}"), false);
}

void pl_ext_ask_queue(struct pl_ext_ask *ask, struct pl_ext_instance *instance)
{
    struct pl_id_seed seed = pl_shard_seed(instance->exts->shard);
    struct pl_id id = pl_id_take(&seed, "call_");
    memcpy(ask->call_id, id.text, sizeof ask->call_id);
    pl_timer_stop(instance->exts->loop, &ask->timer);
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_QUEUED);
    if (ask->kind == PL_EXT_ASK_WAKE) {
        pl_ext_ask_answer(ask, PL_STR("{}"), false);
        return;
    }
    if (ask->kind == PL_EXT_ASK_EVENT) {
        send_event(ask, instance);
        return;
    }
    enum pl_status status = pl_ext_calls_add(&instance->out, pl_str_of(ask->call_id), ask);
    if (status != PL_OK) {
        pl_ext_ask_fail(ask, status == PL_LIMIT ? PL_TOOL_ERROR_LIMIT : PL_TOOL_ERROR_MEMORY,
                        status == PL_LIMIT ? "256 calls wait for this extension already"
                                           : "Out of memory.");
        return;
    }
    ask->instance = instance;
    ask->next = instance->asks;
    instance->asks = ask;
    pl_ext_asks_pump(instance);
}

struct pl_ext_ask *pl_ext_ask_find(struct pl_ext_instance *instance, struct pl_str id)
{
    struct pl_ext_call *call = pl_ext_calls_find(&instance->out, id);
    return call && call->state == PL_EXT_CALL_RUNNING ? call->thing : NULL;
}
