/* A turn as a row and back. The body has the members of the projection that are not columns and not
 * at their default, without repetition:
 *
 *     {"role":"user",                              assistant, or system for a compaction
 *      "blocks":["a text",                         a text block
 *                {"use":0}, {"result":0},          the blocks of tool_calls[0], made again from it
 *                {"type":"thinking","content":…}], anything else, and a text that has a proof:
 *                                                  members that are not null
 *      "variables":[{"text":0,"list":[…]}],        of the first text block
 *      "tool_calls":[{"id","tool_name","display_name","arguments","status","result",
 *                     "duration_ms","started_ms","asked_ms","answered_ms","pending_question_ref",
 *                     "result_message","proof","runs"}],
 *      "model","usage","duration_ms","context_window","memory_refs","parent_fork_tool_call_id",
 *      "compaction":{"id","summary","trigger","archived_count","tokens_before","tokens_after"},
 *      "timing","metadata","error","error_info","message_id","name",
 *      "_live":{"calls","ended","over","chinese","model","usage","timing","metadata","trace_id"}}
 *
 * A call's display_name is omitted if it equals its tool_name, its status if it is done. `_live` is
 * only in an open turn and in no projection: the state that the loop needs to continue after a
 * restart. started_at is the row's created_ms. */
#include "session/turn/turn_int.h"

#include "base/text/utc.h"
#include "json/json.h"
#include "json/number.h"
#include "json/text.h"

/* --- to ---------------------------------------------------------------------------------------
 */

static void put_text(struct pl_json_out *out, const char *key, struct pl_str text)
{
    if (text.ptr)
        pl_out_member(out, key, text);
}

static void put_json(struct pl_json_out *out, const char *key, struct pl_str json)
{
    if (json.ptr)
        pl_out_json(out, key, json);
}

static void put_int(struct pl_json_out *out, const char *key, int64_t value, int64_t usual)
{
    if (value == usual)
        return;
    pl_json_out_key(out, key);
    pl_json_out_int(out, value);
}

static void put_true(struct pl_json_out *out, const char *key, bool value)
{
    if (!value)
        return;
    pl_json_out_key(out, key);
    pl_json_out_bool(out, true);
}

static bool is_repeated(const struct pl_block *block)
{
    return block->call != PL_NO_CALL &&
           (block->type == PL_BLOCK_TOOL_UI || block->type == PL_BLOCK_TOOL_BRIDGE);
}

static void put_block(struct pl_json_out *out, const struct pl_block *block)
{
    bool is_text = pl_block_content_kind(block->type) == PL_CONTENT_TEXT;
    struct pl_str text = block->text.len ? pl_buf_str(&block->text) : PL_STR("");
    if (block->type == PL_BLOCK_TEXT && !block->tool_call_id.ptr && !block->tool_name.ptr &&
        !block->display_name.ptr && !block->proof.ptr) {
        pl_json_out_text(out, text);
        return;
    }
    pl_json_out_open(out, '{');
    if (block->call != PL_NO_CALL) {
        pl_json_out_key(out, block->type == PL_BLOCK_TOOL_USE ? "use" : "result");
        pl_json_out_int(out, block->call);
        pl_json_out_close(out, '}');
        return;
    }
    pl_out_member(out, "type", pl_str_of(pl_block_type_text(block->type)));
    if (is_text)
        pl_out_member(out, "content", text);
    else
        put_json(out, "content", block->content);
    put_text(out, "tool_call_id", block->tool_call_id);
    put_text(out, "tool_name", block->tool_name);
    put_text(out, "display_name", block->display_name);
    put_json(out, "proof", block->proof);
    pl_json_out_close(out, '}');
}

