#include "session/memory/memory.h"

#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DAY_MS 86400000LL
#define NEW_MS 1767225600000LL /* 2026-01-01 */

static struct pl_tokens *tokens;

static int set_up(void **state)
{
    (void)state;
    return pl_tokens_create(PL_ENCODING_O200K_BASE, &tokens) == PL_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pl_tokens_destroy(tokens);
    return 0;
}

static struct pl_memory_found note(int64_t id, const char *content, double score)
{
    return (struct pl_memory_found){
        .id = id, .content = pl_str_of(content), .created_ms = NEW_MS, .score = score};
}

static struct pl_memory_choice choose(const struct pl_memory_found *found, size_t n)
{
    struct pl_memory_choice choice;
    assert_int_equal(pl_memory_choose(tokens, found, n, &choice), PL_OK);
    return choice;
}

static void nothing_found_is_nothing_chosen(void **state)
{
    (void)state;
    struct pl_memory_choice choice = choose(NULL, 0);
    assert_int_equal(choice.n, 0);
    assert_int_equal(choice.n_tokens, 0);
}

static void the_best_come_first_and_the_rest_is_left_out(void **state)
{
    (void)state;
    struct pl_memory_found found[] = {note(3, "a", 10), note(1, "b", 4), note(2, "c", 1)};
    struct pl_memory_choice choice = choose(found, 3);
    assert_int_equal(choice.n, 2);
    assert_int_equal(found[choice.at[0]].id, 3);
    assert_int_equal(found[choice.at[1]].id, 1);
}

static void at_most_twenty_are_chosen(void **state)
{
    (void)state;
    struct pl_memory_found found[21];
    for (int i = 0; i < 21; i++)
        found[i] = note(i, "short", 1);
    assert_int_equal(choose(found, 20).n, 20);
    assert_int_equal(choose(found, 21).n, 20);
}

static void the_text_stays_within_its_tokens(void **state)
{
    (void)state;
    static char words[100][501];
    struct pl_memory_found found[100];
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 100; k++)
            snprintf(words[i] + k * 5, 6, "%04d,", i * 7 + k * 13);
        found[i] = note(i, words[i], 1);
    }
    struct pl_memory_choice choice = choose(found, 100);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_memory_write_text(found, &choice, PL_MEMORY_NOTES, &text);
    size_t n = 0;
    assert_int_equal(pl_tokens_count(tokens, pl_buf_str(&text), PL_SPECIAL_AS_TEXT, &n), PL_OK);
    assert_int_equal(n, choice.n_tokens);
    assert_true(choice.n > 0);
    assert_true(n <= PL_MEMORY_MAX_TOKENS);
    assert_true(n > PL_MEMORY_MAX_TOKENS / 2);
}

static void a_long_one_gives_way_to_short_ones_behind_it(void **state)
{
    (void)state;
    static char digits[4][1501];
    struct pl_memory_found found[5];
    for (int i = 0; i < 4; i++) {
        memset(digits[i], '7', 1500);
        found[i] = note(i, digits[i], 2);
    }
    found[4] = note(4, "short", 1);
    struct pl_memory_choice choice = choose(found, 5);
    assert_int_equal(choice.n, 2);
    assert_int_equal(choice.at[0], 0);
    assert_int_equal(choice.at[1], 4);
}

static void each_is_one_line_with_its_day(void **state)
{
    (void)state;
    struct pl_memory_found found[] = {note(1, "two\nlines\tof it", 1), note(2, "审计", 1)};
    found[0].created_ms = NEW_MS + DAY_MS;
    found[1].skill_name = PL_STR("deploy");
    struct pl_memory_choice choice = choose(found, 2);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_memory_write_text(found, &choice, PL_MEMORY_NOTES, &text);
    pl_buf_adds(&text, "|");
    pl_memory_write_text(found, &choice, PL_MEMORY_SKILLS, &text);
    pl_buf_adds(&text, "|");
    pl_memory_write_items(found, &choice, PL_MEMORY_NOTES, &text);
    pl_memory_write_items(found, &choice, PL_MEMORY_SKILLS, &text);
    pl_buf_addc(&text, 0);
    assert_int_equal(text.status, PL_OK);
    assert_non_null(strstr(text.ptr, ".\n- 2026-01-02: two lines of it|Skills"));
    assert_non_null(strstr(text.ptr, ".\n- 2026-01-01 [deploy]: 审计|"));
    assert_non_null(strstr(text.ptr, "[{\"name\":\"deploy\",\"description\":\"审计\"}]"));
    assert_null(strstr(text.ptr, "\"title\":\"deploy\""));
}

