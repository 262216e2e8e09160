/* Reading harmony: an array of messages, {"messages":[…],"tools":[…],"settings":{…}}, or one
 * message alone. Lenient: content may be a string, null or an array; arguments may be an object. */
#include "format/harmony/harmony_int.h"

#include "format/pieces/content.h"
#include "format/pieces/own_settings.h"
#include "json/number.h"

static void read_text(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    part->text = pl_conv_get(conv, n, "text", PL_WANT_STRING);
}

static void read_image(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *image = pl_conv_member(conv, n, "image_url", PL_WANT_CHOICE);
    pl_content_set_url(conv, part,
                       pl_json_is(image, PL_JSON_STRING)
                           ? pl_val_node(image)
                           : pl_conv_get(conv, image, "url", PL_WANT_STRING));
    part->detail = pl_conv_get(conv, image, "detail", PL_WANT_STRING);
    part->rotation = pl_conv_get(conv, image, "rotation", PL_WANT_NUMBER);
    part->context = pl_conv_get(conv, n, "video_metadata", PL_WANT_OBJECT);
}

static const struct {
    const char *word, *mime;
} sounds[] = {
    {"wav", "audio/wav"},      {"mp3", "audio/mpeg"},  {"mp3", "audio/mp3"},
    {"flac", "audio/flac"},    {"ogg", "audio/ogg"},   {"opus", "audio/opus"},
    {"aac", "audio/aac"},      {"m4a", "audio/mp4"},   {"webm", "audio/webm"},
    {"pcm16", "audio/pcm"},    {"wav", "audio/x-wav"}, {"wav", "audio/wave"},
    {"wav", "audio/vnd.wave"}, {"m4a", "audio/m4a"},   {"m4a", "audio/x-m4a"},
};

enum { N_SOUNDS = sizeof sounds / sizeof *sounds };

const char *pl_harmony_audio_word(struct pl_str mime)
{
    for (size_t i = 0; i < N_SOUNDS; i++)
        if (pl_str_eq(mime, pl_str_of(sounds[i].mime)))
            return sounds[i].word;
    return NULL;
}

const char *pl_harmony_audio_mime(const struct pl_conv *conv, const struct pl_json_node *word)
{
    for (size_t i = 0; i < N_SOUNDS; i++)
        if (pl_conv_says(conv, word, sounds[i].word))
            return sounds[i].mime;
    return NULL;
}

static void read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *audio = pl_conv_node(conv, n, "input_audio");
    pl_content_read_audio(conv, n, part, pl_harmony_audio_mime);
    part->rate = pl_conv_get(conv, audio, "sample_rate", PL_WANT_INTEGER);
}

static void read_file(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *file = pl_conv_member(conv, n, "file", PL_WANT_OBJECT);
    struct pl_val data = pl_conv_get(conv, file, "file_data", PL_WANT_STRING);
    part->url = pl_conv_get(conv, file, "file_url", PL_WANT_STRING);
    pl_conv_take_data(conv, data, part);
    part->name = pl_conv_get(conv, file, "filename", PL_WANT_STRING);
    part->file_id = pl_conv_get(conv, file, "file_id", PL_WANT_STRING);
}

static const struct pl_content_type part_types[] = {
    {"text", PL_PART_TEXT, read_text},        {"input_text", PL_PART_TEXT, read_text},
    {"output_text", PL_PART_TEXT, read_text}, {"refusal", PL_PART_REFUSAL, pl_content_read_refusal},
    {"image_url", PL_PART_IMAGE, read_image}, {"input_audio", PL_PART_AUDIO, read_audio},
    {"file", PL_PART_FILE, read_file},        {"thinking", PL_PART_THINKING, read_text},
};

/* An index that only repeats the order of the parts adds no information. */
static void know_index(struct pl_conv *conv, const struct pl_json_node *n, int64_t place)
{
    const struct pl_json_node *index = pl_conv_node(conv, n, "index");
    int64_t value;
    if (pl_json_is(index, PL_JSON_NUMBER) &&
        pl_json_number_int64(pl_json_span(conv->doc, index), &value) && value == place)
        pl_conv_know(conv, index);
}

static void read_part(struct pl_conv *conv, const struct pl_json_node *n, int64_t place,
                      pl_part_adder *add)
{
    if (pl_json_is(n, PL_JSON_STRING)) {
        add(conv, PL_PART_TEXT, n)->text = pl_val_node(n);
        return;
    }
    if (pl_content_read(conv, n, part_types, sizeof part_types / sizeof *part_types, add))
        know_index(conv, n, place);
}

static void read_content(struct pl_conv *conv, const struct pl_json_node *content,
                         pl_part_adder *add)
{
    if (!content)
        return;
    if (!pl_json_is(content, PL_JSON_ARRAY)) {
        bool is_text = pl_json_is(content, PL_JSON_STRING);
        /* Any other value (a number, an object) is read as text. */
        add(conv, PL_PART_TEXT, NULL)->text = pl_val_node(content);
        if (!is_text)
            pl_conv_loss(conv, PL_LOSS_APPROXIMATED, content,
                         "content is neither a string nor a list of parts; its JSON becomes the "
                         "text");
        return;
    }
    int64_t place = 0;
    for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
         n = pl_json_next(n))
        read_part(conv, n, place++, add);
}

