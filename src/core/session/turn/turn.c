/* A turn and its projection (seed 003, TurnProjection): every member in the seed's order, then
 * ours, so that two writers of the same turn write the same bytes. */
#include "session/turn/turn_int.h"

#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"

static const char *const roles[] = {
    [PL_TURN_ROLE_ASSISTANT] = "assistant",
    [PL_TURN_ROLE_USER] = "user",
    [PL_TURN_ROLE_SYSTEM] = "system",
};

const char *pl_turn_role_text(enum pl_turn_role role)
{
    return roles[role];
}

enum pl_turn_role pl_turn_role_of(struct pl_str text)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pl_str_eq(text, pl_str_of(roles[i])))
            return (enum pl_turn_role)i;
    return PL_TURN_ROLE_ASSISTANT;
}

enum { PREVIEW_CHARACTERS = 200 };

void pl_turn_init(struct pl_turn *turn)
{
    *turn = (struct pl_turn){0};
    pl_arena_init(&turn->arena, 0);
    pl_buf_init(&turn->waiting, 0);
}

void pl_turn_deinit(struct pl_turn *turn)
{
    for (size_t i = 0; i < turn->blocks.len; i++)
        pl_buf_deinit(&turn->blocks.ptr[i].text);
    pl_vec_deinit(&turn->blocks);
    pl_vec_deinit(&turn->calls);
    pl_buf_deinit(&turn->waiting);
    pl_arena_deinit(&turn->arena);
}

struct pl_str pl_turn_keep(struct pl_turn *turn, struct pl_str s)
{
    if (!s.ptr)
        return (struct pl_str){0};
    struct pl_str copy = pl_arena_dup(&turn->arena, s);
    turn->is_oom |= !copy.ptr;
    return copy;
}

struct pl_turn_end pl_turn_keep_end(struct pl_turn *turn, const struct pl_turn_end *end)
{
    return (struct pl_turn_end){
        .model = pl_turn_keep(turn, end->model),
        .usage = pl_turn_keep(turn, end->usage),
        .timing = pl_turn_keep(turn, end->timing),
        .metadata = pl_turn_keep(turn, end->metadata),
    };
}

struct pl_block *pl_turn_add_block(struct pl_turn *turn, enum pl_block_type type)
{
    struct pl_block *block = pl_vec_add(&turn->blocks);
    if (!block) {
        turn->is_oom = true;
        return NULL;
    }
    *block = (struct pl_block){.type = type, .call = PL_NO_CALL};
    pl_buf_init(&block->text, 0);
    turn->has_open_block = false;
    return block;
}

static struct pl_block *add_call_block(struct pl_turn *turn, enum pl_block_type type, size_t i)
{
    struct pl_block *block = pl_turn_add_block(turn, type);
    if (!block)
        return NULL;
    struct pl_tool_call *call = &turn->calls.ptr[i];
    call->shown |= (uint16_t)(1u << type);
    block->call = (int32_t)i;
    block->tool_call_id = pl_turn_keep(turn, pl_str_of(call->id.text));
    block->tool_name = call->tool_name;
    block->display_name = call->display_name;
    return block;
}

/* {id, name, input}: the input is the arguments' JSON, or a string if they are not JSON. */
void pl_turn_add_use(struct pl_turn *turn, size_t i)
{
    struct pl_block *block = add_call_block(turn, PL_BLOCK_TOOL_USE, i);
    if (!block)
        return;
    const struct pl_tool_call *call = &turn->calls.ptr[i];
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    struct pl_json_doc doc;
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    pl_out_member(&out, "id", pl_str_of(call->id.text));
    pl_out_member(&out, "name", call->tool_name);
    pl_json_out_key(&out, "input");
    enum pl_status status = pl_json_parse(&arena, call->arguments, NULL, &doc, NULL);
    if (status == PL_OK) {
        pl_json_write_min(&text, &doc, doc.root);
        out.is_after_key = false;
    } else {
        pl_json_out_text(&out, call->arguments);
    }
    pl_json_out_close(&out, '}');
    turn->is_oom |= status == PL_NOMEM || text.status != PL_OK;
    block->content = pl_turn_keep(turn, pl_buf_str(&text));
}

/* _meta.ui and _meta.bridge of a result are for the page: each gets a block of its own. */
static void add_meta(struct pl_turn *turn, size_t i, const struct pl_json_doc *doc,
                     const char *member, enum pl_block_type type)
{
    const struct pl_json_node *meta = pl_json_get(doc, doc->root, PL_STR("_meta"));
    const struct pl_json_node *value = meta && pl_json_kind(meta) == PL_JSON_OBJECT
                                           ? pl_json_get(doc, meta, pl_str_of(member))
                                           : NULL;
    if (!value || pl_json_kind(value) != PL_JSON_OBJECT)
        return;
    struct pl_block *block = add_call_block(turn, type, i);
    if (block)
        block->content = pl_turn_keep(turn, pl_json_span(doc, value));
}

