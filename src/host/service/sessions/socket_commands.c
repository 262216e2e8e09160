/* A client's commands to a session over its socket: the same as those of the turn routes. */
#include "service/sessions/socket_commands.h"

#include "agent/chat_message.h"
#include "base/mem.h"
#include "base/table.h"
#include "http/json_members.h"
#include "live/command.h"
#include "service/sessions/said_media.h"
#include "shard/setup.h"

struct sending {
    struct pl_session_command command;
    struct pl_ws_live *ws; /* held until it is answered */
    struct pl_arena arena;
    struct pl_str id;       /* arena, like the event's strings */
    struct pl_str trace_id; /* arena; empty: no trace */
    struct pl_job job;
    struct pl_media_keep keep; /* stores media before the event is sent */
};

static void sending_destroy(struct sending *sending)
{
    pl_session_command_deinit(&sending->command);
    pl_arena_deinit(&sending->arena);
    pl_mem_free(sending);
}

static void finish_sending(struct sending *sending)
{
    struct pl_session_command *command = &sending->command;
    struct pl_ws_live *ws = sending->ws;
    bool is_open = pl_socket_end_answer(ws);
    if (is_open && command->problem != PL_PROBLEM_COUNT)
        pl_socket_fail(ws, sending->id, command->problem, &command->err, NULL);
    else if (is_open)
        pl_socket_succeed(ws, sending->id, pl_buf_str(&command->reply));
    sending_destroy(sending);
}

/* Whether the same answer was given before. */
static void repeats_run(struct pl_job *job)
{
    struct sending *sending = PL_CONTAINER_OF(job, struct sending, job);
    struct pl_session_command *command = &sending->command;
    command->problem =
        pl_answer_repeats(command->home->server->store, &sending->arena, command->session_id,
                          &command->event, &command->reply, &command->err);
}

static void repeats_done(struct pl_job *job)
{
    struct sending *sending = PL_CONTAINER_OF(job, struct sending, job);
    if (job->is_refused)
        sending->command.problem = PL_PROBLEM_OVERLOADED;
    finish_sending(sending);
}

static void on_sent(struct pl_session_command *command)
{
    struct sending *sending = PL_CONTAINER_OF(command, struct sending, command);
    bool may_repeat =
        command->event.kind == PL_SE_ANSWER || command->event.kind == PL_SE_CLIENT_RESULT;
    if (!may_repeat || command->problem != PL_PROBLEM_QUESTION_NOT_PENDING) {
        finish_sending(sending);
        return;
    }
    sending->job = (struct pl_job){
        .owner = pl_owner_of(command->user_id),
        .wait_ms = command->home->setup->config.queue_wait_ms,
        .run = repeats_run,
        .done = repeats_done,
    };
    pl_workers_submit(command->home->server->workers, command->home->loop, &sending->job);
}

/* Media are stored before the session gets them. */
static void on_kept(struct pl_media_keep *keep)
{
    struct sending *sending = PL_CONTAINER_OF(keep, struct sending, keep);
    struct pl_session_command *command = &sending->command;
    if (pl_said_media_take(keep, &command->event) == PL_OK) {
        pl_session_command_send(command);
        return;
    }
    command->problem = pl_problem_of(keep->status);
    command->err = keep->err;
    finish_sending(sending);
}

static void keep_media(struct sending *sending)
{
    sending->keep = (struct pl_media_keep){
        .shard = sending->command.home,
        .user_id = sending->command.user_id,
        .arena = &sending->arena,
        .done = on_kept,
    };
    pl_said_media_keep(&sending->keep, &sending->command.event);
}

typedef enum pl_status read_event_fn(struct sending *sending, const struct pl_json_doc *doc,
                                     const struct pl_json_node *data, struct pl_error *err);

static enum pl_status read_chat(struct sending *sending, const struct pl_json_doc *doc,
                                const struct pl_json_node *data, struct pl_error *err)
{
    struct pl_session_event *event = &sending->command.event;
    const struct pl_shard *home = sending->command.home;
    struct pl_chat_of of = {home->setup->models, home->server->ext, sending->command.user_id};
    enum pl_status status = pl_chat_parse(&of, &sending->arena, doc, data, event, err);
    if (status != PL_OK)
        return status;
    pl_chat_set_language(event, pl_socket_is_chinese(sending->ws));
    struct pl_str key_id = pl_arena_dup(&sending->arena, pl_socket_key(sending->ws));
    if (event->kind == PL_SE_CHAT) {
        event->chat.trace_id = sending->trace_id;
        event->chat.key_id = key_id;
    } else {
        event->answer.trace_id = sending->trace_id;
        event->answer.key_id = key_id;
    }
    return PL_OK;
}

