/* Facts about the machine that administration commands need. */
#ifndef PL_IO_MACHINE_H
#define PL_IO_MACHINE_H

#include "base/status.h"

struct pl_path_info {
    bool is_there, is_directory, is_socket;
    bool is_ours;     /* the owner is who runs this program */
    bool is_private;  /* nobody else reads it: 0600 at most, or root's and 0640 at most, as
                         secrets are that root hands to one group */
    bool is_writable; /* by who runs this program */
    unsigned mode;    /* the nine bits */
    int64_t n_bytes;
    int64_t changed_unix_s;
};
/* If it does not exist, is_there is false and nothing else is set. */
struct pl_path_info pl_path_look(const char *path);

/* Of the file system `path` is on: what this user may still write, and the size of it all. */
bool pl_disk_look(const char *path, int64_t *ret_free_bytes, int64_t *ret_n_bytes);

/* How many descriptors a process may have at most, after raising its limit as far as it may. */
int64_t pl_fd_limit_most(void);

/* Which process listens on a TCP port: its number and the name of its program. False when none
 * does, or when it is another user's and cannot be seen. */
struct pl_port_holder {
    int64_t pid;
    char name[64];
};
bool pl_port_find_holder(uint16_t port, struct pl_port_holder *ret_holder);

/* A program by its name, in PATH. */
bool pl_program_is_there(const char *name);
/* A shared library by its soname; it is loaded to find out. */
bool pl_library_is_there(const char *soname);

#endif
