/* Many pointers into one document: the index finds the same as pl_json_pointer_get. */
#include "json/pointer.h"
#include "json/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* An object and a list, each with n children; names need escapes. */
static void make(struct pl_buf *to, int n)
{
    pl_buf_adds(to, "{\"list\":[");
    for (int i = 0; i < n; i++)
        pl_buf_addf(to, "%s{\"a/%d\":[%d]}", i ? "," : "", i, i);
    pl_buf_adds(to, "],\"names\":{");
    for (int i = 0; i < n; i++)
        pl_buf_addf(to, "%s\"~%d/\\u0041\":%d", i ? "," : "", i, i);
    pl_buf_adds(to, ",\"twice\":1,\"twice\":2}}");
}

static void check(struct pl_json_reach *reach, const char *pointer)
{
    const struct pl_json_node *expected = NULL;
    if (pl_json_pointer_get(reach->doc, pl_str_of(pointer), &expected, NULL) != PL_OK)
        expected = NULL;
    assert_ptr_equal(pl_json_reach_get(reach, reach->doc->root, pl_str_of(pointer)), expected);
    assert_int_equal(reach->status, PL_OK);
}

static void it_finds_what_a_pointer_finds(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    for (int n = 1; n < 40; n += 13) {
        pl_buf_clear(&text);
        make(&text, n);
        struct pl_json_opts opts = {.allows_duplicate_keys = true};
        assert_int_equal(pl_json_parse(&arena, pl_buf_str(&text), &opts, &doc, NULL), PL_OK);
        PL_CLEANUP_REACH struct pl_json_reach reach;
        pl_json_reach_init(&reach, &doc, &arena);
        for (int i = n; i >= 0; i--) {
            static const char *const ways[] = {"/list/%d", "/list/%d/a~1%d", "/list/%d/a~1%d/0",
                                               "/names/~0%d~1A", "/names/~1%d"};
            for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
                PL_CLEANUP_BUF struct pl_buf way;
                pl_buf_init(&way, 0);
                for (const char *c = ways[k]; *c; c++)
                    if (*c != '%')
                        pl_buf_addc(&way, *c);
                    else if (*++c == 'd')
                        pl_buf_addf(&way, "%d", i);
                pl_buf_addc(&way, '\0');
                check(&reach, way.ptr);
            }
        }
        check(&reach, "");
        check(&reach, "/names/twice");
        check(&reach, "/list/-");
        check(&reach, "/list/01");
        check(&reach, "/list/0/x/y");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_finds_what_a_pointer_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
