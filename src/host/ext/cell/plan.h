/* The input of `parley cell`: the spec of a cell as JSON, on a descriptor. `parley cell` checks
 * all of it again, because nothing checks it later. */
#ifndef PL_EXT_CELL_PLAN_H
#define PL_EXT_CELL_PLAN_H

#include "base/vec.h"
#include "ext/cell/cell.h"

/* Open descriptors of `parley cell`. */
enum pl_cell_fd {
    PL_CELL_FD_CONTROL = 3,
    PL_CELL_FD_PLAN,
    PL_CELL_FD_FULL,   /* tells process 1 that its cgroup is full; made by `parley cell` */
    PL_CELL_FD_MOUNTS, /* the first one; one per mount, in their order */
};

#define PL_CELL_MAX_PLAN    ((size_t)4 << 20)
#define PL_CELL_PACKAGE_DIR "/ext"
#define PL_CELL_PROXY_PORT  3128

/* The package is one of them. */
struct pl_cell_plan_mount {
    int fd;           /* always open */
    const char *from; /* for messages, and for levels without mounts */
    const char *to;
    bool is_writable;
    bool is_detached; /* fd is a mount that is not attached yet; not in the JSON */
};

struct pl_cell_plan {
    char **argv, **env; /* NULL-terminated; arena, like everything here */
    struct pl_cell_plan_mount *mounts;
    size_t n_mounts;
    const char *cwd;
    struct pl_cell_host *hosts;
    size_t n_hosts;
    struct pl_cell_limits limits; /* never 0 */
    uid_t uid;                    /* 0: keep the current user */
    enum pl_cell_level least;
    unsigned missing;
    bool is_probe;      /* make the cell, start nothing, report the parts */
    bool has_guarded;   /* protected paths are among the mounts, and must be read-only */
    const char *cgroup; /* the directory that was made for this cell; NULL: none */
};

/* Appends the plan as JSON. Fails like pl_cell_spawn: a wrong spec is PL_USAGE. */
enum pl_status pl_cell_plan_write(const struct pl_cell_plan *plan, struct pl_buf *to);
/* PL_USAGE for any error, with a pointer into the JSON; PL_NOMEM. Unknown members are errors.
 * The descriptors of the mounts are numbered from PL_CELL_FD_MOUNTS. */
enum pl_status pl_cell_plan_read(struct pl_arena *arena, struct pl_str json,
                                 struct pl_cell_plan *ret_plan, struct pl_error *err);
/* Whether a path is absolute and has no empty, "." or ".." segment; "/" is clean. */
bool pl_cell_path_is_clean(const char *path);

/* The address at which the program in a cell reaches a host. */
struct pl_cell_place {
    const char *name; /* the plan's; "*": the proxy, for wildcards */
    uint16_t port;
    uint8_t slot; /* of the address; hosts with the same name share one */
};
#define PL_CELL_MAX_PLACES (PL_CELL_MAX_HOSTS + 1)
/* The places of a plan, in the order in which their sockets are sent. Returns their number. */
size_t pl_cell_plan_places(const struct pl_cell_plan *plan, struct pl_cell_place *ret_places);
/* The address of a place: 127.0.1.1 and following; 127.0.0.1 is the cell's own. */
void pl_cell_slot_address(uint8_t slot, char ret_text[static 16]);

#endif