void pl_turn_add_result(struct pl_turn *turn, size_t i)
{
    struct pl_block *block = add_call_block(turn, PL_BLOCK_TOOL_RESULT, i);
    struct pl_str result = turn->calls.ptr[i].result;
    if (!block || !result.ptr)
        return;
    block->content = result;
    if (result.ptr[0] != '{')
        return;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&arena, result, NULL, &doc, NULL);
    turn->is_oom |= status == PL_NOMEM;
    if (status != PL_OK)
        return;
    add_meta(turn, i, &doc, "ui", PL_BLOCK_TOOL_UI);
    add_meta(turn, i, &doc, "bridge", PL_BLOCK_TOOL_BRIDGE);
}

bool pl_turn_has_open_calls(const struct pl_turn *turn)
{
    for (size_t i = 0; i < turn->calls.len; i++)
        if (!pl_tool_call_is_terminal(&turn->calls.ptr[i]))
            return true;
    return false;
}

/* --- writing --------------------------------------------------------------------------------- */

void pl_out_member(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    if (text.ptr)
        pl_json_out_text(out, text);
    else
        pl_json_out_null(out);
}

void pl_out_json(struct pl_json_out *out, const char *key, struct pl_str json)
{
    pl_json_out_key(out, key);
    if (json.ptr)
        pl_json_out_raw(out, json);
    else
        pl_json_out_null(out);
}

void pl_out_time(struct pl_json_out *out, const char *key, int64_t unix_ms)
{
    char text[PL_UTC_SIZE];
    pl_utc_write(text, unix_ms);
    pl_out_member(out, key, (struct pl_str){text, sizeof text});
}

static void out_int(struct pl_json_out *out, const char *key, int64_t value)
{
    pl_json_out_key(out, key);
    pl_json_out_int(out, value);
}

void pl_block_write(const struct pl_block *block, struct pl_json_out *out)
{
    pl_out_member(out, "type", pl_str_of(pl_block_type_text(block->type)));
    if (pl_block_content_kind(block->type) == PL_CONTENT_TEXT)
        pl_out_member(out, "content", block->text.len ? pl_buf_str(&block->text) : PL_STR(""));
    else
        pl_out_json(out, "content", block->content);
    pl_out_member(out, "tool_call_id", block->tool_call_id);
    pl_out_member(out, "tool_name", block->tool_name);
    pl_out_member(out, "display_name", block->display_name);
}

/* Only if there is a proof: the seed has no such member. */
static void write_proof(struct pl_json_out *out, const struct pl_turn *turn, struct pl_str proof)
{
    bool is_open = turn->status == PL_TURN_STREAMING || turn->status == PL_TURN_PAUSED;
    if (proof.ptr && !is_open)
        pl_out_json(out, "proof", proof);
}

/* Start of the call, and times of a question and its answer. Patches do not have them: they come
 * with the end of the turn. */
static void write_times(const struct pl_turn *turn, const struct pl_tool_call *call,
                        struct pl_json_out *out)
{
    bool is_open = turn->status == PL_TURN_STREAMING || turn->status == PL_TURN_PAUSED;
    if (call->started_ms && !is_open)
        pl_out_time(out, "started_at", call->started_ms);
    if (call->asked_ms && !is_open)
        pl_out_time(out, "asked_at", call->asked_ms);
    if (call->answered_ms && !is_open)
        pl_out_time(out, "answered_at", call->answered_ms);
}

static void write_call(const struct pl_turn *turn, const struct pl_tool_call *call,
                       struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    pl_out_member(out, "id", pl_str_of(call->id.text));
    pl_out_member(out, "tool_name", call->tool_name);
    pl_out_member(out, "display_name", call->display_name);
    pl_out_member(out, "arguments", call->arguments);
    pl_out_member(out, "status", pl_str_of(pl_tool_call_status_text(call->status)));
    pl_out_json(out, "result", call->result);
    pl_json_out_key(out, "duration_ms");
    if (call->duration_ms < 0)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, call->duration_ms);
    pl_out_json(out, "pending_question_ref", call->ref);
    write_times(turn, call, out);
    if (call->result_message.ptr)
        pl_out_json(out, "result_message", call->result_message);
    write_proof(out, turn, call->proof);
    if (call->is_client)
        pl_out_member(out, "runs", PL_STR("client"));
    pl_json_out_close(out, '}');
}

