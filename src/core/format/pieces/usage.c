/* Each counter of a format is a sum of the source's counters, with signs. A sum with a missing or
 * invalid term is unknown. */
#include "format/pieces/usage.h"

#include "json/number.h"

/* An absent term counts as 0; one that is not an integer invalidates the sum. */
struct sum {
    int64_t value;
    bool is_spoilt;
    int n_known;
};

static bool number_of(const struct pl_conv *conv, struct pl_val val, int64_t *ret_value)
{
    if (val.kind != PL_VAL_NODE || pl_json_kind(val.node) != PL_JSON_NUMBER)
        return false;
    return pl_json_number_int64(pl_json_span(conv->doc, val.node), ret_value) && *ret_value >= 0;
}

static void add(struct sum *sum, const struct pl_conv *conv, struct pl_val val, int sign)
{
    int64_t value = 0;
    if (!pl_val_is_set(val))
        return;
    if (!number_of(conv, val, &value) ||
        __builtin_add_overflow(sum->value, sign * value, &sum->value))
        sum->is_spoilt = true;
    else
        sum->n_known++;
}

static struct sum sum_of_input(const struct pl_conv *conv, bool has_cache, bool has_tools)
{
    const struct pl_usage *u = &conv->answer.usage;
    struct sum sum = {0};
    add(&sum, conv, u->input, 1);
    if (!sum.n_known)
        sum.is_spoilt = true;
    if (has_cache && u->input_excludes_cache) {
        add(&sum, conv, u->cache_read, 1);
        add(&sum, conv, u->cache_write, 1);
    } else if (!has_cache && !u->input_excludes_cache) {
        add(&sum, conv, u->cache_read, -1);
        add(&sum, conv, u->cache_write, -1);
    }
    if (has_tools)
        add(&sum, conv, u->tool_input, 1);
    return sum;
}

/* Gemini omits the candidates if there was only thinking. */
static struct sum sum_of_output(const struct pl_conv *conv, bool has_thought)
{
    const struct pl_usage *u = &conv->answer.usage;
    struct sum sum = {0};
    add(&sum, conv, u->output, 1);
    if (has_thought && u->output_excludes_thought)
        add(&sum, conv, u->reasoning, 1);
    if (!sum.n_known)
        sum.is_spoilt = true;
    if (!has_thought && !u->output_excludes_thought)
        add(&sum, conv, u->reasoning, -1);
    return sum;
}

static struct sum sum_of_one(const struct pl_conv *conv, struct pl_val val)
{
    struct sum sum = {0};
    add(&sum, conv, val, 1);
    sum.is_spoilt |= !sum.n_known;
    return sum;
}

static struct sum sum_of_both(const struct pl_conv *conv)
{
    struct sum in = sum_of_input(conv, true, true), out = sum_of_output(conv, true);
    struct sum sum = {.is_spoilt = in.is_spoilt || out.is_spoilt};
    int64_t known_in = in.is_spoilt ? 0 : in.value, known_out = out.is_spoilt ? 0 : out.value;
    if (__builtin_add_overflow(known_in, known_out, &sum.value))
        sum = (struct sum){.is_spoilt = true};
    return sum;
}

static struct sum sum_of(const struct pl_conv *conv, enum pl_counter counter)
{
    const struct pl_usage *u = &conv->answer.usage;
    switch (counter) {
    case PL_COUNT_INPUT:
        return sum_of_input(conv, true, true);
    case PL_COUNT_INPUT_BARE:
        return sum_of_input(conv, false, true);
    case PL_COUNT_PROMPT:
        return sum_of_input(conv, true, false);
    case PL_COUNT_TOOL_INPUT:
        return sum_of_one(conv, u->tool_input);
    case PL_COUNT_CACHE_READ:
        return sum_of_one(conv, u->cache_read);
    case PL_COUNT_CACHE_WRITE:
        return sum_of_one(conv, u->cache_write);
    case PL_COUNT_OUTPUT:
        return sum_of_output(conv, true);
    case PL_COUNT_OUTPUT_BARE:
        return sum_of_output(conv, false);
    case PL_COUNT_REASONING:
        return sum_of_one(conv, u->reasoning);
    default: {
        struct sum own = sum_of_one(conv, u->total);
        return own.is_spoilt ? sum_of_both(conv) : own;
    }
    }
}

