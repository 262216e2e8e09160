/* A host call from its frame to its one result.
 *
 *     machine hostcall
 *
 *     QUEUED -> ASKING -> AUDITING -> RUNNING -> WORKING -> RUNNING -> OVER
 *     QUEUED -> HOOKING -> ASKING, AUDITING, RUNNING   a call of a tool: extensions look at it first
 *     ASKING -> HOOKING                   an extension had a person asked
 *     QUEUED -> AUDITING                  nobody needs to be asked
 *     QUEUED, ASKING -> RUNNING           nothing needs to be durable before it runs
 *     QUEUED, HOOKING, ASKING -> OVER     denied, wrong, or its end came first
 *     RUNNING -> ASKING                   the method itself asks a person
 *     AUDITING, WORKING -> LEFT -> OVER   the same, while the store or a worker has it
 *
 * It belongs to the open call, command or hook that its context names, and ends with it. */
#include "ext/run/broker/broker.h"

#include "base/ascii.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "io/move.h"
#include "json/number.h"
#include "json/text.h"
#include "shard/log.h"

#include <stdarg.h>
#include <stdio.h>

#define TO(name) PL_TO(PL_HOSTCALL_##name)
static const struct pl_state states[] = {
    [PL_HOSTCALL_QUEUED] = {"queued",
                            TO(HOOKING) | TO(ASKING) | TO(AUDITING) | TO(RUNNING) | TO(OVER),
                            PL_WAIT_SET, PL_CANCEL_ENDS,
                            .why = "sixteen others, each with its time"},
    [PL_HOSTCALL_HOOKING] = {"hooking", TO(ASKING) | TO(AUDITING) | TO(RUNNING) | TO(OVER),
                             PL_WAIT_SET, PL_CANCEL_ENDS, .why = "five seconds for each hook"},
    [PL_HOSTCALL_ASKING] = {"asking", TO(HOOKING) | TO(AUDITING) | TO(RUNNING) | TO(OVER),
                            PL_WAIT_SET, PL_CANCEL_ENDS, .why = "ten minutes, of the question"},
    [PL_HOSTCALL_AUDITING] = {"auditing", TO(RUNNING) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER,
                              .why = "the store answers every batch"},
    [PL_HOSTCALL_RUNNING] = {"running", TO(WORKING) | TO(ASKING) | TO(OVER), PL_WAIT_SET,
                             PL_CANCEL_ENDS, .why = "the call's own time"},
    [PL_HOSTCALL_WORKING] = {"working", TO(RUNNING) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER,
                             .why = "a worker always comes back"},
    [PL_HOSTCALL_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                          .why = "the store or the worker comes back"},
    [PL_HOSTCALL_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("hostcall", states);

void pl_hostcall_become(struct pl_ext_hostcall *call, enum pl_hostcall_state state)
{
    call->state = (enum pl_hostcall_state)pl_move(&machine, call, call->state, state);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void destroy(struct pl_ext_hostcall *call)
{
    if (call->clean)
        call->clean(call);
    pl_ext_known_release(call->known);
    pl_ext_registered_release(call->registered);
    pl_ext_registered_release(call->first);
    pl_buf_deinit(&call->output);
    pl_buf_deinit(&call->line);
    pl_arena_deinit(&call->line_arena);
    pl_arena_deinit(&call->arena);
    pl_mem_free(call);
}

/* Keeps a small buffer for the next call. */
static void keep_output(struct pl_ext_hostcall *call)
{
    enum { SMALL = 4096 };
    struct pl_ext_shard *exts = call->exts;
    if (exts->spare.ptr || call->output.cap > SMALL) {
        pl_buf_deinit(&call->output);
        return;
    }
    exts->spare = call->output;
    pl_buf_clear(&exts->spare);
    pl_buf_init(&call->output, 0);
}

static void take_output(struct pl_ext_hostcall *call)
{
    struct pl_ext_shard *exts = call->exts;
    if (exts->spare.ptr)
        call->output = exts->spare;
    else
        pl_buf_init(&call->output, 0);
    exts->spare = (struct pl_buf){0};
}

static void on_bury(struct pl_loop_hook *hook)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(hook, struct pl_ext_hostcall, bury);
    keep_output(call);
    destroy(call);
}

/* Removes it from the instance's lists; it is freed at the end of this turn of the loop, or when it
 * is back. */
static void leave(struct pl_ext_hostcall *call)
{
    struct pl_ext_instance *instance = call->instance;
    struct pl_ext_call *entry =
        call->entry ? call->entry : pl_ext_calls_find(&instance->in, call->call_id);
    pl_timer_stop(call->exts->loop, &call->timer);
    pl_timer_stop(call->exts->loop, &call->stalled);
    for (struct pl_ext_hostcall **at = &instance->hostcalls; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    if (entry)
        pl_ext_calls_end(&instance->in, entry);
    if (call->state == PL_HOSTCALL_ASKING)
        pl_question_leave(call);
    pl_ext_chain_cancel(PL_TAKE(call->chain));
    call->parent = NULL;
    call->instance = NULL;
    bool is_away = pl_machine_is_away(&machine, call->state);
    pl_hostcall_become(call, is_away ? PL_HOSTCALL_LEFT : PL_HOSTCALL_OVER);
    if (!is_away)
        pl_loop_hook_add(call->exts->loop, &call->bury);
}

/* The store or the worker is done, and nobody waits for the call. */
static void come_back_late(struct pl_ext_hostcall *call)
{
    pl_hostcall_become(call, PL_HOSTCALL_OVER);
    pl_loop_hook_add(call->exts->loop, &call->bury);
}

/* --- the result ------------------------------------------------------------------------------- */

/* The contents of an audit row. */
struct told {
    struct pl_ext_shard *exts; /* borrowed, like everything else */
    struct pl_str user_id, extension_id, session_id, call_id, method;
    const struct pl_id *instance_id;
    const char *hash, *error;
    enum pl_ext_capability capability;
    enum pl_ext_reason reason;
    int64_t at_ms;
};

/* `status`: of the hash. `done` NULL: nobody waits for the row. */
static void audit_row(const struct told *told, const char *action, enum pl_status status,
                      pl_batch_done_fn *done, void *ctx)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    detail.status = status;
    struct pl_json_out out = pl_json_out(&detail);
    const struct pl_ext_text members[] = {
        {"instance_id", pl_str_of(told->instance_id->text)},
        {"call_id", pl_str_slice(told->call_id, 0, 100)},
        {"session_id", told->session_id},
        {"method", told->method},
        {"capability", pl_str_of(pl_ext_capability_name(told->capability))},
        {"params_hash", pl_str_of(told->hash)},
        {"reason", told->reason < PL_EXT_REASON_COUNT ? pl_str_of(pl_ext_reason_text(told->reason))
                                                      : PL_STR("")},
        {"error", pl_str_of(told->error ? told->error : "")},
    };
    pl_json_out_open(&out, '{');
    pl_ext_put_texts(&out, members, sizeof members / sizeof *members);
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = told->user_id,
        .action = action,
        .object = told->extension_id,
        .detail = pl_buf_str(&detail),
        .at_ms = told->at_ms,
    };
    struct pl_error err = {0};
    if (detail.status != PL_OK && done)
        done(ctx, pl_fail(&err, PL_NOMEM, "out of memory"), &err);
    else if (detail.status != PL_OK)
        pl_log_say(told->exts->shard->server->log, told->exts->shard, PL_LOG_WARNING,
                   "an audit row of an extension could not be stored: out of memory");
    else if (done)
        pl_ext_audit(told->exts, &what, done, ctx);
    else
        pl_ext_audit_later(told->exts, &what);
}

static struct told told_of(const struct pl_ext_hostcall *call)
{
    return (struct told){
        .exts = call->exts,
        .user_id = call->user_id,
        .extension_id = call->extension_id,
        .session_id = call->session_id,
        .call_id = call->call_id,
        .method = call->method_name,
        .instance_id = &call->instance_id,
        .hash = call->hash,
        .error = call->error,
        .capability = call->capability,
        .reason = call->reason,
        .at_ms = call->ended_ms,
    };
}

static void audit(struct pl_ext_hostcall *call, const char *action, pl_batch_done_fn *done)
{
    struct told told = told_of(call);
    enum pl_status status =
        call->hash[0] ? PL_OK
                      : pl_ext_params_hash(call->method_said, &call->doc, call->params, call->hash);
    audit_row(&told, action, status, done, call);
}

static const char *action_of_end(const char *error)
{
    return error && strcmp(error, "denied") == 0 ? "policy.decision" : "host_call.end";
}

/* The row of a call that is gone: its texts, and the input of its hash. */
struct late_row {
    struct pl_ext_unwritten row;
    struct told told; /* its texts are in `space`, its error is static */
    struct pl_id instance_id;
    struct pl_str method_said, params; /* `space` */
    char hash[PL_EXT_HASH_SIZE];
    char space[];
};

static void write_late(struct pl_ext_unwritten *row)
{
    struct late_row *late = PL_CONTAINER_OF(row, struct late_row, row);
    struct pl_json_doc doc;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    enum pl_status status =
        late->hash[0] ? PL_OK : pl_json_parse(&arena, late->params, &pl_json_own, &doc, NULL);
    if (status == PL_OK && !late->hash[0])
        status = pl_ext_params_hash(late->method_said, &doc, doc.root, late->hash);
    audit_row(&late->told, action_of_end(late->told.error), status, NULL, NULL);
    pl_mem_free(late);
}

/* Copies the text to `*space`, and advances it. */
static struct pl_str put_down(char **space, struct pl_str text)
{
    struct pl_str copy = {*space, text.len};
    if (text.len)
        memcpy(*space, text.ptr, text.len);
    *space += text.len;
    return copy;
}

static struct late_row *late_of(const struct pl_ext_hostcall *call)
{
    struct told told = told_of(call);
    struct pl_str params = pl_json_span(&call->doc, call->params);
    struct pl_str *texts[] = {&told.user_id, &told.extension_id, &told.session_id, &told.call_id,
                              &told.method};
    size_t n = call->method_said.len + params.len;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        n += texts[i]->len;
    struct late_row *late = pl_mem_alloc(1, sizeof *late + n);
    if (!late)
        return NULL;
    char *space = late->space;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = put_down(&space, *texts[i]);
    late->row = (struct pl_ext_unwritten){.write = write_late};
    late->method_said = put_down(&space, call->method_said);
    late->params = put_down(&space, params);
    late->instance_id = call->instance_id;
    memcpy(late->hash, call->hash, sizeof late->hash);
    told.instance_id = &late->instance_id;
    told.hash = late->hash;
    late->told = told;
    return late;
}

/* Makes the hash and the row of a small call after its answer was sent: the extension does not
 * wait for them. Their input is copied, so that the next call can reuse this call's memory,
 * which is warm. */
static void audit_after(struct pl_ext_hostcall *call)
{
    enum { SMALL = 2048 };
    call->ended_ms = pl_loop_unix_ms(call->exts->loop);
    bool is_small = pl_json_span(&call->doc, call->params).len <= SMALL;
    struct late_row *late = is_small ? late_of(call) : NULL;
    if (late)
        pl_ext_audit_defer(call->exts, &late->row);
    else
        audit(call, action_of_end(call->error), NULL);
}

static void pump(struct pl_ext_instance *instance);

/* A log entry is not an action: it would only fill the audit. */
static bool is_audited(const struct pl_ext_hostcall *call)
{
    return call->capability != PL_EXT_CAP_NONE && call->capability != PL_EXT_CAP_LOG;
}

/* Sends the final result and ends the call. */
static void end_with(struct pl_ext_hostcall *call, const struct pl_ext_result *result)
{
    struct pl_ext_instance *instance = call->instance;
    if (is_audited(call))
        audit_after(call);
    leave(call); /* its bytes stay until the end of this turn of the loop */
    pl_ext_instance_send_result(instance, result);
    if (!instance->is_over)
        pump(instance);
}

void pl_hostcall_end_streamed(struct pl_ext_hostcall *call, const struct pl_ext_result *last)
{
    end_with(call, last);
}

void pl_hostcall_finish(struct pl_ext_hostcall *call)
{
    PL_CLEANUP_BUF struct pl_buf clean;
    pl_buf_init(&clean, 0);
    if (!call->error && call->output.status != PL_OK)
        pl_hostcall_set_error(call, call->output.status == PL_LIMIT ? "io" : "internal", NULL, "%s",
                              call->output.status == PL_LIMIT ? "the answer is too large"
                                                              : "out of memory");
    if (call->error)
        pl_ext_redact_text(&clean, pl_str_of(call->message), &call->instance->secrets);
    struct pl_ext_result result = {
        .id = call->id,
        .call_id = call->call_id,
        .output = call->error ? (struct pl_str){0} : pl_buf_str(&call->output),
        .error = call->error,
        .message = pl_buf_str(&clean),
        .reason = pl_str_of(call->error_reason),
        .details = call->error && call->has_details && call->output.status == PL_OK
                       ? pl_buf_str(&call->output)
                       : (struct pl_str){0},
        .is_retryable = call->is_retryable,
        .credits = -1,
    };
    if (call->is_streamed && call->stream.index) { /* an error is the last chunk */
        result.is_chunk = result.is_last = true;
        result.index = call->stream.index;
    }
    end_with(call, &result);
}

/* Lets hooks inspect the output of a tool. */
static void finish(struct pl_ext_hostcall *call)
{
    if (!pl_nested_result(call))
        pl_hostcall_finish(call);
}

void pl_hostcall_succeed(struct pl_ext_hostcall *call)
{
    finish(call);
}

__attribute__((format(printf, 4, 0))) static void set_error(struct pl_ext_hostcall *call,
                                                            const char *error, const char *reason,
                                                            const char *format, va_list args)
{
    call->error = error;
    call->error_reason = reason;
    call->is_retryable = strcmp(error, "io") == 0;
    vsnprintf(call->message, sizeof call->message, format, args);
}

void pl_hostcall_set_error(struct pl_ext_hostcall *call, const char *error, const char *reason,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(call, error, reason, format, args);
    va_end(args);
}

void pl_hostcall_fail(struct pl_ext_hostcall *call, const char *error, const char *reason,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(call, error, reason, format, args);
    va_end(args);
    finish(call);
}

void pl_hostcall_fail_status(struct pl_ext_hostcall *call, enum pl_status status,
                             const struct pl_error *err)
{
    const struct pl_status_info *info = pl_status_info(status);
    pl_hostcall_fail(call, info->ext_error, NULL, "%s",
                     err && err->message[0] ? err->message : info->text);
}

void pl_hostcall_deny(struct pl_ext_hostcall *call, enum pl_ext_reason reason)
{
    call->reason = reason;
    pl_hostcall_fail(call, "denied", pl_ext_reason_text(reason), "%s is denied: %s",
                     pl_ext_capability_name(call->capability), pl_ext_reason_text(reason));
}

/* --- timeouts and cancels --------------------------------------------------------------------- */

static void stop(struct pl_ext_hostcall *call)
{
    if (call->method && call->method->cancel && !call->has_result &&
        (call->state == PL_HOSTCALL_RUNNING || call->state == PL_HOSTCALL_WORKING))
        call->method->cancel(call);
}

static void on_late(struct pl_timer *timer)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(timer, struct pl_ext_hostcall, timer);
    stop(call);
    pl_hostcall_set_error(call, "timeout", NULL, "the call took longer than %lld ms",
                          (long long)call->timeout_ms);
    call->is_retryable = call->capability == PL_EXT_CAP_READ;
    pl_hostcall_finish(call);
}

