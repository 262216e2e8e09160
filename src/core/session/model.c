/* The growth of a turn. The model's output is coalesced, sent as patches, and stored in a row from
 * time to time.
 *
 * Text waits up to 20 ms or 512 bytes before it takes a sequence number (PL_SESSION_COALESCE_*);
 * until then it is not part of any projection. `content`, the whole text of the block, is sent with
 * the first delta, whenever the text has doubled since it was last sent, and when the block closes.
 * So a reader that missed something is soon correct again, and the bytes sent stay within a
 * multiple of the text. `content` is omitted if the patch would not fit PL_SESSION_MAX_PATCH. */
#include "session/session_int.h"

#include "base/text/utf8.h"
#include "json/number.h"

enum {
    PATCH_FRAME = 512,  /* more than a patch needs beside its texts */
    CALL_OVERHEAD = 64, /* bytes counted for a call beside its arguments */
};

static struct pl_agent_loop *open_loop(struct pl_step *x)
{
    struct pl_agent_loop *loop = pl_agent_loop_find(x->s, x->event->model.loop_id);
    bool is_open = loop && loop->turn && !loop->turn->has_ended &&
                   pl_str_eq(pl_str_of(loop->turn->id.text), x->event->model.turn_id);
    return is_open ? loop : NULL;
}

/* --- sending text ---------------------------------------------------------------------------- */

static struct pl_json_out write_patch(struct pl_step *x, struct pl_turn *turn, struct pl_str delta,
                                      bool has_content)
{
    size_t index = turn->blocks.len - 1;
    const struct pl_block *block = &turn->blocks.ptr[index];
    struct pl_json_out out = pl_patch_begin(x, turn, "add_content", false);
    pl_out_member(&out, "type", pl_str_of(pl_block_type_text(block->type)));
    if (has_content)
        pl_out_member(&out, "content", pl_buf_str(&block->text));
    pl_out_member(&out, "text_delta", delta.len ? delta : PL_STR(""));
    pl_json_out_key(&out, "block_index");
    pl_json_out_int(&out, (int64_t)index);
    return out;
}

static bool fits(const struct pl_json_out *out)
{
    return out->buf->len + 2 <= PL_SESSION_MAX_PATCH;
}

/* The same patch with `content`, for subscribers that always want it. */
static struct pl_str whole_patch(struct pl_step *x, struct pl_turn *turn, struct pl_str delta)
{
    struct pl_json_out out = write_patch(x, turn, delta, true);
    if (!fits(&out))
        return (struct pl_str){0};
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
    return pl_step_take_text(x);
}

/* Sends a patch for a delta that the last block already contains. */
static void tell_delta(struct pl_step *x, struct pl_turn *turn, struct pl_str delta, bool is_last)
{
    struct pl_block *block = &turn->blocks.ptr[turn->blocks.len - 1];
    bool is_wanted = !block->n_said || block->text.len / 2 >= block->n_said || is_last;
    bool has_content =
        is_wanted && block->text.len + delta.len < PL_SESSION_MAX_PATCH - PATCH_FRAME;
    struct pl_str whole = {0};
    if (!has_content && x->out->wants_whole)
        whole = whole_patch(x, turn, delta);
    struct pl_json_out out = write_patch(x, turn, delta, has_content);
    if (is_wanted) /* also if it did not fit: try again when the text has doubled */
        block->n_said = block->text.len;
    if (has_content && !fits(&out))
        out = write_patch(x, turn, delta, false);
    pl_patch_end(x, turn, &out);
    if (x->out->frames.len && !x->is_oom)
        x->out->frames.ptr[x->out->frames.len - 1].whole = whole;
}

/* Length of the longest prefix that fits a patch when escaped: whole characters. */
static size_t fitting(struct pl_str text)
{
    enum { ROOM = PL_SESSION_MAX_PATCH - PATCH_FRAME, MOST = 6 };
    if (text.len <= ROOM / MOST)
        return text.len;
    size_t n_spelled = 0, at = 0, good = 0;
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        if ((c & 0xC0) != 0x80)
            good = at;
        n_spelled += c < 0x20 ? MOST : c == '"' || c == '\\' ? 2 : 1;
        if (n_spelled > ROOM)
            return good;
        at++;
    }
    return text.len;
}

