/* One request and its answer. The handler of its route runs on the shard and finishes it at once,
 * or hands it to a worker, or asks a session; its holder then calls pl_exchange_finish on the
 * shard, exactly once. A client that goes away in between changes nothing: work is never cancelled
 * by a disconnect. Its states are in exchange.c. */
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

/* Who is asking. */
struct pl_caller {
    struct pl_str user_id; /* arena of the exchange; empty: no user (public routes) */
    struct pl_str key_id;  /* empty: by the control socket */
    bool is_admin;         /* the user is one, and the key may act as one */
    enum pl_scope scope;   /* of the key */
    bool is_restricted;    /* the key has a scope, models, limits or an end: it makes no other */
    struct pl_str models;  /* the only ones it may use, one to a line; empty: all */
    struct pl_str extension_id; /* of a key with the scope "extension:ID"; empty: of another */
    struct pl_str csrf; /* signed in by a cookie: what a change must send; empty: by a key */
};

struct pl_exchange {
    struct pl_shard *shard;    /* borrowed */
    struct pl_setup *setup;    /* held: the same from beginning to end */
    struct pl_http_conn *conn; /* borrowed; NULL once the client is gone */
    const struct pl_route *route;
    struct pl_arena arena; /* everything of this request */
    enum pl_method method;
    const struct pl_http_head *head;
    struct pl_target target;
    struct pl_str args[PL_ROUTE_MAX_ARGS]; /* decoded segments for the braces of the route's path */
    struct pl_str body_text;               /* gathered */
    size_t n_doc; /* bytes of a document that is worked on and is not the body; 0: none */
    struct pl_json_doc body; /* parsed and validated, when the route has a request schema */
    struct pl_caller caller;
    char request_id[40];  /* also sent back as X-Request-Id */
    char traceparent[56]; /* W3C; empty when the client sent none and nobody traces */
    struct pl_span span;  /* of the request */
    int64_t started_ms;
    /* The answer: */
    int status;               /* 200 unless said otherwise */
    const char *content_type; /* "application/json" */
    struct pl_buf reply;      /* body; owned */
    struct pl_buf headers;    /* further header lines, "Name: value\r\n" each */
    struct pl_job job;        /* for pl_exchange_work */
    void (*job_done)(struct pl_job *job);
    void (*work)(struct pl_exchange *x);
    void (*after)(struct pl_exchange *x);
    void *state;                  /* the handler's; arena */
    struct pl_str problem_detail; /* of a failure here, for the log; arena or static. Never another
                                     server's words */
    struct pl_str used_model;     /* arena; a model was called for it; empty: none */
    int64_t used_input, used_output; /* its tokens */
    bool is_problem;
    bool is_replayed; /* the answer is one that was kept for its Idempotency-Key */
};

/* Sends status, headers and reply. On the shard's thread. */
void pl_exchange_finish(struct pl_exchange *x);

/* Makes the answer a problem; does not finish. Any thread that has the exchange. detail and err may
 * be NULL. */
void pl_exchange_problem(struct pl_exchange *x, enum pl_problem problem, const struct pl_error *err,
                         const char *detail, ...) __attribute__((format(printf, 4, 5)));
/* The same, from a failed call. */
void pl_exchange_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err);

/* The same, from something that could not be stored. */
void pl_exchange_fail_commit(struct pl_exchange *x, enum pl_status status,
                             const struct pl_error *err);

/* Zeroed memory of the arena for what a handler has to remember. NULL after failing for want of it
 * and finishing: there is nothing left to do. On the shard. */
void *pl_exchange_room(struct pl_exchange *x, size_t n_bytes);

/* A model was called for it: for the access log. */
void pl_exchange_note_used(struct pl_exchange *x, struct pl_str model, int64_t input,
                           int64_t output);
/* The same where several may be: their names are listed, and their tokens summed. Any thread that has
 * the exchange. */
void pl_exchange_add_used(struct pl_exchange *x, struct pl_str model, int64_t input,
                          int64_t output);