void pl_ext_hostcalls_end(struct pl_ext_instance *instance, struct pl_ext_ask *ask)
{
    for (struct pl_ext_hostcall *call = instance->hostcalls, *next; call; call = next) {
        next = call->next;
        if (ask && call->parent != ask)
            continue;
        stop(call);
        if (instance->is_over) {
            leave(call);
            continue;
        }
        pl_hostcall_set_error(call, "timeout", "cancelled", "what it belonged to has ended");
        pl_hostcall_finish(call);
        next = instance->is_over ? NULL : instance->hostcalls; /* others may have begun */
    }
}

void pl_ext_hostcall_cancel_named(struct pl_ext_instance *instance, struct pl_str call_id,
                                  struct pl_str token)
{
    for (struct pl_ext_hostcall *call = instance->hostcalls, *next; call; call = next) {
        next = call->next;
        bool is_meant = (call_id.len && pl_str_eq(call->call_id, call_id)) ||
                        (token.len && pl_str_eq(call->cancel_token, token));
        if (!is_meant)
            continue;
        stop(call);
        pl_hostcall_set_error(call, "timeout", "cancelled", "the call was cancelled");
        pl_hostcall_finish(call);
        return;
    }
}

/* --- running ---------------------------------------------------------------------------------- */

static void on_worked(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    if (call->state == PL_HOSTCALL_LEFT) {
        come_back_late(call);
        return;
    }
    pl_hostcall_become(call, PL_HOSTCALL_RUNNING);
    if (job->is_refused)
        pl_hostcall_fail(call, "io", "quota", "the server is busy; try again");
    else if (call->after && !call->error)
        call->after(call);
    else
        finish(call);
}