static struct pl_block *block_of_waiting(struct pl_turn *turn)
{
    enum pl_block_type type = turn->waits_as_thinking ? PL_BLOCK_THINKING : PL_BLOCK_TEXT;
    if (turn->has_open_block && turn->blocks.ptr[turn->blocks.len - 1].type == type)
        return &turn->blocks.ptr[turn->blocks.len - 1];
    struct pl_block *block = pl_turn_add_block(turn, type);
    turn->has_open_block = block;
    return block;
}

void pl_turn_flush(struct pl_step *x, struct pl_turn *turn, bool closes)
{
    struct pl_str rest = pl_buf_str(&turn->waiting);
    struct pl_block *block = rest.len ? block_of_waiting(turn) : NULL;
    while (rest.len && block) {
        struct pl_str piece = pl_str_slice(rest, 0, fitting(rest));
        rest = pl_str_slice(rest, piece.len, rest.len);
        pl_buf_add(&block->text, piece);
        if (block->text.status != PL_OK) {
            turn->is_oom = true;
            return;
        }
        turn->n_unsaved += piece.len;
        tell_delta(x, turn, piece, closes && !rest.len);
    }
    pl_buf_clear(&turn->waiting);
    if (!closes)
        return;
    block = turn->has_open_block ? &turn->blocks.ptr[turn->blocks.len - 1] : NULL;
    if (block && block->n_said < block->text.len &&
        block->text.len < PL_SESSION_MAX_PATCH - PATCH_FRAME)
        tell_delta(x, turn, (struct pl_str){0}, true);
    turn->has_open_block = false;
}

/* --- time ------------------------------------------------------------------------------------ */

/* Handles a clock that was set back: text must not wait for it. */
static bool has_passed(int64_t now_ms, int64_t since_ms, int64_t span_ms)
{
    return now_ms - since_ms >= span_ms || now_ms < since_ms;
}

int64_t pl_turn_checkpoint_ms(const struct pl_turn *turn)
{
    enum { USUAL = 256 << 10 };
    return PL_SESSION_CHECKPOINT_MS * (int64_t)(1 + turn->n_text / USUAL);
}

/* No new checkpoint while the last one is not stored: with a store slower than the model,
 * checkpoints would fill the memory. */
static void save_if_due(struct pl_step *x, struct pl_turn *turn)
{
    if (x->out->is_behind)
        return;
    size_t most = turn->n_text / 8 > PL_SESSION_CHECKPOINT_BYTES ? turn->n_text / 8
                                                                 : PL_SESSION_CHECKPOINT_BYTES;
    if (turn->n_unsaved >= most ||
        (turn->n_unsaved && has_passed(x->now_ms, turn->saved_ms, pl_turn_checkpoint_ms(turn))))
        turn->is_dirty = true;
}

enum pl_status pl_step_tick(struct pl_step *x)
{
    for (size_t i = 0; i < x->s->loops.len; i++) {
        struct pl_turn *turn = x->s->loops.ptr[i]->turn;
        if (!turn)
            continue;
        if (turn->waiting.len &&
            has_passed(x->now_ms, turn->waiting_since_ms, PL_SESSION_COALESCE_MS))
            pl_turn_flush(x, turn, false);
        save_if_due(x, turn);
    }
    pl_client_calls_expire(x);
    return PL_OK;
}

/* --- memories for the model ------------------------------------------------------------------ */

/* Notes the memories of a turn, once: a retried call gets the same. They are stored and sent to
 * readers before any output of the model, so a turn that fails or is interrupted has them, too. */
enum pl_status pl_step_memory(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    struct pl_str refs = {0};
    if (!loop || loop->turn->memory_refs.ptr)
        return PL_OK;
    enum pl_status status = pl_step_optional_json(x, x->event->model.memory_refs, &refs);
    if (status != PL_OK || !refs.ptr || pl_str_eq(refs, PL_STR("[]")))
        return status;
    struct pl_turn *turn = loop->turn;
    turn->memory_refs = pl_turn_keep(turn, refs);
    turn->is_dirty = true;
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_MEMORY_INJECTED, true);
    pl_out_member(&out, "turn_id", pl_str_of(turn->id.text));
    pl_out_member(&out, "loop_id", turn->loop_id);
    pl_out_json(&out, "memory_refs", turn->memory_refs);
    turn->last_event = x->s->next_event;
    pl_frame_end(x, &out);
    return PL_OK;
}

/* --- output of the model --------------------------------------------------------------------- */

