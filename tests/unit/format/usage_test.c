/* Counters of one vendor in the arithmetic of another; efforts and names of tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/pieces/effort.h"
#include "format/pieces/tool_name.h"
#include "format/pieces/usage.h"

/* A conversation; its answer has the usage of `text`, with short names. */
struct fixture {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_conv conv;
};

static void setup(struct fixture *f, const char *text)
{
    pl_arena_init(&f->arena, 0);
    assert_int_equal(pl_json_parse(&f->arena, pl_str_of(text), NULL, &f->doc, NULL), PL_OK);
    assert_int_equal(pl_conv_init(&f->conv, &f->arena, &f->doc), PL_OK);
    struct pl_usage *u = &f->conv.answer.usage;
    u->node = f->doc.root;
    u->input = pl_conv_get(&f->conv, u->node, "in", PL_WANT_ANY);
    u->output = pl_conv_get(&f->conv, u->node, "out", PL_WANT_ANY);
    u->total = pl_conv_get(&f->conv, u->node, "total", PL_WANT_ANY);
    u->cache_read = pl_conv_get(&f->conv, u->node, "read", PL_WANT_ANY);
    u->cache_write = pl_conv_get(&f->conv, u->node, "write", PL_WANT_ANY);
    u->reasoning = pl_conv_get(&f->conv, u->node, "reason", PL_WANT_ANY);
    u->tool_input = pl_conv_get(&f->conv, u->node, "tool", PL_WANT_ANY);
}

static void teardown(struct fixture *f)
{
    pl_conv_deinit(&f->conv);
    pl_arena_deinit(&f->arena);
}

/* -1 means an unknown counter. */
static int64_t count(const struct fixture *f, enum pl_counter counter)
{
    int64_t value = -1;
    (void)!pl_usage_get(&f->conv, counter, &value);
    return value;
}

static void test_counters_that_leave_out_the_cache_are_filled_up(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "{\"in\":3,\"out\":7,\"read\":3800,\"write\":200,\"reason\":2}");
    f.conv.answer.usage.input_excludes_cache = true;
    assert_int_equal(count(&f, PL_COUNT_INPUT), 4003);
    assert_int_equal(count(&f, PL_COUNT_INPUT_BARE), 3);
    assert_int_equal(count(&f, PL_COUNT_OUTPUT), 7);
    assert_int_equal(count(&f, PL_COUNT_OUTPUT_BARE), 5);
    assert_int_equal(count(&f, PL_COUNT_TOTAL), 4010);
    teardown(&f);
}

static void test_counters_that_include_the_cache_are_reduced(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "{\"in\":4003,\"out\":50,\"total\":4053,\"read\":3800,\"write\":200}");
    assert_int_equal(count(&f, PL_COUNT_INPUT), 4003);
    assert_int_equal(count(&f, PL_COUNT_INPUT_BARE), 3);
    assert_int_equal(count(&f, PL_COUNT_TOTAL), 4053);
    teardown(&f);
}

static void test_thoughts_and_tool_prompts_beside_the_counters_are_added(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "{\"in\":10,\"tool\":5,\"out\":4,\"reason\":6}");
    f.conv.answer.usage.output_excludes_thought = true;
    assert_int_equal(count(&f, PL_COUNT_INPUT), 15);
    assert_int_equal(count(&f, PL_COUNT_PROMPT), 10);
    assert_int_equal(count(&f, PL_COUNT_OUTPUT), 10);
    assert_int_equal(count(&f, PL_COUNT_OUTPUT_BARE), 4);
    assert_int_equal(count(&f, PL_COUNT_TOTAL), 25);
    teardown(&f);
    setup(&f, "{\"in\":10,\"reason\":6}");
    f.conv.answer.usage.output_excludes_thought = true;
    assert_int_equal(count(&f, PL_COUNT_OUTPUT), 6);
    teardown(&f);
}

static void test_what_is_no_count_is_unknown(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"in\":null}",
        "{\"in\":\"7\"}",
        "{\"in\":-1}",
        "{\"in\":1.5}",
        "{\"in\":99999999999999999999}",
        "{\"in\":1,\"read\":2}", /* negative without the cache */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fixture f;
        setup(&f, bad[i]);
        assert_int_equal(count(&f, PL_COUNT_INPUT_BARE), -1);
        assert_int_equal(count(&f, PL_COUNT_TOTAL), -1);
        teardown(&f);
    }
}

static void test_sums_do_not_overflow(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "{\"in\":9223372036854775807,\"read\":1,\"out\":1}");
    f.conv.answer.usage.input_excludes_cache = true;
    assert_int_equal(count(&f, PL_COUNT_INPUT), -1);
    assert_int_equal(count(&f, PL_COUNT_INPUT_BARE), INT64_MAX);
    teardown(&f);
}

