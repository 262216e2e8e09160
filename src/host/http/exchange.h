/* One request and its answer. The handler of its route runs on the shard. It finishes the exchange
 * at once, hands it to a worker, or asks a session; whoever has the exchange then calls
 * pl_exchange_finish on the shard, exactly once. Work goes on when the client disconnects. The
 * states are in exchange.c. */
#ifndef PL_HTTP_EXCHANGE_H
#define PL_HTTP_EXCHANGE_H

#include "base/arena.h"
#include "http/routes/scope.h"
#include "http/reply/problem.h"
#include "io/workers.h"
#include "json/write.h"
#include "shard/setup.h"
#include "shard/shard.h"
#include "shard/tracing.h"
#include "wire/http1/http1.h"
#include "wire/target.h"

struct pl_route;
struct pl_exchange;
struct pl_hold;

#define PL_ROUTE_MAX_ARGS 3

/* The sender of the request. */
struct pl_caller {
    struct pl_str user_id;      /* arena of the exchange; empty: no user (public routes) */
    struct pl_str key_id;       /* empty: from the control socket */
    bool is_admin;              /* the user is an administrator, and the key allows it */
    enum pl_scope scope;        /* of the key */
    bool is_restricted;         /* by scope, models, limits or expiry: it cannot create keys */
    struct pl_str models;       /* the only models it may use, one per line; empty: all */
    struct pl_str extension_id; /* of a key with the scope "extension:ID"; else empty */
    struct pl_str csrf;         /* the token that a change must send; empty: no cookie */
};

struct pl_exchange {
    struct pl_shard *shard;    /* borrowed */
    struct pl_setup *setup;    /* held: stays the same for the whole request */
    struct pl_http_conn *conn; /* borrowed; NULL once the client is gone */
    const struct pl_route *route;
    struct pl_arena arena; /* all memory of this request */
    enum pl_method method;
    const struct pl_http_head *head;
    struct pl_target target;
    struct pl_str args[PL_ROUTE_MAX_ARGS]; /* decoded segments for the braces of the route's path */
    struct pl_str body_text;               /* gathered */
    size_t n_doc; /* bytes of the document being worked on, if it is not the body; else 0 */
    struct pl_json_doc body; /* parsed and validated, when the route has a request schema */
    struct pl_caller caller;
    char request_id[40];  /* also sent back as X-Request-Id */
    char traceparent[56]; /* W3C; empty if the client sent none and tracing is off */
    struct pl_span span;  /* of the request */
    int64_t started_ms;
    /* The answer: */
    int status;               /* 200 by default */
    const char *content_type; /* "application/json" by default */
    struct pl_buf reply;      /* body; owned */
    struct pl_buf headers;    /* further header lines, "Name: value\r\n" each */
    struct pl_job job;        /* for pl_exchange_work */
    void (*job_done)(struct pl_job *job);
    void (*work)(struct pl_exchange *x);
    void (*after)(struct pl_exchange *x);
    void *state;                  /* the handler's; arena */
    struct pl_str problem_detail; /* details of our own failure, for the log; arena or static. Never
                                   * another server's text */
    struct pl_str used_model;     /* arena; the model that was called; empty: none */
    int64_t used_input, used_output; /* its tokens */
    bool is_problem;
    bool is_replayed; /* the answer was stored for its Idempotency-Key before */
};

/* Sends status, headers and reply. On the shard's thread. */
void pl_exchange_finish(struct pl_exchange *x);

/* Makes the answer a problem; does not finish. Any thread that has the exchange. detail and err may
 * be NULL. */
void pl_exchange_problem(struct pl_exchange *x, enum pl_problem problem, const struct pl_error *err,
                         const char *detail, ...) __attribute__((format(printf, 4, 5)));
/* The same, from a failed call. */
void pl_exchange_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err);

/* The same, for a failed commit. */
void pl_exchange_fail_commit(struct pl_exchange *x, enum pl_status status,
                             const struct pl_error *err);

/* Zeroed memory from the arena for the state of a handler. NULL when out of memory: the exchange is
 * then failed and finished, and the handler just returns. On the shard. */
void *pl_exchange_room(struct pl_exchange *x, size_t n_bytes);

/* Notes the model that was called, for the access log. */
void pl_exchange_note_used(struct pl_exchange *x, struct pl_str model, int64_t input,
                           int64_t output);
/* The same for several models: lists their names and sums their tokens. Any thread that has the
 * exchange. */
void pl_exchange_add_used(struct pl_exchange *x, struct pl_str model, int64_t input,
                          int64_t output);

