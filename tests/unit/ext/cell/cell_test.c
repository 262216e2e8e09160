/* The hostile program in real cells, as root and as a user, at every level of this machine. */
#include "unit/ext/cell/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAYS (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP))

/* How to get each level: the parts it needs, and the parts that are reported missing. */
static const struct road {
    const char *name;
    unsigned needs, missing;
    enum pl_cell_level level;
} roads[] = {
    {"full", PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK), 0, PL_CELL_FULL},
    {"watched", PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(LANDLOCK), PL_CELL_HAS(CGROUP), PL_CELL_FULL},
    {"bubblewrap", PL_CELL_HAS(BWRAP) | PL_CELL_HAS(LANDLOCK), PL_CELL_HAS(NAMESPACES),
     PL_CELL_FULL},
    {"namespaces", PL_CELL_HAS(NAMESPACES), PL_CELL_HAS(LANDLOCK), PL_CELL_NAMESPACES},
    {"landlock", PL_CELL_HAS(LANDLOCK), WAYS, PL_CELL_LANDLOCK},
};
#define N_ROADS (sizeof roads / sizeof *roads)

static const struct road *road_of(void **state)
{
    const struct road *road = *state;
    pl_cells_need(road->needs | PL_CELL_HAS(SECCOMP) | PL_CELL_HAS(UID));
    return road;
}

static struct pl_cell_run run_on(const struct road *road)
{
    return (struct pl_cell_run){.missing = road->missing, .least = road->level};
}

/* Runs one attack; the cell must be as closed as the road promises. */
static void resist(const struct road *road, const char *const *words)
{
    struct pl_cell_run run = run_on(road);
    for (size_t i = 0; words[i]; i++)
        run.words[i] = words[i];
    pl_cells_resist(&run);
    assert_int_equal(run.level, road->level);
}
#define RESIST(road, ...) resist(road, (const char *const[]){__VA_ARGS__, NULL})

static bool has_root(const struct road *road)
{
    return road->level >= PL_CELL_NAMESPACES;
}

/* --- files ------------------------------------------------------------------------------------ */

static void forbidden_paths_cannot_be_read(void **state)
{
    const struct road *road = road_of(state);
    RESIST(road, "paths", pl_cells.secret, pl_cells.workspace, pl_cells.dir);
}

static void the_package_cannot_be_written(void **state)
{
    RESIST(road_of(state), "package");
}

static void links_lead_nowhere(void **state)
{
    const struct road *road = road_of(state);
    char path[160];
    snprintf(path, sizeof path, "%s/out", pl_cells.workspace);
    unlink(path);
    assert_int_equal(symlink(pl_cells.secret, path), 0);
    struct pl_cell_mount mount = {.fd = -1, .from = pl_cells.workspace, .to = "/work"};
    struct pl_cell_run run = run_on(road);
    run.mounts = &mount;
    run.n_mounts = 1;
    run.words[0] = "links";
    run.words[1] = has_root(road) ? "/work/out" : path;
    run.words[2] = pl_cells.secret;
    pl_cells_resist(&run);
    unlink(path);
}

static void tmp_is_small_and_runs_nothing(void **state)
{
    const struct road *road = road_of(state);
    if (has_root(road))
        RESIST(road, "tmp");
}

static void a_writable_mount_is_written_and_a_readable_one_is_not(void **state)
{
    const struct road *road = road_of(state);
    char inside[160], path[160];
    snprintf(path, sizeof path, "%s/made", pl_cells.workspace);
    snprintf(inside, sizeof inside, "%s/made", has_root(road) ? "/work" : pl_cells.workspace);
    for (int is_writable = 0; is_writable < 2; is_writable++) {
        struct pl_cell_mount mount = {
            .fd = -1, .from = pl_cells.workspace, .to = "/work", .is_writable = is_writable};
        struct pl_cell_run run = run_on(road);
        run.mounts = &mount;
        run.n_mounts = 1;
        run.words[0] = "write";
        run.words[1] = "hello";
        run.words[2] = inside;
        unlink(path);
        /* Without a mount that maps it, this user cannot write root's directory. */
        bool is_expected = is_writable && (pl_cells.uid == 0 || strcmp(road->name, "bubblewrap"));
        if (is_writable && pl_cells.uid && !has_root(road))
            is_expected = false;
        pl_cells_run(&run);
        assert_int_equal(run.code == 0, is_expected);
        struct stat info, dir;
        assert_int_equal(stat(path, &info) == 0, is_expected);
        assert_int_equal(stat(pl_cells.workspace, &dir), 0);
        if (is_expected)
            assert_int_equal(info.st_uid, dir.st_uid);
    }
    unlink(path);
}

