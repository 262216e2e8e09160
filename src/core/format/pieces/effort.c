#include "format/pieces/effort.h"

#include <strings.h>

static const struct {
    const char *word;
    int64_t budget;
} efforts[] = {
    [PL_EFFORT_UNSET] = {NULL, 0},           [PL_EFFORT_NONE] = {"none", 0},
    [PL_EFFORT_MINIMAL] = {"minimal", 1024}, [PL_EFFORT_LOW] = {"low", 2048},
    [PL_EFFORT_MEDIUM] = {"medium", 8192},   [PL_EFFORT_HIGH] = {"high", 16384},
    [PL_EFFORT_XHIGH] = {"xhigh", 24576},    [PL_EFFORT_MAX] = {"max", 32768},
};

const char *pl_effort_word(enum pl_effort effort)
{
    return efforts[effort].word;
}

enum pl_effort pl_effort_of_word(struct pl_conv *conv, const struct pl_json_node *node)
{
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_EFFORT_UNSET;
    struct pl_str text = pl_conv_text(conv, pl_val_node(node));
    for (int i = PL_EFFORT_NONE; i <= PL_EFFORT_MAX; i++)
        if (strlen(efforts[i].word) == text.len &&
            strncasecmp(efforts[i].word, text.ptr, text.len) == 0)
            return (enum pl_effort)i;
    return PL_EFFORT_UNSET;
}

int64_t pl_effort_budget(enum pl_effort effort)
{
    return efforts[effort].budget;
}

enum pl_effort pl_effort_of_budget(int64_t n_tokens)
{
    if (n_tokens < 0)
        return PL_EFFORT_UNSET;
    for (int i = PL_EFFORT_NONE; i < PL_EFFORT_MAX; i++)
        if (n_tokens <= efforts[i].budget)
            return (enum pl_effort)i;
    return PL_EFFORT_MAX;
}
