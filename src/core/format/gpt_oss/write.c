/* gpt-oss: writes a conversation as the messages that openai/harmony renders.
 *
 *   system     who the model is, how hard it thinks, the tools that run beside it, its channels
 *   developer  the instructions, the functions, the form of the answer: one message
 *   …          the conversation
 *   assistant  the beginning of the next turn, unless the last message is the assistant's
 *
 * A document of this format that was converted to another one is restored: a text that is a whole
 * system or developer message of gpt-oss is written unchanged. */
#include "format/gpt_oss/gpt_oss_int.h"

#include "conv/call_ids.h"
#include "format/pieces/effort.h"
#include "format/pieces/tool_name.h"
#include "format/pieces/utterance.h"
#include "json/write.h"

/* Separator of joined texts, and of the sections of a message. */
#define GLUE PL_GPT_OSS_GLUE("\n")

struct oss_out {
    struct pl_writer *w;
    struct pl_call_index calls;
    struct pl_utterances all;
    bool is_answer;
    bool is_home;        /* the source is gpt-oss too: its messages are valid */
    size_t n_leading;    /* instructions before the conversation */
    size_t system_index; /* index of the system message among them; n_leading: none */
};

/* ---- words ---- */

/* Breaks special tokens in a text: no text may contain one. */
static struct pl_val safe_words(struct oss_out *o, struct pl_val words)
{
    struct pl_str text = pl_conv_text(o->w->conv, words);
    struct pl_str safe = pl_gpt_oss_defuse(o->w->conv, text);
    pl_w_report_half(o->w, words);
    if (safe.ptr != text.ptr) {
        pl_w_loss(
            o->w, PL_LOSS_APPROXIMATED, words,
            "it contains special tokens of gpt-oss; a space in each keeps a model from obeying "
            "them");
        return pl_val_text(safe);
    }
    pl_conv_know_all(o->w->conv, words.node);
    /* The bytes of a span cannot be found again in the text. */
    return words.kind == PL_VAL_SPAN ? pl_val_text(text) : words;
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
    if (end)
        pl_w_key_word(o->w, "end", end);
    pl_w_close(o->w, '}');
}

/* Texts to be joined. */
struct texts {
    struct pl_val *vals; /* arena */
    size_t n;
    bool has_own; /* one is from the conversation */
};

static bool texts_init(struct oss_out *o, struct texts *t, size_t most)
{
    *t = (struct texts){.vals = pl_arena_alloc(o->w->conv->arena, most + 1, sizeof *t->vals)};
    if (!t->vals)
        o->w->conv->status = PL_NOMEM;
    return t->vals;
}

/* Adds a part if it is a text; later texts are merged with those before them. */
static void texts_add(struct oss_out *o, struct texts *t, const struct pl_part *part)
{
    if (part->kind != PL_PART_TEXT || !pl_val_is_set(part->text))
        return;
    t->vals[t->n++] = safe_words(o, part->text);
    if (t->has_own)
        pl_w_loss(o->w, PL_LOSS_MERGED, part->text,
                  "a message has only one text; this follows the previous text");
    t->has_own = true;
}

static void write_content(struct oss_out *o, const struct texts *t)
{
    pl_w_key(o->w, "content");
    if (t->n == 1)
        pl_w_string(o->w, t->vals[0]);
    else
        pl_w_joined(o->w, t->vals, t->n, GLUE);
}

/* ---- system and developer ---- */

/* The models have three efforts. */
static const char *effort_word(struct oss_out *o)
{
    static const enum pl_effort nearest[] = {
        [PL_EFFORT_UNSET] = PL_EFFORT_MEDIUM,  [PL_EFFORT_NONE] = PL_EFFORT_LOW,
        [PL_EFFORT_MINIMAL] = PL_EFFORT_LOW,   [PL_EFFORT_LOW] = PL_EFFORT_LOW,
        [PL_EFFORT_MEDIUM] = PL_EFFORT_MEDIUM, [PL_EFFORT_HIGH] = PL_EFFORT_HIGH,
        [PL_EFFORT_XHIGH] = PL_EFFORT_HIGH,    [PL_EFFORT_MAX] = PL_EFFORT_HIGH,
    };
    const struct pl_settings *s = &o->w->conv->settings;
    enum pl_effort effort = nearest[s->effort];
    if (effort == s->effort)
        pl_w_mapped(o->w, s->effort_val);
    else if (s->effort != PL_EFFORT_UNSET)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->effort_val,
                  "the efforts are low, medium and "
                  "high");
    return pl_effort_word(effort);
}

