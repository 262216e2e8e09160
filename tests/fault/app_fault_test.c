/* Commands survive running out of memory at any point: exit code 4 and, for `json`, not one byte
 * of output. */
#include "app/frame/commands.h"
#include "fault/fault.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char input[] = "/tmp/parley-app-fault-in-XXXXXX";
static char output[] = "/tmp/parley-app-fault-out-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    static const char text[] =
        "{\"version\": \"2.0\", \"messages\": [{\"id\": 1}], \"a\": \"\\u0041\"}";
    int in = mkstemp(input), out = mkstemp(output);
    if (in < 0 || out < 0 || write(in, text, sizeof text - 1) != (ssize_t)sizeof text - 1)
        return -1;
    close(in);
    close(out);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(input);
    return unlink(output);
}

struct command_line {
    char *words[10];
    int expected;
    bool is_all_or_nothing, is_chinese;
};

/* Runs a command with both outputs in files, as the shell would. */
static enum pl_exit run(const struct command_line *line)
{
    const struct pl_command *command = pl_command_find(line->words[0]);
    int n = 0;
    while (line->words[n + 1])
        n++;
    struct pl_console console;
    struct pl_args args;
    struct pl_error err = {0};
    pl_console_init(&console);
    console.is_chinese = line->is_chinese;
    enum pl_exit code = PL_EXIT_FAILED;
    if (pl_args_parse(&args, command->options, n, line->words + 1, &err) == PL_OK)
        code = pl_command_run(command, &console, &args);
    code = pl_console_finish(&console, code);
    pl_args_deinit(&args);
    pl_console_deinit(&console);
    return code;
}

static enum pl_status run_redirected(void *ctx)
{
    const struct command_line *line = ctx;
    fflush(stdout);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    int to = open(output, O_WRONLY | O_TRUNC), null = open("/dev/null", O_WRONLY);
    dup2(to, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    enum pl_exit code = run(line);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    close(to);
    close(null);
    struct stat st;
    assert_int_equal(stat(output, &st), 0);
    assert_true(code == (enum pl_exit)line->expected || code == PL_EXIT_FAILED);
    if (code == PL_EXIT_FAILED && line->is_all_or_nothing)
        assert_int_equal(st.st_size, 0);
    if (code != PL_EXIT_FAILED)
        assert_true(st.st_size > 0);
    return code == PL_EXIT_FAILED ? PL_NOMEM : PL_OK;
}

static void no_command_goes_on_with_half_a_result(void **state)
{
    (void)state;
    static struct command_line lines[] = {
        {{"json", input}, 0, true},
        {{"json", "--canonical", input}, 0, true},
        {{"json", "--get", "/a", "--raw", input}, 0, true},
        {{"json", "--lenient", "--set", "/n", "[1]", "--remove", "/a", input}, 0, true},
        {{"validate", "--as", "envelope", input}, 1, false},
        {{"validate", "--as", "envelope", "--json", "--output", "basic", input}, 1, false},
        {{"json", "--lenient", "--set", "/n", "[1]", input}, 0, true, .is_chinese = true},
        {{"validate", "--as", "envelope", input}, 1, false, .is_chinese = true},
        {{"completion", "zsh"}, 0, true},
        {{"help", "--man"}, 0, true},
        {{"help", "--man", "key"}, 0, true},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_true(pl_fault_each_tolerant(run_redirected, &lines[i], PL_OK) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_command_goes_on_with_half_a_result),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
