/* The root of a cell: an empty file system in memory, with mounts on it. A file is opened first,
 * and mounted from its descriptor. In the cell's own mount namespace a descriptor from outside
 * cannot be used, so the file is opened again by name and compared: another file with that name
 * is refused. Root can do better: it makes the mounts before it gives up its rights. */
#include "ext/cell/inside/build_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT_BYTES "4m" /* a few files and many mount points; read-only in the end */

#define CLONE_TREE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE)

/* --- detached mounts -------------------------------------------------------------------------- */

static bool protect_tree(int tree, bool is_writable, bool is_device)
{
    struct mount_attr attr = {
        .attr_set = MOUNT_ATTR_NOSUID | (is_device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV) |
                    (is_writable ? 0 : MOUNT_ATTR_RDONLY),
    };
    return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0;
}

static bool write_map(pid_t pid, const char *file, unsigned inside, unsigned outside)
{
    char path[64], line[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int n = snprintf(line, sizeof line, "%u %u 1", inside, outside);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_done = fd >= 0 && write(fd, line, (size_t)n) == n;
    if (fd >= 0)
        close(fd);
    return is_done;
}

/* A user namespace that maps the owner of a directory to the cell's user. -1: none. */
static int map_owner(const struct stat *info, uid_t uid)
{
    pid_t pid =
        (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_NEWUSER | SIGCHLD), NULL, NULL, NULL, 0ul);
    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0)
        return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    int fd = -1;
    if (write_map(pid, "uid_map", info->st_uid, uid) &&
        write_map(pid, "gid_map", info->st_gid, uid))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return fd;
}

/* Maps a granted workspace of another user, so that the cell's user can write to it and new
 * files belong to the workspace's owner. If the file system cannot do that, the normal
 * permissions apply. */
static void give_to_user(int tree, uid_t uid)
{
    struct stat info;
    if (fstat(tree, &info) != 0 || info.st_uid == uid)
        return;
    int users = map_owner(&info, uid);
    if (users < 0)
        return;
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)users};
    (void)mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr);
    close(users);
}

void pl_cell_mounts_detach(struct pl_cell_build *build)
{
    for (size_t i = 0; i < build->plan.n_mounts; i++) {
        struct pl_cell_plan_mount *mount = &build->plan.mounts[i];
        int tree = open_tree(mount->fd, "", CLONE_TREE);
        if (tree < 0 && (errno == EPERM || errno == ENOSYS))
            return;
        if (tree < 0)
            pl_cell_fail_errno("%s cannot be mounted", mount->from);
        give_to_user(tree, build->plan.uid);
        if (!protect_tree(tree, mount->is_writable, false))
            pl_cell_fail_errno("%s cannot be mounted read-only", mount->from);
        if (dup3(tree, mount->fd, O_CLOEXEC) < 0)
            pl_cell_fail_errno("no descriptor for %s", mount->from);
        close(tree);
        mount->is_detached = true;
    }
}

/* --- sources ----------------------------------------------------------------------------------- */

static bool is_same(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The descriptor was opened outside; opens the same file in this namespace. */
static int open_again(const struct pl_cell_plan_mount *mount)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", mount->fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        pl_cell_fail_errno("%s cannot be found again", mount->from);
    path[n] = 0;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        pl_cell_fail_errno("%s cannot be opened by the user of the cell", mount->from);
    if (!is_same(fd, mount->fd))
        pl_cell_fail(PL_CONFLICT, "%s was replaced by another file meanwhile", mount->from);
    return fd;
}

static int clone_source(int fd, const char *name, bool is_writable, bool is_device)
{
    int tree = open_tree(fd, "", CLONE_TREE);
    if (tree < 0 && errno == EPERM)
        pl_cell_unable(PL_CELL_PART_NAMESPACES, "mounting is forbidden in a user namespace");
    if (tree < 0 || !protect_tree(tree, is_writable, is_device))
        pl_cell_fail_errno("%s cannot be mounted", name);
    return tree;
}

/* --- places in the root ------------------------------------------------------------------------ */

/* Opens the mount point, and creates it if it does not exist. A link in the path is refused: it
 * would lead out of the root. */
