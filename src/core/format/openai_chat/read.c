/* openai-chat: reading.
 *
 * Besides the documented fields the reader supports extensions of compatible servers:
 * reasoning_content, reasoning, reasoning_details, reasoning_signature, images, cache_control,
 * extra_content; and the legacy functions, function_call and role function. Reasoning that a server
 * sends under several names is read once. */
#include "format/openai_chat/openai_chat_int.h"

#include "format/openai_chat/words.h"
#include "format/pieces/choice.h"
#include "format/pieces/content.h"
#include "format/pieces/effort.h"
#include "json/text.h"

static inline void know_member(struct pl_conv *conv, const struct pl_json_node *object,
                               const char *key)
{
    pl_conv_know(conv, pl_conv_node(conv, object, key));
}

/* Member of a member. */
static inline struct pl_val get2(struct pl_conv *conv, const struct pl_json_node *object,
                                 const char *outer, const char *key, unsigned want)
{
    return pl_conv_get(conv, pl_conv_node(conv, object, outer), key, want);
}

static inline const struct pl_json_node *cache_of(struct pl_conv *conv,
                                                  const struct pl_json_node *object)
{
    const struct pl_json_node *own =
        pl_conv_member(conv, object, "prompt_cache_breakpoint", PL_WANT_OBJECT);
    return own ? own : pl_conv_member(conv, object, "cache_control", PL_WANT_OBJECT);
}

/* ---- content parts ---- */

static void read_text(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    pl_conv_take(conv, n, "text", PL_WANT_STRING, &part->text);
    pl_conv_take(conv, n, "annotations", PL_WANT_ARRAY, &part->citations);
}

/* Some servers nest the text: {"type":"thinking","thinking":[{"type":"text","text":…}]}. */
static void read_thinking(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    static const char *const keys[] = {"thinking", "reasoning", "text", NULL};
    const struct pl_json_node *text = NULL;
    for (int i = 0; keys[i] && !text; i++)
        text = pl_conv_node(conv, n, keys[i]);
    if (pl_json_is(text, PL_JSON_ARRAY) && pl_json_count(text) == 1) {
        know_member(conv, pl_json_first(text), "type");
        text = pl_conv_node(conv, pl_json_first(text), "text");
    }
    part->text = pl_val_node(pl_conv_fit(conv, text, PL_WANT_STRING));
    pl_conv_take(conv, n, "signature", PL_WANT_STRING, &part->signature);
}

static void read_image(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *image = pl_conv_member(conv, n, "image_url", PL_WANT_CHOICE);
    if (pl_json_is(image, PL_JSON_OBJECT)) {
        pl_content_set_url(conv, part, pl_conv_get(conv, image, "url", PL_WANT_STRING));
        pl_conv_take(conv, image, "detail", PL_WANT_STRING, &part->detail);
    } else {
        pl_content_set_url(conv, part, pl_val_node(image));
        pl_conv_take(conv, n, "detail", PL_WANT_STRING, &part->detail);
    }
    pl_conv_take(conv, n, "file_id", PL_WANT_STRING, &part->file_id);
}

static const struct {
    const char *format, *mime;
} audio_formats[] = {
    {"wav", "audio/wav"},   {"mp3", "audio/mpeg"}, {"flac", "audio/flac"}, {"ogg", "audio/ogg"},
    {"opus", "audio/opus"}, {"aac", "audio/aac"},  {"m4a", "audio/mp4"},   {"webm", "audio/webm"},
};

static const char *audio_mime(const struct pl_conv *conv, const struct pl_json_node *format)
{
    for (size_t i = 0; i < sizeof audio_formats / sizeof *audio_formats; i++)
        if (pl_conv_says(conv, format, audio_formats[i].format))
            return audio_formats[i].mime;
    return NULL;
}

static void read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    pl_content_read_audio(conv, n, part, audio_mime);
}

/* file_data is a data URL, plain base64 or, in some dialects, an address. */
static void read_file(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *file = pl_conv_member(conv, n, "file", PL_WANT_OBJECT);
    pl_conv_take_data(conv, pl_conv_get(conv, file, "file_data", PL_WANT_STRING), part);
    pl_conv_take(conv, file, "file_id", PL_WANT_STRING, &part->file_id);
    pl_conv_take(conv, file, "filename", PL_WANT_STRING, &part->name);
}

