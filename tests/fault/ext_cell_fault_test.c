/* Out of memory while a cell is prepared: nothing stays open or half made. */
#include "ext/cell/cell.h"
#include "ext/cell/prepare_int.h"
#include "fault/fault.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/parley-cell-fault-XXXXXX";

static size_t n_open(void)
{
    DIR *fds = opendir("/proc/self/fd");
    size_t n = 0;
    while (readdir(fds))
        n++;
    closedir(fds);
    return n;
}

static enum pl_status prepares_a_cell(void *ctx)
{
    const char *const argv[] = {"/ext/program", "word", NULL};
    const char *const env[] = {"NAME=value", NULL};
    struct pl_cell_mount mounts[] = {
        {.fd = -1, .from = dir, .to = "/work", .is_writable = true, .is_guarded = true},
        {.fd = -1, .from = "/usr", .to = "/more"},
    };
    struct pl_cell_host hosts[] = {{"a.example", 443}, {"*.b.example", 0}};
    struct pl_cell_spec spec = {.argv = argv,
                                .env = env,
                                .package = {.fd = -1, .from = dir},
                                .mounts = mounts,
                                .n_mounts = 2,
                                .hosts = hosts,
                                .n_hosts = 2};
    struct pl_cell_prepared prepared;
    struct pl_error err = {0};
    size_t n_before = n_open();
    (void)ctx;
    enum pl_status status = pl_cell_prepare(&spec, &prepared, &err);
    if (status == PL_OK)
        assert_true(prepared.plan.n_mounts > 4 && prepared.plan.has_guarded);
    pl_cell_prepared_deinit(&prepared);
    assert_int_equal(n_open(), n_before);
    return status;
}

static enum pl_status guards_a_directory(void *ctx)
{
    struct pl_cell_guard *guard = NULL;
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf removed;
    size_t n_before = n_open();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)ctx;
    pl_buf_init(&removed, 0);
    enum pl_status status = pl_cell_guard_begin(fd, &guard, &err);
    if (status == PL_OK)
        status = pl_cell_guard_end(guard, &removed, &err);
    close(fd);
    assert_int_equal(n_open(), n_before);
    return status;
}

static void out_of_memory_is_told(void **state)
{
    char command[256];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p .git/hooks sub/.git && echo a > .git/config && echo b > "
             "sub/.git/config && echo c > file",
             dir);
    assert_int_equal(system(command), 0);
    assert_true(pl_fault_each(prepares_a_cell, NULL) > 5);
    assert_true(pl_fault_each(guards_a_directory, NULL) > 3);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(out_of_memory_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
