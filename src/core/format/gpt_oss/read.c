/* gpt-oss: reads the document of messages with channels into a conversation.
 *
 * The assistant's reasoning is on channel analysis, its text for the user on final, its calls and
 * the text around them on commentary. A message of the assistant to anybody but the user is a call:
 * of functions.NAME, or of a tool that runs beside the model (browser.search, python, any other
 * namespace). An unknown role is a tool that answers. There are no ids: a result belongs to the
 * first unanswered call of its name.
 *
 * Headers come in every form that a model or a program writes: the recipient after the role or the
 * channel, with or without to=, a channel twice, a data type with or without <|constrain|>. A
 * completion goes on where its prompt ended, so it may begin with the rest of a role. */
#include "format/gpt_oss/gpt_oss_int.h"

#include "base/map.h"

struct reader {
    struct pl_conv *conv;
    struct pl_map calls;                 /* by name: the tools that were called */
    struct pl_val last_call;             /* the name of the last call */
    const struct pl_json_node *previous; /* the last assistant message, if no other role has
                                            spoken since */
};

/* ---- messages outside the conversation ---- */

struct pl_val pl_gpt_oss_default_effort(struct pl_conv *conv, const struct pl_json_node *message)
{
    static const char *const efforts[] = {"low", "medium", "high", NULL};
    const struct pl_json_node *content = pl_conv_node(conv, message, "content");
    if (!pl_conv_says(conv, pl_conv_node(conv, message, "role"), "system") || !content)
        return (struct pl_val){0};
    struct pl_str raw = pl_json_raw(conv->doc, content), head = PL_STR(PL_GPT_OSS_HEAD("\\n"));
    if (!pl_str_starts(raw, head))
        return (struct pl_val){0};
    for (size_t i = 0; efforts[i]; i++) {
        size_t end = head.len + strlen(efforts[i]);
        struct pl_str effort = pl_str_slice(raw, head.len, end < raw.len ? end : raw.len);
        struct pl_str rest = pl_str_slice(raw, head.len + effort.len, raw.len);
        if (pl_str_eq(effort, pl_str_of(efforts[i])) &&
            (pl_str_eq(rest, PL_STR("\\n\\n" PL_GPT_OSS_CHANNELS)) ||
             pl_str_eq(rest, PL_STR("\\n\\n" PL_GPT_OSS_CHANNELS "\\n" PL_GPT_OSS_CALLS))))
            return (struct pl_val){.kind = PL_VAL_SPAN, .node = content, .str = effort};
    }
    return (struct pl_val){0};
}

bool pl_gpt_oss_is_prompt(struct pl_conv *conv, const struct pl_json_node *message)
{
    const struct pl_json_node *content = pl_conv_node(conv, message, "content");
    return pl_conv_node(conv, message, "role") && !pl_conv_node(conv, message, "end") &&
           !pl_conv_node(conv, message, "header") &&
           (!content || !pl_json_raw(conv->doc, content).len);
}

/* A system message with only the default text is about the model, not the conversation. */
static bool read_effort(struct pl_conv *conv, const struct pl_json_node *m)
{
    static const struct {
        const char *word;
        enum pl_effort effort;
    } efforts[] = {{"low", PL_EFFORT_LOW}, {"medium", PL_EFFORT_MEDIUM}, {"high", PL_EFFORT_HIGH}};
    struct pl_val word = pl_gpt_oss_default_effort(conv, m);
    if (!pl_val_is_set(word))
        return false;
    conv->settings.effort_val = word;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (pl_str_eq(word.str, pl_str_of(efforts[i].word)))
            conv->settings.effort = efforts[i].effort;
    return true;
}

/* The instructions of a developer message, if it has nothing else. */
static struct pl_val instructions_in(struct pl_conv *conv, struct pl_val content)
{
    static const char *const sections[] = {"\\n# Tools", "\\n# Response Formats"};
    struct pl_str raw = content.node ? pl_json_raw(conv->doc, content.node) : PL_STR("");
    struct pl_str head = PL_STR(PL_GPT_OSS_INSTRUCTIONS PL_GPT_OSS_GLUE("\\n"));
    if (!pl_str_starts(raw, head))
        return content;
    for (size_t at = head.len; at < raw.len; at++)
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
            if (raw.ptr[at] == '\\' &&
                pl_str_starts(pl_str_slice(raw, at, raw.len), pl_str_of(sections[i])))
                return content;
    return (struct pl_val){
        .kind = PL_VAL_SPAN, .node = content.node, .str = pl_str_slice(raw, head.len, raw.len)};
}