static bool has_functions(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->tools.len; i++)
        if (!conv->tools.ptr[i].is_hosted)
            return true;
    return false;
}

/* The text of a buffer as a value, without special tokens. */
static struct pl_val kept(struct oss_out *o, struct pl_buf *text)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_str copy = pl_arena_dup(conv->arena, pl_gpt_oss_defuse(conv, pl_buf_str(text)));
    if (text->status != PL_OK || !copy.ptr)
        conv->status = text->status != PL_OK ? text->status : PL_NOMEM;
    return pl_val_text(copy);
}

static void write_system(struct oss_out *o)
{
    struct pl_conv *conv = o->w->conv;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, PL_GPT_OSS_HEAD("\n") "%s" GLUE, effort_word(o));
    size_t before = text.len;
    pl_gpt_oss_builtins(conv, &text);
    pl_buf_adds(&text, text.len > before ? GLUE PL_GPT_OSS_CHANNELS : PL_GPT_OSS_CHANNELS);
    if (has_functions(conv))
        pl_buf_adds(&text, "\n" PL_GPT_OSS_CALLS);
    open_message(o, PL_STR("system"), (struct pl_str){0});
    pl_w_key(o->w, "content");
    pl_w_string(o->w, kept(o, &text));
    close_message(o, "end");
    pl_conv_loss(conv, PL_LOSS_SYNTHESISED, NULL,
                 "gpt-oss needs a system message; identity, knowledge cutoff and channels are "
                 "those of openai/harmony");
}

/* # Response Formats: the schema of the answer. */
static void add_format(struct oss_out *o, struct texts *t)
{
    struct pl_conv *conv = o->w->conv;
    const struct pl_settings *s = &conv->settings;
    if (s->output != PL_OUTPUT_SCHEMA || s->output_schema.kind != PL_VAL_NODE)
        return;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_str name = pl_val_is_set(s->output_name)
                             ? pl_tool_name(conv, s->output_name, PL_GPT_OSS_NAME_MAX)
                             : PL_STR("response");
    pl_buf_addf(&text, "# Response Formats" GLUE "## %.*s" GLUE, PL_STR_ARG(name));
    struct pl_str words = pl_conv_text(conv, s->output_description);
    if (words.len)
        pl_buf_adds(&text, "// ");
    for (size_t i = 0; i < words.len; i++) {
        pl_buf_addc(&text, words.ptr[i]);
        if (words.ptr[i] == '\n')
            pl_buf_adds(&text, "// ");
    }
    pl_buf_adds(&text, words.len ? "\n" : "");
    pl_json_write_min(&text, conv->doc, s->output_schema.node);
    t->vals[t->n++] = kept(o, &text);
    if (pl_str_eq(name, pl_conv_text(conv, s->output_name)))
        pl_w_mapped(o->w, s->output_name);
    else if (pl_val_is_set(s->output_name))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, s->output_name.node,
                     "the format got the name %.*s", PL_STR_ARG(name));
    pl_w_mapped(o->w, s->output_description);
    pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->output_schema,
              "it is only text for the model here; the server must enforce it");
    pl_conv_know_all(conv, s->output_schema.node);
    pl_conv_know(conv, pl_conv_node(conv, s->output_val.node, "type"));
}

/* Whether a text is the content of a whole developer message. */
static bool has_heading(struct pl_str text)
{
    return pl_str_starts(text, PL_STR(PL_GPT_OSS_INSTRUCTIONS)) ||
           pl_str_starts(text, PL_STR("# Tools"));
}

