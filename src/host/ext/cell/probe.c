/* Finds out what this machine supports by making an empty cell. Each missing part has a remedy. */
#include "ext/cell/cell.h"

#include "ext/cell/cgroup.h"
#include "ext/cell/inside/landlock.h"
#include "ext/cell/probe_int.h"
#include "ext/cell/inside/seccomp.h"
#include "ext/cell/uids.h"
#include "io/file/file.h"

#include <linux/filter.h>
#include <stdio.h>
#include <unistd.h>

/* --- remedies ---------------------------------------------------------------------------------- */

/* A kernel setting that forbids user namespaces, with the value that forbids. */
static const struct {
    const char *path, *value, *remedy;
} switches[] = {
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
     "install bubblewrap (apt install bubblewrap), or sysctl "
     "kernel.apparmor_restrict_unprivileged_userns=0"},
    {"/proc/sys/kernel/unprivileged_userns_clone", "0",
     "sysctl kernel.unprivileged_userns_clone=1"},
    {"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
};

static const char *namespaces_remedy(void)
{
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        struct pl_file file = {0};
        if (pl_file_read(switches[i].path, 64, NULL, &file, NULL) != PL_OK)
            continue;
        bool is_off = pl_str_begins(file.bytes, switches[i].value) && file.bytes.len <= 2;
        pl_file_close(&file);
        if (is_off)
            return switches[i].remedy;
    }
    return "allow user namespaces; in a container: let clone and mount through its seccomp and "
           "AppArmor profiles";
}

static const char *remedy_of(enum pl_cell_part part)
{
    static const char *const remedies[] = {
        [PL_CELL_PART_UID] =
            "set unprivileged user ids with --ext-uids, or do not run the server as root",
        [PL_CELL_PART_BWRAP] = "install it: apt install bubblewrap",
        [PL_CELL_PART_LANDLOCK] =
            "use Linux 5.13 or newer with \"landlock\" in the list lsm= of its command line",
        [PL_CELL_PART_SECCOMP] = "use a kernel with CONFIG_SECCOMP_FILTER on x86-64 or 64-bit ARM",
        [PL_CELL_PART_CGROUP] =
            ("not required, memory is watched instead; with systemd: Delegate=memory and "
             "DelegateSubgroup=server in the unit"),
        [PL_CELL_PART_PROC] =
            "not required if there is a cgroup; do not mask parts of /proc for the server",
    };
    return part == PL_CELL_PART_NAMESPACES ? namespaces_remedy() : remedies[part];
}

/* --- findings ---------------------------------------------------------------------------------- */

static void say(struct pl_cell_probe *probe, enum pl_cell_part part, bool is_there,
                const char *text)
{
    struct pl_cell_finding *finding = &probe->parts[part];
    finding->is_there = is_there;
    snprintf(finding->says, sizeof finding->says, "%s", text);
    snprintf(finding->remedy, sizeof finding->remedy, "%s", is_there ? "" : remedy_of(part));
    probe->has = is_there ? probe->has | 1u << part : probe->has & ~(1u << part);
}

static const char *missing_text(const struct pl_cell_tried *tried, enum pl_cell_part part,
                                const char *otherwise)
{
    return tried->says[part][0] ? tried->says[part] : otherwise;
}

static void say_ways(const struct pl_cell_tried *tried, struct pl_cell_probe *probe)
{
    bool has_namespaces = !(tried->missing & PL_CELL_HAS(NAMESPACES));
    bool has_bwrap = !(tried->missing & PL_CELL_HAS(BWRAP)) && access("/usr/bin/bwrap", X_OK) == 0;
    say(probe, PL_CELL_PART_NAMESPACES, has_namespaces,
        has_namespaces ? "user, mount, pid, net, ipc, uts and cgroup namespaces"
                       : missing_text(tried, PL_CELL_PART_NAMESPACES, "no user namespaces"));
    say(probe, PL_CELL_PART_BWRAP, has_bwrap,
        has_bwrap ? "/usr/bin/bwrap"
                  : missing_text(tried, PL_CELL_PART_BWRAP, "/usr/bin/bwrap is not installed"));
}

static void say_landlock(const struct pl_cell_tried *tried, struct pl_cell_probe *probe)
{
    char text[64];
    probe->landlock_abi = tried->missing & PL_CELL_HAS(LANDLOCK) ? 0 : pl_landlock_abi();
    snprintf(text, sizeof text, "ABI %d", probe->landlock_abi);
    say(probe, PL_CELL_PART_LANDLOCK, probe->landlock_abi > 0,
        probe->landlock_abi > 0 ? text : "no Landlock in this kernel");
}

static void say_seccomp(const struct pl_cell_tried *tried, struct pl_cell_probe *probe)
{
    struct sock_filter filter[PL_SECCOMP_MAX];
    char text[64];
    size_t n = 0;
    bool is_there = !(tried->missing & PL_CELL_HAS(SECCOMP)) &&
                    pl_seccomp_make(true, filter, PL_SECCOMP_MAX, &n);
    snprintf(text, sizeof text, "an allow-list of system calls, %zu instructions", n);
    say(probe, PL_CELL_PART_SECCOMP, is_there, is_there ? text : "no filter of system calls");
}

static void say_cgroup(const struct pl_cell_tried *tried, struct pl_cell_probe *probe)
{
    PL_CLEANUP_BUF struct pl_buf path;
    const char *why = "no control group";
    bool is_full;
    pl_buf_init(&path, 4096);
    if (!(tried->missing & PL_CELL_HAS(CGROUP)))
        pl_cell_cgroup_make(PL_CELL_MAX_MEMORY, &path, &why);
    say(probe, PL_CELL_PART_CGROUP, path.len > 0,
        path.len ? "memory of a cell is limited by the kernel" : why);
    pl_cell_cgroup_remove(path.len ? path.ptr : NULL, &is_full);
}

