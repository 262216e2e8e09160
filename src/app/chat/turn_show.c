/* Prints sessions and turns for people. */
#include "app/chat/turn_show.h"

#include "app/frame/api.h"
#include "app/table/columns.h"
#include "app/table/local.h"
#include "base/ascii.h"
#include "terminal/width.h"

enum { INDENT = 2, MAX_ARGUMENTS = 200, MAX_RESULT = 400, LABEL_CELLS = 9 };

void pl_show_text(struct pl_console *console, struct pl_str text, size_t indent)
{
    size_t from = 0;
    for (size_t at = 0; at <= text.len; at++) {
        bool is_end = at == text.len;
        if (!is_end && text.ptr[at] != '\n' && text.ptr[at] != '\t')
            continue;
        pl_console_put_safe(console, pl_str_slice(text, from, at));
        if (!is_end)
            pl_console_put(console, pl_str_slice(text, at, at + 1));
        if (!is_end && text.ptr[at] == '\n')
            pl_buf_fill(pl_console_out(console), ' ', indent);
        from = at + 1;
    }
}

void pl_show_member(struct pl_console *console, const char *label, struct pl_str value)
{
    if (!value.len)
        return;
    char text[32] = "";
    for (size_t i = 0; label[i] && i + 1 < sizeof text; i++)
        text[i] = label[i] == '_' ? ' ' : pl_ascii_upper(label[i]);
    struct pl_str heading = pl_str_of(text), word = pl_table_word(console, heading);
    size_t width = pl_width(word);
    pl_console_puts(console, "  ");
    pl_console_put(console, word.ptr == text ? pl_str_of(label) : word);
    pl_buf_fill(pl_console_out(console), ' ', width < LABEL_CELLS ? LABEL_CELLS - width : 0);
    pl_console_puts(console, " ");
    pl_console_put_safe(console, pl_table_value(console, heading, value));
    pl_console_puts(console, "\n");
}

void pl_show_session(struct pl_console *console, struct pl_texts *texts,
                     const struct pl_json_doc *doc, const struct pl_json_node *session)
{
    pl_console_put_safe(console, pl_api_text(texts, doc, session, "id"));
    pl_console_puts(console, "\n");
    pl_show_member(console, "intent",
                   pl_line_of(texts, pl_api_text(texts, doc, session, "intent"), MAX_RESULT));
    pl_show_member(console, "status", pl_api_text(texts, doc, session, "status"));
    pl_show_member(console, "model", pl_api_text(texts, doc, session, "model"));
    pl_show_member(console, "created",
                   pl_time_of(texts, pl_api_text(texts, doc, session, "created_at")));
    pl_show_member(console, "changed",
                   pl_time_of(texts, pl_api_text(texts, doc, session, "updated_at")));
    if (pl_json_member(doc, session, "is_pinned", PL_JSON_TRUE))
        pl_show_member(console, "pinned", PL_STR("yes"));
    if (pl_json_member(doc, session, "shared", PL_JSON_TRUE))
        pl_show_member(console, "shared", PL_STR("yes, anybody with a link can read it"));
}

/* --- turns ----------------------------------------------------------------------------------- */

static void show_head(struct pl_console *console, struct pl_texts *texts,
                      const struct pl_json_doc *doc, const struct pl_json_node *turn)
{
    bool is_compaction = pl_str_eq(pl_api_text(texts, doc, turn, "kind"), PL_STR("compaction"));
    struct pl_str role = pl_api_text(texts, doc, turn, "role");
    struct pl_str status = pl_api_text(texts, doc, turn, "status");
    struct pl_str model = pl_api_text(texts, doc, turn, "model");
    const struct pl_json_node *usage = pl_json_member(doc, turn, "usage", PL_JSON_OBJECT);
    pl_console_puts(console, "\n");
    const char *who = is_compaction                       ? "summary"
                      : pl_str_eq(role, PL_STR("user"))   ? "user"
                      : pl_str_eq(role, PL_STR("system")) ? "system"
                                                          : "assistant";
    pl_console_put_styled(console, PL_STYLE_BOLD, pl_console_word(console, who));
    pl_console_puts(console, "  ");
    pl_console_put_safe(console, pl_time_of(texts, pl_api_text(texts, doc, turn, "started_at")));
    if (model.len) {
        pl_console_puts(console, "  ");
        pl_console_put_safe(console, model);
    }
    if (!pl_str_eq(status, PL_STR("completed"))) {
        pl_console_puts(console, "  ");
        pl_console_put_safe(console, pl_table_word(console, status));
    }
    if (usage)
        pl_console_put_said(console, "  %lld tokens in, %lld out",
                            (long long)pl_api_int(doc, usage, "input_tokens", 0),
                            (long long)pl_api_int(doc, usage, "output_tokens", 0));
    pl_console_puts(console, "\n");
}

