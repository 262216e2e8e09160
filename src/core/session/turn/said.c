/* Whether a message repeats a stored one. Messages are compared by content, block by block, because
 * the stored form differs from the form that was sent. */
#include "session/rows.h"

#include "base/arena.h"
#include "json/json.h"
#include "json/text.h"
#include "json/write.h"

/* Blocks that a mode change puts before the message. */
static bool is_of_mode(struct pl_str type)
{
    return pl_str_eq(type, PL_STR("mode_change")) || pl_str_eq(type, PL_STR("planning_enter")) ||
           pl_str_eq(type, PL_STR("planning_exit"));
}

/* For a text its characters; for other content its JSON without white space. */
static enum pl_status add_content(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *content, struct pl_buf *to)
{
    struct pl_str text;
    if (!content || pl_json_kind(content) == PL_JSON_NULL)
        return PL_OK;
    if (pl_json_kind(content) != PL_JSON_STRING) {
        pl_json_write_min(to, doc, content);
        return PL_OK;
    }
    enum pl_status status = pl_json_text(arena, doc, content, &text);
    if (status == PL_OK)
        pl_json_quote(to, text);
    return status;
}

static enum pl_status add_block(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *block, struct pl_buf *to)
{
    struct pl_str type = PL_STR("text");
    const struct pl_json_node *content = block;
    if (pl_json_kind(block) == PL_JSON_OBJECT) {
        const struct pl_json_node *name = pl_json_get(doc, block, PL_STR("type"));
        content = pl_json_get(doc, block, PL_STR("content"));
        content = content ? content : pl_json_get(doc, block, PL_STR("text"));
        enum pl_status status = name && pl_json_kind(name) == PL_JSON_STRING
                                    ? pl_json_text(arena, doc, name, &type)
                                    : PL_INVALID;
        if (status != PL_OK)
            return status;
    }
    if (is_of_mode(type))
        return PL_OK;
    pl_json_quote(to, type);
    enum pl_status status = add_content(arena, doc, content, to);
    pl_buf_addc(to, '\n');
    return status;
}

static enum pl_status add_blocks(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *said, struct pl_buf *to)
{
    if (pl_json_kind(said) != PL_JSON_ARRAY)
        return add_block(arena, doc, said, to);
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *block = pl_json_first(said);
         status == PL_OK && block < pl_json_end(said); block = pl_json_next(block))
        status = add_block(arena, doc, block, to);
    return status;
}

/* Writes a message in a form to compare: from the form that was sent, or from the body of a turn or
 * of a queued message. */
static enum pl_status spell(struct pl_arena *arena, struct pl_str text, bool is_body,
                            struct pl_buf *to)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, text, &pl_json_own, &doc, NULL);
    const struct pl_json_node *said = doc.root;
    if (status == PL_OK && is_body) {
        said = pl_json_get(&doc, doc.root, PL_STR("blocks"));
        said = said ? said : pl_json_get(&doc, doc.root, PL_STR("message"));
    }
    if (status == PL_OK && said)
        status = add_blocks(arena, &doc, said, to);
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_body_says(struct pl_str body, struct pl_str message, bool *ret_is_same)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf kept, sent;
    pl_arena_init(&arena, 0);
    pl_buf_init(&kept, 0);
    pl_buf_init(&sent, 0);
    enum pl_status status = spell(&arena, body, true, &kept);
    if (status == PL_OK)
        status = spell(&arena, message, false, &sent);
    if (status == PL_OK)
        *ret_is_same = pl_str_eq(pl_buf_str(&kept), pl_buf_str(&sent));
    return status;
}
