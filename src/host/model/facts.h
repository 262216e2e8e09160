/* Facts about models of vendors, as dated data (schemas/models.json): prices and output limits. A
 * missing fact is unknown, and is not guessed. */
#ifndef PL_MODEL_FACTS_H
#define PL_MODEL_FACTS_H

#include "model/vendor/vendor.h"

struct pl_model_facts {
    const char *prefix; /* beginning of the models' names */
    const char *vendor; /* whose they are: "anthropic"; NULL: several have them */
    bool is_listed;     /* `prefix` is a whole name */
    bool reasons;       /* its reasoning can be had sealed, to be sent back */
    int64_t max_output; /* tokens of an answer at most; 0: not known */
    int64_t up_to;      /* tokens of input the prices hold for; 0: any number */
    struct pl_model_prices prices;
};

/* Longest beginnings first, ended by a NULL prefix. */
extern const struct pl_model_facts pl_model_facts[];

/* NULL: nothing is known. A path in front of the name ("models/") does not count. */
const struct pl_model_facts *pl_model_facts_find(struct pl_str vendor_model);
/* Whether the models of these facts are those of this vendor: "openai-chat" has the same models as
 * "openai", in another dialect. */
bool pl_model_facts_are_of(const struct pl_model_facts *facts, const char *vendor);

#endif