static void show_line(struct pl_console *console, const char *label, struct pl_str text)
{
    pl_buf_fill(pl_console_out(console), ' ', INDENT);
    pl_console_puts(console, pl_console_word(console, label));
    pl_show_text(console, text, INDENT);
    pl_console_puts(console, "\n");
}

/* Labels of block types; other types are not shown. */
static const struct {
    const char *type, *label;
} labels[] = {
    {"text", ""},
    {"thinking", "(thinking) "},
    {"system_notification", "(notice) "},
};

static void show_block(struct pl_console *console, struct pl_texts *texts,
                       const struct pl_json_doc *doc, const struct pl_json_node *block)
{
    struct pl_str type = pl_api_text(texts, doc, block, "type");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (pl_str_eq(type, pl_str_of(labels[i].type)))
            show_line(console, labels[i].label, pl_api_text(texts, doc, block, "content"));
}

static void show_call(struct pl_console *console, struct pl_texts *texts,
                      const struct pl_json_doc *doc, const struct pl_json_node *call)
{
    const struct pl_json_node *result = pl_json_get(doc, call, PL_STR("result"));
    struct pl_str arguments = pl_api_text(texts, doc, call, "arguments");
    pl_console_puts(console, "  [");
    pl_console_put_safe(console, pl_api_text(texts, doc, call, "tool_name"));
    pl_console_puts(console, "] ");
    pl_console_put_safe(console, pl_line_of(texts, arguments, MAX_ARGUMENTS));
    pl_console_puts(console, "  ");
    pl_console_put_safe(console, pl_table_word(console, pl_api_text(texts, doc, call, "status")));
    if (pl_str_eq(pl_api_text(texts, doc, call, "status"), PL_STR("awaiting_answer"))) {
        pl_console_puts(console, " (");
        pl_console_put_safe(console, pl_api_text(texts, doc, call, "id"));
        pl_console_puts(console, ")");
    }
    pl_console_puts(console, "\n");
    if (result && pl_json_kind(result) != PL_JSON_NULL)
        show_line(console, "  = ", pl_line_of(texts, pl_json_span(doc, result), MAX_RESULT));
}

void pl_show_turn(struct pl_console *console, struct pl_texts *texts, const struct pl_json_doc *doc,
                  const struct pl_json_node *turn)
{
    const struct pl_json_node *blocks = pl_json_member(doc, turn, "blocks", PL_JSON_ARRAY);
    const struct pl_json_node *calls = pl_json_member(doc, turn, "tool_calls", PL_JSON_ARRAY);
    struct pl_str summary = pl_api_text(texts, doc, turn, "summary_full");
    show_head(console, texts, doc, turn);
    if (summary.len)
        show_line(console, "", summary);
    for (const struct pl_json_node *block = blocks ? pl_json_first(blocks) : NULL;
         block && block < pl_json_end(blocks); block = pl_json_next(block))
        show_block(console, texts, doc, block);
    for (const struct pl_json_node *call = calls ? pl_json_first(calls) : NULL;
         call && call < pl_json_end(calls); call = pl_json_next(call))
        show_call(console, texts, doc, call);
}

/* --- unfolded -------------------------------------------------------------------------------- */

static void show_call_whole(struct pl_console *console, struct pl_texts *texts,
                            const struct pl_json_doc *doc, const struct pl_json_node *call)
{
    const struct pl_json_node *result = pl_json_get(doc, call, PL_STR("result"));
    struct pl_str text = pl_api_text(texts, doc, call, "result");
    pl_console_puts(console, "  [");
    pl_console_put_safe(console, pl_api_text(texts, doc, call, "tool_name"));
    pl_console_puts(console, "] ");
    pl_show_text(console, pl_api_text(texts, doc, call, "arguments"), 2 * INDENT);
    pl_console_puts(console, "\n");
    if (result && pl_json_kind(result) != PL_JSON_NULL)
        show_line(console, "  = ", text.len ? text : pl_json_span(doc, result));
}

void pl_show_turn_whole(struct pl_console *console, struct pl_texts *texts,
                        const struct pl_json_doc *doc, const struct pl_json_node *turn)
{
    const struct pl_json_node *blocks = pl_json_member(doc, turn, "blocks", PL_JSON_ARRAY);
    const struct pl_json_node *calls = pl_json_member(doc, turn, "tool_calls", PL_JSON_ARRAY);
    show_head(console, texts, doc, turn);
    pl_console_style(console, PL_STYLE_DIM);
    for (const struct pl_json_node *block = blocks ? pl_json_first(blocks) : NULL;
         block && block < pl_json_end(blocks); block = pl_json_next(block))
        if (!pl_str_eq(pl_api_text(texts, doc, block, "type"), PL_STR("text")))
            show_block(console, texts, doc, block);
    for (const struct pl_json_node *call = calls ? pl_json_first(calls) : NULL;
         call && call < pl_json_end(calls); call = pl_json_next(call))
        show_call_whole(console, texts, doc, call);
    pl_console_style(console, PL_STYLE_PLAIN);
}