void pl_hostcall_work(struct pl_ext_hostcall *call, void (*run)(struct pl_job *job),
                      void (*after)(struct pl_ext_hostcall *call))
{
    pl_hostcall_become(call, PL_HOSTCALL_WORKING);
    call->after = after;
    call->job = (struct pl_job){
        .lane = PL_WORK_CPU,
        .owner = pl_owner_of(call->user_id),
        .wait_ms = call->timeout_ms,
        .run = run,
        .done = on_worked,
    };
    pl_workers_submit(call->exts->shard->server->workers, call->exts->loop, &call->job);
}

static void run(struct pl_ext_hostcall *call)
{
    pl_hostcall_become(call, PL_HOSTCALL_RUNNING);
    if (!(call->method->flags & PL_EXT_METHOD_AT_ONCE))
        pl_timer_start(call->exts->loop, &call->timer, call->timeout_ms, on_late);
    if (call->is_streamed)
        pl_hostcall_stream_begin(call);
    if (pl_nested_is(call))
        pl_nested_tell_start(call);
    call->method->start(call);
}

static void on_audited(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_ext_hostcall *call = ctx;
    if (call->state == PL_HOSTCALL_LEFT) {
        come_back_late(call);
        return;
    }
    if (status == PL_OK) {
        run(call);
        return;
    }
    pl_hostcall_become(call, PL_HOSTCALL_RUNNING);
    pl_hostcall_fail(call, "io", NULL, "nothing is written that cannot be audited: %s",
                     err->message);
}

