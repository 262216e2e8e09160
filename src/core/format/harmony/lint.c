/* Lint of features that only harmony has: the types of parts and their index, and the audio of
 * A.1.2 (4). */
#include "format/harmony/harmony_int.h"

#include "base/map.h"
#include "base/text/base64.h"
#include "json/number.h"

static const char *const part_words[] = {"text",        "input_text", "output_text",
                                         "refusal",     "thinking",   "image_url",
                                         "input_audio", "file",       NULL};

/* Edit distance; words are short. */
static unsigned distance(struct pl_str a, struct pl_str b)
{
    enum { MOST = 24 };
    unsigned row[MOST + 1];
    if (a.len > MOST || b.len > MOST)
        return MOST;
    for (size_t k = 0; k <= b.len; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b.len; k++) {
            unsigned kept = corner + (a.ptr[i - 1] != b.ptr[k - 1]);
            corner = row[k];
            unsigned changed = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            row[k] = kept < changed ? kept : changed;
        }
    }
    return row[b.len];
}

/* The word that was probably meant; NULL: none is similar. */
static const char *nearest(struct pl_str word)
{
    const char *best = NULL;
    unsigned least = 4;
    for (size_t i = 0; part_words[i]; i++) {
        unsigned d = distance(word, pl_str_of(part_words[i]));
        if (d < least) {
            least = d;
            best = part_words[i];
        }
    }
    return best;
}

static void lint_type(struct pl_conv *conv, struct pl_findings *findings,
                      const struct pl_json_node *part)
{
    const struct pl_json_node *type = pl_conv_node(conv, part, "type");
    if (!pl_json_is(type, PL_JSON_STRING) || pl_conv_word(conv, type, part_words) >= 0)
        return;
    struct pl_str word = pl_conv_text(conv, pl_val_node(type));
    const char *near = nearest(word);
    pl_conv_report_finding(conv, findings, "part.type", PL_SEVERITY_ERROR, type,
                           "there is no part type \"%.*s\"%s%s%s",
                           (int)(word.len < 80 ? word.len : 80), word.ptr,
                           near ? "; did you mean \"" : ", so no model gets this part",
                           near ? near : "", near ? "\"?" : "");
}

/* A part is addressed by the id of its message and its index. */
static void lint_index(struct pl_conv *conv, struct pl_findings *findings,
                       const struct pl_json_node *part, struct pl_map *seen)
{
    const struct pl_json_node *index = pl_conv_node(conv, part, "index");
    bool is_new = true;
    if (!pl_json_is(index, PL_JSON_NUMBER))
        return;
    if (!pl_map_put(seen, pl_json_span(conv->doc, index), &is_new))
        conv->status = PL_NOMEM;
    else if (!is_new)
        pl_conv_report_finding(conv, findings, "part.index_duplicate", PL_SEVERITY_ERROR, index,
                               "another part of this message also has the index %.*s; count the "
                               "parts from 0",
                               PL_STR_ARG(pl_json_span(conv->doc, index)));
}

static void lint_audio(struct pl_conv *conv, struct pl_findings *findings,
                       const struct pl_json_node *part)
{
    const struct pl_json_node *audio = pl_conv_node(conv, part, "input_audio");
    const struct pl_json_node *format = pl_conv_node(conv, audio, "format");
    const struct pl_json_node *data = pl_conv_node(conv, audio, "data");
    if (pl_json_is(format, PL_JSON_STRING) && !pl_harmony_audio_mime(conv, format)) {
        struct pl_str word = pl_conv_text(conv, pl_val_node(format));
        pl_conv_report_finding(conv, findings, "media.audio_format", PL_SEVERITY_ERROR, format,
                               "\"%.*s\" is no format of sound; use wav, mp3, flac, ogg, opus, "
                               "aac, m4a, webm or pcm16",
                               (int)(word.len < 40 ? word.len : 40), word.ptr);
    }
    if (!pl_json_is(data, PL_JSON_STRING))
        return;
    struct pl_part said = {0};
    pl_conv_take_data(conv, pl_val_node(data), &said);
    struct pl_str text = pl_conv_text(conv, said.data);
    size_t ignored;
    if (pl_val_is_set(said.data) && (!text.len || !pl_base64_size(text, &ignored)))
        pl_conv_report_finding(conv, findings, "media.audio_data", PL_SEVERITY_ERROR, data,
                               "the data of a sound must be base64, and this is not");
}

static void lint_content(struct pl_conv *conv, struct pl_findings *findings,
                         const struct pl_json_node *content)
{
    struct pl_map seen = {0};
    if (pl_json_is(content, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(content);
             n < pl_json_end(content) && conv->status == PL_OK; n = pl_json_next(n)) {
            if (!pl_json_is(n, PL_JSON_OBJECT))
                continue;
            lint_type(conv, findings, n);
            lint_index(conv, findings, n, &seen);
            lint_audio(conv, findings, n);
        }
    pl_map_deinit(&seen);
}

void pl_harmony_lint(struct pl_conv *conv, struct pl_findings *findings)
{
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++)
        lint_content(conv, findings, pl_conv_node(conv, conv->messages.ptr[i].node, "content"));
}
