/* Sign-ins, rows of calls, and waiting for a provider: without memory each returns an error or does
 * without, and leaks nothing. */
#include "access/meter/meter_journal.h"
#include "access/meter/meter_runs.h"
#include "access/oidc/id_token.h"
#include "access/oidc/provider.h"
#include "fault/fault.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* RFC 7515, A.3. */
#define X "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define TOKEN                                                                                      \
    "eyJhbGciOiJFUzI1NiJ9."                                                                        \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "fQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

/* The signature is right; the claims are for another audience, which is checked last. */
static enum pl_status checks_a_token(void *ctx)
{
    struct pl_arena arena;
    struct pl_json_doc claims = {0};
    struct pl_error err = {0};
    const struct pl_id_token_rules rules = {
        .keys =
            PL_STR("{\"keys\":[5,{\"kty\":\"oct\",\"k\":\"AQ\"},{\"kty\":\"EC\",\"crv\":\"P-256\","
                   "\"x\":\"" X "\",\"y\":\"" Y "\"}]}"),
        .issuer = PL_STR("joe"),
        .client_id = PL_STR("us"),
        .nonce = PL_STR("n"),
    };
    (void)ctx;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_id_token_check(&arena, PL_STR(TOKEN), &rules, &claims, &err);
    assert_null(claims.root);
    pl_arena_deinit(&arena);
    return status;
}

static void a_token_is_never_taken_for_want_of_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each_expecting(checks_a_token, NULL, PL_INVALID) > 0);
}

static enum pl_status names_a_person(void *ctx)
{
    struct pl_arena arena;
    struct pl_json_doc claims;
    struct pl_str name = PL_STR("as it was");
    pl_arena_init(&arena, 0);
    enum pl_status status =
        pl_json_parse(&arena, pl_str_of(ctx), &(struct pl_json_opts){0}, &claims, NULL);
    if (status == PL_OK)
        status = pl_id_claim_name(&arena, &claims, "name", &name);
    if (status != PL_OK)
        assert_true(pl_str_eq(name, PL_STR("as it was")));
    pl_arena_deinit(&arena);
    return status;
}

static void a_name_is_whole_or_none(void **state)
{
    (void)state;
    char text[] = "{\"sub\":\"248289761001\",\"name\":\"A\\u0064a\\u0001 Lovelace\"}";
    assert_true(pl_fault_each(names_a_person, text) > 0);
}

/* A run without memory is omitted: usage has counted the call. */
static enum pl_status keeps_runs(void *ctx)
{
    struct pl_meter_runs runs = {0};
    const struct pl_model_run run = {
        .id = PL_STR("run_01234567-89ab-7def-8123-456789abcdef"),
        .user_id = PL_STR("user_01234567-89ab-7def-8123-456789abcdef"),
        .key_id = PL_STR("key_1"),
        .model = PL_STR("demo/echo"),
        .source = PL_STR("gateway"),
        .status = PL_STR("completed"),
    };
    (void)ctx;
    for (size_t i = 0; i < 3; i++)
        pl_meter_runs_add(&runs, &run);
    size_t n = runs.n;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        (void)pl_meter_runs_take(&runs, batch);
    pl_batch_destroy(batch);
    pl_meter_runs_deinit(&runs);
    return n == 3 && batch ? PL_OK : PL_NOMEM;
}

static void runs_are_left_out_without_a_leak(void **state)
{
    (void)state;
    assert_true(pl_fault_each_tolerant(keeps_runs, NULL, PL_OK) > 0);
}

#define GATHERED_USER "user_01234567-89ab-7def-8123-456789abcdef"

/* Three calls; two of them end. */
static void gather_three(struct pl_meter_journal *journal)
{
    static unsigned n_calls; /* each has a unique id, also in the next round */
    const struct pl_usage_row row = {
        .user_id = PL_STR(GATHERED_USER), .model = PL_STR("v/m"), .day = 1, .n_requests = 1};
    for (size_t i = 0; i < 3; i++) {
        struct pl_meter_call call = {.user_id = GATHERED_USER, .model = "v/m"};
        call.started_ms = 86400000;
        snprintf(call.run_id, sizeof call.run_id, "run_%08x-89ab-7def-8123-456789abcdef",
                 ++n_calls);
        const struct pl_model_run run = {.id = pl_str_of(call.run_id),
                                         .user_id = row.user_id,
                                         .model = row.model,
                                         .source = PL_STR("gateway"),
                                         .status = PL_STR("completed")};
        pl_meter_journal_begin(journal, &call);
        if (i < 2)
            pl_meter_journal_end(journal, &call, &row, &run);
    }
}

/* An entry without memory stays, and is taken the next time. */
static enum pl_status gathers_calls(void *ctx)
{
    struct pl_meter_journal *journal = pl_meter_journal_create(ctx);
    if (!journal)
        return PL_NOMEM;
    gather_three(journal);
    struct pl_batch *batch = pl_meter_journal_take(journal);
    bool is_second = !batch;
    if (is_second)
        batch = pl_meter_journal_take(journal);
    size_t n = batch ? pl_batch_n_writes(batch) : 0;
    if (batch) /* a row for the unfinished call, and a sum or rows for the others */
        assert_true(n >= 2);
    pl_batch_destroy(batch);
    pl_meter_journal_destroy(journal);
    return batch && !is_second ? PL_OK : PL_NOMEM;
}

static void calls_wait_for_memory_without_a_leak(void **state)
{
    (void)state;
    struct pl_server server = {0};
    struct pl_shard shard = {.server = &server};
    assert_int_equal(pl_loop_create(&shard.loop, NULL), PL_OK);
    assert_true(pl_fault_each_tolerant(gathers_calls, &shard, PL_OK) > 0);
    pl_loop_destroy(shard.loop);
}

/* Nothing is submitted any more (there is no store here), not even a requested run. */
static void calls_that_end_with_the_server_wait_to_be_taken(void **state)
{
    (void)state;
    struct pl_server server = {0};
    struct pl_shard shard = {.server = &server};
    assert_int_equal(pl_loop_create(&shard.loop, NULL), PL_OK);
    struct pl_meter_journal *journal = pl_meter_journal_create(&shard);
    assert_non_null(journal);
    struct pl_meter_call call = {.user_id = GATHERED_USER,
                                 .model = "v/m",
                                 .run_id = "run_00000000-89ab-7def-8123-456789abcdef",
                                 .is_run_known = true};
    pl_meter_journal_begin(journal, &call);
    atomic_store(&server.life, PL_LIFE_STOPPED);
    pl_meter_journal_end(
        journal, &call,
        &(struct pl_usage_row){.user_id = PL_STR(GATHERED_USER), .model = PL_STR("v/m"), .day = 1},
        &(struct pl_model_run){.id = pl_str_of(call.run_id), .user_id = PL_STR(GATHERED_USER)});
    struct pl_batch *batch = pl_meter_journal_take(journal);
    assert_non_null(batch);
    /* its usage, its run, and that runs of erased users are dropped */
    assert_int_equal(pl_batch_n_writes(batch), 3);
    assert_true(pl_meter_journal_is_empty(journal));
    pl_batch_destroy(batch);
    pl_meter_journal_destroy(journal);
    pl_loop_destroy(shard.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_never_taken_for_want_of_memory),
        cmocka_unit_test(a_name_is_whole_or_none),
        cmocka_unit_test(runs_are_left_out_without_a_leak),
        cmocka_unit_test(calls_wait_for_memory_without_a_leak),
        cmocka_unit_test(calls_that_end_with_the_server_wait_to_be_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
