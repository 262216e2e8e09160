/* Equality and hash of values. */
#include "base/buf.h"
#include "json/equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct pl_json_opts lenient = {
    .allows_duplicate_keys = true, .allows_lone_surrogates = true, .max_depth = 5000};

static bool are_equal(struct pl_str x, struct pl_str y, bool *ret_same_hash)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc a, b;
    assert_int_equal(pl_json_parse(&arena, x, &lenient, &a, NULL), PL_OK);
    assert_int_equal(pl_json_parse(&arena, y, &lenient, &b, NULL), PL_OK);
    bool is_equal, is_equal_back;
    assert_int_equal(pl_json_equal(&a, a.root, &b, b.root, &is_equal), PL_OK);
    assert_int_equal(pl_json_equal(&b, b.root, &a, a.root, &is_equal_back), PL_OK);
    assert_int_equal(is_equal, is_equal_back);
    *ret_same_hash = pl_json_value_hash(&a, a.root) == pl_json_value_hash(&b, b.root);
    return is_equal;
}

static void values_that_say_the_same_are_equal(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"null", " null "},
        {"1", "1.0"},
        {"[1e2, -0]", "[100,0]"},
        {"\"\\u0061\\/\"", "\"a/\""},
        {"\"\\ud83d\\ude00\"", "\"😀\""},
        {"{}", "{ }"},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"\\u0061\":1}"},
        {"[{\"a\":{\"x\":1,\"y\":2},\"b\":0}]", "[{\"b\":0,\"a\":{\"y\":2,\"x\":1}}]"},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":3,\"a\":2}"},
        {"{\"a\":1,\"b\":3,\"a\":2}", "{\"b\":3,\"a\":2}"},
        {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}",
         "{\"j\":10,\"i\":9,\"h\":8,\"g\":7,\"f\":6,\"e\":5,\"d\":4,\"c\":3,\"b\":2,\"a\":1}"},
        {"{\"a\":0,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"a\":1}",
         "{\"i\":9,\"h\":8,\"g\":7,\"f\":6,\"e\":5,\"d\":4,\"c\":3,\"b\":2,\"\\u0061\":1}"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        bool has_same_hash;
        if (!are_equal(pl_str_of(same[i][0]), pl_str_of(same[i][1]), &has_same_hash))
            fail_msg("%s is not %s", same[i][0], same[i][1]);
        if (!has_same_hash)
            fail_msg("%s has another hash than %s", same[i][0], same[i][1]);
    }
}

static void values_that_differ_are_not_equal(void **state)
{
    (void)state;
    static const char *const different[][2] = {
        {"null", "false"},
        {"0", "false"},
        {"1", "\"1\""},
        {"\"a\"", "\"A\""},
        {"\"a\"", "\"ab\""},
        {"[]", "{}"},
        {"[1,2]", "[2,1]"},
        {"[1,2]", "[1]"},
        {"[[],1]", "[[1]]"},
        {"{\"a\":1}", "{\"b\":1}"},
        {"{\"a\":1}", "{\"a\":2}"},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}"},
        {"{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1}"},
        {"{\"a\":null}", "{}"},
        {"{\"a\":{}}", "{\"a\":[]}"},
        {"[{\"a\":1,\"b\":2}]", "[{\"b\":2,\"a\":3}]"},
        {"[0.1]", "[0.10000000000000000000000000000000001]"},
        {"{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":true}]}"},
        {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}",
         "{\"j\":10,\"i\":9,\"h\":8,\"g\":7,\"f\":6,\"e\":5,\"d\":4,\"c\":3,\"b\":2,\"a\":0}"},
        {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}",
         "{\"i\":9,\"h\":8,\"g\":7,\"f\":6,\"e\":5,\"d\":4,\"c\":3,\"b\":2,\"A\":1}"},
    };
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        bool has_same_hash;
        if (are_equal(pl_str_of(different[i][0]), pl_str_of(different[i][1]), &has_same_hash))
            fail_msg("%s is %s", different[i][0], different[i][1]);
        if (has_same_hash)
            fail_msg("%s has the hash of %s", different[i][0], different[i][1]);
    }
}

