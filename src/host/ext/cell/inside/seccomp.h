/* The filter of system calls: what the program in a cell may ask of the kernel. */
#ifndef PL_EXT_CELL_SECCOMP_H
#define PL_EXT_CELL_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter;
struct seccomp_data;

#define PL_SECCOMP_MAX 1024 /* instructions of the filter at most */

/* Writes the filter for this architecture; *ret_n instructions. With has_hosts it lets TCP over IPv4
 * through. False: there is no table for this architecture, or the filter has no room. */
bool pl_seccomp_make(bool has_hosts, struct sock_filter *to, size_t max, size_t *ret_n);
/* Installs it, for this process and what it starts. 0, or an errno. Needs no_new_privs. */
int pl_seccomp_install(const struct sock_filter *filter, size_t n);

/* What the filter answers to a call, by running it here: for tests. */
uint32_t pl_seccomp_answer(const struct sock_filter *filter, size_t n,
                           const struct seccomp_data *call);

#endif