static void cut_off(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason)
{
    struct pl_turn *turn = loop->turn;
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_CANCEL_MODEL,
        .loop_id = pl_str_of(loop->id.text),
        .turn_id = pl_str_of(turn->id.text),
    };
    pl_step_want(x, &effect);
    pl_turn_cancel_calls(x, turn);
    pl_agent_loop_end_turn(x, loop, PL_TURN_FAILED, reason);
    pl_agent_loop_fail(x, loop, reason);
}

/* Whether n more bytes are allowed; if not, ends the turn. */
static bool may_grow(struct pl_step *x, struct pl_agent_loop *loop, size_t n)
{
    struct pl_turn *turn = loop->turn;
    if (n <= PL_SESSION_MAX_TURN_TEXT && turn->n_text <= PL_SESSION_MAX_TURN_TEXT - n) {
        turn->n_text += n;
        return true;
    }
    cut_off(x, loop, PL_STR("The answer was cut off: a turn holds at most 4 MiB of text"));
    return false;
}

/* Whether one more block is allowed. Without a limit, an answer of empty blocks would take
 * unlimited memory, and so would the row that is written with each whole block. */
static bool may_begin(struct pl_step *x, struct pl_agent_loop *loop, bool is_whole)
{
    struct pl_turn *turn = loop->turn;
    if (turn->blocks.len < PL_SESSION_MAX_BLOCKS &&
        (!is_whole || turn->n_whole < PL_SESSION_MAX_WHOLE)) {
        turn->n_whole += is_whole;
        return true;
    }
    cut_off(x, loop,
            PL_STR("The answer was cut off: a turn has at most 4096 blocks, and 1024 beside text "
                   "and thinking"));
    return false;
}

enum pl_status pl_step_model_text(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    struct pl_str text = x->event->model.text;
    if (!loop || !text.len)
        return PL_OK;
    struct pl_turn *turn = loop->turn;
    bool is_thinking = x->event->model.is_thinking;
    enum pl_block_type type = is_thinking ? PL_BLOCK_THINKING : PL_BLOCK_TEXT;
    if (turn->waiting.len
            ? turn->waits_as_thinking != is_thinking
            : turn->has_open_block && turn->blocks.ptr[turn->blocks.len - 1].type != type)
        pl_turn_flush(x, turn, true);
    bool is_new = !turn->waiting.len && !turn->has_open_block;
    if ((is_new && !may_begin(x, loop, false)) || !may_grow(x, loop, text.len))
        return PL_OK;
    if (!turn->waiting.len)
        turn->waiting_since_ms = x->now_ms;
    turn->waits_as_thinking = is_thinking;
    pl_buf_add(&turn->waiting, text);
    turn->is_oom |= turn->waiting.status != PL_OK;
    if (turn->waiting.len < PL_SESSION_COALESCE_BYTES &&
        !has_passed(x->now_ms, turn->waiting_since_ms, PL_SESSION_COALESCE_MS))
        return PL_OK;
    pl_turn_flush(x, turn, false);
    save_if_due(x, turn);
    return PL_OK;
}

void pl_turn_tell_block(struct pl_step *x, struct pl_turn *turn)
{
    struct pl_json_out out = pl_patch_begin(x, turn, "add_content", true);
    if (turn->blocks.len)
        pl_block_write(&turn->blocks.ptr[turn->blocks.len - 1], &out);
    pl_patch_end(x, turn, &out);
}

static struct pl_str keep_name(struct pl_turn *turn, struct pl_str name)
{
    return name.len ? pl_turn_keep(turn, name) : (struct pl_str){0};
}

enum pl_status pl_step_model_block(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    enum pl_block_type type = pl_block_type_of(x->event->model.type);
    struct pl_str content = x->event->model.content;
    struct pl_json_doc doc = {0};
    if (!loop)
        return PL_OK;
    enum pl_status status = content.len ? pl_step_json(x, content, &doc) : PL_OK;
    if (status == PL_NOMEM)
        return status;
    x->out->refusal = PL_REFUSAL_NONE; /* output of a model refuses no request */
    bool is_good = status == PL_OK && type != PL_BLOCK_COUNT &&
                   pl_block_accepts(type, content.len ? doc.root : NULL);
    pl_turn_flush(x, loop->turn, true);
    if (!is_good) {
        cut_off(x, loop,
                PL_STR("The answer was cut off: the model sent a block of an unknown type, or one "
                       "whose content does not match its type"));
        return PL_OK;
    }
    if (!may_begin(x, loop, true) || !may_grow(x, loop, content.len))
        return PL_OK;
    struct pl_block *block =
        pl_turn_add_content(loop->turn, type, &doc, content.len ? doc.root : NULL);
    if (!block)
        return PL_OK;
    block->tool_call_id = keep_name(loop->turn, x->event->model.tool_call_id);
    block->tool_name = keep_name(loop->turn, x->event->model.tool_name);
    block->display_name = keep_name(loop->turn, x->event->model.display_name);
    pl_turn_tell_block(x, loop->turn);
    return PL_OK;
}