static void read_call(struct pl_conv *conv, const struct pl_json_node *n)
{
    if (!pl_conv_fit(conv, n, PL_WANT_OBJECT))
        return;
    const struct pl_json_node *function = pl_conv_member(conv, n, "function", PL_WANT_OBJECT);
    const struct pl_json_node *custom = pl_conv_member(conv, n, "custom", PL_WANT_OBJECT);
    struct pl_part *part = pl_conv_add_part(conv, PL_PART_CALL, n);
    part->is_custom = custom && !function;
    const struct pl_json_node *body = part->is_custom ? custom : function ? function : n;
    part->id = pl_conv_get(conv, n, "id", PL_WANT_STRING);
    part->name = pl_conv_get(conv, body, "name", PL_WANT_STRING);
    part->args = pl_conv_get(conv, body, part->is_custom ? "input" : "arguments", PL_WANT_ANY);
    pl_conv_know(conv, pl_conv_member(conv, n, "type", PL_WANT_STRING));
    if (!part->is_custom && part->args.node && !pl_json_is(part->args.node, PL_JSON_STRING))
        pl_conv_loss(conv, PL_LOSS_MOVED, part->args.node,
                     "arguments are a string of JSON in harmony; this %s becomes its text",
                     pl_json_kind_name(pl_json_kind(part->args.node)));
}

static void read_calls(struct pl_conv *conv, const struct pl_json_node *calls)
{
    if (!pl_json_is(calls, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(calls); n < pl_json_end(calls);
         n = pl_json_next(n))
        read_call(conv, n);
}

static const char *const role_words[] = {"system", "developer", "user", "assistant",
                                         "tool",   "function",  NULL};
static const enum pl_role roles[] = {PL_ROLE_SYSTEM,    PL_ROLE_DEVELOPER, PL_ROLE_USER,
                                     PL_ROLE_ASSISTANT, PL_ROLE_TOOL,      PL_ROLE_TOOL};

/* Texts among them are ignored: they belong in the content. */
static void read_more(struct pl_conv *conv, const struct pl_json_node *message, const char *more,
                      pl_part_adder *add)
{
    const struct pl_json_node *list =
        more ? pl_conv_member(conv, message, more, PL_WANT_ARRAY) : NULL;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n))
        (void)pl_content_read(conv, n, part_types, sizeof part_types / sizeof *part_types, add);
}

void pl_harmony_read_message(struct pl_conv *conv, const struct pl_json_node *node,
                             uint32_t element, const char *more)
{
    const struct pl_json_node *role = pl_conv_member(conv, node, "role", PL_WANT_STRING);
    const struct pl_json_node *content = pl_conv_node(conv, node, "content");
    int word = pl_conv_word(conv, role, role_words);
    if (word >= 0)
        pl_conv_know(conv, role);
    struct pl_message *m =
        pl_conv_add_message(conv, word >= 0 ? roles[word] : PL_ROLE_USER, node, element);
    enum pl_role speaker = m->role;
    m->id = pl_conv_get(conv, node, "id", PL_WANT_STRING);
    m->created_at = pl_conv_get(conv, node, "created_at", PL_WANT_TIME);
    m->metadata = pl_conv_get(conv, node, "metadata", PL_WANT_OBJECT);
    if (speaker != PL_ROLE_TOOL) {
        m->name = pl_conv_get(conv, node, "name", PL_WANT_STRING);
        read_content(conv, content, pl_conv_add_part);
        read_more(conv, node, more, pl_conv_add_part);
        if (speaker == PL_ROLE_ASSISTANT)
            read_calls(conv, pl_conv_member(conv, node, "tool_calls", PL_WANT_ARRAY));
        return;
    }
    struct pl_part *result = pl_conv_add_part(conv, PL_PART_RESULT, NULL);
    result->id = pl_conv_get(conv, node, "tool_call_id", PL_WANT_STRING);
    result->name = pl_conv_get(conv, node, "name", PL_WANT_STRING);
    read_content(conv, content, pl_conv_add_child);
    read_more(conv, node, more, pl_conv_add_child);
}

/* The error for a document without messages: why it is not harmony, and what to do. */
static enum pl_status refuse(const struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    if (pl_conv_says(conv, pl_conv_node(conv, root, "protocol"), "harmony_handoff_v1"))
        return pl_fail(err, PL_INVALID,
                       "this is a handoff packet, not a conversation; `parley handoff` reads it");
    return pl_fail(
        err, PL_INVALID,
        "not a harmony conversation: there must be an array of messages, or an object whose member "
        "\"messages\" is one");
}

enum pl_status pl_harmony_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    (void)kind; /* an answer is a message like any other */
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *list = root;
    if (pl_json_is(root, PL_JSON_OBJECT)) {
        list = pl_conv_node(conv, root, "messages");
        if (!list &&
            pl_json_is(pl_conv_member(conv, root, "role", PL_WANT_STRING), PL_JSON_STRING)) {
            pl_harmony_read_message(conv, root, PL_NO_ELEMENT, NULL);
            return conv->status;
        }
        pl_own_settings_read(conv, pl_conv_member(conv, root, "settings", PL_WANT_OBJECT));
        pl_own_settings_read(conv, root);
        pl_own_tools_read(conv, pl_conv_member(conv, root, "tools", PL_WANT_ARRAY));
    }
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return refuse(conv, err);
    conv->list = list;
    uint32_t element = 0;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && conv->status == PL_OK; n = pl_json_next(n), element++) {
        if (!pl_json_is(n, PL_JSON_OBJECT))
            return pl_fail(err, PL_INVALID,
                           "message %u is not an object; a message is {\"role\":…,\"content\":…}",
                           element);
        pl_harmony_read_message(conv, n, element, NULL);
    }
    return conv->status;
}
