/* Queued messages. They wait for the end of the chat or, if they steer it, for the next model call
 * of the root loop. */
#include "session/session_int.h"

#include "json/number.h"
#include "json/text.h"

const char *pl_chat_mode_text(enum pl_chat_mode mode)
{
    return mode == PL_CHAT_MODE_PLANNING ? "planning" : "executing";
}

void pl_queued_destroy(struct pl_queued *queued)
{
    if (!queued)
        return;
    pl_arena_deinit(&queued->arena);
    pl_mem_free(queued);
}

struct pl_queued *pl_queued_create(int64_t position, struct pl_str client_message_id,
                                   struct pl_str body)
{
    struct pl_queued *queued = pl_mem_alloc(1, sizeof *queued);
    if (!queued)
        return NULL;
    *queued = (struct pl_queued){.position = position};
    pl_arena_init(&queued->arena, 0);
    queued->client_message_id = pl_arena_dup(&queued->arena, client_message_id);
    queued->body = pl_arena_dup(&queued->arena, body);
    if (!queued->client_message_id.ptr || !queued->body.ptr) {
        pl_queued_destroy(queued);
        return NULL;
    }
    return queued;
}

static void write_body(struct pl_step *x, const struct pl_said *said)
{
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    pl_out_json(&out, "message", said->message);
    if (said->model.len) {
        pl_out_member(&out, "model", said->model);
        pl_json_out_key(&out, "context_window");
        pl_json_out_int(&out, said->context_window);
    }
    if (said->mode != PL_CHAT_MODE_KEEP)
        pl_out_member(&out, "mode", pl_str_of(pl_chat_mode_text(said->mode)));
    if (said->language == PL_CHAT_CHINESE)
        pl_out_member(&out, "language", PL_STR("zh"));
    if (said->override.ptr)
        pl_out_json(&out, "override", said->override);
    if (said->steers)
        pl_out_json(&out, "steer", PL_STR("true"));
    if (said->trace_id.len)
        pl_out_member(&out, "trace_id", said->trace_id);
    if (said->key_id.len)
        pl_out_member(&out, "key_id", said->key_id);
    pl_json_out_close(&out, '}');
}

static void put_row(struct pl_step *x, enum pl_row_kind kind, const struct pl_queued *queued)
{
    struct pl_session_row row = {
        .kind = kind,
        .queued =
            {
                .session_id = pl_step_keep(x, x->s->record.id),
                .position = queued->position,
                .client_message_id = pl_step_keep(x, queued->client_message_id),
                .body = pl_step_keep(x, queued->body),
            },
    };
    pl_step_put_row(x, &row);
}

size_t pl_session_queued_bytes(const struct pl_session *session)
{
    size_t n = 0;
    for (size_t i = 0; i < session->queue.len; i++)
        n += session->queue.ptr[i]->body.len;
    return n;
}

enum pl_status pl_queue_add(struct pl_step *x, const struct pl_said *said)
{
    struct pl_session *s = x->s;
    if (s->queue.len >= PL_SESSION_MAX_QUEUED)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_QUEUE_FULL,
                              "64 messages are already waiting; try again later");
    write_body(x, said);
    struct pl_str body = pl_step_take_text(x);
    if (s->queue.len && pl_session_queued_bytes(s) + body.len > PL_SESSION_MAX_QUEUED_BYTES)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_QUEUE_FULL,
                              "The messages that are waiting have 4 MiB together; try again later");
    struct pl_queued *queued = pl_queued_create(s->next_position, said->client_message_id, body);
    if (!queued || !pl_vec_push(&s->queue, queued)) {
        pl_queued_destroy(queued);
        x->is_oom = true;
        return PL_OK;
    }
    s->next_position++;
    queued->steers = said->steers;
    put_row(x, PL_ROW_QUEUED, queued);
    pl_buf_clear(&x->out->text);
    pl_buf_addf(&x->out->text, "{\"queued\":true,\"position\":%lld}", (long long)queued->position);
    x->out->reply = pl_step_take_text(x);
    return PL_OK;
}

struct pl_queued *pl_queue_take(struct pl_step *x, size_t index)
{
    struct pl_session *s = x->s;
    struct pl_queued *queued = s->queue.ptr[index];
    s->queue.len--;
    memmove(&s->queue.ptr[index], &s->queue.ptr[index + 1],
            (s->queue.len - index) * sizeof *s->queue.ptr);
    put_row(x, PL_ROW_UNQUEUED, queued);
    return queued;
}

static enum pl_status read_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const char *key, struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_get(doc, doc->root, pl_str_of(key));
    if (!n || pl_json_kind(n) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(arena, doc, n, ret_text);
}

enum pl_status pl_queued_read(const struct pl_queued *queued, struct pl_arena *arena,
                              struct pl_said *ret_said)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, queued->body, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status == PL_NOMEM ? status : PL_INVALID;
    const struct pl_json_node *message = pl_json_get(&doc, doc.root, PL_STR("message"));
    const struct pl_json_node *window = pl_json_get(&doc, doc.root, PL_STR("context_window"));
    const struct pl_json_node *steer = pl_json_get(&doc, doc.root, PL_STR("steer"));
    if (!message)
        return PL_INVALID;
    struct pl_said said = {
        .message = pl_json_span(&doc, message),
        .client_message_id = queued->client_message_id,
        .steers = steer && pl_json_kind(steer) == PL_JSON_TRUE,
        .is_queued = true,
        .position = queued->position,
    };
    const struct pl_json_node *override =
        pl_json_member(&doc, doc.root, "override", PL_JSON_OBJECT);
    if (override)
        said.override = pl_json_span(&doc, override);
    struct pl_str mode = {0}, language = {0};
    if (window && pl_json_kind(window) == PL_JSON_NUMBER &&
        !pl_json_number_int64(pl_json_span(&doc, window), &said.context_window))
        return PL_INVALID;
    status = read_text(arena, &doc, "model", &said.model);
    if (status == PL_OK)
        status = read_text(arena, &doc, "mode", &mode);
    if (status == PL_OK)
        status = read_text(arena, &doc, "language", &language);
    if (status == PL_OK)
        status = read_text(arena, &doc, "trace_id", &said.trace_id);
    if (status == PL_OK)
        status = read_text(arena, &doc, "key_id", &said.key_id);
    if (pl_str_eq(language, PL_STR("zh")))
        said.language = PL_CHAT_CHINESE;
    if (mode.len)
        said.mode =
            pl_str_eq(mode, PL_STR("planning")) ? PL_CHAT_MODE_PLANNING : PL_CHAT_MODE_EXECUTING;
    *ret_said = said;
    return status;
}

/* Writes position, client_message_id and the members of the body, which has the message. */
void pl_queued_write(const struct pl_queued *queued, struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "position");
    pl_json_out_int(out, queued->position);
    pl_out_member(out, "client_message_id",
                  queued->client_message_id.len ? queued->client_message_id : (struct pl_str){0});
    struct pl_str members = pl_str_slice(queued->body, 1, queued->body.len);
    pl_buf_addc(out->buf, ',');
    pl_buf_add(out->buf, pl_str_slice(members, 0, members.len - 1));
    pl_json_out_close(out, '}');
}
