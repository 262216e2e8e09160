/* Storing a registration, and checking arguments, with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ext/run/host_int.h"
#include "fault/fault.h"

static enum pl_status registers(void *ctx)
{
    struct pl_ext_registered *r = NULL;
    enum pl_status status =
        pl_ext_registered_create(pl_str_of(ctx), PL_STR("art"), NULL, 0, &r, NULL);
    if (status == PL_OK)
        assert_true(pl_ext_registered_wants(r, PL_EXT_HOOK_STARTUP, PL_STR(""), NULL));
    pl_ext_registered_release(r);
    return status;
}

static enum pl_status checks(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    char says[100] = "";
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, pl_str_of(ctx), NULL, &doc, NULL);
    if (status == PL_OK)
        status = pl_ext_input_check(&arena, PL_STR("{\"required\":[\"a\"]}"), &doc, doc.root, says,
                                    sizeof says, NULL);
    if (status == PL_OK)
        assert_true(says[0]);
    return status;
}

static void a_register_that_is_kept_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each_tolerant(registers,
                                       "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\","
                                       "\"event_hooks\":[\"startup\",\"tool_call\"],\"tools\":[{"
                                       "\"name\":\"a\",\"parameters\":{\"type\":\"object\"}}]}",
                                       PL_OK) > 3);
}

static void arguments_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each_tolerant(checks, "{\"b\":1}", PL_OK) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_register_that_is_kept_without_memory),
        cmocka_unit_test(arguments_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
