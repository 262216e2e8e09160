#include "io/entropy.h"
#include "io/file/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/parley-file-test-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/file", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void make_file(off_t size, const char *head)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(head, f);
    fclose(f);
    if (size > 0)
        assert_int_equal(truncate(path, size), 0);
}

static void small_and_large_files_are_read_whole(void **state)
{
    (void)state;
    static const off_t sizes[] = {0, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_file(sizes[i], sizes[i] ? "abc" : "");
        struct pl_file file = {0};
        assert_int_equal(pl_file_read(path, 0, NULL, &file, NULL), PL_OK);
        assert_int_equal(file.bytes.len, sizes[i]);
        if (sizes[i] > 0)
            assert_memory_equal(file.bytes.ptr, "abc\0", 4);
        pl_file_close(&file);
        pl_file_close(&file);
    }
}

static void a_file_of_the_limit_is_read_and_one_byte_more_is_refused(void **state)
{
    (void)state;
    struct pl_error err;
    struct pl_file file = {0};
    make_file(100, "x");
    assert_int_equal(pl_file_read(path, 100, NULL, &file, &err), PL_OK);
    pl_file_close(&file);
    assert_int_equal(pl_file_read(path, 99, NULL, &file, &err), PL_LIMIT);
    assert_string_equal(err.message, "the file is larger than the limit of 99 bytes");
}

static void what_cannot_be_read_says_why(void **state)
{
    (void)state;
    struct pl_error err;
    struct pl_file file = {0};
    assert_int_equal(pl_file_read("/nonexistent/file", 0, NULL, &file, &err), PL_UNREADABLE);
    assert_string_equal(err.message, "there is no such file");
    assert_int_equal(pl_file_read(dir, 0, NULL, &file, &err), PL_UNREADABLE);
    assert_string_equal(err.message, "this is a directory; name the files in it");
}

static void a_stream_is_read_to_its_end_and_held_to_the_limit(void **state)
{
    (void)state;
    struct pl_error err;
    struct pl_file file = {0};
    assert_int_equal(pl_file_read("/dev/null", 10, NULL, &file, &err), PL_OK);
    assert_int_equal(file.bytes.len, 0);
    pl_file_close(&file);
    assert_int_equal(pl_file_read("/dev/zero", 1 << 20, NULL, &file, &err), PL_LIMIT);
}

static size_t n_probed;

static enum pl_status refuse(struct pl_str head, struct pl_error *err)
{
    n_probed = head.len;
    return pl_fail(err, PL_SYNTAX, "not today");
}

static void a_long_stream_can_be_refused_by_its_head(void **state)
{
    (void)state;
    struct pl_error err;
    struct pl_file file = {0};
    assert_int_equal(pl_file_read("/dev/zero", 1 << 30, refuse, &file, &err), PL_SYNTAX);
    assert_string_equal(err.message, "not today");
    assert_in_range(n_probed, 16 << 20, 17 << 20);
}

static void failed_writes_are_reported(void **state)
{
    (void)state;
    struct pl_error err;
    int full = open("/dev/full", O_WRONLY);
    assert_int_equal(pl_fd_write(full, PL_STR("x"), &err), PL_IO);
    close(full);
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pl_fd_write(ends[1], PL_STR("x"), &err), PL_OK);
    close(ends[0]);
    assert_int_equal(pl_fd_write(ends[1], PL_STR("x"), &err), PL_IO);
    assert_string_equal(err.message, "the reader closed the pipe early");
    close(ends[1]);
}

static void two_draws_of_entropy_differ(void **state)
{
    (void)state;
    char a[16] = {0}, b[16] = {0};
    assert_true(pl_entropy_fill(a, sizeof a));
    assert_true(pl_entropy_fill(b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_and_large_files_are_read_whole),
        cmocka_unit_test(a_file_of_the_limit_is_read_and_one_byte_more_is_refused),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(a_stream_is_read_to_its_end_and_held_to_the_limit),
        cmocka_unit_test(a_long_stream_can_be_refused_by_its_head),
        cmocka_unit_test(failed_writes_are_reported),
        cmocka_unit_test(two_draws_of_entropy_differ),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