static void put_call(struct pl_json_out *out, const struct pl_tool_call *call)
{
    pl_json_out_open(out, '{');
    pl_out_member(out, "id", pl_str_of(call->id.text));
    pl_out_member(out, "tool_name", call->tool_name);
    if (!pl_str_eq(call->display_name, call->tool_name))
        pl_out_member(out, "display_name", call->display_name);
    pl_out_member(out, "arguments", call->arguments);
    if (call->status != PL_TOOL_CALL_DONE)
        pl_out_member(out, "status", pl_str_of(pl_tool_call_status_text(call->status)));
    put_json(out, "result", call->result);
    put_int(out, "duration_ms", call->duration_ms, -1);
    put_int(out, "started_ms", call->started_ms, 0);
    put_int(out, "asked_ms", call->asked_ms, 0);
    put_int(out, "answered_ms", call->answered_ms, 0);
    put_json(out, "pending_question_ref", call->ref);
    put_json(out, "result_message", call->result_message);
    put_json(out, "proof", call->proof);
    if (call->is_client)
        pl_out_member(out, "runs", PL_STR("client"));
    pl_json_out_close(out, '}');
}

static void put_compaction(struct pl_json_out *out, const struct pl_compaction *c)
{
    pl_json_out_key(out, "compaction");
    pl_json_out_open(out, '{');
    pl_out_member(out, "id", c->id);
    pl_out_member(out, "summary", c->summary);
    pl_out_member(out, "trigger", c->trigger);
    put_int(out, "archived_count", c->archived_count, 0);
    put_int(out, "tokens_before", c->tokens_before, 0);
    put_int(out, "tokens_after", c->tokens_after, 0);
    pl_json_out_close(out, '}');
}

static void put_live(struct pl_json_out *out, const struct pl_turn *turn)
{
    pl_json_out_key(out, "_live");
    pl_json_out_open(out, '{');
    put_int(out, "calls", turn->n_chat_calls, 0);
    put_true(out, "ended", turn->has_ended);
    put_true(out, "over", turn->is_over);
    put_true(out, "chinese", turn->language == PL_CHAT_CHINESE);
    put_text(out, "model", turn->end.model);
    put_json(out, "usage", turn->end.usage);
    put_json(out, "timing", turn->end.timing);
    put_json(out, "metadata", turn->end.metadata);
    put_text(out, "trace_id", turn->trace_id);
    pl_json_out_close(out, '}');
}

static void put_variables(struct pl_json_out *out, const struct pl_turn *turn)
{
    bool has_any = false;
    int64_t n_texts = 0;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        const struct pl_block *block = &turn->blocks.ptr[i];
        if (block->variables.ptr) {
            if (!has_any) {
                pl_json_out_key(out, "variables");
                pl_json_out_open(out, '[');
            }
            has_any = true;
            pl_json_out_open(out, '{');
            pl_json_out_key(out, "text");
            pl_json_out_int(out, n_texts);
            pl_out_json(out, "list", block->variables);
            pl_json_out_close(out, '}');
        }
        n_texts += block->type == PL_BLOCK_TEXT;
    }
    if (has_any)
        pl_json_out_close(out, ']');
}

