/* Writing generateContent: contents and their parts.
 *
 * There are only the roles user and model. The results of one model turn are together in one
 * content of the user, each with the name of its function. If the API has no ids, they are in the
 * order of the calls. */
#include "base/sort.h"
#include "conv/call_ids.h"
#include "conv/media/pcm.h"
#include "conv/media/sniff.h"
#include "format/gemini/gemini_int.h"
#include "format/profile.h"

struct say {
    struct pl_writer *w;
    struct pl_conv *conv;
    const struct pl_conversion *conversion;
    bool is_home; /* from gemini: its signatures and unknown fields are valid */
    bool sends_ids;
    struct pl_call_index calls;
    uint32_t *call_indexes; /* arena; by part: for a result, the part of its call */
    size_t first_unsigned;  /* messages from here on need signatures on their calls */
    bool is_content_open;
    bool has_signed; /* the first call of this content has been written */
};

#define MAX_WRITTEN 8

void pl_gemini_write_rest(struct pl_writer *w, const struct pl_json_node *object,
                          const char *const written[])
{
    const struct pl_json_node *done[MAX_WRITTEN] = {NULL};
    if (!pl_json_is(object, PL_JSON_OBJECT))
        return;
    for (size_t i = 0; i < MAX_WRITTEN && written[i]; i++)
        done[i] = pl_gemini_field(w->conv, object, written[i]);
    for (const struct pl_json_node *key = pl_json_first_member(object); key < pl_json_end(object);
         key = pl_json_next_member(key)) {
        bool is_written = pl_json_kind(key + 1) == PL_JSON_NULL;
        for (size_t i = 0; i < MAX_WRITTEN; i++)
            is_written |= done[i] == key + 1;
        if (is_written)
            continue;
        pl_w_key_str(w, pl_conv_text(w->conv, pl_val_node(key)));
        pl_w_value(w, pl_val_node(key + 1));
    }
}

/* ---- contents ---- */

static bool has_id(struct say *s, const struct pl_part *part)
{
    return pl_val_is_set(part->id) && !pl_conv_is_blank(s->conv, part->id);
}

/* Opens a part, and the content if it is not open yet. */
static void part_open(struct say *s, bool is_model)
{
    if (!s->is_content_open) {
        pl_w_open(s->w, '{');
        if (is_model)
            pl_w_key_word(s->w, "role", "model");
        else
            pl_w_key_word(s->w, "role", "user");
        pl_w_key(s->w, "parts");
        pl_w_open(s->w, '[');
        s->is_content_open = true;
    }
    pl_w_open(s->w, '{');
}

static void content_close(struct say *s)
{
    if (s->is_content_open) {
        pl_w_close(s->w, ']');
        pl_w_close(s->w, '}');
    }
    s->is_content_open = s->has_signed = false;
}

/* Only Google's signatures are valid: from its own format, or from the place for them in a chat
 * call. */
static bool is_signed(const struct say *s, const struct pl_part *part)
{
    const struct pl_format *home = pl_format_home(s->conversion, part);
    return pl_val_is_set(part->signature) &&
           (home == &pl_format_gemini ||
            (part->kind == PL_PART_CALL && home == &pl_format_openai_chat));
}

static void part_close(struct say *s, const struct pl_part *part)
{
    static const char *const written[] = {
        "text",     "thought",      "thoughtSignature", "inlineData",
        "fileData", "functionCall", "functionResponse", NULL};
    if (is_signed(s, part))
        pl_w_opt_string(s->w, "thoughtSignature", part->signature);
    if (s->is_home)
        pl_gemini_write_rest(s->w, part->node, written);
    pl_w_close(s->w, '}');
}

/* ---- media ---- */

static const struct {
    const char *ending, *mime;
} endings[] = {
    {".png", "image/png"},  {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},  {".webp", "image/webp"}, {".pdf", "application/pdf"},
    {".mp3", "audio/mpeg"}, {".wav", "audio/wav"},   {".mp4", "video/mp4"},
    {".txt", "text/plain"}, {".webm", "video/webm"}, {".mov", "video/quicktime"},
};

