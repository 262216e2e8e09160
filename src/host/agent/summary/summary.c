#include "agent/summary/summary.h"

#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"

#define MAX_PER_TURN 160
#define MAX_BYTES    8000

static enum pl_status add_first_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                                      const struct pl_json_node *turn, struct pl_buf *to)
{
    const struct pl_json_node *role = pl_json_get(doc, turn, PL_STR("role"));
    const struct pl_json_node *blocks = pl_json_get(doc, turn, PL_STR("blocks"));
    for (const struct pl_json_node *b = blocks ? pl_json_first(blocks) : NULL;
         b && b < pl_json_end(blocks); b = pl_json_next(b)) {
        const struct pl_json_node *type = pl_json_get(doc, b, PL_STR("type"));
        const struct pl_json_node *content = pl_json_get(doc, b, PL_STR("content"));
        if (!type || !content || !pl_json_text_is(doc, type, PL_STR("text")) ||
            pl_json_kind(content) != PL_JSON_STRING)
            continue;
        struct pl_str text;
        enum pl_status status = pl_json_text(arena, doc, content, &text);
        if (status != PL_OK)
            return status;
        size_t n = pl_utf8_valid_prefix(pl_str_slice(text, 0, MAX_PER_TURN));
        pl_buf_adds(to, "\n- ");
        pl_buf_add(to, pl_json_raw(doc, role));
        pl_buf_adds(to, ": ");
        pl_buf_add(to, pl_str_slice(text, 0, n));
        if (n < text.len)
            pl_buf_adds(to, "…");
        break;
    }
    return to->status;
}

enum pl_status pl_summary_write(struct pl_arena *arena, struct pl_str context, int64_t n_turns,
                                struct pl_buf *to, struct pl_error *err)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, context, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    struct pl_buf lines PL_CLEANUP_BUF;
    pl_buf_init(&lines, 0);
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn))
        status = add_first_words(arena, &doc, turn, &lines);
    if (status != PL_OK)
        return status;
    struct pl_str said = pl_buf_str(&lines);
    while (said.len > MAX_BYTES) {
        const char *next = memchr(said.ptr + 1, '\n', said.len - 1);
        if (!next)
            break;
        said = pl_str_slice(said, (size_t)(next - said.ptr), said.len);
    }
    pl_buf_addf(to, "What was said before, in short (%lld turns):", (long long)n_turns);
    pl_buf_add(to, said);
    return to->status;
}
