/* Spans: which are sampled, what a child inherits, and that an unreachable collector costs only
 * spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/hash.h"
#include "shard/shard.h"
#include "shard/tracing.h"

static struct pl_tracer *make(size_t percent)
{
    struct pl_tracer *tracer = NULL;
    struct pl_tracer_config config = {"http://127.0.0.1:1", NULL, percent};
    assert_int_equal(pl_tracer_create(&config, &tracer, NULL), PL_OK);
    return tracer;
}

static void trace_of(uint64_t i, char text[PL_TRACE_DIGITS + 1])
{
    struct pl_str number = {(const char *)&i, sizeof i};
    uint64_t hash = pl_hash_quick(number);
    snprintf(text, PL_TRACE_DIGITS + 1, "%016llx%016llx", (unsigned long long)(i + 1),
             (unsigned long long)hash);
}

static void the_share_is_kept_and_the_answer_stays_the_same(void **state)
{
    static const size_t shares[] = {0, 1, 25, 50, 99, 100};
    enum { N = 20000 };
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        struct pl_tracer *tracer = make(shares[s]);
        size_t n = 0;
        for (uint64_t i = 0; i < N; i++) {
            char trace[PL_TRACE_DIGITS + 1];
            trace_of(i, trace);
            bool is_in = pl_tracer_samples(tracer, pl_str_of(trace));
            assert_int_equal(is_in, pl_tracer_samples(tracer, pl_str_of(trace)));
            n += is_in;
        }
        size_t wanted = N * shares[s] / 100, slack = shares[s] % 100 ? N / 50 : 0;
        assert_true(n + slack >= wanted && n <= wanted + slack);
        pl_tracer_destroy(tracer);
    }
    assert_false(pl_tracer_samples(NULL, PL_STR("0123456789abcdef0123456789abcdef")));
}

static void a_part_has_the_trace_of_its_whole(void **state)
{
    struct pl_span whole, part, none = {0};
    (void)state;
    pl_span_begin(&whole, PL_STR("0123456789abcdef0123456789abcdef"), (struct pl_str){0},
                  (struct pl_str){0}, 0x1234, true);
    assert_string_equal(whole.parent, "");
    assert_int_equal(strlen(whole.id), PL_SPAN_DIGITS);
    pl_span_begin_part(&part, &whole, PL_STR("00000000000000aa"), 0);
    assert_string_equal(part.trace_id, whole.trace_id);
    assert_string_equal(part.parent, whole.id);
    assert_string_equal(part.id, "00000000000000aa");
    assert_true(part.is_told);
    pl_span_begin_part(&part, &none, (struct pl_str){0}, 0);
    assert_false(part.is_told);
    assert_string_not_equal(part.id, "0000000000000000");
    /* An id of another length is invalid. */
    pl_span_begin(&part, PL_STR("short"), PL_STR("short"), PL_STR("short"), 0, true);
    assert_false(part.is_told);
}

static void the_buffer_has_an_end_and_what_is_over_it_is_counted(void **state)
{
    struct pl_tracer *tracer = make(100);
    char text[256];
    (void)state;
    memset(text, 'x', sizeof text);
    struct pl_span_fact facts[] = {{"a", {text, sizeof text}, -1}, {"b", {0}, 7}, {"c", {0}, -1}};
    /* At least two buffers: the thread may hold one. */
    for (size_t i = 0; i < 40000; i++) {
        struct pl_span span;
        pl_span_begin(&span, PL_STR("0123456789abcdef0123456789abcdef"), (struct pl_str){0},
                      (struct pl_str){0}, i, true);
        struct pl_span_about about = {
            .name = "n", .kind = PL_SPAN_INTERNAL, .facts = facts, .n_facts = 3};
        pl_span_end(tracer, &span, &about);
        pl_span_end(tracer, &span, &about); /* counts once */
    }
    struct pl_tracer_numbers numbers = pl_tracer_look(tracer);
    assert_true(numbers.n_dropped > 0 && numbers.n_dropped < 40000);
    assert_int_equal(numbers.n_sent, 0);
    pl_tracer_destroy(tracer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_kept_and_the_answer_stays_the_same),
        cmocka_unit_test(a_part_has_the_trace_of_its_whole),
        cmocka_unit_test(the_buffer_has_an_end_and_what_is_over_it_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