/* The media type by the suffix of a URL, without query and fragment; NULL if unknown. */
static const char *mime_of_url(struct pl_str url)
{
    size_t n = 0;
    while (n < url.len && url.ptr[n] != '?' && url.ptr[n] != '#')
        n++;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct pl_str ending = pl_str_of(endings[i].ending);
        if (n > ending.len && pl_str_eq(pl_str_slice(url, n - ending.len, n), ending))
            return endings[i].mime;
    }
    return NULL;
}

static void write_guessed_mime(struct say *s, const struct pl_part *part, const char *mime)
{
    pl_w_key_word(s->w, "mimeType", mime);
    pl_w_mapped(s->w, part->mime);
    pl_conv_loss(s->conv, PL_LOSS_SYNTHESISED, part->node,
                 "Gemini requires a media type; %s was taken from the data", mime);
}

/* Raw samples have their rate in the media type. */
static void write_pcm_mime(struct say *s, const struct pl_part *part)
{
    struct pl_str rate =
        part->rate.node ? pl_json_span(s->conv->doc, part->rate.node) : part->rate.str;
    pl_w_key(s->w, "mimeType");
    pl_w_string(s->w,
                pl_val_text(pl_conv_printf(s->conv, "audio/pcm;rate=%.*s", PL_STR_ARG(rate))));
    pl_w_mapped(s->w, part->mime);
    pl_w_mapped(s->w, part->rate);
}

/* Audio may come with the bare name of its encoding: "wav". */
static void write_mime(struct say *s, const struct pl_part *part, const char *guess)
{
    struct pl_str mime = pl_conv_text(s->conv, part->mime);
    if (!mime.len && guess) {
        write_guessed_mime(s, part, guess);
    } else if (part->kind == PL_PART_AUDIO && pl_val_is_set(part->rate) && pl_mime_is_pcm(mime)) {
        write_pcm_mime(s, part);
    } else if (mime.len && !memchr(mime.ptr, '/', mime.len)) {
        pl_w_key(s->w, "mimeType");
        pl_w_string(s->w, pl_val_text(pl_conv_printf(s->conv, "audio/%.*s", PL_STR_ARG(mime))));
        pl_w_mapped(s->w, part->mime);
    } else if (mime.len) {
        pl_w_opt_string(s->w, "mimeType", part->mime);
    }
}

static struct pl_str data_head(struct say *s, struct pl_val data)
{
    struct pl_str raw = data.str;
    if (data.kind == PL_VAL_NODE && pl_json_is(data.node, PL_JSON_STRING))
        raw = pl_json_raw(s->conv->doc, data.node);
    return pl_str_slice(raw, 0, 64);
}

static bool has_media(const struct pl_part *part)
{
    return part->kind >= PL_PART_IMAGE && part->kind <= PL_PART_FILE &&
           (pl_val_is_set(part->data) || pl_val_is_set(part->url));
}

static void write_media(struct say *s, const struct pl_part *part)
{
    bool is_data = pl_val_is_set(part->data);
    pl_w_key(s->w, is_data ? "inlineData" : "fileData");
    pl_w_open(s->w, '{');
    if (is_data) {
        const char *guess = pl_sniff_mime(data_head(s, part->data));
        write_mime(s, part, guess ? guess : "application/octet-stream");
        pl_w_opt_string(s->w, "data", part->data);
    } else {
        write_mime(s, part, mime_of_url(pl_conv_text(s->conv, part->url)));
        pl_w_opt_string(s->w, "fileUri", part->url);
    }
    if (s->is_home)
        pl_w_opt_string(s->w, "displayName", part->name);
    pl_w_close(s->w, '}');
}

/* ---- calls ---- */

/* Arguments are an object here; anything else becomes a text in an object. */
static void write_args(struct say *s, const struct pl_part *call)
{
    pl_w_key(s->w, "args");
    if (!call->is_custom && pl_w_holds_object(s->w, call->args)) {
        pl_w_json(s->w, call->args);
        return;
    }
    pl_w_open(s->w, '{');
    pl_w_key(s->w, call->is_custom ? "input" : "_raw");
    pl_w_string(s->w, call->args);
    pl_w_close(s->w, '}');
    pl_w_loss(s->w, PL_LOSS_APPROXIMATED, call->args,
              call->is_custom ? "free text becomes the argument `input` of a function"
                              : "arguments are an object in Gemini; this text is its member "
                                "`_raw`");
}

