/* Landlock: what files, ports and processes the program can reach, whatever else went wrong. */
#ifndef PL_EXT_CELL_LANDLOCK_H
#define PL_EXT_CELL_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the kernel's interface; 0: there is none, errno says why. */
int pl_landlock_abi(void);

enum pl_landlock_rights {
    PL_LANDLOCK_READ,   /* read and run */
    PL_LANDLOCK_LOOK,   /* read only */
    PL_LANDLOCK_DEVICE, /* read and write, one file */
    PL_LANDLOCK_KEEP,   /* as below, but nothing is run */
    PL_LANDLOCK_WRITE, /* read, run, write, make files, directories, links and FIFOs, remove, rename */
};

/* A set of rules, as the descriptor that the kernel gives for it. -1: errno. */
int pl_landlock_create(int abi);
/* A rule for what `fd` is, and what is below it. False: errno. */
bool pl_landlock_allow(int ruleset, int abi, int fd, enum pl_landlock_rights rights);
/* A rule for connections over TCP to this port. True also where the ABI knows no ports. */
bool pl_landlock_allow_port(int ruleset, int abi, uint16_t port);
/* From now on for this process and what it starts. False: errno. Needs no_new_privs. */
bool pl_landlock_enter(int ruleset);

#endif
