#include "format/model_name.h"

static const struct {
    const char *prefix;
    const struct pl_format *format;
} providers[] = {
    {"anthropic/", &pl_format_anthropic},
    {"gemini/", &pl_format_gemini},
    {"openai-chat/", &pl_format_openai_chat},
    {"openai/", &pl_format_openai_responses},
};

enum { N_PROVIDERS = sizeof providers / sizeof *providers };

static size_t find(struct pl_str name)
{
    size_t i = 0;
    while (i < N_PROVIDERS && !pl_str_starts(name, pl_str_of(providers[i].prefix)))
        i++;
    return i;
}

struct pl_str pl_model_bare_name(struct pl_str name)
{
    size_t i = find(name);
    size_t n = i < N_PROVIDERS ? strlen(providers[i].prefix) : 0;
    return n < name.len ? pl_str_slice(name, n, name.len) : name;
}

const struct pl_format *pl_model_name_format(struct pl_str name)
{
    size_t i = find(name);
    return i < N_PROVIDERS ? providers[i].format : NULL;
}
