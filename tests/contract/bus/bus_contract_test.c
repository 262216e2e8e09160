/* The contract of every bus: one suite over local, pg and nats.
 *
 * usage: bus-contract-test local|pg|nats [PART OF A NAME]
 * with_postgres and with_nats start the servers; if one is missing, they say why. */
#include "contract/bus/bus_parts.h"

#include "base/mem.h"

#include <stdio.h>

static const char *only;

int make_fixture(void **state)
{
    *state = fixture_create(strcmp(bus_kind, "local") == 0 ? "memory" : "postgres");
    return 0;
}

int drop_fixture(void **state)
{
    fixture_destroy(*state);
    return 0;
}

/* The reason why this kind cannot run; NULL: it can. */
static const char *missing(void)
{
    static const struct {
        const char *kinds, *place, *reason, *otherwise;
    } needs[] = {
        {"pg nats", "PARLEY_TEST_POSTGRES", "PARLEY_TEST_POSTGRES_SKIP",
         "no server: run with tests/contract/with_postgres"},
        {"nats", "PARLEY_TEST_NATS", "PARLEY_TEST_NATS_SKIP",
         "no server: run with tests/contract/with_nats"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strstr(needs[i].kinds, bus_kind) && !getenv(needs[i].place)) {
            const char *reason = getenv(needs[i].reason);
            return reason ? reason : needs[i].otherwise;
        }
    return NULL;
}

static bool is_for(const struct CMUnitTest *test)
{
    return (!test->initial_state || strstr(test->initial_state, bus_kind)) &&
           (!only || strstr(test->name, only));
}

static void *refuse_some(void *ctx, void *ptr, size_t size)
{
    static _Atomic(size_t) n;
    (void)ctx;
    if (!size) {
        free(ptr);
        return NULL;
    }
    return is_memory_short && ++n % 7 == 0 ? NULL : realloc(ptr, size);
}

int main(int argc, char **argv)
{
    bus_kind = argc > 1 ? argv[1] : "local";
    only = argc > 2 ? argv[2] : NULL;
    pl_mem_set_hook(refuse_some, NULL); /* before other threads start */
    if (missing()) {
        printf("1..0 # SKIP %s\n", missing());
        return 0;
    }
    const struct suite_part *const parts[] = {&letters_part, &store_way_part, &nats_part};
    struct CMUnitTest all[100];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; k < parts[i]->n; k++)
            if (is_for(&parts[i]->tests[k]))
                all[n++] = parts[i]->tests[k];
    return _cmocka_run_group_tests(bus_kind, all, n, NULL, NULL);
}
