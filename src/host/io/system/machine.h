/* Facts about the machine that administration commands need. */
#ifndef PL_IO_MACHINE_H
#define PL_IO_MACHINE_H

#include "base/status.h"

struct pl_path_info {
    bool is_there, is_directory, is_socket;
    bool is_ours;     /* the owner is the user who runs this program */
    bool is_private;  /* no other user can read it: mode at most 0600; or owned by root with mode
                         at most 0640, as for secrets that root shares with one group */
    bool is_writable; /* by the user who runs this program */
    unsigned mode;    /* the nine permission bits */
    int64_t n_bytes;
    int64_t changed_unix_s;
};
/* If it does not exist, is_there is false and nothing else is set. */
struct pl_path_info pl_path_look(const char *path);

/* Of the file system of `path`: the space that this user may still use, and the total size. */
bool pl_disk_look(const char *path, int64_t *ret_free_bytes, int64_t *ret_n_bytes);

/* The maximum number of descriptors of a process that has raised its soft limit. */
int64_t pl_fd_limit_most(void);

/* The process that listens on a TCP port: its number and the name of its program. False if there is
 * none, or if it belongs to another user and cannot be seen. */
struct pl_port_holder {
    int64_t pid;
    char name[64];
};
bool pl_port_find_holder(uint16_t port, struct pl_port_holder *ret_holder);

/* Whether the program is in PATH. */
bool pl_program_is_there(const char *name);
/* Whether the shared library can be loaded; it is loaded to find out. */
bool pl_library_is_there(const char *soname);

#endif
