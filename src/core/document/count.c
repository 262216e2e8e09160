/* Tokens of a document: all of it, and each of its messages. */
#include "document/count.h"

#include "json/write.h"

/* The model family of a format, for documents that name no model: some vendors put the model into
 * the URL of the request. */
static const struct {
    const char *format, *model;
} families[] = {
    {"anthropic", "claude"},
    {"gemini", "gemini"},
    {"gpt-oss", "gpt-oss"},
};

struct pl_model_counting pl_count_choose(struct pl_conv *conv, const struct pl_format *format,
                                         const struct pl_count_choice *choice)
{
    if (choice->has_encoding)
        return (struct pl_model_counting){.encoding = choice->encoding, .percent = 100};
    struct pl_str model = choice->model;
    if (!model.len)
        model = pl_conv_text(conv, conv->settings.model);
    for (size_t i = 0; i < sizeof families / sizeof *families && !model.len; i++)
        if (strcmp(families[i].format, format->name) == 0)
            model = pl_str_of(families[i].model);
    return pl_model_counting_find(model);
}

static enum pl_status count(struct pl_source *source, const struct pl_count_choice *choice,
                            struct pl_counted *ret)
{
    struct pl_tokens *tokens = NULL;
    struct pl_tally tally = {0};
    struct pl_count_rule rule = {.counting =
                                     pl_count_choose(&source->conv, source->format, choice)};
    enum pl_status status = pl_tokens_create(rule.counting.encoding, &tokens);
    rule.tokens = tokens;
    if (status == PL_OK)
        status = pl_count_conv(&rule, &source->conv, &tally);
    pl_tokens_destroy(tokens);
    if (status != PL_OK)
        return status;
    *ret = (struct pl_counted){.as = source->format,
                               .counting = rule.counting,
                               .n_tokens = pl_tally_total(&rule, &tally),
                               .is_estimated = pl_tally_is_estimated(&rule, &tally)};
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        ret->by[i] = pl_tally_of(&rule, &tally, (enum pl_tally_kind)i);
    return PL_OK;
}

enum pl_status pl_count_document(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice,
                                 struct pl_counted *ret_counted, struct pl_error *err)
{
    PL_CLEANUP_SOURCE struct pl_source source;
    enum pl_status status = pl_source_open(&source, text, as, choice->max_items, err);
    return status == PL_OK ? count(&source, choice, ret_counted) : status;
}

void pl_counted_write(struct pl_buf *to, const struct pl_counted *counted)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "tokens");
    pl_json_out_int(&out, (int64_t)counted->n_tokens);
    pl_json_out_key(&out, "estimated");
    pl_json_out_bool(&out, counted->is_estimated);
    pl_json_out_key(&out, "by");
    pl_json_out_open(&out, '{');
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++) {
        pl_json_out_key(&out, pl_tally_name((enum pl_tally_kind)i));
        pl_json_out_int(&out, (int64_t)counted->by[i]);
    }
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
}

static const char *role_word(enum pl_role role)
{
    static const char *const words[] = {[PL_ROLE_SYSTEM] = "system",
                                        [PL_ROLE_DEVELOPER] = "developer",
                                        [PL_ROLE_USER] = "user",
                                        [PL_ROLE_ASSISTANT] = "assistant",
                                        [PL_ROLE_TOOL] = "tool"};
    return words[role];
}

/* Writes an element of the list, which may be several messages. */
static enum pl_status write_element(const struct pl_count_rule *rule, struct pl_conv *conv,
                                    size_t *i, struct pl_json_out *out)
{
    const struct pl_message *first = &conv->messages.ptr[*i];
    struct pl_tally whole = {0};
    enum pl_status status = PL_OK;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "index");
    pl_json_out_int(out, (int64_t)first->element);
    pl_json_out_key(out, "role");
    pl_json_out_text(out, pl_str_of(role_word(first->role)));
    pl_json_out_key(out, "parts");
    pl_json_out_open(out, '[');
    while (*i < conv->messages.len && status == PL_OK &&
           conv->messages.ptr[*i].element == first->element) {
        const struct pl_message *m = &conv->messages.ptr[*i];
        status = pl_count_message(rule, conv, m, &whole);
        for (uint32_t k = 0; k < m->n_parts && status == PL_OK; k++) {
            struct pl_tally tally = {0};
            status = pl_count_part(rule, conv, m->role, &pl_conv_parts(conv, m)[k], &tally);
            pl_json_out_int(out, (int64_t)pl_tally_total(rule, &tally));
        }
        ++*i;
    }
    pl_json_out_close(out, ']');
    pl_json_out_key(out, "tokens");
    pl_json_out_int(out, (int64_t)pl_tally_total(rule, &whole));
    pl_json_out_close(out, '}');
    return status;
}

enum pl_status pl_count_messages(struct pl_str text, const struct pl_format *as,
                                 const struct pl_count_choice *choice, struct pl_buf *to,
                                 struct pl_error *err)
{
    PL_CLEANUP_SOURCE struct pl_source source;
    struct pl_tokens *tokens = NULL;
    struct pl_json_out out = pl_json_out(to);
    enum pl_status status = pl_source_open(&source, text, as, choice->max_items, err);
    if (status != PL_OK)
        return status;
    struct pl_count_rule rule = {.counting = pl_count_choose(&source.conv, source.format, choice)};
    status = pl_tokens_create(rule.counting.encoding, &tokens);
    rule.tokens = tokens;
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < source.conv.messages.len && status == PL_OK;)
        if (source.conv.messages.ptr[i].element == PL_NO_ELEMENT)
            i++;
        else
            status = write_element(&rule, &source.conv, &i, &out);
    pl_json_out_close(&out, ']');
    pl_tokens_destroy(tokens);
    return status == PL_OK ? to->status : status;
}