/* All leading instructions, the functions and the format of the answer, if present. */
static void write_developer(struct oss_out *o)
{
    struct pl_conv *conv = o->w->conv;
    size_t most = 3;
    for (size_t i = 0; i < o->n_leading; i++)
        most += o->all.ptr[i].n_parts;
    struct texts t;
    if (!texts_init(o, &t, most))
        return;
    t.vals[t.n++] = pl_val_text(PL_STR(PL_GPT_OSS_INSTRUCTIONS));
    for (size_t i = 0; i < o->n_leading; i++)
        for (uint32_t k = 0; i != o->system_index && k < o->all.ptr[i].n_parts; k++)
            texts_add(o, &t, o->all.ptr[i].parts[k]);
    if (!t.has_own || has_heading(pl_conv_text(conv, t.vals[1]))) {
        t.vals++;
        t.n--;
    }
    PL_CLEANUP_BUF struct pl_buf tools;
    pl_buf_init(&tools, 0);
    pl_gpt_oss_functions(conv, &tools);
    if (tools.len || tools.status != PL_OK)
        t.vals[t.n++] = kept(o, &tools);
    add_format(o, &t);
    if (!t.n)
        return;
    open_message(o, PL_STR("developer"), (struct pl_str){0});
    write_content(o, &t);
    close_message(o, "end");
}

/* Writes text unchanged: the user's, and the instructions of a gpt-oss source. */
static void write_plain(struct oss_out *o, const struct pl_utterance *u, const char *role,
                        const char *heading)
{
    struct texts t;
    if (!texts_init(o, &t, u->n_parts + 1))
        return;
    if (heading)
        t.vals[t.n++] = pl_val_text(pl_str_of(heading));
    for (uint32_t i = 0; i < u->n_parts; i++)
        texts_add(o, &t, u->parts[i]);
    open_message(o, pl_str_of(role), (struct pl_str){0});
    write_content(o, &t);
    close_message(o, "end");
}

static void write_instructions(struct oss_out *o, const struct pl_utterance *u)
{
    if (!u->n_parts)
        return;
    struct pl_val text = u->parts[0]->text;
    /* In a gpt-oss source, a piece of a string is the text under the heading. */
    bool is_whole =
        o->is_home ? text.kind != PL_VAL_SPAN : has_heading(pl_conv_text(o->w->conv, text));
    write_plain(o, u, o->is_home && u->role == PL_ROLE_SYSTEM ? "system" : "developer",
                is_whole ? NULL : PL_GPT_OSS_INSTRUCTIONS);
}

/* ---- the conversation ---- */

/* The name of a tool in a header, which may have only letters, digits, _ and -; only gpt-oss itself
 * has other namespaces. */
static struct pl_str spoken_name(struct oss_out *o, struct pl_val name)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_str given = pl_conv_text(conv, name);
    bool is_beside = o->is_home && given.len &&
                     (memchr(given.ptr, '.', given.len) || pl_str_eq(given, PL_STR("python")));
    struct pl_str spoken = is_beside ? given : pl_tool_name(conv, name, PL_GPT_OSS_NAME_MAX);
    if (pl_str_eq(given, spoken))
        pl_w_mapped(o->w, name);
    else
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, name.node, "the tool has the name %.*s here",
                     PL_STR_ARG(spoken));
    return is_beside ? spoken
                     : pl_conv_printf(conv, PL_GPT_OSS_FUNCTIONS "%.*s", PL_STR_ARG(spoken));
}

static void write_call(struct oss_out *o, const struct pl_part *call)
{
    struct pl_conv *conv = o->w->conv;
    struct pl_str name = spoken_name(o, call->name);
    open_message(o, pl_conv_printf(conv, "assistant to=%.*s", PL_STR_ARG(name)),
                 call->is_custom ? PL_STR("commentary") : PL_STR("commentary "));
    if (!call->is_custom)
        pl_w_key_word(o->w, "constrain", "json");
    struct pl_val none = pl_val_text(call->is_custom ? PL_STR("") : PL_STR("{}"));
    pl_w_key(o->w, "content");
    pl_w_string(o->w, pl_val_is_set(call->args) ? safe_words(o, call->args) : none);
    close_message(o, "call");
}

static bool is_spoken(const struct pl_part *part)
{
    return (part->kind == PL_PART_TEXT || part->kind == PL_PART_REFUSAL) &&
           pl_val_is_set(part->text);
}

static bool has_calls(const struct pl_utterance *u)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (u->parts[i]->kind == PL_PART_CALL)
            return true;
    return false;
}

/* Whether it ends a turn. */
static bool is_final(const struct pl_utterance *u)
{
    bool says = false;
    for (uint32_t i = 0; i < u->n_parts; i++)
        says |= is_spoken(u->parts[i]);
    return u->role == PL_ROLE_ASSISTANT && says && !has_calls(u);
}