/* The name of a function if its call has none. */
#define NAMELESS "function"

/* The names of an answer are those that the client declared. */
static bool keeps_names(const struct say *s)
{
    return s->is_home || s->conversion->kind == PL_KIND_RESPONSE;
}

static void write_name(struct say *s, struct pl_val name)
{
    if (keeps_names(s))
        pl_w_string(s->w, name);
    else
        pl_gemini_write_name(s->w, name);
}

/* The same for a name that has its report elsewhere. */
static void put_name(struct say *s, struct pl_val name)
{
    struct pl_str text =
        keeps_names(s) ? pl_conv_text(s->conv, name) : pl_gemini_name(s->conv, name);
    pl_w_string(s->w, pl_val_text(text));
}

/* Gemini 3 refuses an unsigned call in the current turn. It documents a value for calls of other
 * models. */
static void write_bypass(struct say *s, const struct pl_part *call)
{
    pl_w_key_word(s->w, "thoughtSignature", "skip_thought_signature_validator");
    pl_conv_loss(s->conv, PL_LOSS_SYNTHESISED, call->node,
                 "this call has no signature; Gemini is told not to check it");
}

static void write_call(struct say *s, const struct pl_part *call, bool needs_signature)
{
    static const char *const written[] = {"id", "name", "args", NULL};
    part_open(s, true);
    pl_w_key(s->w, "functionCall");
    pl_w_open(s->w, '{');
    if (s->sends_ids && has_id(s, call))
        pl_w_opt_string(s->w, "id", call->id);
    pl_w_key(s->w, "name");
    if (pl_conv_text(s->conv, call->name).len) {
        write_name(s, call->name);
    } else {
        pl_conv_know(s->conv, call->name.node);
        pl_w_word(s->w, NAMELESS);
        pl_conv_loss(s->conv, PL_LOSS_SYNTHESISED, call->node, "a call needs a name");
    }
    write_args(s, call);
    if (s->is_home)
        pl_gemini_write_rest(s->w, pl_gemini_field(s->conv, call->node, "functionCall"), written);
    pl_w_close(s->w, '}');
    if (needs_signature && !s->has_signed && !is_signed(s, call))
        write_bypass(s, call);
    s->has_signed = true;
    part_close(s, call);
}

/* ---- results ---- */

static const struct pl_part *call_of(struct say *s, const struct pl_part *result)
{
    return has_id(s, result) ? pl_call_index_find(&s->calls, s->conv, result) : NULL;
}

/* The name of the called function: the result's own name if it is the same. The call has a link to
 * it already, so it is written without one. */
static void write_result_name(struct say *s, const struct pl_part *result)
{
    uint32_t index = s->call_indexes[result - s->conv->parts.ptr];
    const struct pl_part *call = index != UINT32_MAX ? &s->conv->parts.ptr[index] : NULL;
    struct pl_str called = call ? pl_conv_text(s->conv, call->name) : (struct pl_str){0};
    struct pl_str own = pl_conv_text(s->conv, result->name);
    pl_w_key(s->w, "name");
    bool is_own = own.len && (!call || !call->name.node || result->name.node != call->name.node);
    if (is_own && (!called.len || pl_str_eq(own, called))) {
        write_name(s, result->name);
    } else if (called.len) {
        put_name(s, call->name);
    } else {
        struct pl_str id = call ? (struct pl_str){0} : pl_conv_text(s->conv, result->id);
        put_name(s, pl_val_text(id.len ? id : PL_STR(NAMELESS)));
        pl_conv_loss(s->conv, PL_LOSS_SYNTHESISED, result->node,
                     "a result needs the name of its function, but no call has it");
    }
}

static bool is_text(const struct pl_part *child)
{
    return (child->kind == PL_PART_TEXT || child->kind == PL_PART_REFUSAL) &&
           pl_val_is_set(child->text);
}

/* {"output": …} or {"error": …}: one text as a string, several as a list, so that each keeps its
 * own text. */