static enum pl_status read_stop(struct sending *sending, const struct pl_json_doc *doc,
                                const struct pl_json_node *data, struct pl_error *err)
{
    (void)doc, (void)data, (void)err;
    sending->command.event.kind = PL_SE_STOP;
    return PL_OK;
}

static enum pl_status read_compact(struct sending *sending, const struct pl_json_doc *doc,
                                   const struct pl_json_node *data, struct pl_error *err)
{
    (void)err;
    sending->command.event.kind = PL_SE_COMPACT;
    sending->command.event.compact.trigger = PL_STR("manual");
    return pl_member_text(&sending->arena, doc, data, "loop_id",
                          &sending->command.event.compact.loop_id);
}

static enum pl_status read_result(struct sending *sending, const struct pl_json_doc *doc,
                                  const struct pl_json_node *data, struct pl_error *err)
{
    struct pl_session_event *event = &sending->command.event;
    const struct pl_json_node *result = pl_json_get(doc, data, PL_STR("result"));
    const struct pl_json_node *is_error = pl_json_get(doc, data, PL_STR("is_error"));
    bool is_bool = !is_error || pl_json_kind(is_error) == PL_JSON_TRUE ||
                   pl_json_kind(is_error) == PL_JSON_FALSE;
    event->kind = PL_SE_CLIENT_RESULT;
    enum pl_status status =
        pl_member_text(&sending->arena, doc, data, "tool_call_id", &event->tool.tool_call_id);
    if (status != PL_OK)
        return status;
    if (!result || !event->tool.tool_call_id.len || !is_bool)
        return pl_fail(err, PL_INVALID,
                       "A tool:result needs tool_call_id and result; is_error is true or false.");
    event->tool.result = pl_json_span(doc, result);
    event->tool.is_error = is_error && pl_json_kind(is_error) == PL_JSON_TRUE;
    return PL_OK;
}

/* The frame's bytes belong to the socket, so they are copied and parsed again. */
static void send_event(struct pl_ws_live *ws, const struct pl_socket_message *m,
                       read_event_fn *read)
{
    struct sending *sending = pl_mem_alloc(1, sizeof *sending);
    if (!sending)
        return pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    *sending = (struct sending){.ws = ws};
    struct pl_arena *arena = &sending->arena;
    pl_arena_init(arena, 0);
    struct pl_str data = m->data ? pl_json_span(&m->doc, m->data) : PL_STR("{}");
    struct pl_str text = pl_arena_dup(arena, data), user = pl_arena_dup(arena, pl_socket_user(ws));
    sending->id = pl_arena_dup(arena, m->id);
    sending->trace_id = pl_arena_dup(arena, m->trace_id);
    pl_session_command_init(&sending->command, PL_COMMAND_EVENT, pl_socket_shard(ws), user,
                            (struct pl_str){0});
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_json_opts opts = {.refuses_nul = true};
    enum pl_status status =
        text.ptr && user.ptr ? pl_json_parse(arena, text, &opts, &doc, &err) : PL_NOMEM;
    if (status == PL_OK)
        status = pl_member_text(arena, &doc, doc.root, "session_id", &sending->command.session_id);
    if (status == PL_OK)
        status = read(sending, &doc, doc.root, &err);
    if (status != PL_OK) {
        pl_socket_fail(ws, m->id, pl_problem_of(status), &err, NULL);
        sending_destroy(sending);
        return;
    }
    pl_socket_begin_answer(ws);
    sending->command.done = on_sent;
    if (pl_said_media_has(&doc, doc.root, &sending->command.event))
        keep_media(sending);
    else
        pl_session_command_send(&sending->command);
}

static void on_chat_send(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    send_event(ws, m, read_chat);
}

static void on_chat_stop(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    send_event(ws, m, read_stop);
}

static void on_chat_compact(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    send_event(ws, m, read_compact);
}

static void on_tool_result(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    send_event(ws, m, read_result);
}

const struct pl_socket_event pl_session_socket_events[] = {
    {"chat:send", false, PL_FOR_SESSIONS, "SocketChat", on_chat_send},
    {"chat:stop", false, PL_FOR_SESSIONS, "SocketSession", on_chat_stop},
    {"chat:compact", false, PL_FOR_SESSIONS, "SocketCompact", on_chat_compact},
    {"tool:result", false, PL_FOR_SESSIONS, "SocketToolResult", on_tool_result},
    {NULL, false, 0, NULL, NULL},
};