static int open_place(int root, const char *path, bool is_directory)
{
    int at = dup(root);
    for (const char *name = path + 1; at >= 0 && *name;) {
        char segment[256];
        size_t n = strcspn(name, "/");
        if (n >= sizeof segment)
            pl_cell_fail(PL_USAGE, "%s has a name that is too long", path);
        memcpy(segment, name, n);
        segment[n] = 0;
        bool is_last = !name[n];
        name += n + !is_last;
        if (!is_last || is_directory)
            (void)mkdirat(at, segment, 0755);
        else if (faccessat(at, segment, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            (void)mknodat(at, segment, S_IFREG | 0644, 0);
        int next = openat(at, segment, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    struct stat info;
    if (at < 0 || fstat(at, &info) != 0 || S_ISLNK(info.st_mode))
        pl_cell_fail_errno("there is no place for %s in the cell", path);
    return at;
}

static void attach(int tree, int root, const char *path)
{
    struct stat info;
    if (fstat(tree, &info) != 0)
        pl_cell_fail_errno("%s cannot be looked at", path);
    int place = open_place(root, path, S_ISDIR(info.st_mode));
    if (move_mount(tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
        pl_cell_fail_errno("nothing can be mounted at %s in the cell", path);
    close(place);
    close(tree);
}

/* Creates a file system. -1: errno. */
static int make_fs(const char *kind, const char *const options[][2], unsigned flags)
{
    int fs = fsopen(kind, FSOPEN_CLOEXEC);
    if (fs < 0)
        return -1;
    int fd = -1;
    bool is_fine = true;
    for (size_t i = 0; options[i][0] && is_fine; i++)
        is_fine = fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) == 0;
    if (is_fine && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        fd = fsmount(fs, FSMOUNT_CLOEXEC, flags);
    int error = errno;
    close(fs);
    errno = error;
    return fd;
}

/* --- the root ---------------------------------------------------------------------------------- */

static int make_root(void)
{
    const char *const options[][2] = {
        {"size", ROOT_BYTES}, {"mode", "0755"}, {"nr_inodes", "4096"}, {NULL, NULL}};
    int root = make_fs("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (root < 0 && errno == EPERM)
        pl_cell_unable(PL_CELL_PART_NAMESPACES, "mounting is forbidden in a user namespace");
    if (root < 0)
        pl_cell_fail_errno("no file system for the root of the cell");
    static const char *const places[] = {"/tmp", "/mnt", "/run", "/var", "/usr"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (move_mount(root, "", AT_FDCWD, places[i], MOVE_MOUNT_F_EMPTY_PATH) == 0)
            return root;
    pl_cell_fail_errno("the root of the cell cannot be mounted");
}

struct source {
    int tree; /* -1: a symbolic link */
    const char *to;
    const char *link; /* its target; arena */
};

struct sources {
    struct pl_cell_build *build;
    PL_VEC(struct source) list;
};

static void add_source(struct sources *sources, struct source source)
{
    if (!pl_vec_push(&sources->list, source))
        pl_cell_fail(PL_NOMEM, "out of memory");
}

/* If /bin is a link to usr/bin, it is one in the cell too. */
static void add_runtime(struct sources *sources, const char *path)
{
    struct stat info;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        return; /* not every machine has all of them */
    if (S_ISLNK(info.st_mode)) {
        char link[4096];
        ssize_t n = readlinkat(fd, "", link, sizeof link - 1);
        char *copy = n > 0 ? pl_arena_alloc(sources->build->arena, (size_t)n + 1, 1) : NULL;
        if (!copy)
            pl_cell_fail(PL_NOMEM, "out of memory");
        memcpy(copy, link, (size_t)n);
        copy[n] = 0;
        add_source(sources, (struct source){-1, path, copy});
    } else {
        add_source(sources, (struct source){clone_source(fd, path, false, false), path, NULL});
    }
    close(fd);
}

static void add_device(struct sources *sources, const char *path)
{
    struct stat info;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISCHR(info.st_mode))
        pl_cell_fail(PL_IO, "%s is not a device here", path);
    add_source(sources, (struct source){clone_source(fd, path, true, true), path, NULL});
    close(fd);
}

static void add_mount(struct sources *sources, const struct pl_cell_plan_mount *mount)
{
    int tree;
    if (mount->is_detached) {
        tree = dup(mount->fd);
    } else {
        int fd = open_again(mount);
        tree = clone_source(fd, mount->from, mount->is_writable, false);
        close(fd);
    }
    if (tree < 0)
        pl_cell_fail_errno("no descriptor for %s", mount->from);
    add_source(sources, (struct source){tree, mount->to, NULL});
}

static void put_file(int root, const struct pl_cell_file *file)
{
    int place = open_place(root, file->path, false);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, file->text.ptr, file->text.len) != (ssize_t)file->text.len)
        pl_cell_fail_errno("%s of the cell cannot be written", file->path);
    close(fd);
    close(place);
}

static void put_link(int root, const struct source *source)
{
    char parent[4096];
    size_t n = (size_t)(strrchr(source->to, '/') - source->to);
    snprintf(parent, sizeof parent, "%.*s", (int)n, source->to);
    int at = n ? open_place(root, parent, true) : dup(root);
    if (at < 0 || symlinkat(source->link, at, source->to + n + 1) != 0)
        pl_cell_fail_errno("the link %s of the cell cannot be made", source->to);
    close(at);
}

static void put_tmp(struct pl_cell_build *build, int root)
{
    char size[32];
    snprintf(size, sizeof size, "%llu", (unsigned long long)build->plan.limits.n_file);
    const char *const options[][2] = {
        {"size", size}, {"mode", "1777"}, {"nr_inodes", "65536"}, {NULL, NULL}};
    int tmp = make_fs("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (tmp < 0)
        pl_cell_fail_errno("no file system for /tmp of the cell");
    attach(tmp, root, "/tmp");
}

/* Shows only the cell's own processes. If a machine hides parts of its own /proc, as containers
 * do, the kernel permits no new /proc mount. */
static void put_proc(struct pl_cell_build *build, int root)
{
    const char *const options[][2] = {{"subset", "pid"}, {NULL, NULL}};
    int proc =
        build->plan.missing & PL_CELL_HAS(PROC)
            ? -1
            : make_fs("proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (proc < 0)
        return;
    build->proc = fcntl(proc, F_DUPFD_CLOEXEC, 3);
    build->parts |= PL_CELL_HAS(PROC);
    attach(proc, root, "/proc");
}

static void enter_root(int root)
{
    if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        pl_cell_fail_errno("the root of the cell cannot be entered");
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof attr) != 0)
        pl_cell_fail_errno("the root of the cell cannot be made read-only");
    close(root);
}

/* Opens everything before the first mount hides any of it. */
static void open_sources(struct sources *sources)
{
    struct pl_cell_build *build = sources->build;
    for (size_t i = 0; pl_cell_runtime[i].path; i++)
        add_runtime(sources, pl_cell_runtime[i].path);
    for (size_t i = 0; pl_cell_devices[i]; i++)
        add_device(sources, pl_cell_devices[i]);
    for (size_t i = 0; i < build->plan.n_mounts; i++)
        add_mount(sources, &build->plan.mounts[i]);
}

void pl_cell_root_make(struct pl_cell_build *build)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        pl_cell_unable(PL_CELL_PART_NAMESPACES, "mounting is forbidden in a user namespace");
    struct sources sources = {.build = build};
    open_sources(&sources);
    int root = make_root();
    const struct pl_cell_file *files = pl_cell_files(build);
    for (size_t i = 0; files[i].path; i++)
        put_file(root, &files[i]);
    put_tmp(build, root);
    put_proc(build, root);
    for (size_t i = 0; i < sources.list.len; i++)
        if (sources.list.ptr[i].tree < 0)
            put_link(root, &sources.list.ptr[i]);
        else
            attach(sources.list.ptr[i].tree, root, sources.list.ptr[i].to);
    pl_vec_deinit(&sources.list);
    enter_root(root);
    build->has_root = true;
}
