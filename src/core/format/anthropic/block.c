/* Writing Anthropic content blocks. */
#include "format/anthropic/anthropic_int.h"

#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "conv/media/sniff.h"
#include "format/pieces/content.h"
#include "format/pieces/tool_name.h"

#include <strings.h>

static bool is_string(struct pl_val val)
{
    return pl_val_is_set(val) &&
           (val.kind != PL_VAL_NODE || pl_json_kind(val.node) == PL_JSON_STRING);
}

static bool is_ecmascript_space(int32_t c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

bool pl_anthropic_is_blank(struct pl_conv *conv, struct pl_val text)
{
    enum { FEW = 64 };
    if (text.kind == PL_VAL_NODE && pl_json_kind(text.node) == PL_JSON_STRING) {
        /* Fast path: nearly every text begins with a letter, so not all of it is decoded. */
        struct pl_str raw = pl_json_raw(conv->doc, text.node);
        size_t at = 0;
        while (at < raw.len && at < FEW && raw.ptr[at] != '\\')
            if (!is_ecmascript_space(pl_utf8_next(raw, &at)))
                return false;
        if (at + 1 < raw.len && raw.ptr[at] == '\\' && strchr("\"\\/", raw.ptr[at + 1]))
            return false;
    }
    struct pl_str words = pl_conv_text(conv, text);
    for (size_t at = 0; at < words.len;)
        if (!is_ecmascript_space(pl_utf8_next(words, &at)))
            return false;
    return true;
}

/* The ways to give the vendor the bytes of an image or a document. */
enum how { HOW_NOT, HOW_BASE64, HOW_URL, HOW_FILE, HOW_TEXT, HOW_DECODED };

struct source {
    enum how how;
    bool is_image;
    struct pl_val mime, data; /* of the source document */
    const char *type;         /* the media type to write */
};

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};
/* Prefixes of media types that are plain text. */
static const char *const text_types[] = {
    "text/", "application/json", "application/xml", "application/yaml", "application/x-yaml", NULL};

static bool begins(struct pl_str s, const char *with)
{
    return s.len >= strlen(with) && strncasecmp(s.ptr, with, strlen(with)) == 0;
}

/* The media type without parameters, or the one that the first bytes show. */
static struct pl_str type_of(struct pl_conv *conv, const struct source *s)
{
    struct pl_str type = pl_conv_text(conv, s->mime);
    const char *end = type.len ? memchr(type.ptr, ';', type.len) : NULL;
    if (end)
        type.len = (size_t)(end - type.ptr);
    bool tells = type.len && !begins(type, "application/octet-stream");
    if (tells || !pl_val_is_set(s->data))
        return type;
    struct pl_str data =
        s->data.kind == PL_VAL_NODE ? pl_json_raw(conv->doc, s->data.node) : s->data.str;
    const char *sniffed = pl_sniff_mime(data);
    return sniffed ? pl_str_of(sniffed) : type;
}

static const char *image_type(struct pl_str type)
{
    if (begins(type, "image/jpg"))
        return "image/jpeg";
    for (int i = 0; image_types[i]; i++)
        if (begins(type, image_types[i]) && type.len == strlen(image_types[i]))
            return image_types[i];
    return NULL;
}

static bool is_text_type(struct pl_str type)
{
    for (int i = 0; text_types[i]; i++)
        if (begins(type, text_types[i]))
            return true;
    return false;
}

static void find_data(struct pl_conv *conv, const struct pl_part *part, struct source *s)
{
    struct pl_str type = type_of(conv, s);
    s->type = image_type(type);
    if (s->type) {
        s->how = HOW_BASE64;
        s->is_image = true;
    } else if (part->kind == PL_PART_FILE && begins(type, "application/pdf")) {
        s->how = HOW_BASE64;
        s->type = "application/pdf";
    } else if (part->kind == PL_PART_FILE && is_text_type(type)) {
        s->how = HOW_DECODED;
        s->type = "text/plain";
    }
}

