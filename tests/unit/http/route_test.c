#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/routes/route.h"

static void nothing(struct pl_exchange *x)
{
    (void)x;
}

static const struct pl_route things[] = {
    {PL_METHOD_GET, "/things", 0, 0, nothing, "things_list"},
    {PL_METHOD_POST, "/things", 0, 0, nothing, "things_create", .request = "Thing"},
    {PL_METHOD_GET, "/things/{id}", 0, 0, nothing, "thing_get"},
    {PL_METHOD_DELETE, "/things/{id}", 0, 0, nothing, "thing_delete"},
    {PL_METHOD_GET, "/things/newest", 0, 0, nothing, "thing_newest"},
    {.path = NULL},
};
static const struct pl_route others[] = {
    {PL_METHOD_POST, "/things/{id}/parts/{part}", PL_ROUTE_LARGE, 0, nothing, "part_add",
     .request = "Part"},
    {.path = NULL},
};
static const struct pl_route *const tables[] = {things, others, NULL};

struct found {
    enum pl_status status;
    const struct pl_route *route;
    struct pl_str args[PL_ROUTE_MAX_ARGS];
    char allow[64];
};

static struct found find(struct pl_arena *arena, enum pl_method method, struct pl_str path)
{
    struct pl_target target;
    struct found found = {0};
    assert_int_equal(pl_target_parse(arena, path, &target, NULL), PL_OK);
    found.status = pl_route_find(method, &target, &found.route, found.args, found.allow);
    return found;
}

static void a_path_finds_its_route_in_any_table(void **state)
{
    struct pl_arena *arena = *state;
    assert_string_equal(find(arena, PL_METHOD_GET, PL_STR("/things")).route->id, "things_list");
    struct found part = find(arena, PL_METHOD_POST, PL_STR("/things/a%20b/parts/7"));
    assert_string_equal(part.route->id, "part_add");
    assert_true(pl_str_eq(part.args[0], PL_STR("a b")));
    assert_true(pl_str_eq(part.args[1], PL_STR("7")));
}

static void a_literal_segment_comes_before_a_brace(void **state)
{
    struct pl_arena *arena = *state;
    assert_string_equal(find(arena, PL_METHOD_GET, PL_STR("/things/newest")).route->id,
                        "thing_newest");
    assert_string_equal(find(arena, PL_METHOD_GET, PL_STR("/things/oldest")).route->id,
                        "thing_get");
}

static void head_finds_get(void **state)
{
    assert_string_equal(find(*state, PL_METHOD_HEAD, PL_STR("/things/1")).route->id, "thing_get");
}

static void a_method_that_is_not_there_is_told_those_that_are(void **state)
{
    struct found found = find(*state, PL_METHOD_PUT, PL_STR("/things/1"));
    assert_int_equal(found.status, PL_CONFLICT);
    assert_non_null(strstr(found.allow, "GET"));
    assert_non_null(strstr(found.allow, "HEAD"));
    assert_non_null(strstr(found.allow, "DELETE"));
    assert_null(strstr(found.allow, "POST"));
}

static void a_path_that_only_begins_like_a_route_is_not_found(void **state)
{
    struct pl_arena *arena = *state;
    assert_int_equal(find(arena, PL_METHOD_GET, PL_STR("/thing")).status, PL_NOT_FOUND);
    assert_int_equal(find(arena, PL_METHOD_GET, PL_STR("/things/1/parts")).status, PL_NOT_FOUND);
    assert_int_equal(find(arena, PL_METHOD_GET, PL_STR("/things//parts/1")).status, PL_NOT_FOUND);
}

static void how_long_a_body_may_be_follows_from_the_line(void **state)
{
    (void)state;
    assert_int_equal(pl_route_max_body(&things[0]), 0);
    assert_int_equal(pl_route_max_body(&things[1]), 4 << 20);
    assert_int_equal(pl_route_max_body(&others[0]), 32 << 20);
}

static int make_arena(void **state)
{
    static struct pl_arena arena;
    pl_arena_init(&arena, 0);
    pl_routes_use(tables);
    *state = &arena;
    return 0;
}

static int free_arena(void **state)
{
    pl_arena_deinit(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_route_in_any_table),
        cmocka_unit_test(a_literal_segment_comes_before_a_brace),
        cmocka_unit_test(head_finds_get),
        cmocka_unit_test(a_method_that_is_not_there_is_told_those_that_are),
        cmocka_unit_test(a_path_that_only_begins_like_a_route_is_not_found),
        cmocka_unit_test(how_long_a_body_may_be_follows_from_the_line),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
