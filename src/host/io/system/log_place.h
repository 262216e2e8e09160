/* Where lines of a log go besides standard error: a file that is rotated, or journald by its native
 * protocol. For a sink (sink.h), whose thread writes; only pl_log_place_reopen may be called elsewhere. */
#ifndef PL_IO_LOG_PLACE_H
#define PL_IO_LOG_PLACE_H

#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

#define PL_JOURNAL_SOCKET "/run/systemd/journal/socket"
/* Between the fields of a line for journald; a line feed ends the line. */
#define PL_JOURNAL_SEPARATOR '\x1f'

struct pl_log_place; /* owned; the sink's from its creation on */

/* Appends to the file, which is made for its owner alone. Before a line would make it larger than
 * max_bytes, it becomes PATH.1, that PATH.2 …, and the `keep` newest stay. PL_IO, PL_INVALID: it
 * cannot be opened, or is no regular file. */
enum pl_status pl_log_place_file(const char *path, int64_t max_bytes, size_t keep,
                                 struct pl_log_place **ret_place, struct pl_error *err);
/* PL_IO: nobody listens there. A socket that is gone later is looked for again. */
enum pl_status pl_log_place_journal(const char *path, struct pl_log_place **ret_place,
                                    struct pl_error *err);
void pl_log_place_destroy(void *place); /* accepts NULL */

/* What could not be written of whole lines. */
struct pl_str pl_log_place_write(void *place, struct pl_str lines);

/* The file is opened again by its name before the next line: somebody has moved it. Any thread. */
void pl_log_place_reopen(struct pl_log_place *place);

#endif