/* Writing and executing are durable in the audit before they begin. */
static void allow(struct pl_ext_hostcall *call, enum pl_ext_reason reason)
{
    call->reason = reason;
    bool is_deed = call->capability == PL_EXT_CAP_WRITE || call->capability == PL_EXT_CAP_EXEC ||
                   (call->method->flags & PL_EXT_METHOD_AUDIT);
    if (!is_deed) {
        run(call);
        return;
    }
    pl_hostcall_become(call, PL_HOSTCALL_AUDITING);
    audit(call, "host_call.start", on_audited);
}

static void decided(struct pl_ext_hostcall *call, enum pl_ext_reason reason)
{
    if (pl_ext_reason_decision(reason) == PL_EXT_ALLOW)
        allow(call, reason);
    else
        pl_hostcall_deny(call, reason);
}

static void decide(struct pl_ext_hostcall *call, enum pl_ext_reason reason)
{
    if (reason == PL_EXT_REASON_PROMPT_REQUIRED)
        pl_question_ask_capability(call, decided);
    else
        decided(call, reason);
}

/* Hooks may have changed what it touches. */
static void judge_again(struct pl_ext_hostcall *call)
{
    if (pl_hostcall_aim(call))
        decide(call, pl_hostcall_judge(call));
}

static void begin(struct pl_ext_hostcall *call)
{
    bool is_asked = false;
    if (!pl_hostcall_aim(call) || (pl_str_eq(call->method_name, PL_STR("tool")) &&
                                   !pl_hostcall_text(call, call->params, "name", &call->tool_name)))
        return;
    const struct pl_json_node *options =
        pl_json_member(&call->doc, call->params, "options", PL_JSON_OBJECT);
    if (pl_ext_stream_read(&call->doc, options ? options : call->params, &is_asked,
                           &call->stream) != PL_OK) {
        pl_hostcall_fail(call, "invalid_request", NULL,
                         "stream is true, false or {\"credits\": 0 to 1024}");
        return;
    }
    call->is_streamed = is_asked && (call->method->flags & PL_EXT_METHOD_STREAMS);
    if (is_asked && !call->is_streamed) {
        pl_hostcall_fail(call, "invalid_request", NULL, "%s has no streams", call->method->name);
        return;
    }
    if ((call->method->flags & PL_EXT_METHOD_SESSION) && !call->session_id.len) {
        pl_hostcall_fail(call, "invalid_request", NULL,
                         "no session is at hand: give session_id in params");
        return;
    }
    enum pl_ext_reason reason = pl_hostcall_judge(call);
    bool is_denied =
        reason != PL_EXT_REASON_PROMPT_REQUIRED && pl_ext_reason_decision(reason) != PL_EXT_ALLOW;
    if (pl_nested_is(call) && !is_denied)
        pl_nested_hook(call, judge_again);
    else
        decide(call, reason);
}