static bool is_web(struct pl_conv *conv, struct pl_val url)
{
    struct pl_str text = pl_conv_text(conv, url);
    return begins(text, "https://") || begins(text, "http://");
}

static struct source find_source(struct pl_anthropic_out *o, const struct pl_part *part)
{
    struct source s = {.mime = part->mime, .data = part->data};
    struct pl_val mime;
    s.is_image = part->kind == PL_PART_IMAGE || image_type(pl_conv_text(o->conv, part->mime));
    if (!pl_val_is_set(s.data) && pl_conv_data_url(o->conv, part->url, &mime, &s.data) &&
        !pl_val_is_set(s.mime))
        s.mime = mime;
    if (is_string(s.data))
        find_data(o->conv, part, &s);
    else if (is_string(part->url))
        s.how = is_web(o->conv, part->url) ? HOW_URL : HOW_NOT;
    else if (is_string(part->file_id))
        /* A file id is valid only at its own vendor. */
        s.how = o->is_home || !o->conversion->from->is_vendor ? HOW_FILE : HOW_NOT;
    else if (is_string(part->text) && part->kind == PL_PART_FILE)
        s.how = HOW_TEXT;
    return s;
}

/* Decodes base64 to text; false if it is not text. */
static bool decode(struct pl_conv *conv, struct pl_val data, struct pl_str *ret_text)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    enum pl_status status = pl_base64_decode(&buf, pl_conv_text(conv, data));
    struct pl_str text = {0};
    if (status == PL_OK && pl_utf8_is_valid(pl_buf_str(&buf)))
        text = pl_arena_dup(conv->arena, pl_buf_str(&buf));
    if (status == PL_NOMEM ||
        (status == PL_OK && buf.len && !text.ptr && pl_utf8_is_valid(pl_buf_str(&buf))))
        conv->status = PL_NOMEM;
    if (!text.len)
        return false;
    *ret_text = text;
    return true;
}

static bool can_say_media(struct pl_anthropic_out *o, const struct pl_part *part)
{
    struct source s = find_source(o, part);
    struct pl_str text;
    return s.how == HOW_DECODED ? decode(o->conv, s.data, &text) : s.how != HOW_NOT;
}

/* Whether the proof of a part is Anthropic's. */
static bool is_ours(const struct pl_anthropic_out *o, const struct pl_part *part)
{
    return pl_format_home(o->conversion, part) == &pl_format_anthropic;
}

static bool can_say_thinking(struct pl_anthropic_out *o, const struct pl_part *part)
{
    if (is_ours(o, part) && is_string(part->signature))
        return true;
    return o->is_response && pl_conv_text(o->conv, part->text).len > 0;
}

bool pl_anthropic_can_say(struct pl_anthropic_out *o, enum pl_role role, const struct pl_part *part)
{
    bool is_assistant = role == PL_ROLE_ASSISTANT;
    bool is_system = role == PL_ROLE_SYSTEM || role == PL_ROLE_DEVELOPER;
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_REFUSAL: /* in an answer: the text people read, and the explanation of the stop
                             reason */
        return o->is_response ? pl_conv_text(o->conv, part->text).len > 0
                              : !pl_anthropic_is_blank(o->conv, part->text);
    case PL_PART_THINKING:
        return is_assistant && can_say_thinking(o, part);
    case PL_PART_REDACTED:
        return is_assistant && is_ours(o, part) && is_string(part->data);
    case PL_PART_IMAGE:
        return !is_assistant && !is_system && can_say_media(o, part);
    case PL_PART_FILE:
        return !is_system && !(is_assistant && find_source(o, part).is_image) &&
               can_say_media(o, part);
    case PL_PART_CALL:
        return is_assistant;
    case PL_PART_RESULT:
        return !is_assistant && !is_system;
    default:
        return part->kind == PL_PART_OTHER &&
               (o->is_home ? part->node != NULL : part->gist != NULL);
    }
}

