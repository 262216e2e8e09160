/* Ids for calls without one, and media types by their first bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "conv/call_ids.h"
#include "conv/media/sniff.h"

struct step {
    enum pl_part_kind kind;
    const char *id, *name; /* NULL: absent */
    const char *wanted;    /* the id afterwards */
};

static struct pl_val text_or_none(const char *text)
{
    return text ? pl_val_text(pl_str_of(text)) : (struct pl_val){0};
}

static void expect_ids(const struct step *steps, size_t n, size_t n_losses)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, PL_STR("{}"), NULL, &doc, NULL), PL_OK);
    struct pl_conv conv;
    assert_int_equal(pl_conv_init(&conv, &arena, &doc), PL_OK);
    for (size_t i = 0; i < n; i++) {
        bool is_call = steps[i].kind == PL_PART_CALL;
        pl_conv_add_message(&conv, is_call ? PL_ROLE_ASSISTANT : PL_ROLE_TOOL, NULL, (uint32_t)i);
        struct pl_part *part = pl_conv_add_part(&conv, steps[i].kind, NULL);
        part->id = text_or_none(steps[i].id);
        part->name = text_or_none(steps[i].name);
    }
    pl_conv_give_ids(&conv);
    assert_int_equal(conv.status, PL_OK);
    for (size_t i = 0; i < n; i++) {
        struct pl_str id = pl_conv_text(&conv, conv.parts.ptr[i].id);
        if (!pl_str_eq(id, pl_str_of(steps[i].wanted)))
            fail_msg("step %zu has the id %.*s instead of %s", i, PL_STR_ARG(id), steps[i].wanted);
    }
    assert_int_equal(conv.losses.len, n_losses);
    pl_conv_deinit(&conv);
}

#define CALL(id, name, wanted)                                                                     \
    {                                                                                              \
        PL_PART_CALL, id, name, wanted                                                             \
    }
#define RESULT(id, name, wanted)                                                                   \
    {                                                                                              \
        PL_PART_RESULT, id, name, wanted                                                           \
    }
#define EXPECT(n_losses, ...)                                                                      \
    expect_ids((struct step[]){__VA_ARGS__},                                                       \
               sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step), n_losses)

static void test_ids_that_are_there_stay(void **state)
{
    (void)state;
    EXPECT(0, CALL("x", "f", "x"), RESULT("x", NULL, "x"));
}

static void test_results_pair_by_order_within_a_name(void **state)
{
    (void)state;
    EXPECT(3, CALL(NULL, "f", "call_1"), CALL(NULL, "g", "call_2"), CALL(NULL, "f", "call_3"),
           RESULT(NULL, "g", "call_2"), RESULT(NULL, "f", "call_1"), RESULT(NULL, "f", "call_3"));
}

static void test_a_result_without_a_name_answers_the_first_open_call(void **state)
{
    (void)state;
    EXPECT(1, CALL("a", "f", "a"), CALL(NULL, "g", "call_1"), RESULT("a", NULL, "a"),
           RESULT(NULL, NULL, "call_1"));
}

static void test_an_answered_call_is_not_answered_again(void **state)
{
    (void)state;
    EXPECT(2, CALL(NULL, "f", "call_1"), RESULT(NULL, "f", "call_1"), RESULT(NULL, "f", "call_2"));
}

static void test_an_id_of_the_source_is_not_given_out(void **state)
{
    (void)state;
    EXPECT(1, CALL(NULL, "f", "call_2"), CALL("call_1", "f", "call_1"),
           RESULT("call_1", NULL, "call_1"), RESULT(NULL, "f", "call_2"));
}

static void test_an_empty_id_is_none(void **state)
{
    (void)state;
    EXPECT(1, CALL("", "f", "call_1"), RESULT("", "f", "call_1"));
}

static void test_ten_thousand_calls_take_no_time(void **state)
{
    (void)state;
    enum { N = 10000 };
    static struct step steps[2 * N];
    static char ids[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "call_%d", i + 1);
        steps[i] = (struct step)CALL(NULL, "f", ids[i]);
        steps[N + i] = (struct step)RESULT(NULL, "f", ids[i]);
    }
    expect_ids(steps, 2 * N, N);
}

static void test_media_types_are_known_by_their_first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *base64, *mime;
    } samples[] = {
        {"iVBORw0KGgoAAAANSUhEUg==", "image/png"},
        {"/9j/4AAQSkZJRg==", "image/jpeg"},
        {"R0lGODlhAQABAAAAACw=", "image/gif"},
        {"UklGRv////9XRUJQVlA4IA==", "image/webp"},
        {"UklGRiQQAABXQVZFZm10IA==", "audio/wav"},
        {"JVBERi0xLjc=", "application/pdf"},
        {"SUQzAAAA", "audio/mpeg"},
        {"UklGRiQQAABYWFhY", NULL},
        {"aGVsbG8=", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const char *mime = pl_sniff_mime(pl_str_of(samples[i].base64));
        if (samples[i].mime)
            assert_string_equal(mime ? mime : "", samples[i].mime);
        else
            assert_null(mime);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_that_are_there_stay),
        cmocka_unit_test(test_results_pair_by_order_within_a_name),
        cmocka_unit_test(test_a_result_without_a_name_answers_the_first_open_call),
        cmocka_unit_test(test_an_answered_call_is_not_answered_again),
        cmocka_unit_test(test_an_id_of_the_source_is_not_given_out),
        cmocka_unit_test(test_an_empty_id_is_none),
        cmocka_unit_test(test_ten_thousand_calls_take_no_time),
        cmocka_unit_test(test_media_types_are_known_by_their_first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
