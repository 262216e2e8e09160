/* Conversations for the tests of conv/, which knows no format: a short notation.
 *
 *     [{"user":["words"]}, {"assistant":["words", {"call":"c1","name":"f","args":"{}"}]},
 *      {"tool":[{"result":"c1","content":["words", {"image":"https://x.test/a.png"}]}]}]
 *
 * A part is a string (text) or an object; the root may also be {"messages":[…],"tools":[…],…}. The
 * output has one line per message, with a star if the message was changed:
 *     user "words"
 *     *tool result(c1 "words" image) */
#ifndef PL_TEST_TALK_H
#define PL_TEST_TALK_H

#include "base/buf.h"
#include "conv/conv.h"
#include "json/pointer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct talk {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_conv conv;
    struct pl_buf told;
};

static const char *const talk_roles[] = {"system", "developer", "user", "assistant", "tool", NULL};
static const char *const talk_media[] = {"image", "audio", "video", "file", NULL};
static const enum pl_part_kind talk_kinds[] = {PL_PART_IMAGE, PL_PART_AUDIO, PL_PART_VIDEO,
                                               PL_PART_FILE};

static inline void talk_fill(struct talk *t, struct pl_part *part, const struct pl_json_node *node)
{
    struct pl_conv *c = &t->conv;
    part->name = pl_conv_get(c, node, "name", PL_WANT_ANY);
    part->signature = pl_conv_get(c, node, "signature", PL_WANT_ANY);
    part->cache = pl_conv_get(c, node, "cache", PL_WANT_ANY);
    part->citations = pl_conv_get(c, node, "citations", PL_WANT_ANY);
    part->args = pl_conv_get(c, node, "args", PL_WANT_ANY);
    part->mime = pl_conv_get(c, node, "mime", PL_WANT_ANY);
    part->data = pl_conv_get(c, node, "data", PL_WANT_ANY);
    if (pl_conv_node(c, node, "is_error"))
        part->is_error = (struct pl_flag){.is_set = true, .value = true};
}

/* The kind of a part, by its first member. */
static inline enum pl_part_kind talk_kind(struct talk *t, const struct pl_json_node *node)
{
    struct pl_conv *c = &t->conv;
    if (pl_json_kind(node) == PL_JSON_STRING || pl_conv_node(c, node, "text"))
        return PL_PART_TEXT;
    for (int i = 0; talk_media[i]; i++)
        if (pl_conv_node(c, node, talk_media[i]))
            return talk_kinds[i];
    return pl_conv_node(c, node, "call")       ? PL_PART_CALL
           : pl_conv_node(c, node, "result")   ? PL_PART_RESULT
           : pl_conv_node(c, node, "thinking") ? PL_PART_THINKING
                                               : PL_PART_OTHER;
}

static inline void talk_read_part(struct talk *t, const struct pl_json_node *node, bool is_child)
{
    struct pl_conv *c = &t->conv;
    enum pl_part_kind kind = talk_kind(t, node);
    struct pl_part *part =
        is_child ? pl_conv_add_child(c, kind, node) : pl_conv_add_part(c, kind, node);
    if (pl_json_kind(node) == PL_JSON_STRING) {
        part->text = pl_val_node(node);
        return;
    }
    talk_fill(t, part, node);
    part->text = pl_conv_get(c, node, kind == PL_PART_THINKING ? "thinking" : "text", PL_WANT_ANY);
    if (kind == PL_PART_CALL)
        part->id = pl_conv_get(c, node, "call", PL_WANT_ANY);
    if (kind == PL_PART_RESULT)
        part->id = pl_conv_get(c, node, "result", PL_WANT_ANY);
    for (int i = 0; talk_media[i]; i++)
        if (kind == talk_kinds[i])
            part->url = pl_conv_get(c, node, talk_media[i], PL_WANT_ANY);
    const struct pl_json_node *content = pl_conv_node(c, node, "content");
    if (kind != PL_PART_RESULT || !content)
        return;
    for (const struct pl_json_node *k = pl_json_first(content); k < pl_json_end(content);
         k = pl_json_next(k))
        talk_read_part(t, k, true);
}

static inline void talk_read_message(struct talk *t, const struct pl_json_node *node, uint32_t at)
{
    struct pl_conv *c = &t->conv;
    const struct pl_json_node *parts = NULL;
    int role = 0;
    while (talk_roles[role] && !(parts = pl_conv_node(c, node, talk_roles[role])))
        role++;
    assert_non_null(parts);
    struct pl_message *m = pl_conv_add_message(c, (enum pl_role)role, node, at);
    m->id = pl_conv_get(c, node, "id", PL_WANT_ANY);
    m->name = pl_conv_get(c, node, "name", PL_WANT_ANY);
    m->metadata = pl_conv_get(c, node, "metadata", PL_WANT_ANY);
    m->is_phase_split = pl_conv_node(c, node, "goes_on") != NULL;
    for (const struct pl_json_node *p = pl_json_first(parts); p < pl_json_end(parts);
         p = pl_json_next(p))
        talk_read_part(t, p, false);
}