/* ---- headers ---- */

struct header {
    struct pl_val author;            /* SPAN; the first word of the role */
    struct pl_val recipient;         /* SPAN; the called tool */
    struct pl_val rest;              /* SPAN; words that are not part of a header */
    const struct pl_json_node *role; /* if it has nothing unusual */
    struct pl_str channel;
    bool has_channel;
    bool has_content; /* otherwise words of the header may be the content */
    bool is_call;     /* it ends as only a call does */
};

/* The number of bytes of white space at `at`, escaped or not. */
static size_t space_at(struct pl_str raw, size_t at)
{
    struct pl_str rest = pl_str_slice(raw, at, raw.len);
    if (rest.len && rest.ptr[0] == ' ')
        return 1;
    if (rest.len > 1 && rest.ptr[0] == '\\' && strchr("ntrf", rest.ptr[1]))
        return 2;
    return pl_str_starts(rest, PL_STR("\\u000b")) ? 6 : 0;
}

/* The next word at or after *at; moves *at past it. */
static bool next_word(struct pl_str raw, size_t *at, struct pl_str *ret_word)
{
    size_t n;
    while ((n = space_at(raw, *at)))
        *at += n;
    size_t from = *at;
    /* Skips an escape as a whole: the byte after a backslash does not start another. */
    while (*at < raw.len && !space_at(raw, *at))
        *at += raw.ptr[*at] == '\\' ? 2 : 1;
    *ret_word = pl_str_slice(raw, from, *at);
    return ret_word->len > 0;
}

static struct pl_val span(const struct pl_json_node *node, struct pl_str piece)
{
    return (struct pl_val){.kind = PL_VAL_SPAN, .node = node, .str = piece};
}

static bool is_one_of(struct pl_str word, const char *const words[])
{
    for (; *words; words++)
        if (pl_str_eq(word, pl_str_of(*words)))
            return true;
    return false;
}

/* The last one counts. What is said to the user has no recipient elsewhere. */
static void take_recipient(struct pl_conv *conv, struct header *h, const struct pl_json_node *node,
                           struct pl_str name)
{
    static const char *const nobody[] = {"assistant", "", NULL}, *const user[] = {"user", "all",
                                                                                  NULL};
    if (is_one_of(name, nobody))
        return;
    if (is_one_of(name, user)) {
        pl_conv_loss(conv, PL_LOSS_MOVED, node, "a text of the assistant is for the user");
        return;
    }
    if (pl_val_is_set(h->recipient) && !pl_str_eq(h->recipient.str, name))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, h->recipient.node,
                     "a message has one recipient; %.*s is left out", PL_STR_ARG(h->recipient.str));
    h->recipient = span(node, name);
}

/* Reads one piece of a header; `ret_first` is its first word. True if it is only grammar: it has no
 * recipient, which a writer writes, and nothing unknown. */
static bool read_piece(struct pl_conv *conv, struct header *h, const struct pl_json_node *node,
                       struct pl_str *ret_first)
{
    static const char *const types[] = {"json", "code", "text", NULL};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return false;
    struct pl_str raw = pl_json_raw(conv->doc, node), word;
    bool is_strange = false;
    size_t at = 0;
    for (bool is_first = true; next_word(raw, &at, &word); is_first = false) {
        if (pl_str_starts(word, PL_STR("to=")))
            take_recipient(conv, h, node, pl_str_slice(word, 3, word.len));
        else if (is_first)
            *ret_first = word;
        else if (is_one_of(word, types))
            continue;
        else if (h->has_content && !pl_val_is_set(h->recipient) &&
                 (h->is_call || memchr(word.ptr, '.', word.len - 1)))
            take_recipient(conv, h, node, word);
        else {
            is_strange = true;
            h->rest = span(node, pl_str_slice(raw, (size_t)(word.ptr - raw.ptr), raw.len));
            break;
        }
    }
    return !is_strange && h->recipient.node != node;
}