/* Reads the event's proof as compact JSON, and whether it contains data; {NULL, 0}: none. */
static enum pl_status read_proof(struct pl_step *x, struct pl_str *ret_proof, bool *ret_has_data)
{
    struct pl_json_doc doc;
    *ret_proof = (struct pl_str){0};
    *ret_has_data = false;
    if (!x->event->model.proof.len)
        return PL_OK;
    enum pl_status status = pl_step_json(x, x->event->model.proof, &doc);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID, "A proof must be an object");
    *ret_has_data = pl_json_get(&doc, doc.root, PL_STR("data"));
    *ret_proof = doc.text;
    return PL_OK;
}

/* A proof belongs to the open text or thinking block and closes it. If no block is open, or if only
 * the vendor can read the thinking, it gets a block without text. Patches do not contain proofs:
 * nobody needs them while the turn runs. */
enum pl_status pl_step_model_proof(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    struct pl_str proof;
    bool has_data, is_thinking = x->event->model.is_thinking;
    if (!loop)
        return PL_OK;
    enum pl_status status = read_proof(x, &proof, &has_data);
    if (status != PL_OK || !proof.ptr)
        return status;
    struct pl_turn *turn = loop->turn;
    enum pl_block_type type = is_thinking ? PL_BLOCK_THINKING : PL_BLOCK_TEXT;
    bool is_open = turn->waiting.len ? turn->waits_as_thinking == is_thinking
                                     : turn->has_open_block &&
                                           turn->blocks.ptr[turn->blocks.len - 1].type == type;
    pl_turn_flush(x, turn, true);
    bool is_new = !is_open || has_data;
    if (turn->is_oom || (is_new && !may_begin(x, loop, true)) || !may_grow(x, loop, proof.len))
        return PL_OK;
    if (is_new) {
        if (!pl_turn_add_block(turn, type))
            return PL_OK;
        pl_turn_tell_block(x, turn);
    }
    turn->blocks.ptr[turn->blocks.len - 1].proof = pl_turn_keep(turn, proof);
    turn->n_unsaved += proof.len;
    save_if_due(x, turn);
    return PL_OK;
}

static struct pl_tool_call *add_call(struct pl_step *x, struct pl_turn *turn, struct pl_str proof)
{
    struct pl_tool_call *call = pl_vec_add(&turn->calls);
    if (!call) {
        turn->is_oom = true;
        return NULL;
    }
    struct pl_str arguments = x->event->model.arguments;
    struct pl_str display = x->event->model.display_name;
    *call = (struct pl_tool_call){.id = pl_id_take(x->event->seed, "tc_"), .duration_ms = -1};
    call->tool_name = pl_turn_keep(turn, x->event->model.tool_name);
    call->display_name = display.len ? pl_turn_keep(turn, display) : call->tool_name;
    call->arguments = pl_turn_keep(turn, arguments.len ? arguments : PL_STR("{}"));
    call->proof = pl_turn_keep(turn, proof);
    call->is_unknown = x->event->model.is_unknown;
    call->is_recorded = call->is_started = x->event->model.is_recorded;
    call->is_over = !call->is_recorded && ++x->s->n_calls > PL_SESSION_MAX_CALLS;
    turn->is_over |= call->is_over;
    return call;
}

enum pl_status pl_step_model_call(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    if (!loop)
        return PL_OK;
    struct pl_turn *turn = loop->turn;
    struct pl_str name = x->event->model.tool_name, proof;
    bool has_data;
    if (!name.len)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID, "A call must name its tool");
    if (turn->is_over) /* the call over the limit reports this for all later ones */
        return PL_OK;
    enum pl_status status = read_proof(x, &proof, &has_data);
    if (status != PL_OK)
        return status;
    pl_turn_flush(x, turn, true);
    if (!may_grow(x, loop, x->event->model.arguments.len + name.len + proof.len + CALL_OVERHEAD))
        return PL_OK;
    const struct pl_tool_call *call = add_call(x, turn, proof);
    if (!call || turn->is_oom)
        return PL_OK;
    struct pl_json_out out = pl_patch_begin(x, turn, "add_tool_call", true);
    pl_out_member(&out, "id", pl_str_of(call->id.text));
    pl_out_member(&out, "tool_name", call->tool_name);
    pl_out_member(&out, "display_name", call->display_name);
    pl_out_member(&out, "arguments", call->arguments);
    pl_out_member(&out, "status", pl_str_of(pl_tool_call_status_text(call->status)));
    pl_patch_end(x, turn, &out);
    pl_turn_add_use(turn, turn->calls.len - 1);
    return PL_OK;
}