/* The source's number for a counter; the other terms of a sum have their own counters. */
static struct pl_val main_term(const struct pl_usage *u, enum pl_counter counter)
{
    const struct pl_val terms[PL_COUNTER_COUNT] = {
        [PL_COUNT_INPUT] = u->input,           [PL_COUNT_INPUT_BARE] = u->input,
        [PL_COUNT_PROMPT] = u->input,          [PL_COUNT_TOOL_INPUT] = u->tool_input,
        [PL_COUNT_CACHE_READ] = u->cache_read, [PL_COUNT_CACHE_WRITE] = u->cache_write,
        [PL_COUNT_OUTPUT] = u->output,         [PL_COUNT_OUTPUT_BARE] = u->output,
        [PL_COUNT_REASONING] = u->reasoning,   [PL_COUNT_TOTAL] = u->total,
    };
    return terms[counter];
}

bool pl_usage_get(const struct pl_conv *conv, enum pl_counter counter, int64_t *ret_value)
{
    struct sum sum = sum_of(conv, counter);
    if (sum.is_spoilt || sum.value < 0)
        return false;
    *ret_value = sum.value;
    return true;
}

static void write_sum(struct pl_writer *w, enum pl_counter counter, int64_t value)
{
    const struct pl_usage *u = &w->conv->answer.usage;
    struct pl_val term = main_term(u, counter);
    int64_t spelled = 0;
    if (number_of(w->conv, term, &spelled) && spelled == value) {
        pl_w_value(w, term);
        return;
    }
    pl_w_int(w, value);
    pl_w_mapped(w, term);
    /* No other vendor has a counter for these: they are part of the sum. */
    if (counter == PL_COUNT_INPUT || counter == PL_COUNT_INPUT_BARE)
        pl_w_mapped(w, u->tool_input);
}

void pl_usage_write(struct pl_writer *w, const char *key, enum pl_counter counter, bool is_required)
{
    struct pl_conv *conv = w->conv;
    int64_t value = 0;
    if (pl_usage_get(conv, counter, &value)) {
        pl_w_key(w, key);
        write_sum(w, counter, value);
        return;
    }
    if (!is_required)
        return;
    if (counter == PL_COUNT_TOTAL)
        value = sum_of_both(conv).value;
    pl_w_key(w, key);
    pl_w_int(w, value);
    const struct pl_json_node *near = conv->answer.usage.node;
    pl_conv_loss(conv, PL_LOSS_SYNTHESISED, near ? near : conv->doc->root,
                 "the source gives no number, but %s is required; it is %lld", key,
                 (long long)value);
}

void pl_usage_imply_total(struct pl_writer *w)
{
    struct sum both = sum_of_both(w->conv);
    int64_t total = 0;
    if (!both.is_spoilt && number_of(w->conv, w->conv->answer.usage.total, &total) &&
        total == both.value)
        pl_w_mapped(w, w->conv->answer.usage.total);
}

/* ---- the service tier ---- */

/* OpenAI's default is what the others call standard. */
static const struct {
    const char *tier;
    const char *words[4]; /* by enum pl_tier_api */
} tiers[] = {
    {"default", {"default", "default", "standard", "standard"}},
    {"standard", {"default", "default", "standard", "standard"}},
    {"priority", {"priority", "priority", "priority", "priority"}},
    {"auto", {"auto", "auto", NULL, NULL}},
    {"flex", {"flex", "flex", NULL, "flex"}},
    {"scale", {"scale", "scale", NULL, NULL}},
    {"fast", {"fast", "fast", NULL, NULL}},
    {"ultrafast", {NULL, "ultrafast", NULL, NULL}},
    {"standard_only", {"default", NULL, NULL, NULL}},
    {"batch", {NULL, NULL, "batch", NULL}},
};

const char *pl_tier_word(enum pl_tier_api api, struct pl_str tier)
{
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
        if (pl_str_eq(tier, pl_str_of(tiers[i].tier)))
            return tiers[i].words[api];
    return NULL;
}

void pl_tier_write(struct pl_writer *w, enum pl_tier_api api, const char *key, struct pl_val tier)
{
    const char *word = pl_tier_word(api, pl_conv_text(w->conv, tier));
    if (!word)
        return;
    if (pl_conv_says(w->conv, tier.node, word)) {
        pl_w_opt_string(w, key, tier);
        return;
    }
    pl_w_key_word(w, key, word);
    if (pl_conv_says(w->conv, tier.node, "standard_only"))
        pl_w_loss(w, PL_LOSS_APPROXIMATED, tier, "the nearest tier here is default");
    else
        pl_w_loss(w, PL_LOSS_MOVED, tier, "the same tier has another name here");
}
