/* Refused cells: parts that are reported missing, wrong specs, directories that changed; and
 * protected paths in a directory that a program may write. */
#include "unit/ext/cell/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAYS (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP))

static enum pl_status try(unsigned missing, struct pl_cell_spec *spec, struct pl_error *err)
{
    struct pl_cell_settings settings = pl_cells.settings;
    struct pl_cell *cell = NULL;
    settings.missing = missing;
    spec->uid = pl_cells.uid;
    *err = (struct pl_error){0};
    enum pl_status status = pl_cell_spawn(&settings, spec, &cell, err);
    pl_cell_free(cell);
    assert_false(pl_cells_any_left());
    return status;
}

static struct pl_cell_spec spec_of(const char *const *argv)
{
    return (struct pl_cell_spec){
        .argv = argv, .package = {.fd = -1, .from = pl_cells.package}, .least = PL_CELL_FULL};
}

static const char *const *leaving(void)
{
    static const char *argv[4];
    argv[0] = "/ext/hostile";
    argv[1] = pl_cells.token;
    argv[2] = "leave";
    return argv;
}

static void a_missing_part_refuses_and_is_named(void **state)
{
    static const struct {
        unsigned missing;
        enum pl_cell_level least;
        const char *says[3];
    } cases[] = {
        {WAYS, PL_CELL_FULL, {"namespaces is missing", "bubblewrap is missing", "apt install"}},
        {WAYS, PL_CELL_NAMESPACES, {"level namespaces", "namespaces is missing", "only landlock"}},
        {PL_CELL_HAS(LANDLOCK), PL_CELL_FULL, {"landlock is missing", "lsm=", "only namespaces"}},
        {WAYS | PL_CELL_HAS(LANDLOCK), PL_CELL_LANDLOCK, {"landlock is missing", "only none", ""}},
        {PL_CELL_HAS(SECCOMP), PL_CELL_LANDLOCK, {"seccomp is missing", "only none", ""}},
    };
    (void)state;
    pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK) | PL_CELL_HAS(SECCOMP));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_cell_spec spec = spec_of(leaving());
        struct pl_error err;
        spec.least = cases[i].least;
        assert_int_equal(try(cases[i].missing, &spec, &err), PL_INVALID);
        for (size_t j = 0; j < 3; j++)
            if (!strstr(err.message, cases[i].says[j]))
                fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].says[j]);
    }
}

static void what_is_accepted_starts_with_less(void **state)
{
    struct pl_error err;
    (void)state;
    pl_cells_need(PL_CELL_HAS(LANDLOCK) | PL_CELL_HAS(SECCOMP));
    struct pl_cell_spec spec = spec_of(leaving());
    spec.least = PL_CELL_LANDLOCK;
    assert_int_equal(try(WAYS, &spec, &err), PL_OK);
    spec.least = PL_CELL_NONE;
    assert_int_equal(try(WAYS | PL_CELL_HAS(LANDLOCK), &spec, &err), PL_OK);
}

static void without_a_limit_of_memory_nothing_starts(void **state)
{
    struct pl_error err;
    (void)state;
    pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(SECCOMP));
    struct pl_cell_spec spec = spec_of(leaving());
    spec.least = PL_CELL_NONE;
    assert_int_equal(try(PL_CELL_HAS(CGROUP) | PL_CELL_HAS(PROC), &spec, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "memory"));
}

static void root_is_nobody_in_a_cell(void **state)
{
    struct pl_error err;
    (void)state;
    if (geteuid() != 0) {
        print_message("# skipped: this test is for root\n");
        skip();
    }
    struct pl_cell_spec spec = spec_of(leaving());
    spec.least = PL_CELL_NONE;
    assert_int_equal(try(PL_CELL_HAS(UID), &spec, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "--ext-uids"));
}

static void a_probe_says_what_is_missing(void **state)
{
    struct pl_cell_settings settings = pl_cells.settings;
    struct pl_cell_probe probe;
    struct pl_error err = {0};
    (void)state;
    settings.missing = WAYS;
    assert_int_equal(pl_cell_probe(&settings, pl_cells.uid, &probe, &err), PL_OK);
    assert_false(probe.parts[PL_CELL_PART_NAMESPACES].is_there);
    assert_true(probe.parts[PL_CELL_PART_NAMESPACES].remedy[0]);
    assert_false(probe.parts[PL_CELL_PART_BWRAP].is_there);
    assert_true(probe.level <= PL_CELL_LANDLOCK);
    assert_int_equal(pl_cell_accept(&probe, PL_CELL_FULL, &err), PL_INVALID);
}

