/* Reading generateContent: contents and their parts. Both spellings of every key are read. */
#include "conv/media/pcm.h"
#include "conv/media/sniff.h"
#include "format/gemini/gemini_int.h"

/* The message for the parts being read. */
struct seat {
    enum pl_role own;  /* of the content: the role of parts that are neither calls nor results */
    enum pl_role role; /* of the open message */
    const struct pl_json_node *node;
    uint32_t element;
};

static struct pl_val field(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                           unsigned want)
{
    return pl_val_node(pl_conv_fit(conv, pl_gemini_field(conv, object, key), want));
}

/* A part of the other role gets its own message, and so do the parts after it: the vendor answers
 * calls of hosted tools inside the model's content, and the model continues. */
static struct pl_part *add_part(struct pl_conv *conv, struct seat *seat, enum pl_role role,
                                enum pl_part_kind kind, const struct pl_json_node *node)
{
    if (seat->role != role) {
        seat->role = role;
        pl_conv_add_message(conv, role, seat->node, seat->element);
    }
    return pl_conv_add_part(conv, kind, node);
}

/* ---- media ---- */

static const struct {
    const char *prefix;
    enum pl_part_kind kind;
} media_kinds[] = {
    {"image/", PL_PART_IMAGE},
    {"audio/", PL_PART_AUDIO},
    {"video/", PL_PART_VIDEO},
};

/* The kind of media by its type, or by its first bytes if the type is missing. */
static enum pl_part_kind media_kind(struct pl_conv *conv, struct pl_val mime, struct pl_val data)
{
    struct pl_str type = pl_conv_text(conv, mime);
    if (!type.len && data.node)
        type = pl_str_of(pl_sniff_mime(pl_json_raw(conv->doc, data.node)));
    for (size_t i = 0; i < sizeof media_kinds / sizeof *media_kinds; i++)
        if (pl_str_starts(type, pl_str_of(media_kinds[i].prefix)))
            return media_kinds[i].kind;
    return PL_PART_FILE;
}

/* "audio/pcm;rate=16000": raw samples and their rate. */
static void take_rate(struct pl_conv *conv, struct pl_part *part)
{
    struct pl_str mime = pl_conv_text(conv, part->mime);
    int64_t rate;
    if (!pl_mime_is_pcm(mime) || !pl_mime_rate(mime, &rate))
        return;
    const struct pl_json_node *node = part->mime.node;
    part->rate = pl_val_json(pl_conv_printf(conv, "%lld", (long long)rate));
    part->mime = pl_val_text(PL_STR("audio/pcm"));
    part->mime.node = node;
}

/* The blob or file of a part; false if it has none. */
static bool read_media(struct pl_conv *conv, const struct pl_json_node *node,
                       struct pl_part *ret_part)
{
    const struct pl_json_node *blob =
        pl_conv_fit(conv, pl_gemini_field(conv, node, "inlineData"), PL_WANT_OBJECT);
    const struct pl_json_node *file =
        pl_conv_fit(conv, pl_gemini_field(conv, node, "fileData"), PL_WANT_OBJECT);
    const struct pl_json_node *of = blob ? blob : file;
    if (!of)
        return false;
    *ret_part = (struct pl_part){
        .node = node,
        .mime = field(conv, of, "mimeType", PL_WANT_STRING),
        .name = field(conv, of, "displayName", PL_WANT_STRING),
        .signature = field(conv, node, "thoughtSignature", PL_WANT_STRING),
    };
    if (blob)
        pl_conv_take_data(conv, field(conv, of, "data", PL_WANT_STRING), ret_part);
    else
        ret_part->url = field(conv, of, "fileUri", PL_WANT_STRING);
    ret_part->kind = media_kind(conv, ret_part->mime, ret_part->data);
    if (ret_part->kind == PL_PART_AUDIO)
        take_rate(conv, ret_part);
    return true;
}

/* ---- calls and results ---- */

static void read_call(struct pl_conv *conv, struct seat *seat, const struct pl_json_node *node,
                      const struct pl_json_node *call)
{
    struct pl_part *part = add_part(conv, seat, PL_ROLE_ASSISTANT, PL_PART_CALL, node);
    part->id = field(conv, call, "id", PL_WANT_STRING);
    part->name = field(conv, call, "name", PL_WANT_STRING);
    part->args = field(conv, call, "args", PL_WANT_ANY);
    part->signature = field(conv, node, "thoughtSignature", PL_WANT_STRING);
}

