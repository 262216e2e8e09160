/* The system call filter for the program in a cell. */
#ifndef PL_EXT_CELL_SECCOMP_H
#define PL_EXT_CELL_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter;
struct seccomp_data;

#define PL_SECCOMP_MAX 1024 /* maximum number of instructions */

/* Writes the filter for this architecture; *ret_n instructions. has_hosts: allows TCP over IPv4.
 * False: there is no table for this architecture, or `max` is too small. */
bool pl_seccomp_make(bool has_hosts, struct sock_filter *to, size_t max, size_t *ret_n);
/* Installs it for this process and its children. 0, or an errno. Needs no_new_privs. */
int pl_seccomp_install(const struct sock_filter *filter, size_t n);

/* The filter's answer to a call, by interpreting it: for tests. */
uint32_t pl_seccomp_answer(const struct sock_filter *filter, size_t n,
                           const struct seccomp_data *call);

#endif