void pl_anthropic_drop(struct pl_anthropic_out *o, const struct pl_part *part)
{
    static const char *const reasons[PL_PART_KIND_COUNT] = {
        [PL_PART_TEXT] = "Anthropic refuses a text of only white space; it is left out",
        [PL_PART_AUDIO] = "Anthropic accepts no audio",
        [PL_PART_VIDEO] = "Anthropic accepts no video; send frames as images",
        [PL_PART_IMAGE] = "Anthropic accepts images (PNG, JPEG, GIF, WebP) only from the user, as "
                          "data, by URL, or as a file of its own",
        [PL_PART_FILE] = "Anthropic accepts PDF and text as documents, as data, by URL, or as a "
                         "file of its own",
    };
    const struct pl_json_node *node = part->node ? part->node : part->text.node;
    bool is_only_proof = part->home && !pl_val_is_set(part->text);
    if (node && reasons[part->kind] && !is_only_proof)
        pl_conv_loss(o->conv, PL_LOSS_DROPPED, node, "%s", reasons[part->kind]);
}

/* Two dialects: cache_control with a lifetime of 5m or 1h, and a breakpoint with one of 30m or 12h.
 * They share no lifetime, so the vendor's default is used. */
void pl_anthropic_put_mark(struct pl_anthropic_out *o, struct pl_val cache)
{
    static const char *const lives[] = {"5m", "1h", NULL};
    if (cache.kind != PL_VAL_NODE || pl_json_kind(cache.node) != PL_JSON_OBJECT)
        return;
    const struct pl_json_node *life = pl_conv_node(o->conv, cache.node, "ttl");
    pl_w_key(o->w, "cache_control");
    if (pl_conv_says(o->conv, pl_conv_node(o->conv, cache.node, "type"), "ephemeral") &&
        (!life || pl_conv_word(o->conv, life, lives) >= 0)) {
        pl_w_value(o->w, cache);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "ephemeral");
    pl_w_close(o->w, '}');
    pl_content_know_mark(o->conv, cache.node);
    if (life)
        pl_conv_loss(o->conv, PL_LOSS_DROPPED, life,
                     "Anthropic caches for 5m or 1h; the marker has the default lifetime");
}

static void put_text(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_open_with(o->w, "\"type\":\"text\",\"text\":");
    pl_w_string(o->w, part->text);
    if (o->is_home || part->citations.kind == PL_VAL_JSON)
        pl_w_opt_value(o->w, "citations", part->citations);
    pl_anthropic_put_mark(o, part->cache);
    pl_w_close(o->w, '}');
    if (part->kind == PL_PART_REFUSAL && !o->is_response)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, part->text,
                  "Anthropic has no refusal block in a request; it is written as text");
}

static void put_thinking(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_open_with(o->w, "\"type\":\"thinking\",\"thinking\":");
    pl_w_string(o->w, pl_val_is_set(part->text) ? part->text : pl_val_text(PL_STR("")));
    pl_w_key(o->w, "signature");
    if (is_ours(o, part) && is_string(part->signature)) {
        pl_w_string(o->w, part->signature);
    } else {
        pl_w_word(o->w, "");
        pl_conv_loss(
            o->conv, PL_LOSS_SYNTHESISED, part->text.node,
            "Anthropic requires a signature on thinking; this has none and cannot be sent back");
    }
    pl_w_close(o->w, '}');
}

static void put_redacted(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "redacted_thinking");
    pl_w_key(o->w, "data");
    pl_w_string(o->w, part->data);
    pl_w_close(o->w, '}');
}

static void put_media_type(struct pl_anthropic_out *o, const struct source *s)
{
    pl_w_key(o->w, "media_type");
    if (pl_str_eq(pl_conv_text(o->conv, s->mime), pl_str_of(s->type))) {
        pl_w_string(o->w, s->mime);
        return;
    }
    pl_w_word(o->w, s->type);
    if (s->mime.node)
        pl_conv_loss(o->conv, PL_LOSS_APPROXIMATED, s->mime.node, "the media type is written as %s",
                     s->type);
}