static void a_wrong_spec_is_refused(void **state)
{
    static const char *const bad_env[] = {"NAME", NULL};
    static const char *const bad_word[] = {"/ext/hostile", "\xff", NULL};
    static const char *const nobody[] = {"no-such-program", NULL};
    static const char *const bad_places[] = {"/",      "work",  "/a/../b", "/proc/x", "/dev/null",
                                             "/etc/x", "/a//b", "/tmp",    "/usr"};
    struct pl_error err;
    (void)state;
    pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(SECCOMP));
    struct pl_cell_spec spec = spec_of(NULL);
    spec.least = PL_CELL_NONE;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    spec.argv = bad_word;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    spec.argv = nobody;
    assert_int_equal(try(0, &spec, &err), PL_NOT_FOUND);
    assert_non_null(strstr(err.message, "no-such-program"));
    spec.argv = leaving();
    spec.env = bad_env;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    spec.env = NULL;
    spec.cwd = "/nowhere";
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    spec.cwd = NULL;
    for (size_t i = 0; i < sizeof bad_places / sizeof *bad_places; i++) {
        struct pl_cell_mount mount = {.fd = -1, .from = pl_cells.workspace, .to = bad_places[i]};
        spec.mounts = &mount;
        spec.n_mounts = 1;
        assert_int_equal(try(0, &spec, &err), PL_USAGE);
    }
    struct pl_cell_mount gone = {.fd = -1, .from = "/nowhere", .to = "/work"};
    spec.mounts = &gone;
    assert_int_equal(try(0, &spec, &err), PL_NOT_FOUND);
    static struct pl_cell_mount many[PL_CELL_MAX_MOUNTS + 1];
    spec.mounts = many;
    spec.n_mounts = PL_CELL_MAX_MOUNTS + 1;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    spec.n_mounts = 0;
    struct pl_cell_host host = {"not a host", 1};
    spec.hosts = &host;
    spec.n_hosts = 1;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
    static struct pl_cell_host hosts[PL_CELL_MAX_HOSTS + 1];
    spec.hosts = hosts;
    spec.n_hosts = PL_CELL_MAX_HOSTS + 1;
    assert_int_equal(try(0, &spec, &err), PL_USAGE);
}

/* The opened directory is mounted, not the one that has its name now. */
static void what_was_opened_is_mounted_though_another_has_its_name(void **state)
{
    char dir[160], away[160], file[200];
    (void)state;
    pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(SECCOMP));
    snprintf(dir, sizeof dir, "%s/real", pl_cells.dir);
    snprintf(away, sizeof away, "%s/away", pl_cells.dir);
    snprintf(file, sizeof file, "%s/real/mark", pl_cells.dir);
    assert_int_equal(mkdir(dir, 0755), 0);
    int fd = open(dir, O_PATH | O_CLOEXEC);
    assert_int_equal(rename(dir, away), 0);
    assert_int_equal(mkdir(dir, 0755), 0);
    int mark = open(file, O_WRONLY | O_CREAT, 0644);
    assert_true(mark >= 0);
    close(mark);
    static const unsigned roads[] = {0, PL_CELL_HAS(NAMESPACES)};
    for (size_t i = 0; i < 2; i++) {
        if (roads[i] && !(pl_cells.has & PL_CELL_HAS(BWRAP)))
            continue;
        struct pl_cell_mount mount = {.fd = fd, .to = "/work"};
        struct pl_cell_run run = {.words = {"paths", "/work/mark"},
                                  .missing = roads[i],
                                  .least = PL_CELL_NAMESPACES,
                                  .mounts = &mount,
                                  .n_mounts = 1};
        pl_cells_resist(&run);
    }
    close(fd);
}

/* --- protected paths -------------------------------------------------------------------------- */

static void make_tree(const char *dir)
{
    char command[512];
    snprintf(command, sizeof command,
             "cd %s && rm -rf * .[a-z]* && mkdir -p .git/hooks sub/.git/hooks src && "
             "echo a > .git/config && echo b > .git/hooks/pre-commit && echo c > .bashrc && "
             "echo d > sub/.git/config && echo e > src/file",
             dir);
    assert_int_equal(system(command), 0);
}

static bool exists(const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", pl_cells.workspace, name);
    return lstat(path, &info) == 0;
}

static void protected_paths_stay_as_they_are(void **state)
{
    static const unsigned roads[] = {0, PL_CELL_HAS(NAMESPACES)};
    (void)state;
    pl_cells_need(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(SECCOMP));
    for (size_t i = 0; i < 2; i++) {
        if (roads[i] && (pl_cells.uid || !(pl_cells.has & PL_CELL_HAS(BWRAP))))
            continue;
        make_tree(pl_cells.workspace);
        struct pl_cell_mount mount = {.fd = -1,
                                      .from = pl_cells.workspace,
                                      .to = "/work",
                                      .is_writable = true,
                                      .is_guarded = true};
        struct pl_cell_run run = {
            .words = {"protected", "/work/.git/config", "/work/.git/hooks/pre-commit",
                      "/work/.bashrc", "/work/sub/.git/config"},
            .missing = roads[i],
            .mounts = &mount,
            .n_mounts = 1,
        };
        pl_cells_resist(&run);
        struct pl_cell_run write = {
            .words = {"write", "hello", "/work/src/file", "/work/new", "/work/.git/index"},
            .missing = roads[i],
            .mounts = &mount,
            .n_mounts = 1,
        };
        pl_cells_run(&write);
        assert_int_equal(write.code, 0);
        assert_true(exists("new"));
    }
}