static void write_response(struct say *s, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(s->conv, result);
    uint32_t n_texts = 0;
    for (uint32_t i = 0; i < result->n_children; i++)
        n_texts += is_text(&children[i]);
    bool is_whole =
        s->is_home && n_texts == 1 &&
        children[0].node ==
            pl_gemini_field(s->conv, pl_gemini_field(s->conv, result->node, "functionResponse"),
                            "response");
    pl_w_key(s->w, "response");
    if (is_whole && pl_json_is(children[0].node, PL_JSON_OBJECT)) {
        pl_w_value(s->w, children[0].text);
        return;
    }
    pl_w_open(s->w, '{');
    pl_w_key(s->w, result->is_error.is_set && result->is_error.value ? "error" : "output");
    if (n_texts == 0)
        pl_w_word(s->w, "");
    if (n_texts > 1)
        pl_w_open(s->w, '[');
    for (uint32_t i = 0; i < result->n_children; i++)
        if (is_text(&children[i]))
            pl_w_value(s->w, children[i].text);
    if (n_texts > 1)
        pl_w_close(s->w, ']');
    pl_w_close(s->w, '}');
    pl_w_mapped(s->w, result->is_error.val);
}

static void write_result_media(struct say *s, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(s->conv, result);
    bool is_open = false;
    for (uint32_t i = 0; i < result->n_children; i++) {
        const struct pl_part *child = &children[i];
        bool is_other = s->is_home && child->kind == PL_PART_OTHER && child->node;
        if (is_open && is_text(child))
            pl_w_loss(s->w, PL_LOSS_REORDERED, child->text, "it is written before the media");
        if (!has_media(child) && !is_other)
            continue;
        if (!is_open) {
            pl_w_key(s->w, "parts");
            pl_w_open(s->w, '[');
            is_open = true;
        }
        if (is_other) {
            pl_w_value(s->w, pl_val_node(child->node));
            continue;
        }
        pl_w_open(s->w, '{');
        write_media(s, child);
        part_close(s, child);
    }
    if (is_open)
        pl_w_close(s->w, ']');
}

static void write_result(struct say *s, const struct pl_part *result)
{
    static const char *const written[] = {"id", "name", "response", "parts", NULL};
    part_open(s, false);
    pl_w_key(s->w, "functionResponse");
    pl_w_open(s->w, '{');
    if (s->sends_ids && has_id(s, result))
        pl_w_opt_string(s->w, "id", result->id);
    write_result_name(s, result);
    write_response(s, result);
    write_result_media(s, result);
    if (s->is_home)
        pl_gemini_write_rest(s->w, pl_gemini_field(s->conv, result->node, "functionResponse"),
                             written);
    pl_w_close(s->w, '}');
    part_close(s, result);
}

/* ---- parts ---- */

static void write_text(struct say *s, const struct pl_part *part, bool is_model)
{
    /* A signature may belong to an empty text. */
    bool is_only_signed =
        (part->kind == PL_PART_TEXT || part->kind == PL_PART_THINKING) && is_signed(s, part);
    if (!pl_val_is_set(part->text) && !is_only_signed)
        return;
    part_open(s, is_model);
    pl_w_key(s->w, "text");
    if (pl_val_is_set(part->text))
        pl_w_string(s->w, part->text);
    else
        pl_w_word(s->w, "");
    if (part->kind == PL_PART_THINKING) {
        pl_w_key(s->w, "thought");
        pl_w_bool(s->w, true);
    }
    part_close(s, part);
    if (part->kind == PL_PART_REFUSAL)
        pl_w_loss(s->w, PL_LOSS_APPROXIMATED, part->text,
                  "Gemini has no refusals; it is written as plain text");
    if (part->kind == PL_PART_FILE)
        pl_w_loss(s->w, PL_LOSS_APPROXIMATED, part->text,
                  "the text of this document is written as plain text");
}

static void write_gist(struct say *s, const struct pl_gist *gist, bool is_result)
{
    part_open(s, true);
    pl_gemini_write_gist(s->w, gist, is_result);
    pl_w_close(s->w, '}');
}