static void pump(struct pl_ext_instance *instance)
{
    struct pl_ext_call *next;
    while (!instance->is_over && (next = pl_ext_calls_next(&instance->in))) {
        struct pl_ext_hostcall *call = next->thing;
        call->entry = next;
        begin(call);
    }
}

/* --- params ----------------------------------------------------------------------------------- */

bool pl_hostcall_text(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                      const char *key, struct pl_str *ret_text)
{
    const struct pl_json_node *n = object ? pl_json_get(&call->doc, object, pl_str_of(key)) : NULL;
    *ret_text = (struct pl_str){0};
    if (!n)
        return true;
    if (!pl_json_is(n, PL_JSON_STRING)) {
        pl_hostcall_fail(call, "invalid_request", NULL, "%s must be a string", key);
        return false;
    }
    if (pl_json_text(&call->arena, &call->doc, n, ret_text) == PL_OK)
        return true;
    pl_hostcall_fail(call, "internal", NULL, "out of memory");
    return false;
}

bool pl_hostcall_int(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                     const char *key, int64_t least, int64_t most, int64_t otherwise,
                     int64_t *ret_value)
{
    const struct pl_json_node *n = object ? pl_json_get(&call->doc, object, pl_str_of(key)) : NULL;
    *ret_value = otherwise;
    if (!n)
        return true;
    if (pl_json_is(n, PL_JSON_NUMBER) &&
        pl_json_number_int64(pl_json_span(&call->doc, n), ret_value) && *ret_value >= least &&
        *ret_value <= most)
        return true;
    pl_hostcall_fail(call, "invalid_request", NULL, "%s must be a whole number from %lld to %lld",
                     key, (long long)least, (long long)most);
    return false;
}