static void put_body(struct pl_json_out *out, const struct pl_turn *turn)
{
    pl_json_out_open(out, '{');
    if (turn->role != PL_TURN_ROLE_ASSISTANT && !turn->is_compaction)
        pl_out_member(out, "role", pl_str_of(pl_turn_role_text(turn->role)));
    if (turn->is_compaction) {
        put_compaction(out, &turn->compaction);
    } else if (turn->blocks.len) {
        pl_json_out_key(out, "blocks");
        pl_json_out_open(out, '[');
        for (size_t i = 0; i < turn->blocks.len; i++)
            if (!is_repeated(&turn->blocks.ptr[i]))
                put_block(out, &turn->blocks.ptr[i]);
        pl_json_out_close(out, ']');
        put_variables(out, turn);
    }
    if (turn->calls.len) {
        pl_json_out_key(out, "tool_calls");
        pl_json_out_open(out, '[');
        for (size_t i = 0; i < turn->calls.len; i++)
            put_call(out, &turn->calls.ptr[i]);
        pl_json_out_close(out, ']');
    }
    put_text(out, "model", turn->model);
    put_json(out, "usage", turn->usage);
    put_int(out, "duration_ms", turn->duration_ms, 0);
    put_int(out, "context_window", turn->context_window, 0);
    put_json(out, "memory_refs", turn->memory_refs);
    put_text(out, "parent_fork_tool_call_id", turn->parent_call_id);
    put_json(out, "timing", turn->timing);
    put_json(out, "metadata", turn->metadata);
    put_text(out, "error", turn->error);
    put_json(out, "error_info", turn->error_info);
    put_text(out, "message_id", turn->message_id);
    put_text(out, "name", turn->name);
    if (turn->status == PL_TURN_STREAMING || turn->status == PL_TURN_PAUSED)
        put_live(out, turn);
    pl_json_out_close(out, '}');
}

enum pl_status pl_turn_to_row(const struct pl_turn *turn, struct pl_str session_id,
                              struct pl_buf *scratch, struct pl_arena *arena,
                              struct pl_turn_row *ret_row)
{
    pl_buf_clear(scratch);
    struct pl_json_out out = pl_json_out(scratch);
    put_body(&out, turn);
    struct pl_turn_row row = {
        .session_id = pl_arena_dup(arena, session_id),
        .sequence = turn->sequence,
        .turn_id = pl_arena_dup(arena, pl_str_of(turn->id.text)),
        .loop_id = pl_arena_dup(arena, turn->loop_id),
        .status = turn->status,
        .is_compaction = turn->is_compaction,
        .last_event = turn->last_event,
        .client_message_id = pl_arena_dup(arena, turn->client_message_id),
        .created_ms = turn->started_ms,
        .body = pl_arena_dup(arena, pl_buf_str(scratch)),
    };
    if (scratch->status != PL_OK || !row.session_id.ptr || !row.turn_id.ptr || !row.loop_id.ptr ||
        !row.client_message_id.ptr || !row.body.ptr)
        return PL_NOMEM;
    *ret_row = row;
    return PL_OK;
}

/* --- from -------------------------------------------------------------------------------------
 */

struct reading {
    struct pl_turn *turn;
    struct pl_json_doc doc;
    bool is_bad;      /* the body was not written here */
    bool is_foreign;  /* a projection from elsewhere: null means absent */
    size_t last_call; /* index of the last call that a foreign block named */
};

static struct pl_str text_of(struct reading *r, const struct pl_json_node *string)
{
    struct pl_str text = {0};
    if (!string)
        return text;
    if (pl_json_text(&r->turn->arena, &r->doc, string, &text) != PL_OK) {
        r->turn->is_oom = true;
        return (struct pl_str){0};
    }
    return pl_turn_keep(r->turn, text);
}

static struct pl_str get_text(struct reading *r, const struct pl_json_node *of, const char *key)
{
    return text_of(r, pl_json_member(&r->doc, of, key, PL_JSON_STRING));
}

static struct pl_str get_json(struct reading *r, const struct pl_json_node *of, const char *key)
{
    const struct pl_json_node *n = of ? pl_json_get(&r->doc, of, pl_str_of(key)) : NULL;
    if (!n || (r->is_foreign && pl_json_kind(n) == PL_JSON_NULL))
        return (struct pl_str){0};
    return pl_turn_keep(r->turn, pl_json_span(&r->doc, n));
}

/* Reads a proof; only the model's output has one. */
static struct pl_str get_proof(struct reading *r, const struct pl_json_node *of)
{
    bool has_one = r->turn->role == PL_TURN_ROLE_ASSISTANT &&
                   pl_json_member(&r->doc, of, "proof", PL_JSON_OBJECT);
    struct pl_str proof = has_one ? get_json(r, of, "proof") : (struct pl_str){0};
    r->turn->n_text += proof.len;
    return proof;
}

