#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/table.h"

#include <stdio.h>

struct thing {
    struct pl_table_link link;
    char name[16];
};

static void name_thing(struct thing *thing, int number)
{
    int n = snprintf(thing->name, sizeof thing->name, "thing %d", number);
    thing->link.key = (struct pl_str){thing->name, (size_t)n};
}

static void what_was_put_is_found_until_it_is_removed(void **state)
{
    (void)state;
    struct pl_table table = {0};
    static struct thing things[1000];
    for (int i = 0; i < 1000; i++) {
        name_thing(&things[i], i);
        assert_null(pl_table_get(&table, things[i].link.key));
        assert_true(pl_table_put(&table, &things[i].link));
    }
    for (int i = 0; i < 1000; i += 2)
        pl_table_remove(&table, &things[i].link);
    assert_int_equal(table.n_links, 500);
    for (int i = 0; i < 1000; i++) {
        struct pl_table_link *found = pl_table_get(&table, things[i].link.key);
        if (i % 2)
            assert_ptr_equal(PL_CONTAINER_OF(found, struct thing, link), &things[i]);
        else
            assert_null(found);
    }
    pl_table_deinit(&table);
}

static void walking_visits_each_once(void **state)
{
    (void)state;
    struct pl_table table = {0};
    static struct thing things[100];
    for (int i = 0; i < 100; i++) {
        name_thing(&things[i], i);
        assert_true(pl_table_put(&table, &things[i].link));
    }
    int n_seen[100] = {0};
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&table, link));)
        n_seen[PL_CONTAINER_OF(link, struct thing, link) - things]++;
    for (int i = 0; i < 100; i++)
        assert_int_equal(n_seen[i], 1);
    pl_table_deinit(&table);
}

static void an_empty_table_has_nothing(void **state)
{
    (void)state;
    struct pl_table table = {0};
    assert_null(pl_table_get(&table, PL_STR("x")));
    assert_null(pl_table_next(&table, NULL));
    pl_table_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_until_it_is_removed),
        cmocka_unit_test(walking_visits_each_once),
        cmocka_unit_test(an_empty_table_has_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