/* Parts that Gemini has no place for are left alone. */
static void write_part(struct say *s, const struct pl_part *part, bool is_model,
                       bool needs_signature)
{
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_THINKING:
    case PL_PART_REFUSAL:
        write_text(s, part, is_model);
        break;
    case PL_PART_IMAGE:
    case PL_PART_AUDIO:
    case PL_PART_VIDEO:
    case PL_PART_FILE:
        if (has_media(part)) {
            part_open(s, is_model);
            write_media(s, part);
            part_close(s, part);
        } else {
            write_text(s, part, is_model);
        }
        break;
    case PL_PART_CALL:
        write_call(s, part, needs_signature);
        break;
    case PL_PART_RESULT:
        write_result(s, part);
        break;
    case PL_PART_OTHER:
        if (part->gist && part->gist->has_call)
            write_gist(s, part->gist, false);
        if (part->gist && part->gist->has_result)
            write_gist(s, part->gist, true);
        if (s->is_home && pl_json_is(part->node, PL_JSON_OBJECT)) {
            static const char *const none[] = {NULL};
            part_open(s, is_model);
            pl_gemini_write_rest(s->w, part->node, none);
            pl_w_close(s->w, '}');
        }
        break;
    case PL_PART_REDACTED:
    case PL_PART_KIND_COUNT:
        break;
    }
}

/* ---- messages ---- */

static bool is_system(const struct pl_message *m)
{
    return m->role == PL_ROLE_SYSTEM || m->role == PL_ROLE_DEVELOPER;
}

static size_t count_results(const struct pl_conv *conv, const struct pl_message *m)
{
    size_t n = 0;
    const struct pl_part *parts = pl_conv_parts(conv, m);
    for (uint32_t i = 0; i < m->n_parts; i++)
        n += parts[i].kind == PL_PART_RESULT;
    return n;
}

static bool has_results(const struct pl_conv *conv, const struct pl_message *m)
{
    return (m->role == PL_ROLE_TOOL || m->role == PL_ROLE_USER) && count_results(conv, m) > 0;
}

/* A content without anything to write gets an empty text to keep its place. In a repair it is
 * removed instead. */
static void content_end(struct say *s, const struct pl_message *m, bool is_model)
{
    if (!s->is_content_open && s->conversion->mode == PL_MODE_CONVERT &&
        s->conversion->kind == PL_KIND_REQUEST) {
        part_open(s, is_model);
        pl_w_key_word(s->w, "text", "");
        pl_w_close(s->w, '}');
        pl_conv_loss(s->conv, PL_LOSS_SYNTHESISED, m->node,
                     "a content needs a part, but Gemini accepts nothing of this message");
    }
    content_close(s);
}

/* The end of the group of messages from `from` on that become one content: a model's turn, or all
 * the results of one. */
static size_t group_end(const struct pl_conv *conv, size_t from)
{
    const struct pl_message *first = &conv->messages.ptr[from];
    bool is_answer = has_results(conv, first);
    size_t end = from + 1;
    for (; end < conv->messages.len; end++) {
        const struct pl_message *m = &conv->messages.ptr[end];
        bool is_same_turn = m->is_phase_split && m->role == first->role;
        bool is_next_result = is_answer && has_results(conv, m);
        if (!is_same_turn && !is_next_result)
            break;
    }
    return end;
}

/* Results of a group, in output order. */
struct results {
    const struct pl_part **ptr; /* arena */
    size_t len;
};

static uint32_t call_index(struct say *s, const struct pl_part *result)
{
    const struct pl_part *call = call_of(s, result);
    return call ? (uint32_t)(call - s->conv->parts.ptr) : UINT32_MAX;
}

static int by_call(const void *ctx, const void *a, const void *b)
{
    const struct say *s = ctx;
    uint32_t x = s->call_indexes[(const struct pl_part *)a - s->conv->parts.ptr];
    uint32_t y = s->call_indexes[(const struct pl_part *)b - s->conv->parts.ptr];
    return (x > y) - (x < y);
}

/* Without ids a result belongs to its call by position: sorts the results by the order of the
 * calls. False when out of memory. */