static void read_channel(struct pl_conv *conv, struct header *h, const struct pl_json_node *node)
{
    static const char *const channels[] = {"analysis", "commentary", "final", NULL};
    if (!node)
        return;
    struct pl_str raw = pl_json_raw(conv->doc, node), channel = {0};
    bool is_plain = read_piece(conv, h, node, &channel);
    bool is_known = !channel.len || is_one_of(channel, channels);
    /* An unknown channel is reported, or is the beginning of a text without <|message|>. */
    if (is_plain && is_known)
        pl_conv_know(conv, node);
    else if (!is_known && h->rest.node == node)
        h->rest.str = pl_str_slice(raw, (size_t)(channel.ptr - raw.ptr), raw.len);
    h->channel = channel.len ? channel : h->channel;
    h->has_channel = true;
}

static void read_type(struct pl_conv *conv, const struct pl_json_node *node)
{
    struct pl_str raw, word;
    size_t at = 0;
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return;
    raw = pl_json_raw(conv->doc, node);
    if (next_word(raw, &at, &word) && pl_str_eq(word, PL_STR("json")) &&
        !next_word(raw, &at, &word))
        pl_conv_know(conv, node);
}

static struct header read_header(struct pl_conv *conv, const struct pl_json_node *m)
{
    struct header h = {.has_content = pl_conv_node(conv, m, "content"),
                       .is_call = pl_conv_says(conv, pl_conv_node(conv, m, "end"), "call")};
    struct pl_str author = {0};
    const struct pl_json_node *role = pl_conv_member(conv, m, "role", PL_WANT_STRING);
    const struct pl_json_node *list = pl_conv_member(conv, m, "header", PL_WANT_ARRAY);
    h.role = read_piece(conv, &h, role, &author) ? role : NULL;
    if (author.len)
        h.author = span(role, author);
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        if (!pl_conv_fit(conv, n, PL_WANT_OBJECT))
            continue;
        read_channel(conv, &h, pl_conv_member(conv, n, "channel", PL_WANT_STRING));
        read_type(conv, pl_conv_member(conv, n, "constrain", PL_WANT_STRING));
    }
    read_channel(conv, &h, pl_conv_member(conv, m, "channel", PL_WANT_STRING));
    read_type(conv, pl_conv_member(conv, m, "constrain", PL_WANT_STRING));
    return h;
}

/* ---- messages ---- */

/* The functions of a request share a namespace, which is not part of their names. */
static struct pl_val tool_name(struct pl_val spoken)
{
    size_t n = strlen(PL_GPT_OSS_FUNCTIONS);
    if (spoken.str.len > n && pl_str_starts(spoken.str, PL_STR(PL_GPT_OSS_FUNCTIONS)))
        spoken.str = pl_str_slice(spoken.str, n, spoken.str.len);
    return spoken;
}

/* Python gets code; every other tool gets an object. */
static bool is_python(struct pl_val name)
{
    return pl_str_eq(name.str, PL_STR("python")) || pl_str_starts(name.str, PL_STR("python."));
}

static bool is_final(struct pl_conv *conv, const struct pl_json_node *m)
{
    struct pl_str word;
    size_t at = 0;
    const struct pl_json_node *channel = pl_conv_member(conv, m, "channel", PL_WANT_STRING);
    return channel && next_word(pl_json_raw(conv->doc, channel), &at, &word) &&
           pl_str_eq(word, PL_STR("final"));
}

static void add_assistant(struct reader *r, const struct pl_json_node *m, uint32_t element)
{
    bool goes_on = r->previous && !is_final(r->conv, r->previous);
    pl_conv_add_message(r->conv, PL_ROLE_ASSISTANT, m, element)->is_phase_split = goes_on;
    r->previous = m;
}

