/* Reading turns. One turn is a whole round of an agent and unfolds into several messages, in the
 * order of its blocks: the assistant's thoughts, text and calls, then a message per finished call,
 * then the assistant's next text. A block names a call, tool_calls[] has its details. A result
 * without a block comes before the next text.
 *
 * A block and a call may have a `proof`, which only the vendor that made them can check: {"vendor":
 * a format, "signature", "id", "data"}. Its part has that format as its home. A block that is only
 * a proof has no text. Thinking that has only data is encrypted.
 *
 * A text may have `variables`, the places of their values in it (format/pieces/variables.h), and a
 * `segment`, its purpose: {"kind": "memory", "items": [{"title","content"}]}.
 *
 * A request to a model is {"turns": […], "settings": {…}, "tools": […]}, the latter two as in
 * format/pieces/own_settings.h.
 *
 * A call that ended without a result, or waits for a person, gets a result made from its status, so
 * that every call has an answer (open_calls.c). This holds for a session's own document {"turns":
 * …}; a plain list of turns is translated as it is.
 *
 * A sub-agent has its own conversation (loop_id). The document's loop is root if there is one;
 * turns of other loops are not mixed into it. In the document of a sub-agent its messages have its
 * loop_id as their name.
 *
 * A turn keeps the message_id, name and metadata that its message had in its first format. The
 * result_message of a call has those of the message with its result.
 *
 * Models do not read blocks for the page (cards, actions, modes, plans): they get no part and so
 * are reported. */
#include "format/turns/turns_int.h"

#include "base/map.h"
#include "format/pieces/own_settings.h"
#include "format/pieces/variables.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/text.h"

struct call {
    const struct pl_json_node *node;  /* in tool_calls; NULL if only a block has it */
    const struct pl_json_node *block; /* tool_use, if there is no node */
    bool has_result_block, is_called, is_answered;
};

struct reading {
    struct pl_conv *conv;
    const struct pl_json_node *turn;
    uint32_t element;
    enum pl_role role;
    PL_VEC(struct call) calls; /* owned */
    PL_VEC(uint32_t) open;     /* owned; calls of the current assistant message */
    struct pl_map by_id;       /* owned; call index + 1 */
    bool is_speaking;          /* the last message belongs to this turn, is not a result, and may
                                  grow */
    enum pl_role speaker;
    const struct pl_json_node *summary; /* of a compaction; NULL: none */
    bool has_results;                   /* some of `open` are answered */
    uint32_t n_messages;                /* of this turn; the first has its id and time */
    bool is_of_agent;                   /* of a sub-agent: the loop is the name */
    bool is_session;                    /* a session's own document: {"turns": …} */
    bool has_name;                      /* the turn's name is written */
};

/* Marks a value as known if it only repeats another one. */
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

/* The name of the speaker, for each message of the turn; only one has a link to the source. */
static struct pl_val name_of(struct reading *r)
{
    struct pl_val name = pl_conv_get(r->conv, r->turn, "name", PL_WANT_STRING);
    if (!pl_val_is_set(name) && r->is_of_agent && r->role == PL_ROLE_ASSISTANT)
        name = pl_conv_get(r->conv, r->turn, "loop_id", PL_WANT_STRING);
    if (pl_val_is_set(name) && r->has_name)
        name = pl_val_text(pl_conv_text(r->conv, name));
    r->has_name = true;
    return name;
}

