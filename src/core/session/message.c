/* The message of a user: a text, or an array of parts. Parts with `text` instead of `content` are
 * accepted, too.
 *
 * A user may send text, media and answers. Other blocks (calls, results, cards, thinking, mode
 * changes …) are refused: the model would take them for output of the assistant or the system. Only
 * a recorded message keeps all of its blocks. */
#include "session/session_int.h"

#include "json/number.h"
#include "session/turn/media.h"
#include "json/text.h"

#include <stdio.h>

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

static enum pl_block_type type_of(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    const struct pl_json_node *type = pl_json_member(doc, part, "type", PL_JSON_STRING);
    enum pl_block_type found = 0;
    while (type && found < PL_BLOCK_COUNT &&
           !pl_json_text_is(doc, type, pl_str_of(pl_block_type_text(found))))
        found++;
    return type ? found : PL_BLOCK_COUNT;
}

/* Blocks that a user may send. */
static const bool is_users[PL_BLOCK_COUNT] = {
    [PL_BLOCK_TEXT] = true,
    [PL_BLOCK_ASK_USER_ANSWER] = true,
    [PL_BLOCK_MEDIA] = true,
};

static const struct pl_json_node *content_of(const struct pl_json_doc *doc,
                                             const struct pl_json_node *part)
{
    const struct pl_json_node *content = pl_json_get(doc, part, PL_STR("content"));
    return content ? content : pl_json_get(doc, part, PL_STR("text"));
}

static bool is_place(const struct pl_json_doc *doc, const struct pl_json_node *mark,
                     const char *key)
{
    const struct pl_json_node *n = pl_json_member(doc, mark, key, PL_JSON_NUMBER);
    int64_t place;
    return n && pl_json_number_int64(pl_json_span(doc, n), &place) && place >= 0;
}

/* Whether `variables` lists the places of a prompt's values in the text. */
static bool variables_fit(const struct pl_json_doc *doc, const struct pl_json_node *variables,
                          enum pl_block_type type)
{
    if (!variables)
        return true;
    if (type != PL_BLOCK_TEXT || pl_json_kind(variables) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *n = pl_json_first(variables); n < pl_json_end(variables);
         n = pl_json_next(n))
        if (!pl_json_member(doc, n, "name", PL_JSON_STRING) || !is_place(doc, n, "from") ||
            !is_place(doc, n, "to"))
            return false;
    return true;
}

enum { WRONG = 200 };

/* Checks one part. True: ret_wrong completes the sentence "Part n of the message …". */
static bool is_wrong(const struct pl_json_doc *doc, const struct pl_json_node *part,
                     bool is_recorded, char ret_wrong[WRONG])
{
    if (pl_json_kind(part) != PL_JSON_OBJECT) {
        snprintf(ret_wrong, WRONG, "must be an object with type and content");
        return true;
    }
    enum pl_block_type type = type_of(doc, part);
    if (type == PL_BLOCK_COUNT) {
        snprintf(ret_wrong, WRONG,
                 "must have a type that a user may say: text, media or ask_user_answer");
        return true;
    }
    if (!is_recorded && !is_users[type]) {
        snprintf(ret_wrong, WRONG,
                 "has the type %s, which only the assistant or the system says; a user says text, "
                 "media or ask_user_answer",
                 pl_block_type_text(type));
        return true;
    }
    const char *wrong = type == PL_BLOCK_MEDIA
                            ? pl_media_wrong(doc, pl_json_get(doc, part, PL_STR("content")))
                            : NULL;
    if (wrong) {
        snprintf(ret_wrong, WRONG, "%s", wrong);
        return true;
    }
    if (!pl_block_accepts(type, content_of(doc, part))) {
        snprintf(ret_wrong, WRONG,
                 "must have a content that matches its type; a text needs a string");
        return true;
    }
    if (variables_fit(doc, pl_json_get(doc, part, PL_STR("variables")), type))
        return false;
    snprintf(ret_wrong, WRONG,
             "must have variables that are [{\"name\", \"from\", \"to\"}], places in its text");
    return true;
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

enum pl_status pl_message_check(struct pl_step *x, struct pl_str message, bool is_recorded)
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
                              "The message must be a string or an array of parts, not empty");
    size_t i = 0;
    for (const struct pl_json_node *part = pl_json_first(doc.root); part < pl_json_end(doc.root);
         part = pl_json_next(part), i++) {
        char wrong[WRONG];
        if (is_wrong(&doc, part, is_recorded, wrong))
            return refuse_part(x, i, wrong);
    }
    return PL_OK;
}

static struct pl_str keep_member(struct pl_turn *turn, const struct pl_json_doc *doc,
                                 const struct pl_json_node *part, const char *key)
{
    const struct pl_json_node *n = pl_json_member(doc, part, key, PL_JSON_STRING);
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
        const struct pl_json_node *variables = pl_json_get(&doc, part, PL_STR("variables"));
        if (variables && pl_json_count(variables))
            block->variables = pl_turn_keep(turn, pl_json_span(&doc, variables));
    }
}
