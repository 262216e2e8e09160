#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "access/meter/meter.h"

#include <string.h>

#define MINUTE INT64_C(60000)
/* 2026-11-16T12:00:00Z, a Monday in the middle of its month. */
#define NOON INT64_C(1794830400000)

#define USER "user_01a1e2b7-05e3-769e-97ef-2d837a3a0120"
#define KEY  "key_01a1e2b7-05e3-769e-97ef-2d837a3a0121"

static struct pl_server server;
static struct pl_meter *meter;
static const struct pl_caller caller = {.user_id = PL_STR(USER), .key_id = PL_STR(KEY)};

static int open_meter(void **state)
{
    (void)state;
    struct pl_store_config config = {.url = "memory:"};
    server = (struct pl_server){.started_ms = NOON};
    assert_int_equal(pl_store_open(&config, &server.store, NULL), PL_OK);
    assert_int_equal(pl_meter_create(&server, &meter, NULL), PL_OK);
    return 0;
}

static int close_meter(void **state)
{
    (void)state;
    pl_meter_destroy(meter);
    pl_store_close(server.store);
    return 0;
}

static void limit(struct pl_limits limits)
{
    limits.key_id = caller.key_id;
    limits.user_id = caller.user_id;
    assert_int_equal(pl_meter_set_limits(meter, &limits, 0, 0, 1), PL_OK);
}

/* Begins a call with this estimate; it stays open. */
static bool begins(int64_t tokens, int64_t cost_micro, int64_t now_ms, struct pl_meter_call *call,
                   struct pl_meter_refusal *refusal)
{
    struct pl_meter_ask ask = {.user_id = caller.user_id,
                               .key_id = caller.key_id,
                               .model = PL_STR("vendor/model"),
                               .tokens = tokens,
                               .cost_micro = cost_micro,
                               .now_ms = now_ms};
    return pl_meter_begin(meter, NULL, &ask, call, refusal);
}

/* Begins and settles a call that costs nothing; only the number of calls counts. */
static bool admits(int64_t now_ms)
{
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    bool is_in = begins(0, 0, now_ms, &call, &refusal);
    pl_meter_settle(meter, NULL, &call, &(struct pl_meter_used){0}, NULL, now_ms);
    return is_in;
}

static void use(int64_t tokens, int64_t cost_micro, int64_t now_ms)
{
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    assert_true(begins(0, 0, now_ms, &call, &refusal));
    pl_meter_settle(
        meter, NULL, &call,
        &(struct pl_meter_used){.input = tokens, .cached = -1, .cost_micro = cost_micro}, NULL,
        now_ms);
}

static void a_key_without_limits_may_always_ask(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(admits(NOON));
}

static void requests_of_a_minute_come_back_evenly(void **state)
{
    (void)state;
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    limit((struct pl_limits){.values = {[PL_LIMIT_RPM] = 6}});
    for (int i = 0; i < 6; i++)
        assert_true(admits(NOON));
    assert_false(begins(0, 0, NOON, &call, &refusal));
    assert_int_equal(refusal.why, PL_METER_RATE);
    assert_int_equal(refusal.retry_after_s, 11);
    assert_false(admits(NOON + 9000));
    assert_true(admits(NOON + 10001));
    assert_false(admits(NOON + 10002));
    assert_true(admits(NOON + 10 * MINUTE));
}

static void an_answer_longer_than_the_minute_is_paid_off_first(void **state)
{
    (void)state;
    limit((struct pl_limits){.values = {[PL_LIMIT_TPM] = 100}});
    assert_true(admits(NOON));
    use(250, 0, NOON);
    assert_false(admits(NOON + MINUTE));
    assert_true(admits(NOON + MINUTE * 2));
}

static void a_budget_holds_until_the_day_or_month_is_over(void **state)
{
    (void)state;
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    limit((struct pl_limits){
        .values = {[PL_LIMIT_BUDGET_DAY] = 1000, [PL_LIMIT_BUDGET_MONTH] = 1500}});
    assert_true(admits(NOON));
    use(1, 1000, NOON);
    assert_false(begins(0, 0, NOON, &call, &refusal));
    assert_int_equal(refusal.why, PL_METER_MONEY);
    assert_int_equal(refusal.retry_after_s, 12 * 3600 + 1);
    int64_t tomorrow = NOON + 24 * 60 * MINUTE;
    assert_true(admits(tomorrow));
    use(1, 500, tomorrow);
    assert_false(begins(0, 0, tomorrow, &call, &refusal));
    assert_int_equal(refusal.retry_after_s, (13 * 24 + 12) * 3600 + 1);
    assert_true(admits(NOON + 15 * 24 * 60 * MINUTE));
}