static struct pl_message *add_message(struct reading *r, enum pl_role role)
{
    struct pl_conv *conv = r->conv;
    struct pl_message *m = pl_conv_add_message(conv, role, r->turn, r->element);
    const struct pl_json_node *own = pl_conv_node(conv, r->turn, "message_id");
    struct pl_val id = pl_conv_get(conv, r->turn, own ? "message_id" : "id", PL_WANT_STRING);
    if (role == r->role)
        m->name = name_of(r);
    m->created_at = pl_conv_get(conv, r->turn, "started_at", PL_WANT_TIME);
    if (!r->n_messages) {
        if (own)
            pl_conv_know(conv, pl_conv_node(conv, r->turn, "id"));
        m->id = id;
        m->metadata = pl_conv_get(conv, r->turn, "metadata", PL_WANT_OBJECT);
    } else if (pl_val_is_set(id)) { /* a later message of the same turn: a stable id */
        m->id = pl_val_text(
            pl_conv_printf(conv, "%.*s_%u", PL_STR_ARG(pl_conv_text(conv, id)), r->n_messages + 1));
    }
    r->n_messages++;
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

/* The id of the call in a block; a tool_use may have it in its content. */
static struct pl_val id_of(struct pl_conv *conv, const struct pl_json_node *block)
{
    struct pl_val id = pl_conv_get(conv, block, "tool_call_id", PL_WANT_STRING);
    if (pl_val_is_set(id) || !pl_conv_says(conv, pl_conv_node(conv, block, "type"), "tool_use"))
        return id;
    return pl_conv_get(conv, pl_conv_node(conv, block, "content"), "id", PL_WANT_STRING);
}

static struct pl_val name_in(struct pl_conv *conv, const struct pl_json_node *block)
{
    struct pl_val name = pl_conv_get(conv, block, "tool_name", PL_WANT_STRING);
    if (pl_val_is_set(name) || !pl_conv_says(conv, pl_conv_node(conv, block, "type"), "tool_use"))
        return name;
    return pl_conv_get(conv, pl_conv_node(conv, block, "content"), "name", PL_WANT_STRING);
}

static const struct pl_json_node *result_of(const struct reading *r, const struct call *call)
{
    return pl_conv_node(r->conv, call->node, "result");
}

static struct pl_part *add_result(struct reading *r, const struct call *call)
{
    struct pl_conv *conv = r->conv;
    struct pl_message *m = add_message(r, PL_ROLE_TOOL);
    const struct pl_json_node *from =
        pl_conv_member(conv, call->node, "result_message", PL_WANT_OBJECT);
    if (from) {
        m->id = pl_conv_get(conv, from, "id", PL_WANT_STRING);
        m->created_at = pl_conv_get(conv, from, "created_at", PL_WANT_TIME);
        m->metadata = pl_conv_get(conv, from, "metadata", PL_WANT_OBJECT);
    }
    r->is_speaking = false;
    r->has_results = true;
    return pl_conv_add_part(r->conv, PL_PART_RESULT, NULL);
}

/* The result of a listed call; `said` is the content of its block. */
static void answer(struct reading *r, struct call *call, const struct pl_json_node *said)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *result = result_of(r, call);
    const struct pl_json_node *status = pl_conv_member(conv, call->node, "status", PL_WANT_STRING);
    if (call->is_answered)
        return;
    struct pl_val made = {0};
    if (!result && !said && r->is_session)
        made = call->node ? pl_turns_open_call(conv, r->turn, call->node)
                          : pl_turns_shown_call(conv, call->block);
    if (!(result || said || pl_val_is_set(made)))
        return;
    call->is_answered = true;
    struct pl_part *part = add_result(r, call);
    if (call->node) {
        part->id = pl_conv_get(conv, call->node, "id", PL_WANT_STRING);
        part->name = pl_conv_get(conv, call->node, "tool_name", PL_WANT_STRING);
    } else {
        part->id = id_of(conv, call->block);
        part->name = name_in(conv, call->block);
        if (pl_val_is_set(made))
            part->is_error = (struct pl_flag){.is_set = true, .value = true};
    }
    part->status = pl_val_node(status);
    if (pl_conv_says(conv, status, "done"))
        pl_conv_know(conv, status);
    if (pl_conv_says(conv, status, "error") || pl_conv_says(conv, status, "cancelled"))
        part->is_error = (struct pl_flag){true, true, pl_val_node(status)};
    if (pl_val_is_set(made))
        pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = made;
    else
        pl_turns_read_result(conv, result ? result : said);
}

/* Adds the results of finished calls before the next text. */
static void answer_open(struct reading *r)
{
    for (size_t i = 0; i < r->open.len; i++)
        answer(r, &r->calls.ptr[r->open.ptr[i]], NULL);
    r->open.len = 0;
    r->has_results = false;
}

/* Whether a finished call has no block for its result. In a session a call that only a block shows
 * counts as finished: nothing runs it. */
static bool has_loose_result(const struct reading *r)
{
    for (size_t i = 0; i < r->open.len; i++) {
        const struct call *call = &r->calls.ptr[r->open.ptr[i]];
        bool is_finished = call->node ? result_of(r, call) != NULL : r->is_session;
        if (!call->has_result_block && !call->is_answered && is_finished)
            return true;
    }
    return false;
}

static struct pl_val string_of(const struct pl_conv *conv, const struct pl_json_node *object,
                               const char *key)
{
    const struct pl_json_node *n = pl_conv_node(conv, object, key);
    return pl_json_is(n, PL_JSON_STRING) ? pl_val_node(n) : (struct pl_val){0};
}