bool pl_hostcall_members(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                         const char *const *names)
{
    for (const struct pl_json_node *key = object ? pl_json_first_member(object) : NULL;
         key && key < pl_json_end(object); key = pl_json_next_member(key)) {
        size_t i = 0;
        while (names[i] && !pl_json_text_is(&call->doc, key, pl_str_of(names[i])))
            i++;
        if (names[i])
            continue;
        struct pl_str raw = pl_str_slice(pl_json_raw(&call->doc, key), 0, 60);
        pl_hostcall_fail(call, "invalid_request", NULL, "%s has no member \"%.*s\"",
                         call->method->name, PL_STR_ARG(raw));
        return false;
    }
    return true;
}

/* --- hearing ---------------------------------------------------------------------------------- */

static void answer_wrong(struct pl_ext_instance *instance, const struct pl_ext_frame *frame,
                         struct pl_str call_id, const char *error, const char *reason,
                         const char *message)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_result result = {
        .id = frame->id,
        .call_id = call_id,
        .error = error,
        .message = pl_str_of(message),
        .reason = pl_str_of(reason),
        .is_retryable = strcmp(error, "io") == 0,
        .credits = -1,
    };
    pl_buf_init(&line, 0);
    pl_ext_frame_write_result(&line, &result);
    pl_ext_instance_send(instance, &line);
}

/* The members of a host_call; the schema has checked their types. NULL: absent. */
enum member { CALL_ID, CAPABILITY, METHOD, PARAMS, CONTEXT, TIMEOUT_MS, CANCEL_TOKEN, N_MEMBERS };
struct said {
    const struct pl_ext_frame *frame; /* borrowed */
    const struct pl_json_node *members[N_MEMBERS];
};

/* Reads all of them in one pass: a lookup by name would be a pass for each. */
static struct said read_members(const struct pl_ext_frame *frame)
{
#define NAME(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
    static const struct pl_str names[] = {
        [CALL_ID] = NAME("call_id"),
        [CAPABILITY] = NAME("capability"),
        [METHOD] = NAME("method"),
        [PARAMS] = NAME("params"),
        [CONTEXT] = NAME("context"),
        [TIMEOUT_MS] = NAME("timeout_ms"),
        [CANCEL_TOKEN] = NAME("cancel_token"),
    };
#undef NAME
    struct said said = {.frame = frame};
    for (const struct pl_json_node *key = pl_json_first_member(frame->payload);
         key < pl_json_end(frame->payload); key = pl_json_next_member(key)) {
        size_t i = 0;
        while (i < N_MEMBERS && (said.members[i] || !pl_json_text_is(&frame->doc, key, names[i])))
            i++;
        if (i < N_MEMBERS)
            said.members[i] = key + 1;
    }
    return said;
}

static enum pl_status said_text(struct pl_arena *arena, const struct said *said, enum member member,
                                struct pl_str *ret_text)
{
    const struct pl_json_node *n = said->members[member];
    if (n)
        return pl_json_text(arena, &said->frame->doc, n, ret_text);
    *ret_text = PL_STR("");
    return PL_OK;
}

/* The open ask that context.parent names, otherwise the only open one, otherwise NULL. */
static struct pl_ext_ask *parent_of(struct pl_ext_instance *instance, const struct said *said)
{
    const struct pl_ext_frame *frame = said->frame;
    const struct pl_json_node *named =
        pl_json_member(&frame->doc, said->members[CONTEXT], "parent", PL_JSON_STRING);
    struct pl_ext_ask *only = NULL;
    size_t n = 0;
    for (struct pl_ext_ask *ask = instance->asks; ask; ask = ask->next) {
        if (ask->state != PL_EXT_ASK_STATE_RUNNING)
            continue;
        if (named && pl_json_text_is(&frame->doc, named, pl_str_of(ask->call_id)))
            return ask;
        only = ask;
        n++;
    }
    return n == 1 && !named ? only : NULL;
}

