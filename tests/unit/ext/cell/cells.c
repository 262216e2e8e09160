/* Cells for tests: directories, the hostile program as a package, and runs of it. */
#include "unit/ext/cell/cells.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* An unused uid, different for each test program: without namespaces the limit of processes is per
 * user. */
#define USER (61234 + (uid_t)getpid() % 4000)

struct pl_cells pl_cells;

static char program_path[64];

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void copy_program(const char *from, const char *to)
{
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    fclose(out);
    assert_int_equal(chmod(to, 0755), 0);
}

static void drop_root(void)
{
    /* This user may lack access to the executable's directory, so it stays open. */
    int fd = fcntl(open(getenv("PARLEY"), O_PATH), F_DUPFD, 800);
    assert_true(fd >= 0);
    snprintf(program_path, sizeof program_path, "/proc/self/fd/%d", fd);
    assert_int_equal(setgroups(0, NULL), 0);
    assert_int_equal(setresgid(USER, USER, USER), 0);
    assert_int_equal(setresuid(USER, USER, USER), 0);
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0); /* otherwise root owns /proc/self */
}

void pl_cells_begin(const char *hostile, bool is_user)
{
    umask(022);
    signal(SIGPIPE, SIG_IGN);
    setenv("SECRET_OF_THE_SERVER", "1", 1);
    assert_non_null(getenv("PARLEY"));
    snprintf(program_path, sizeof program_path, "%s", getenv("PARLEY"));
    pl_cells.settings.program = getenv("PARLEY");
    char bytes[] = "/tmp/parley-cells-XXXXXX";
    assert_non_null(mkdtemp(bytes));
    assert_int_equal(chmod(bytes, 0755), 0);
    snprintf(pl_cells.dir, sizeof pl_cells.dir, "%s", bytes);
    snprintf(pl_cells.package, sizeof pl_cells.package, "%s/package", bytes);
    snprintf(pl_cells.workspace, sizeof pl_cells.workspace, "%s/workspace", bytes);
    snprintf(pl_cells.secret, sizeof pl_cells.secret, "%s/secret", bytes);
    snprintf(pl_cells.token, sizeof pl_cells.token, "token-%s",
             bytes + strlen("/tmp/parley-cells-"));
    char path[128];
    snprintf(path, sizeof path, "%s/package/hostile", bytes);
    assert_int_equal(mkdir(pl_cells.package, 0755) | mkdir(pl_cells.workspace, 0755), 0);
    copy_program(hostile, path);
    put_file(pl_cells.secret, "secret\n");
    if (geteuid() == 0 && is_user) {
        assert_int_equal(chown(bytes, USER, USER) | chown(pl_cells.package, USER, USER) |
                             chown(pl_cells.workspace, USER, USER) | chown(path, USER, USER) |
                             chown(pl_cells.secret, USER, USER),
                         0);
        drop_root();
        pl_cells.settings.program = program_path;
    }
    pl_cells.uid = geteuid() == 0 ? USER : 0;
    struct pl_cell_probe probe;
    struct pl_error err = {0};
    if (pl_cell_probe(&pl_cells.settings, pl_cells.uid, &probe, &err) != PL_OK)
        fail_msg("no probe: %s", err.message);
    pl_cells.has = probe.has;
    for (int i = 0; i < PL_CELL_N_PARTS; i++)
        print_message("# %s: %s%s%s\n", pl_cell_part_name((enum pl_cell_part)i),
                      probe.parts[i].says,
                      probe.parts[i].is_there ? "" : "; remedy: ", probe.parts[i].remedy);
}

void pl_cells_end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", pl_cells.dir);
    assert_int_equal(system(command), 0);
}

void pl_cells_need(unsigned parts)
{
    for (int i = 0; i < PL_CELL_N_PARTS; i++)
        if ((parts & ~pl_cells.has) & (1u << i)) {
            print_message("# skipped: this machine has no %s\n",
                          pl_cell_part_text((enum pl_cell_part)i));
            skip();
        }
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool has_token(const char *pid)
{
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    return n && memmem(text, n, pl_cells.token, strlen(pl_cells.token));
}

bool pl_cells_any_left(void)
{
    DIR *dir = opendir("/proc");
    bool is_left = false;
    for (struct dirent *entry; (entry = readdir(dir));)
        is_left = is_left ||
                  (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && has_token(entry->d_name));
    closedir(dir);
    return is_left;
}

static void send_input(struct pl_cell *cell, const char *input)
{
    if (input)
        assert_int_equal(write(cell->in, input, strlen(input)), strlen(input));
    close(cell->in);
    cell->in = -1;
}

/* False: nothing happened for minutes. */
static bool hear(struct pl_cell *cell, struct pl_cell_run *run)
{
    size_t n = 0;
    struct pl_cell_end end;
    while (!pl_cell_reap(cell, &end)) {
        struct pollfd fds[] = {{.fd = cell->pidfd, .events = POLLIN},
                               {.fd = cell->out, .events = POLLIN}};
        if (poll(fds, fds[1].fd < 0 ? 1 : 2, 120000) <= 0)
            return false;
        ssize_t got = read(cell->out, run->out + n, sizeof run->out - 1 - n);
        n += got > 0 ? (size_t)got : 0;
        if (got > 0 && run->kill_after_word)
            pl_cell_kill(cell);
        if (got > 0 && run->signal_after_word)
            assert_true(pl_cell_signal(cell, run->signal_after_word));
        if (got == 0) {
            close(cell->out);
            cell->out = -1;
        }
    }
    for (ssize_t got;
         cell->out >= 0 && (got = read(cell->out, run->out + n, sizeof run->out - 1 - n)) > 0;)
        n += (size_t)got;
    run->why = end.why;
    run->code = end.code;
    return true;
}

void pl_cells_run(struct pl_cell_run *run)
{
    const char *argv[16] = {"/ext/hostile", pl_cells.token};
    for (size_t i = 0; run->words[i]; i++)
        argv[2 + i] = run->words[i];
    struct pl_cell_settings settings = pl_cells.settings;
    settings.missing = run->missing;
    struct pl_cell_spec spec = {
        .argv = argv,
        .env = run->env,
        .package = {.fd = -1, .from = pl_cells.package},
        .mounts = run->mounts,
        .n_mounts = run->n_mounts,
        .hosts = run->hosts,
        .n_hosts = run->n_hosts,
        .uid = pl_cells.uid,
        .least = run->least,
    };
    struct pl_cell *cell = NULL;
    struct pl_error err = {0};
    enum pl_status status = pl_cell_spawn(&settings, &spec, &cell, &err);
    if (status != PL_OK)
        fail_msg("no cell: %s", err.message);
    run->level = cell->level;
    snprintf(run->report, sizeof run->report, "%s", cell->report);
    send_input(cell, run->input);
    bool is_heard = hear(cell, run);
    pl_cell_free(cell);
    if (!is_heard)
        fail_msg("%s at %s: the cell did not end", run->words[0], run->report);
    assert_false(pl_cells_any_left());
}

void pl_cells_resist(struct pl_cell_run *run)
{
    pl_cells_run(run);
    if (run->code != 0 || run->why != PL_CELL_WHY_EXIT)
        fail_msg("%s at %s: code %d, why %d\n%s", run->words[0], run->report, run->code, run->why,
                 run->out);
}
