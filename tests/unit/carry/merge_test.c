/* Three-way merges: our version, the base, and the new version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/home/merge.h"
#include "format/source.h"

static void merges_with(const char *ours, const char *base, const char *theirs, const char *wanted,
                        bool is_coarse)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf to;
    struct pl_json_doc a, b, c;
    pl_arena_init(&arena, 0);
    pl_buf_init(&to, 0);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(ours), &a, NULL), PL_OK);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(base), &b, NULL), PL_OK);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(theirs), &c, NULL), PL_OK);
    struct pl_merge merge = {.arena = &arena,
                             .ours = &a,
                             .ours_text = pl_str_of(ours),
                             .base = &b,
                             .theirs = &c,
                             .place = PL_SAME_ROAD,
                             .is_coarse = is_coarse};
    assert_int_equal(pl_merge_put(&merge, &to, a.root, b.root, c.root), PL_OK);
    if (!pl_str_eq(pl_buf_str(&to), pl_str_of(wanted)))
        fail_msg("%.*s\ninstead of %s", PL_STR_ARG(pl_buf_str(&to)), wanted);
}

static void merges(const char *ours, const char *base, const char *theirs, const char *wanted)
{
    merges_with(ours, base, theirs, wanted, false);
}

static void what_was_not_changed_keeps_its_bytes(void **state)
{
    (void)state;
    merges("{ \"a\" : 1.0 , \"b\":[ 1,\t2 ] }", "{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}",
           "{ \"a\" : 1.0 , \"b\":[ 1,\t2 ] }");
    merges("{ \"a\" : 1.0 ,\n \"b\" : \"x\\u0041\" }", "{\"a\":1,\"b\":\"xA\"}",
           "{\"a\":2,\"b\":\"xA\"}", "{ \"a\" : 2 ,\n \"b\" : \"x\\u0041\" }");
}

static void what_only_ours_says_stays(void **state)
{
    (void)state;
    merges("{\"own\":{\"k\":1}, \"a\":1}", "{\"a\":1}", "{\"a\":2}",
           "{\"own\":{\"k\":1}, \"a\":2}");
}

static void members_are_added_and_removed(void **state)
{
    (void)state;
    merges("{\n  \"a\": 1,\n  \"b\": 2\n}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2,\"c\":3}",
           "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\":3\n}");
    merges("{ \"a\": 1, \"b\": 2, \"c\": 3 }", "{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"c\":3}",
           "{ \"a\": 1, \"c\": 3 }");
    merges("{ \"a\": 1 }", "{\"a\":1}", "{}", "{ }");
    merges("{}", "{}", "{\"a\":[1]}", "{\"a\":[1]}");
}

static void comments_of_a_lenient_source_stay(void **state)
{
    (void)state;
    merges("{ // one\n \"a\": 1, /* two */ \"b\": 2, }", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}",
           "{ // one\n \"a\": 1, /* two */ \"b\": 3, }");
}

static void elements_are_inserted_removed_and_moved(void **state)
{
    (void)state;
    merges("[ \"one\", \"two\" ]", "[\"one\",\"two\"]", "[\"zero\",\"one\",\"two\"]",
           "[ \"zero\", \"one\", \"two\" ]");
    merges("[ \"one\", \"two\", \"three\" ]", "[\"one\",\"two\",\"three\"]", "[\"one\",\"three\"]",
           "[ \"one\", \"three\" ]");
    merges("[{\"id\":\"a\",  \"own\":1},{\"id\":\"b\",  \"own\":2}]",
           "[{\"id\":\"a\"},{\"id\":\"b\"}]", "[{\"id\":\"b\"},{\"id\":\"a\"}]",
           "[{\"id\":\"b\",  \"own\":2},{\"id\":\"a\",  \"own\":1}]");
}

static void a_coarse_merge_takes_changed_elements_whole(void **state)
{
    (void)state;
    merges_with("[{\"id\":\"a\",\"t\":1,\"own\":1}, {\"id\":\"b\",\"own\":2}]",
                "[{\"id\":\"a\",\"t\":1},{\"id\":\"b\"}]",
                "[{\"id\":\"a\",\"t\":2},{\"id\":\"b\"}]",
                "[{\"id\":\"a\",\"t\":2}, {\"id\":\"b\",\"own\":2}]", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_changed_keeps_its_bytes),
        cmocka_unit_test(what_only_ours_says_stays),
        cmocka_unit_test(members_are_added_and_removed),
        cmocka_unit_test(comments_of_a_lenient_source_stay),
        cmocka_unit_test(elements_are_inserted_removed_and_moved),
        cmocka_unit_test(a_coarse_merge_takes_changed_elements_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
