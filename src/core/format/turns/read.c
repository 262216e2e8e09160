/* Reading turns. One turn is a whole round of an agent and unfolds into several messages, in the
 * order of its blocks: what the assistant thinks, says and calls, then a message per finished call,
 * then what it says next. A block names a call, tool_calls[] has its details. A result without a
 * block of its own stands before the next words.
 *
 * A block and a call may have a `proof`, what only the vendor that made them can check: {"vendor":
 * a format, "signature", "id", "data"}. Its part has that format as its home, and a block of
 * nothing but a proof has no text. Thinking that has only data is what nobody else can read.
 *
 * What a model is asked stands as {"turns": […], "settings": {…}, "tools": […]}, the latter two as
 * in own_settings.h.
 *
 * Blocks for the page (cards, actions, modes, plans) are nothing a model reads: they get no part
 * and so are reported. */
#include "format/turns_int.h"

#include "base/map.h"
#include "format/own_settings.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/text.h"

struct call {
    const struct pl_json_node *node;  /* in tool_calls; NULL when only a block speaks of it */
    const struct pl_json_node *block; /* tool_use, when there is no node */
    bool has_result_block, is_called, is_answered;
};

struct reading {
    struct pl_conv *conv;
    const struct pl_json_node *turn;
    uint32_t element;
    enum pl_role role;
    PL_VEC(struct call) calls; /* owned */
    PL_VEC(uint32_t) open;     /* owned; calls of the assistant's message that is being read */
    struct pl_map by_id;       /* owned; call index + 1 */
    bool is_speaking;          /* the last message is this turn's, no result, and may grow */
    enum pl_role speaker;
    bool has_results;  /* some of `open` were answered */
    bool has_messages; /* the turn's id and time are said */
};

static bool is_kind(const struct pl_json_node *n, enum pl_json_kind kind)
{
    return n && pl_json_kind(n) == kind;
}

/* What only repeats something said elsewhere is known with it. */
static void know_if_same(struct pl_conv *conv, const struct pl_json_node *n,
                         const struct pl_json_node *said)
{
    bool is_same = false;
    if (!n || !said)
        return;
    if (pl_json_equal(conv->doc, n, conv->doc, said, &is_same) != PL_OK)
        conv->status = PL_NOMEM;
    else if (is_same)
        pl_conv_repeat(conv, n, said);
}

static struct pl_message *add_message(struct reading *r, enum pl_role role)
{
    struct pl_message *m = pl_conv_add_message(r->conv, role, r->turn, r->element);
    if (!r->has_messages) {
        m->id = pl_conv_get(r->conv, r->turn, "id", PL_WANT_STRING);
        m->created_at = pl_conv_get(r->conv, r->turn, "started_at", PL_WANT_TIME);
        r->has_messages = true;
    }
    return m;
}

static void speak(struct reading *r, enum pl_role role)
{
    if (r->is_speaking && r->speaker == role)
        return;
    add_message(r, role);
    r->is_speaking = true;
    r->speaker = role;
}

static const struct pl_json_node *result_of(const struct reading *r, const struct call *call)
{
    return pl_conv_node(r->conv, call->node, "result");
}

/* An object without its `_meta`, which is for the page and never for the model: the text of the
 * rest. Members are copied as they are spelled. */
static struct pl_val without_meta(struct pl_conv *conv, const struct pl_json_node *object)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    pl_buf_addc(&json, '{');
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        if (pl_json_text_is(conv->doc, k, PL_STR("_meta")))
            continue;
        if (json.len > 1)
            pl_buf_addc(&json, ',');
        pl_buf_add(&json, pl_json_span(conv->doc, k));
        pl_buf_addc(&json, ':');
        pl_buf_add(&json, pl_json_span(conv->doc, k + 1));
        pl_conv_know(conv, k + 1);
    }
    pl_buf_addc(&json, '}');
    struct pl_str text = pl_arena_dup(conv->arena, pl_buf_str(&json));
    if (json.status != PL_OK || !text.ptr)
        conv->status = PL_NOMEM;
    return pl_val_text(text);
}

static void add_result_text(struct pl_conv *conv, const struct pl_json_node *result)
{
    struct pl_val text = pl_val_node(result);
    if (is_kind(result, PL_JSON_OBJECT) && pl_json_get(conv->doc, result, PL_STR("_meta")))
        text = without_meta(conv, result);
    pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = text;
}

static struct pl_part *add_result(struct reading *r, const struct pl_json_node *node)
{
    add_message(r, PL_ROLE_TOOL);
    r->is_speaking = false;
    r->has_results = true;
    return pl_conv_add_part(r->conv, PL_PART_RESULT, node);
}

