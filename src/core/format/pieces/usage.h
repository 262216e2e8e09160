/* Conversion of token counters.
 *
 * The vendors count the same tokens differently: Anthropic's input leaves out cache reads and
 * writes, Gemini's candidates leave out the thoughts and its prompt leaves out tool prompts,
 * OpenAI's two formats include everything. A pl_usage holds the numbers of the source; these
 * functions compute the counters of the target. Sums are exact integers; a number of the source
 * keeps its spelling. */
#ifndef PL_FORMAT_USAGE_H
#define PL_FORMAT_USAGE_H

#include "format/writer.h"

enum pl_counter {
    PL_COUNT_INPUT,      /* including cache reads and writes, and tool prompts */
    PL_COUNT_INPUT_BARE, /* without the cache: Anthropic's input_tokens */
    PL_COUNT_PROMPT,     /* with the cache, without tool prompts: Gemini's promptTokenCount */
    PL_COUNT_TOOL_INPUT,
    PL_COUNT_CACHE_READ,
    PL_COUNT_CACHE_WRITE,
    PL_COUNT_OUTPUT,      /* with reasoning */
    PL_COUNT_OUTPUT_BARE, /* without reasoning: Gemini's candidatesTokenCount */
    PL_COUNT_REASONING,
    PL_COUNT_TOTAL, /* input and output; the source's own total if it has one */
    PL_COUNTER_COUNT,
};

/* The counter of conv->answer.usage. False if the source does not have it, or has something that is
 * not an integer of 63 bits. */
bool pl_usage_get(const struct pl_conv *conv, enum pl_counter counter, int64_t *ret_value);

/* Writes key and number. A counter that the source lacks is left out. If the target requires the
 * field, it is 0 (for a total: the known sum) and reported as synthesised. */
void pl_usage_write(struct pl_writer *w, const char *key, enum pl_counter counter,
                    bool is_required);

/* For a target without a total: the source's total is no loss if it is the sum of the rest. */
void pl_usage_imply_total(struct pl_writer *w);

/* The service tier of an answer, which some APIs put beside the counters: each has its own names. */
enum pl_tier_api { PL_TIER_CHAT, PL_TIER_RESPONSES, PL_TIER_ANTHROPIC, PL_TIER_GEMINI };

/* The name that an API has for a tier of any API; NULL: it has none. */
const char *pl_tier_word(enum pl_tier_api api, struct pl_str tier);
/* Writes the member `key` with that name, if the API has one. */
void pl_tier_write(struct pl_writer *w, enum pl_tier_api api, const char *key, struct pl_val tier);

#endif
