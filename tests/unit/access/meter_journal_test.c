/* Paid calls in the store: which become rows while they run, and that each is counted once. */
#include "unit/io/turning.h"

#include "access/meter/meter.h"
#include "access/meter/meter_journal.h"

/* 2026-11-16T12:00:00Z */
#define NOON INT64_C(1794830400000)
#define USER "user_01a1e2b7-05e3-769e-97ef-2d837a3a0120"
#define KEY  "key_01a1e2b7-05e3-769e-97ef-2d837a3a0121"

static struct pl_server server;
static struct pl_shard shard;
static struct pl_meter *meter;

static int open_meter(void **state)
{
    (void)state;
    struct pl_store_config config = {.url = "memory:"};
    server = (struct pl_server){.started_ms = NOON};
    shard = (struct pl_shard){.server = &server, .loop = make_loop()};
    server.shards[0] = &shard;
    server.n_shards = 1;
    assert_int_equal(pl_store_open(&config, &server.store, NULL), PL_OK);
    assert_int_equal(pl_meter_create(&server, &meter, NULL), PL_OK);
    return 0;
}

static int close_meter(void **state)
{
    (void)state;
    pl_meter_stop(meter);
    pl_store_flush(server.store);
    while (pl_loop_settle(shard.loop))
        continue;
    pl_meter_destroy(meter);
    pl_store_close(server.store);
    pl_loop_destroy(shard.loop);
    return 0;
}

static struct pl_meter_call begin_as(struct pl_str run_id)
{
    struct pl_meter_call call;
    struct pl_meter_refusal refusal;
    struct pl_meter_ask ask = {.about = {.source = "gateway", .run_id = run_id},
                               .user_id = PL_STR(USER),
                               .key_id = PL_STR(KEY),
                               .model = PL_STR("vendor/model"),
                               .tokens = 1000,
                               .cost_micro = 7,
                               .is_paid = true,
                               .now_ms = NOON};
    assert_true(pl_meter_begin(meter, &shard, &ask, &call, &refusal));
    return call;
}

static struct pl_meter_call begin(void)
{
    return begin_as((struct pl_str){0});
}

static void end(struct pl_meter_call *call, struct pl_batch *batch)
{
    pl_meter_settle(meter, &shard, call,
                    &(struct pl_meter_used){.input = 3, .output = 2, .cost_micro = 5}, batch, NOON);
}

static struct pl_usage_row used(void)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_usage_page page;
    int64_t day = pl_meter_day(NOON);
    struct pl_usage_query query = {.user_id = PL_STR(USER),
                                   .from_day = day,
                                   .to_day = day,
                                   .group = PL_USAGE_BY_DAY,
                                   .limit = 10};
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_store_usage_list(server.store, &arena, &query, &page, NULL), PL_OK);
    assert_true(page.n_rows <= 1);
    struct pl_usage_row row = page.n_rows ? page.rows[0] : (struct pl_usage_row){0};
    row.user_id = row.key_id = row.model = (struct pl_str){0};
    return row;
}

/* As at a start: counts rows of calls that have not ended as aborted. */
static int64_t n_lost(void)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_count_lost_calls(batch);
    assert_int_equal(pl_store_commit(server.store, batch, NULL), PL_OK);
    return used().n_aborted;
}

static bool are_counted(void *n)
{
    return used().n_requests == *(int64_t *)n;
}

static bool are_lost(void *n)
{
    return n_lost() == *(int64_t *)n;
}

static void calls_that_end_soon_are_counted_and_never_become_rows(void **state)
{
    (void)state;
    struct pl_meter_call calls[3];
    for (size_t i = 0; i < 3; i++)
        calls[i] = begin();
    for (size_t i = 0; i < 3; i++)
        end(&calls[i], NULL);
    turn_until(shard.loop, are_counted, &(int64_t){3});
    assert_int_equal(used().input_tokens, 9);
    assert_int_equal(used().cost_micro, 15);
    turn_for(shard.loop, 2 * PL_METER_GATHER_MS);
    assert_int_equal(n_lost(), 0);
}