/* Writes a document with text bytes as text. */
static void put_decoded(struct pl_anthropic_out *o, const struct source *s)
{
    struct pl_str text = {0};
    put_media_type(o, s);
    pl_w_key(o->w, "data");
    if (decode(o->conv, s->data, &text))
        pl_w_string(o->w, pl_val_text(text));
    if (s->data.node)
        pl_conv_loss(o->conv, PL_LOSS_APPROXIMATED, s->data.node,
                     "Anthropic accepts a text document as text; the base64 is decoded");
}

static void put_source(struct pl_anthropic_out *o, const struct pl_part *part,
                       const struct source *s)
{
    static const char *const words[] = {
        [HOW_NOT] = "",      [HOW_BASE64] = "base64", [HOW_URL] = "url",
        [HOW_FILE] = "file", [HOW_TEXT] = "text",     [HOW_DECODED] = "text"};
    pl_w_key(o->w, "source");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", words[s->how]);
    switch (s->how) {
    case HOW_BASE64:
        put_media_type(o, s);
        pl_w_key(o->w, "data");
        pl_w_string(o->w, s->data);
        break;
    case HOW_URL:
        pl_w_key(o->w, "url");
        pl_w_string(o->w, part->url);
        break;
    case HOW_FILE:
        pl_w_key(o->w, "file_id");
        pl_w_string(o->w, part->file_id);
        break;
    case HOW_TEXT:
        put_media_type(o, &(struct source){.mime = s->mime, .type = "text/plain"});
        pl_w_key(o->w, "data");
        pl_w_string(o->w, part->text);
        break;
    default:
        put_decoded(o, s);
    }
    pl_w_close(o->w, '}');
}

static void put_media(struct pl_anthropic_out *o, const struct pl_part *part)
{
    struct source s = find_source(o, part);
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", s.is_image ? "image" : "document");
    put_source(o, part, &s);
    if (!s.is_image) {
        if (is_string(part->name))
            pl_w_opt_string(o->w, "title", part->name);
        if (is_string(part->context))
            pl_w_opt_string(o->w, "context", part->context);
        if (o->is_home)
            pl_w_opt_value(o->w, "citations", part->citations);
    }
    pl_anthropic_put_mark(o, part->cache);
    pl_w_close(o->w, '}');
    /* The vendor's default need not be written. */
    if (pl_str_eq(pl_conv_text(o->conv, part->detail), PL_STR("auto")))
        pl_w_mapped(o->w, part->detail);
}

static void put_id(struct pl_anthropic_out *o, struct pl_val id)
{
    struct pl_str given = pl_conv_text(o->conv, id);
    if (pl_tool_name_is_accepted(given, PL_ANTHROPIC_MAX_ID)) {
        pl_w_string(o->w, id);
        return;
    }
    struct pl_str made = pl_tool_name_of(o->conv, given, PL_ANTHROPIC_MAX_ID);
    pl_w_string(o->w, pl_val_text(made));
    if (id.node)
        pl_conv_loss(o->conv, PL_LOSS_APPROXIMATED, id.node,
                     "Anthropic accepts only letters, digits, _ and - in an id; it is %.*s here, "
                     "on the call and on its result",
                     PL_STR_ARG(made));
}

