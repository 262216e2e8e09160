#include "format/format.h"

#include "format/gpt_oss/gpt_oss.h"

const struct pl_format *const pl_formats[] = {
    &pl_format_harmony,         &pl_format_envelope,
    &pl_format_structured_chat, &pl_format_turns,
    &pl_format_openai_chat,     &pl_format_openai_responses,
    &pl_format_anthropic,       &pl_format_gemini,
    &pl_format_gpt_oss,         NULL,
};

const char *pl_mode_name(enum pl_mode mode)
{
    static const char *const names[PL_MODE_COUNT] = {
        [PL_MODE_CONVERT] = "convert",
        [PL_MODE_REPAIR] = "repair",
        [PL_MODE_GATEWAY] = "gateway",
    };
    return names[mode];
}

const struct pl_format *pl_format_find(struct pl_str name)
{
    for (size_t i = 0; pl_formats[i]; i++)
        if (name.len && name.ptr[0] == pl_formats[i]->name[0] &&
            pl_str_eq(name, pl_str_of(pl_formats[i]->name)))
            return pl_formats[i];
    return NULL;
}

uint8_t pl_format_place(const struct pl_format *format)
{
    uint8_t i = 0;
    while (pl_formats[i] && pl_formats[i] != format)
        i++;
    return pl_formats[i] ? (uint8_t)(i + 1) : 0;
}

const struct pl_json_node *pl_format_list(const struct pl_format *format,
                                          const struct pl_json_doc *doc)
{
    const struct pl_json_node *list = doc->root;
    if (pl_json_kind(list) == PL_JSON_OBJECT)
        list = pl_json_get(doc, list, pl_str_of(format->list_key));
    return list && pl_json_kind(list) == PL_JSON_ARRAY ? list : NULL;
}

const struct pl_format *pl_format_detect(const struct pl_json_doc *doc)
{
    const struct pl_format *best = NULL;
    int best_score = 0;
    for (size_t i = 0; pl_formats[i]; i++) {
        int score = pl_formats[i]->detect(doc);
        if (score > best_score) {
            best = pl_formats[i];
            best_score = score;
        }
    }
    return best;
}