static bool sort_results(struct say *s, size_t from, size_t to, struct results *ret)
{
    size_t most = 0;
    for (size_t i = from; i < to; i++)
        most += count_results(s->conv, &s->conv->messages.ptr[i]);
    *ret = (struct results){NULL, 0};
    if (!most)
        return true;
    const void **list = pl_arena_alloc(s->conv->arena, most, sizeof *list);
    const void **scratch = pl_arena_alloc(s->conv->arena, most, sizeof *list);
    if (!list || !scratch) {
        s->conv->status = PL_NOMEM;
        return false;
    }
    bool is_paired_by_id = s->sends_ids;
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const struct pl_part *parts = pl_conv_parts(s->conv, &s->conv->messages.ptr[i]);
        for (uint32_t k = 0; k < s->conv->messages.ptr[i].n_parts; k++) {
            if (parts[k].kind != PL_PART_RESULT)
                continue;
            s->call_indexes[&parts[k] - s->conv->parts.ptr] = call_index(s, &parts[k]);
            is_paired_by_id &= has_id(s, &parts[k]);
            list[n++] = &parts[k];
        }
    }
    if (!is_paired_by_id)
        pl_sort(list, scratch, n, by_call, s);
    *ret = (struct results){(const struct pl_part **)list, n};
    return true;
}

/* Writes the parts of a group; its results in their sorted order. */
static void write_group(struct say *s, size_t from, size_t to, bool is_model)
{
    struct results results;
    size_t next = 0;
    if (!sort_results(s, from, to, &results))
        return;
    for (size_t i = from; i < to; i++) {
        const struct pl_message *m = &s->conv->messages.ptr[i];
        for (uint32_t k = 0; k < m->n_parts; k++) {
            const struct pl_part *part = pl_conv_parts(s->conv, m) + k;
            const struct pl_part *now = part->kind == PL_PART_RESULT ? results.ptr[next++] : part;
            if (now != part)
                pl_conv_loss(s->conv, PL_LOSS_REORDERED, now->node ? now->node : m->node,
                             "without ids, results are in the order of their calls");
            write_part(s, now, is_model, from >= s->first_unsigned);
        }
    }
}

/* A system message after the first other message becomes user text in place: there are only the
 * roles user and model, and the system instruction applies to the whole conversation. */
static void report_group(struct say *s, size_t from, size_t to)
{
    const struct pl_message *m = &s->conv->messages.ptr[from];
    if (is_system(m))
        pl_conv_loss(s->conv, PL_LOSS_APPROXIMATED, m->node,
                     "Gemini has no system messages among its contents; it is a user message");
    for (size_t i = from + 1; i < to; i++) {
        const struct pl_message *next = &s->conv->messages.ptr[i];
        if (next->role == PL_ROLE_USER && !next->is_phase_split)
            pl_conv_loss(s->conv, PL_LOSS_MERGED, next->node,
                         "all results of one turn are in one content");
    }
}

/* Returns the number of contents that are not empty. */
static size_t write_contents(struct say *s, size_t first)
{
    size_t n_written = 0;
    pl_w_key(s->w, "contents");
    pl_w_open(s->w, '[');
    for (size_t i = first, end; i < s->conv->messages.len; i = end) {
        const struct pl_message *m = &s->conv->messages.ptr[i];
        bool is_model = m->role == PL_ROLE_ASSISTANT;
        end = group_end(s->conv, i);
        write_group(s, i, end, is_model);
        report_group(s, i, end);
        n_written += s->is_content_open;
        content_end(s, m, is_model);
    }
    pl_w_close(s->w, ']');
    return n_written;
}

/* The number of leading instructions. */
static size_t count_leading_system(const struct say *s)
{
    size_t n = 0;
    while (n < s->conv->messages.len && is_system(&s->conv->messages.ptr[n]))
        n++;
    return n;
}

