/* The access log: a line for each request, apart from the log of the server (log.h), with a level of
 * its own. Nobody waits for it: a sink writes it. */
#ifndef PL_SHARD_ACCESS_LOG_H
#define PL_SHARD_ACCESS_LOG_H

#include "base/buf.h"
#include "base/status.h"

struct pl_access_log; /* owned */
struct pl_server_config;
struct pl_shard;

/* Whether these are such a place and such a level; PL_USAGE with a sentence. */
enum pl_status pl_access_log_check(const struct pl_server_config *config, struct pl_error *err);

/* NULL in *ret_log where there is none: requests are lines of the server's log then. */
enum pl_status pl_access_log_create(const struct pl_server_config *config,
                                    struct pl_access_log **ret_log, struct pl_error *err);
/* Waits a moment for the remaining lines. Accepts NULL. */
void pl_access_log_destroy(struct pl_access_log *log);
/* After a reload: the level, and the file by its name. Accepts NULL. */
void pl_access_log_reload(struct pl_access_log *log, const struct pl_server_config *config);
/* Lines that were lost. Accepts NULL. */
uint64_t pl_access_log_n_dropped(struct pl_access_log *log);

/* Whether a request with this status is to be told. Accepts NULL: no. */
bool pl_access_log_wants(const struct pl_access_log *log, int status);
/* It goes to standard error, as a line of the server's log. */
bool pl_access_log_is_stderr(const struct pl_access_log *log);

struct pl_access_field {
    const char *name; /* "key_id" */
    struct pl_str text;
    int64_t number; /* where text.ptr is NULL */
    bool is_flag;   /* the number is true or false */
};
/* On the shard's thread. `message` is for people; fields are cut and made valid UTF-8. */
void pl_access_log_put(struct pl_access_log *log, struct pl_shard *shard, int status,
                       const char *message, const struct pl_access_field *fields, size_t n_fields);
/* At the end of a turn of the loop. Accepts NULL. */
void pl_access_log_wake(struct pl_access_log *log);

#endif
