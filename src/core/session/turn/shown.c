/* A turn as the model sees it: results in the order of their calls, not of arrival; none longer
 * than PL_SESSION_MAX_SHOWN; without parts for the web page. The row keeps everything. */
#include "session/session.h"
#include "session/turn/turn_int.h"

#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"

bool pl_turn_row_is_user(const struct pl_turn_row *row)
{
    return pl_str_starts(row->body, PL_STR("{\"role\":\"user\"")); /* put_body writes the role
                                                                    * first */
}

/* --- results --------------------------------------------------------------------------------- */

/* Writes a result for the model: the characters of a string, an object without its _meta. */
static enum pl_status read_shown(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 struct pl_buf *to)
{
    struct pl_str text = pl_json_span(doc, doc->root);
    enum pl_status status = PL_OK;
    bool is_object = pl_json_kind(doc->root) == PL_JSON_OBJECT;
    if (pl_json_kind(doc->root) == PL_JSON_STRING)
        status = pl_json_text(arena, doc, doc->root, &text);
    if (status != PL_OK || !is_object) {
        pl_buf_add(to, text);
        return status;
    }
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        struct pl_str key;
        status = pl_json_text(arena, doc, k, &key);
        if (status != PL_OK)
            return status;
        if (pl_str_eq(key, PL_STR("_meta")))
            continue;
        pl_json_out_key_str(&out, key);
        pl_json_out_raw(&out, pl_json_span(doc, k + 1));
    }
    pl_json_out_close(&out, '}');
    return PL_OK;
}

static void cut(struct pl_str text, struct pl_buf *ret_json)
{
    PL_CLEANUP_BUF struct pl_buf shown, note;
    pl_buf_init(&shown, 0);
    pl_buf_init(&note, 0);
    pl_buf_addf(&note,
                "\n[Cut here: the result has %zu bytes, more than the %u that are shown. Ask for "
                "less of it.]",
                text.len, PL_SESSION_MAX_SHOWN);
    struct pl_str fits = pl_str_slice(text, 0, PL_SESSION_MAX_SHOWN - note.len);
    pl_buf_add(&shown, pl_str_slice(fits, 0, pl_utf8_valid_prefix(fits)));
    pl_buf_add(&shown, pl_buf_str(&note));
    pl_json_quote(ret_json, pl_buf_str(&shown));
    if (shown.status != PL_OK || note.status != PL_OK)
        ret_json->status = PL_NOMEM;
}

static void shorten(struct pl_turn *turn, struct pl_tool_call *call)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf shown, json;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    pl_buf_init(&shown, 0);
    pl_buf_init(&json, 0);
    enum pl_status status = pl_json_parse(&arena, call->result, &pl_json_own, &doc, NULL);
    if (status == PL_OK)
        status = read_shown(&arena, &doc, &shown);
    if (status != PL_OK || shown.status != PL_OK) {
        turn->is_oom = true;
        return;
    }
    if (shown.len > PL_SESSION_MAX_SHOWN)
        cut(pl_buf_str(&shown), &json);
    else if (pl_json_kind(doc.root) == PL_JSON_OBJECT)
        pl_buf_add(&json, pl_buf_str(&shown));
    else
        return;
    turn->is_oom |= json.status != PL_OK;
    if (json.status == PL_OK)
        call->result = pl_turn_keep(turn, pl_buf_str(&json));
}

/* --- blocks ---------------------------------------------------------------------------------- */

static void drop_cards(struct pl_turn *turn)
{
    size_t n = 0;
    for (size_t i = 0; i < turn->blocks.len; i++) {
        struct pl_block *block = &turn->blocks.ptr[i];
        if (block->type == PL_BLOCK_TOOL_UI || block->type == PL_BLOCK_TOOL_BRIDGE)
            pl_buf_deinit(&block->text);
        else
            turn->blocks.ptr[n++] = *block;
    }
    turn->blocks.len = n;
}

static bool is_result(const struct pl_block *block)
{
    return block->type == PL_BLOCK_TOOL_RESULT && block->call != PL_NO_CALL;
}

/* Sorts adjacent results by their calls. */
static void order_results(struct pl_turn *turn)
{
    struct pl_block *blocks = turn->blocks.ptr;
    for (size_t i = 1; i < turn->blocks.len; i++) {
        struct pl_block block = blocks[i];
        size_t k = i;
        while (is_result(&block) && k && is_result(&blocks[k - 1]) &&
               blocks[k - 1].call > block.call) {
            blocks[k] = blocks[k - 1];
            k--;
        }
        blocks[k] = block;
    }
}

static void show(struct pl_turn *turn)
{
    for (size_t i = 0; i < turn->calls.len && !turn->is_oom; i++)
        if (turn->calls.ptr[i].result.len > PL_SESSION_MAX_SHOWN)
            shorten(turn, &turn->calls.ptr[i]);
    drop_cards(turn);
    for (size_t i = 0; i < turn->blocks.len; i++)
        if (is_result(&turn->blocks.ptr[i]))
            turn->blocks.ptr[i].content = turn->calls.ptr[turn->blocks.ptr[i].call].result;
    order_results(turn);
    pl_turn_reduce_metadata(turn);
}

enum pl_status pl_turn_row_write_shown(const struct pl_turn_row *row, struct pl_buf *to)
{
    struct pl_turn turn;
    pl_turn_init(&turn);
    enum pl_status status = pl_turn_from_row(&turn, row, NULL);
    if (status == PL_OK) {
        show(&turn);
        struct pl_json_out out = pl_json_out(to);
        pl_turn_write(&turn, &out);
        status = turn.is_oom ? PL_NOMEM : to->status;
    }
    pl_turn_deinit(&turn);
    return status;
}