/* Servers of other models accept video; OpenAI does not. */
static void read_video(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *video = pl_conv_member(conv, n, "video_url", PL_WANT_CHOICE);
    pl_content_set_url(conv, part,
                       pl_json_is(video, PL_JSON_OBJECT)
                           ? pl_conv_get(conv, video, "url", PL_WANT_STRING)
                           : pl_val_node(video));
}

static const struct pl_content_type part_types[] = {
    {"text", PL_PART_TEXT, read_text},
    {"input_text", PL_PART_TEXT, read_text},
    {"output_text", PL_PART_TEXT, read_text},
    {"refusal", PL_PART_REFUSAL, pl_content_read_refusal},
    {"image_url", PL_PART_IMAGE, read_image},
    {"input_image", PL_PART_IMAGE, read_image},
    {"input_audio", PL_PART_AUDIO, read_audio},
    {"file", PL_PART_FILE, read_file},
    {"video_url", PL_PART_VIDEO, read_video},
    {"thinking", PL_PART_THINKING, read_thinking},
    {"reasoning", PL_PART_THINKING, read_thinking},
};

static void read_part(struct pl_conv *conv, const struct pl_json_node *n, pl_part_adder *add)
{
    if (pl_json_is(n, PL_JSON_STRING)) {
        pl_val_set(&add(conv, PL_PART_TEXT, n)->text, n);
        return;
    }
    struct pl_part *part =
        pl_content_read(conv, n, part_types, sizeof part_types / sizeof *part_types, add);
    if (part)
        pl_val_set(&part->cache, cache_of(conv, n));
}

/* `want` is the kinds allowed besides a list: the content of a message may be a string; a tool's
 * result may be any JSON, read as its text. */
static void read_content(struct pl_conv *conv, const struct pl_json_node *content, unsigned want,
                         pl_part_adder *add)
{
    if (!content)
        return;
    if (pl_json_is(content, PL_JSON_OBJECT)) {
        read_part(conv, content, add);
    } else if (pl_json_is(content, PL_JSON_ARRAY)) {
        for (const struct pl_json_node *p = pl_json_first(content); p < pl_json_end(content);
             p = pl_json_next(p))
            read_part(conv, p, add);
    } else if (pl_conv_fit(conv, content, want)) {
        pl_val_set(&add(conv, PL_PART_TEXT, NULL)->text, content);
    }
}

/* ---- messages ---- */

static inline const struct pl_json_node *thought_signature(struct pl_conv *conv,
                                                           const struct pl_json_node *n)
{
    const struct pl_json_node *extra = pl_conv_member(conv, n, "extra_content", PL_WANT_OBJECT);
    return pl_conv_member(conv, pl_conv_member(conv, extra, "google", PL_WANT_OBJECT),
                          "thought_signature", PL_WANT_STRING);
}

/* The body of a call or declaration: a function or a custom tool. If both members are present, an
 * empty one is ignored (some servers always send both); otherwise the type decides. */
static const struct pl_json_node *body_of(struct pl_conv *conv, const struct pl_json_node *n,
                                          bool *ret_is_custom)
{
    const struct pl_json_node *custom = pl_conv_member(conv, n, "custom", PL_WANT_OBJECT);
    const struct pl_json_node *function = pl_conv_member(conv, n, "function", PL_WANT_OBJECT);
    *ret_is_custom = custom != NULL;
    if (custom && function)
        *ret_is_custom = !pl_conv_is_hollow(conv, custom) &&
                         (pl_conv_is_hollow(conv, function) ||
                          pl_conv_says(conv, pl_conv_node(conv, n, "type"), "custom"));
    return *ret_is_custom ? custom : function;
}

