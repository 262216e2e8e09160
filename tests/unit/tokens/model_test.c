/* The encoding of each model. */
#include "tokens/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void models_with_a_public_tokenizer_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        enum pl_encoding encoding;
    } cases[] = {
        {"gpt-4o", PL_ENCODING_O200K_BASE},
        {"gpt-4o-mini-2024-07-18", PL_ENCODING_O200K_BASE},
        {"gpt-4.1-nano", PL_ENCODING_O200K_BASE},
        {"gpt-5", PL_ENCODING_O200K_BASE},
        {"openai/gpt-5-mini", PL_ENCODING_O200K_BASE},
        {"o3-mini", PL_ENCODING_O200K_BASE},
        {"gpt-oss-20b", PL_ENCODING_O200K_BASE},
        {"ft:gpt-4o-mini:acme::abc", PL_ENCODING_O200K_BASE},
        {"gpt-4", PL_ENCODING_CL100K_BASE},
        {"gpt-4-turbo-2024-04-09", PL_ENCODING_CL100K_BASE},
        {"gpt-3.5-turbo", PL_ENCODING_CL100K_BASE},
        {"ft:gpt-3.5-turbo:acme::abc", PL_ENCODING_CL100K_BASE},
        {"text-embedding-3-large", PL_ENCODING_CL100K_BASE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_model_counting found = pl_model_counting_find(pl_str_of(cases[i].model));
        assert_int_equal(found.encoding, cases[i].encoding);
        assert_int_equal(found.percent, 100);
        assert_false(found.is_estimated);
    }
}

static void models_without_one_are_estimated_on_the_high_side(void **state)
{
    (void)state;
    static const char *const models[] = {"claude-opus-5",  "anthropic/claude-sonnet-4-5",
                                         "gemini-2.5-pro", "models/gemini-3-pro",
                                         "something-new",  ""};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct pl_model_counting found = pl_model_counting_find(pl_str_of(models[i]));
        assert_true(found.is_estimated);
        assert_true(found.percent > 100);
    }
}

static void scaling_rounds_up_and_leaves_exact_counts_alone(void **state)
{
    (void)state;
    struct pl_model_counting exact = {.percent = 100}, about = {.percent = 120};
    assert_int_equal(pl_model_counting_scale(&exact, 12345), 12345);
    assert_int_equal(pl_model_counting_scale(&about, 0), 0);
    assert_int_equal(pl_model_counting_scale(&about, 1), 2);
    assert_int_equal(pl_model_counting_scale(&about, 5), 6);
    assert_int_equal(pl_model_counting_scale(&about, 1000), 1200);
    assert_int_equal(pl_model_counting_scale(&about, 1001), 1202);
}

static void every_encoding_knows_what_a_message_adds(void **state)
{
    (void)state;
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        const struct pl_chat_overhead *overhead = pl_chat_overhead_of((enum pl_encoding)i);
        assert_int_equal(overhead->per_message, 3);
        assert_int_equal(overhead->per_reply, 3);
        assert_true(overhead->per_tool > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_with_a_public_tokenizer_are_exact),
        cmocka_unit_test(models_without_one_are_estimated_on_the_high_side),
        cmocka_unit_test(scaling_rounds_up_and_leaves_exact_counts_alone),
        cmocka_unit_test(every_encoding_knows_what_a_message_adds),
    };
    return cmocka_run_group_tests_name("tokens/model", tests, NULL, NULL);
}
