/* The content of a message or a tool result: input_text, input_image, input_file and input_audio
 * from all roles but the assistant, whose text is output_text or a refusal. */
#include "format/openai_responses/openai_responses_int.h"

#include "format/pieces/content.h"

static bool has_file_id(const struct pl_responses_out *o, const struct pl_part *part)
{
    return pl_val_is_set(part->file_id) && (o->is_openai || !o->conversion->from->is_vendor);
}

static bool is_sayable_in(const struct pl_responses_out *o, const struct pl_part *part)
{
    bool has_source = pl_val_is_set(part->data) || pl_val_is_set(part->url) || has_file_id(o, part);
    switch (part->kind) {
    case PL_PART_TEXT:
        return true;
    case PL_PART_IMAGE:
        return has_source;
    case PL_PART_FILE:
        return has_source || pl_val_is_set(part->text);
    case PL_PART_AUDIO:
        return pl_val_is_set(part->data);
    case PL_PART_OTHER:
        return o->is_own;
    default:
        return false;
    }
}

bool pl_responses_is_sayable(const struct pl_responses_out *o, const struct pl_part *part,
                             enum pl_role role)
{
    if (role == PL_ROLE_TOOL && part->kind == PL_PART_AUDIO)
        return false;
    if (role != PL_ROLE_ASSISTANT)
        return is_sayable_in(o, part);
    if (part->kind == PL_PART_TEXT && part->home) /* there may be only the proof */
        return pl_val_is_set(part->text);
    return part->kind == PL_PART_TEXT || part->kind == PL_PART_REFUSAL ||
           (part->kind == PL_PART_OTHER && o->is_own);
}

/* A marker limits the cached part of the prompt. Its lifetimes have no equivalent here. */
static void put_cache(struct pl_responses_out *o, struct pl_val cache)
{
    if (!pl_val_is_set(cache))
        return;
    pl_w_key(o->w, "prompt_cache_breakpoint");
    if (pl_conv_node(o->conv, cache.node, "mode")) {
        pl_w_value(o->w, cache);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "mode", "explicit");
    pl_w_close(o->w, '}');
    pl_w_mapped(o->w, pl_conv_get(o->conv, cache.node, "type", PL_WANT_STRING));
}

static void put_input_text(struct pl_responses_out *o, const struct pl_part *part,
                           struct pl_val cache)
{
    static const char *const known[] = {"type", "text", "prompt_cache_breakpoint", NULL};
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "input_text");
    pl_w_key(o->w, "text");
    pl_w_string(o->w, part->text);
    put_cache(o, cache);
    pl_responses_put_extras(o, part->node, known);
    pl_w_close(o->w, '}');
}

/* Required here; other formats have it as their default. */
static void put_auto_detail(struct pl_responses_out *o, const struct pl_part *part)
{
    pl_w_key_word(o->w, "detail", "auto");
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, part->node ? part->node : o->conv->doc->root,
                 "an image needs a detail here; it is auto");
}

static void put_image(struct pl_responses_out *o, const struct pl_part *part, struct pl_val cache)
{
    static const char *const known[] = {
        "type", "image_url", "file_id", "detail", "prompt_cache_breakpoint", NULL};
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "input_image");
    if (pl_val_is_set(part->data)) {
        pl_w_key(o->w, "image_url");
        pl_w_data_url(o->w, pl_content_mime(o->conv, part), part->data);
    } else {
        pl_w_opt_string(o->w, "image_url", part->url);
    }
    if (has_file_id(o, part))
        pl_w_opt_string(o->w, "file_id", part->file_id);
    if (pl_val_is_set(part->detail))
        pl_w_opt_string(o->w, "detail", part->detail);
    else
        put_auto_detail(o, part);
    put_cache(o, cache);
    pl_responses_put_extras(o, part->node, known);
    pl_w_close(o->w, '}');
}