static void read_call(struct pl_conv *conv, const struct pl_json_node *n)
{
    if (!pl_conv_fit(conv, n, PL_WANT_OBJECT))
        return;
    if (pl_conv_is_hollow(conv, n))
        return;
    struct pl_part *part = pl_conv_add_part(conv, PL_PART_CALL, n);
    const struct pl_json_node *body = body_of(conv, n, &part->is_custom);
    pl_conv_take(conv, n, "id", PL_WANT_STRING, &part->id);
    know_member(conv, n, "type");
    know_member(conv, n, "index");
    pl_val_set(&part->signature, thought_signature(conv, n));
    pl_conv_take(conv, body, "name", PL_WANT_STRING, &part->name);
    pl_conv_take(conv, body, part->is_custom ? "input" : "arguments", PL_WANT_ANY, &part->args);
}

static void read_calls(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *calls = pl_conv_member(conv, m, "tool_calls", PL_WANT_ARRAY);
    const struct pl_json_node *legacy = pl_conv_node(conv, m, "function_call");
    if (pl_json_is(calls, PL_JSON_ARRAY))
        for (const struct pl_json_node *c = pl_json_first(calls); c < pl_json_end(calls);
             c = pl_json_next(c))
            read_call(conv, c);
    if (pl_json_is(legacy, PL_JSON_OBJECT) && !pl_conv_is_hollow(conv, legacy)) {
        struct pl_part *part = pl_conv_add_part(conv, PL_PART_CALL, legacy);
        pl_conv_take(conv, legacy, "name", PL_WANT_STRING, &part->name);
        pl_conv_take(conv, legacy, "arguments", PL_WANT_ANY, &part->args);
    }
}

/* A spoken answer: its audio, and its transcript if there is no other text. */
static void read_voice(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *audio = pl_conv_member(conv, m, "audio", PL_WANT_OBJECT);
    if (!pl_json_is(audio, PL_JSON_OBJECT) || pl_conv_is_hollow(conv, audio))
        return;
    if (!pl_conv_node(conv, m, "content")) {
        struct pl_val transcript = pl_conv_get(conv, audio, "transcript", PL_WANT_STRING);
        if (pl_val_is_set(transcript))
            pl_conv_add_part(conv, PL_PART_TEXT, NULL)->text = transcript;
    }
    struct pl_part *part = pl_conv_add_part(conv, PL_PART_AUDIO, audio);
    pl_conv_take(conv, audio, "id", PL_WANT_STRING, &part->file_id);
    pl_conv_take(conv, audio, "data", PL_WANT_STRING, &part->data);
}

