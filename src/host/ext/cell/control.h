/* The socket between the server and a cell: messages of one size, some with descriptors. */
#ifndef PL_EXT_CELL_CONTROL_H
#define PL_EXT_CELL_CONTROL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pl_cell_message_kind {
    /* from the cell */
    PL_CELL_SAYS_BORN = 1, /* value: pid of process 1, or 0; with its pidfd */
    PL_CELL_SAYS_UNABLE,   /* value: the part that this machine lacks; text: the failure */
    PL_CELL_SAYS_LOW,      /* value: the level that is possible, below `least` */
    PL_CELL_SAYS_FAILED,   /* value: a pl_status; text */
    PL_CELL_SAYS_STARTED,  /* parts, abi; with the listeners */
    PL_CELL_SAYS_ENDED,    /* value: a pl_cell_why; code */
    /* to process 1 */
    PL_CELL_ASKS_SIGNAL, /* value: the signal for the program's group */
    PL_CELL_ASKS_END,    /* end everything */
};

struct pl_cell_message {
    uint32_t kind;
    int32_t value, code;
    uint32_t parts;
    int32_t abi;
    char text[400];
};

#define PL_CELL_MAX_SENT_FDS 160

/* Opens both ends, close-on-exec. False: errno. */
bool pl_cell_control_open(int ret_fds[2]);
/* False: the other end is closed. */
bool pl_cell_control_send(int fd, const struct pl_cell_message *message, const int *fds,
                          size_t n_fds);
/* 1: a message; *ret_n descriptors, close-on-exec, become the caller's. 0: no message now. -1:
 * the other end is closed, or the message is malformed. With is_waiting it waits. */
int pl_cell_control_receive(int fd, bool is_waiting, struct pl_cell_message *ret_message,
                            int *ret_fds, size_t *ret_n);

#endif