static void other_keys_and_forgotten_ones_are_free(void **state)
{
    (void)state;
    struct pl_limits limits;
    limit((struct pl_limits){.values = {[PL_LIMIT_RPM] = 1}});
    assert_true(admits(NOON));
    assert_false(admits(NOON));
    assert_true(pl_meter_limits(meter, caller.key_id, &limits));
    assert_int_equal(limits.values[PL_LIMIT_RPM], 1);
    pl_meter_forget(meter, caller.key_id);
    assert_false(pl_meter_limits(meter, caller.key_id, &limits));
    assert_true(admits(NOON));
}

static void what_is_reserved_counts_until_it_is_settled(void **state)
{
    (void)state;
    struct pl_meter_call calls[3];
    struct pl_meter_refusal refusal;
    limit((struct pl_limits){.values = {[PL_LIMIT_BUDGET_DAY] = 1000}});
    assert_true(begins(10, 600, NOON, &calls[0], &refusal));
    assert_true(begins(10, 600, NOON, &calls[1], &refusal));
    assert_false(begins(10, 600, NOON, &calls[2], &refusal));
    assert_int_equal(refusal.retry_after_s, 1);
    pl_meter_settle(meter, NULL, &calls[0], &(struct pl_meter_used){.cost_micro = 100}, NULL, NOON);
    assert_true(begins(10, 600, NOON, &calls[2], &refusal));
    /* Settling twice changes nothing. */
    pl_meter_settle(meter, NULL, &calls[0], &(struct pl_meter_used){.cost_micro = 900}, NULL, NOON);
    pl_meter_settle(meter, NULL, &calls[1], &(struct pl_meter_used){.cost_micro = 100}, NULL, NOON);
    pl_meter_settle(meter, NULL, &calls[2], &(struct pl_meter_used){.cost_micro = 100}, NULL, NOON);
    assert_true(begins(10, 600, NOON, &calls[0], &refusal));
}

static void a_user_is_limited_over_all_keys(void **state)
{
    (void)state;
    struct pl_limits limits = {.user_id = caller.user_id,
                               .values = {[PL_LIMIT_RPM] = 1, [PL_LIMIT_SOCKETS] = 1}};
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    assert_int_equal(pl_meter_set_limits(meter, &limits, 0, 0, 1), PL_OK);
    assert_true(admits(NOON));
    assert_false(begins(0, 0, NOON, &call, &refusal));
    assert_non_null(strstr(refusal.sentence, "user"));
    assert_true(pl_meter_enter_socket(meter, caller.user_id));
    assert_false(pl_meter_enter_socket(meter, caller.user_id));
    pl_meter_leave_socket(meter, caller.user_id);
    assert_true(pl_meter_enter_socket(meter, caller.user_id));
    /* A late change does not undo a newer one; limits that it does not name stay. */
    for (int i = 0; i < PL_LIMIT_COUNT; i++)
        limits.values[i] = -1;
    limits.values[PL_LIMIT_RPM] = 7;
    assert_int_equal(pl_meter_set_limits(meter, &limits, 0, 0, 3), PL_OK);
    limits.values[PL_LIMIT_RPM] = 5;
    assert_int_equal(pl_meter_set_limits(meter, &limits, 0, 0, 2), PL_OK);
    assert_true(pl_meter_limits(meter, caller.user_id, &limits));
    assert_int_equal(limits.values[PL_LIMIT_RPM], 7);
    assert_int_equal(limits.values[PL_LIMIT_SOCKETS], 1);
}

static void a_model_without_a_price_passes_no_budget(void **state)
{
    (void)state;
    struct pl_meter_refusal refusal;
    struct pl_meter_call call;
    assert_true(begins(1, -1, NOON, &call, &refusal));
    limit((struct pl_limits){.values = {[PL_LIMIT_BUDGET_MONTH] = 1}});
    assert_false(begins(1, -1, NOON, &call, &refusal));
    assert_int_equal(refusal.why, PL_METER_NO_PRICE);
    assert_int_equal(refusal.retry_after_s, 0);
}

static void a_month_begins_on_its_first_day(void **state)
{
    (void)state;
    assert_int_equal(pl_meter_day(NOON), 20773);
    assert_int_equal(pl_meter_month_start(NOON), 20773 - 15);
}

#define ON_METER(test) cmocka_unit_test_setup_teardown(test, open_meter, close_meter)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_METER(a_key_without_limits_may_always_ask),
        ON_METER(requests_of_a_minute_come_back_evenly),
        ON_METER(an_answer_longer_than_the_minute_is_paid_off_first),
        ON_METER(a_budget_holds_until_the_day_or_month_is_over),
        ON_METER(other_keys_and_forgotten_ones_are_free),
        ON_METER(what_is_reserved_counts_until_it_is_settled),
        ON_METER(a_user_is_limited_over_all_keys),
        ON_METER(a_model_without_a_price_passes_no_budget),
        cmocka_unit_test(a_month_begins_on_its_first_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
