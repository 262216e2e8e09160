/* gpt-oss: the document of messages with channels, and the conversation.
 *
 * Reasoning is the assistant on channel analysis, words for the user on final, calls and the words
 * around them on commentary; a call is addressed `to=functions.NAME`, its result comes from that
 * name. There are no ids: a result belongs to the first call of its name that is not answered.
 * Instructions stand in developer messages; the system message is about the model itself. */
#include "format/gpt_oss.h"

#include "conv/call_ids.h"
#include "format/effort.h"
#include "format/tool_name.h"
#include "format/utterance.h"
#include "json/text.h"

#define NAMESPACE    "functions."
#define NAME_MAX_LEN 64

/* ---- reading ---- */

/* The document itself is ours: nobody has one to be told from others. */
static int detect(const struct pl_json_doc *doc)
{
    (void)doc;
    return 0;
}

/* The name behind `mark` in a string node, up to the next space, as a piece of it. */
static struct pl_val name_behind(const struct pl_conv *conv, const struct pl_json_node *n,
                                 const char *mark)
{
    if (!n || pl_json_kind(n) != PL_JSON_STRING)
        return (struct pl_val){0};
    struct pl_str raw = pl_json_raw(conv->doc, n), wanted = pl_str_of(mark);
    for (size_t i = 0; i + wanted.len <= raw.len; i++) {
        if ((i > 0 && raw.ptr[i - 1] != ' ') ||
            !pl_str_starts(pl_str_slice(raw, i, raw.len), wanted))
            continue;
        size_t end = i + wanted.len;
        while (end < raw.len && raw.ptr[end] != ' ')
            end++;
        return (struct pl_val){PL_VAL_SPAN, n, pl_str_slice(raw, i + wanted.len, end)};
    }
    return (struct pl_val){0};
}

/* Whether the first word of a string node is `word`. */
static bool begins(const struct pl_conv *conv, const struct pl_json_node *n, const char *word)
{
    if (!n || pl_json_kind(n) != PL_JSON_STRING)
        return false;
    struct pl_str raw = pl_json_raw(conv->doc, n), wanted = pl_str_of(word);
    return pl_str_starts(raw, wanted) &&
           (raw.len == wanted.len || raw.ptr[wanted.len] == ' ' || raw.ptr[wanted.len] == ':');
}

static void read_assistant(struct pl_conv *conv, const struct pl_json_node *m, uint32_t element,
                           bool is_same_utterance)
{
    const struct pl_json_node *role = pl_conv_member(conv, m, "role", PL_WANT_STRING);
    const struct pl_json_node *channel = pl_conv_member(conv, m, "channel", PL_WANT_STRING);
    const struct pl_json_node *constrain = pl_conv_member(conv, m, "constrain", PL_WANT_STRING);
    struct pl_val to = name_behind(conv, channel, "to=" NAMESPACE);
    if (!pl_val_is_set(to))
        to = name_behind(conv, role, "to=" NAMESPACE);
    bool is_analysis = begins(conv, channel, "analysis");
    pl_conv_add_message(conv, PL_ROLE_ASSISTANT, m, element)->is_phase_split = is_same_utterance;
    pl_conv_know(conv, role);
    if (is_analysis || begins(conv, channel, "final") || begins(conv, channel, "commentary"))
        pl_conv_know(conv, channel);
    if (begins(conv, constrain, "json"))
        pl_conv_know(conv, constrain);
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    if (pl_val_is_set(to)) {
        struct pl_part *call = pl_conv_add_part(conv, PL_PART_CALL, m);
        call->name = to;
        call->args = content;
    } else if (pl_val_is_set(content)) {
        pl_conv_add_part(conv, is_analysis ? PL_PART_THINKING : PL_PART_TEXT, m)->text = content;
    }
}

static void read_result(struct pl_conv *conv, const struct pl_json_node *m, uint32_t element,
                        struct pl_val name)
{
    pl_conv_add_message(conv, PL_ROLE_TOOL, m, element);
    struct pl_part *result = pl_conv_add_part(conv, PL_PART_RESULT, m);
    result->name = name;
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    if (pl_val_is_set(content))
        pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = content;
    pl_conv_know(conv, pl_conv_member(conv, m, "channel", PL_WANT_STRING));
}