/* Runs `work` on a worker thread (it may use the arena, the store, reply, status), then `after` on
 * the shard; after NULL: finish. pl_exchange_work uses the store's lane, pl_exchange_compute the
 * lane for computation. If the queue is too long, `work` does not run and `after` finds a
 * problem. */
void pl_exchange_work(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                      void (*after)(struct pl_exchange *));
void pl_exchange_compute(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                         void (*after)(struct pl_exchange *));
/* The same in any lane. */
void pl_exchange_work_in(struct pl_exchange *x, enum pl_work lane,
                         void (*work)(struct pl_exchange *), void (*after)(struct pl_exchange *));
/* From now on the exchange must be completed, because something outside was started: none of its
 * jobs is refused. The same holds after one of its jobs has run or a batch was committed. */
void pl_exchange_must_end(struct pl_exchange *x);

void pl_exchange_header(struct pl_exchange *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pl_exchange_header_text(struct pl_exchange *x, const char *name, struct pl_str value);
/* A trailer field of an answer that is sent while it is made; HTTP/1.0 clients do not get it. The
 * head must have announced it in Trailer. */
void pl_exchange_trailer(struct pl_exchange *x, const char *name, struct pl_str value);
/* By Accept-Language; for messages that have a Chinese translation. */
bool pl_exchange_wants_chinese(const struct pl_exchange *x);
/* The message in the client's language: Chinese if a translation is known (words.h), valid as long
 * as the exchange; else the message itself. */
const char *pl_exchange_words(struct pl_exchange *x, const char *english);
/* ETag "v"; false when If-None-Match says the client has it (the answer is then 304). */
bool pl_exchange_etag(struct pl_exchange *x, int64_t version);
/* The same for a tag that is not a number, with its quotes. */
bool pl_exchange_tag(struct pl_exchange *x, const char *tag);
/* False when there is an If-Match and it does not name this version (412 is then the answer). */
bool pl_exchange_if_match(struct pl_exchange *x, int64_t version);
/* The same for a tag that is not a number, with its quotes. */
bool pl_exchange_if_match_tag(struct pl_exchange *x, const char *tag);
/* The version in If-Match, for a comparison elsewhere; -1: any. For a foreign tag, a number that no
 * version has. */
int64_t pl_exchange_if_match_version(struct pl_exchange *x);

/* `limit` (default 20, 1 … 100), `offset`; false after making a problem of a bad one. */
struct pl_page_args {
    size_t limit;
    int64_t offset;
    struct pl_str cursor; /* decoded from base64url; empty: none */
};
bool pl_exchange_page_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* The same for a list whose cursor is a number of items: it goes to ret_args->offset. */
bool pl_exchange_counted_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* For a list of sums, whose rows are a name and a few numbers: `limit` is 1 … 1000, by default
 * 1000; there is no offset. End the list with pl_exchange_sums_end. */
bool pl_exchange_sums_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* Makes a problem of a cursor from another list. Always returns false, for the caller to return. */
bool pl_exchange_refuse_cursor(struct pl_exchange *x);
/* The number of a cursor; false after making a problem of an invalid one. */
bool pl_exchange_cursor_number(struct pl_exchange *x, const struct pl_page_args *args,
                               int64_t *ret_number);
/* The text after `prefix` in a cursor; false after making a problem if the prefix is another one or
 * the text cannot be in the store. */
bool pl_exchange_cursor_text(struct pl_exchange *x, const struct pl_page_args *args,
                             const char *prefix, struct pl_str *ret_text);
/* Writes {"items":[…],"total":…,"limit":…,"offset":…,"next_cursor":…}: begin, add each item (with
 * the writer that is returned, or as text with its comma), end. */
struct pl_json_out pl_exchange_list_begin(struct pl_exchange *x);

/* Walks the rows that were read for a page: true for each row that goes onto it, rows[walk->n - 1].
 * Stops when the page has PL_PAGE_BYTES, but the first row always goes onto it. At the end has_more
 * says whether anything follows. */
#define PL_PAGE_BYTES (1u << 20)
struct pl_list_walk {
    size_t n_rows;
    bool has_more; /* before: beyond the rows that were read; after: beyond the page */
    size_t n;      /* on the page so far */
};
bool pl_list_walk_next(struct pl_list_walk *walk, const struct pl_exchange *x);

/* Ends a counted list that has walk->n items on this page. */
void pl_exchange_counted_end(struct pl_exchange *x, const struct pl_page_args *args, int64_t total,
                             const struct pl_list_walk *walk);
void pl_exchange_list_end(struct pl_exchange *x, const struct pl_page_args *args, int64_t total,
                          struct pl_str next_cursor);
/* {"items":[…],"next_cursor":…} */
void pl_exchange_sums_end(struct pl_exchange *x, struct pl_str next_cursor);

/* Member of the parsed body as text ({NULL, 0} when absent or null), whole number, boolean. The
 * schema has checked the types. */
struct pl_str pl_body_text(struct pl_exchange *x, const char *name);
struct pl_str pl_body_raw(struct pl_exchange *x, const char *name); /* the JSON of the member */
bool pl_body_bool(struct pl_exchange *x, const char *name, bool otherwise);
bool pl_body_has(struct pl_exchange *x, const char *name);

/* Reads up to n bytes of a long body from `at` on, on a worker. PL_OK: at least one was read. */
typedef enum pl_status pl_body_read_fn(struct pl_exchange *x, int64_t at, char *to, size_t n,
                                       size_t *ret_n);

/* The body is this text, from the exchange's arena or static. Clients may ask for ranges. */
void pl_exchange_static(struct pl_exchange *x, struct pl_str text, const char *etag);
/* The body is this open file, from its beginning; the exchange closes it. */
void pl_exchange_file(struct pl_exchange *x, int fd, int64_t n_bytes);
/* The body is n_bytes, read piece by piece as the client takes them. Clients may ask for ranges.
 * The tag is in the arena or static. */
void pl_exchange_bytes(struct pl_exchange *x, pl_body_read_fn *read, int64_t n_bytes,
                       const char *etag);
/* Clears *busy when the answer was sent or cannot be sent. */
void pl_exchange_clear_when_sent(struct pl_exchange *x, _Atomic(bool) *busy);
/* Whether the answer's body is read while it is sent, and is neither in memory nor static. */
bool pl_exchange_is_read_from(const struct pl_exchange *x);

/* Stores this text for Idempotency-Key instead of x->reply: it has no secrets. Arena. */
void pl_exchange_keep_instead(struct pl_exchange *x, struct pl_str reply);
struct pl_str pl_exchange_kept_reply(const struct pl_exchange *x);
/* The digest of an upload, used by Idempotency-Key in place of the body. Arena. */
void pl_exchange_set_body_digest(struct pl_exchange *x, struct pl_str digest);
struct pl_str pl_exchange_body_digest(const struct pl_exchange *x);

/* The result of `keep`, on the shard. Anything but PL_OK becomes a problem. */
void pl_exchange_piece_kept(struct pl_exchange *x, enum pl_status status,
                            const struct pl_error *err);

/* Something else (a batch in the store) holds a pointer to the exchange and gives it back. Nothing
 * may be lent when the exchange is finished. */
void pl_exchange_lend(struct pl_exchange *x);
void pl_exchange_is_back(struct pl_exchange *x);

/* Releases the memory of the body, for a handler that no longer needs it but takes a while to
 * answer. */
void pl_exchange_let_body_go(struct pl_exchange *x);

/* For work that is useless without its client: calls `gone` on the shard, once, when the client
 * disconnects before the exchange is finished. A client that only closes its sending side counts as
 * gone, too. The owner of the exchange must still finish it. */
void pl_exchange_watch(struct pl_exchange *x, void (*gone)(struct pl_exchange *x));

/* Sends an answer while it is made: the head now, then everything put into x->reply, as chunks (RFC
 * 9112 7.1). Used instead of pl_exchange_finish. `room` (may be NULL) is called when everything so
 * far has gone to the kernel. */
void pl_exchange_flow(struct pl_exchange *x, void (*room)(struct pl_exchange *x));
bool pl_exchange_is_flowing(const struct pl_exchange *x);
/* x->reply has more bytes: they are sent at the end of this turn of the loop. */
void pl_exchange_flow_more(struct pl_exchange *x);
/* The answer is complete. The exchange ends when the rest was sent, or at once. */
void pl_exchange_flow_end(struct pl_exchange *x);

/* Takes the connection out of HTTP: writes `response_head` (101, or 200 for an event stream), ends
 * the exchange, and gives the caller the connection, the input after the request and its place in
 * the limit (address_limit.h). NULL if the client is gone. */
struct pl_conn *pl_exchange_take_conn(struct pl_exchange *x, struct pl_str response_head,
                                      struct pl_buf *ret_rest, struct pl_hold *ret_place);

/* Memory that the exchanges of a shard share. NULL when out of memory. */
struct pl_exchange_pool *pl_exchange_pool_create(void);
void pl_exchange_pool_destroy(struct pl_exchange_pool *pool); /* accepts NULL */
/* Exchanges at work. */
size_t pl_exchange_pool_n_busy(const struct pl_exchange_pool *pool);

#endif
