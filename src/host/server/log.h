/* Lines on standard error about what happens: text for people, or JSON lines. Any thread. A line is
 * at most 16 KiB; nothing secret is ever given to it: no header, no query, no body.
 *
 * Lines of a shard are gathered and written once, at the end of the turn of its loop. */
#ifndef PL_SERVER_LOG_H
#define PL_SERVER_LOG_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PL_LOG_MAX_LINE 16384

enum pl_log_level { PL_LOG_ERROR, PL_LOG_WARNING, PL_LOG_INFO, PL_LOG_REQUEST };

struct pl_log;
struct pl_shard;
struct pl_exchange;

/* NULL when out of memory. */
struct pl_log *pl_log_create(int level, bool is_json);
/* Writes what is left. Accepts NULL. */
void pl_log_destroy(struct pl_log *log);
void pl_log_flush(struct pl_log *log);
bool pl_log_wants(const struct pl_log *log, enum pl_log_level level);

/* "2026-…Z info the sentence". Written at once when shard is NULL. */
void pl_log_say(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A request that was answered; at the level of requests, or as an error when it failed here. */
void pl_log_request(struct pl_exchange *x);

#endif