static void read_images(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *images = pl_conv_member(conv, m, "images", PL_WANT_ARRAY);
    if (!pl_json_is(images, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(images); n < pl_json_end(images);
         n = pl_json_next(n)) {
        if (!pl_conv_fit(conv, n, PL_WANT_OBJECT))
            continue;
        struct pl_part *part = pl_conv_add_part(conv, PL_PART_IMAGE, n);
        know_member(conv, n, "type");
        know_member(conv, n, "index");
        read_image(conv, n, part);
    }
}

/* Members next to the text belong to its last part. */
static void read_beside(struct pl_conv *conv, const struct pl_json_node *m, size_t first)
{
    if (conv->parts.len == first)
        return;
    struct pl_part *last = &conv->parts.ptr[conv->parts.len - 1];
    struct pl_val annotations = pl_conv_get(conv, m, "annotations", PL_WANT_ARRAY);
    if (last->kind == PL_PART_TEXT && pl_val_is_set(annotations))
        last->citations = annotations;
    const struct pl_json_node *signature = thought_signature(conv, m);
    if (signature)
        pl_val_set(&last->signature, signature);
}

static void read_assistant(struct pl_conv *conv, const struct pl_json_node *m)
{
    uint64_t thoughts = pl_conv_key_bit("reasoning_content") | pl_conv_key_bit("reasoning") |
                        pl_conv_key_bit("reasoning_signature") |
                        pl_conv_key_bit("reasoning_details");
    uint64_t others = pl_conv_key_bit("annotations") | pl_conv_key_bit("extra_content") |
                      pl_conv_key_bit("refusal") | pl_conv_key_bit("images");
    uint64_t keys = pl_conv_keys(conv, m);
    if (keys & thoughts)
        pl_chat_read_reasoning(conv, m);
    size_t first = conv->parts.len;
    read_content(conv, pl_conv_node(conv, m, "content"), PL_WANT_CONTENT, pl_conv_add_part);
    if (keys & others) {
        read_beside(conv, m, first);
        struct pl_val refusal = pl_conv_get(conv, m, "refusal", PL_WANT_STRING);
        if (pl_val_is_set(refusal) && !pl_conv_is_hollow(conv, refusal.node))
            pl_conv_add_part(conv, PL_PART_REFUSAL, NULL)->text = refusal;
    }
    read_voice(conv, m);
    if (keys & others)
        read_images(conv, m);
    read_calls(conv, m);
    if (keys & thoughts)
        pl_chat_sign_calls(conv);
}

static void read_result(struct pl_conv *conv, const struct pl_json_node *m)
{
    struct pl_part *part = pl_conv_add_part(conv, PL_PART_RESULT, m);
    pl_conv_take(conv, m, "tool_call_id", PL_WANT_STRING, &part->id);
    pl_conv_take(conv, m, "name", PL_WANT_STRING, &part->name);
    pl_val_set(&part->cache, cache_of(conv, m));
    read_content(conv, pl_conv_node(conv, m, "content"), PL_WANT_ANY, pl_conv_add_child);
}

static const struct {
    const char *word;
    enum pl_role role;
} roles[] = {
    {"assistant", PL_ROLE_ASSISTANT}, {"tool", PL_ROLE_TOOL},           {"user", PL_ROLE_USER},
    {"system", PL_ROLE_SYSTEM},       {"developer", PL_ROLE_DEVELOPER}, {"function", PL_ROLE_TOOL},
};

/* An unknown role is read as the user's, and the role is reported. */
static enum pl_role role_of(struct pl_conv *conv, const struct pl_json_node *m)
{
    const struct pl_json_node *word = pl_conv_member(conv, m, "role", PL_WANT_STRING);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (pl_conv_says(conv, word, roles[i].word)) {
            pl_conv_know(conv, word);
            return roles[i].role;
        }
    return PL_ROLE_USER;
}

static void read_message(struct pl_conv *conv, const struct pl_json_node *m, uint32_t element)
{
    if (!pl_conv_fit(conv, m, PL_WANT_OBJECT))
        return;
    enum pl_role role = role_of(conv, m);
    struct pl_message *message = pl_conv_add_message(conv, role, m, element);
    if (role == PL_ROLE_TOOL) {
        read_result(conv, m);
        return;
    }
    pl_conv_take(conv, m, "name", PL_WANT_STRING, &message->name);
    pl_val_set(&message->cache, cache_of(conv, m));
    if (role == PL_ROLE_ASSISTANT)
        read_assistant(conv, m);
    else
        read_content(conv, pl_conv_node(conv, m, "content"), PL_WANT_CONTENT, pl_conv_add_part);
}

/* ---- tools ---- */

static void read_tool(struct pl_conv *conv, const struct pl_json_node *n)
{
    if (!pl_conv_fit(conv, n, PL_WANT_OBJECT))
        return;
    struct pl_tool *tool = pl_conv_add_tool(conv, n);
    const struct pl_json_node *body = body_of(conv, n, &tool->is_custom);
    tool->is_hosted = !body;
    if (!body)
        return;
    know_member(conv, n, "type");
    pl_conv_take(conv, body, "name", PL_WANT_STRING, &tool->name);
    pl_conv_take(conv, body, "description", PL_WANT_STRING, &tool->description);
    tool->schema =
        pl_conv_get(conv, body, tool->is_custom ? "format" : "parameters", PL_WANT_OBJECT);
    pl_conv_take(conv, body, "strict", PL_WANT_BOOL, &tool->strict);
    pl_val_set(&tool->cache, cache_of(conv, n));
}

static void read_tools(struct pl_conv *conv, const struct pl_json_node *root)
{
    const struct pl_json_node *tools = pl_conv_member(conv, root, "tools", PL_WANT_ARRAY);
    if (pl_json_is(tools, PL_JSON_ARRAY))
        for (const struct pl_json_node *t = pl_json_first(tools); t < pl_json_end(tools);
             t = pl_json_next(t))
            read_tool(conv, t);
    const struct pl_json_node *legacy = pl_conv_member(conv, root, "functions", PL_WANT_ARRAY);
    if (!pl_json_is(legacy, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *f = pl_json_first(legacy); f < pl_json_end(legacy);
         f = pl_json_next(f)) {
        if (!pl_conv_fit(conv, f, PL_WANT_OBJECT))
            continue;
        struct pl_tool *tool = pl_conv_add_tool(conv, f);
        pl_conv_take(conv, f, "name", PL_WANT_STRING, &tool->name);
        pl_conv_take(conv, f, "description", PL_WANT_STRING, &tool->description);
        pl_conv_take(conv, f, "parameters", PL_WANT_OBJECT, &tool->schema);
    }
}

static void read_choice(struct pl_conv *conv, const struct pl_json_node *root)
{
    static const char *const words[] = {"auto", "required", "none", NULL};
    static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY, PL_CHOICE_NONE};
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *n = pl_conv_member(conv, root, "tool_choice", PL_WANT_CHOICE);
    if (!n)
        n = pl_conv_node(conv, root, "function_call");
    if (!n)
        return;
    if (pl_choice_read_allowed(conv, n, pl_conv_node(conv, n, "allowed_tools")))
        return;
    int word = pl_conv_word(conv, n, words);
    s->choice_val = pl_val_node(n);
    s->choice = word < 0 ? PL_CHOICE_OTHER : choices[word];
    s->choice_name = get2(conv, n, "function", "name", PL_WANT_STRING);
    if (!pl_val_is_set(s->choice_name))
        s->choice_name = get2(conv, n, "custom", "name", PL_WANT_STRING);
    if (!pl_val_is_set(s->choice_name))
        pl_conv_take(conv, n, "name", PL_WANT_STRING, &s->choice_name);
    if (pl_val_is_set(s->choice_name)) {
        s->choice = PL_CHOICE_ONE;
        know_member(conv, n, "type");
    }
}

/* ---- settings ---- */

static void read_output(struct pl_conv *conv, const struct pl_json_node *root)
{
    static const char *const words[] = {"text", "json_object", "json_schema", NULL};
    static const enum pl_output outputs[] = {PL_OUTPUT_TEXT, PL_OUTPUT_JSON, PL_OUTPUT_SCHEMA};
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *n = pl_conv_member(conv, root, "response_format", PL_WANT_OBJECT);
    const struct pl_json_node *type = pl_conv_member(conv, n, "type", PL_WANT_STRING);
    int word = pl_conv_word(conv, type, words);
    if (word < 0)
        return;
    s->output = outputs[word];
    s->output_val = pl_val_node(n);
    /* This word means only "any JSON": the writer that writes it marks it. */
    if (s->output != PL_OUTPUT_JSON)
        pl_conv_know(conv, type);
    const struct pl_json_node *schema = pl_conv_member(conv, n, "json_schema", PL_WANT_OBJECT);
    pl_conv_take(conv, schema, "name", PL_WANT_STRING, &s->output_name);
    pl_conv_take(conv, schema, "description", PL_WANT_STRING, &s->output_description);
    pl_conv_take(conv, schema, "schema", PL_WANT_OBJECT, &s->output_schema);
    pl_conv_take(conv, schema, "strict", PL_WANT_BOOL, &s->output_strict);
}

/* Line by line: the compiler computes the hash of a literal key. */
static void read_plain(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_settings *s = &conv->settings;
    pl_conv_take(conv, root, "model", PL_WANT_STRING, &s->model);
    pl_conv_take(conv, root, "temperature", PL_WANT_NUMBER, &s->temperature);
    pl_conv_take(conv, root, "top_p", PL_WANT_NUMBER, &s->top_p);
    pl_conv_take(conv, root, "top_k", PL_WANT_INTEGER, &s->top_k);
    pl_conv_take(conv, root, "max_completion_tokens", PL_WANT_INTEGER, &s->max_tokens);
    if (!pl_val_is_set(s->max_tokens)) /* the older name */
        pl_conv_take(conv, root, "max_tokens", PL_WANT_INTEGER, &s->max_tokens);
    pl_conv_take(conv, root, "seed", PL_WANT_INTEGER, &s->seed);
    pl_conv_take(conv, root, "n", PL_WANT_INTEGER, &s->n);
    pl_conv_take(conv, root, "presence_penalty", PL_WANT_NUMBER, &s->presence_penalty);
    pl_conv_take(conv, root, "frequency_penalty", PL_WANT_NUMBER, &s->frequency_penalty);
    pl_conv_take(conv, root, "stop", PL_WANT_STRINGS, &s->stop);
    pl_conv_take(conv, root, "stream", PL_WANT_BOOL, &s->stream);
    pl_conv_take(conv, root, "logprobs", PL_WANT_BOOL, &s->logprobs);
    pl_conv_take(conv, root, "top_logprobs", PL_WANT_INTEGER, &s->top_logprobs);
    pl_conv_take(conv, root, "user", PL_WANT_STRING, &s->user);
    pl_conv_take(conv, root, "safety_identifier", PL_WANT_STRING, &s->safety_id);
    pl_conv_take(conv, root, "metadata", PL_WANT_OBJECT, &s->metadata);
    pl_conv_take(conv, root, "service_tier", PL_WANT_STRING, &s->service_tier);
    pl_conv_take(conv, root, "verbosity", PL_WANT_STRING, &s->verbosity);
    pl_conv_take(conv, root, "reasoning_effort", PL_WANT_STRING, &s->effort_val);
    pl_conv_take(conv, root, "thinking", PL_WANT_OBJECT, &s->thinking);
}

/* OpenRouter's {"effort" | "max_tokens", "exclude", "enabled"}, if no other member sets it. */
static void read_reasoning_wish(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *wish = pl_conv_member(conv, root, "reasoning", PL_WANT_OBJECT);
    if (!wish)
        return;
    const struct pl_json_node *hides = pl_conv_member(conv, wish, "exclude", PL_WANT_BOOL);
    const struct pl_json_node *thinks = pl_conv_member(conv, wish, "enabled", PL_WANT_BOOL);
    if (!pl_val_is_set(s->effort_val))
        pl_conv_take(conv, wish, "effort", PL_WANT_STRING, &s->effort_val);
    if (!pl_val_is_set(s->thinking_budget))
        pl_conv_take(conv, wish, "max_tokens", PL_WANT_INTEGER, &s->thinking_budget);
    if (hides)
        s->shows_thoughts =
            (struct pl_flag){true, pl_json_is(hides, PL_JSON_FALSE), pl_val_node(hides)};
    if (pl_json_is(thinks, PL_JSON_FALSE) && !pl_val_is_set(s->effort_val)) {
        s->effort = PL_EFFORT_NONE;
        s->effort_val = pl_val_node(thinks);
    }
}

static void read_settings(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_settings *s = &conv->settings;
    read_plain(conv, root);
    s->thinking_budget = pl_conv_get(conv, s->thinking.node, "budget_tokens", PL_WANT_INTEGER);
    read_reasoning_wish(conv, root);
    if (s->effort == PL_EFFORT_UNSET)
        s->effort = pl_effort_of_word(conv, s->effort_val.node);
    pl_conv_take_flag(conv, root, "parallel_tool_calls", &s->parallel);
    read_output(conv, root);
    read_choice(conv, root);
    pl_conv_switch(conv, pl_conv_member(conv, root, "web_search_options", PL_WANT_OBJECT));
}

/* ---- whole documents ---- */

static enum pl_status read_request(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *list = pl_conv_node(conv, root, "messages");
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       pl_conv_node(conv, root, "choices")
                           ? "this is a Chat Completions response, not a request; give --kind "
                             "response"
                           : "a Chat Completions request needs its messages in an array at "
                             "/messages");
    conv->list = list;
    read_settings(conv, root);
    read_tools(conv, root);
    uint32_t element = 0;
    for (const struct pl_json_node *m = pl_json_first(list); m < pl_json_end(list);
         m = pl_json_next(m))
        read_message(conv, m, element++);
    return conv->status;
}