/* A replayed call gets its recorded result. */
enum pl_status pl_step_model_result(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    struct pl_str result = {0};
    size_t i = x->event->model.call;
    if (!loop || i >= loop->turn->calls.len || !loop->turn->calls.ptr[i].is_recorded)
        return PL_OK;
    enum pl_status status = pl_step_optional_json(x, x->event->model.result, &result);
    if (status != PL_OK)
        return status;
    pl_turn_flush(x, loop->turn, true);
    pl_tool_call_settle(x, loop, &loop->turn->calls.ptr[i], x->event->model.is_error,
                        result.ptr ? result : PL_STR("null"), x->event->model.duration_ms);
    return PL_OK;
}

/* --- end of the output ----------------------------------------------------------------------- */

static double count_of(const struct pl_json_doc *usage, const char *name)
{
    int64_t n = 0;
    const struct pl_json_node *count = pl_json_get(usage, usage->root, pl_str_of(name));
    if (!count || pl_json_kind(count) != PL_JSON_NUMBER ||
        !pl_json_number_int64(pl_json_span(usage, count), &n))
        return 0;
    return (double)n;
}

/* The output will be part of the next input. */
static bool fills_window(struct pl_step *x, struct pl_str usage, int64_t window)
{
    struct pl_json_doc doc;
    if (!usage.ptr || window <= 0 || pl_step_json(x, usage, &doc) != PL_OK ||
        pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return false;
    double n = count_of(&doc, "input_tokens") + count_of(&doc, "output_tokens");
    return n * 100 > (double)window * PL_SESSION_FULL_PERCENT;
}

enum pl_status pl_step_model_end(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    struct pl_turn_end end;
    if (!loop)
        return PL_OK;
    struct pl_turn *turn = loop->turn;
    enum pl_status status =
        pl_step_read_end(x, x->event->model.model, x->event->model.usage, x->event->model.timing,
                         x->event->model.metadata, &end);
    if (status != PL_OK)
        return status;
    pl_turn_flush(x, turn, true);
    for (size_t i = 0; i < turn->calls.len; i++)
        if (turn->calls.ptr[i].is_recorded &&
            pl_tool_call_may_become(turn->calls.ptr[i].status, PL_TOOL_CALL_CANCELLED))
            pl_tool_call_set_status(x, turn, &turn->calls.ptr[i], PL_TOOL_CALL_CANCELLED);
    turn->end = pl_turn_keep_end(turn, &end);
    turn->is_last = x->event->model.is_last;
    turn->has_ended = true;
    turn->is_dirty = true;
    loop->is_due = true;
    loop->is_full = fills_window(x, end.usage, turn->context_window);
    if (!loop->is_full)
        loop->n_compactions = 0;
    return PL_OK;
}

enum pl_status pl_step_model_failed(struct pl_step *x)
{
    struct pl_agent_loop *loop = open_loop(x);
    if (!loop)
        return PL_OK;
    struct pl_str reason = x->event->model.reason;
    if (!reason.len)
        reason = PL_STR("The model failed without a reason");
    pl_turn_cancel_calls(x, loop->turn);
    if (x->event->model.error_info.len)
        loop->turn->error_info = pl_turn_keep(loop->turn, x->event->model.error_info);
    pl_agent_loop_end_turn(x, loop, PL_TURN_FAILED, reason);
    if (!x->event->model.is_overflow)
        pl_agent_loop_fail(x, loop, reason);
    else if (loop->n_compactions < PL_SESSION_MAX_COMPACTIONS)
        pl_agent_loop_summarise(x, loop, "forced_retry");
    else
        pl_agent_loop_fail(x, loop,
                           PL_STR("The conversation is still too long for the model after it was "
                                  "summarised twice in a row"));
    return PL_OK;
}
