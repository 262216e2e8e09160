/* Frames from an extension: each is checked against the schema before use, and goes to the
 * handler of its type. A bad line gets one `error`; three in a row, or 20 in a minute, end the
 * instance. A worker parses a long line and hashes the params of a host call; later lines wait. */
#include "ext/run/ext_int.h"

#include "base/text/utf8.h"
#include "json/number.h"
#include "json/text.h"
#include "base/text/utc.h"

#include <stdio.h>

enum { LONG_LINE = 64 << 10, MAX_SAID = 4096, MAX_PROGRESS = 256 << 10 };

/* --- quotas ----------------------------------------------------------------------------------- */

static const struct {
    const char *what, *says;
} quotas[PL_EXT_QUOTA_COUNT] = {
    [PL_EXT_QUOTA_LOG_LINES] = {"log lines", "at most 100 log lines a second"},
    [PL_EXT_QUOTA_FRAMES] = {"frames", "at most 10,000 frames a second, or 100 that mean nothing"},
    [PL_EXT_QUOTA_REGISTERS] = {"registers", "at most 10 registers a second"},
};

/* An answer that nobody waits for, or a credit or cancel of nothing, costs its sender nothing;
 * endless ones would cost us all our time. So each counts as many frames. */
enum { IDLE_FRAMES = 100 };

static bool takes(struct pl_ext_instance *instance, enum pl_ext_quota quota, int64_t n,
                  struct pl_str frame_id)
{
    if (pl_ext_bucket_take(&instance->buckets[quota], quota, n,
                           pl_loop_now_ms(instance->exts->loop)))
        return true;
    if (!pl_ext_instance_strike(instance, quotas[quota].what))
        pl_ext_instance_complain(instance, PL_EXT_CODE_QUOTA_EXCEEDED, frame_id,
                                 quotas[quota].says);
    return false;
}

/* In addition to the one already taken. */
static void note_idle(struct pl_ext_instance *instance, struct pl_str frame_id)
{
    (void)takes(instance, PL_EXT_QUOTA_FRAMES, IDLE_FRAMES - 1, frame_id);
}

/* --- answers to asks -------------------------------------------------------------------------- */

/* Nobody waits for it. An answer that is late, or comes after a cancel, is dropped. */
static void answer_of_none(struct pl_ext_instance *instance, struct pl_str frame_id,
                           struct pl_str id)
{
    if (pl_table_get(&instance->out.by_id, id))
        return;
    pl_ext_instance_complain(instance, PL_EXT_CODE_UNKNOWN_CALL, frame_id,
                             "no call with this id waits for an answer");
    note_idle(instance, frame_id);
}

static void hear_result(struct pl_ext_instance *instance, const struct pl_ext_frame *frame,
                        struct pl_str id, enum pl_ext_ask_kind kind)
{
    struct pl_ext_ask *ask = pl_ext_ask_find(instance, id);
    if (!ask || ask->kind != kind) {
        answer_of_none(instance, frame->id, id);
        return;
    }
    const struct pl_json_node *output = pl_json_get(&frame->doc, frame->payload, PL_STR("output"));
    const struct pl_json_node *is_error =
        pl_json_get(&frame->doc, frame->payload, PL_STR("is_error"));
    pl_ext_ask_answer(ask, pl_json_span(&frame->doc, output), pl_json_is(is_error, PL_JSON_TRUE));
}

static void hear_tool_result(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    struct pl_str id;
    if (pl_ext_frame_text(&instance->arena, frame, "call_id", &id) == PL_OK)
        hear_result(instance, frame, id, PL_EXT_ASK_TOOL);
}

/* The schema gives it no call_id: its id is used. */
static void hear_slash_result(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    hear_result(instance, frame, frame->id, PL_EXT_ASK_COMMAND);
}

/* --- events ----------------------------------------------------------------------------------- */

static void hear_cancel(struct pl_ext_instance *instance, const struct pl_ext_frame *frame,
                        const struct pl_json_node *data)
{
    struct pl_str id = pl_json_member_text(&instance->arena, &frame->doc, data, "call_id");
    struct pl_str token = pl_json_member_text(&instance->arena, &frame->doc, data, "cancel_token");
    pl_ext_hostcall_cancel_named(instance, id, token);
    if (!token.len && !pl_table_get(&instance->in.by_id, id))
        note_idle(instance, frame->id);
}

