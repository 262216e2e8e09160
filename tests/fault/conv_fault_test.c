/* Repairing and linting a conversation with every allocation refused in turn. */
#include "conv/lint/lint.h"
#include "conv/repair/repair.h"
#include "conv/tool_error.h"

#include "fault/fault.h"
#include "unit/conv/talk.h"

/* A document with a little of every fault. */
static const char broken[] =
    "{\"thinking\":{\"type\":\"enabled\"},\"temperature\":1.5,"
    "\"tools\":[{\"name\":\"f\",\"cache\":1,\"schema\":{\"type\":\"object\",\"required\":[\"x\"]}}]"
    ","
    "\"messages\":[{\"assistant\":[\"hello\",{\"image\":\"https://x.test/"
    "a?se=2024-01-01&sig=a\"}]},"
    "{\"user\":[\"\"]},{\"user\":[{\"text\":\"q\",\"cache\":2}],\"id\":\"m\"},"
    "{\"system\":[\"s\"]},{\"user\":[\"r\"],\"id\":\"m\"},"
    "{\"assistant\":[{\"call\":\"call_a\",\"name\":\"f\",\"args\":\"{oops\"},"
    "{\"call\":\"call_a\",\"name\":\"f\",\"args\":\"{}\"},{\"call\":\"c\",\"name\":\"g\"}],"
    "\"name\":\"X\",\"metadata\":{\"citation_map\":{\"c1\":{}}}},"
    "{\"system\":[\"s2\"]},{\"tool\":[{\"result\":\"call_a\",\"content\":[\"\",\"Error\"]}]},"
    "{\"tool\":[{\"result\":\"zzz\",\"content\":[{\"image\":\"u\"},\"sk-abcdefghijklmnopqrstuvw\"]}"
    "]},"
    "{\"tool\":[{\"result\":\"c\",\"content\":[{\"image\":\"u\"}]}]},"
    "{\"assistant\":[\"see <cite id=\\\"c2\\\"/> \"],\"name\":\"Y\"}]}";

static enum pl_status repairs(void *ctx)
{
    struct talk t;
    enum pl_status status = talk_try(&t, broken);
    if (status == PL_OK)
        status = pl_conv_repair(&t.conv, ctx);
    talk_deinit(&t);
    return status;
}

static enum pl_status lints(void *ctx)
{
    struct talk t;
    PL_CLEANUP_FINDINGS struct pl_findings found = {0};
    enum pl_status status = talk_try(&t, broken);
    if (status == PL_OK)
        status = pl_conv_lint(&t.conv, ctx, &found);
    assert_int_equal(found.list.len > 0, status == PL_OK);
    talk_deinit(&t);
    return status;
}

static enum pl_status says_in_chinese(void *ctx)
{
    struct talk t;
    PL_CLEANUP_FINDINGS struct pl_findings found = {0};
    enum pl_status status = talk_try(&t, broken);
    if (status == PL_OK)
        status = pl_conv_lint(&t.conv, ctx, &found);
    if (status == PL_OK && !pl_findings_to_chinese(&found, t.conv.arena))
        status = PL_NOMEM;
    talk_deinit(&t);
    return status;
}

/* A text, an object without some members, and an array. */
static enum pl_status wraps_errors(void *ctx)
{
    (void)ctx;
    static const char *const results[] = {"\"it \\u4e2d failed\"", "{\"code\":5}", "[1,2]"};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof results / sizeof *results && status == PL_OK; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf to;
        struct pl_json_doc doc;
        pl_arena_init(&arena, 0);
        pl_buf_init(&to, 0);
        status = pl_json_parse(&arena, pl_str_of(results[i]), NULL, &doc, NULL);
        if (status == PL_OK)
            status = pl_tool_error_wrap(&to, PL_TOOL_ERROR_FAILED, &doc, doc.root);
        if (status == PL_OK && !pl_tool_error_is_text(pl_buf_str(&to), &status))
            assert_int_equal(status, PL_NOMEM);
    }
    return status;
}

static void wrapping_an_error_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(wraps_errors, NULL) > 3);
}

static void repairing_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct pl_repair_rules strict = {
        .pairs_calls = true,
        .wants_results_adjacent = true,
        .wants_results_together = true,
        .wants_call_order = true,
        .wants_result_names = true,
        .wants_unique_ids = true,
        .id_length = 9,
        .drops_blank = true,
        .refused_in_results = PL_PART_BIT(PL_PART_IMAGE),
        .refused_from_assistant = PL_PART_BIT(PL_PART_IMAGE),
        .max_cache_markers = 1,
        .system_place = PL_SYSTEM_AFTER_USER,
        .wants_user_first = true,
        .wants_alternation = true,
        .refuses_prefill = true,
        .wants_thinking_on_all = true,
        .needs_thinking_history = true,
        .refuses_sampling = true,
    };
    struct pl_repair_rules loose = {.pairs_calls = true,
                                    .system_place = PL_SYSTEM_FIRST_ONLY,
                                    .trims_prefill = true,
                                    .refuses_call_ids = true,
                                    .max_temperature = "1",
                                    .max_id_length = 4,
                                    .wants_tools_for_calls = true,
                                    .wants_tools_for_choice = true,
                                    .refused_from_user = PL_PART_BIT(PL_PART_IMAGE),
                                    .refuses_others = true,
                                    .wants_plain_base64 = true,
                                    .refuses_empty_detail = true,
                                    .wants_file_names = true};
    assert_true(pl_fault_each(repairs, &strict) > 10);
    assert_true(pl_fault_each(repairs, &loose) > 5);
}

static void linting_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct pl_lint_opts opts = {.wants_results_adjacent = true,
                                .has_argument_strings = true,
                                .has_json_errors = true,
                                .wants_alternation = true,
                                .wants_user_first = true,
                                .refuses_empty = true,
                                .now_s = 1710928800,
                                .max_tokens = 1};
    assert_true(pl_fault_each_tolerant(lints, &opts, PL_OK) > 10);
    assert_true(pl_fault_each_tolerant(says_in_chinese, &opts, PL_OK) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repairing_survives_every_refused_allocation),
        cmocka_unit_test(linting_survives_every_refused_allocation),
        cmocka_unit_test(wrapping_an_error_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