/* --- the kernel ------------------------------------------------------------------------------- */

static void no_socket_is_made(void **state)
{
    RESIST(road_of(state), "sockets");
}

static void with_hosts_only_tcp_is_made_and_leads_nowhere_else(void **state)
{
    const struct road *road = road_of(state);
    if (!has_root(road))
        return;
    struct pl_cell_host hosts[] = {{"api.example.com", 0}, {"*.example.org", 0}};
    struct pl_cell_run run = run_on(road);
    run.hosts = hosts;
    run.n_hosts = 2;
    run.words[0] = "sockets";
    run.words[1] = "hosts";
    pl_cells_resist(&run);
    run = run_on(road);
    run.hosts = hosts;
    run.n_hosts = 2;
    const char *words[] = {"connect", "10.0.0.1", "127.0.0.1", "127.0.1.9", "192.0.2.1", "1.1.1.1"};
    memcpy(run.words, words, sizeof words);
    pl_cells_resist(&run);
}

static void hosts_without_a_network_of_its_own_are_refused(void **state)
{
    (void)state;
    pl_cells_need(PL_CELL_HAS(LANDLOCK));
    struct pl_cell_host host = {"api.example.com", 443};
    const char *argv[] = {"/ext/hostile", NULL};
    struct pl_cell_settings settings = pl_cells.settings;
    settings.missing = WAYS;
    struct pl_cell_spec spec = {.argv = argv,
                                .package = {.fd = -1, .from = pl_cells.package},
                                .hosts = &host,
                                .n_hosts = 1,
                                .uid = pl_cells.uid};
    struct pl_cell *cell = NULL;
    struct pl_error err = {0};
    assert_int_equal(pl_cell_spawn(&settings, &spec, &cell, &err), PL_USAGE);
    assert_non_null(strstr(err.message, "network namespace"));
}

static void forbidden_calls_are_refused(void **state)
{
    RESIST(road_of(state), "calls");
}

static void calls_of_other_architectures_are_killed(void **state)
{
    static const char *const doors[] = {"int80", "x32"};
    for (size_t i = 0; i < 2; i++) {
        struct pl_cell_run run = run_on(road_of(state));
        run.words[0] = doors[i];
        pl_cells_run(&run);
        /* A kernel without 32-bit support faults before the filter runs. */
        assert_true(run.code == -SIGSYS || run.code == -SIGSEGV);
    }
}

/* --- processes -------------------------------------------------------------------------------- */

static void a_fork_bomb_stays_small_and_ends_with_the_program(void **state)
{
    const struct road *road = road_of(state);
    struct pl_cell_run run = run_on(road);
    run.words[0] = "fork";
    pl_cells_run(&run);
    /* Without namespaces the limit is per user, and the user may have other processes that end;
     * then the watch ends it. */
    bool is_stopped = !has_root(road) && run.why == PL_CELL_WHY_PROCESSES;
    if (run.code != 0 && !is_stopped)
        fail_msg("it ended with code %d, why %d: %s", run.code, (int)run.why, run.out);
}

static void a_daemon_ends_with_the_program(void **state)
{
    RESIST(road_of(state), "daemon");
}

static void a_process_gets_no_more_memory_than_its_limit(void **state)
{
    struct pl_cell_run run = run_on(road_of(state));
    run.words[0] = "memory";
    pl_cells_run(&run);
    assert_true((run.code == 0 && run.why == PL_CELL_WHY_EXIT) || run.why == PL_CELL_WHY_MEMORY);
}

