/* Every text in the tables of commands has a Chinese translation and is shown in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "app/frame/commands.h"
#include "app/frame/verbs.h"
#include "app/manual/wording.h"
#include "app/table/local.h"
#include "base/ascii.h"
#include "session/rows.h"
#include "words/words.h"

/* Uses pl_words_add, not pl_words_of: a translation equal to the English (ID, URL) counts, too. */
static void expect_chinese(const char *place, const char *english)
{
    PL_CLEANUP_BUF struct pl_buf chinese;
    pl_buf_init(&chinese, 0);
    if (*english && !pl_words_add(&chinese, pl_str_of(english)))
        fail_msg("%s: no Chinese for \"%s\"; add it to words/zh-CN/help*.json", place, english);
}

static void every_command_has_chinese(void **state)
{
    (void)state;
    expect_chinese("parley", pl_program_summary);
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        expect_chinese(command->name, command->summary);
        expect_chinese(command->name, command->usage);
        expect_chinese(command->name, command->operand);
        for (const char *const *text = command->paragraphs; *text; text++)
            expect_chinese(command->name, *text);
    }
}

static void every_verb_has_chinese(void **state)
{
    (void)state;
    for (const struct pl_command *command = pl_commands; command->name; command++)
        for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++) {
            expect_chinese(command->name, verb->says);
            expect_chinese(command->name, verb->words);
        }
}

static void every_option_has_chinese(void **state)
{
    (void)state;
    for (const struct pl_command *command = pl_commands; command->name; command++)
        for (const struct pl_option *option = command->options; option->name; option++) {
            expect_chinese(option->name, option->help);
            for (size_t i = 0; i < 2 && option->args[i]; i++)
                expect_chinese(option->name, option->args[i]);
        }
}

static void every_example_has_chinese(void **state)
{
    (void)state;
    for (const struct pl_command *command = pl_commands; command->name; command++)
        for (const struct pl_example *example = command->examples; example->line; example++)
            expect_chinese(command->name, example->says);
}

static void exit_codes_variables_and_files_have_chinese(void **state)
{
    (void)state;
    for (const struct pl_exit_line *line = pl_exit_lines; line->says; line++)
        expect_chinese("exit codes", line->says);
    for (const struct pl_place_line *line = pl_env_lines; line->name; line++)
        expect_chinese(line->name, line->says);
    for (const struct pl_place_line *line = pl_file_lines; line->name; line++)
        expect_chinese(line->name, line->says);
}

static void expect_headings(const char *columns)
{
    for (size_t i = 0; columns && i < pl_column_count(columns); i++) {
        char heading[64] = "";
        struct pl_str name = pl_column_name(columns, i);
        assert_true(name.len < sizeof heading);
        for (size_t at = 0; at < name.len; at++)
            heading[at] = name.ptr[at] == '_' ? ' ' : pl_ascii_upper(name.ptr[at]);
        expect_chinese(columns, heading);
    }
}

static void every_heading_of_a_table_has_chinese(void **state)
{
    (void)state;
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        expect_headings(command->columns);
        for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
            expect_headings(verb->columns);
    }
}

static void every_status_of_sessions_and_turns_has_chinese(void **state)
{
    (void)state;
#define X(name, text) expect_chinese("status", text);
    PL_SESSION_STATUS_TABLE(X)
    PL_TURN_STATUS_TABLE(X)
#undef X
}

static void only_words_below_their_headings_are_translated(void **state)
{
    const struct pl_console chinese = {.is_chinese = true}, english = {.is_chinese = false};
    (void)state;
    struct pl_str running = PL_STR("running");
    assert_true(pl_str_eq(pl_table_value(&chinese, PL_STR("STATUS"), running), PL_STR("运行中")));
    assert_true(pl_str_eq(pl_table_value(&chinese, PL_STR("INTENT"), running), running));
    assert_true(pl_str_eq(pl_table_value(&english, PL_STR("STATUS"), running), running));
    assert_true(pl_str_eq(pl_table_word(&chinese, PL_STR("LAST USED")), PL_STR("上次使用")));
    assert_true(pl_str_eq(pl_table_word(&chinese, PL_STR("demo/echo")), PL_STR("demo/echo")));
}

static void verbs_of_an_option_stand_before_its_help(void **state)
{
    const struct pl_option option = {"yes", PL_OPT_YES, .verbs = "delete, remove",
                                     .help = "do not ask"};
    char to[64];
    (void)state;
    assert_string_equal(pl_wording_of_option(false, &option, to, sizeof to),
                        "delete, remove: do not ask");
    assert_string_equal(pl_wording_of_option(true, &option, to, sizeof to),
                        "delete、remove：不询问");
}

static void a_wording_that_is_cut_is_ended(void **state)
{
    const struct pl_option option = {"yes", PL_OPT_YES, .verbs = "delete, remove",
                                     .help = "do not ask"};
    char to[16];
    (void)state;
    for (size_t size = 1; size <= sizeof to; size++)
        assert_true(strlen(pl_wording_of_option(true, &option, to, size)) < size);
}

static const char *three(size_t i)
{
    static const char *const names[] = {"a", "b", "c", NULL};
    return names[i];
}

static void a_choice_is_a_list(void **state)
{
    char to[32];
    (void)state;
    assert_true(pl_wording_of_choices(true, three, to, sizeof to));
    assert_string_equal(to, "a、b 或 c");
    assert_true(pl_wording_of_choices(false, three, to, sizeof to));
    assert_string_equal(to, "a, b or c");
    assert_false(pl_wording_of_choices(true, three, to, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_chinese),
        cmocka_unit_test(every_verb_has_chinese),
        cmocka_unit_test(every_option_has_chinese),
        cmocka_unit_test(every_example_has_chinese),
        cmocka_unit_test(exit_codes_variables_and_files_have_chinese),
        cmocka_unit_test(every_heading_of_a_table_has_chinese),
        cmocka_unit_test(every_status_of_sessions_and_turns_has_chinese),
        cmocka_unit_test(only_words_below_their_headings_are_translated),
        cmocka_unit_test(verbs_of_an_option_stand_before_its_help),
        cmocka_unit_test(a_wording_that_is_cut_is_ended),
        cmocka_unit_test(a_choice_is_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
