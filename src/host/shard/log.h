/* Log lines on standard error: text for people, or JSON lines. Thread-safe, and never blocks:
 * io/system/sink.h writes them. A line has at most 16 KiB. Nothing secret is ever logged: no
 * header, no query, no request body, no text of a model's server.
 *
 * Lines of a shard are collected and passed on once, at the end of the iteration of its loop. */
#ifndef PL_SHARD_LOG_H
#define PL_SHARD_LOG_H

#include "base/buf.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PL_LOG_MAX_LINE 16384

enum pl_log_level { PL_LOG_ERROR, PL_LOG_WARNING, PL_LOG_INFO, PL_LOG_REQUEST };

struct pl_log;
struct pl_shard;

/* Returns NULL if out of memory. From now on a failed assertion is logged in the same form. */
struct pl_log *pl_log_create(int level, bool is_json);
/* Waits a moment until the remaining lines are written. Accepts NULL. */
void pl_log_destroy(struct pl_log *log);
/* Waits until all lines are written, at most a second: before the process ends. */
void pl_log_flush(struct pl_log *log);
/* Takes effect at once; thread-safe. */
void pl_log_set_level(struct pl_log *log, int level);
bool pl_log_wants(const struct pl_log *log, enum pl_log_level level);
/* Number of lines that were lost because standard error accepted no more. */
uint64_t pl_log_n_dropped(struct pl_log *log);

/* Logs "2026-…Z info the sentence". The shard is that of this thread, or NULL on any other
 * thread. */
void pl_log_say(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Builds a line field by field, on the shard's thread: begin, fields, end. Anything else that is
 * added in between must have the form that pl_log_is_json tells. */
bool pl_log_is_json(const struct pl_log *log);
void pl_log_begin(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                  struct pl_buf *line);
/* Adds ,"name":"text" or, for people, " name=text"; truncated and made valid UTF-8. */
void pl_log_field(struct pl_log *log, struct pl_buf *line, const char *name, struct pl_str text);
void pl_log_end(struct pl_log *log, struct pl_shard *shard, struct pl_buf *line);

/* Append any text, truncated: as a JSON string, or without control characters. For the access
 * log. */
void pl_log_quote(struct pl_buf *to, struct pl_str text);
void pl_log_clean(struct pl_buf *to, struct pl_str text);
/* Passes on the lines of this iteration, and those of the access log, at its end. */
void pl_log_wake_at_end(struct pl_shard *shard);

#endif
