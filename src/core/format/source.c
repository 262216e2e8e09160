/* Opens a document: unwraps gpt-oss text, parses JSON (leniently if necessary), detects the format,
 * and reads it. */
#include "format/source.h"

#include "format/gpt_oss/gpt_oss.h"
#include "json/parse/lenient.h"

#include <stdio.h>

enum pl_status pl_source_unwrap(struct pl_str *text, const struct pl_format **format,
                                struct pl_buf *inner, struct pl_error *err)
{
    if (*format != &pl_format_gpt_oss && (*format || !pl_gpt_oss_is_text(*text)))
        return PL_OK;
    *format = &pl_format_gpt_oss;
    enum pl_status status = pl_gpt_oss_parse(*text, inner, err);
    *text = pl_buf_str(inner);
    return status;
}

enum pl_status pl_source_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err)
{
    enum pl_status status = pl_json_parse(arena, text, &pl_json_any, ret_doc, err);
    struct pl_json_notes notes;
    struct pl_error ignored;
    if (status == PL_SYNTAX &&
        pl_json_parse_lenient(arena, text, &pl_json_any, ret_doc, &notes, &ignored) == PL_OK)
        status = PL_OK;
    return status;
}

enum pl_status pl_source_parse_strict(struct pl_arena *arena, struct pl_str text,
                                      struct pl_json_doc *ret_doc, struct pl_error *err)
{
    /* Half of a surrogate pair is valid grammar, and the result keeps its spelling. */
    const struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_json_doc lenient;
    struct pl_error ignored;
    enum pl_status status = pl_json_parse(arena, text, &opts, ret_doc, err);
    if (status != PL_SYNTAX || !err || pl_source_parse(arena, text, &lenient, &ignored) != PL_OK)
        return status;
    char said[sizeof err->message];
    memcpy(said, err->message, sizeof said);
    snprintf(
        err->message, sizeof err->message,
        "%.380s; strict accepts only RFC 8259 JSON without duplicate keys: correct the text, or do "
        "not use strict",
        said);
    return status;
}

enum pl_status pl_source_detect(const struct pl_json_doc *doc, const char *option,
                                const struct pl_format **format, struct pl_error *err)
{
    if (!*format)
        *format = pl_format_detect(doc);
    if (*format)
        return PL_OK;
    return pl_fail(err, PL_INVALID,
                   "this is not a conversation in a known format; name the format "
                   "with %s",
                   option);
}

static enum pl_status open_as(struct pl_source *source, struct pl_str text,
                              const struct pl_format *as, size_t max_items, bool is_own,
                              struct pl_error *err)
{
    *source = (struct pl_source){.text = text, .format = as};
    pl_arena_init(&source->arena, 0);
    pl_buf_init(&source->inner, 0);
    enum pl_status status = pl_source_unwrap(&source->text, &source->format, &source->inner, err);
    if (status == PL_OK && is_own)
        status = pl_json_parse(&source->arena, source->text, &pl_json_own, &source->doc, err);
    else if (status == PL_OK)
        status = pl_source_parse(&source->arena, source->text, &source->doc, err);
    if (status == PL_OK)
        status = pl_source_detect(&source->doc, "--as", &source->format, err);
    if (status == PL_OK)
        status = pl_conv_init(&source->conv, &source->arena, &source->doc);
    if (status != PL_OK)
        return status;
    pl_conv_limit(&source->conv, max_items);
    status = source->format->read(&source->conv, PL_KIND_REQUEST, err);
    bool is_over = source->conv.status == PL_LIMIT;
    return status == PL_OK || is_over ? pl_conv_check(&source->conv, err) : status;
}

enum pl_status pl_source_open(struct pl_source *source, struct pl_str text,
                              const struct pl_format *as, size_t max_items, struct pl_error *err)
{
    return open_as(source, text, as, max_items, false, err);
}

enum pl_status pl_source_open_own(struct pl_source *source, struct pl_str text,
                                  const struct pl_format *as, struct pl_error *err)
{
    return open_as(source, text, as, 0, true, err);
}

void pl_source_close(struct pl_source *source)
{
    pl_conv_deinit(&source->conv);
    pl_arena_deinit(&source->arena);
    pl_buf_deinit(&source->inner);
}