/* The result of a listed call; `said` is what a block has in its place. */
static void answer(struct reading *r, struct call *call, const struct pl_json_node *said)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *result = result_of(r, call);
    if (call->is_answered || !(result || said))
        return;
    call->is_answered = true;
    const struct pl_json_node *status = pl_conv_member(conv, call->node, "status", PL_WANT_STRING);
    struct pl_part *part = add_result(r, NULL);
    if (call->node) {
        part->id = pl_conv_get(conv, call->node, "id", PL_WANT_STRING);
        part->name = pl_conv_get(conv, call->node, "tool_name", PL_WANT_STRING);
    } else {
        part->id = pl_conv_get(conv, call->block, "tool_call_id", PL_WANT_STRING);
        part->name = pl_conv_get(conv, call->block, "tool_name", PL_WANT_STRING);
    }
    part->status = pl_val_node(status);
    if (pl_conv_says(conv, status, "done"))
        pl_conv_know(conv, status);
    if (pl_conv_says(conv, status, "error"))
        part->is_error = (struct pl_flag){true, true, pl_val_node(status)};
    add_result_text(conv, result ? result : said);
}

/* Before something new is said: what was called and is finished is answered. */
static void answer_open(struct reading *r)
{
    for (size_t i = 0; i < r->open.len; i++)
        answer(r, &r->calls.ptr[r->open.ptr[i]], NULL);
    r->open.len = 0;
    r->has_results = false;
}

/* Whether a finished call has no block that says where its result stands. */
static bool has_loose_result(const struct reading *r)
{
    for (size_t i = 0; i < r->open.len; i++) {
        const struct call *call = &r->calls.ptr[r->open.ptr[i]];
        if (!call->has_result_block && !call->is_answered && result_of(r, call))
            return true;
    }
    return false;
}

static struct pl_val string_of(const struct pl_conv *conv, const struct pl_json_node *object,
                               const char *key)
{
    const struct pl_json_node *n = pl_conv_node(conv, object, key);
    return is_kind(n, PL_JSON_STRING) ? pl_val_node(n) : (struct pl_val){0};
}

/* A proof of somebody unknown is left alone, and so reported. */
static void read_proof(struct reading *r, const struct pl_json_node *of, struct pl_part *part)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *proof = pl_conv_member(conv, of, "proof", PL_WANT_OBJECT);
    struct pl_val vendor = string_of(conv, proof, "vendor");
    const struct pl_format *home =
        pl_val_is_set(vendor) ? pl_format_find(pl_conv_text(conv, vendor)) : NULL;
    if (!home || !home->is_vendor)
        return;
    part->home = pl_format_place(home);
    pl_conv_know(conv, vendor.node);
    part->signature = string_of(conv, proof, "signature");
    if (part->kind == PL_PART_CALL)
        return;
    if (pl_conv_text(conv, part->text).len == 0) {
        pl_conv_know(conv, part->text.node);
        part->text = (struct pl_val){0};
    }
    if (part->kind != PL_PART_THINKING)
        return;
    part->id = string_of(conv, proof, "id");
    if (pl_val_is_set(part->text) || pl_val_is_set(part->signature))
        return;
    part->data = string_of(conv, proof, "data");
    if (pl_val_is_set(part->data))
        part->kind = PL_PART_REDACTED;
}

static void add_words(struct reading *r, const struct pl_json_node *block, enum pl_part_kind kind)
{
    struct pl_val content = pl_conv_get(r->conv, block, "content", PL_WANT_STRING);
    if (!pl_val_is_set(content))
        return;
    if (r->open.len && (r->has_results || has_loose_result(r)))
        answer_open(r);
    speak(r, r->role);
    struct pl_part *part = pl_conv_add_part(r->conv, kind, block);
    part->text = content;
    if (r->role == PL_ROLE_ASSISTANT)
        read_proof(r, block, part);
}

static void add_call(struct reading *r, uint32_t index)
{
    struct pl_conv *conv = r->conv;
    if (r->has_results)
        answer_open(r);
    struct call *call = &r->calls.ptr[index];
    call->is_called = true;
    if (!pl_vec_push(&r->open, index))
        conv->status = PL_NOMEM;
    speak(r, PL_ROLE_ASSISTANT);
    struct pl_part *part =
        pl_conv_add_part(conv, PL_PART_CALL, call->node ? call->node : call->block);
    if (call->node) {
        part->id = pl_conv_get(conv, call->node, "id", PL_WANT_STRING);
        part->name = pl_conv_get(conv, call->node, "tool_name", PL_WANT_STRING);
        part->args = pl_conv_get(conv, call->node, "arguments", PL_WANT_ANY);
        part->status = pl_conv_get(conv, call->node, "status", PL_WANT_STRING);
        read_proof(r, call->node, part);
        return;
    }
    const struct pl_json_node *content = pl_conv_node(conv, call->block, "content");
    part->id = pl_conv_get(conv, call->block, "tool_call_id", PL_WANT_STRING);
    part->name = pl_conv_get(conv, call->block, "tool_name", PL_WANT_STRING);
    if (!pl_val_is_set(part->name))
        part->name = pl_conv_get(conv, content, "name", PL_WANT_STRING);
    part->args = pl_conv_get(conv, content, "arguments", PL_WANT_ANY);
    if (!pl_val_is_set(part->args))
        part->args = pl_conv_get(conv, content, "input", PL_WANT_ANY);
}