static void read_usage(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_usage *u = &conv->answer.usage;
    u->node = pl_conv_member(conv, root, "usage", PL_WANT_OBJECT);
    pl_conv_take(conv, u->node, "prompt_tokens", PL_WANT_INTEGER, &u->input);
    pl_conv_take(conv, u->node, "completion_tokens", PL_WANT_INTEGER, &u->output);
    pl_conv_take(conv, u->node, "total_tokens", PL_WANT_INTEGER, &u->total);
    u->cache_read = get2(conv, u->node, "prompt_tokens_details", "cached_tokens", PL_WANT_INTEGER);
    u->cache_write =
        get2(conv, u->node, "prompt_tokens_details", "cache_write_tokens", PL_WANT_INTEGER);
    u->reasoning =
        get2(conv, u->node, "completion_tokens_details", "reasoning_tokens", PL_WANT_INTEGER);
}

static void read_finish(struct pl_conv *conv, const struct pl_json_node *choice)
{
    struct pl_answer *a = &conv->answer;
    pl_conv_take(conv, choice, "finish_reason", PL_WANT_STRING, &a->finish_val);
    if (pl_conv_is_hollow(conv, a->finish_val.node))
        a->finish_val = (struct pl_val){0};
    if (pl_val_is_set(a->finish_val))
        a->finish = pl_chat_finish_of(pl_conv_text(conv, a->finish_val));
}