/* A proof of an unknown vendor is left alone, and so reported. */
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

/* Answered calls come before the turn's own role continues. */
static void go_on(struct reading *r)
{
    if (r->open.len && (r->has_results || has_loose_result(r)))
        answer_open(r);
    speak(r, r->role);
}

/* Whether a block only repeats the summary: a compaction has it in both places. */
static bool is_summary_again(struct reading *r, const struct pl_json_node *content)
{
    bool is_same = false;
    if (r->summary && pl_json_equal(r->conv->doc, content, r->conv->doc, r->summary, &is_same))
        r->conv->status = PL_NOMEM;
    if (is_same)
        pl_conv_repeat(r->conv, content, r->summary);
    return is_same;
}

/* The text is complete; its items are for formats that show lists. */
static void read_purpose(struct pl_conv *conv, const struct pl_json_node *block,
                         struct pl_part *part)
{
    static const char *const words[] = {"memory", "skills", NULL};
    static const enum pl_purpose purposes[] = {PL_PURPOSE_MEMORY, PL_PURPOSE_SKILLS};
    const struct pl_json_node *segment = pl_conv_member(conv, block, "segment", PL_WANT_OBJECT);
    int word = pl_conv_word(conv, pl_conv_node(conv, segment, "kind"), words);
    if (word < 0)
        return;
    part->purpose = purposes[word];
    part->context = pl_conv_get(conv, segment, "items", PL_WANT_ARRAY);
    pl_conv_know_all(conv, segment);
}

static void add_words(struct reading *r, const struct pl_json_node *block, enum pl_part_kind kind)
{
    struct pl_val content = pl_conv_get(r->conv, block, "content", PL_WANT_STRING);
    if (!pl_val_is_set(content) || is_summary_again(r, content.node))
        return;
    go_on(r);
    struct pl_part *part = pl_conv_add_part(r->conv, kind, block);
    part->text = pl_variables_read(r->conv, content.node,
                                   pl_conv_member(r->conv, block, "variables", PL_WANT_ARRAY));
    read_purpose(r->conv, block, part);
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
    part->id = id_of(conv, call->block);
    part->name = name_in(conv, call->block);
    part->args = pl_conv_get(conv, content, "arguments", PL_WANT_ANY);
    if (!pl_val_is_set(part->args))
        part->args = pl_conv_get(conv, content, "input", PL_WANT_ANY);
}

/* The call of a block: a listed one, or one that only the block shows. */
static uint32_t call_of(struct reading *r, const struct pl_json_node *block)
{
    bool is_new;
    struct pl_str id = pl_conv_text(r->conv, id_of(r->conv, block));
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

/* The input of a block repeats the arguments of the call, as JSON or as text. */
static void know_input(struct pl_conv *conv, const struct pl_json_node *input,
                       const struct pl_json_node *arguments)
{
    if (!input || !pl_json_is(arguments, PL_JSON_STRING))
        return;
    struct pl_str text = pl_conv_text(conv, pl_val_node(arguments));
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(conv->arena, text, NULL, &doc, NULL);
    bool is_same = false;
    if (status == PL_OK)
        status = pl_json_equal(conv->doc, input, &doc, doc.root, &is_same);
    else if (status != PL_NOMEM)
        is_same = pl_json_text_is(conv->doc, input, text);
    if (status == PL_NOMEM)
        conv->status = PL_NOMEM;
    if (is_same)
        pl_conv_repeat(conv, input, arguments);
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
        know_if_same(conv, pl_conv_node(conv, content, "id"), pl_conv_node(conv, node, "id"));
        know_if_same(conv, pl_conv_node(conv, content, "arguments"),
                     pl_conv_node(conv, node, "arguments"));
        know_input(conv, pl_conv_node(conv, content, "input"),
                   pl_conv_node(conv, node, "arguments"));
        know_if_same(conv, pl_conv_node(conv, block, "display_name"), name);
    }
    if (!r->calls.ptr[index].is_called)
        add_call(r, index);
}

/* Whether a block of a session's turn shows a result that names no call. No format has such
 * results, so its text stays and the kind of block is reported. */
static bool is_loose(const struct reading *r, const struct pl_json_node *block)
{
    return r->is_session &&
           !pl_json_is(pl_conv_node(r->conv, block, "tool_call_id"), PL_JSON_STRING);
}

static void add_content(struct reading *r, const struct pl_json_node *block)
{
    go_on(r);
    pl_conv_add_part(r->conv, PL_PART_TEXT, block)->text =
        pl_conv_get(r->conv, block, "content", PL_WANT_ANY);
}