static struct pl_str keep(struct pl_ext_hostcall *call, struct pl_str text, bool *is_whole)
{
    struct pl_str copy = pl_arena_dup(&call->arena, text);
    *is_whole &= copy.ptr || !text.len;
    return copy;
}

static int64_t time_of(const struct said *said, const struct pl_ext_hostcall *call)
{
    int64_t asked = 0, inner = 0;
    const struct pl_json_node *n = said->members[TIMEOUT_MS];
    const struct pl_json_node *m =
        pl_json_member(&call->doc, call->params, "timeout_ms", PL_JSON_NUMBER);
    const struct pl_json_node *options =
        pl_json_member(&call->doc, call->params, "options", PL_JSON_OBJECT);
    if (!m && options)
        m = pl_json_member(&call->doc, options, "timeout_ms", PL_JSON_NUMBER);
    if (n && !pl_json_number_int64(pl_json_span(&said->frame->doc, n), &asked))
        asked = PL_EXT_MOST_MS;
    if (m && !pl_json_number_int64(pl_json_span(&call->doc, m), &inner))
        inner = PL_EXT_MOST_MS;
    int64_t ms = asked > 0 && inner > 0 ? (asked < inner ? asked : inner)
                 : asked > 0            ? asked
                 : inner > 0            ? inner
                                        : call->method->timeout_ms;
    return ms < PL_EXT_MOST_MS ? ms : PL_EXT_MOST_MS;
}

/* Its session: the one in params, or that of the call it belongs to. */
static void find_session(struct pl_ext_hostcall *call)
{
    const struct pl_json_node *n =
        pl_json_member(&call->doc, call->params, "session_id", PL_JSON_STRING);
    if (n && (call->method->flags & PL_EXT_METHOD_SESSION))
        (void)pl_json_text(&call->arena, &call->doc, n, &call->session_id);
}

enum pl_status pl_ext_hostcall_hash(struct pl_arena *arena, const struct pl_ext_frame *frame,
                                    char ret_hash[PL_EXT_HASH_SIZE])
{
    struct pl_str method = {0};
    const struct pl_json_node *params = pl_json_get(&frame->doc, frame->payload, PL_STR("params"));
    enum pl_status status = pl_ext_frame_text(arena, frame, "method", &method);
    return status == PL_OK ? pl_ext_params_hash(method, &frame->doc, params, ret_hash) : status;
}

/* A worker has parsed and hashed a long line. Its memory is taken over, and the loop does not
 * touch its bytes again. */
static void take_line(struct pl_ext_hostcall *call)
{
    struct pl_ext_instance *instance = call->instance;
    call->line_arena = instance->job_arena;
    call->line = instance->long_line;
    pl_arena_init(&instance->job_arena, 0);
    pl_buf_init(&instance->long_line, 0);
    memcpy(call->hash, instance->params_hash, sizeof call->hash);
}

/* Copies the line and its nodes: this is cheaper than parsing the params again, and the call's
 * texts are parts of the copy. */
static bool copy_line(struct pl_ext_hostcall *call, const struct pl_json_doc *doc)
{
    struct pl_json_node *nodes = pl_arena_alloc(&call->arena, doc->n_nodes, sizeof *nodes);
    call->doc.text = pl_arena_dup(&call->arena, doc->text);
    call->doc.root = nodes;
    if (!nodes || !call->doc.text.ptr)
        return false;
    memcpy(nodes, doc->root, doc->n_nodes * sizeof *nodes);
    return true;
}

/* A text of the frame, as a part of the call's own line; a text with escapes is copied. */
static struct pl_str own(struct pl_ext_hostcall *call, const struct pl_ext_frame *frame,
                         struct pl_str text, bool *is_whole)
{
    size_t off = (uintptr_t)text.ptr - (uintptr_t)frame->doc.text.ptr;
    bool is_part = text.ptr && off < frame->doc.text.len;
    return is_part ? pl_str_slice(call->doc.text, off, off + text.len) : keep(call, text, is_whole);
}

/* In lower case, for comparisons. */
static struct pl_str lower(struct pl_ext_hostcall *call, struct pl_str text, bool *is_whole)
{
    size_t i = 0;
    while (i < text.len && pl_ascii_lower(text.ptr[i]) == text.ptr[i])
        i++;
    if (i == text.len)
        return text;
    text = keep(call, text, is_whole);
    for (i = 0; i < text.len; i++)
        ((char *)text.ptr)[i] = pl_ascii_lower(text.ptr[i]);
    return text;
}

