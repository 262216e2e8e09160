/* What a user said: a text, or an array of content blocks. Parts that spell their text `text`
 * instead of `content` are taken too. */
#include "session/session_int.h"

#include "json/text.h"

bool pl_block_accepts(enum pl_block_type type, const struct pl_json_node *content)
{
    enum pl_json_kind kind = content ? pl_json_kind(content) : PL_JSON_NULL;
    switch (pl_block_content_kind(type)) {
    case PL_CONTENT_TEXT:
        return kind == PL_JSON_STRING;
    case PL_CONTENT_OBJECT:
        return kind == PL_JSON_OBJECT || kind == PL_JSON_NULL;
    case PL_CONTENT_NONE:
        return kind == PL_JSON_NULL;
    case PL_CONTENT_ANY:
        break;
    }
    return true;
}

struct pl_block *pl_turn_add_content(struct pl_turn *turn, enum pl_block_type type,
                                     const struct pl_json_doc *doc,
                                     const struct pl_json_node *content)
{
    struct pl_block *block = pl_turn_add_block(turn, type);
    if (!block || !content)
        return block;
    if (pl_block_content_kind(type) == PL_CONTENT_TEXT) {
        struct pl_str text = {0};
        turn->is_oom |= pl_json_text(&turn->arena, doc, content, &text) != PL_OK;
        pl_buf_add(&block->text, text);
        turn->is_oom |= block->text.status != PL_OK;
    } else if (pl_json_kind(content) != PL_JSON_NULL) {
        block->content = pl_turn_keep(turn, pl_json_span(doc, content));
    }
    return block;
}

static const struct pl_json_node *string_member(const struct pl_json_doc *doc,
                                                const struct pl_json_node *object, const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    return n && pl_json_kind(n) == PL_JSON_STRING ? n : NULL;
}

static enum pl_block_type type_of(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    const struct pl_json_node *type = string_member(doc, part, "type");
    enum pl_block_type found = 0;
    while (type && found < PL_BLOCK_COUNT &&
           !pl_json_text_is(doc, type, pl_str_of(pl_block_type_text(found))))
        found++;
    return type ? found : PL_BLOCK_COUNT;
}

static const struct pl_json_node *content_of(const struct pl_json_doc *doc,
                                             const struct pl_json_node *part)
{
    const struct pl_json_node *content = pl_json_get(doc, part, PL_STR("content"));
    return content ? content : pl_json_get(doc, part, PL_STR("text"));
}

/* What is wrong with one part, or NULL. */
static const char *wrong_with(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    if (pl_json_kind(part) != PL_JSON_OBJECT)
        return "must be an object with type and content";
    enum pl_block_type type = type_of(doc, part);
    if (type == PL_BLOCK_COUNT)
        return "must have a type that is one of the twelve kinds of blocks, such as text";
    return pl_block_accepts(type, content_of(doc, part))
               ? NULL
               : "must have a content that suits its type; a text needs a string";
}

static enum pl_status refuse_part(struct pl_step *x, size_t i, const char *wrong)
{
    x->out->refusal = PL_REFUSAL_INVALID;
    enum pl_status status = pl_fail(x->err, PL_INVALID, "Part %zu of the message %s", i + 1, wrong);
    if (x->err) {
        PL_CLEANUP_BUF struct pl_buf pointer;
        pl_buf_init(&pointer, sizeof x->err->pointer - 1);
        pl_buf_addf(&pointer, "/message/%zu", i);
        memcpy(x->err->pointer, pointer.ptr ? pointer.ptr : "", pointer.len);
        x->err->pointer[pointer.len] = '\0';
        x->err->has_position = pointer.status == PL_OK;
    }
    return status;
}

enum pl_status pl_message_check(struct pl_step *x, struct pl_str message)
{
    struct pl_json_doc doc;
    if (message.len > PL_SESSION_MAX_TURN_TEXT)
        return pl_step_refuse(x, PL_LIMIT, PL_REFUSAL_INVALID,
                              "The message is over 4 MiB; send it in parts or as a file");
    enum pl_status status = pl_step_json(x, message, &doc);
    if (status != PL_OK)
        return status;
    enum pl_json_kind kind = pl_json_kind(doc.root);
    if (kind == PL_JSON_STRING && doc.root->len > 2)
        return PL_OK;
    if (kind != PL_JSON_ARRAY || !pl_json_count(doc.root))
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "The message must be a text or an array of blocks, not empty");
    size_t i = 0;
    for (const struct pl_json_node *part = pl_json_first(doc.root); part < pl_json_end(doc.root);
         part = pl_json_next(part), i++) {
        const char *wrong = wrong_with(&doc, part);
        if (wrong)
            return refuse_part(x, i, wrong);
    }
    return PL_OK;
}

static struct pl_str keep_member(struct pl_turn *turn, const struct pl_json_doc *doc,
                                 const struct pl_json_node *part, const char *key)
{
    const struct pl_json_node *n = string_member(doc, part, key);
    struct pl_str text = {0};
    if (n)
        turn->is_oom |= pl_json_text(&turn->arena, doc, n, &text) != PL_OK;
    return pl_turn_keep(turn, text);
}

void pl_message_fill(struct pl_step *x, struct pl_turn *turn, struct pl_str message)
{
    struct pl_json_doc doc;
    if (pl_step_json(x, message, &doc) != PL_OK)
        return;
    if (pl_json_kind(doc.root) == PL_JSON_STRING) {
        (void)pl_turn_add_content(turn, PL_BLOCK_TEXT, &doc, doc.root);
        return;
    }
    for (const struct pl_json_node *part = pl_json_first(doc.root); part < pl_json_end(doc.root);
         part = pl_json_next(part)) {
        struct pl_block *block =
            pl_turn_add_content(turn, type_of(&doc, part), &doc, content_of(&doc, part));
        if (!block)
            return;
        block->tool_call_id = keep_member(turn, &doc, part, "tool_call_id");
        block->tool_name = keep_member(turn, &doc, part, "tool_name");
        block->display_name = keep_member(turn, &doc, part, "display_name");
    }
}
