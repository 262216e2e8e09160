/* The plan of a cell: a written plan is read back, and anything else is refused. */
#include "ext/cell/plan.h"

#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const whole[][2] = {
    {"argv", "[\"prog\",\"a b\"]"},
    {"env", "[\"A=1\",\"B=\"]"},
    {"mounts", "[{\"from\":\"/x\",\"to\":\"/ext\",\"writable\":false}]"},
    {"cwd", "\"/ext\""},
    {"hosts", "[{\"name\":\"a.example\",\"port\":443},{\"name\":\"*.b.example\",\"port\":0}]"},
    {"processes", "32"},
    {"memory", "268435456"},
    {"file", "67108864"},
    {"fds", "1024"},
    {"uid", "0"},
    {"least", "\"full\""},
    {"missing", "0"},
    {"probe", "false"},
    {"guarded", "false"},
    {"cgroup", "\"/sys/fs/cgroup/x\""},
};
enum { N_WHOLE = sizeof whole / sizeof *whole };

/* The whole plan with one member replaced (NULL: omitted). */
static char *plan_with(const char *name, const char *value)
{
    static char text[1 << 17];
    size_t n = 0;
    const char *comma = "{";
    for (size_t i = 0; i < N_WHOLE; i++) {
        const char *shown = strcmp(whole[i][0], name) == 0 ? value : whole[i][1];
        if (!shown)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%s\":%s", comma, whole[i][0], shown);
        comma = ",";
    }
    snprintf(text + n, sizeof text - n, "}");
    return text;
}

static enum pl_status read_text(const char *text, struct pl_arena *arena,
                                struct pl_cell_plan *ret_plan, struct pl_error *err)
{
    pl_arena_init(arena, 0);
    return pl_cell_plan_read(arena, pl_str_of(text), ret_plan, err);
}

static void assert_refused(const char *name, const char *value)
{
    struct pl_arena arena;
    struct pl_cell_plan plan;
    struct pl_error err = {0};
    if (read_text(plan_with(name, value), &arena, &plan, &err) != PL_USAGE)
        fail_msg("%s was read as %.100s", name, value ? value : "nothing");
    assert_true(err.message[0]);
    pl_arena_deinit(&arena);
}

static void a_plan_is_read_as_it_was_written(void **state)
{
    struct pl_arena arena, again;
    struct pl_cell_plan plan, copy;
    struct pl_error err = {0};
    struct pl_buf text, second;
    (void)state;
    assert_int_equal(read_text(plan_with("", NULL), &arena, &plan, &err), PL_OK);
    assert_string_equal(plan.argv[1], "a b");
    assert_null(plan.argv[2]);
    assert_int_equal(plan.n_mounts, 1);
    assert_int_equal(plan.mounts[0].fd, PL_CELL_FD_MOUNTS);
    assert_int_equal(plan.n_hosts, 2);
    assert_int_equal(plan.least, PL_CELL_FULL);
    pl_buf_init(&text, 0);
    pl_buf_init(&second, 0);
    assert_int_equal(pl_cell_plan_write(&plan, &text), PL_OK);
    pl_arena_init(&again, 0);
    assert_int_equal(pl_cell_plan_read(&again, pl_buf_str(&text), &copy, &err), PL_OK);
    assert_int_equal(pl_cell_plan_write(&copy, &second), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&text), pl_buf_str(&second)));
    pl_buf_deinit(&text);
    pl_buf_deinit(&second);
    pl_arena_deinit(&arena);
    pl_arena_deinit(&again);
}

static void values_of_the_wrong_type_are_refused(void **state)
{
    /* One value of each kind; the member's correct kind is skipped. */
    static const char *const values[] = {"null", "true", "1.5",  "-1",    "\"\\u0000\"",
                                         "[1]",  "{}",   "[[]]", "[null]"};
    (void)state;
    for (size_t i = 0; i < N_WHOLE; i++)
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            bool is_flag = strcmp(whole[i][0], "probe") == 0 || strcmp(whole[i][0], "guarded") == 0;
            if (!(is_flag && strcmp(values[j], "true") == 0))
                assert_refused(whole[i][0], values[j]);
        }
}

static void missing_and_unknown_members_are_refused(void **state)
{
    struct pl_arena arena;
    struct pl_cell_plan plan;
    struct pl_error err = {0};
    (void)state;
    for (size_t i = 0; i < N_WHOLE; i++)
        if (strcmp(whole[i][0], "cwd") != 0 && strcmp(whole[i][0], "cgroup") != 0)
            assert_refused(whole[i][0], NULL);
    static const char *const texts[] = {"", "{", "[]", "1", "{}", "null", "{\"argv\":[]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i], &arena, &plan, &err), PL_USAGE);
        pl_arena_deinit(&arena);
    }
    char text[4096];
    snprintf(text, sizeof text, "{\"more\":1,%s", plan_with("", NULL) + 1);
    assert_int_equal(read_text(text, &arena, &plan, &err), PL_USAGE);
    pl_arena_deinit(&arena);
}

