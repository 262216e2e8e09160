/* Lines on standard error about what happens: text for people, or JSON lines. Any thread, and none
 * ever waits: io/system/sink.h writes them. A line is at most 16 KiB; nothing secret is ever given
 * to it: no header, no query, no body of a request, no words of a model's server.
 *
 * Lines of a shard are gathered and handed on once, at the end of the turn of its loop. */
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

/* NULL when out of memory. From now on a failed assertion is logged in the same form. */
struct pl_log *pl_log_create(int level, bool is_json);
/* Waits a moment for the remaining lines to be written. Accepts NULL. */
void pl_log_destroy(struct pl_log *log);
/* Waits for it, at most a second: before the process ends. */
void pl_log_flush(struct pl_log *log);
/* From now on; any thread. */
void pl_log_set_level(struct pl_log *log, int level);
bool pl_log_wants(const struct pl_log *log, enum pl_log_level level);
/* Lines that were lost: standard error accepted no more. */
uint64_t pl_log_n_dropped(struct pl_log *log);

/* "2026-…Z info the sentence". The shard is the one whose thread this is, NULL on any other. */
void pl_log_say(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A line that is made field by field, on the shard's thread: begin, fields, end. Anything else that
 * is added in between must have the form that pl_log_is_json tells. */
bool pl_log_is_json(const struct pl_log *log);
void pl_log_begin(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                  struct pl_buf *line);
/* ,"name":"text" or, for people, " name=text"; cut, and made valid UTF-8. */
void pl_log_field(struct pl_log *log, struct pl_buf *line, const char *name, struct pl_str text);
void pl_log_end(struct pl_log *log, struct pl_shard *shard, struct pl_buf *line);

/* Any text, cut, as a JSON string; and without control characters. For the access log. */
void pl_log_quote(struct pl_buf *to, struct pl_str text);
void pl_log_clean(struct pl_buf *to, struct pl_str text);
/* The lines of this turn, and those of the access log, are handed on at its end. */
void pl_log_wake_at_end(struct pl_shard *shard);

#endif