/* Checks what pl_usage_write writes for a counter, and how many losses it reports. */
static void expect_written(const char *usage, enum pl_counter counter, bool is_required,
                           const char *wanted, size_t n_losses)
{
    struct fixture f;
    setup(&f, usage);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    struct pl_writer w;
    pl_writer_init(&w, &f.conv, &out);
    pl_w_open(&w, '{');
    pl_usage_write(&w, "k", counter, is_required);
    pl_w_close(&w, '}');
    if (!pl_str_eq(pl_buf_str(&out), pl_str_of(wanted)))
        fail_msg("%.*s instead of %s", PL_STR_ARG(pl_buf_str(&out)), wanted);
    assert_int_equal(f.conv.losses.len, n_losses);
    pl_writer_deinit(&w);
    teardown(&f);
}

static void test_numbers_of_the_source_keep_their_spelling(void **state)
{
    (void)state;
    expect_written("{\"in\":1e2}", PL_COUNT_INPUT, true, "{\"k\":1e2}", 0);
    expect_written("{\"in\":5,\"read\":0}", PL_COUNT_INPUT_BARE, true, "{\"k\":5}", 0);
    expect_written("{\"in\":5,\"read\":2}", PL_COUNT_INPUT_BARE, true, "{\"k\":3}", 0);
}

static void test_only_a_required_counter_is_made_up_and_that_is_reported(void **state)
{
    (void)state;
    expect_written("{\"out\":7}", PL_COUNT_INPUT, false, "{}", 0);
    expect_written("{\"out\":7}", PL_COUNT_INPUT, true, "{\"k\":0}", 1);
    expect_written("{\"out\":7}", PL_COUNT_TOTAL, true, "{\"k\":7}", 1);
}

static void test_efforts_and_budgets_go_back_and_forth(void **state)
{
    (void)state;
    for (int i = PL_EFFORT_NONE; i <= PL_EFFORT_MAX; i++)
        assert_int_equal(pl_effort_of_budget(pl_effort_budget((enum pl_effort)i)), i);
    assert_int_equal(pl_effort_of_budget(-1), PL_EFFORT_UNSET);
    assert_int_equal(pl_effort_of_budget(1), PL_EFFORT_MINIMAL);
    assert_int_equal(pl_effort_of_budget(INT64_MAX), PL_EFFORT_MAX);
    struct fixture f;
    setup(&f, "{\"a\":\"HIGH\",\"b\":\"highest\",\"c\":3}");
    assert_int_equal(pl_effort_of_word(&f.conv, pl_conv_node(&f.conv, f.doc.root, "a")),
                     PL_EFFORT_HIGH);
    assert_int_equal(pl_effort_of_word(&f.conv, pl_conv_node(&f.conv, f.doc.root, "b")),
                     PL_EFFORT_UNSET);
    assert_int_equal(pl_effort_of_word(&f.conv, pl_conv_node(&f.conv, f.doc.root, "c")),
                     PL_EFFORT_UNSET);
    teardown(&f);
}

static void test_tool_names_become_acceptable_and_stay_apart(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "{}");
    struct pl_str plain = pl_tool_name(&f.conv, pl_val_text(PL_STR("get_it-2")), 64);
    assert_true(pl_str_eq(plain, PL_STR("get_it-2")));
    struct pl_str a = pl_tool_name(&f.conv, pl_val_text(PL_STR("a.b")), 64);
    struct pl_str b = pl_tool_name(&f.conv, pl_val_text(PL_STR("a/b")), 64);
    struct pl_str again = pl_tool_name(&f.conv, pl_val_text(PL_STR("a.b")), 64);
    assert_true(pl_str_eq(a, again));
    assert_false(pl_str_eq(a, b));
    assert_true(pl_str_starts(a, PL_STR("a_b_")));
    char long_name[200];
    memset(long_name, 'x', sizeof long_name);
    struct pl_str cut = pl_tool_name(&f.conv, pl_val_text((struct pl_str){long_name, 200}), 64);
    assert_int_equal(cut.len, 64);
    assert_true(pl_tool_name(&f.conv, (struct pl_val){0}, 64).len > 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_that_leave_out_the_cache_are_filled_up),
        cmocka_unit_test(test_counters_that_include_the_cache_are_reduced),
        cmocka_unit_test(test_thoughts_and_tool_prompts_beside_the_counters_are_added),
        cmocka_unit_test(test_what_is_no_count_is_unknown),
        cmocka_unit_test(test_sums_do_not_overflow),
        cmocka_unit_test(test_numbers_of_the_source_keep_their_spelling),
        cmocka_unit_test(test_only_a_required_counter_is_made_up_and_that_is_reported),
        cmocka_unit_test(test_efforts_and_budgets_go_back_and_forth),
        cmocka_unit_test(test_tool_names_become_acceptable_and_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
