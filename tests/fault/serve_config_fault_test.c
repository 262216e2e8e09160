/* Settings are read completely or not at all: a server that ignored its file for lack of memory
 * would start with the wrong ones. */
#include "app/server/serve_config.h"
#include "fault/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/parley-config-fault-XXXXXX";
static char below[sizeof dir + 8], file[sizeof below + 16];

static const char settings[] = "port: 4321\n"
                               "log_level: warning\n"
                               "allow_host: [a.example, \"b.example\"]\n";

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(below, sizeof below, "%s/parley", dir);
    snprintf(file, sizeof file, "%s/config.yaml", below);
    if (mkdir(below, 0700) != 0)
        return -1;
    FILE *to = fopen(file, "w");
    if (!to || fputs(settings, to) < 0 || fclose(to) != 0)
        return -1;
    return setenv("XDG_CONFIG_HOME", dir, 1) || setenv("XDG_DATA_HOME", "/data", 1) ||
           setenv("PARLEY_ALLOW_ORIGIN", "https://a.example,https://b.example", 1);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(file) || rmdir(below) || rmdir(dir);
}

/* From every source: --workers, PARLEY_ALLOW_ORIGIN, the file, and the default of --data. */
static enum pl_status read_settings(void *ctx)
{
    (void)ctx;
    char *words[] = {"--workers", "7"};
    struct pl_args args;
    struct pl_error err = {0};
    struct pl_server_config config = {.n_workers = 99};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_args_parse(&args, pl_command_find("serve")->options, 2, words, &err);
    if (status == PL_OK)
        status = pl_serve_config_read(&arena, &args, &config, &err);
    if (status == PL_OK) {
        assert_int_equal(config.n_workers, 7);
        assert_int_equal(config.port, 4321);
        assert_string_equal(config.hosts[1], "b.example");
        assert_string_equal(config.origins[1], "https://b.example");
        assert_string_equal(config.data_dir, "/data/parley");
    } else {
        assert_int_equal(config.n_workers, 99);
        assert_string_not_equal(err.message, "");
    }
    pl_args_deinit(&args);
    return status;
}

static void settings_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_true(pl_fault_each(read_settings, NULL) > 0);
}

static enum pl_status read_without_a_file(void *ctx)
{
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    struct pl_args args;
    struct pl_error err = {0};
    struct pl_server_config config;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_args_parse(&args, pl_command_find("serve")->options, 0, ctx, &err);
    if (status == PL_OK)
        status = pl_serve_config_read(&arena, &args, &config, &err);
    pl_args_deinit(&args);
    setenv("XDG_CONFIG_HOME", dir, 1);
    return status;
}

static void a_file_that_is_not_there_is_told_from_no_memory(void **state)
{
    (void)state;
    char *words[] = {NULL};
    assert_true(pl_fault_each(read_without_a_file, words) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read_whole_or_not_at_all),
        cmocka_unit_test(a_file_that_is_not_there_is_told_from_no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