static struct pl_str preview_of(struct pl_str text)
{
    size_t at = 0;
    for (size_t n = 0; n < PREVIEW_CHARACTERS && at < text.len; n++)
        (void)pl_utf8_next(text, &at);
    return pl_str_slice(text, 0, at);
}

/* Saved tokens as a decimal with four digits; 0 if there were none before. */
static void write_saved_ratio(const struct pl_compaction *c, struct pl_json_out *out)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    double saved =
        c->tokens_before > 0 && c->tokens_after < c->tokens_before
            ? ((double)c->tokens_before - (double)c->tokens_after) / (double)c->tokens_before
            : 0;
    unsigned parts = saved < 1 ? (unsigned)(saved * 10000 + 0.5) : 10000;
    pl_buf_addf(&text, "%u.%04u", parts / 10000, parts % 10000);
    pl_json_out_key(out, "saved_ratio");
    pl_json_out_raw(out, pl_buf_str(&text));
    if (text.status != PL_OK && out->buf->status == PL_OK)
        out->buf->status = text.status;
}

static void write_compaction(const struct pl_compaction *c, struct pl_json_out *out)
{
    pl_out_member(out, "compaction_id", c->id);
    pl_out_member(out, "summary_preview", preview_of(c->summary));
    pl_out_member(out, "summary_full", c->summary);
    out_int(out, "archived_count", c->archived_count);
    out_int(out, "tokens_before", c->tokens_before);
    out_int(out, "tokens_after", c->tokens_after);
    write_saved_ratio(c, out);
    pl_out_member(out, "trigger", c->trigger);
}

static void write_entry_id(const struct pl_turn *turn, struct pl_json_out *out)
{
    char entry[PL_ID_MAX + 8] = "entry_";
    struct pl_str uuid = pl_str_of(turn->id.text);
    uuid = pl_str_slice(uuid, sizeof "turn_" - 1, uuid.len);
    memcpy(entry + sizeof "entry_" - 1, uuid.ptr, uuid.len);
    pl_out_member(out, "id", (struct pl_str){entry, sizeof "entry_" - 1 + uuid.len});
}

void pl_turn_write(const struct pl_turn *turn, struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    write_entry_id(turn, out);
    out_int(out, "sequence", turn->sequence);
    pl_out_member(out, "turn_id", pl_str_of(turn->id.text));
    pl_out_member(out, "loop_id", turn->loop_id);
    pl_out_member(out, "kind", turn->is_compaction ? PL_STR("compaction") : PL_STR("message"));
    pl_out_member(out, "role", pl_str_of(pl_turn_role_text(turn->role)));
    pl_out_member(out, "status", pl_str_of(pl_turn_status_text(turn->status)));
    pl_json_out_key(out, "blocks");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < turn->blocks.len; i++) {
        pl_json_out_open(out, '{');
        pl_block_write(&turn->blocks.ptr[i], out);
        write_proof(out, turn, turn->blocks.ptr[i].proof);
        if (turn->blocks.ptr[i].variables.ptr)
            pl_out_json(out, "variables", turn->blocks.ptr[i].variables);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
    pl_json_out_key(out, "tool_calls");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < turn->calls.len; i++)
        write_call(turn, &turn->calls.ptr[i], out);
    pl_json_out_close(out, ']');
    pl_out_member(out, "model", turn->model);
    pl_out_json(out, "usage", turn->usage);
    out_int(out, "duration_ms", turn->duration_ms);
    pl_out_time(out, "started_at", turn->started_ms);
    out_int(out, "context_window", turn->context_window);
    pl_out_json(out, "memory_refs", turn->memory_refs);
    pl_out_member(out, "parent_fork_tool_call_id", turn->parent_call_id);
    if (turn->is_compaction)
        write_compaction(&turn->compaction, out);
    if (turn->timing.ptr)
        pl_out_json(out, "timing", turn->timing);
    if (turn->metadata.ptr)
        pl_out_json(out, "metadata", turn->metadata);
    if (turn->client_message_id.len)
        pl_out_member(out, "client_message_id", turn->client_message_id);
    if (turn->error.ptr)
        pl_out_member(out, "error", turn->error);
    if (turn->error_info.ptr)
        pl_out_json(out, "error_info", turn->error_info);
    if (turn->message_id.ptr)
        pl_out_member(out, "message_id", turn->message_id);
    if (turn->name.ptr)
        pl_out_member(out, "name", turn->name);
    pl_json_out_close(out, '}');
}