static void hear_credit(struct pl_ext_instance *instance, const struct pl_ext_frame *frame,
                        const struct pl_json_node *data)
{
    const struct pl_json_node *n = pl_json_member(&frame->doc, data, "credits", PL_JSON_NUMBER);
    struct pl_str id = pl_json_member_text(&instance->arena, &frame->doc, data, "call_id");
    int64_t credits = 0;
    if (!n || !pl_json_number_int64(pl_json_span(&frame->doc, n), &credits) || credits < 1)
        pl_ext_instance_complain(instance, PL_EXT_CODE_SCHEMA_VIOLATION, frame->id,
                                 "stream.credit needs credits, a whole number from 1");
    else
        pl_ext_hostcall_credit(instance, id, credits);
    if (!instance->is_over && !pl_table_get(&instance->in.by_id, id))
        note_idle(instance, frame->id);
}

static void hear_update(struct pl_ext_instance *instance, const struct pl_ext_frame *frame,
                        const struct pl_json_node *data)
{
    struct pl_str id = pl_json_member_text(&instance->arena, &frame->doc, data, "call_id");
    struct pl_ext_ask *ask = pl_ext_ask_find(instance, id);
    const struct pl_json_node *content =
        data ? pl_json_get(&frame->doc, data, PL_STR("content")) : NULL;
    if (!ask || ask->kind != PL_EXT_ASK_TOOL)
        answer_of_none(instance, frame->id, id);
    else if (content && pl_json_span(&frame->doc, content).len > MAX_PROGRESS)
        pl_ext_instance_complain(instance, PL_EXT_CODE_QUOTA_EXCEEDED, frame->id,
                                 "progress has at most 256 KiB");
    else if (content)
        pl_ext_ask_tell(ask, pl_json_span(&frame->doc, content));
}

static const struct {
    const char *event;
    void (*hear)(struct pl_ext_instance *, const struct pl_ext_frame *,
                 const struct pl_json_node *);
} events[] = {
    {"cancel", hear_cancel},
    {"stream.credit", hear_credit},
    {"tool_execution_update", hear_update},
};

static void hear_event(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    struct pl_str event;
    const struct pl_json_node *data =
        pl_json_member(&frame->doc, frame->payload, "data", PL_JSON_OBJECT);
    if (pl_ext_frame_text(&instance->arena, frame, "event", &event) != PL_OK)
        return;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (pl_str_eq(pl_str_of(events[i].event), event)) {
            events[i].hear(instance, frame, data);
            return;
        }
    struct pl_ext_ask *ask = pl_ext_ask_find(instance, frame->id);
    if (ask && ask->kind == PL_EXT_ASK_HOOK &&
        pl_str_eq(event, pl_str_of(pl_ext_hook_text(ask->hook))))
        pl_ext_ask_answer(ask, data ? pl_json_span(&frame->doc, data) : PL_STR("{}"), false);
    else
        answer_of_none(instance, frame->id, frame->id);
}

/* --- log and error ---------------------------------------------------------------------------- */

/* Ignores the claimed extension_id: writes the payload again, redacted, with ours. */
static void hear_log(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_out out;
    pl_buf_init(&text, 0);
    out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(frame->payload);
         key < pl_json_end(frame->payload); key = pl_json_next_member(key)) {
        struct pl_str name;
        if (pl_json_text(&instance->arena, &frame->doc, key, &name) != PL_OK)
            return;
        pl_json_out_key_str(&out, name);
        if (pl_str_eq(name, PL_STR("correlation"))) {
            pl_json_out_open(&out, '{');
            pl_json_out_key(&out, "extension_id");
            pl_json_out_text(&out, instance->known->package.id);
            pl_json_out_key(&out, "scenario_id");
            pl_json_out_text(&out, pl_str_of(instance->id.text));
            pl_json_out_close(&out, '}');
            continue;
        }
        PL_CLEANUP_BUF struct pl_buf value;
        pl_buf_init(&value, 0);
        if (pl_ext_redact_json(&instance->arena, &value, &frame->doc, key + 1,
                               &instance->secrets) != PL_OK)
            return;
        pl_json_out_raw(&out, pl_buf_str(&value));
    }
    pl_json_out_close(&out, '}');
    if (text.status == PL_OK && text.len <= 16 << 10)
        pl_ext_log_add(instance->exts->host, instance->known->package.id, instance->place->user_id,
                       pl_loop_unix_ms(instance->exts->loop), pl_buf_str(&text));
}