static void processes_together_get_no_more_memory_than_their_limit(void **state)
{
    static const char *const who[] = {"many", "others"};
    for (size_t i = 0; i < 2; i++) {
        struct pl_cell_run run = run_on(road_of(state));
        run.words[0] = "memory";
        run.words[1] = who[i];
        pl_cells_run(&run);
        assert_int_equal(run.why, PL_CELL_WHY_MEMORY);
        assert_int_equal(run.code, -SIGKILL);
    }
}

static void what_burns_is_killed(void **state)
{
    const struct road *road = road_of(state);
    const char *argv[] = {"/ext/hostile", pl_cells.token, "burn", NULL};
    struct pl_cell_settings settings = pl_cells.settings;
    settings.missing = road->missing;
    struct pl_cell_spec spec = {.argv = argv,
                                .package = {.fd = -1, .from = pl_cells.package},
                                .uid = pl_cells.uid,
                                .least = road->level};
    struct pl_cell *cell = NULL;
    struct pl_error err = {0};
    struct pl_cell_end end;
    assert_int_equal(pl_cell_spawn(&settings, &spec, &cell, &err), PL_OK);
    assert_false(pl_cell_reap(cell, &end));
    assert_true(pl_cells_any_left());
    pl_cell_free(cell);
    assert_false(pl_cells_any_left());
}

static void signals_reach_nobody_outside(void **state)
{
    char self[16], parent[16];
    snprintf(self, sizeof self, "%d", (int)getpid());
    snprintf(parent, sizeof parent, "%d", (int)getppid());
    RESIST(road_of(state), "signals", self, parent);
}

static void nothing_of_the_server_is_left_inside(void **state)
{
    const struct road *road = road_of(state);
    struct pl_cell_run run = run_on(road);
    static const char *const env[] = {"GIVEN=value", NULL};
    run.env = env;
    run.words[0] = "around";
    int left = open("/etc/passwd", O_RDONLY); /* not close-on-exec */
    pl_cells_resist(&run);
    close(left);
    assert_non_null(strstr(run.out, "GIVEN=value\n"));
    assert_non_null(strstr(run.out, "PATH=/usr/local/bin:/usr/bin:/bin\n"));
    assert_non_null(strstr(run.out, "HOME=/tmp\n"));
    size_t n_lines = 0;
    for (const char *at = run.out; (at = strchr(at, '\n')); at++)
        n_lines++;
    assert_int_equal(n_lines, 6);
}

/* --- a program that means well ---------------------------------------------------------------- */

static void a_program_gets_its_input_and_ends_with_its_code(void **state)
{
    const struct road *road = road_of(state);
    struct pl_cell_run run = run_on(road);
    run.words[0] = "copy";
    run.input = "hello\n";
    pl_cells_resist(&run);
    assert_string_equal(run.out, "hello\n");
    run = run_on(road);
    run.words[0] = "leave";
    run.words[1] = "42";
    pl_cells_run(&run);
    assert_int_equal(run.code, 42);
    run = run_on(road);
    run.words[0] = "leave";
    run.words[1] = "0";
    run.words[2] = "6";
    pl_cells_run(&run);
    assert_int_equal(run.code, -SIGABRT);
}

static void a_signal_ends_the_group_and_a_kill_everything(void **state)
{
    const struct road *road = road_of(state);
    struct pl_cell_run run = run_on(road);
    run.words[0] = "wait";
    run.signal_after_word = SIGTERM;
    pl_cells_run(&run);
    assert_int_equal(run.why, PL_CELL_WHY_EXIT);
    assert_int_equal(run.code, -SIGTERM);
    run = run_on(road);
    run.words[0] = "wait";
    run.words[1] = "stubborn";
    run.kill_after_word = 1;
    pl_cells_run(&run);
    assert_int_equal(run.why, PL_CELL_WHY_LOST);
    assert_int_equal(run.code, -SIGKILL);
}

