/* The request for a summary, with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/summary/summary.h"
#include "agent/tools/calc.h"
#include "agent/tools/tools.h"
#include "fault/fault.h"

static const char context[] =
    "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"w\\u00f6rds\"}]},"
    "{\"role\":\"assistant\",\"blocks\":[{\"type\":\"ask_user_answer\",\"content\":{\"a\":1}}],"
    "\"tool_calls\":[{\"tool_name\":\"t\\u00e9\",\"arguments\":\"{}\",\"status\":\"done\","
    "\"result\":[1]}],\"error\":\"n\\u00f6\"}]";

static enum pl_status asks(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    enum pl_status status = pl_summary_ask(&arena, PL_STR(context), 40, &text, NULL);
    if (status == PL_OK)
        status = pl_summary_write(&arena, PL_STR(context), 2, &text, NULL);
    return status;
}

static enum pl_status offers(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_tools_define(PL_STR("demo/echo"), true, &text);
    pl_tools_list(PL_CHAT_ENGLISH, &text);
    enum pl_status status = pl_calc(PL_STR("1 + 2"), &text, NULL);
    return status == PL_OK ? text.status : status;
}

static void asking_for_a_summary_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(asks, NULL) > 5);
}

static void offering_tools_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(offers, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_for_a_summary_survives_every_refused_allocation),
        cmocka_unit_test(offering_tools_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
