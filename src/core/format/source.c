#include "format/source.h"

#include "format/gpt_oss.h"
#include "json/lenient.h"

static enum pl_status parse(struct pl_source *s, struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    enum pl_status status = pl_json_parse(&s->arena, s->text, &opts, &s->doc, err);
    struct pl_json_notes notes;
    struct pl_error ignored;
    if (status == PL_SYNTAX &&
        pl_json_parse_lenient(&s->arena, s->text, &opts, &s->doc, &notes, &ignored) == PL_OK)
        status = PL_OK;
    return status;
}

static enum pl_status unwrap(struct pl_source *s, struct pl_error *err)
{
    if (s->format != &pl_format_gpt_oss && (s->format || !pl_gpt_oss_is_text(s->text)))
        return PL_OK;
    s->format = &pl_format_gpt_oss;
    enum pl_status status = pl_gpt_oss_parse(s->text, &s->inner, err);
    s->text = pl_buf_str(&s->inner);
    return status;
}

enum pl_status pl_source_open(struct pl_source *source, struct pl_str text,
                              const struct pl_format *as, struct pl_error *err)
{
    *source = (struct pl_source){.text = text, .format = as};
    pl_arena_init(&source->arena, 0);
    pl_buf_init(&source->inner, 0);
    enum pl_status status = unwrap(source, err);
    if (status == PL_OK)
        status = parse(source, err);
    if (status == PL_OK && !source->format) {
        source->format = pl_format_detect(&source->doc);
        if (!source->format)
            status = pl_fail(err, PL_INVALID,
                             "this is no conversation in a format I know; name it with --as");
    }
    if (status == PL_OK)
        status = pl_conv_init(&source->conv, &source->arena, &source->doc);
    if (status == PL_OK)
        status = source->format->read(&source->conv, PL_KIND_REQUEST, err);
    return status == PL_OK ? source->conv.status : status;
}

void pl_source_close(struct pl_source *source)
{
    pl_conv_deinit(&source->conv);
    pl_arena_deinit(&source->arena);
    pl_buf_deinit(&source->inner);
}