static void set_variables(struct reading *r, struct pl_block *block, const struct pl_json_node *of,
                          const char *key)
{
    if (!pl_json_member(&r->doc, of, key, PL_JSON_ARRAY))
        return;
    block->variables = get_json(r, of, key);
    r->turn->n_text += block->variables.len;
}

static int64_t get_int(struct reading *r, const struct pl_json_node *of, const char *key,
                       int64_t usual)
{
    const struct pl_json_node *n = pl_json_member(&r->doc, of, key, PL_JSON_NUMBER);
    int64_t value = usual;
    if (n && !pl_json_number_int64(pl_json_span(&r->doc, n), &value))
        r->is_bad = true;
    return value;
}

static bool get_true(struct reading *r, const struct pl_json_node *of, const char *key)
{
    return pl_json_member(&r->doc, of, key, PL_JSON_TRUE);
}

static void set_id(struct reading *r, struct pl_id *id, struct pl_str text)
{
    *id = (struct pl_id){0};
    if (text.len < sizeof id->text)
        memcpy(id->text, text.len ? text.ptr : "", text.len);
    else
        r->is_bad = true;
}

static void read_call(struct reading *r, const struct pl_json_node *n)
{
    struct pl_tool_call *call = pl_vec_add(&r->turn->calls);
    if (!call) {
        r->turn->is_oom = true;
        return;
    }
    *call = (struct pl_tool_call){.is_started = true};
    set_id(r, &call->id, get_text(r, n, "id"));
    call->tool_name = get_text(r, n, "tool_name");
    call->display_name = get_text(r, n, "display_name");
    if (!call->display_name.ptr)
        call->display_name = call->tool_name;
    call->arguments = get_text(r, n, "arguments");
    struct pl_str status = get_text(r, n, "status");
    call->status = status.ptr ? pl_tool_call_status_of(status) : PL_TOOL_CALL_DONE;
    call->result = get_json(r, n, "result");
    call->duration_ms = get_int(r, n, "duration_ms", -1);
    call->started_ms = get_int(r, n, "started_ms", 0);
    call->asked_ms = get_int(r, n, "asked_ms", 0);
    call->answered_ms = get_int(r, n, "answered_ms", 0);
    call->ref = get_json(r, n, "pending_question_ref");
    if (pl_json_member(&r->doc, n, "result_message", PL_JSON_OBJECT))
        call->result_message = get_json(r, n, "result_message");
    call->proof = get_proof(r, n);
    call->is_client = pl_str_eq(get_text(r, n, "runs"), PL_STR("client"));
    r->is_bad |= !call->tool_name.ptr || !call->arguments.ptr ||
                 call->status == PL_TOOL_CALL_STATUS_COUNT || pl_json_kind(n) != PL_JSON_OBJECT;
    r->turn->n_text += call->arguments.len;
}

static void read_text(struct reading *r, enum pl_block_type type, const struct pl_json_node *string)
{
    struct pl_str text = text_of(r, string);
    struct pl_block *block = pl_turn_add_block(r->turn, type);
    if (!block)
        return;
    pl_buf_add(&block->text, text);
    r->turn->is_oom |= block->text.status != PL_OK;
    r->turn->n_text += text.len;
}

/* Finds the call with this id; blocks usually name the calls in order. */
static size_t find_call(struct reading *r, struct pl_str id)
{
    const struct pl_turn *turn = r->turn;
    for (size_t n = 0; id.len && n < turn->calls.len; n++) {
        size_t i = (r->last_call + n) % turn->calls.len;
        if (pl_str_eq(pl_str_of(turn->calls.ptr[i].id.text), id))
            return r->last_call = i;
    }
    return turn->calls.len;
}

/* A block of a listed call may be incomplete: it is made again from the call. True: it was such a
 * block. */
