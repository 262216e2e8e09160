/* Answers chosen with keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/menu.h"

static const struct pl_menu_item items[] = {
    {'1', {"red", 3}}, {'2', {"blue", 4}}, {'3', {"other", 5}}};

static enum pl_menu_wish type(struct pl_menu *choice, const char *bytes)
{
    struct pl_keys keys;
    enum pl_menu_wish wish = PL_MENU_GOES_ON;
    pl_keys_init(&keys);
    assert_int_equal(pl_keys_feed(&keys, pl_str_of(bytes)), PL_OK);
    pl_keys_settle(&keys);
    for (struct pl_key key; wish == PL_MENU_GOES_ON && pl_keys_next(&keys, &key);)
        wish = pl_menu_take(choice, &key);
    pl_keys_deinit(&keys);
    return wish;
}

static void one_is_taken_by_its_key_or_by_arrows(void **state)
{
    static const struct {
        const char *typed;
        enum pl_menu_wish wish;
        size_t at;
    } cases[] = {
        {"2", PL_MENU_TAKEN, 1},
        {"\033[B\r", PL_MENU_TAKEN, 1},
        {"\033[A\r", PL_MENU_TAKEN, 2},
        {"\r", PL_MENU_TAKEN, 0},
        {"x7", PL_MENU_GOES_ON, 0},
        {"\003", PL_MENU_INTERRUPTED, 0},
        {"\033", PL_MENU_LEFT, 0},
        {"\004", PL_MENU_LEFT, 0},
        {"\033[200~2\033[201~", PL_MENU_GOES_ON, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_menu choice = {.items = items, .n_items = 3};
        assert_int_equal(type(&choice, cases[i].typed), cases[i].wish);
        assert_int_equal(choice.at, cases[i].at);
    }
}

static void several_are_marked_and_taken_together(void **state)
{
    struct pl_menu choice = {.items = items, .n_items = 3, .is_many = true, .n_alone = 1};
    (void)state;
    assert_int_equal(type(&choice, "1 2"), PL_MENU_GOES_ON);
    assert_int_equal(choice.marked, 2); /* the space removed the first mark */
    assert_int_equal(type(&choice, "1\r"), PL_MENU_TAKEN);
    assert_int_equal(choice.marked, 3);
    assert_int_equal(type(&choice, "3"), PL_MENU_TAKEN);
    assert_int_equal(choice.marked, 0);
    assert_int_equal(choice.at, 2);
}

static void a_drawing_replaces_the_last(void **state)
{
    struct pl_menu choice = {.items = items, .n_items = 3};
    PL_CLEANUP_BUF struct pl_buf out;
    (void)state;
    pl_buf_init(&out, 0);
    pl_menu_draw(&choice, 80, false, &out);
    choice.at = 1;
    pl_menu_draw(&choice, 80, false, &out);
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, "\r\033[J> 1) red\r\n  2) blue\r\n  3) other\r\n"
                                 "\033[3A\r\033[J  1) red\r\n> 2) blue\r\n  3) other\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_taken_by_its_key_or_by_arrows),
        cmocka_unit_test(several_are_marked_and_taken_together),
        cmocka_unit_test(a_drawing_replaces_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