/* A response is an object with `output` or `error`. Older clients send a single member `result` or
 * `content`. Otherwise the whole object is the result. */
static void read_response(struct pl_conv *conv, struct pl_part *result,
                          const struct pl_json_node *response)
{
    static const char *const keys[] = {"output", "error", "result", "content", NULL};
    const struct pl_json_node *said = response;
    if (pl_json_is(response, PL_JSON_OBJECT)) {
        if (pl_json_count(response) == 1 && pl_conv_word(conv, pl_json_first(response), keys) >= 0)
            said = pl_json_first(response) + 1;
        if (pl_conv_node(conv, response, "error") && !pl_conv_node(conv, response, "output"))
            result->is_error = (struct pl_flag){true, true, pl_val_node(response)};
    }
    pl_conv_add_child(conv, PL_PART_TEXT, said)->text = pl_val_node(said);
}

static void read_result(struct pl_conv *conv, struct seat *seat, const struct pl_json_node *node,
                        const struct pl_json_node *answer)
{
    struct pl_part *result = add_part(conv, seat, PL_ROLE_USER, PL_PART_RESULT, node);
    result->id = field(conv, answer, "id", PL_WANT_STRING);
    result->name = field(conv, answer, "name", PL_WANT_STRING);
    const struct pl_json_node *response = pl_gemini_field(conv, answer, "response");
    if (response)
        read_response(conv, result, response);
    const struct pl_json_node *parts =
        pl_conv_fit(conv, pl_gemini_field(conv, answer, "parts"), PL_WANT_ARRAY);
    if (!parts)
        return;
    for (const struct pl_json_node *p = pl_json_first(parts); p < pl_json_end(parts);
         p = pl_json_next(p)) {
        struct pl_part media;
        if (read_media(conv, p, &media))
            *pl_conv_add_child(conv, media.kind, p) = media;
        else
            pl_conv_add_child(conv, PL_PART_OTHER, p);
    }
}

/* ---- parts ---- */

static void read_text(struct pl_conv *conv, struct seat *seat, const struct pl_json_node *node,
                      const struct pl_json_node *text)
{
    const struct pl_json_node *thought = pl_conv_member(conv, node, "thought", PL_WANT_BOOL);
    bool is_thought = pl_json_is(thought, PL_JSON_TRUE);
    struct pl_part *part =
        add_part(conv, seat, seat->own, is_thought ? PL_PART_THINKING : PL_PART_TEXT, node);
    part->text = pl_val_node(text);
    part->signature = field(conv, node, "thoughtSignature", PL_WANT_STRING);
    pl_conv_know(conv, thought);
}

static void read_part(struct pl_conv *conv, struct seat *seat, const struct pl_json_node *node)
{
    if (pl_json_is(node, PL_JSON_STRING)) {
        add_part(conv, seat, seat->own, PL_PART_TEXT, node)->text = pl_val_node(node);
        return;
    }
    const struct pl_json_node *call =
        pl_conv_fit(conv, pl_gemini_field(conv, node, "functionCall"), PL_WANT_OBJECT);
    const struct pl_json_node *answer =
        pl_conv_fit(conv, pl_gemini_field(conv, node, "functionResponse"), PL_WANT_OBJECT);
    const struct pl_json_node *text = pl_conv_member(conv, node, "text", PL_WANT_STRING);
    struct pl_part media;
    if (call)
        read_call(conv, seat, node, call);
    else if (answer)
        read_result(conv, seat, node, answer);
    else if (read_media(conv, node, &media))
        *add_part(conv, seat, seat->own, media.kind, node) = media;
    else if (text)
        read_text(conv, seat, node, text);
    else if (pl_json_kind(node) != PL_JSON_NULL)
        add_part(conv, seat, seat->own, PL_PART_OTHER, node);
}

/* The parts of a content: a list, one part, or a bare text. */
static void read_parts(struct pl_conv *conv, struct seat *seat, const struct pl_json_node *parts)
{
    if (!parts)
        return;
    if (pl_json_kind(parts) != PL_JSON_ARRAY) {
        read_part(conv, seat, parts);
        return;
    }
    for (const struct pl_json_node *p = pl_json_first(parts); p < pl_json_end(parts);
         p = pl_json_next(p))
        read_part(conv, seat, p);
}