/* Whether the message before this one is the assistant's, and there is more to come. */
static bool goes_on(struct pl_conv *conv, const struct pl_json_node *previous)
{
    return previous && conv->messages.len &&
           conv->messages.ptr[conv->messages.len - 1].role == PL_ROLE_ASSISTANT &&
           !begins(conv, pl_conv_member(conv, previous, "channel", PL_WANT_STRING), "final");
}

static void read_message(struct pl_conv *conv, const struct pl_json_node *m, uint32_t element,
                         const struct pl_json_node *previous)
{
    static const struct {
        const char *word;
        enum pl_role role;
    } roles[] = {
        {"user", PL_ROLE_USER}, {"system", PL_ROLE_SYSTEM}, {"developer", PL_ROLE_DEVELOPER}};
    const struct pl_json_node *role = pl_conv_member(conv, m, "role", PL_WANT_STRING);
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    pl_conv_know(conv, pl_conv_node(conv, m, "before"));
    pl_conv_know(conv, pl_conv_member(conv, m, "end", PL_WANT_STRING));
    if (!role || begins(conv, role, "assistant")) {
        /* `<|start|>assistant` alone only asks for an answer. */
        if (pl_val_is_set(content) || pl_conv_member(conv, m, "channel", PL_WANT_STRING))
            read_assistant(conv, m, element, goes_on(conv, previous));
        return;
    }
    struct pl_val tool = name_behind(conv, role, NAMESPACE);
    if (pl_val_is_set(tool) || begins(conv, role, "tool")) {
        pl_conv_know(conv, role);
        read_result(conv, m, element, tool);
        return;
    }
    enum pl_role speaker = PL_ROLE_USER;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (begins(conv, role, roles[i].word)) {
            speaker = roles[i].role;
            pl_conv_know(conv, role);
        }
    pl_conv_add_message(conv, speaker, m, element);
    if (pl_val_is_set(content))
        pl_conv_add_part(conv, PL_PART_TEXT, m)->text = content;
}

static void read_end(struct pl_conv *conv, const struct pl_json_node *last)
{
    const struct pl_json_node *end = pl_conv_member(conv, last, "end", PL_WANT_STRING);
    conv->answer.is_set = true;
    conv->answer.finish_val = pl_val_node(end);
    conv->answer.finish = !end                              ? PL_FINISH_LENGTH
                          : pl_conv_says(conv, end, "call") ? PL_FINISH_TOOLS
                                                            : PL_FINISH_STOP;
}

static enum pl_status read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    const struct pl_json_node *list = pl_conv_node(conv, conv->doc->root, "messages");
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "this is no text of gpt-oss: there is no message in it");
    conv->list = list;
    pl_conv_know(conv, pl_conv_node(conv, conv->doc->root, "after"));
    const struct pl_json_node *previous = NULL;
    uint32_t element = 0;
    for (const struct pl_json_node *m = pl_json_first(list); m < pl_json_end(list);
         previous = m, m = pl_json_next(m))
        read_message(conv, m, element++, previous);
    if (kind == PL_KIND_RESPONSE && previous)
        read_end(conv, previous);
    return conv->status;
}

/* ---- writing ---- */

/* Between texts that become one. */
#define GLUE "\n\n"

struct oss_out {
    struct pl_writer *w;
    struct pl_call_index calls;
    const char *last_end; /* of the last message of an answer; NULL: every message ends by end */
    bool has_tools;       /* they have been written, or there are none */
};

/* Words of anybody are only words: tokens in them are taken apart. */
static void write_words(struct oss_out *o, struct pl_val words)
{
    struct pl_str text = pl_conv_text(o->w->conv, words);
    struct pl_str safe = pl_gpt_oss_defuse(o->w->conv, text);
    if (safe.ptr == text.ptr) {
        /* The bytes of a span are not found again when they have gone through the text. */
        pl_w_string(o->w, words.kind == PL_VAL_SPAN ? pl_val_text(text) : words);
        pl_w_mapped(o->w, words);
        return;
    }
    pl_w_string(o->w, pl_val_text(safe));
    pl_w_loss(
        o->w, PL_LOSS_APPROXIMATED, words,
        "it holds special tokens of gpt-oss; a space in each keeps a model from obeying them");
}

static void open_message(struct oss_out *o, struct pl_str role, struct pl_str channel)
{
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "role");
    pl_w_string(o->w, pl_val_text(role));
    if (channel.len) {
        pl_w_key(o->w, "channel");
        pl_w_string(o->w, pl_val_text(channel));
    }
}

