/* A log file: whole lines in files of bounded size, also where a file cannot be renamed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/system/log_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 10, KEEP = 2, ROOM = 256 };

struct log {
    char folder[ROOM], path[ROOM + 8];
    struct pl_log_place *place;
};

static int open_log(void **state)
{
    struct log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    snprintf(log->folder, sizeof log->folder, "/tmp/parley-log-XXXXXX");
    assert_non_null(mkdtemp(log->folder));
    snprintf(log->path, sizeof log->path, "%s/log", log->folder);
    assert_int_equal(pl_log_place_file(log->path, MAX_BYTES, KEEP, &log->place, NULL), PL_OK);
    *state = log;
    return 0;
}

static void name(const struct log *log, const char *end, char to[2 * ROOM])
{
    snprintf(to, 2 * ROOM, "%s%s", log->path, end);
}

static int close_log(void **state)
{
    static const char *const ends[] = {"", ".1/in", ".1", ".2/in", ".2", ".3"};
    struct log *log = *state;
    char path[2 * ROOM];
    pl_log_place_destroy(log->place);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        name(log, ends[i], path);
        (void)remove(path);
    }
    assert_int_equal(rmdir(log->folder), 0);
    free(log);
    return 0;
}

static void put(struct log *log, const char *lines)
{
    assert_int_equal(pl_log_place_write(log->place, pl_str_of(lines)).len, 0);
}

static void assert_holds(const struct log *log, const char *end, const char *wanted)
{
    char path[2 * ROOM], text[ROOM] = "";
    name(log, end, path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    assert_string_equal(text, wanted);
}

static void assert_absent(const struct log *log, const char *end)
{
    char path[2 * ROOM];
    name(log, end, path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_full_file_is_moved_and_the_newest_stay(void **state)
{
    struct log *log = *state;
    put(log, "one\ntwo\n");
    put(log, "three\nfour\n");
    put(log, "five\nsix\nseven\n");
    assert_holds(log, "", "six\nseven\n");
    assert_holds(log, ".1", "four\nfive\n");
    assert_holds(log, ".2", "three\n");
    assert_absent(log, ".3");
}

static void a_line_longer_than_a_file_is_written_whole(void **state)
{
    struct log *log = *state;
    put(log, "a line of many bytes\nb\n");
    assert_holds(log, "", "b\n");
    assert_holds(log, ".1", "a line of many bytes\n");
}

static void put_folder(const struct log *log, const char *end, const char *end_in)
{
    char path[2 * ROOM];
    name(log, end, path);
    assert_int_equal(mkdir(path, 0700), 0);
    name(log, end_in, path);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

/* A folder that is not empty cannot be replaced, not even by root. PATH.2 is one too: otherwise
 * the folder PATH.1 would be moved there. */
static void a_file_that_cannot_be_renamed_grows(void **state)
{
    struct log *log = *state;
    put_folder(log, ".1", ".1/in");
    put_folder(log, ".2", ".2/in");
    put(log, "one\ntwo\n");
    put(log, "three\nfour\n");
    put(log, "five\n");
    assert_holds(log, "", "one\ntwo\nthree\nfour\nfive\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_file_is_moved_and_the_newest_stay, open_log,
                                        close_log),
        cmocka_unit_test_setup_teardown(a_line_longer_than_a_file_is_written_whole, open_log,
                                        close_log),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_renamed_grows, open_log, close_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
