/* Landlock: the files, ports and processes that the program can reach, even if another layer
 * fails. */
#ifndef PL_EXT_CELL_LANDLOCK_H
#define PL_EXT_CELL_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ABI version of the kernel; 0: no Landlock, errno has the reason. */
int pl_landlock_abi(void);

enum pl_landlock_rights {
    PL_LANDLOCK_READ,   /* read and run */
    PL_LANDLOCK_LOOK,   /* read only */
    PL_LANDLOCK_DEVICE, /* read and write, one file */
    PL_LANDLOCK_KEEP,   /* like WRITE, but nothing is executed */
    PL_LANDLOCK_WRITE, /* read, run, write, rename, remove, make files, directories, links, FIFOs */
};

/* Creates a ruleset; returns its descriptor. -1: errno. */
int pl_landlock_create(int abi);
/* Adds a rule for the file `fd`, and everything below it. False: errno. */
bool pl_landlock_allow(int ruleset, int abi, int fd, enum pl_landlock_rights rights);
/* Adds a rule for TCP connections to this port. True also if the ABI has no ports. */
bool pl_landlock_allow_port(int ruleset, int abi, uint16_t port);
/* Applies it to this process and its children. False: errno. Needs no_new_privs. */
bool pl_landlock_enter(int ruleset);

#endif