static void close_message(struct oss_out *o, const char *end)
{
    pl_w_key_word(o->w, "end", end);
    pl_w_close(o->w, '}');
}

/* Several texts as one; one with tokens in it is taken apart as a whole. */
static void write_joined(struct oss_out *o, const struct pl_val texts[], size_t n_texts)
{
    struct pl_conv *conv = o->w->conv;
    PL_CLEANUP_BUF struct pl_buf joined;
    pl_buf_init(&joined, 0);
    for (size_t i = 0; i < n_texts; i++) {
        pl_buf_adds(&joined, i ? GLUE : "");
        pl_buf_add(&joined, pl_conv_text(conv, texts[i]));
    }
    struct pl_str text = pl_buf_str(&joined);
    if (joined.status != PL_OK)
        conv->status = joined.status;
    else if (pl_gpt_oss_defuse(conv, text).ptr == text.ptr)
        pl_w_joined(o->w, texts, n_texts, GLUE);
    else
        write_words(o, pl_val_text(text));
}

/* All texts of a list as one: the only thing a message can hold. */
static void write_texts(struct oss_out *o, const struct pl_part *const parts[], uint32_t n_parts)
{
    struct pl_writer *w = o->w;
    struct pl_val *texts = pl_arena_alloc(w->conv->arena, n_parts + 1, sizeof *texts);
    size_t n = 0;
    if (!texts) {
        w->conv->status = PL_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < n_parts; i++)
        if (parts[i]->kind == PL_PART_TEXT && pl_val_is_set(parts[i]->text))
            texts[n++] = parts[i]->text;
    pl_w_key(w, "content");
    if (n == 1) {
        write_words(o, texts[0]);
        return;
    }
    write_joined(o, texts, n);
    for (size_t i = 0; i < n; i++) {
        pl_w_mapped(w, texts[i]);
        if (i > 0)
            pl_w_loss(w, PL_LOSS_MERGED, texts[i],
                      "a message has one text: this follows the text before it");
    }
}

/* The name of a tool for a header, which has no room for anything but letters, digits, _ and -. */
static struct pl_str spoken_name(struct oss_out *o, struct pl_val name)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_str given = pl_conv_text(conv, name), spoken = pl_tool_name(conv, name, NAME_MAX_LEN);
    if (pl_str_eq(given, spoken))
        pl_w_mapped(o->w, name);
    else
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, name.node, "the tool is called %.*s here",
                     PL_STR_ARG(spoken));
    return spoken;
}

static void write_call(struct oss_out *o, const struct pl_part *call)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_str name = spoken_name(o, call->name);
    struct pl_str channel =
        pl_conv_printf(conv, "commentary to=" NAMESPACE "%.*s ", PL_STR_ARG(name));
    open_message(o, PL_STR("assistant"), channel);
    pl_w_key_word(o->w, "constrain", "json");
    pl_w_key(o->w, "content");
    write_words(o, pl_val_is_set(call->args) ? call->args : pl_val_text(PL_STR("{}")));
    close_message(o, "call");
}

static void write_assistant(struct oss_out *o, const struct pl_utterance *u)
{
    bool has_calls = false;
    for (uint32_t i = 0; i < u->n_parts; i++)
        has_calls |= u->parts[i]->kind == PL_PART_CALL;
    for (uint32_t i = 0; i < u->n_parts; i++) {
        const struct pl_part *part = u->parts[i];
        bool is_thought = part->kind == PL_PART_THINKING;
        bool is_refusal = part->kind == PL_PART_REFUSAL;
        if (part->kind == PL_PART_CALL)
            write_call(o, part);
        if ((!is_thought && !is_refusal && part->kind != PL_PART_TEXT) ||
            !pl_val_is_set(part->text))
            continue;
        open_message(o, PL_STR("assistant"),
                     pl_str_of(is_thought  ? "analysis"
                               : has_calls ? "commentary"
                                           : "final"));
        pl_w_key(o->w, "content");
        write_words(o, part->text);
        if (is_refusal)
            pl_w_loss(o->w, PL_LOSS_APPROXIMATED, part->text, "a refusal is plain words here");
        close_message(o, !is_thought && o->last_end ? o->last_end : "end");
    }
}

