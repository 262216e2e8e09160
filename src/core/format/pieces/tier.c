#include "format/pieces/tier.h"

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
        pl_w_mapped(w, tier);
}
