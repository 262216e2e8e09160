/* A session without its bodies: the first line of each turn, and the details of a session in a
 * list. */
#include "base/text/utf8.h"
#include "http/json_members.h"
#include "json/text.h"
#include "service/request_options.h"
#include "service/sessions/routes.h"
#include "service/sessions/view/view.h"
#include "store/page.h"

#include <stdio.h>

enum { LINE = 200, PREVIEW = 160, LOOK_BACK = 4 };

/* The first block with content: its text, otherwise the name of a tool, a notice or a medium. */
static enum pl_status find_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 struct pl_str *ret_words)
{
    const struct pl_json_node *blocks = pl_json_member(doc, doc->root, "blocks", PL_JSON_ARRAY);
    struct pl_str other = {0};
    if (!blocks)
        return PL_OK;
    for (const struct pl_json_node *b = pl_json_first(blocks); b < pl_json_end(blocks);
         b = pl_json_next(b)) {
        const struct pl_json_node *type = pl_json_get(doc, b, PL_STR("type"));
        const struct pl_json_node *content = pl_json_member(doc, b, "content", PL_JSON_STRING);
        const struct pl_json_node *name = pl_json_member(doc, b, "display_name", PL_JSON_STRING);
        bool is_text = type && pl_json_text_is(doc, type, PL_STR("text"));
        if (is_text && content && content->len > 2)
            return pl_json_text(arena, doc, content, ret_words);
        if (!other.len && name && pl_json_text(arena, doc, name, &other) != PL_OK)
            return PL_NOMEM;
    }
    *ret_words = other;
    return PL_OK;
}

static struct pl_str cut(struct pl_str text, size_t most)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (end)
        text.len = (size_t)(end - text.ptr);
    size_t n = 0, n_chars = 0;
    while (n < text.len && n_chars < most) {
        n++;
        while (n < text.len && ((unsigned char)text.ptr[n] & 0xC0) == 0x80)
            n++;
        n_chars++;
    }
    return pl_str_slice(text, 0, n);
}

enum pl_status pl_turn_first_line(struct pl_arena *arena, const struct pl_turn_row *row,
                                  size_t most, struct pl_str *ret_line)
{
    PL_CLEANUP_BUF struct pl_buf turn;
    struct pl_json_doc doc;
    struct pl_str words = {0};
    pl_buf_init(&turn, 0);
    enum pl_status status = pl_turn_row_write(row, &turn);
    struct pl_str text =
        status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&turn)) : (struct pl_str){0};
    if (status == PL_OK)
        status = text.ptr ? pl_json_parse(arena, text, &pl_json_own, &doc, NULL) : PL_NOMEM;
    if (status == PL_OK)
        status = find_words(arena, &doc, &words);
    if (status == PL_OK)
        *ret_line = cut(words, most);
    return status;
}

/* --- in the list ----------------------------------------------------------------------------- */

static enum pl_status find_preview(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str session_id, struct pl_str *ret_line,
                                   struct pl_error *err)
{
    struct pl_turn_query query = {
        .session_id = session_id,
        .loop_id = PL_STR("root"),
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = LOOK_BACK,
        .is_newest_first = true,
    };
    struct pl_turn_page page = {0};
    enum pl_status status = pl_store_turn_list(store, arena, &query, &page, err);
    for (size_t i = page.n_items; i > 0 && status == PL_OK && !ret_line->len; i--)
        status = pl_turn_first_line(arena, &page.items[i - 1], PREVIEW, ret_line);
    return status;
}