static void a_subtree_can_be_compared_within_its_document(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(
        pl_json_parse(&arena, PL_STR("[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"), NULL, &doc, NULL),
        PL_OK);
    const struct pl_json_node *first = doc.root + 1, *second = pl_json_next(first);
    bool is_equal = false;
    assert_int_equal(pl_json_equal(&doc, first, &doc, second, &is_equal), PL_OK);
    assert_true(is_equal);
    assert_true(pl_json_value_hash(&doc, first) == pl_json_value_hash(&doc, second));
}

/* {"b":0,"a":{"b":0,"a":… with swapped members in every second level. */
static void nest(struct pl_buf *to, int depth, int turn, const char *core)
{
    pl_buf_init(to, 0);
    for (int i = 0; i < depth; i++)
        pl_buf_adds(to, i % 2 == turn ? "{\"b\":0,\"a\":" : "{\"a\":");
    pl_buf_adds(to, core);
    for (int i = depth; i-- > 0;)
        pl_buf_adds(to, i % 2 == turn ? "}" : ",\"b\":0}");
}

static void depth_is_no_problem(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf x, y, z;
    nest(&x, 4000, 0, "1");
    nest(&y, 4000, 1, "1");
    nest(&z, 4000, 1, "2");
    bool has_same_hash;
    assert_true(are_equal(pl_buf_str(&x), pl_buf_str(&y), &has_same_hash));
    assert_true(has_same_hash);
    assert_false(are_equal(pl_buf_str(&x), pl_buf_str(&z), &has_same_hash));
}

static void members(struct pl_buf *to, int n, int step, int changed)
{
    pl_buf_init(to, 0);
    for (int i = 0, k = 0; i < n; i++, k = (k + step) % n)
        pl_buf_addf(to, "%c\"key%d\":[%d]", i ? ',' : '{', k, k == changed ? -1 : k);
    pl_buf_addc(to, '}');
}

static void large_objects_are_compared_in_any_order(void **state)
{
    (void)state;
    static const int sizes[] = {8, 9, 31, 32, 33, 34, 100, 50021};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        PL_CLEANUP_BUF struct pl_buf x, y, z;
        members(&x, sizes[i], 1, -1);
        members(&y, sizes[i], sizes[i] - 1, -1);
        members(&z, sizes[i], sizes[i] - 1, sizes[i] / 2);
        bool has_same_hash;
        assert_true(are_equal(pl_buf_str(&x), pl_buf_str(&y), &has_same_hash));
        assert_true(has_same_hash);
        assert_false(are_equal(pl_buf_str(&x), pl_buf_str(&z), &has_same_hash));
    }
}

static void long_strings_hash_the_same_in_every_spelling(void **state)
{
    (void)state;
    for (int n = 1020; n < 3080; n++) {
        if (n > 1030 && n < 2040)
            continue;
        PL_CLEANUP_BUF struct pl_buf x, y;
        pl_buf_init(&x, 0);
        pl_buf_init(&y, 0);
        pl_buf_addc(&x, '"');
        pl_buf_addc(&y, '"');
        pl_buf_fill(&x, 'a', (size_t)n);
        pl_buf_fill(&y, 'a', (size_t)n - 1);
        pl_buf_adds(&y, "\\u0061\"");
        pl_buf_addc(&x, '"');
        bool has_same_hash;
        assert_true(are_equal(pl_buf_str(&x), pl_buf_str(&y), &has_same_hash));
        assert_true(has_same_hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_say_the_same_are_equal),
        cmocka_unit_test(values_that_differ_are_not_equal),
        cmocka_unit_test(a_subtree_can_be_compared_within_its_document),
        cmocka_unit_test(depth_is_no_problem),
        cmocka_unit_test(large_objects_are_compared_in_any_order),
        cmocka_unit_test(long_strings_hash_the_same_in_every_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