static void write_result(struct oss_out *o, const struct pl_part *result)
{
    struct pl_conv *conv = o->w->conv;
    const struct pl_part *call = pl_call_index_find(&o->calls, conv, result->id);
    struct pl_val name = pl_val_is_set(result->name) || !call ? result->name : call->name;
    const struct pl_part **parts =
        pl_arena_alloc(conv->arena, result->n_children + 1, sizeof *parts);
    if (!parts) {
        conv->status = PL_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < result->n_children; i++)
        parts[i] = pl_conv_children(conv, result) + i;
    struct pl_str spoken = spoken_name(o, name);
    open_message(o, pl_conv_printf(conv, NAMESPACE "%.*s to=assistant", PL_STR_ARG(spoken)),
                 PL_STR("commentary"));
    write_texts(o, parts, result->n_children);
    close_message(o, "end");
}

/* The tools stand behind the instructions, in a message of their own. */
static void write_tools(struct oss_out *o)
{
    if (o->has_tools)
        return;
    o->has_tools = true;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!pl_gpt_oss_tools(o->w->conv, &text))
        return;
    if (text.status != PL_OK) {
        o->w->conv->status = text.status;
        return;
    }
    open_message(o, PL_STR("developer"), (struct pl_str){0});
    pl_w_key(o->w, "content");
    pl_w_string(o->w, pl_val_text(pl_gpt_oss_defuse(o->w->conv, pl_buf_str(&text))));
    close_message(o, "end");
}

static void write_utterance(struct oss_out *o, const struct pl_utterance *u)
{
    bool is_system = u->role == PL_ROLE_SYSTEM || u->role == PL_ROLE_DEVELOPER;
    if (!is_system)
        write_tools(o);
    if (u->role == PL_ROLE_ASSISTANT) {
        write_assistant(o, u);
    } else if (u->role == PL_ROLE_TOOL) {
        write_result(o, u->parts[0]);
    } else if (u->n_parts || !is_system) {
        open_message(o, pl_str_of(is_system ? "developer" : "user"), (struct pl_str){0});
        write_texts(o, u->parts, u->n_parts);
        close_message(o, "end");
    }
}

/* The models know three efforts, named in the system message. */
static void write_effort(struct oss_out *o)
{
    static const enum pl_effort nearest[] = {
        [PL_EFFORT_MINIMAL] = PL_EFFORT_LOW,   [PL_EFFORT_LOW] = PL_EFFORT_LOW,
        [PL_EFFORT_MEDIUM] = PL_EFFORT_MEDIUM, [PL_EFFORT_HIGH] = PL_EFFORT_HIGH,
        [PL_EFFORT_XHIGH] = PL_EFFORT_HIGH,    [PL_EFFORT_MAX] = PL_EFFORT_HIGH,
    };
    const struct pl_settings *s = &o->w->conv->settings;
    enum pl_effort effort = nearest[s->effort];
    if (effort == PL_EFFORT_UNSET)
        return;
    open_message(o, PL_STR("system"), (struct pl_str){0});
    pl_w_key(o->w, "content");
    pl_w_string(o->w,
                pl_val_text(pl_conv_printf(o->w->conv, "Reasoning: %s", pl_effort_word(effort))));
    close_message(o, "end");
    if (effort == s->effort)
        pl_w_mapped(o->w, s->effort_val);
    else
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->effort_val, "there are low, medium and high");
}

static enum pl_status write_all(struct oss_out *o)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_utterances all;
    enum pl_status status = pl_utterances_make(conv, &all);
    if (status != PL_OK)
        return status;
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "messages");
    pl_w_open(o->w, '[');
    write_effort(o);
    for (size_t i = 0; i < all.len && conv->status == PL_OK; i++)
        write_utterance(o, &all.ptr[i]);
    write_tools(o);
    pl_w_close(o->w, ']');
    pl_w_close(o->w, '}');
    return conv->status;
}

static enum pl_status write(struct pl_writer *w, const struct pl_format_task *task,
                            struct pl_error *err)
{
    bool is_answer = task->kind == PL_KIND_RESPONSE;
    if (is_answer && w->conv->answer.is_error)
        return pl_fail(err, PL_INVALID, "gpt-oss text has no form for an error");
    struct oss_out o = {.w = w, .last_end = is_answer ? "return" : NULL, .has_tools = is_answer};
    pl_call_index_init(&o.calls, w->conv);
    enum pl_status status = write_all(&o);
    pl_call_index_deinit(&o.calls);
    return status;
}

const struct pl_format pl_format_gpt_oss = {
    .name = "gpt-oss",
    .title = "the text of gpt-oss models, with channels",
    .list_key = "messages",
    .detect = detect,
    .read = read,
    .write = write,
};