enum pl_status pl_session_write_details(struct pl_store *store, struct pl_arena *arena,
                                        const struct pl_session_record *record, struct pl_buf *to,
                                        struct pl_error *err)
{
    struct pl_str preview = PL_STR("");
    int64_t cost_micro = 0, n_questions = 0;
    enum pl_status status =
        pl_store_session_sums(store, arena, record->id, &cost_micro, &n_questions, err);
    if (status == PL_OK)
        status = find_preview(store, arena, record->id, &preview, err);
    if (status != PL_OK)
        return status;
    pl_session_record_write(record, to);
    if (to->status != PL_OK)
        return to->status;
    to->len--; /* the closing brace */
    pl_buf_addf(to, ",\"turns\":%lld,\"open_questions\":%lld,\"cost_usd\":%lld.%06lld,\"preview\":",
                (long long)record->next_entry, (long long)n_questions,
                (long long)(cost_micro / 1000000), (long long)(cost_micro % 1000000));
    pl_json_quote(to, preview);
    pl_buf_addc(to, '}');
    return to->status;
}

/* --- the outline ----------------------------------------------------------------------------- */

static void write_line(struct pl_json_out *out, const struct pl_turn_row *row,
                       const struct pl_json_doc *doc, struct pl_str line)
{
    const struct pl_json_node *role = pl_json_get(doc, doc->root, PL_STR("role"));
    pl_json_out_open(out, '{');
    pl_put_text(out, "turn_id", row->turn_id);
    pl_put_int(out, "sequence", row->sequence);
    pl_put_raw(out, "role", role ? pl_json_span(doc, role) : PL_STR("\"assistant\""));
    pl_put_text(out, "kind", row->is_compaction ? PL_STR("compaction") : PL_STR("message"));
    pl_put_text(out, "status", pl_str_of(pl_turn_status_text(row->status)));
    pl_put_text(out, "loop_id", row->loop_id);
    pl_put_time(out, "started_at", row->created_ms);
    pl_put_text(out, "first_line", line.len ? line : PL_STR(""));
    pl_json_out_close(out, '}');
}

static enum pl_status add_line(struct pl_json_out *out, const struct pl_turn_row *row)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_str line = {0};
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, row->body, &pl_json_own, &doc, NULL);
    if (status == PL_OK)
        status = pl_turn_first_line(&arena, row, LINE, &line);
    if (status == PL_OK)
        write_line(out, row, &doc, line);
    return status;
}

static void outline_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_page_args args;
    struct pl_session_record record;
    struct pl_turn_page page = {0};
    struct pl_error err = {0};
    char cursor[24] = "";
    int64_t after = -1;
    struct pl_str loop_id = pl_target_param(&x->target, "loop_id");
    if (!pl_exchange_sums_args(x, &args) ||
        (args.cursor.len && !pl_exchange_cursor_number(x, &args, &after)))
        return;
    struct pl_turn_query query = {
        .session_id = x->args[0],
        .loop_id = loop_id,
        .before = INT64_MAX,
        .after = after,
        .changed_after = -1,
        .limit = args.limit,
        .max_bytes = 16 << 20,
    };
    enum pl_status status =
        pl_store_session_get(store, &x->arena, x->caller.user_id, x->args[0], &record, &err);
    if (status == PL_OK)
        status = pl_store_turn_list(store, &x->arena, &query, &page, &err);
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (status == PL_OK && pl_list_walk_next(&walk, x))
        status = add_line(&out, &page.items[walk.n - 1]);
    if (status != PL_OK) {
        pl_buf_clear(&x->reply);
        pl_exchange_fail(x, status, &err);
        return;
    }
    if (walk.has_more && walk.n)
        snprintf(cursor, sizeof cursor, "%lld", (long long)page.items[walk.n - 1].sequence);
    pl_exchange_sums_end(x, pl_str_of(cursor));
}

static void session_outline(struct pl_exchange *x)
{
    pl_exchange_work(x, outline_work, NULL);
}

static const struct pl_route_param outline_params[] = {
    PL_PARAMS_OF_SUMS,
    {"loop_id", "{\"type\":\"string\"}",
     "Only turns of this loop; root is the conversation itself"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_outline[] = {
    {PL_METHOD_GET, "/api/sessions/{id}/outline", 0, PL_FOR_SESSIONS | PL_FOR_READ, session_outline,
     "session_outline", "List the turns by their first lines, oldest first", "turns", NULL,
     "Outline", 200, outline_params},
    {0},
};