void pl_cell_probe_judge(const struct pl_cell_tried *tried, uid_t uid,
                         struct pl_cell_probe *ret_probe)
{
    struct pl_cell_probe probe = {0};
    bool has_uid = !(tried->missing & PL_CELL_HAS(UID)) && (geteuid() != 0 || uid != 0);
    char text[64];
    snprintf(text, sizeof text, "%s %u", geteuid() == 0 ? "cells get user ids from" : "user id",
             (unsigned)(geteuid() == 0 ? uid : geteuid()));
    say(&probe, PL_CELL_PART_UID, has_uid,
        has_uid ? text
                : missing_text(tried, PL_CELL_PART_UID,
                               "the server runs as root, and no user ids are set for cells"));
    say_ways(tried, &probe);
    say_landlock(tried, &probe);
    say_seccomp(tried, &probe);
    say_cgroup(tried, &probe);
    bool has_proc = !(tried->missing & PL_CELL_HAS(PROC));
    say(&probe, PL_CELL_PART_PROC, has_proc,
        has_proc ? "a /proc with the cell's processes only"
                 : missing_text(tried, PL_CELL_PART_PROC, "no /proc can be mounted in a cell"));
    probe.level = pl_cell_level_of(probe.has, probe.landlock_abi);
    *ret_probe = probe;
}

/* --- probing ----------------------------------------------------------------------------------- */

enum pl_status pl_cell_probe(const struct pl_cell_settings *settings, uid_t uid,
                             struct pl_cell_probe *ret_probe, struct pl_error *err)
{
    char *none[] = {NULL};
    if (geteuid() == 0 && !uid)
        uid = pl_cell_uids_first();
    struct pl_cell_plan plan = {
        .argv = none,
        .env = none,
        .cwd = "/",
        .limits = {PL_CELL_MAX_PROCESSES, PL_CELL_MAX_MEMORY, PL_CELL_MAX_FILE, PL_CELL_MAX_FDS},
        .uid = uid,
        .least = PL_CELL_NONE,
        .is_probe = true,
    };
    struct pl_cell_tried tried = {.missing = settings ? settings->missing : 0};
    struct pl_cell_attempt attempt;
    PL_CLEANUP_BUF struct pl_buf cgroup;
    const char *why;
    bool is_full;
    pl_buf_init(&cgroup, 4096);
    if (!(tried.missing & PL_CELL_HAS(CGROUP)))
        pl_cell_cgroup_make(plan.limits.n_memory, &cgroup, &why);
    plan.cgroup = cgroup.len ? cgroup.ptr : NULL;
    enum pl_status status = pl_cell_try_ways(settings, &plan, &attempt, &tried, err);
    if (status != PL_OK) {
        pl_cell_cgroup_remove(cgroup.len ? cgroup.ptr : NULL, &is_full);
        return status;
    }
    const struct pl_cell_message *last = &attempt.last;
    if (last->kind == PL_CELL_SAYS_STARTED)
        tried.missing |= last->parts & PL_CELL_HAS(PROC) ? 0 : PL_CELL_HAS(PROC);
    else if (last->kind == PL_CELL_SAYS_UNABLE && (unsigned)last->value < PL_CELL_N_PARTS) {
        tried.missing |= 1u << last->value;
        snprintf(tried.says[last->value], sizeof tried.says[0], "%.199s", last->text);
    } else {
        /* A step without a part of its own failed: the ways that were tried are not possible. */
        tried.missing |= PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP);
        snprintf(tried.says[PL_CELL_PART_NAMESPACES], sizeof tried.says[0], "%.199s", last->text);
    }
    pl_cell_attempt_end(&attempt);
    pl_cell_cgroup_remove(cgroup.len ? cgroup.ptr : NULL, &is_full);
    pl_cell_probe_judge(&tried, uid, ret_probe);
    return PL_OK;
}

enum pl_status pl_cell_accept(const struct pl_cell_probe *probe, enum pl_cell_level least,
                              struct pl_error *err)
{
    /* The parts that each level requires; either way to namespaces is enough. */
    static const unsigned needed[] = {
        [PL_CELL_NONE] = PL_CELL_HAS(UID),
        [PL_CELL_LANDLOCK] = PL_CELL_HAS(UID) | PL_CELL_HAS(SECCOMP) | PL_CELL_HAS(LANDLOCK),
        [PL_CELL_NAMESPACES] =
            PL_CELL_HAS(UID) | PL_CELL_HAS(SECCOMP) | PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP),
        [PL_CELL_FULL] = PL_CELL_HAS(UID) | PL_CELL_HAS(SECCOMP) | PL_CELL_HAS(LANDLOCK) |
                         PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP),
    };
    bool has_uid = probe->has & PL_CELL_HAS(UID);
    if (probe->level >= least && has_uid)
        return PL_OK;
    unsigned missing = needed[least] & ~probe->has;
    if (probe->has & (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP)))
        missing &= ~(PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP));
    char text[480];
    size_t n = 0;
    for (int i = 0; i < PL_CELL_N_PARTS && n < sizeof text; i++)
        if (missing & (1u << i))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s is missing (%.60s): %.120s",
                                  n ? "; " : "", pl_cell_part_name((enum pl_cell_part)i),
                                  probe->parts[i].says, probe->parts[i].remedy);
    if (!n)
        snprintf(text, sizeof text, "Landlock is too old (ABI %d; 6 is needed without namespaces)",
                 probe->landlock_abi);
    return pl_fail(err, PL_INVALID, "a sandbox of level %s cannot be made here, only %s: %s",
                   pl_cell_level_name(least), pl_cell_level_name(probe->level), text);
}