/* In an assistant's turn an answer repeats the result of the question. A person may also send one
 * that was not asked for: it is user text. */
static void read_user_answer(struct reading *r, const struct pl_json_node *block)
{
    if (r->role == PL_ROLE_USER)
        add_content(r, block);
}

static void read_result(struct reading *r, const struct pl_json_node *block)
{
    struct pl_conv *conv = r->conv;
    if (is_loose(r, block)) {
        add_content(r, block);
        return;
    }
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
        know_if_same(conv, pl_conv_node(conv, block, "display_name"),
                     pl_conv_node(conv, node, "tool_name"));
    }
    if (node && !r->calls.ptr[index].is_called)
        add_call(r, index);
    answer(r, &r->calls.ptr[index], content);
}

static void read_notice(struct reading *r, const struct pl_json_node *block)
{
    /* The assistant did not say this. */
    if (r->role != PL_ROLE_ASSISTANT)
        add_words(r, block, PL_PART_TEXT);
}

static void read_block(struct reading *r, const struct pl_json_node *block)
{
    static const char *const words[] = {
        "text", "thinking", "tool_use", "tool_result", "system_notification", "media", NULL};
    const struct pl_json_node *type = pl_conv_member(r->conv, block, "type", PL_WANT_STRING);
    int word = pl_conv_word(r->conv, type, words);
    if (word >= 0 && !(word == 3 && is_loose(r, block)))
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
    case 5:
        go_on(r);
        pl_turns_read_media(r->conv, block, pl_conv_add_part);
        break;
    default:
        if (pl_conv_says(r->conv, type, "ask_user_answer"))
            read_user_answer(r, block);
        break;
    }
}