static void write_system(struct say *s, size_t n)
{
    bool is_open = false;
    for (size_t i = 0; i < n; i++) {
        const struct pl_message *m = &s->conv->messages.ptr[i];
        for (uint32_t k = 0; k < m->n_parts; k++) {
            const struct pl_part *part = pl_conv_parts(s->conv, m) + k;
            if (!is_text(part))
                continue;
            if (!is_open) {
                pl_w_key(s->w, "systemInstruction");
                pl_w_open(s->w, '{');
                pl_w_key(s->w, "parts");
                pl_w_open(s->w, '[');
                is_open = true;
            }
            pl_w_open(s->w, '{');
            pl_w_opt_string(s->w, "text", part->text);
            part_close(s, part);
        }
    }
    if (is_open) {
        pl_w_close(s->w, ']');
        pl_w_close(s->w, '}');
    }
}

/* ---- requests and responses ---- */

/* The current turn begins with the last user message; only its calls must be signed. Google's own
 * documents are signed by the repair. */
static void find_unsigned(struct say *s)
{
    s->first_unsigned = SIZE_MAX;
    if (s->conversion->mode != PL_MODE_GATEWAY || s->is_home || !s->conversion->profile ||
        !s->conversion->profile->requires_signatures)
        return;
    s->first_unsigned = 0;
    for (size_t i = 0; i < s->conv->messages.len; i++)
        if (s->conv->messages.ptr[i].role == PL_ROLE_USER &&
            !has_results(s->conv, &s->conv->messages.ptr[i]))
            s->first_unsigned = i;
}

static void write_response_body(struct say *s)
{
    if (s->conv->answer.is_error) {
        pl_gemini_write_error(s->w);
        return;
    }
    pl_w_key(s->w, "candidates");
    pl_w_open(s->w, '[');
    pl_w_open(s->w, '{');
    pl_w_key(s->w, "content");
    if (s->conv->messages.len)
        write_group(s, 0, s->conv->messages.len, true);
    if (!s->is_content_open) {
        pl_w_open(s->w, '{');
        pl_w_key_word(s->w, "role", "model");
        pl_w_key(s->w, "parts");
        pl_w_open(s->w, '[');
        s->is_content_open = true;
    }
    content_close(s);
    pl_gemini_write_finish(s->w);
    if (s->conversion->from->is_vendor && !s->is_home)
        pl_gemini_write_cites(s->w, s->conversion);
    pl_w_key(s->w, "index");
    pl_w_int(s->w, 0);
    pl_w_close(s->w, '}');
    pl_w_close(s->w, ']');
    pl_gemini_write_answer(s->w);
}

/* Gemini refuses a request without contents. Mode convert never adds turns, so it writes one
 * anyway. */
static enum pl_status write_request(struct say *s, struct pl_error *err)
{
    struct pl_conv *conv = s->conv;
    size_t n_leading = count_leading_system(s);
    write_system(s, n_leading);
    size_t n_written = write_contents(s, n_leading);
    pl_gemini_write_settings(s->w, s->conversion);
    if (n_written || s->conversion->mode == PL_MODE_CONVERT || conv->status != PL_OK)
        return PL_OK;
    if (!conv->messages.len)
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->list ? conv->list : conv->doc->root,
                     "it contains no message, but Gemini requires one");
    return pl_fail(err, PL_INVALID,
                   "Gemini requires at least one content, but accepts nothing of this "
                   "conversation; the report says why");
}

enum pl_status pl_gemini_write(struct pl_writer *w, const struct pl_conversion *conversion,
                               struct pl_error *err)
{
    struct say s = {
        .w = w,
        .conv = w->conv,
        .conversion = conversion,
        .is_home = conversion->from == conversion->to,
        .sends_ids = !conversion->profile || !conversion->profile->refuses_call_ids,
        .call_indexes =
            pl_arena_alloc(w->conv->arena, w->conv->parts.len + 1, sizeof *s.call_indexes),
    };
    if (!s.call_indexes)
        return w->conv->status = PL_NOMEM;
    pl_call_index_init(&s.calls, w->conv);
    find_unsigned(&s);
    enum pl_status status = PL_OK;
    pl_w_open(w, '{');
    if (conversion->kind == PL_KIND_RESPONSE)
        write_response_body(&s);
    else
        status = write_request(&s, err);
    pl_w_close(w, '}');
    if (status != PL_OK)
        return status;
    return w->conv->status != PL_OK ? w->conv->status : w->out.buf->status;
}