/* Runs `work` on a worker thread (it may use the arena, the store, reply, status), then `after` on
 * the shard; after NULL: finish. In the lane of the store, or with pl_exchange_compute in that of
 * what computes. Where the queue is too long `work` does not run, and `after` finds a problem. */
void pl_exchange_work(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                      void (*after)(struct pl_exchange *));
void pl_exchange_compute(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                         void (*after)(struct pl_exchange *));
/* In any lane. */
void pl_exchange_work_in(struct pl_exchange *x, enum pl_work lane,
                         void (*work)(struct pl_exchange *), void (*after)(struct pl_exchange *));
/* From now on the exchange must be completed, and none of its jobs is refused, because something
 * outside was started. The same holds once a job of it has run or a batch was committed. */
void pl_exchange_must_end(struct pl_exchange *x);

void pl_exchange_header(struct pl_exchange *x, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A field after the last byte of an answer that flows; a client of HTTP/1.0 does not get it. The head
 * has announced it in Trailer. */
void pl_exchange_trailer(struct pl_exchange *x, const char *name, struct pl_str value);
/* By Accept-Language, for messages that there are in Chinese too. */
bool pl_exchange_wants_chinese(const struct pl_exchange *x);
/* A message in the language that the client wants: Chinese where it is known (words.h), as long as the
 * exchange lives; or the message itself. */
const char *pl_exchange_words(struct pl_exchange *x, const char *english);
/* ETag "v"; false when If-None-Match says the client has it (the answer is then 304). */
bool pl_exchange_etag(struct pl_exchange *x, int64_t version);
/* The same for a tag that is not a number, with its quotes. */
bool pl_exchange_tag(struct pl_exchange *x, const char *tag);
/* False when there is an If-Match and it does not name this version (412 is then the answer). */
bool pl_exchange_if_match(struct pl_exchange *x, int64_t version);
/* The same for a tag that is not a number, with its quotes. */
bool pl_exchange_if_match_tag(struct pl_exchange *x, const char *tag);
/* The version that If-Match names, for a comparison elsewhere; -1: any. A foreign tag is a number
 * that no version has. */
int64_t pl_exchange_if_match_version(struct pl_exchange *x);

/* `limit` (default 20, 1 … 100), `offset`; false after making a problem of a bad one. */
struct pl_page_args {
    size_t limit;
    int64_t offset;
    struct pl_str cursor; /* decoded from base64url; empty: none */
};
bool pl_exchange_page_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* The same for a list whose cursor is how many came before: it goes to ret_args->offset. */
bool pl_exchange_counted_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* For a list of sums, whose rows are a name and a few numbers: `limit` is 1 … 1000, and 1000 if not
 * said; there is no offset. It ends with pl_exchange_sums_end. */
bool pl_exchange_sums_args(struct pl_exchange *x, struct pl_page_args *ret_args);
/* Makes a problem of a cursor that does not belong to this list; returns false, for the caller to
 * return. */
bool pl_exchange_refuse_cursor(struct pl_exchange *x);
/* The number of a cursor; false after making a problem of an invalid one. */
bool pl_exchange_cursor_number(struct pl_exchange *x, const struct pl_page_args *args,
                               int64_t *ret_number);
/* The text after `prefix` in a cursor; false after making a problem if it has another prefix or
 * could not be in the store. */
bool pl_exchange_cursor_text(struct pl_exchange *x, const struct pl_page_args *args,
                             const char *prefix, struct pl_str *ret_text);
/* {"items":[…],"total":…,"limit":…,"offset":…,"next_cursor":…} begin, add each item, with the
 * writer that is given or as text with its comma, end. */
struct pl_json_out pl_exchange_list_begin(struct pl_exchange *x);

/* The rows of a page, as they were read, one by one: true for each that goes onto it, which is then
 * rows[walk->n - 1]. It ends when the page has PL_PAGE_BYTES, however many rows are left; the first
 * always goes. has_more says in the end whether anything follows. */
#define PL_PAGE_BYTES (1u << 20)
struct pl_list_walk {
    size_t n_rows;
    bool has_more; /* beyond the rows that were read; then: beyond the page */
    size_t n;      /* on the page so far */
};
bool pl_list_walk_next(struct pl_list_walk *walk, const struct pl_exchange *x);

/* The end of a counted list that has walk->n items on this page. */
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

/* Up to n bytes of a long body from `at` on; on a worker. PL_OK has brought at least one. */
typedef enum pl_status pl_body_read_fn(struct pl_exchange *x, int64_t at, char *to, size_t n,
                                       size_t *ret_n);

/* The body is this text, of the exchange's arena or static; ranges of it may be asked for. */
void pl_exchange_static(struct pl_exchange *x, struct pl_str text, const char *etag);
/* The body is what the open file has, from its beginning; the exchange closes it. */
void pl_exchange_file(struct pl_exchange *x, int fd, int64_t n_bytes);
/* The body is n_bytes, which are read piece by piece as the client takes them; ranges of it may be
 * asked for. The tag is arena or static. */
void pl_exchange_bytes(struct pl_exchange *x, pl_body_read_fn *read, int64_t n_bytes,
                       const char *etag);
/* Set when the answer was sent, or cannot be sent: until then something still works on it. */
void pl_exchange_clear_when_sent(struct pl_exchange *x, _Atomic(bool) *busy);
/* Whether the answer's body is read while it is sent, and is neither in memory nor static. */
bool pl_exchange_is_read_from(const struct pl_exchange *x);

/* The text that is stored for Idempotency-Key instead of x->reply: without secrets. Arena. */
void pl_exchange_keep_instead(struct pl_exchange *x, struct pl_str reply);
struct pl_str pl_exchange_kept_reply(const struct pl_exchange *x);
/* Of an upload, in the place of its body for Idempotency-Key. Arena. */
void pl_exchange_set_body_digest(struct pl_exchange *x, struct pl_str digest);
struct pl_str pl_exchange_body_digest(const struct pl_exchange *x);

/* The answer of `keep`, on the shard. Anything but PL_OK becomes a problem. */
void pl_exchange_piece_kept(struct pl_exchange *x, enum pl_status status,
                            const struct pl_error *err);

/* Something else holds a pointer to it (a batch in the store) and returns it: a finished exchange
 * has nothing lent. */
void pl_exchange_lend(struct pl_exchange *x);
void pl_exchange_is_back(struct pl_exchange *x);

/* The body is no longer needed, although the answer takes a while: its memory is released. */
void pl_exchange_let_body_go(struct pl_exchange *x);

/* For work that is useless without its client: `gone` is called on the shard, once, when the client
 * disconnects before the exchange is finished. A client that only closes its sending side counts as
 * gone, too. The owner of the exchange still has to finish it. */
void pl_exchange_watch(struct pl_exchange *x, void (*gone)(struct pl_exchange *x));

/* An answer that goes out while it is made: the head now, then whatever is put into x->reply, as
 * chunks (RFC 9112 7.1). In place of pl_exchange_finish. `room` (may be NULL) is called when all
 * that was there has gone to the kernel. */
void pl_exchange_flow(struct pl_exchange *x, void (*room)(struct pl_exchange *x));
bool pl_exchange_is_flowing(const struct pl_exchange *x);
/* There is more in x->reply: it goes out at the end of the turn of the loop. */
void pl_exchange_flow_more(struct pl_exchange *x);
/* That was all. The exchange is over then, at the latest when the rest has gone. */
void pl_exchange_flow_end(struct pl_exchange *x);

/* Takes the connection out of HTTP: writes `response_head` (101, or 200 of an event stream), ends
 * the exchange, and gives the connection, the input after the request, and its place among the
 * connections (address_limit.h) to the caller. NULL if the client is gone. */
struct pl_conn *pl_exchange_take_conn(struct pl_exchange *x, struct pl_str response_head,
                                      struct pl_buf *ret_rest, struct pl_hold *ret_place);

/* What a shard has for its exchanges. NULL when out of memory. */
struct pl_exchange_pool *pl_exchange_pool_create(void);
void pl_exchange_pool_destroy(struct pl_exchange_pool *pool); /* accepts NULL */
/* Exchanges at work. */
size_t pl_exchange_pool_n_busy(const struct pl_exchange_pool *pool);

#endif
