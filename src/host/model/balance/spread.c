/* Counting only: n calls in a row are spread as evenly as possible. */
#include "model/balance/spread.h"

#include <string.h>

const char *const pl_spread_words[PL_SPREADS] = {"order", "round_robin", "weighted", "least_busy"};

static void rotate(size_t n, size_t first, uint8_t *ret_order)
{
    for (size_t i = 0; i < n; i++)
        ret_order[i] = (uint8_t)((first + i) % n);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Visits the places 0 … sum - 1 once each in sum steps, with consecutive places far apart: the step
 * is near the golden section and has no common divisor with the sum. */
static uint64_t place_of(uint64_t n_before, uint64_t sum)
{
    uint64_t step = (sum * 618 + 500) / 1000;
    while (step > 1 && gcd(step, sum) != 1)
        step--;
    return (n_before % sum) * (step ? step : 1) % sum;
}

/* The others keep their configured order. */
static void put_first(size_t n, size_t first, uint8_t *ret_order)
{
    size_t at = 0;
    ret_order[at++] = (uint8_t)first;
    for (size_t i = 0; i < n; i++)
        if (i != first)
            ret_order[at++] = (uint8_t)i;
}

static void decide_weighted(size_t n, const uint32_t *weights, uint64_t n_before,
                            uint8_t *ret_order)
{
    uint64_t sum = 0, place;
    for (size_t i = 0; i < n; i++)
        sum += weights[i];
    place = sum ? place_of(n_before, sum) : 0;
    size_t first = 0;
    while (first + 1 < n && place >= weights[first])
        place -= weights[first++];
    put_first(n, first, ret_order);
}

/* Stable, so that equal ones are called in turn. */
static void sort_by_busy(size_t n, const int64_t *busy, uint8_t *order)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && busy[order[k]] < busy[order[k - 1]]; k--) {
            uint8_t other = order[k];
            order[k] = order[k - 1];
            order[k - 1] = other;
        }
}

void pl_spread_decide(enum pl_spread by, size_t n, const uint32_t *weights, const int64_t *busy,
                      uint64_t n_before, uint8_t *ret_order)
{
    size_t turn = n ? (size_t)(n_before % n) : 0;
    rotate(n, by == PL_SPREAD_ORDER ? 0 : turn, ret_order);
    if (n && by == PL_SPREAD_WEIGHTED)
        decide_weighted(n, weights, n_before, ret_order);
    else if (by == PL_SPREAD_LEAST_BUSY)
        sort_by_busy(n, busy, ret_order);
}