static void keep_line(struct pl_ext_instance *instance, const char *level, const char *event,
                      struct pl_str message)
{
    PL_CLEANUP_BUF struct pl_buf text, clean;
    char ts[PL_UTC_SIZE];
    int64_t unix_ms = pl_loop_unix_ms(instance->exts->loop);
    pl_buf_init(&text, 0);
    pl_buf_init(&clean, 0);
    pl_utc_write(ts, unix_ms);
    pl_ext_redact_text(&clean, message, &instance->secrets);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    const struct {
        const char *key;
        struct pl_str value;
    } members[] = {
        {"schema", PL_STR("pi.ext.log.v1")}, {"ts", {ts, PL_UTC_SIZE}},
        {"level", pl_str_of(level)},         {"event", pl_str_of(event)},
        {"message", pl_buf_str(&clean)},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_json_out_key(&out, members[i].key);
        pl_json_out_text(&out, members[i].value);
    }
    pl_json_out_key(&out, "correlation");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "extension_id");
    pl_json_out_text(&out, instance->known->package.id);
    pl_json_out_key(&out, "scenario_id");
    pl_json_out_text(&out, pl_str_of(instance->id.text));
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
    if (text.status == PL_OK && clean.status == PL_OK)
        pl_ext_log_add(instance->exts->host, instance->known->package.id, instance->place->user_id,
                       unix_ms, pl_buf_str(&text));
}

/* Its message about one of our frames is only logged. */
static void hear_error(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    struct pl_str message;
    if (pl_ext_frame_text(&instance->arena, frame, "message", &message) == PL_OK)
        keep_line(instance, "error", "extension.error", pl_str_slice(message, 0, 4096));
}

void pl_ext_instance_keep_line(struct pl_ext_instance *instance, const char *level,
                               const char *event, struct pl_str message)
{
    keep_line(instance, level, event, message);
}

/* Bytes that are not text become ?, so that the log stays JSON. */
static void keep_said(struct pl_ext_instance *instance, struct pl_str text)
{
    char line[MAX_SAID];
    text = pl_str_slice(text, 0, sizeof line);
    if (!pl_utf8_is_valid(text)) {
        for (size_t i = 0; i < text.len; i++)
            line[i] = (unsigned char)text.ptr[i] < 0x80 ? text.ptr[i] : '?';
        text.ptr = line;
    }
    if (text.len)
        keep_line(instance, "info", "extension.stderr", text);
}

void pl_ext_hear_rest(struct pl_ext_instance *instance)
{
    keep_said(instance, pl_buf_str(&instance->said));
    pl_buf_clear(&instance->said);
}

/* Standard error is logged line by line; an incomplete line is logged when it is long enough.
 * Bytes over the quota are discarded. */
void pl_ext_hear_said(void *ctx, struct pl_str bytes)
{
    struct pl_ext_instance *instance = ctx;
    int64_t now_ms = pl_loop_now_ms(instance->exts->loop);
    if (!pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_STDERR_BYTES],
                            PL_EXT_QUOTA_STDERR_BYTES, (int64_t)bytes.len, now_ms))
        return;
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.ptr) : bytes.len;
        size_t room = MAX_SAID - instance->said.len;
        bool is_whole = end && n <= room;
        n = n < room ? n : room;
        pl_buf_add(&instance->said, pl_str_slice(bytes, 0, n));
        if (is_whole || instance->said.len == MAX_SAID)
            pl_ext_hear_rest(instance);
        bytes = pl_str_slice(bytes, is_whole ? n + 1 : n, bytes.len);
    }
}

/* --- one frame -------------------------------------------------------------------------------- */

/* For a host call the broker takes the quota of calls. */
static const struct {
    void (*hear)(struct pl_ext_instance *, const struct pl_ext_frame *);
    enum pl_ext_quota quota;
} handlers[PL_EXT_TYPE_COUNT] = {
    [PL_EXT_TYPE_REGISTER] = {pl_ext_register, PL_EXT_QUOTA_REGISTERS},
    [PL_EXT_TYPE_TOOL_RESULT] = {hear_tool_result, PL_EXT_QUOTA_FRAMES},
    [PL_EXT_TYPE_SLASH_RESULT] = {hear_slash_result, PL_EXT_QUOTA_FRAMES},
    [PL_EXT_TYPE_EVENT_HOOK] = {hear_event, PL_EXT_QUOTA_FRAMES},
    [PL_EXT_TYPE_HOST_CALL] = {pl_ext_hostcall_hear, PL_EXT_QUOTA_FRAMES},
    [PL_EXT_TYPE_LOG] = {hear_log, PL_EXT_QUOTA_LOG_LINES},
    [PL_EXT_TYPE_ERROR] = {hear_error, PL_EXT_QUOTA_LOG_LINES},
};

static void refuse_call(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_result result = {
        .id = frame->id,
        .error = "invalid_request",
        .message = PL_STR("the extension has not registered"),
        .credits = -1,
    };
    pl_buf_init(&line, 0);
    if (pl_ext_frame_text(&instance->arena, frame, "call_id", &result.call_id) != PL_OK)
        return;
    pl_ext_frame_write_result(&line, &result);
    pl_ext_instance_send(instance, &line);
}

