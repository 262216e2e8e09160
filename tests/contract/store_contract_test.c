/* The contract of every store: one suite over memory, SQLite and PostgreSQL.
 *
 * usage: store-contract-test memory|sqlite|postgres [PART OF A NAME]
 * with_postgres gives the address of a server; if there is none, it says why. */
#include "contract/suite.h"

#include <stdio.h>
#include <stdlib.h>

static const char *kind, *only;

int make_fixture(void **state)
{
    *state = fixture_create(kind);
    return 0;
}

int drop_fixture(void **state)
{
    fixture_destroy(*state);
    return 0;
}

static bool is_for(const struct CMUnitTest *test)
{
    return (!test->initial_state || strstr(test->initial_state, kind)) &&
           (!only || strstr(test->name, only));
}

int main(int argc, char **argv)
{
    kind = argc > 1 ? argv[1] : "memory";
    only = argc > 2 ? argv[2] : NULL;
    const char *reason = getenv("PARLEY_TEST_POSTGRES_SKIP");
    if (strcmp(kind, "postgres") == 0 && !getenv("PARLEY_TEST_POSTGRES")) {
        printf("1..0 # SKIP %s\n",
               reason ? reason : "no server: run with tests/contract/with_postgres");
        return 0;
    }
    const struct suite_part *const parts[] = {
        &sessions_part, &turns_part,      &records_part,   &writer_part,  &care_part,
        &tasks_part,    &blobs_part,      &blob_uses_part, &prompts_part, &memories_part,
        &gateway_part,  &races_part,      &servers_part,   &nodes_part,   &owners_part,
        &shared_part,   &extensions_part, &page_part,      &deleted_part};
    struct CMUnitTest all[300];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; k < parts[i]->n; k++)
            if (is_for(&parts[i]->tests[k]))
                all[n++] = parts[i]->tests[k];
    return _cmocka_run_group_tests(kind, all, n, NULL, NULL);
}