static void what_is_made_anew_is_removed_and_reported(void **state)
{
    struct pl_cell_guard *guard = NULL;
    struct pl_error err = {0};
    struct pl_buf removed;
    char command[600];
    (void)state;
    make_tree(pl_cells.workspace);
    int dir = open(pl_cells.workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    assert_int_equal(pl_cell_guard_begin(dir, &guard, &err), PL_OK);
    snprintf(command, sizeof command,
             "cd %s && mkdir -p .vscode/a/b deep/.git/hooks && echo x > .vscode/a/b/c && "
             "echo x > .ENVRC && ln -s /etc .idea && echo x > deep/.git/hooks/post-commit && "
             "echo x > ok && rm .bashrc && echo other > .bashrc && mv .git .git2 && "
             "mkdir -p .git && echo evil > .git/config",
             pl_cells.workspace);
    assert_int_equal(system(command), 0);
    pl_buf_init(&removed, 0);
    assert_int_equal(pl_cell_guard_end(guard, &removed, &err), PL_OK);
    pl_buf_addc(&removed, 0);
    static const char *const gone[] = {".vscode", ".ENVRC", ".idea", "deep/.git/hooks",
                                       ".git/config"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s\n", gone[i]);
        assert_false(exists(gone[i]));
        if (!strstr(removed.ptr, line))
            fail_msg("%s is not in %s", gone[i], removed.ptr);
    }
    assert_true(exists("ok") && exists("src/file") && exists("sub/.git/config"));
    assert_true(access("/etc/passwd", F_OK) == 0); /* not through the link */
    pl_buf_deinit(&removed);
    /* Nothing new, so nothing is removed. */
    pl_buf_init(&removed, 0);
    assert_int_equal(pl_cell_guard_begin(dir, &guard, &err), PL_OK);
    assert_int_equal(pl_cell_guard_end(guard, &removed, &err), PL_OK);
    assert_int_equal(removed.len, 0);
    pl_buf_deinit(&removed);
    close(dir);
}

static void without_mounts_protected_paths_forbid_writing(void **state)
{
    struct pl_error err;
    (void)state;
    pl_cells_need(PL_CELL_HAS(LANDLOCK) | PL_CELL_HAS(SECCOMP));
    make_tree(pl_cells.workspace);
    struct pl_cell_mount mount = {.fd = -1,
                                  .from = pl_cells.workspace,
                                  .to = "/work",
                                  .is_writable = true,
                                  .is_guarded = true};
    struct pl_cell_spec spec = spec_of(leaving());
    spec.least = PL_CELL_NONE;
    spec.mounts = &mount;
    spec.n_mounts = 1;
    assert_int_equal(try(WAYS, &spec, &err), PL_USAGE);
    assert_non_null(strstr(err.message, "mount namespace"));
}

/* --- the end of the server -------------------------------------------------------------------- */

static void a_cell_ends_with_the_server(void **state)
{
    (void)state;
    static const unsigned roads[] = {0, PL_CELL_HAS(NAMESPACES), WAYS};
    for (size_t i = 0; i < 3; i++) {
        if ((i == 0 && !(pl_cells.has & PL_CELL_HAS(NAMESPACES))) ||
            (i == 1 && !(pl_cells.has & PL_CELL_HAS(BWRAP))))
            continue;
        pid_t server = fork();
        if (server == 0) {
            const char *argv[] = {"/ext/hostile", pl_cells.token, "wait", "stubborn", NULL};
            struct pl_cell_spec spec = spec_of(argv);
            struct pl_cell_settings settings = pl_cells.settings;
            struct pl_cell *cell = NULL;
            settings.missing = roads[i];
            spec.least = PL_CELL_NONE;
            spec.uid = pl_cells.uid;
            _exit(pl_cell_spawn(&settings, &spec, &cell, NULL) == PL_OK ? 0 : 1);
        }
        int status = 1;
        assert_int_equal(waitpid(server, &status, 0), server);
        assert_int_equal(status, 0);
        for (int turn = 0; pl_cells_any_left(); turn++) {
            assert_true(turn < 12000);
            usleep(10000);
        }
    }
}

static const char *who;

static int begin(void **state)
{
    (void)state;
    pl_cells_begin(getenv("HOSTILE"), strcmp(who, "user") == 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pl_cells_end();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_part_refuses_and_is_named),
        cmocka_unit_test(what_is_accepted_starts_with_less),
        cmocka_unit_test(without_a_limit_of_memory_nothing_starts),
        cmocka_unit_test(root_is_nobody_in_a_cell),
        cmocka_unit_test(a_probe_says_what_is_missing),
        cmocka_unit_test(a_wrong_spec_is_refused),
        cmocka_unit_test(what_was_opened_is_mounted_though_another_has_its_name),
        cmocka_unit_test(protected_paths_stay_as_they_are),
        cmocka_unit_test(what_is_made_anew_is_removed_and_reported),
        cmocka_unit_test(without_mounts_protected_paths_forbid_writing),
        cmocka_unit_test(a_cell_ends_with_the_server),
    };
    who = argc > 1 ? argv[1] : "user";
    return cmocka_run_group_tests(tests, begin, end);
}