static void read_call(struct reader *r, const struct pl_json_node *m, const struct header *h)
{
    struct pl_part *call = pl_conv_add_part(r->conv, PL_PART_CALL, m);
    call->name = tool_name(h->recipient);
    call->args = pl_conv_get(r->conv, m, "content", PL_WANT_STRING);
    call->is_custom = is_python(h->recipient);
    r->last_call = call->name;
    bool is_new;
    if (!pl_map_put(&r->calls, pl_conv_text(r->conv, call->name), &is_new))
        r->conv->status = PL_NOMEM;
}

static void read_assistant(struct reader *r, const struct pl_json_node *m, uint32_t element,
                           const struct header *h)
{
    struct pl_conv *conv = r->conv;
    bool is_analysis = pl_str_eq(h->channel, PL_STR("analysis"));
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    if (pl_val_is_set(h->recipient)) {
        add_assistant(r, m, element);
        read_call(r, m, h);
        return;
    }
    /* Without <|message|> the content is in the header. */
    if (!pl_val_is_set(content) && pl_val_is_set(h->rest))
        content = h->rest;
    else if (!pl_val_is_set(content) || pl_gpt_oss_is_prompt(conv, m)) {
        pl_conv_know(conv, content.node);
        return;
    }
    add_assistant(r, m, element);
    pl_conv_add_part(conv, is_analysis ? PL_PART_THINKING : PL_PART_TEXT, m)->text = content;
}

/* Text between two messages is the assistant's. */
static void read_words(struct reader *r, const struct pl_json_node *m, uint32_t element)
{
    struct pl_val words = pl_conv_get(r->conv, m, "words", PL_WANT_STRING);
    /* An empty one is not visible in the text of the document. */
    if (!pl_val_is_set(words) || !pl_conv_text(r->conv, words).len)
        return;
    add_assistant(r, m, element);
    pl_conv_add_part(r->conv, PL_PART_TEXT, m)->text = words;
}

/* Text before a header is the rest of a role, as in "to=functions.f"; other text is reported. */
static void read_rest_of_role(struct pl_conv *conv, struct header *h, const struct pl_json_node *m)
{
    static const char *const fillers[] = {"assistant", "commentary", NULL};
    const struct pl_json_node *words = pl_conv_member(conv, m, "words", PL_WANT_STRING);
    struct pl_str raw = words ? pl_json_raw(conv->doc, words) : PL_STR(""), word, ignored;
    size_t at = 0;
    bool has_word = next_word(raw, &at, &word);
    if (has_word && is_one_of(word, fillers))
        has_word = next_word(raw, &at, &word);
    if (!has_word)
        pl_conv_know(conv, words);
    else if (pl_str_starts(word, PL_STR("to=")) && read_piece(conv, h, words, &ignored))
        pl_conv_know(conv, words);
}

/* The tool of this result. Some results name only the namespace of the tool, or nothing. */
static struct pl_val answerer(struct reader *r, struct pl_val author)
{
    struct pl_str last = r->last_call.str, said = author.str;
    bool is_vague = pl_str_eq(said, PL_STR("tool")) || pl_str_eq(said, PL_STR("functions")) ||
                    (last.len > said.len && pl_str_starts(last, said) && last.ptr[said.len] == '.');
    return is_vague ? r->last_call : tool_name(author);
}

static void read_result(struct reader *r, const struct pl_json_node *m, uint32_t element,
                        const struct header *h)
{
    struct pl_conv *conv = r->conv;
    struct pl_val name = answerer(r, h->author);
    /* If there is an id, it identifies the call; otherwise only the name does. */
    if (pl_map_get(&r->calls, pl_conv_text(conv, name)))
        pl_conv_know(conv, h->role);
    pl_conv_add_message(conv, PL_ROLE_TOOL, m, element);
    struct pl_part *result = pl_conv_add_part(conv, PL_PART_RESULT, m);
    result->name = name;
    result->is_custom = is_python(h->author);
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    if (pl_val_is_set(content))
        pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = content;
    r->previous = NULL;
}