/* Lists the calls of the turn, and which of them have a block for their result. */
static void list_calls(struct reading *r, const struct pl_json_node *blocks)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *calls = pl_conv_member(conv, r->turn, "tool_calls", PL_WANT_ARRAY);
    if (pl_json_is(calls, PL_JSON_ARRAY))
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
    if (pl_json_is(blocks, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
             n = pl_json_next(n))
            if (pl_conv_says(conv, pl_conv_node(conv, n, "type"), "tool_use") &&
                pl_conv_text(conv, id_of(conv, n)).len)
                (void)call_of(r, n);
    if (pl_json_is(blocks, PL_JSON_ARRAY))
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

/* Fields with their default values. */
static void know_grammar(struct reading *r)
{
    static const struct {
        const char *key, *word;
    } usual[] = {
        {"kind", "message"}, {"kind", "compaction"}, {"loop_id", "root"}, {"status", "completed"}};
    struct pl_conv *conv = r->conv;
    /* In a session every turn has a status and a turn_id; in other documents they may add
     * information. */
    size_t n_usual = sizeof usual / sizeof *usual - !r->is_session;
    if (r->is_session)
        pl_conv_know(conv, pl_conv_node(conv, r->turn, "turn_id"));
    for (size_t i = 0; i < n_usual; i++) {
        const struct pl_json_node *n = pl_conv_node(conv, r->turn, usual[i].key);
        if (pl_conv_says(conv, n, usual[i].word))
            pl_conv_know(conv, n);
    }
    const struct pl_json_node *sequence = pl_conv_node(conv, r->turn, "sequence");
    int64_t place;
    if (pl_json_is(sequence, PL_JSON_NUMBER) &&
        pl_json_number_int64(pl_json_span(conv->doc, sequence), &place) && place == r->element)
        pl_conv_know(conv, sequence);
}

static bool has_words(const struct reading *r, const struct pl_json_node *blocks)
{
    if (!pl_json_is(blocks, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n))
        if (pl_conv_says(r->conv, pl_conv_node(r->conv, n, "type"), "text"))
            return true;
    return false;
}

/* A compaction: the summary replaces the turns before it. The preview, its beginning, is read only
 * if there is no summary. */
static void read_summary(struct reading *r, const struct pl_json_node *blocks)
{
    struct pl_val summary = pl_conv_get(r->conv, r->turn, "summary_full", PL_WANT_STRING);
    if (!pl_val_is_set(summary) && !has_words(r, blocks))
        summary = pl_conv_get(r->conv, r->turn, "summary_preview", PL_WANT_STRING);
    if (!pl_val_is_set(summary))
        return;
    r->summary = summary.node;
    speak(r, r->role);
    pl_conv_add_part(r->conv, PL_PART_TEXT, NULL)->text = summary;
    if (r->conv->status == PL_OK)
        r->conv->messages.ptr[r->conv->messages.len - 1].is_summary = true;
}

static void read_turn(struct pl_conv *conv, const struct pl_json_node *turn, uint32_t element,
                      bool is_of_agent, bool is_session)
{
    static const char *const words[] = {"user", "assistant", "system", NULL};
    static const enum pl_role roles[] = {PL_ROLE_USER, PL_ROLE_ASSISTANT, PL_ROLE_SYSTEM};
    const struct pl_json_node *role = pl_conv_member(conv, turn, "role", PL_WANT_STRING);
    const struct pl_json_node *blocks = pl_conv_member(conv, turn, "blocks", PL_WANT_ARRAY);
    int word = pl_conv_word(conv, role, words);
    struct reading r = {.conv = conv,
                        .turn = turn,
                        .element = element,
                        .is_of_agent = is_of_agent,
                        .is_session = is_session,
                        .role = word >= 0 ? roles[word] : PL_ROLE_USER};
    if (word >= 0)
        pl_conv_know(conv, role);
    know_grammar(&r);
    if (pl_conv_says(conv, pl_conv_node(conv, turn, "kind"), "compaction"))
        read_summary(&r, blocks);
    list_calls(&r, blocks);
    if (pl_json_is(blocks, PL_JSON_ARRAY))
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

/* Root is the default. */
static struct pl_str loop_of(struct pl_conv *conv, const struct pl_json_node *turn)
{
    const struct pl_json_node *loop = pl_conv_node(conv, turn, "loop_id");
    struct pl_str id = pl_json_is(loop, PL_JSON_STRING) ? pl_conv_text(conv, pl_val_node(loop))
                                                        : (struct pl_str){0};
    return id.len ? id : PL_STR("root");
}

static struct pl_str loop_of_document(struct pl_conv *conv, const struct pl_json_node *turns)
{
    struct pl_str first = {0};
    for (const struct pl_json_node *n = pl_json_first(turns); n < pl_json_end(turns);
         n = pl_json_next(n)) {
        struct pl_str id = loop_of(conv, n);
        if (pl_str_eq(id, PL_STR("root")))
            return id;
        if (!first.len)
            first = id;
    }
    return first.len ? first : PL_STR("root");
}

enum pl_status pl_turns_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    (void)kind; /* an answer is a turn like any other */
    const struct pl_json_node *root = conv->doc->root;
    if (pl_json_is(root, PL_JSON_OBJECT) &&
        pl_json_is(pl_conv_member(conv, root, "blocks", PL_WANT_ARRAY), PL_JSON_ARRAY)) {
        read_turn(conv, root, PL_NO_ELEMENT, false, false);
        return conv->status;
    }
    const struct pl_json_node *turns = pl_conv_node(conv, root, "turns");
    bool is_session = pl_json_is(turns, PL_JSON_ARRAY);
    if (is_session) {
        const struct pl_json_node *settings =
            pl_conv_member(conv, root, "settings", PL_WANT_OBJECT);
        pl_own_settings_read(conv, settings);
        /* The thinking budget: 0 is none, -1 is unlimited. */
        pl_conv_take(conv, settings, "thinking_budget", PL_WANT_INTEGER,
                     &conv->settings.thinking_budget);
        pl_own_tools_read(conv, pl_conv_member(conv, root, "tools", PL_WANT_ARRAY));
        root = turns;
    }
    if (!pl_json_is(root, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "not turns: there must be an array of turns, each with blocks");
    conv->list = root;
    uint32_t element = 0;
    struct pl_str loop = loop_of_document(conv, root);
    bool is_of_agent = !pl_str_eq(loop, PL_STR("root"));
    for (const struct pl_json_node *n = pl_json_first(root);
         n < pl_json_end(root) && conv->status == PL_OK; n = pl_json_next(n), element++) {
        if (!pl_json_is(n, PL_JSON_OBJECT))
            return pl_fail(err, PL_INVALID,
                           "turn %u is not an object; a turn is {\"role\":…,\"blocks\":[…],…}",
                           element);
        struct pl_str of = loop_of(conv, n);
        if (pl_str_eq(of, loop))
            read_turn(conv, n, element, is_of_agent, is_session);
        else
            pl_conv_loss(conv, PL_LOSS_DROPPED, n,
                         "a turn of the sub-agent %.*s is not part of this conversation; it has "
                         "one of its own (loop_id)",
                         PL_STR_ARG(of));
    }
    return conv->status;
}
