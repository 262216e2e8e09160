/* Simulated descriptors: eventfds, epoll sets, and connections to the database. */
#ifndef PL_TESTS_SIM_DESCRIPTORS_H
#define PL_TESTS_SIM_DESCRIPTORS_H

#include <stdbool.h>

/* A descriptor that sim_fd_set makes readable. */
int sim_fd_open(void);
void sim_fd_close(int fd);
void sim_fd_set(int fd, bool is_readable, bool is_writable);
/* Drops all descriptors of a run. */
void sim_fd_forget_all(void);

#endif