/* The call a block names: listed, or made known by the block itself. */
static uint32_t call_of(struct reading *r, const struct pl_json_node *block)
{
    bool is_new;
    struct pl_str id =
        pl_conv_text(r->conv, pl_conv_get(r->conv, block, "tool_call_id", PL_WANT_STRING));
    struct pl_map_entry *entry = id.len ? pl_map_put(&r->by_id, id, &is_new) : NULL;
    if (entry && entry->value)
        return (uint32_t)entry->value - 1;
    if ((id.len && !entry) || !pl_vec_push(&r->calls, (struct call){.block = block})) {
        r->conv->status = PL_NOMEM;
        return UINT32_MAX;
    }
    if (entry)
        entry->value = r->calls.len;
    return (uint32_t)r->calls.len - 1;
}

static void read_use(struct reading *r, const struct pl_json_node *block)
{
    uint32_t index = call_of(r, block);
    if (index == UINT32_MAX)
        return;
    const struct pl_json_node *node = r->calls.ptr[index].node;
    if (node) {
        struct pl_conv *conv = r->conv;
        const struct pl_json_node *content = pl_conv_node(conv, block, "content");
        const struct pl_json_node *name = pl_conv_node(conv, node, "tool_name");
        pl_conv_repeat(conv, pl_conv_node(conv, block, "tool_call_id"),
                       pl_conv_node(conv, node, "id"));
        know_if_same(conv, pl_conv_node(conv, block, "tool_name"), name);
        know_if_same(conv, pl_conv_node(conv, content, "name"), name);
        know_if_same(conv, pl_conv_node(conv, content, "arguments"),
                     pl_conv_node(conv, node, "arguments"));
    }
    if (!r->calls.ptr[index].is_called)
        add_call(r, index);
}

static void read_result(struct reading *r, const struct pl_json_node *block)
{
    struct pl_conv *conv = r->conv;
    uint32_t index = call_of(r, block);
    if (index == UINT32_MAX)
        return;
    const struct pl_json_node *content = pl_conv_node(conv, block, "content");
    const struct pl_json_node *node = r->calls.ptr[index].node;
    if (node) {
        pl_conv_repeat(conv, pl_conv_node(conv, block, "tool_call_id"),
                       pl_conv_node(conv, node, "id"));
        know_if_same(conv, pl_conv_node(conv, block, "tool_name"),
                     pl_conv_node(conv, node, "tool_name"));
        know_if_same(conv, content, pl_conv_node(conv, node, "result"));
    }
    if (node && !r->calls.ptr[index].is_called)
        add_call(r, index);
    answer(r, &r->calls.ptr[index], content);
}

static void read_notice(struct reading *r, const struct pl_json_node *block)
{
    /* Put into the assistant's mouth it would be a lie. */
    if (r->role != PL_ROLE_ASSISTANT)
        add_words(r, block, PL_PART_TEXT);
}

static void read_block(struct reading *r, const struct pl_json_node *block)
{
    static const char *const words[] = {
        "text", "thinking", "tool_use", "tool_result", "system_notification", NULL};
    const struct pl_json_node *type = pl_conv_member(r->conv, block, "type", PL_WANT_STRING);
    int word = pl_conv_word(r->conv, type, words);
    if (word >= 0)
        pl_conv_know(r->conv, type);
    switch (word) {
    case 0:
        add_words(r, block, PL_PART_TEXT);
        break;
    case 1:
        add_words(r, block, PL_PART_THINKING);
        break;
    case 2:
        read_use(r, block);
        break;
    case 3:
        read_result(r, block);
        break;
    case 4:
        read_notice(r, block);
        break;
    default:
        break;
    }
}