static bool read_foreign_block(struct reading *r, enum pl_block_type type,
                               const struct pl_json_node *n)
{
    struct pl_turn *turn = r->turn;
    size_t call = find_call(r, get_text(r, n, "tool_call_id"));
    if (call == turn->calls.len)
        return false;
    bool is_repeated = turn->calls.ptr[call].shown >> type & 1;
    if (type == PL_BLOCK_TOOL_USE && !is_repeated)
        pl_turn_add_use(turn, call);
    else if (type == PL_BLOCK_TOOL_RESULT && !is_repeated)
        pl_turn_add_result(turn, call);
    else if (type != PL_BLOCK_TOOL_UI && type != PL_BLOCK_TOOL_BRIDGE && !is_repeated)
        return false;
    return type == PL_BLOCK_TOOL_USE || type == PL_BLOCK_TOOL_RESULT || is_repeated;
}

static void read_block(struct reading *r, const struct pl_json_node *n)
{
    if (pl_json_kind(n) == PL_JSON_STRING) {
        read_text(r, PL_BLOCK_TEXT, n);
        return;
    }
    int64_t use = get_int(r, n, "use", -1), result = get_int(r, n, "result", -1);
    int64_t call = use >= 0 ? use : result;
    if (call >= 0) {
        if ((uint64_t)call >= r->turn->calls.len)
            r->is_bad = true;
        else if (use >= 0)
            pl_turn_add_use(r->turn, (size_t)call);
        else
            pl_turn_add_result(r->turn, (size_t)call);
        return;
    }
    enum pl_block_type type = pl_block_type_of(get_text(r, n, "type"));
    r->is_bad |= type == PL_BLOCK_COUNT;
    if (r->is_bad || (r->is_foreign && read_foreign_block(r, type, n)))
        return;
    if (pl_block_content_kind(type) == PL_CONTENT_TEXT) {
        read_text(r, type, pl_json_member(&r->doc, n, "content", PL_JSON_STRING));
    } else {
        struct pl_block *block = pl_turn_add_block(r->turn, type);
        if (block)
            block->content = get_json(r, n, "content");
        r->turn->n_text += block ? block->content.len : 0;
    }
    if (r->turn->is_oom)
        return;
    struct pl_block *block = &r->turn->blocks.ptr[r->turn->blocks.len - 1];
    block->tool_call_id = get_text(r, n, "tool_call_id");
    block->tool_name = get_text(r, n, "tool_name");
    block->display_name = get_text(r, n, "display_name");
    if (type == PL_BLOCK_TEXT || type == PL_BLOCK_THINKING)
        block->proof = get_proof(r, n);
    if (type == PL_BLOCK_TEXT && r->is_foreign)
        set_variables(r, block, n, "variables");
}

/* In a row, variables are stored beside the blocks, in the order of the text blocks. */
static void read_variables(struct reading *r)
{
    const struct pl_json_node *list =
        pl_json_member(&r->doc, r->doc.root, "variables", PL_JSON_ARRAY);
    size_t at = 0;
    int64_t n_texts = 0;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        int64_t wanted = get_int(r, n, "text", -1);
        for (; at < r->turn->blocks.len; at++) {
            struct pl_block *block = &r->turn->blocks.ptr[at];
            if (block->type == PL_BLOCK_TEXT && n_texts == wanted) {
                set_variables(r, block, n, "list");
                break;
            }
            n_texts += block->type == PL_BLOCK_TEXT;
        }
    }
}

static void read_compaction(struct reading *r, const struct pl_json_node *n)
{
    struct pl_turn *turn = r->turn;
    turn->compaction = (struct pl_compaction){
        .id = get_text(r, n, "id"),
        .summary = get_text(r, n, "summary"),
        .trigger = get_text(r, n, "trigger"),
        .archived_count = get_int(r, n, "archived_count", 0),
        .tokens_before = get_int(r, n, "tokens_before", 0),
        .tokens_after = get_int(r, n, "tokens_after", 0),
    };
    const struct pl_json_node *summary = pl_json_member(&r->doc, n, "summary", PL_JSON_STRING);
    if (summary)
        read_text(r, PL_BLOCK_TEXT, summary);
    else
        r->is_bad = true;
}

