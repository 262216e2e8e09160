/* Bounds of settings: the smallest limit of tokens, the longest id of a user, the numbers that fit
 * into 32 bits. They are a table by format, from the vendors' documentation and error messages.
 * What depends on the model is in profiles (fit.c). */
#include "format/adapt/limits.h"

#include "base/sha/sha256.h"
#include "base/text/utf8.h"
#include "json/number.h"

struct bounds {
    const struct pl_format *format;
    const char *min_tokens; /* of an answer */
    const char *max_n;      /* number of answers; NULL: any */
    size_t max_user;        /* characters of the id of a user; 0: any */
    bool has_small_seeds;   /* of 32 bits */
};

static const struct bounds table[] = {
    {.format = &pl_format_openai_chat, .min_tokens = "1", .max_n = "128", .max_user = 128},
    {.format = &pl_format_openai_responses, .min_tokens = "16", .max_user = 128},
    {.format = &pl_format_anthropic, .min_tokens = "0"},
    {.format = &pl_format_gemini, .min_tokens = "1", .max_n = "8", .has_small_seeds = true},
};

static const struct bounds *bounds_of(const struct pl_format *format)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].format == format)
            return &table[i];
    return NULL;
}

static bool is_kind(struct pl_val val, enum pl_json_kind kind)
{
    return val.kind == PL_VAL_NODE && val.node && pl_json_kind(val.node) == kind;
}

/* Moves a number beyond the bound, in the direction `side`, to the bound. */
static void bound(struct pl_conv *conv, struct pl_val *val, int side, const char *limit)
{
    if (!limit || !is_kind(*val, PL_JSON_NUMBER) ||
        pl_json_number_cmp(pl_json_span(conv->doc, val->node), pl_str_of(limit)) * side <= 0)
        return;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, val->node, "the target accepts %s %s",
                 side < 0 ? "at least" : "at most", limit);
    *val = pl_val_json(pl_str_of(limit));
    conv->settings.is_changed = true;
}

/* A seed has no order: any number that depends on it alone serves as well. */
static void fold_seed(struct pl_conv *conv)
{
    enum { BITS = 31 };
    struct pl_val *seed = &conv->settings.seed;
    int64_t value = 0;
    if (!is_kind(*seed, PL_JSON_NUMBER))
        return;
    bool is_whole = pl_json_number_int64(pl_json_span(conv->doc, seed->node), &value);
    if (is_whole && value >= INT32_MIN && value <= INT32_MAX)
        return;
    if (!is_whole) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, seed->node, "the target accepts a seed of 32 bits");
        *seed = (struct pl_val){0};
    } else {
        uint64_t folded = ((uint64_t)value ^ (uint64_t)value >> BITS) & INT32_MAX;
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, seed->node,
                     "the target accepts a seed of 32 bits; it is %llu",
                     (unsigned long long)folded);
        *seed = pl_val_json(pl_conv_printf(conv, "%llu", (unsigned long long)folded));
    }
    conv->settings.is_changed = true;
}

/* The hash of an id that is too long still tells users apart. */
static void shorten_user(struct pl_conv *conv, size_t most)
{
    struct pl_val *user = &conv->settings.safety_id;
    char hex[PL_SHA256_HEX + 1];
    if (!most || !is_kind(*user, PL_JSON_STRING))
        return;
    struct pl_str id = pl_conv_text(conv, *user);
    if (id.len <= most || pl_utf8_count(id) <= most)
        return;
    pl_sha256_hex(id, hex);
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, user->node,
                 "the target accepts at most %zu characters; the id is replaced by its SHA-256",
                 most);
    *user = pl_val_text(pl_conv_printf(conv, "%s", hex));
    conv->settings.is_changed = true;
}

/* Only Anthropic has a limit of 0, which fills its cache. Elsewhere it is a member that a client wrote
 * without a value. */
static void drop_zero(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    struct pl_val *limit = &conv->settings.max_tokens;
    if (conversion->from == &pl_format_anthropic || !is_kind(*limit, PL_JSON_NUMBER) ||
        pl_json_number_cmp(pl_json_span(conv->doc, limit->node), PL_STR("0")) != 0)
        return;
    pl_conv_loss(conv, PL_LOSS_DROPPED, limit->node, "a limit of 0 tokens is no limit");
    *limit = (struct pl_val){0};
    conv->settings.is_changed = true;
}

void pl_format_limit(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    struct pl_settings *s = &conv->settings;
    const struct bounds *b = bounds_of(conversion->to);
    /* The writer copies the settings of Gemini's own documents. */
    if (!b || conversion->kind == PL_KIND_RESPONSE ||
        (conversion->from == conversion->to && conversion->to == &pl_format_gemini))
        return;
    drop_zero(conv, conversion);
    bound(conv, &s->max_tokens, -1, b->min_tokens);
    bound(conv, &s->n, 1, b->max_n);
    if (b->has_small_seeds)
        fold_seed(conv);
    shorten_user(conv, b->max_user);
}
