/* Levels, their parts, and the messages about missing parts. */
#include "ext/cell/cell.h"
#include "ext/cell/uids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define BASE (PL_CELL_HAS(UID) | PL_CELL_HAS(SECCOMP))

static void names_are_found_and_others_are_not(void **state)
{
    (void)state;
    for (int i = 0; i < PL_CELL_N_LEVELS; i++) {
        enum pl_cell_level level = PL_CELL_NONE;
        const char *name = pl_cell_level_name((enum pl_cell_level)i);
        assert_true(pl_cell_level_find(pl_str_of(name), &level));
        assert_int_equal(level, i);
        assert_string_equal(pl_cell_level_choice((size_t)i), name);
    }
    assert_null(pl_cell_level_choice(PL_CELL_N_LEVELS));
    static const char *const wrong[] = {"", "Full", "full ", "ful", "fulll", "0"};
    enum pl_cell_level level = PL_CELL_LANDLOCK;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pl_cell_level_find(pl_str_of(wrong[i]), &level));
    assert_int_equal(level, PL_CELL_LANDLOCK);
}

static void parts_make_levels(void **state)
{
    static const struct {
        unsigned parts;
        int abi;
        enum pl_cell_level level;
    } cases[] = {
        {0, 0, PL_CELL_NONE},
        {BASE, 0, PL_CELL_NONE},
        {BASE | PL_CELL_HAS(NAMESPACES), 0, PL_CELL_NAMESPACES},
        {BASE | PL_CELL_HAS(BWRAP), 0, PL_CELL_NAMESPACES},
        {BASE | PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK), 1, PL_CELL_FULL},
        {BASE | PL_CELL_HAS(BWRAP) | PL_CELL_HAS(LANDLOCK), 7, PL_CELL_FULL},
        {BASE | PL_CELL_HAS(LANDLOCK), 5, PL_CELL_NONE},
        {BASE | PL_CELL_HAS(LANDLOCK), 6, PL_CELL_LANDLOCK},
        {PL_CELL_HAS(UID) | PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK), 7, PL_CELL_NONE},
        {PL_CELL_HAS(SECCOMP) | PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK), 7, PL_CELL_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pl_cell_level_of(cases[i].parts, cases[i].abi), cases[i].level);
}

/* Without a part, a cell is never more closed. */
static void less_is_never_more(void **state)
{
    (void)state;
    for (unsigned parts = 0; parts < 1u << PL_CELL_N_PARTS; parts++)
        for (int abi = 0; abi < 9; abi++)
            for (int i = 0; i < PL_CELL_N_PARTS; i++)
                assert_true(pl_cell_level_of(parts & ~(1u << i), abi) <=
                            pl_cell_level_of(parts, abi));
}

static void a_refusal_names_every_part_with_its_remedy(void **state)
{
    struct pl_cell_probe probe = {.has = PL_CELL_HAS(UID) | PL_CELL_HAS(SECCOMP)};
    struct pl_error err = {0};
    (void)state;
    for (int i = 0; i < PL_CELL_N_PARTS; i++) {
        snprintf(probe.parts[i].says, sizeof probe.parts[i].says, "words");
        snprintf(probe.parts[i].remedy, sizeof probe.parts[i].remedy, "remedy");
    }
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_FULL, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "level full"));
    assert_non_null(strstr(err.message, "only none"));
    assert_non_null(strstr(err.message, "namespaces is missing (words): remedy"));
    assert_non_null(strstr(err.message, "bubblewrap is missing"));
    assert_non_null(strstr(err.message, "landlock is missing"));
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_NONE, &err), PL_OK);
    /* Either way to namespaces suffices, so neither is reported missing. */
    probe.has |= PL_CELL_HAS(BWRAP);
    probe.level = PL_CELL_NAMESPACES;
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_NAMESPACES, &err), PL_OK);
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_FULL, &err), PL_INVALID);
    assert_null(strstr(err.message, "bubblewrap is missing"));
    /* An outdated Landlock is not reported as missing. */
    probe = (struct pl_cell_probe){.has = BASE | PL_CELL_HAS(LANDLOCK), .landlock_abi = 5};
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_LANDLOCK, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "ABI 5"));
    /* Nothing ever runs as root. */
    probe = (struct pl_cell_probe){.has = PL_CELL_HAS(SECCOMP)};
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_NONE, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "uid is missing"));
}

static void user_ids_are_a_range_without_root(void **state)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "0",
                                        "0-5",
                                        "x",
                                        "5-4",
                                        "5-",
                                        "-5",
                                        "5-6-7",
                                        "1-4097",
                                        " 5-6",
                                        "5 - 6",
                                        "+5",
                                        "1000000000",
                                        "5-6 ",
                                        "5,6",
                                        "0x10-20",
                                        "1.5-2",
                                        "99999999999-99999999999"};
    uid_t first = 0;
    size_t n = 0;
    struct pl_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (pl_cell_uids_read(wrong[i], &first, &n, &err) != PL_USAGE)
            fail_msg("\"%s\" was taken for user ids", wrong[i]);
    assert_int_equal(pl_cell_uids_read("7", &first, &n, &err), PL_OK);
    assert_int_equal(first, 7);
    assert_int_equal(n, 1);
    assert_int_equal(pl_cell_uids_read("1-4096", &first, &n, &err), PL_OK);
    assert_int_equal(n, 4096);
    assert_int_equal(pl_cell_uids_read(PL_CELL_UIDS, &first, &n, &err), PL_OK);
}

static void no_two_cells_have_one_user_id(void **state)
{
    (void)state;
    pl_cell_uids_set(5000, 3);
    uid_t a = pl_cell_uid_take(), b = pl_cell_uid_take(), c = pl_cell_uid_take();
    assert_true(a == 5000 && b == 5001 && c == 5002);
    assert_int_equal(pl_cell_uid_take(), 0);
    pl_cell_uid_give(b);
    pl_cell_uid_give(0);
    pl_cell_uid_give(9999);
    assert_int_equal(pl_cell_uid_take(), b);
    assert_int_equal(pl_cell_uid_take(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_and_others_are_not),
        cmocka_unit_test(parts_make_levels),
        cmocka_unit_test(less_is_never_more),
        cmocka_unit_test(a_refusal_names_every_part_with_its_remedy),
        cmocka_unit_test(user_ids_are_a_range_without_root),
        cmocka_unit_test(no_two_cells_have_one_user_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
