/* Finds the published test suites, and reports without a framework: TAP, one line per case. */
#ifndef PL_TESTS_CORPORA_H
#define PL_TESTS_CORPORA_H

#include <stdbool.h>
#include <stddef.h>

/* Full path of `name` in the corpora: under $PARLEY_CORPORA, or beside the source tree in
 * ../shared/corpora. The caller frees it. NULL if it does not exist. */
char *corpora_find(const char *name);

/* dir/name; the caller frees it. */
char *corpora_join(const char *dir, const char *name);

/* A whole file with a NUL after it; the caller frees it. Ends the program if it cannot be read. */
char *corpora_read(const char *path, size_t *ret_len);

/* Names of the files in a directory, sorted, NULL at the end. The caller frees them all. */
char **corpora_list(const char *dir);

/* One test point. */
void tap_point(bool is_ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line after the last point that explains its failure. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan; returns the exit code for main. */
int tap_end(void);

/* Prints an empty plan with the reason; returns the exit code for main. */
int tap_skip_all(const char *reason);

#endif