static struct pl_ext_hostcall *create(struct pl_ext_instance *instance, const struct said *said,
                                      struct pl_str call_id)
{
    struct pl_ext_hostcall *call = pl_mem_alloc(1, sizeof *call);
    const struct pl_ext_frame *frame = said->frame;
    const struct pl_json_node *params = said->members[PARAMS];
    struct pl_str method = {0}, token = {0};
    bool is_whole = true, is_long = frame == &instance->frame;
    if (!call)
        return NULL;
    memset(call, 0, offsetof(struct pl_ext_hostcall, message));
    call->message[0] = '\0';
    call->instance = instance;
    call->instance_id = instance->id;
    call->exts = instance->exts;
    call->reason = PL_EXT_REASON_COUNT;
    call->known = pl_ext_known_hold(instance->known);
    call->registered = pl_ext_registered_hold(instance->registered);
    call->first = pl_ext_registered_hold(instance->first);
    pl_arena_init_in(&call->arena, 0, call->space, sizeof call->space);
    take_output(call);
    call->bury.fn = on_bury;
    call->parent = parent_of(instance, said);
    is_whole &= said_text(&instance->arena, said, METHOD, &method) == PL_OK;
    is_whole &= said_text(&instance->arena, said, CANCEL_TOKEN, &token) == PL_OK;
    call->doc = frame->doc;
    if (!is_whole || (!is_long && !copy_line(call, &frame->doc))) {
        destroy(call);
        return NULL;
    }
    call->params = call->doc.root + (params - frame->doc.root);
    call->id = own(call, frame, frame->id, &is_whole);
    call->call_id = own(call, frame, call_id, &is_whole);
    call->method_said = own(call, frame, method, &is_whole);
    call->method_name = lower(call, call->method_said, &is_whole);
    call->cancel_token = own(call, frame, token, &is_whole);
    call->user_id = keep(call, instance->place->user_id, &is_whole);
    call->extension_id = call->known->package.id;
    if (call->parent) {
        call->session_id = keep(call, call->parent->session_id, &is_whole);
        call->turn_id = keep(call, call->parent->turn_id, &is_whole);
        call->has_person = call->parent->has_person;
    }
    if (is_whole) {
        if (is_long)
            take_line(call);
        return call;
    }
    destroy(call);
    return NULL;
}

static bool is_within_quota(struct pl_ext_instance *instance)
{
    return pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_CALLS], PL_EXT_QUOTA_CALLS, 1,
                              pl_loop_now_ms(instance->exts->loop));
}

/* The extension declares a capability; only the derived one counts. */
static const char *wrong_with(struct pl_ext_hostcall *call, const struct said *said)
{
    struct pl_str declared;
    call->capability = pl_ext_capability_derive(call->method_name, &call->doc, call->params);
    call->method = pl_ext_method_find(call->method_name);
    if (call->capability == PL_EXT_CAP_NONE || !call->method)
        return "there is no such method, or it lacks its op or name";
    if (said_text(&call->arena, said, CAPABILITY, &declared) != PL_OK ||
        pl_ext_capability_find(declared) != call->capability)
        return "the declared capability is not the one that this call needs";
    return NULL;
}

void pl_ext_hostcall_hear(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    struct said said = read_members(frame);
    struct pl_str call_id;
    if (said_text(&instance->arena, &said, CALL_ID, &call_id) != PL_OK)
        return;
    if (!is_within_quota(instance)) {
        answer_wrong(instance, frame, call_id, "io", "quota", "at most 50 calls a second");
        (void)pl_ext_instance_strike(instance, "calls");
        return;
    }
    struct pl_ext_hostcall *call = create(instance, &said, call_id);
    const char *wrong = call ? wrong_with(call, &said) : NULL;
    if (!call || wrong) {
        answer_wrong(instance, frame, call_id, call ? "invalid_request" : "internal", NULL,
                     call ? wrong : "out of memory");
        if (call)
            destroy(call);
        return;
    }
    enum pl_status status = pl_ext_calls_add(&instance->in, call->call_id, call);
    if (status != PL_OK) {
        bool is_full = status == PL_LIMIT;
        answer_wrong(instance, frame, call_id,
                     is_full              ? "io"
                     : status == PL_NOMEM ? "internal"
                                          : "invalid_request",
                     is_full ? "quota" : NULL,
                     is_full ? "256 calls wait already"
                             : "this call_id is missing, in use, or was used recently");
        destroy(call);
        return;
    }
    call->timeout_ms = time_of(&said, call);
    call->started_ms = pl_loop_now_ms(instance->exts->loop);
    find_session(call);
    call->next = instance->hostcalls;
    instance->hostcalls = call;
    pump(instance);
}