/* ---- contents ---- */

static const char *const role_words[] = {"user",   "model", "function", "assistant",
                                         "system", "tool",  NULL};
static const enum pl_role roles[] = {PL_ROLE_USER,      PL_ROLE_ASSISTANT, PL_ROLE_USER,
                                     PL_ROLE_ASSISTANT, PL_ROLE_SYSTEM,    PL_ROLE_USER};

/* Reads a content. A bare part or text counts as a content of the user. */
static void read_content(struct pl_conv *conv, const struct pl_json_node *node, uint32_t element,
                         enum pl_role role_if_unsaid)
{
    const struct pl_json_node *word = pl_conv_member(conv, node, "role", PL_WANT_STRING);
    const struct pl_json_node *parts = pl_conv_node(conv, node, "parts");
    int i = pl_conv_word(conv, word, role_words);
    if (i >= 0)
        pl_conv_know(conv, word);
    enum pl_role role = i >= 0 ? roles[i] : role_if_unsaid;
    struct seat seat = {role, role, node, element};
    pl_conv_add_message(conv, seat.role, node, element);
    bool is_content = parts || word || (pl_json_is(node, PL_JSON_OBJECT) && !pl_json_count(node));
    read_parts(conv, &seat, is_content ? parts : node);
}

static void read_system(struct pl_conv *conv, const struct pl_json_node *system)
{
    if (!system)
        return;
    struct seat seat = {PL_ROLE_SYSTEM, PL_ROLE_SYSTEM, system, PL_NO_ELEMENT};
    pl_conv_add_message(conv, PL_ROLE_SYSTEM, system, PL_NO_ELEMENT);
    const struct pl_json_node *parts = pl_conv_node(conv, system, "parts");
    /* The API ignores its role; people write "system" or "user" there. */
    pl_conv_know(conv, pl_conv_member(conv, system, "role", PL_WANT_STRING));
    read_parts(conv, &seat, parts ? parts : system);
}

static enum pl_status read_request(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *contents = pl_conv_node(conv, root, "contents");
    const struct pl_json_node *system = pl_gemini_field(conv, root, "systemInstruction");
    if (!contents && !system)
        return pl_fail(err, PL_INVALID, "a Gemini request must be an object with `contents`");
    read_system(conv, system);
    if (pl_json_is(contents, PL_JSON_ARRAY)) {
        conv->list = contents;
        uint32_t element = 0;
        for (const struct pl_json_node *c = pl_json_first(contents); c < pl_json_end(contents);
             c = pl_json_next(c))
            read_content(conv, c, element++, PL_ROLE_USER);
    } else if (contents) {
        read_content(conv, contents, 0, PL_ROLE_USER);
    }
    pl_gemini_read_settings(conv, root);
    return conv->status;
}

/* A stream that failed wraps its error in an array. */
static const struct pl_json_node *response_of(const struct pl_conv *conv)
{
    const struct pl_json_node *root = conv->doc->root;
    return pl_json_is(root, PL_JSON_ARRAY) && pl_json_count(root) ? pl_json_first(root) : root;
}

static enum pl_status read_answer(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = response_of(conv);
    conv->answer.is_set = true;
    if (pl_gemini_read_error(conv, root))
        return conv->status;
    const struct pl_json_node *list = pl_conv_node(conv, root, "candidates");
    const struct pl_json_node *candidate =
        list && pl_json_is(list, PL_JSON_ARRAY) && pl_json_count(list) ? pl_json_first(list) : NULL;
    if (!list && !pl_gemini_field(conv, root, "promptFeedback") &&
        !pl_gemini_field(conv, root, "usageMetadata"))
        return pl_fail(err, PL_INVALID,
                       "a Gemini response needs `candidates`, `promptFeedback` or `error`");
    const struct pl_json_node *content = pl_conv_node(conv, candidate, "content");
    if (content)
        read_content(conv, content, 0, PL_ROLE_ASSISTANT);
    else
        pl_conv_add_message(conv, PL_ROLE_ASSISTANT, candidate, 0);
    pl_gemini_read_answer(conv, root, candidate);
    return conv->status;
}

enum pl_status pl_gemini_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    return kind == PL_KIND_RESPONSE ? read_answer(conv, err) : read_request(conv, err);
}
