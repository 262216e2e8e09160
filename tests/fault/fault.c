/* The hook counts allocations and blocks; libc does the work, so ASan still sees every block. */
#include "fault/fault.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum mode { ONCE, FROM_THERE_ON, MODE_COUNT };

static const char *const mode_names[MODE_COUNT] = {"only", "and all after"};

/* One run of a scenario. Static, because a failed assertion leaves a scenario by longjmp. */
static struct run {
    size_t fail_at; /* counted from 1; 0 fails none */
    enum mode mode;
    size_t n_tried;    /* allocations and growths so far */
    size_t n_prepared; /* of those, before pl_fault_is_prepared() */
    size_t n_refused;  /* of n_tried */
    long n_live;       /* blocks taken and not freed */
} run;

static void *counting_hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    if (size == 0) {
        run.n_live -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    run.n_tried++;
    if (run.n_tried == run.fail_at || (run.mode == FROM_THERE_ON && run.n_refused)) {
        run.n_refused++;
        return NULL;
    }
    void *grown = realloc(ptr, size);
    run.n_live += !ptr && grown;
    return grown;
}

static const char *name_of(enum pl_status status)
{
    return pl_status_info(status)->name;
}

static enum pl_status run_once(pl_fault_fn *scenario, void *ctx, size_t fail_at, enum mode mode)
{
    run = (struct run){.fail_at = fail_at, .mode = mode};
    pl_mem_set_hook(counting_hook, NULL);
    enum pl_status status = scenario(ctx);
    pl_mem_set_hook(NULL, NULL);
    if (run.n_live != 0)
        fail_msg("allocation %zu failed (%s): %ld blocks %s", fail_at, mode_names[mode],
                 run.n_live < 0 ? -run.n_live : run.n_live,
                 run.n_live < 0 ? "freed too often" : "leaked");
    return status;
}

/* The failing allocations: from `from` on, every first-th while the scenario prepares, and every
 * then-th after that. */
struct steps {
    size_t from, n_prepared, first, then;
};

static const struct steps every = {.from = 1, .first = 1, .then = 1};

static size_t each(pl_fault_fn *scenario, void *ctx, enum pl_status expected, bool is_tolerant,
                   const struct steps *steps)
{
    size_t n_places = 0;
    for (size_t n = steps->from;;
         n += n < steps->n_prepared ? steps->first : steps->then, n_places++) {
        for (enum mode mode = ONCE; mode < MODE_COUNT; mode++) {
            enum pl_status status = run_once(scenario, ctx, n, mode);
            if (status == expected && (is_tolerant || !run.n_refused))
                continue;
            if (run.n_refused ? status != PL_NOMEM : status != expected)
                fail_msg("allocation %zu of %zu %s (%s): the scenario reported %s, not %s", n,
                         run.n_tried, run.n_refused ? "failed" : "was not reached",
                         mode_names[mode], name_of(status),
                         name_of(run.n_refused ? PL_NOMEM : expected));
        }
        if (!run.n_refused)
            return n_places;
    }
}

void pl_fault_is_prepared(void)
{
    run.n_prepared = run.n_tried;
}

size_t pl_fault_each(pl_fault_fn *scenario, void *ctx)
{
    return each(scenario, ctx, PL_OK, false, &every);
}

size_t pl_fault_each_expecting(pl_fault_fn *scenario, void *ctx, enum pl_status expected)
{
    return each(scenario, ctx, expected, false, &every);
}

size_t pl_fault_each_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected)
{
    return each(scenario, ctx, expected, true, &every);
}

/* The number of places to try in a part: PARLEY_FAULT_MOST overrides the test. */
static size_t most_of(size_t most)
{
    const char *text = getenv("PARLEY_FAULT_MOST");
    size_t wanted = text ? strtoull(text, NULL, 10) : 0;
    return wanted > most ? wanted : most;
}

size_t pl_fault_some_parts(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                           size_t most_before, size_t most_after)
{
    assert_int_equal(run_once(scenario, ctx, 0, ONCE), expected);
    struct steps steps = {.from = most_before ? 1 : run.n_prepared + 1,
                          .n_prepared = run.n_prepared,
                          .first = most_before ? run.n_prepared / most_of(most_before) + 1 : 1,
                          .then = (run.n_tried - run.n_prepared) / most_of(most_after) + 1};
    return each(scenario, ctx, expected, true, &steps);
}

size_t pl_fault_some_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                              size_t most)
{
    return pl_fault_some_parts(scenario, ctx, expected, most, most);
}
