/* What two texts share at their ends is only a shortcut: it never changes the answer. */
#include "carry/same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/source.h"

static const enum pl_same_place places[] = {PL_SAME_DATA, PL_SAME_ROAD, PL_SAME_TEXT};

static void compare(const struct pl_json_doc *a, const struct pl_json_doc *b,
                    const struct pl_same_bytes *bytes, uint32_t i, uint32_t j)
{
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        bool slowly = false, quickly = false;
        assert_int_equal(pl_same_check(a, a->root + i, b, b->root + j, places[p], NULL, &slowly),
                         PL_OK);
        assert_int_equal(pl_same_check(a, a->root + i, b, b->root + j, places[p], bytes, &quickly),
                         PL_OK);
        if (slowly != quickly)
            fail_msg("nodes %u and %u of %.*s and %.*s", i, j, PL_STR_ARG(a->text),
                     PL_STR_ARG(b->text));
    }
}

static void places_tell_what_values_tell(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"a\":1,\"b\":{\"c\":[1,2,3]}}",
        "{\"a\":1,\"b\":{\"c\":[1,20,3]}}",
        "{\"a\":1,\"b\":{\"c\":[1,2.0,3]}}",
        "{\"a\":1,\"b\":{\"c\":[1,2]}}",
        "{\"a\":1,\"b\":{\"c\":[1,[2],3]}}",
        "{\"a\":1,\"b\":{\"d\":[1,2,3]}}",
        "{\"b\":{\"c\":[1,2,3]},\"a\":1}",
        "{\"a\":2,\"b\":{\"c\":[1,2,3]},\"a\":1}",
        "{\"a\":2,\"b\":{\"c\":[1,2,3]}}",
        "{\"a\":1,\"b\":{\"c\":[1,2,3],\"c\":[1,20,3]}}",
        "{\"a\":1,\"b\":{\"c\":[1,2,3]} }",
        " {\"a\":1, \"b\":{\"c\":[1,2,3]}}",
        "{\"a\":1,\"b\":{\"\\u0063\":[1,2,3]}}",
        "[\"text\",\"te\\u0078t\",\"tex\"]",
        "[\"text\",\"text\",\"tex\"]",
        "[\"text\",\"text\",\"texts\"]",
        "[\"text\",{\"type\":\"text\",\"text\":\"text\"},\"tex\"]",
        "[\"text\",{\"type\":\"text\",\"text\":\"texts\"},\"tex\"]",
        "[\"text\",[\"text\"],\"tex\"]",
        "[[],[[]],[]]",
        "[[[]],[],[]]",
        "12",
        "123",
        "1.2e1",
    };
    enum { N = sizeof texts / sizeof *texts };
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc docs[N];
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(pl_source_parse(&arena, pl_str_of(texts[i]), &docs[i], NULL), PL_OK);
    for (size_t x = 0; x < N; x++)
        for (size_t y = 0; y < N; y++) {
            struct pl_same_bytes bytes = pl_same_bytes_of(&docs[x], &docs[y]);
            for (uint32_t i = 0; i < docs[x].n_nodes; i++)
                for (uint32_t j = 0; j < docs[y].n_nodes; j++)
                    compare(&docs[x], &docs[y], &bytes, i, j);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_tell_what_values_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