static void put_file(struct pl_responses_out *o, const struct pl_part *part, struct pl_val cache)
{
    static const char *const known[] = {
        "type", "file_data", "file_id", "file_url", "filename", "prompt_cache_breakpoint", NULL};
    bool has_source = pl_val_is_set(part->data) || pl_val_is_set(part->url) || has_file_id(o, part);
    if (!has_source) {
        put_input_text(o, part, cache);
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, part->text,
                  "a plain-text document is written as text of the message");
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "input_file");
    pl_w_opt_string(o->w, "filename", part->name);
    if (pl_val_is_set(part->data)) {
        pl_w_key(o->w, "file_data");
        pl_w_data_url(o->w, pl_content_mime(o->conv, part), part->data);
    } else {
        pl_w_opt_string(o->w, "file_url", part->url);
    }
    if (has_file_id(o, part))
        pl_w_opt_string(o->w, "file_id", part->file_id);
    put_cache(o, cache);
    pl_responses_put_extras(o, part->node, known);
    pl_w_close(o->w, '}');
}

/* "audio/mpeg" is "mp3" here. */
static struct pl_str audio_format(struct pl_str mime)
{
    static const struct {
        const char *type, *format;
    } formats[] = {
        {"audio/mpeg", "mp3"}, {"audio/x-wav", "wav"}, {"audio/wave", "wav"}, {"audio/mp4", "m4a"},
        {"", "wav"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (pl_str_eq(mime, pl_str_of(formats[i].type)))
            return pl_str_of(formats[i].format);
    struct pl_str prefix = PL_STR("audio/");
    return pl_str_starts(mime, prefix) ? pl_str_slice(mime, prefix.len, mime.len) : mime;
}

static void put_audio(struct pl_responses_out *o, const struct pl_part *part, struct pl_val cache)
{
    static const char *const known[] = {"type", "input_audio", "prompt_cache_breakpoint", NULL};
    struct pl_val mime = pl_content_mime(o->conv, part);
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "input_audio");
    pl_w_key(o->w, "input_audio");
    pl_w_open(o->w, '{');
    pl_w_opt_string(o->w, "data", part->data);
    pl_w_key(o->w, "format");
    pl_w_string(o->w, pl_val_text(audio_format(pl_conv_text(o->conv, mime))));
    if (mime.kind != PL_VAL_SPAN)
        pl_w_mapped(o->w, mime);
    pl_w_close(o->w, '}');
    put_cache(o, cache);
    pl_responses_put_extras(o, part->node, known);
    pl_w_close(o->w, '}');
}

static void put_input_part(struct pl_responses_out *o, const struct pl_part *part,
                           struct pl_val cache)
{
    if (pl_val_is_set(part->cache))
        cache = part->cache;
    switch (part->kind) {
    case PL_PART_IMAGE:
        put_image(o, part, cache);
        break;
    case PL_PART_FILE:
        put_file(o, part, cache);
        break;
    case PL_PART_AUDIO:
        put_audio(o, part, cache);
        break;
    case PL_PART_OTHER:
        pl_w_value(o->w, pl_val_node(part->node));
        break;
    default:
        put_input_text(o, part, cache);
    }
}

/* ---- text of the assistant ---- */

/* The members of a url_citation, which openai-chat nests. */
static void put_url_citation(struct pl_responses_out *o, const struct pl_json_node *citation)
{
    static const char *const keys[] = {"start_index", "end_index", "url", "title", NULL};
    static const unsigned wants[] = {PL_WANT_INTEGER, PL_WANT_INTEGER, PL_WANT_STRING,
                                     PL_WANT_STRING};
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "url_citation");
    for (int i = 0; keys[i]; i++)
        pl_w_opt_value(o->w, keys[i], pl_conv_get(o->conv, citation, keys[i], wants[i]));
    pl_w_close(o->w, '}');
}

/* A page cited for a whole text, as Anthropic cites web pages. */
static void put_web_citation(struct pl_responses_out *o, const struct pl_json_node *citation,
                             const struct pl_part *part)
{
    int64_t n = (int64_t)pl_cites_count_points(pl_conv_text(o->conv, part->text));
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "url_citation");
    pl_w_key(o->w, "start_index");
    pl_w_int(o->w, 0);
    pl_w_key(o->w, "end_index");
    pl_w_int(o->w, n);
    pl_w_opt_string(o->w, "url", pl_conv_get(o->conv, citation, "url", PL_WANT_STRING));
    pl_w_opt_string(o->w, "title", pl_conv_get(o->conv, citation, "title", PL_WANT_STRING));
    pl_w_mapped(o->w, pl_conv_get(o->conv, citation, "type", PL_WANT_STRING));
    pl_w_close(o->w, '}');
}