/* The end token of an assistant message; the last one of an answer ends as the model ended it. */
static const char *end_of(const struct oss_out *o, const struct pl_utterance *u, bool is_last,
                          bool is_thought)
{
    if (!o->is_answer || !is_last)
        return "end";
    if (o->w->conv->answer.finish == PL_FINISH_LENGTH)
        return NULL;
    return is_thought || has_calls(u) ? "end" : "return";
}

static void write_assistant(struct oss_out *o, const struct pl_utterance *u, bool is_closed)
{
    const char *channel = has_calls(u) ? "commentary" : "final";
    for (uint32_t i = 0; i < u->n_parts; i++) {
        const struct pl_part *part = u->parts[i];
        bool is_thought = part->kind == PL_PART_THINKING && pl_val_is_set(part->text);
        if (part->kind == PL_PART_CALL)
            write_call(o, part);
        if (is_thought && is_closed)
            pl_w_loss(o->w, PL_LOSS_DROPPED, part->text,
                      "a final answer followed; gpt-oss models do not see reasoning from before "
                      "it");
        if ((!is_thought || is_closed) && !is_spoken(part))
            continue;
        open_message(o, PL_STR("assistant"), pl_str_of(is_thought ? "analysis" : channel));
        pl_w_key(o->w, "content");
        pl_w_string(o->w, safe_words(o, part->text));
        if (part->kind == PL_PART_REFUSAL)
            pl_w_loss(o->w, PL_LOSS_APPROXIMATED, part->text, "a refusal is plain text here");
        close_message(o, end_of(o, u, i + 1 == u->n_parts, is_thought));
    }
}

static void write_result(struct oss_out *o, const struct pl_part *result)
{
    struct pl_conv *conv = o->w->conv;
    const struct pl_part *call = pl_call_index_find(&o->calls, conv, result);
    struct pl_val name = pl_val_is_set(result->name) || !call ? result->name : call->name;
    struct texts t;
    if (!texts_init(o, &t, result->n_children))
        return;
    for (uint32_t i = 0; i < result->n_children; i++)
        texts_add(o, &t, pl_conv_children(conv, result) + i);
    bool has_name = pl_conv_text(conv, name).len;
    struct pl_str spoken = has_name ? spoken_name(o, name) : PL_STR("tool");
    open_message(o, pl_conv_printf(conv, "%.*s to=assistant", PL_STR_ARG(spoken)),
                 PL_STR("commentary"));
    write_content(o, &t);
    close_message(o, "end");
}

static void write_utterance(struct oss_out *o, const struct pl_utterance *u, bool is_closed)
{
    if (u->role == PL_ROLE_ASSISTANT)
        write_assistant(o, u, is_closed);
    else if (u->role == PL_ROLE_TOOL)
        write_result(o, u->parts[0]);
    else if (u->role == PL_ROLE_USER)
        write_plain(o, u, "user", NULL);
    else
        write_instructions(o, u);
}

/* ---- whole documents ---- */

static bool is_instruction(const struct pl_utterance *u)
{
    return u->role == PL_ROLE_SYSTEM || u->role == PL_ROLE_DEVELOPER;
}

static bool has_line(struct pl_str text, struct pl_str begin)
{
    for (size_t i = 0; i < text.len; i++) {
        if (pl_str_starts(pl_str_slice(text, i, text.len), begin))
            return true;
        const char *feed = memchr(text.ptr + i, '\n', text.len - i);
        i = feed ? (size_t)(feed - text.ptr) : text.len;
    }
    return false;
}

/* Whether an utterance is the system message of this format. */
static bool is_model_card(struct oss_out *o, const struct pl_utterance *u)
{
    if (u->role != PL_ROLE_SYSTEM || u->n_parts != 1 || u->parts[0]->kind != PL_PART_TEXT)
        return false;
    struct pl_str text = pl_conv_text(o->w->conv, u->parts[0]->text);
    return pl_str_starts(text, PL_STR(PL_GPT_OSS_IDENTITY)) &&
           has_line(text, PL_STR("# Valid channels: "));
}