static void read_error(struct pl_conv *conv, const struct pl_json_node *error)
{
    struct pl_answer *a = &conv->answer;
    a->is_set = a->is_error = true;
    if (pl_json_is(error, PL_JSON_STRING)) {
        a->error_message = pl_val_node(error);
        return;
    }
    pl_conv_take(conv, error, "message", PL_WANT_STRING, &a->error_message);
    pl_conv_take(conv, error, "type", PL_WANT_STRING, &a->error_type);
    pl_conv_take(conv, error, "code", PL_WANT_SCALAR, &a->error_code);
    pl_conv_take(conv, error, "param", PL_WANT_STRING, &a->error_param);
    a->request_id = pl_conv_get(conv, conv->doc->root, "request_id", PL_WANT_STRING);
}

/* The first choice is the conversation; the others are reported. */
static enum pl_status read_response(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *error = pl_conv_node(conv, root, "error");
    if (error) {
        read_error(conv, error);
        return conv->status;
    }
    const struct pl_json_node *choices = pl_conv_node(conv, root, "choices");
    if (!pl_json_is(choices, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "a Chat Completions response needs choices in an array at /choices, or an "
                       "error at /error");
    struct pl_answer *a = &conv->answer;
    a->is_set = true;
    pl_conv_take(conv, root, "id", PL_WANT_STRING, &a->id);
    pl_conv_take(conv, root, "created", PL_WANT_TIME, &a->created);
    pl_conv_take(conv, root, "model", PL_WANT_STRING, &a->model);
    pl_conv_take(conv, root, "system_fingerprint", PL_WANT_STRING, &a->fingerprint);
    pl_conv_take(conv, root, "service_tier", PL_WANT_STRING, &a->service_tier);
    know_member(conv, root, "object");
    read_usage(conv, root);
    if (!pl_json_count(choices))
        return conv->status;
    const struct pl_json_node *first = pl_json_first(choices);
    know_member(conv, first, "index");
    read_finish(conv, first);
    pl_conv_take(conv, first, "content_filter_results", PL_WANT_OBJECT, &a->ratings);
    pl_conv_take(conv, first, "logprobs", PL_WANT_OBJECT, &conv->settings.logprobs);
    const struct pl_json_node *message = pl_conv_member(conv, first, "message", PL_WANT_OBJECT);
    if (pl_json_is(message, PL_JSON_OBJECT)) {
        pl_conv_add_message(conv, PL_ROLE_ASSISTANT, message, PL_NO_ELEMENT)->name =
            pl_conv_get(conv, message, "name", PL_WANT_STRING);
        know_member(conv, message, "role");
        read_assistant(conv, message);
    }
    return conv->status;
}

enum pl_status pl_openai_chat_read(struct pl_conv *conv, enum pl_format_kind kind,
                                   struct pl_error *err)
{
    if (pl_json_kind(conv->doc->root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "a Chat Completions document must be a JSON object, not %s",
                       pl_json_kind_name(pl_json_kind(conv->doc->root)));
    return kind == PL_KIND_RESPONSE ? read_response(conv, err) : read_request(conv, err);
}
