/* The size of a request: strings and keys, but no numbers or containers; long strings are media. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gateway/call.h"

enum { MAX_TEXT = 64 << 10 };

static struct pl_gateway_call_size size_of(struct pl_str text)
{
    struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, text, &pl_json_any, &doc, NULL), PL_OK);
    struct pl_gateway_call_size size = pl_gateway_call_measure(&doc);
    pl_arena_deinit(&arena);
    return size;
}

static void strings_count_with_one_of_their_quotes(void **state)
{
    (void)state;
    struct pl_gateway_call_size size = size_of(PL_STR("{\"key\":[12,true,{\"k\":\"abc\"},\"\"]}"));
    assert_int_equal(size.n_text_bytes, 4 + 2 + 4 + 1);
    assert_int_equal(size.n_media, 0);
}

/* Four nodes are measured at once: every number of nodes is right, wherever the string is. */
static void every_number_of_nodes_is_measured(void **state)
{
    (void)state;
    for (size_t n = 1; n < 20; n++) {
        for (size_t at = 0; at < n; at++) {
            PL_CLEANUP_BUF struct pl_buf text;
            pl_buf_init(&text, 0);
            for (size_t i = 0; i < n; i++) {
                pl_buf_addc(&text, i ? ',' : '[');
                pl_buf_adds(&text, i == at ? "\"four\"" : "4");
            }
            pl_buf_addc(&text, ']');
            assert_int_equal(size_of(pl_buf_str(&text)).n_text_bytes, 5);
        }
    }
}

static void a_string_that_is_too_long_for_text_is_a_medium(void **state)
{
    (void)state;
    for (size_t n = MAX_TEXT - 1; n <= MAX_TEXT + 1; n++) { /* quotes included */
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_buf_adds(&text, "[\"");
        for (size_t i = 2; i < n; i++)
            pl_buf_addc(&text, 'a');
        pl_buf_adds(&text, "\",\"b\"]");
        struct pl_gateway_call_size size = size_of(pl_buf_str(&text));
        bool is_medium = n > MAX_TEXT;
        assert_int_equal(size.n_media, is_medium);
        assert_int_equal(size.n_text_bytes, 2 + (is_medium ? 0 : n - 1));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(strings_count_with_one_of_their_quotes),
    cmocka_unit_test(every_number_of_nodes_is_measured),
    cmocka_unit_test(a_string_that_is_too_long_for_text_is_a_medium),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
