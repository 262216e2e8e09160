/* The parts of the contract suite, and their common functions. */
#ifndef PL_TESTS_CONTRACT_SUITE_H
#define PL_TESTS_CONTRACT_SUITE_H

#include "contract/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct suite_part {
    const struct CMUnitTest *tests;
    size_t n;
};

extern const struct suite_part sessions_part, turns_part, records_part, writer_part, care_part,
    tasks_part, blobs_part, blob_uses_part, prompts_part, memories_part, gateway_part, races_part,
    servers_part, nodes_part, owners_part, shared_part, extensions_part, page_part, deleted_part;

/* Set-up of every test: a fresh store of the back end under test. */
int make_fixture(void **state);
int drop_fixture(void **state);

/* A test for every back end, and one for selected ones, if others cannot have the situation. */
#define ON_STORE(test) cmocka_unit_test_setup_teardown(test, make_fixture, drop_fixture)
#define ON_SOME(kinds, test)                                                                       \
    cmocka_unit_test_prestate_setup_teardown(test, make_fixture, drop_fixture, kinds)

#endif
