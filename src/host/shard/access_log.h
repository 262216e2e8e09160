/* The access log: one line per request, separate from the server log (log.h), with a level of its
 * own. Writing never blocks: a sink writes the lines. */
#ifndef PL_SHARD_ACCESS_LOG_H
#define PL_SHARD_ACCESS_LOG_H

#include "base/buf.h"
#include "base/status.h"

struct pl_access_log; /* owned */
struct pl_server_config;
struct pl_shard;

/* Checks the configured place and level; PL_USAGE with a message. */
enum pl_status pl_access_log_check(const struct pl_server_config *config, struct pl_error *err);

/* *ret_log is NULL if there is no access log; requests are then lines of the server log. */
enum pl_status pl_access_log_create(const struct pl_server_config *config,
                                    struct pl_access_log **ret_log, struct pl_error *err);
/* Waits a moment for the remaining lines. Accepts NULL. */
void pl_access_log_destroy(struct pl_access_log *log);
/* After a reload: applies the level, and reopens the file by its name. Accepts NULL. */
void pl_access_log_reload(struct pl_access_log *log, const struct pl_server_config *config);
/* Number of lost lines. Accepts NULL. */
uint64_t pl_access_log_n_dropped(struct pl_access_log *log);

/* True if a request with this status should be logged. False for NULL. */
bool pl_access_log_wants(const struct pl_access_log *log, int status);
/* True if it goes to standard error, as a line of the server log. */
bool pl_access_log_is_stderr(const struct pl_access_log *log);

struct pl_access_field {
    const char *name; /* "key_id" */
    struct pl_str text;
    int64_t number; /* used if text.ptr is NULL */
    bool is_flag;   /* the number is a boolean */
};
/* Call on the shard's thread. `message` is for people; fields are truncated and made valid
 * UTF-8. */
void pl_access_log_put(struct pl_access_log *log, struct pl_shard *shard, int status,
                       const char *message, const struct pl_access_field *fields, size_t n_fields);
/* Call at the end of a loop iteration. Accepts NULL. */
void pl_access_log_wake(struct pl_access_log *log);

#endif
