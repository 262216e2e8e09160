/* Options of programs that were compiled with another version of the header. */
#include "parley/parley.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char chat[] =
    "{\"model\":\"m\",\"seed\":7,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

/* A possible later version. */
struct newer_opts {
    struct parley_convert_opts known;
    const char *further;
    int64_t number;
};

static enum parley_status convert(const struct parley_convert_opts *opts, struct parley_error *err)
{
    char *text = NULL;
    enum parley_status status =
        parley_convert(chat, strlen(chat), opts, &text, NULL, NULL, NULL, err);
    assert_int_equal(text != NULL, status == PARLEY_OK);
    parley_free(text);
    return status;
}

static void what_the_macros_make_is_understood(void **state)
{
    (void)state;
    struct parley_convert_opts convert_opts = PARLEY_CONVERT_OPTS_INIT;
    struct parley_lint_opts lint_opts = PARLEY_LINT_OPTS_INIT;
    struct parley_count_opts count_opts = PARLEY_COUNT_OPTS_INIT;
    char *text = NULL;
    convert_opts.to = "gemini";
    assert_int_equal(convert(&convert_opts, NULL), PARLEY_OK);
    assert_int_equal(parley_lint(chat, strlen(chat), &lint_opts, &text, NULL, NULL), PARLEY_OK);
    parley_free(text);
    assert_int_equal(parley_count(chat, strlen(chat), &count_opts, &text, NULL, NULL), PARLEY_OK);
    parley_free(text);
}

static void an_older_program_gets_defaults_for_what_it_does_not_know(void **state)
{
    (void)state;
    struct parley_convert_opts opts = PARLEY_CONVERT_OPTS_INIT;
    opts.to = "anthropic";
    opts.is_strict = 1;
    assert_int_equal(convert(&opts, NULL), PARLEY_INVALID);
    /* An older version ended before this member: the bytes there are not the program's. */
    opts.size = offsetof(struct parley_convert_opts, is_strict);
    assert_int_equal(convert(&opts, NULL), PARLEY_OK);
}

static void a_newer_program_is_understood_until_it_uses_something_new(void **state)
{
    (void)state;
    struct newer_opts opts = {PARLEY_CONVERT_OPTS_INIT, NULL, 0};
    struct parley_error err;
    opts.known.size = sizeof opts;
    opts.known.to = "gemini";
    assert_int_equal(convert(&opts.known, NULL), PARLEY_OK);
    opts.number = 1;
    assert_int_equal(convert(&opts.known, &err), PARLEY_USAGE);
    assert_non_null(strstr(err.message, "struct parley_convert_opts has options that this library "
                                        "does not know"));
    opts.number = 0;
    opts.further = "x";
    assert_int_equal(convert(&opts.known, NULL), PARLEY_USAGE);
}

static void a_size_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const size_t wrong[] = {0,       1,        sizeof(size_t), sizeof(size_t) + 1,
                                   1 << 20, SIZE_MAX, SIZE_MAX - 7};
    struct parley_convert_opts convert_opts = PARLEY_CONVERT_OPTS_INIT;
    struct parley_lint_opts lint_opts = PARLEY_LINT_OPTS_INIT;
    struct parley_count_opts count_opts = PARLEY_COUNT_OPTS_INIT;
    struct parley_error err;
    char *text = NULL;
    convert_opts.to = "gemini";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        convert_opts.size = lint_opts.size = count_opts.size = wrong[i];
        assert_int_equal(convert(&convert_opts, &err), PARLEY_USAGE);
        assert_non_null(strstr(err.message, "OPTS_INIT"));
        assert_int_equal(parley_lint(chat, strlen(chat), &lint_opts, &text, NULL, &err),
                         PARLEY_USAGE);
        assert_non_null(strstr(err.message, "lint_opts"));
        assert_int_equal(parley_count(chat, strlen(chat), &count_opts, &text, NULL, &err),
                         PARLEY_USAGE);
        assert_int_equal(
            parley_trim(chat, strlen(chat), &count_opts, 9, NULL, &text, NULL, NULL, &err),
            PARLEY_USAGE);
        assert_non_null(strstr(err.message, "count_opts"));
    }
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_macros_make_is_understood),
        cmocka_unit_test(an_older_program_gets_defaults_for_what_it_does_not_know),
        cmocka_unit_test(a_newer_program_is_understood_until_it_uses_something_new),
        cmocka_unit_test(a_size_that_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
