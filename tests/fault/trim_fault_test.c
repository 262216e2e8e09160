/* Counting and trimming survive running out of memory: the status says so, the result stays
 * unchanged, nothing leaks. */
#include "fault/fault.h"
#include "document/segments.h"
#include "document/trim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* An image, a sound, results and exchanges to leave out, and a late result: every step is used. */
static const char chat[] =
    "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\","
    "\"description\":\"Reads.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"p\":{"
    "\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}}}}],\"messages\":["
    "{\"role\":\"system\",\"content\":\"r\\u0075les\"},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image_url\","
    "\"image_url\":{\"url\":\"https://x.test/a.png\"}},{\"type\":\"input_audio\",\"input_audio\":{"
    "\"data\":\"AAAAAAAAAAAAAAAAAAAAAAAA\",\"format\":\"mp3\"}}]},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one two three four five six seven "
    "eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen\"},"
    "{\"role\":\"assistant\",\"content\":\"fine\"},"
    "{\"role\":\"user\",\"content\":\"again\"},{\"role\":\"assistant\",\"content\":\"well\"},"
    "{\"role\":\"user\",\"content\":\"last\"}]}";

static enum pl_status count(void *ctx)
{
    struct pl_count_choice choice = {0};
    struct pl_counted counted = {.n_tokens = 7};
    enum pl_status status = pl_count_document(pl_str_of(ctx), NULL, &choice, &counted, NULL);
    assert_int_equal(counted.n_tokens == 7, status != PL_OK);
    return status;
}

static enum pl_status count_segments(void *ctx)
{
    struct pl_segment_known known = {.words = PL_STR("rules"), .kind = PL_SEGMENT_MEMORY};
    struct pl_segments segments = {.counted.n_tokens = 7};
    enum pl_status status = pl_segments_count(pl_str_of(ctx), NULL, &known, 1, &segments, NULL);
    assert_int_equal(segments.counted.n_tokens == 7, status != PL_OK);
    return status;
}

static enum pl_status trim(void *ctx)
{
    struct pl_trim_request request = {.max_tokens = *(uint64_t *)ctx};
    struct pl_trimmed_document made;
    pl_trimmed_document_init(&made);
    enum pl_status status = pl_trim_document(pl_str_of(chat), &request, &made, NULL);
    assert_int_equal(made.out.len > 0, status == PL_OK);
    assert_int_equal(made.report.len > 0, status == PL_OK);
    pl_trimmed_document_deinit(&made);
    return status;
}

static void counting_a_document(void **state)
{
    (void)state;
    assert_true(pl_fault_each(count, (void *)chat) > 10);
    assert_true(pl_fault_each(count_segments, (void *)chat) > 10);
}

static void trimming_to_placeholders_and_stubs(void **state)
{
    (void)state;
    uint64_t max_tokens = 120;
    assert_true(pl_fault_each(trim, &max_tokens) > 20);
}

static void trimming_whole_exchanges(void **state)
{
    (void)state;
    uint64_t max_tokens = 70;
    assert_true(pl_fault_each(trim, &max_tokens) > 20);
}

static void refusing_what_cannot_fit(void **state)
{
    (void)state;
    uint64_t max_tokens = 5;
    assert_true(pl_fault_each_expecting(trim, &max_tokens, PL_INVALID) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_a_document),
        cmocka_unit_test(trimming_to_placeholders_and_stubs),
        cmocka_unit_test(trimming_whole_exchanges),
        cmocka_unit_test(refusing_what_cannot_fit),
    };
    return cmocka_run_group_tests_name("fault/trim", tests, NULL, NULL);
}