static void put_input(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_key(o->w, "input");
    if (!part->is_custom && pl_w_holds_object(o->w, part->args)) {
        pl_w_json(o->w, part->args);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key(o->w, part->is_custom ? "input" : "_raw");
    pl_w_string(o->w, pl_val_is_set(part->args) ? part->args : pl_val_text(PL_STR("")));
    pl_w_close(o->w, '}');
    pl_w_loss(
        o->w, PL_LOSS_APPROXIMATED, part->args,
        part->is_custom
            ? "Anthropic's tools take an object; the free text is its member \"input\""
            : "the arguments are not a JSON object, which Anthropic requires; they are unchanged "
              "in the member \"_raw\"");
}

static void put_call(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_open_with(o->w, "\"type\":\"tool_use\",\"id\":");
    put_id(o, part->id);
    pl_w_key(o->w, "name");
    pl_tool_name_write(o->w, part->name, PL_ANTHROPIC_MAX_NAME);
    put_input(o, part);
    pl_anthropic_put_mark(o, part->cache);
    pl_w_close(o->w, '}');
}

/* Adds the calls before a part to the map of ids. */
static void learn_calls(struct pl_anthropic_out *o, const struct pl_part *until)
{
    const struct pl_part *parts = o->conv->parts.ptr;
    for (; &parts[o->n_learned] < until; o->n_learned++) {
        bool is_new = false;
        if (parts[o->n_learned].kind != PL_PART_CALL)
            continue;
        struct pl_map_entry *entry =
            pl_map_put(&o->calls, pl_conv_text(o->conv, parts[o->n_learned].id), &is_new);
        if (!entry) {
            o->conv->status = PL_NOMEM;
            return;
        }
        entry->value = o->n_learned + 1;
    }
}

/* A result need not name its tool if its call does. */
static void imply_name(struct pl_anthropic_out *o, const struct pl_part *result)
{
    if (!pl_val_is_set(result->name))
        return;
    learn_calls(o, result);
    const struct pl_map_entry *entry = pl_map_get(&o->calls, pl_conv_text(o->conv, result->id));
    if (entry && pl_str_eq(pl_conv_text(o->conv, result->name),
                           pl_conv_text(o->conv, o->conv->parts.ptr[entry->value - 1].name)))
        pl_w_mapped(o->w, result->name);
}

static void put_result_content(struct pl_anthropic_out *o, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(o->conv, result);
    uint32_t n = result->n_children, n_said = 0;
    const struct pl_part *only = n == 1 && children->kind == PL_PART_TEXT ? children : NULL;
    if (only && !pl_val_is_set(only->cache) &&
        (!only->node || pl_anthropic_is_blank(o->conv, only->text))) {
        pl_w_key(o->w, "content");
        pl_w_string(o->w, only->text);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!pl_anthropic_can_say(o, PL_ROLE_TOOL, &children[i])) {
            pl_anthropic_drop(o, &children[i]);
            continue;
        }
        if (n_said++ == 0) {
            pl_w_key(o->w, "content");
            pl_w_open(o->w, '[');
        }
        pl_anthropic_put_block(o, &children[i]);
    }
    if (n_said)
        pl_w_close(o->w, ']');
}

static void put_result(struct pl_anthropic_out *o, const struct pl_part *part)
{
    pl_w_open_with(o->w, "\"type\":\"tool_result\",\"tool_use_id\":");
    put_id(o, part->id);
    put_result_content(o, part);
    if (part->is_error.is_set && (part->is_error.value || o->is_home)) {
        pl_w_key(o->w, "is_error");
        pl_w_bool(o->w, part->is_error.value);
    }
    if (part->is_error.is_set)
        pl_w_mapped(o->w, part->is_error.val);
    pl_anthropic_put_mark(o, part->cache);
    pl_w_close(o->w, '}');
    imply_name(o, part);
}

static void put_other(struct pl_anthropic_out *o, const struct pl_part *part)
{
    if (part->gist)
        pl_anthropic_put_gist(o, part->gist);
    else
        pl_w_value(o->w, pl_val_node(part->node));
}

void pl_anthropic_put_block(struct pl_anthropic_out *o, const struct pl_part *part)
{
    static void (*const put[PL_PART_KIND_COUNT])(struct pl_anthropic_out *,
                                                 const struct pl_part *) = {
        [PL_PART_TEXT] = put_text,         [PL_PART_REFUSAL] = put_text,
        [PL_PART_THINKING] = put_thinking, [PL_PART_REDACTED] = put_redacted,
        [PL_PART_IMAGE] = put_media,       [PL_PART_FILE] = put_media,
        [PL_PART_CALL] = put_call,         [PL_PART_RESULT] = put_result,
        [PL_PART_OTHER] = put_other,
    };
    put[part->kind](o, part);
}
