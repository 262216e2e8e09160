/* Prices and limits of models: from the configuration first, then from the dated table. */
#include "model/facts.h"

#define PER_TOKENS 1000000

const struct pl_model_facts *pl_model_facts_find(struct pl_str vendor_model)
{
    size_t start = vendor_model.len;
    while (start > 0 && vendor_model.ptr[start - 1] != '/')
        start--;
    struct pl_str name = pl_str_slice(vendor_model, start, vendor_model.len);
    char first = name.len ? name.ptr[0] : 0;
    for (const struct pl_model_facts *facts = pl_model_facts; facts->prefix; facts++)
        if (facts->prefix[0] == first && pl_str_begins(name, facts->prefix))
            return facts;
    return NULL;
}

struct pl_model_prices pl_model_prices(struct pl_str vendor_model)
{
    const struct pl_model_facts *facts = pl_model_facts_find(vendor_model);
    return facts ? facts->prices : (struct pl_model_prices){-1, -1, -1, -1, NULL};
}

bool pl_model_facts_are_of(const struct pl_model_facts *facts, const char *vendor)
{
    const char *whose = strcmp(vendor, "openai-chat") == 0 ? "openai" : vendor;
    return facts->vendor && strcmp(facts->vendor, whose) == 0;
}

static bool has_facts(const struct pl_model_target *target)
{
    const struct pl_model_facts *facts = target->vendor ? pl_model_facts_find(target->model) : NULL;
    return facts && pl_model_facts_are_of(facts, target->vendor->name);
}

/* Configured prices come first; a model on this machine costs nothing. */
static bool find_own(const struct pl_model_target *target, struct pl_model_prices *ret_prices)
{
    const struct pl_vendor *vendor = target->vendor;
    const struct pl_priced_model *all = NULL;
    for (const struct pl_priced_model *one = vendor ? vendor->prices : NULL; one && one->model;
         one++) {
        if (strcmp(one->model, "*") == 0)
            all = one;
        if (!pl_str_eq(target->model, pl_str_of(one->model)))
            continue;
        *ret_prices = one->prices;
        return true;
    }
    if (all)
        *ret_prices = all->prices;
    else if (vendor && vendor->is_local)
        *ret_prices = (struct pl_model_prices){0, 0, 0, 0, NULL};
    return all || (vendor && vendor->is_local);
}

struct pl_model_prices pl_target_prices(const struct pl_model_target *target)
{
    struct pl_model_prices prices = {-1, -1, -1, -1, NULL};
    if (find_own(target, &prices))
        return prices;
    return has_facts(target) ? pl_model_prices(target->model) : prices;
}

static int64_t or_zero(int64_t count)
{
    return count > 0 ? count : 0;
}

static int64_t cost_of(const struct pl_model_prices *prices, const struct pl_counts *counts)
{
    int64_t n_read = or_zero(counts->cache_read), n_written = or_zero(counts->cache_write);
    const struct {
        int64_t n, price;
    } sorts[] = {
        {or_zero(counts->input - n_read - n_written), prices->input},
        {counts->output, prices->output},
        {n_read, prices->cache_read},
        {n_written, prices->cache_write},
    };
    int64_t sum = PER_TOKENS / 2;
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        int64_t part;
        if (!sorts[i].n)
            continue;
        if (sorts[i].price < 0 || __builtin_mul_overflow(sorts[i].n, sorts[i].price, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return -1;
    }
    return sum / PER_TOKENS;
}

int64_t pl_model_cost(struct pl_str vendor_model, const struct pl_counts *counts)
{
    const struct pl_model_facts *facts = pl_model_facts_find(vendor_model);
    if (!facts || counts->input < 0 || counts->output < 0 ||
        (facts->up_to && counts->input > facts->up_to))
        return -1;
    return cost_of(&facts->prices, counts);
}

int64_t pl_target_cost(const struct pl_model_target *target, const struct pl_counts *counts)
{
    struct pl_model_prices prices;
    if (counts->input >= 0 && counts->output >= 0 && find_own(target, &prices))
        return cost_of(&prices, counts);
    return has_facts(target) ? pl_model_cost(target->model, counts) : -1;
}