static void programs_of_the_machine_run(void **state)
{
    const struct road *road = road_of(state);
    static const char *const programs[][4] = {
        {"sh", "-c", "echo $((6 * 7)) | cat", NULL},
        {"/usr/bin/python3", "-c", "import asyncio, json; asyncio.run(asyncio.sleep(0)); print(42)",
         NULL},
        {"/usr/bin/node", "-e",
         "console.log(require('child_process').execSync('echo 42').toString().trim())", NULL},
    };
    for (size_t i = 0; i < 3; i++) {
        if (programs[i][0][0] == '/' && access(programs[i][0], X_OK) != 0) {
            print_message("# skipped: %s is not installed\n", programs[i][0]);
            continue;
        }
        struct pl_cell_settings settings = pl_cells.settings;
        settings.missing = road->missing;
        struct pl_cell_spec spec = {
            .argv = programs[i], .package = {.fd = -1}, .uid = pl_cells.uid, .least = road->level};
        struct pl_cell *cell = NULL;
        struct pl_error err = {0};
        struct pl_cell_end end;
        if (pl_cell_spawn(&settings, &spec, &cell, &err) != PL_OK)
            fail_msg("%s: %s", programs[i][0], err.message);
        char text[2048] = "";
        size_t n = 0;
        fcntl(cell->out, F_SETFL, 0);
        fcntl(cell->err, F_SETFL, 0);
        for (ssize_t got; (got = read(cell->out, text + n, sizeof text - 1 - n)) > 0;)
            n += (size_t)got;
        if (strcmp(text, "42\n") != 0) {
            ssize_t got = read(cell->err, text, sizeof text - 1);
            text[got > 0 ? got : 0] = 0;
            fail_msg("%s at %s: %s", programs[i][0], cell->report, text);
        }
        while (!pl_cell_reap(cell, &end))
            usleep(1000);
        assert_int_equal(end.code, 0);
        pl_cell_free(cell);
    }
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*test)(void **state);
} on_each_road[] = {
#define T(test)                                                                                    \
    {                                                                                              \
#test, test                                                                                \
    }
    T(forbidden_paths_cannot_be_read),
    T(the_package_cannot_be_written),
    T(links_lead_nowhere),
    T(tmp_is_small_and_runs_nothing),
    T(a_writable_mount_is_written_and_a_readable_one_is_not),
    T(no_socket_is_made),
    T(with_hosts_only_tcp_is_made_and_leads_nowhere_else),
    T(forbidden_calls_are_refused),
    T(calls_of_other_architectures_are_killed),
    T(a_fork_bomb_stays_small_and_ends_with_the_program),
    T(a_daemon_ends_with_the_program),
    T(a_process_gets_no_more_memory_than_its_limit),
    T(processes_together_get_no_more_memory_than_their_limit),
    T(what_burns_is_killed),
    T(signals_reach_nobody_outside),
    T(nothing_of_the_server_is_left_inside),
    T(a_program_gets_its_input_and_ends_with_its_code),
    T(a_signal_ends_the_group_and_a_kill_everything),
    T(programs_of_the_machine_run),
#undef T
};
#define N_EACH (sizeof on_each_road / sizeof *on_each_road)

static const char *hostile_path;
static bool is_user;

static int begin(void **state)
{
    (void)state;
    pl_cells_begin(hostile_path, is_user);
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
    static struct CMUnitTest tests[N_ROADS * N_EACH + 1];
    static char names[N_ROADS * N_EACH][128];
    size_t n = 0;
    if (argc < 3)
        return 2;
    hostile_path = argv[1];
    is_user = strcmp(argv[2], "user") == 0;
    for (size_t i = 0; i < N_ROADS; i++)
        for (size_t j = 0; j < N_EACH; j++) {
            snprintf(names[n], sizeof names[n], "%s: %s", roads[i].name, on_each_road[j].name);
            tests[n] =
                (struct CMUnitTest){names[n], on_each_road[j].test, NULL, NULL, (void *)&roads[i]};
            n++;
        }
    tests[n++] =
        (struct CMUnitTest)cmocka_unit_test(hosts_without_a_network_of_its_own_are_refused);
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    return _cmocka_run_group_tests("cell", tests, n, begin, end);
}
