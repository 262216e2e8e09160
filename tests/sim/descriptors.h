/* Descriptors that are not the system's: eventfds, epoll sets, and connections to the database. */
#ifndef PL_TESTS_SIM_DESCRIPTORS_H
#define PL_TESTS_SIM_DESCRIPTORS_H

#include <stdbool.h>

/* A descriptor that becomes readable by sim_fd_set. */
int sim_fd_open(void);
void sim_fd_close(int fd);
void sim_fd_set(int fd, bool is_readable, bool is_writable);
/* Those of a run are forgotten. */
void sim_fd_forget_all(void);

#endif