static void a_call_that_lasts_becomes_a_row_until_it_ends(void **state)
{
    (void)state;
    struct pl_meter_call first = begin(), second = begin();
    turn_until(shard.loop, are_lost, &(int64_t){2}); /* n_lost also deletes them */
    struct pl_meter_call third = begin();
    turn_for(shard.loop, 2 * PL_METER_GATHER_MS);
    pl_store_flush(server.store);
    end(&third, NULL);
    turn_until(shard.loop, are_counted, &(int64_t){3});
    assert_int_equal(n_lost(), 2);
    end(&first, NULL);
    end(&second, NULL);
}

static void a_call_that_ends_with_what_it_brought_is_counted_there_alone(void **state)
{
    (void)state;
    struct pl_meter_call soon = begin(), late = begin();
    struct pl_batch *batch = pl_batch_create();
    end(&soon, batch);
    assert_int_equal(pl_store_commit(server.store, batch, NULL), PL_OK);
    turn_for(shard.loop, 2 * PL_METER_GATHER_MS);
    pl_store_flush(server.store);
    batch = pl_batch_create();
    end(&late, batch);
    assert_int_equal(pl_store_commit(server.store, batch, NULL), PL_OK);
    turn_for(shard.loop, 2 * PL_METER_GATHER_MS);
    assert_int_equal(n_lost(), 0);
    assert_int_equal(used().n_requests, 2);
}

/* Without waiting: the loop does not run. */
static void one_call_too_many_makes_the_oldest_a_row(void **state)
{
    (void)state;
    struct pl_meter_call calls[PL_METER_GATHER_MAX + 1];
    for (size_t i = 0; i < PL_METER_GATHER_MAX; i++)
        calls[i] = begin();
    pl_store_flush(server.store);
    assert_int_equal(n_lost(), 0);
    calls[PL_METER_GATHER_MAX] = begin();
    pl_store_flush(server.store);
    assert_true(n_lost() >= 1);
    for (size_t i = 0; i <= PL_METER_GATHER_MAX; i++)
        end(&calls[i], NULL);
}

static void a_run_that_somebody_knows_is_submitted_when_it_ends(void **state)
{
    (void)state;
    struct pl_meter_call call = begin_as(PL_STR("run_01a1e2b7-05e3-769e-97ef-2d837a3a0122"));
    end(&call, NULL);
    pl_store_flush(server.store);
    assert_int_equal(used().n_requests, 1);
}

static void what_waits_at_the_end_is_stored(void **state)
{
    (void)state;
    struct pl_meter_call ended = begin(), open = begin();
    end(&ended, NULL);
    assert_int_equal(used().n_requests, 0);
    pl_meter_stop(meter);
    assert_int_equal(used().n_requests, 1);
    assert_int_equal(n_lost(), 1);
    (void)open; /* nobody ends it: its owner is gone */
}

static void a_name_that_is_cut_within_a_character_is_shortened(void **state)
{
    (void)state;
    char name[PL_METER_MODEL_MAX + 2];
    struct pl_meter_call call;
    struct pl_meter_refusal refusal;
    memset(name, 'x', sizeof name);
    memcpy(name + PL_METER_MODEL_MAX - 2, "\xc3\xa4", 2); /* no room for its second byte */
    struct pl_meter_ask ask = {.about = {.source = "gateway"},
                               .user_id = PL_STR(USER),
                               .key_id = PL_STR(KEY),
                               .model = {name, sizeof name},
                               .now_ms = NOON};
    assert_true(pl_meter_begin(meter, &shard, &ask, &call, &refusal));
    assert_int_equal(strlen(call.model), PL_METER_MODEL_MAX - 2);
    end(&call, NULL);
}

#define ON_METER(test) cmocka_unit_test_setup_teardown(test, open_meter, close_meter)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_METER(calls_that_end_soon_are_counted_and_never_become_rows),
        ON_METER(a_call_that_lasts_becomes_a_row_until_it_ends),
        ON_METER(a_call_that_ends_with_what_it_brought_is_counted_there_alone),
        ON_METER(one_call_too_many_makes_the_oldest_a_row),
        ON_METER(a_run_that_somebody_knows_is_submitted_when_it_ends),
        ON_METER(what_waits_at_the_end_is_stored),
        ON_METER(a_name_that_is_cut_within_a_character_is_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