static void values_out_of_their_range_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"argv", "[]"},
        {"env", "[\"A\"]"},
        {"env", "[\"=1\"]"},
        {"cwd", "\"ext\""},
        {"cwd", "\"/a/../b\""},
        {"cwd", "\"/a//b\""},
        {"cwd", "\"/a/\""},
        {"cwd", "\"/./a\""},
        {"cwd", "\"\""},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"/\",\"writable\":false}]"},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"ext\",\"writable\":false}]"},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"/a/..\",\"writable\":false}]"},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"/a\"}]"},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"/a\",\"writable\":1}]"},
        {"mounts", "[{\"from\":\"/x\",\"to\":\"/a\",\"writable\":true,\"more\":1}]"},
        {"hosts", "[{\"name\":\"a b\",\"port\":1}]"},
        {"hosts", "[{\"name\":\"\",\"port\":1}]"},
        {"hosts", "[{\"name\":\"*\",\"port\":1}]"},
        {"hosts", "[{\"name\":\"*.\",\"port\":1}]"},
        {"hosts", "[{\"name\":\"a\\nb\",\"port\":1}]"},
        {"hosts", "[{\"name\":\".a\",\"port\":1}]"},
        {"hosts", "[{\"name\":\"a\",\"port\":65536}]"},
        {"hosts", "[{\"name\":\"a\",\"port\":\"1\"}]"},
        {"hosts", "[{\"name\":\"a\"}]"},
        {"processes", "0"},
        {"processes", "65537"},
        {"memory", "0"},
        {"memory", "1099511627777"},
        {"file", "0"},
        {"fds", "0"},
        {"fds", "1048577"},
        {"uid", "4294967295"},
        {"least", "\"\""},
        {"least", "\"more\""},
        {"missing", "128"},
        {"cgroup", "\"x\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(wrong[i][0], wrong[i][1]);
}

static void one_too_many_is_refused(void **state)
{
    static char text[1 << 17];
    static const struct {
        const char *name, *one;
        size_t most;
    } lists[] = {
        {"argv", "\"a\"", PL_CELL_MAX_WORDS},
        {"env", "\"A=1\"", PL_CELL_MAX_WORDS},
        {"hosts", "{\"name\":\"a\",\"port\":1}", PL_CELL_MAX_HOSTS},
        {"mounts", "{\"from\":\"/x\",\"to\":\"/a\",\"writable\":true}", 2 * PL_CELL_MAX_MOUNTS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t over = 0; over < 2; over++) {
            size_t n = (size_t)snprintf(text, sizeof text, "[%s", lists[i].one);
            for (size_t j = 1; j < lists[i].most + over; j++)
                n += (size_t)snprintf(text + n, sizeof text - n, ",%s", lists[i].one);
            snprintf(text + n, sizeof text - n, "]");
            struct pl_arena arena;
            struct pl_cell_plan plan;
            struct pl_error err = {0};
            assert_int_equal(read_text(plan_with(lists[i].name, text), &arena, &plan, &err),
                             over ? PL_USAGE : PL_OK);
            pl_arena_deinit(&arena);
        }
}

static void hosts_have_places(void **state)
{
    struct pl_cell_host hosts[] = {{"a", 443}, {"b", 0}, {"a", 8443}, {"*.c", 0}, {"b", 443}};
    struct pl_cell_plan plan = {.hosts = hosts, .n_hosts = 5};
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    char text[16];
    (void)state;
    assert_int_equal(pl_cell_plan_places(&plan, places), 4);
    assert_true(places[0].slot == 0 && places[0].port == 443);
    assert_true(places[1].slot == 1 && places[1].port == 443);
    assert_true(places[2].slot == 0 && places[2].port == 8443);
    assert_true(places[3].slot == 5 && places[3].port == PL_CELL_PROXY_PORT);
    assert_string_equal(places[3].name, "*");
    pl_cell_slot_address(5, text);
    assert_string_equal(text, "127.0.1.6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_read_as_it_was_written),
        cmocka_unit_test(values_of_the_wrong_type_are_refused),
        cmocka_unit_test(missing_and_unknown_members_are_refused),
        cmocka_unit_test(values_out_of_their_range_are_refused),
        cmocka_unit_test(one_too_many_is_refused),
        cmocka_unit_test(hosts_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