/* Must be deinitialised whatever it returns. */
static inline enum pl_status talk_try(struct talk *t, const char *text)
{
    *t = (struct talk){0};
    pl_arena_init(&t->arena, 0);
    pl_buf_init(&t->told, 0);
    enum pl_status status = pl_json_parse(&t->arena, pl_str_of(text), NULL, &t->doc, NULL);
    if (status == PL_OK)
        status = pl_conv_init(&t->conv, &t->arena, &t->doc);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *root = t->doc.root, *list = root;
    struct pl_conv *c = &t->conv;
    if (pl_json_kind(root) == PL_JSON_OBJECT) {
        list = pl_conv_node(c, root, "messages");
        c->settings.thinking = pl_conv_get(c, root, "thinking", PL_WANT_ANY);
        c->settings.temperature = pl_conv_get(c, root, "temperature", PL_WANT_ANY);
        c->settings.top_p = pl_conv_get(c, root, "top_p", PL_WANT_ANY);
        const struct pl_json_node *tools = pl_conv_node(c, root, "tools");
        for (const struct pl_json_node *k = tools ? pl_json_first(tools) : NULL;
             tools && k < pl_json_end(tools); k = pl_json_next(k)) {
            struct pl_tool *tool = pl_conv_add_tool(c, k);
            tool->name = pl_conv_get(c, k, "name", PL_WANT_ANY);
            tool->schema = pl_conv_get(c, k, "schema", PL_WANT_ANY);
            tool->cache = pl_conv_get(c, k, "cache", PL_WANT_ANY);
        }
    }
    c->list = list;
    uint32_t at = 0;
    for (const struct pl_json_node *m = pl_json_first(list);
         m < pl_json_end(list) && c->status == PL_OK; m = pl_json_next(m))
        talk_read_message(t, m, at++);
    return c->status;
}

static inline void talk_read(struct talk *t, const char *text)
{
    assert_int_equal(talk_try(t, text), PL_OK);
}

static inline void talk_deinit(struct talk *t)
{
    pl_conv_deinit(&t->conv);
    pl_buf_deinit(&t->told);
    pl_arena_deinit(&t->arena);
}

static inline void talk_tell_part(struct talk *t, const struct pl_part *part)
{
    struct pl_conv *c = &t->conv;
    static const char *const words[PL_PART_KIND_COUNT] = {
        [PL_PART_THINKING] = "thinking", [PL_PART_REDACTED] = "redacted",
        [PL_PART_IMAGE] = "image",       [PL_PART_AUDIO] = "audio",
        [PL_PART_VIDEO] = "video",       [PL_PART_FILE] = "file",
        [PL_PART_REFUSAL] = "refusal",   [PL_PART_CALL] = "call",
        [PL_PART_RESULT] = "result",     [PL_PART_OTHER] = "other",
    };
    struct pl_str text = pl_conv_text(c, part->text), id = pl_conv_text(c, part->id);
    if (part->kind == PL_PART_TEXT) {
        pl_buf_addf(&t->told, " \"%.*s\"", PL_STR_ARG(text));
        return;
    }
    pl_buf_addf(&t->told, " %s", words[part->kind]);
    if (part->kind != PL_PART_CALL && part->kind != PL_PART_RESULT)
        return;
    pl_buf_addf(&t->told, "(%.*s", PL_STR_ARG(id));
    for (uint32_t i = 0; part->kind == PL_PART_RESULT && i < part->n_children; i++)
        talk_tell_part(t, &pl_conv_children(c, part)[i]);
    pl_buf_addc(&t->told, ')');
}

static inline const char *talk_tell(struct talk *t)
{
    pl_buf_clear(&t->told);
    for (size_t i = 0; i < t->conv.messages.len; i++) {
        const struct pl_message *m = &t->conv.messages.ptr[i];
        pl_buf_addf(&t->told, "%s%s", m->is_changed ? "*" : "", talk_roles[m->role]);
        for (uint32_t k = 0; k < m->n_parts; k++)
            talk_tell_part(t, &pl_conv_parts(&t->conv, m)[k]);
        pl_buf_addc(&t->told, '\n');
    }
    pl_buf_addc(&t->told, '\0');
    assert_int_equal(t->told.status, PL_OK);
    return t->told.ptr;
}

/* "code pointer" of every loss, one per line. */
static inline const char *talk_losses(struct talk *t)
{
    static const char *const codes[] = {"dropped",   "approximated", "moved",
                                        "reordered", "merged",       "synthesised"};
    pl_buf_clear(&t->told);
    for (size_t i = 0; i < t->conv.losses.len; i++) {
        const struct pl_loss *loss = &t->conv.losses.ptr[i];
        pl_buf_addf(&t->told, "%s ", codes[loss->code]);
        pl_json_pointer_of(&t->told, &t->doc, loss->node ? loss->node : t->doc.root);
        pl_buf_addc(&t->told, '\n');
    }
    pl_buf_addc(&t->told, '\0');
    return t->told.ptr;
}

#endif