static void read_live(struct reading *r, const struct pl_json_node *n)
{
    struct pl_turn *turn = r->turn;
    turn->n_chat_calls = get_int(r, n, "calls", 0);
    turn->has_ended = get_true(r, n, "ended");
    turn->is_over = get_true(r, n, "over");
    turn->language = get_true(r, n, "chinese") ? PL_CHAT_CHINESE : PL_CHAT_ENGLISH;
    turn->end = (struct pl_turn_end){
        .model = get_text(r, n, "model"),
        .usage = get_json(r, n, "usage"),
        .timing = get_json(r, n, "timing"),
        .metadata = get_json(r, n, "metadata"),
    };
    turn->trace_id = get_text(r, n, "trace_id");
}

static void read_lists(struct reading *r)
{
    const struct pl_json_node *root = r->doc.root;
    const struct pl_json_node *calls = pl_json_member(&r->doc, root, "tool_calls", PL_JSON_ARRAY);
    const struct pl_json_node *blocks = pl_json_member(&r->doc, root, "blocks", PL_JSON_ARRAY);
    for (const struct pl_json_node *n = calls ? pl_json_first(calls) : NULL;
         n && n < pl_json_end(calls) && !r->turn->is_oom; n = pl_json_next(n))
        read_call(r, n);
    for (const struct pl_json_node *n = blocks ? pl_json_first(blocks) : NULL;
         n && n < pl_json_end(blocks) && !r->turn->is_oom && !r->is_bad; n = pl_json_next(n))
        read_block(r, n);
    if (!r->is_foreign)
        read_variables(r);
}

static void read_body(struct reading *r)
{
    const struct pl_json_node *root = r->doc.root;
    struct pl_turn *turn = r->turn;
    turn->role = pl_turn_role_of(get_text(r, root, "role"));
    if (turn->is_compaction) {
        turn->role = PL_TURN_ROLE_SYSTEM;
        read_compaction(r, pl_json_member(&r->doc, root, "compaction", PL_JSON_OBJECT));
    }
    read_lists(r);
    turn->model = get_text(r, root, "model");
    turn->usage = get_json(r, root, "usage");
    turn->duration_ms = get_int(r, root, "duration_ms", 0);
    turn->context_window = get_int(r, root, "context_window", 0);
    turn->memory_refs = get_json(r, root, "memory_refs");
    turn->parent_call_id = get_text(r, root, "parent_fork_tool_call_id");
    turn->timing = get_json(r, root, "timing");
    if (pl_json_member(&r->doc, root, "metadata", PL_JSON_OBJECT))
        turn->metadata = get_json(r, root, "metadata");
    turn->error = get_text(r, root, "error");
    if (pl_json_member(&r->doc, root, "error_info", PL_JSON_OBJECT))
        turn->error_info = get_json(r, root, "error_info");
    turn->message_id = get_text(r, root, "message_id");
    turn->name = get_text(r, root, "name");
    const struct pl_json_node *live = pl_json_member(&r->doc, root, "_live", PL_JSON_OBJECT);
    if (live)
        read_live(r, live);
}

