/* Facts about vendors' models, as dated data (schemas/models.json): prices and output limits. A
 * missing fact is unknown and is not guessed. */
#ifndef PL_MODEL_FACTS_H
#define PL_MODEL_FACTS_H

#include "model/vendor/vendor.h"

struct pl_model_facts {
    const char *prefix; /* prefix of the model names */
    const char *vendor; /* owner of the models: "anthropic"; NULL if several vendors have them */
    bool is_listed;     /* `prefix` is a whole name */
    bool reasons;       /* it can return encrypted reasoning, to be sent back later */
    int64_t max_output; /* most tokens of an answer; 0 if unknown */
    int64_t up_to;      /* the prices apply up to this many input tokens; 0 for any number */
    struct pl_model_prices prices;
};

/* Longest prefixes first, ended by a NULL prefix. */
extern const struct pl_model_facts pl_model_facts[];

/* Returns NULL if nothing is known. A path before the name ("models/") is ignored. */
const struct pl_model_facts *pl_model_facts_find(struct pl_str vendor_model);
/* True if these facts are about models of this vendor. "openai-chat" has the same models as
 * "openai", in another dialect. */
bool pl_model_facts_are_of(const struct pl_model_facts *facts, const char *vendor);

#endif