static void read_message(struct reader *r, const struct pl_json_node *m, uint32_t element)
{
    static const struct {
        const char *word;
        enum pl_role role;
    } roles[] = {
        {"user", PL_ROLE_USER}, {"system", PL_ROLE_SYSTEM}, {"developer", PL_ROLE_DEVELOPER}};
    struct pl_conv *conv = r->conv;
    pl_conv_know(conv, pl_conv_node(conv, m, "before"));
    pl_conv_know(conv, pl_conv_member(conv, m, "end", PL_WANT_STRING));
    struct pl_val content = pl_conv_get(conv, m, "content", PL_WANT_STRING);
    struct header h = read_header(conv, m);
    bool is_alone = !h.has_channel && !pl_val_is_set(content) && !pl_val_is_set(h.author);
    if (is_alone)
        read_words(r, m, element);
    else
        read_rest_of_role(conv, &h, m);
    if (is_alone && !pl_val_is_set(h.recipient))
        return;
    struct pl_str author = h.author.str;
    const char *colon = author.len ? memchr(author.ptr, ':', author.len) : NULL;
    struct pl_str word = colon ? pl_str_slice(author, 0, (size_t)(colon - author.ptr)) : author;
    if (!word.len || pl_str_eq(word, PL_STR("assistant"))) {
        pl_conv_know(conv, h.role);
        read_assistant(r, m, element, &h);
        return;
    }
    if (pl_val_is_set(h.recipient))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, h.recipient.node,
                     "only the assistant calls tools; the recipient %.*s is left out",
                     PL_STR_ARG(h.recipient.str));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pl_str_eq(word, pl_str_of(roles[i].word))) {
            if (element == 0 && read_effort(conv, m)) {
                pl_conv_know(conv, h.role);
                return;
            }
            struct pl_message *message = pl_conv_add_message(conv, roles[i].role, m, element);
            if (colon)
                message->name = span(h.author.node, pl_str_slice(author, word.len + 1, author.len));
            else
                pl_conv_know(conv, h.role);
            if (roles[i].role == PL_ROLE_DEVELOPER)
                content = instructions_in(conv, content);
            if (pl_val_is_set(content))
                pl_conv_add_part(conv, PL_PART_TEXT, m)->text = content;
            r->previous = NULL;
            return;
        }
    read_result(r, m, element, &h);
}

/* ---- whole documents ---- */

/* Whether the arguments of a call are complete although its end token is missing. */
static bool is_whole(const struct pl_conv *conv, const struct pl_part *call)
{
    struct pl_str raw = call->args.node ? pl_json_raw(conv->doc, call->args.node) : PL_STR("");
    return raw.len && raw.ptr[raw.len - 1] == '}';
}

static void read_end(struct pl_conv *conv, const struct pl_json_node *last)
{
    const struct pl_json_node *end = pl_conv_member(conv, last, "end", PL_WANT_STRING);
    const struct pl_part *part = conv->parts.len ? &conv->parts.ptr[conv->parts.len - 1] : NULL;
    bool is_call = part && part->kind == PL_PART_CALL;
    conv->answer.is_set = true;
    conv->answer.finish_val = pl_val_node(end);
    conv->answer.finish =
        pl_conv_says(conv, end, "call") || (is_call && (end || is_whole(conv, part)))
            ? PL_FINISH_TOOLS
        : end ? PL_FINISH_STOP
              : PL_FINISH_LENGTH;
}

enum pl_status pl_gpt_oss_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    const struct pl_json_node *list = pl_conv_node(conv, conv->doc->root, "messages");
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "this is not gpt-oss text: it contains no message");
    conv->list = list;
    pl_conv_know(conv, pl_conv_node(conv, conv->doc->root, "after"));
    struct reader r = {.conv = conv};
    const struct pl_json_node *last = NULL;
    uint32_t element = 0;
    for (const struct pl_json_node *m = pl_json_first(list);
         m < pl_json_end(list) && conv->status == PL_OK; last = m, m = pl_json_next(m))
        if (pl_conv_fit(conv, m, PL_WANT_OBJECT))
            read_message(&r, m, element++);
        else
            element++;
    pl_map_deinit(&r.calls);
    if (kind == PL_KIND_RESPONSE && last)
        read_end(conv, last);
    return conv->status;
}