/* Learns the calls of the turn, and which of them have a block for their result. */
static void list_calls(struct reading *r, const struct pl_json_node *blocks)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *calls = pl_conv_member(conv, r->turn, "tool_calls", PL_WANT_ARRAY);
    if (is_kind(calls, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(calls); n < pl_json_end(calls);
             n = pl_json_next(n)) {
            bool is_new;
            struct pl_str id = pl_conv_text(conv, pl_conv_get(conv, n, "id", PL_WANT_STRING));
            struct pl_map_entry *entry = pl_map_put(&r->by_id, id, &is_new);
            if (!entry || !pl_vec_push(&r->calls, (struct call){.node = n}))
                conv->status = PL_NOMEM;
            else if (is_new)
                entry->value = r->calls.len;
        }
    if (is_kind(blocks, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
             n = pl_json_next(n))
            if (pl_conv_says(conv, pl_conv_member(conv, n, "type", PL_WANT_STRING),
                             "tool_result")) {
                struct pl_str id =
                    pl_conv_text(conv, pl_conv_get(conv, n, "tool_call_id", PL_WANT_STRING));
                struct pl_map_entry *entry = pl_map_get(&r->by_id, id);
                if (entry && entry->value)
                    r->calls.ptr[entry->value - 1].has_result_block = true;
            }
}

/* Fields that say only what is so anyway. */
static void know_grammar(struct reading *r)
{
    static const struct {
        const char *key, *word;
    } usual[] = {{"kind", "message"}, {"kind", "compaction"}, {"loop_id", "root"}};
    struct pl_conv *conv = r->conv;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const struct pl_json_node *n = pl_conv_node(conv, r->turn, usual[i].key);
        if (pl_conv_says(conv, n, usual[i].word))
            pl_conv_know(conv, n);
    }
    const struct pl_json_node *sequence = pl_conv_node(conv, r->turn, "sequence");
    int64_t place;
    if (is_kind(sequence, PL_JSON_NUMBER) &&
        pl_json_number_int64(pl_json_span(conv->doc, sequence), &place) && place == r->element)
        pl_conv_know(conv, sequence);
}

/* What became of the turns before it: the summary stands in their place. */
static void read_summary(struct reading *r)
{
    struct pl_val summary = pl_conv_get(r->conv, r->turn, "summary_full", PL_WANT_STRING);
    if (!pl_val_is_set(summary))
        summary = pl_conv_get(r->conv, r->turn, "summary_preview", PL_WANT_STRING);
    if (!pl_val_is_set(summary))
        return;
    speak(r, r->role);
    pl_conv_add_part(r->conv, PL_PART_TEXT, NULL)->text = summary;
}

static void read_turn(struct pl_conv *conv, const struct pl_json_node *turn, uint32_t element)
{
    static const char *const words[] = {"user", "assistant", "system", NULL};
    static const enum pl_role roles[] = {PL_ROLE_USER, PL_ROLE_ASSISTANT, PL_ROLE_SYSTEM};
    const struct pl_json_node *role = pl_conv_member(conv, turn, "role", PL_WANT_STRING);
    const struct pl_json_node *blocks = pl_conv_member(conv, turn, "blocks", PL_WANT_ARRAY);
    int word = pl_conv_word(conv, role, words);
    struct reading r = {.conv = conv,
                        .turn = turn,
                        .element = element,
                        .role = word >= 0 ? roles[word] : PL_ROLE_USER};
    if (word >= 0)
        pl_conv_know(conv, role);
    know_grammar(&r);
    if (pl_conv_says(conv, pl_conv_node(conv, turn, "kind"), "compaction"))
        read_summary(&r);
    list_calls(&r, blocks);
    if (is_kind(blocks, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
             n = pl_json_next(n))
            read_block(&r, n);
    for (uint32_t i = 0; i < r.calls.len && conv->status == PL_OK; i++)
        if (r.calls.ptr[i].node && !r.calls.ptr[i].is_called)
            add_call(&r, i);
    answer_open(&r);
    pl_vec_deinit(&r.calls);
    pl_vec_deinit(&r.open);
    pl_map_deinit(&r.by_id);
}

enum pl_status pl_turns_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    (void)kind; /* an answer is a turn like any other */
    const struct pl_json_node *root = conv->doc->root;
    if (is_kind(root, PL_JSON_OBJECT) &&
        is_kind(pl_conv_member(conv, root, "blocks", PL_WANT_ARRAY), PL_JSON_ARRAY)) {
        read_turn(conv, root, PL_NO_ELEMENT);
        return conv->status;
    }
    const struct pl_json_node *turns = pl_conv_node(conv, root, "turns");
    if (is_kind(turns, PL_JSON_ARRAY)) {
        pl_own_settings_read(conv, pl_conv_member(conv, root, "settings", PL_WANT_OBJECT));
        pl_own_tools_read(conv, pl_conv_member(conv, root, "tools", PL_WANT_ARRAY));
        root = turns;
    }
    if (!is_kind(root, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "no turns: there must be an array of turns, each with blocks");
    conv->list = root;
    uint32_t element = 0;
    for (const struct pl_json_node *n = pl_json_first(root);
         n < pl_json_end(root) && conv->status == PL_OK; n = pl_json_next(n), element++) {
        if (!is_kind(n, PL_JSON_OBJECT))
            return pl_fail(err, PL_INVALID,
                           "turn %u is no object; a turn is {\"role\":…,\"blocks\":[…],…}",
                           element);
        read_turn(conv, n, element);
    }
    return conv->status;
}