static void a_part_of_which_nothing_was_chosen_says_nothing(void **state)
{
    (void)state;
    struct pl_memory_found found[] = {note(1, "one", 1)};
    struct pl_memory_choice choice = choose(found, 1);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_memory_write_text(found, &choice, PL_MEMORY_SKILLS, &text);
    assert_int_equal(text.len, 0);
}

static void a_reference_has_the_first_eighty_characters(void **state)
{
    (void)state;
    char content[81 * 3 + 1] = "";
    for (int i = 0; i < 81; i++)
        memcpy(content + i * 3, "审", 3);
    struct pl_memory_found found[] = {note(5, content, 1), note(6, "a\"b", 1)};
    found[1].skill_name = PL_STR("s");
    struct pl_memory_choice choice = choose(found, 2);
    PL_CLEANUP_BUF struct pl_buf refs, wanted;
    pl_buf_init(&refs, 0);
    pl_buf_init(&wanted, 0);
    pl_memory_write_refs(found, &choice, &refs);
    pl_buf_addf(&wanted,
                "[{\"id\":5,\"content_preview\":\"%.240s\",\"skill_name\":null},"
                "{\"id\":6,\"content_preview\":\"a\\\"b\",\"skill_name\":\"s\"}]",
                content);
    assert_true(pl_str_eq(pl_buf_str(&refs), pl_buf_str(&wanted)));
}

static struct pl_str question(struct pl_arena *arena, const char *body)
{
    struct pl_str words = {0};
    struct pl_turn_row row = {.body = pl_str_of(body)};
    assert_int_equal(pl_memory_question(arena, &row, &words, NULL), PL_OK);
    return words;
}

static void only_the_users_texts_are_a_question(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str words =
        question(&arena, "{\"role\":\"user\",\"blocks\":[{\"type\":\"mode_change\",\"content\":{}},"
                         "\"one\",\"t\\u0077o\"]}");
    assert_true(pl_str_eq(words, PL_STR("one\ntwo")));
    assert_null(question(&arena, "{\"blocks\":[\"the model's\"]}").ptr);
    assert_null(question(&arena, "{\"role\":\"system\",\"blocks\":[\"a note\"]}").ptr);
    words = question(&arena, "{\"role\":\"user\"}");
    assert_non_null(words.ptr);
    assert_int_equal(words.len, 0);
}

static void words_of_asking_are_no_terms(void **state)
{
    (void)state;
    static const struct {
        const char *terms, *telling;
    } cases[] = {
        {"", ""},
        {"please help", ""},
        {"help harbour please", "harbour"},
        {"什么 代码 审计", "代码 审计"},
        {"harbour hour", "harbour hour"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf telling;
        pl_buf_init(&telling, 0);
        pl_memory_telling_terms(pl_str_of(cases[i].terms), &telling);
        assert_true(pl_str_eq(pl_buf_str(&telling), pl_str_of(cases[i].telling)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_found_is_nothing_chosen),
        cmocka_unit_test(the_best_come_first_and_the_rest_is_left_out),
        cmocka_unit_test(at_most_twenty_are_chosen),
        cmocka_unit_test(the_text_stays_within_its_tokens),
        cmocka_unit_test(a_long_one_gives_way_to_short_ones_behind_it),
        cmocka_unit_test(each_is_one_line_with_its_day),
        cmocka_unit_test(a_part_of_which_nothing_was_chosen_says_nothing),
        cmocka_unit_test(a_reference_has_the_first_eighty_characters),
        cmocka_unit_test(only_the_users_texts_are_a_question),
        cmocka_unit_test(words_of_asking_are_no_terms),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
