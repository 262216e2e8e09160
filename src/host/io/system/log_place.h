/* Log destinations besides standard error: a rotated file, or journald by its native protocol. For
 * a sink (sink.h), whose thread writes; only pl_log_place_reopen may be called on other threads. */
#ifndef PL_IO_LOG_PLACE_H
#define PL_IO_LOG_PLACE_H

#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

#define PL_JOURNAL_SOCKET "/run/systemd/journal/socket"
/* Separates the fields of a line for journald; a line feed ends the line. */
#define PL_JOURNAL_SEPARATOR '\x1f'

struct pl_log_place; /* owned; by the sink once that is created */

/* Appends to the file, which is created for its owner alone. Before a line would make it larger
 * than max_bytes, it becomes PATH.1, PATH.1 becomes PATH.2 …, and the `keep` newest stay. PL_IO,
 * PL_INVALID: it cannot be opened, or is not a regular file. */
enum pl_status pl_log_place_file(const char *path, int64_t max_bytes, size_t keep,
                                 struct pl_log_place **ret_place, struct pl_error *err);
/* PL_IO: nobody listens on the socket. If the socket disappears later, it is looked up again. */
enum pl_status pl_log_place_journal(const char *path, struct pl_log_place **ret_place,
                                    struct pl_error *err);
void pl_log_place_destroy(void *place); /* accepts NULL */

/* Returns the lines that could not be written. */
struct pl_str pl_log_place_write(void *place, struct pl_str lines);

/* Reopens the file by its name before the next line: somebody has moved it. Any thread. */
void pl_log_place_reopen(struct pl_log_place *place);

#endif
