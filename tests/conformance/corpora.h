/* Where the published test suites stand and how a test without a framework reports: TAP, one line
 * per case. */
#ifndef PL_TESTS_CORPORA_H
#define PL_TESTS_CORPORA_H

#include <stdbool.h>
#include <stddef.h>

/* Full path of `name` in the corpora: under $PARLEY_CORPORA, or beside the source tree in
 * ../shared/corpora. The caller frees it. NULL when it is not there. */
char *corpora_find(const char *name);

/* dir/name; the caller frees it. */
char *corpora_join(const char *dir, const char *name);

/* Whole file with a NUL after it; the caller frees it. Ends the program when it cannot be read. */
char *corpora_read(const char *path, size_t *ret_len);

/* Names of the files in a directory, sorted, NULL at the end. The caller frees them all. */
char **corpora_list(const char *dir);

/* One test point. */
void tap_point(bool is_ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line under the last point that says why it failed. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan; returns the exit code of main. */
int tap_end(void);

/* Prints a plan of nothing with the reason; returns the exit code of main. */
int tap_skip_all(const char *reason);

#endif