static void strike(struct pl_ext_instance *instance, bool is_last)
{
    int64_t now_ms = pl_loop_now_ms(instance->exts->loop);
    if (pl_ext_strikes_add(&instance->bad_lines, PL_EXT_STRIKE_BAD_LINE, now_ms) || is_last)
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "it sent lines that are no frames");
}

static void hear_frame(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    enum pl_ext_hearing hearing = pl_ext_life_hear(instance->life, frame->type);
    bool is_call = hearing == PL_EXT_HEARD && frame->type == PL_EXT_TYPE_HOST_CALL;
    if (!is_call && !takes(instance, handlers[frame->type].quota,
                           hearing == PL_EXT_REFUSED ? IDLE_FRAMES : 1, frame->id))
        return;
    switch (hearing) {
    case PL_EXT_HEARD:
        pl_ext_strikes_end_row(&instance->bad_lines);
        handlers[frame->type].hear(instance, frame);
        break;
    case PL_EXT_REFUSED:
        refuse_call(instance, frame);
        break;
    case PL_EXT_TOO_EARLY:
        pl_ext_instance_complain(instance, PL_EXT_CODE_NOT_REGISTERED, frame->id, "register first");
        strike(instance, false);
        break;
    case PL_EXT_TOO_LATE:
        pl_ext_instance_complain(instance, PL_EXT_CODE_SHUTTING_DOWN, frame->id,
                                 "the extension is being stopped");
        break;
    case PL_EXT_UNHEARD:
        break;
    }
}

static void hear_fault(struct pl_ext_instance *instance, const struct pl_ext_fault *fault)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_ext_frame_write_fault(&line, fault);
    pl_ext_instance_send(instance, &line);
    pl_ext_instance_keep_line(instance, "warn", "frame.invalid", pl_str_of(fault->err.message));
    strike(instance, fault->code == PL_EXT_CODE_UNSUPPORTED_VERSION);
}

static void hear_read(struct pl_ext_instance *instance, enum pl_status status,
                      const struct pl_ext_frame *frame, const struct pl_ext_fault *fault)
{
    if (status == PL_OK)
        hear_frame(instance, frame);
    else if (status == PL_INVALID)
        hear_fault(instance, fault);
    else
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "out of memory");
}

/* --- long lines ------------------------------------------------------------------------------- */

static void read_run(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    instance->status =
        pl_ext_frame_read(instance->codec, &instance->job_arena, pl_buf_str(&instance->long_line),
                          PL_EXT_FROM_CHILD, &instance->frame, &instance->fault);
    if (instance->status == PL_OK && instance->frame.type == PL_EXT_TYPE_HOST_CALL)
        instance->status =
            pl_ext_hostcall_hash(&instance->job_arena, &instance->frame, instance->params_hash);
}

static void read_done(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    instance->is_away = false;
    if (instance->is_over) {
        pl_loop_hook_add(instance->exts->loop, &instance->bury);
        return;
    }
    if (job->is_refused)
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "the server is too busy to read it");
    else
        hear_read(instance, instance->status, &instance->frame, &instance->fault);
    if (instance->is_over || instance->is_away)
        return;
    pl_buf_deinit(&instance->long_line);
    pl_arena_reset(&instance->job_arena);
    if (instance->channel)
        pl_ext_channel_resume(instance->channel);
}

static void read_elsewhere(struct pl_ext_instance *instance, struct pl_str line)
{
    enum { READ_MS = 30000 };
    pl_buf_clear(&instance->long_line);
    pl_buf_add(&instance->long_line, line);
    if (instance->long_line.status != PL_OK) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "out of memory");
        return;
    }
    pl_ext_channel_pause(instance->channel);
    instance->is_away = true;
    instance->job = (struct pl_job){
        .lane = PL_WORK_CPU,
        .owner = pl_owner_of(instance->place->user_id),
        .wait_ms = READ_MS,
        .n_bytes = 4 * line.len,
        .run = read_run,
        .done = read_done,
    };
    pl_workers_submit(instance->exts->shard->server->workers, instance->exts->loop, &instance->job);
}

void pl_ext_hear_line(void *ctx, struct pl_str line)
{
    struct pl_ext_instance *instance = ctx;
    /* Not zeroed for every line: one of them is filled. */
    __attribute__((uninitialized)) struct pl_ext_frame frame;
    __attribute__((uninitialized)) struct pl_ext_fault fault;
    pl_ext_place_touch(instance->place);
    if (line.len > LONG_LINE) {
        read_elsewhere(instance, line);
        return;
    }
    pl_arena_reset(&instance->arena);
    enum pl_status status = pl_ext_frame_read(instance->codec, &instance->arena, line,
                                              PL_EXT_FROM_CHILD, &frame, &fault);
    hear_read(instance, status, &frame, &fault);
}