static void put_annotations(struct pl_responses_out *o, const struct pl_part *part)
{
    static const char *const own[] = {"url_citation", "file_citation", "container_file_citation",
                                      "file_path", NULL};
    const struct pl_json_node *list = part->citations.node;
    size_t n_pages, n_points = 0;
    const struct pl_cite_anchor *pages = pl_cites_of(o->conv, &o->cites, part, &n_pages);
    pl_w_key(o->w, "annotations");
    if (part->citations.kind == PL_VAL_JSON) {
        pl_w_value(o->w, part->citations);
        return;
    }
    pl_w_open(o->w, '[');
    if (list && pl_json_kind(list) == PL_JSON_ARRAY)
        for (const struct pl_json_node *c = pl_json_first(list); c < pl_json_end(list);
             c = pl_json_next(c)) {
            const struct pl_json_node *nested = pl_conv_node(o->conv, c, "url_citation");
            const struct pl_json_node *type = pl_conv_node(o->conv, c, "type");
            if (nested) {
                put_url_citation(o, nested);
                pl_conv_know(o->conv, type);
            } else if (o->is_own || pl_conv_word(o->conv, type, own) >= 0) {
                pl_w_value(o->w, pl_val_node(c));
            } else if (pl_conv_says(o->conv, type, "web_search_result_location")) {
                put_web_citation(o, c, part);
            }
        }
    if (n_pages)
        n_points = pl_cites_count_points(pl_conv_text(o->conv, part->text));
    for (size_t i = 0; i < n_pages; i++) {
        const struct pl_cite_entry *page = &o->cites.entries.ptr[pages[i].entry];
        if (!page->cited.url)
            continue;
        pl_w_open(o->w, '{');
        pl_w_key_word(o->w, "type", "url_citation");
        pl_cites_write_range(o->w, page, 0, n_points);
        pl_cites_write_page(o->w, page, "url", false);
        pl_w_close(o->w, '}');
    }
    pl_w_close(o->w, ']');
}

/* The log probabilities of an answer belong to its text; a source with them beside the text has
 * them once. */
static void put_logprobs(struct pl_responses_out *o)
{
    struct pl_val all = o->conv->settings.logprobs;
    struct pl_val content = pl_conv_get(o->conv, all.node, "content", PL_WANT_ARRAY);
    pl_w_key(o->w, "logprobs");
    if (pl_val_is_set(content) && pl_json_kind(content.node) == PL_JSON_ARRAY &&
        pl_conv_fate_of(o->conv, content.node) == PL_FATE_NONE) {
        pl_w_value(o->w, content);
        return;
    }
    pl_w_open(o->w, '[');
    pl_w_close(o->w, ']');
}

static void put_output_part(struct pl_responses_out *o, const struct pl_part *part)
{
    static const char *const known_text[] = {"type", "text", "annotations", NULL};
    static const char *const known_refusal[] = {"type", "refusal", NULL};
    if (part->kind == PL_PART_OTHER) {
        pl_w_value(o->w, pl_val_node(part->node));
        return;
    }
    bool is_text = part->kind == PL_PART_TEXT;
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", is_text ? "output_text" : "refusal");
    pl_w_key(o->w, is_text ? "text" : "refusal");
    pl_w_string(o->w, part->text);
    if (is_text)
        put_annotations(o, part);
    if (is_text && o->conversion->kind == PL_KIND_RESPONSE && !o->is_own)
        put_logprobs(o);
    pl_responses_put_extras(o, part->node, is_text ? known_text : known_refusal);
    pl_w_close(o->w, '}');
}

void pl_responses_put_part(struct pl_responses_out *o, const struct pl_part *part,
                           enum pl_role role, struct pl_val cache)
{
    if (role == PL_ROLE_ASSISTANT)
        put_output_part(o, part);
    else
        put_input_part(o, part, cache);
}