enum pl_status pl_turn_from_row(struct pl_turn *turn, const struct pl_turn_row *row,
                                struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct reading r = {.turn = turn};
    turn->loop_id = pl_turn_keep(turn, row->loop_id);
    turn->sequence = row->sequence;
    turn->last_event = row->last_event;
    turn->status = row->status;
    turn->is_compaction = row->is_compaction;
    turn->started_ms = turn->saved_ms = row->created_ms;
    turn->client_message_id = row->client_message_id.len
                                  ? pl_turn_keep(turn, row->client_message_id)
                                  : (struct pl_str){0};
    set_id(&r, &turn->id, row->turn_id);
    enum pl_status status = pl_json_parse(&arena, row->body, &pl_json_own, &r.doc, err);
    if (status != PL_OK)
        return status;
    read_body(&r);
    if (turn->is_oom)
        return pl_fail(err, PL_NOMEM, "Out of memory while reading a turn");
    if (r.is_bad || row->turn_id.len < sizeof "turn_" || pl_json_kind(r.doc.root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "The stored turn %.*s is damaged; restore it from a backup",
                       PL_STR_ARG(row->turn_id));
    return PL_OK;
}

/* --- from elsewhere ----------------------------------------------------------------------------
 */

/* An open turn from elsewhere does not continue: ends it and its calls. */
static void settle(struct pl_turn *turn)
{
    if (turn->status != PL_TURN_COMPLETED && turn->status != PL_TURN_FAILED)
        turn->status = PL_TURN_INTERRUPTED;
    for (size_t i = 0; i < turn->calls.len; i++)
        if (!pl_tool_call_is_terminal(&turn->calls.ptr[i]))
            turn->calls.ptr[i].status = PL_TOOL_CALL_CANCELLED;
}

/* The id that a conversion gives a message without one (pl_fresh_ids): entry_ and a number. */
static bool is_made_up(struct pl_str id)
{
    struct pl_str prefix = PL_STR("entry_");
    if (!pl_str_starts(id, prefix) || id.len == prefix.len)
        return false;
    for (size_t i = prefix.len; i < id.len; i++)
        if (id.ptr[i] < '0' || id.ptr[i] > '9')
            return false;
    return true;
}

/* The turn gets a new id and keeps its message's id. */
static void read_message_id(struct reading *r)
{
    struct pl_str id = get_text(r, r->doc.root, "id");
    if (!r->turn->message_id.len && id.len && !is_made_up(id))
        r->turn->message_id = id;
}

static void read_columns(struct reading *r, int64_t created_ms)
{
    const struct pl_json_node *root = r->doc.root;
    struct pl_turn *turn = r->turn;
    struct pl_str status = get_text(r, root, "status"), at = get_text(r, root, "started_at");
    struct pl_str loop_id = get_text(r, root, "loop_id");
    int64_t at_us = 0;
    read_message_id(r);
    turn->status = status.ptr ? pl_turn_status_of(status) : PL_TURN_COMPLETED;
    turn->started_ms = at.ptr && pl_utc_read(at, &at_us) ? at_us / 1000 : created_ms;
    turn->loop_id = loop_id.len ? loop_id : pl_turn_keep(turn, PL_STR("root"));
}

enum pl_status pl_turn_row_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *projection,
                                const struct pl_turn_origin *origin, struct pl_turn_row *ret_row,
                                struct pl_error *err)
{
    struct pl_turn turn;
    pl_turn_init(&turn);
    struct reading r = {.turn = &turn, .doc = *doc, .is_foreign = true};
    r.doc.root = projection;
    read_body(&r);
    if (!turn.context_window && turn.role == PL_TURN_ROLE_ASSISTANT)
        turn.context_window = origin->context_window;
    read_columns(&r, origin->created_ms);
    settle(&turn);
    struct pl_buf scratch PL_CLEANUP_BUF;
    pl_buf_init(&scratch, 0);
    enum pl_status status = PL_OK;
    if (turn.is_oom)
        status = pl_fail(err, PL_NOMEM, "Out of memory while reading a turn");
    else if (r.is_bad)
        status = pl_fail(err, PL_INVALID, "A turn has an unknown block or tool call");
    else
        status = pl_turn_to_row(&turn, PL_STR(""), &scratch, arena, ret_row);
    pl_turn_deinit(&turn);
    return status;
}