/* The reasoning of a turn that ended with an answer is not shown again once another message
 * follows. If the last message is an answer, this includes the reasoning of the first answer. */
static size_t count_closed(const struct oss_out *o)
{
    size_t n_followed = 0, first_final = 0;
    bool has_user = false, has_assistant = false, ends_final = false;
    for (size_t i = o->all.len; i-- > 0;) {
        const struct pl_utterance *u = &o->all.ptr[i];
        has_user |= u->role == PL_ROLE_USER;
        if (u->role == PL_ROLE_ASSISTANT && !has_assistant)
            ends_final = is_final(u);
        has_assistant |= u->role == PL_ROLE_ASSISTANT;
        if (is_final(u)) {
            first_final = i + 1;
            if (has_user && !n_followed)
                n_followed = i + 1;
        }
    }
    return ends_final && first_final > n_followed ? first_final : n_followed;
}

static void write_beginning(struct oss_out *o)
{
    while (o->n_leading < o->all.len && is_instruction(&o->all.ptr[o->n_leading]))
        o->n_leading++;
    o->system_index = o->n_leading;
    for (size_t i = o->n_leading; i-- > 0;)
        if (is_model_card(o, &o->all.ptr[i]))
            o->system_index = i;
    if (o->system_index < o->n_leading)
        write_plain(o, &o->all.ptr[o->system_index], "system", NULL);
    else
        write_system(o);
    write_developer(o);
}

/* Copies a message of the source that is not part of the conversation. */
static void write_source(struct oss_out *o, const struct pl_json_node *message)
{
    static const char *const keys[] = {"role", "channel", "content", "end"};
    pl_w_open(o->w, '{');
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct pl_json_node *n = pl_json_get(o->w->conv->doc, message, pl_str_of(keys[i]));
        pl_w_opt_value(o->w, keys[i], pl_val_node(n));
    }
    pl_w_close(o->w, '}');
}

/* gpt-oss to gpt-oss: messages outside the conversation stay in place. */
static void write_home(struct oss_out *o)
{
    struct pl_conv *conv = o->w->conv;
    const struct pl_json_node *first = pl_json_count(conv->list) ? pl_json_first(conv->list) : NULL;
    const struct pl_json_node *last = first;
    for (const struct pl_json_node *m = first; m && m < pl_json_end(conv->list);
         m = pl_json_next(m))
        last = m;
    if (first && pl_val_is_set(pl_gpt_oss_default_effort(conv, first)))
        write_source(o, first);
    for (size_t i = 0; i < o->all.len && conv->status == PL_OK; i++)
        write_utterance(o, &o->all.ptr[i], false);
    if (last && pl_gpt_oss_is_prompt(conv, last))
        write_source(o, last);
}

static void write_request(struct oss_out *o)
{
    write_beginning(o);
    size_t n_closed = count_closed(o);
    for (size_t i = o->n_leading; i < o->all.len && o->w->conv->status == PL_OK; i++)
        write_utterance(o, &o->all.ptr[i], i < n_closed);
    if (o->all.len && is_final(&o->all.ptr[o->all.len - 1]))
        return;
    open_message(o, PL_STR("assistant"), (struct pl_str){0});
    close_message(o, NULL);
}

static void write_messages(struct oss_out *o)
{
    if (o->is_home)
        write_home(o);
    else if (!o->is_answer)
        write_request(o);
    else
        for (size_t i = 0; i < o->all.len && o->w->conv->status == PL_OK; i++)
            write_utterance(o, &o->all.ptr[i], false);
}

enum pl_status pl_gpt_oss_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                struct pl_error *err)
{
    struct oss_out o = {.w = w,
                        .is_answer = conversion->kind == PL_KIND_RESPONSE,
                        .is_home = conversion->from == &pl_format_gpt_oss};
    if (o.is_answer && w->conv->answer.is_error)
        return pl_fail(err, PL_INVALID, "gpt-oss text has no form for an error");
    enum pl_status status = pl_utterances_make(w->conv, &o.all);
    if (status != PL_OK)
        return status;
    pl_call_index_init(&o.calls, w->conv);
    pl_w_open(w, '{');
    pl_w_key(w, "messages");
    pl_w_open(w, '[');
    write_messages(&o);
    pl_w_close(w, ']');
    pl_w_close(w, '}');
    return w->conv->status;
}
