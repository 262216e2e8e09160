#include "io/file/outfile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

/* Each test has its own directory, which is the working directory meanwhile. */
static char dir[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/parley-outfile-test-XXXXXX");
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", dir);
    return chdir("/") == 0 ? system(line) : -1;
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_content(const char *path, const char *text)
{
    char got[256] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(got, 1, sizeof got - 1, f);
    got[n] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

/* No partial files remain. */
static void assert_no_parts(void)
{
    assert_int_not_equal(system("ls -A | grep -q part"), 0);
}

static void write_ok(const char *path, const char *text)
{
    struct pl_error err = {0};
    if (pl_file_write(path, pl_str_of(text), &err) != PL_OK)
        fail_msg("%s: %s", path, err.message);
    assert_no_parts();
}

static void refused(const char *path, const char *why)
{
    struct pl_error err = {0};
    assert_int_equal(pl_file_write(path, PL_STR("x"), &err), PL_IO);
    if (!strstr(err.message, why))
        fail_msg("%s: \"%s\" and not \"%s\"", path, err.message, why);
    assert_no_parts();
}

/* --- writing --------------------------------------------------------------------------------- */

static void a_new_file_has_the_mode_the_umask_leaves(void **state)
{
    (void)state;
    struct stat st;
    mode_t before = umask(027);
    write_ok("new", "one");
    umask(before);
    assert_content("new", "one");
    assert_int_equal(stat("new", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void a_file_that_is_replaced_keeps_its_mode_and_owner(void **state)
{
    (void)state;
    struct stat st;
    put("old", "before", 0604);
    bool is_root = geteuid() == 0;
    if (is_root)
        assert_int_equal(chown("old", 12345, 54321), 0);
    write_ok("old", "after");
    assert_content("old", "after");
    assert_int_equal(stat("old", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    if (is_root) {
        assert_int_equal(st.st_uid, 12345);
        assert_int_equal(st.st_gid, 54321);
    }
}

static void another_name_of_the_old_file_keeps_the_old_bytes(void **state)
{
    (void)state;
    put("old", "before", 0644);
    assert_int_equal(link("old", "other"), 0);
    write_ok("old", "after");
    assert_content("old", "after");
    assert_content("other", "before");
}

static void a_symbolic_link_is_followed_and_stays(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mkdir("there", 0700), 0);
    put("there/file", "before", 0600);
    assert_int_equal(symlink("file", "there/second"), 0);
    assert_int_equal(symlink("there/second", "first"), 0);
    write_ok("first", "after");
    assert_content("there/file", "after");
    assert_int_equal(lstat("first", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat("there/second", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("there/fresh", "dangling"), 0);
    write_ok("dangling", "new");
    assert_content("there/fresh", "new");
    assert_int_equal(symlink("round", "round"), 0);
    refused("round", "symbolic links");
}

static void what_is_no_place_for_a_file_is_refused_and_stays(void **state)
{
    (void)state;
    struct stat st;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"};
    assert_int_equal(mkdir("below", 0700), 0);
    refused("below", "a directory");
    refused("below/", "a directory");
    refused("below/..", "a directory");
    refused("/", "a directory");
    refused("nowhere/file", "there is no directory nowhere");
    refused("", "file name is empty");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    refused("sock", "a socket");
    assert_int_equal(lstat("sock", &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    close(fd);
    assert_int_equal(symlink("/dev/fd/987", "closed"), 0);
    refused("closed", "descriptor 987 is not open");
}

static void a_file_nobody_may_write_is_not_replaced(void **state)
{
    (void)state;
    put("mine", "before", 0444);
    if (geteuid() == 0)
        assert_int_equal(chmod(dir, 0777) || seteuid(65534), 0);
    refused("mine", "no permission");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_content("mine", "before");
}

static void a_device_is_written_to_and_stays(void **state)
{
    (void)state;
    struct stat st;
    if (mknod("null", S_IFCHR | 0666, makedev(1, 3)) != 0) {
        print_message("making a device is not permitted here\n");
        skip();
    }
    write_ok("null", "gone");
    assert_int_equal(symlink("null", "link"), 0);
    write_ok("link", "gone too");
    assert_int_equal(lstat("null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(mknod("full", S_IFCHR | 0666, makedev(1, 7)), 0);
    refused("full", "No space left");
    assert_int_equal(lstat("full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void a_fifo_is_written_to_and_stays(void **state)
{
    (void)state;
    struct stat st;
    char got[8] = "";
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int fd = open("fifo", O_RDWR);
    write_ok("fifo", "hello");
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_string_equal(got, "hello");
    close(fd);
    assert_int_equal(lstat("fifo", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

/* A shell already has the file open: its text stays, and ours is appended. */
static void a_descriptor_of_ours_is_written_to_where_it_stands(void **state)
{
    (void)state;
    char name[64];
    int fd = open("file", O_RDWR | O_CREAT | O_APPEND, 0600);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    write_ok(name, "two ");
    assert_int_equal(symlink("/proc/self/fd", "descriptors"), 0);
    snprintf(name, sizeof name, "descriptors/%d", fd);
    write_ok(name, "three");
    assert_content("file", "one two three");
    close(fd);
}

/* --- ends ------------------------------------------------------------------------------------ */

static void what_is_dropped_leaves_everything_as_it_was(void **state)
{
    (void)state;
    struct pl_outfile out;
    put("old", "before", 0644);
    assert_int_equal(pl_outfile_open(&out, "old", NULL, NULL), PL_OK);
    assert_int_equal(pl_outfile_write(&out, PL_STR("half"), NULL), PL_OK);
    assert_content("old", "before");
    pl_outfile_drop(&out);
    pl_outfile_drop(&out);
    assert_content("old", "before");
    assert_no_parts();
}

static void a_new_file_replaces_nothing_not_even_what_came_meanwhile(void **state)
{
    (void)state;
    struct pl_outfile out;
    const struct pl_outfile_rules rules = {.is_new = true, .is_private = true, .is_durable = true};
    struct stat st;
    assert_int_equal(pl_outfile_open(&out, "new", &rules, NULL), PL_OK);
    assert_int_equal(pl_outfile_write(&out, PL_STR("ours"), NULL), PL_OK);
    put("new", "theirs", 0644);
    assert_int_equal(pl_outfile_commit(&out, NULL), PL_CONFLICT);
    assert_content("new", "theirs");
    assert_no_parts();
    assert_int_equal(pl_outfile_open(&out, "new", &rules, NULL), PL_CONFLICT);
    assert_int_equal(pl_outfile_open(&out, "other", &rules, NULL), PL_OK);
    assert_int_equal(pl_outfile_commit(&out, NULL), PL_OK);
    assert_int_equal(stat("other", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void what_is_no_file_and_came_meanwhile_stays(void **state)
{
    (void)state;
    struct pl_outfile out;
    struct stat st;
    assert_int_equal(pl_outfile_open(&out, "new", NULL, NULL), PL_OK);
    assert_int_equal(mkfifo("new", 0600), 0);
    assert_int_equal(pl_outfile_commit(&out, NULL), PL_IO);
    assert_int_equal(lstat("new", &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_no_parts();
}

static void only_a_regular_file_will_do_where_that_is_the_rule(void **state)
{
    (void)state;
    struct pl_outfile out;
    const struct pl_outfile_rules rules = {.is_file = true};
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(pl_outfile_open(&out, "fifo", &rules, NULL), PL_IO);
    assert_int_equal(pl_outfile_open(&out, "/dev/stdout", &rules, NULL), PL_IO);
    assert_int_equal(pl_outfile_open(&out, "-", &rules, NULL), PL_IO);
}

static void a_scratch_file_has_no_name_when_it_is_taken(void **state)
{
    (void)state;
    struct pl_outfile out;
    struct stat st;
    assert_int_equal(pl_outfile_open_scratch(&out, dir, NULL), PL_OK);
    assert_int_equal(pl_outfile_write(&out, PL_STR("bytes"), NULL), PL_OK);
    int fd = pl_outfile_take_fd(&out);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(st.st_size, 5);
    close(fd);
    assert_no_parts();
}

static void a_sweep_takes_parts_and_what_belongs_to_them_and_nothing_else(void **state)
{
    (void)state;
    put(".parley-0123456789abcdef.part", "", 0600);
    put(".parley-0123456789abcdef.part-journal", "", 0600);
    put(".parley-0123456789abcde.part", "", 0600);
    put(".parley-0123456789abcdef.partly", "", 0600);
    put("parley.db", "", 0600);
    pl_outfile_sweep(dir);
    pl_outfile_sweep("/nonexistent");
    assert_int_equal(access(".parley-0123456789abcdef.part", F_OK), -1);
    assert_int_equal(access(".parley-0123456789abcdef.part-journal", F_OK), -1);
    assert_int_equal(access(".parley-0123456789abcde.part", F_OK), 0);
    assert_int_equal(access(".parley-0123456789abcdef.partly", F_OK), 0);
    assert_int_equal(access("parley.db", F_OK), 0);
}

/* --- equal files ----------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    struct pl_outfile_place left, right;
    assert_int_equal(pl_outfile_find(a, &left, NULL), PL_OK);
    assert_int_equal(pl_outfile_find(b, &right, NULL), PL_OK);
    assert_int_equal(pl_outfile_is_same(&left, &right), pl_outfile_is_same(&right, &left));
    return pl_outfile_is_same(&left, &right);
}

static void two_names_of_one_file_are_known(void **state)
{
    (void)state;
    assert_int_equal(mkdir("below", 0700), 0);
    put("file", "", 0600);
    assert_int_equal(link("file", "below/hard"), 0);
    assert_int_equal(symlink("../file", "below/soft"), 0);
    assert_int_equal(symlink("new", "dangling"), 0);
    assert_int_equal(symlink(".", "here"), 0);
    assert_true(is_same("file", "below/hard"));
    assert_true(is_same("file", "below/soft"));
    assert_true(is_same("file", "below/../here/file"));
    assert_true(is_same("new", "./new"));
    assert_true(is_same("new", "dangling"));
    assert_true(is_same("-", "/dev/stdout"));
    assert_false(is_same("file", "new"));
    assert_false(is_same("new", "newer"));
    assert_false(is_same("-", "file"));
    assert_false(is_same("/dev/null", "/dev/null"));
}

static void outputs_of_one_command_may_not_meet(void **state)
{
    (void)state;
    struct pl_error err = {0};
    const struct pl_outfile_name twice[] = {{"the result", "-"}, {"--report", "-"}};
    assert_int_equal(pl_outfile_check_all(twice, 2, &err), PL_USAGE);
    assert_non_null(strstr(err.message, "standard output"));
    const struct pl_outfile_name names[] = {{"--out", "a"}, {"--report", NULL}, {"--carry", "./a"}};
    assert_int_equal(pl_outfile_check_all(names, 3, &err), PL_USAGE);
    assert_non_null(strstr(err.message, "--out and --carry"));
    const struct pl_outfile_name fine[] = {{"--out", "a"}, {"--report", "b"}, {"--carry", "/x/y"}};
    assert_int_equal(pl_outfile_check_all(fine, 3, &err), PL_OK);
}

static bool is_inside(const char *path, const char *of)
{
    struct pl_outfile_place place;
    assert_int_equal(pl_outfile_find(path, &place, NULL), PL_OK);
    return pl_outfile_is_inside(&place, of);
}

static void what_is_inside_a_directory_is_known_by_any_name(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0700) | mkdir("data/deep", 0700) | mkdir("database", 0700), 0);
    put("data/db", "", 0600);
    assert_int_equal(link("data/db", "hard"), 0);
    assert_int_equal(symlink("data/db", "soft"), 0);
    assert_int_equal(symlink("data", "way"), 0);
    put("outside", "", 0600);
    assert_true(is_inside("data/db", "data"));
    assert_true(is_inside("data/new", "data"));
    assert_true(is_inside("data/deep/new", "data"));
    assert_true(is_inside("hard", "data"));
    assert_true(is_inside("soft", "data"));
    assert_true(is_inside("way/new", "data"));
    assert_true(is_inside("data/new", "way"));
    assert_true(is_inside("database/../data/x", "data"));
    assert_false(is_inside("outside", "data"));
    assert_false(is_inside("database/new", "data"));
    assert_false(is_inside("outside", "nowhere"));
}

#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(a_new_file_has_the_mode_the_umask_leaves),
        IN_A_DIRECTORY(a_file_that_is_replaced_keeps_its_mode_and_owner),
        IN_A_DIRECTORY(another_name_of_the_old_file_keeps_the_old_bytes),
        IN_A_DIRECTORY(a_symbolic_link_is_followed_and_stays),
        IN_A_DIRECTORY(what_is_no_place_for_a_file_is_refused_and_stays),
        IN_A_DIRECTORY(a_file_nobody_may_write_is_not_replaced),
        IN_A_DIRECTORY(a_device_is_written_to_and_stays),
        IN_A_DIRECTORY(a_fifo_is_written_to_and_stays),
        IN_A_DIRECTORY(a_descriptor_of_ours_is_written_to_where_it_stands),
        IN_A_DIRECTORY(what_is_dropped_leaves_everything_as_it_was),
        IN_A_DIRECTORY(a_new_file_replaces_nothing_not_even_what_came_meanwhile),
        IN_A_DIRECTORY(what_is_no_file_and_came_meanwhile_stays),
        IN_A_DIRECTORY(only_a_regular_file_will_do_where_that_is_the_rule),
        IN_A_DIRECTORY(a_scratch_file_has_no_name_when_it_is_taken),
        IN_A_DIRECTORY(a_sweep_takes_parts_and_what_belongs_to_them_and_nothing_else),
        IN_A_DIRECTORY(two_names_of_one_file_are_known),
        IN_A_DIRECTORY(outputs_of_one_command_may_not_meet),
        IN_A_DIRECTORY(what_is_inside_a_directory_is_known_by_any_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
