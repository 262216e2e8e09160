/* What the files behind exchange.h share: an exchange with all that its answer needs on the way.
 * The shard keeps a few of them spare, so that a request on a quiet connection allocates nothing.
 */
#ifndef PL_SERVER_EXCHANGE_INT_H
#define PL_SERVER_EXCHANGE_INT_H

#include "base/uuid.h"
#include "server/exchange.h"
#include "server/body_memory.h"
#include "server/route.h"

#define PL_HTTP_SLOW_LOOKS 10

#define PL_IDEMPOTENCY_MAX_KEY   255
#define PL_IDEMPOTENCY_KEPT_MS   (INT64_C(24) * 3600 * 1000)
#define PL_IDEMPOTENCY_MAX_REPLY (1u << 20)

/* The Idempotency-Key of a request. In a list of the server while the request runs. */
struct pl_claim {
    struct pl_claim *prev, *next; /* the list's; under its lock */
    struct pl_str user_id, key;   /* arena of the exchange */
    uint8_t request_hash[32];
    bool is_listed;  /* nobody else runs the same key */
    bool is_expired; /* an old row must go first */
    bool is_looked;  /* the store was asked */
    bool is_added;   /* the row is in a batch */
    bool has_answer; /* … with the answer */
    bool is_done;    /* carried out before a crash: only the answer is missing */
    bool is_settling, is_settled;
    struct pl_id_seed seed; /* pl_claim_seed's */
    int64_t note;           /* the route's own; kept with the seed */
};

/* Up to n bytes of a long body from `at` on; on a worker. PL_OK has brought at least one. */
typedef enum pl_status pl_body_read_fn(struct pl_exchange *x, int64_t at, char *to, size_t n,
                                       size_t *ret_n);

/* How the bytes of an answer go out: the head and a view of the body, or of what is read of it
 * piece by piece. */
struct pl_sending {
    struct pl_buf head;    /* owned */
    struct pl_str body;    /* borrowed: reply, static text, or a piece */
    size_t n_head_sent;    /* of head */
    pl_body_read_fn *read; /* NULL: all of the body is there */
    int64_t at, n_left;    /* where the next piece begins, bytes not read yet */
    int64_t from_ms;       /* when it began */
    char *piece;           /* owned */
    enum pl_status status; /* of the last reading */
    int fd;                /* owned; of a file; -1: none */
    _Atomic(bool) *busy;   /* borrowed; cleared at the end of the exchange; NULL: none */
    bool is_started, is_reading;
    /* Of an answer that goes out while it is made (flowing.c): */
    bool is_flowing;
    bool is_flow_over;      /* all of it is in reply */
    bool is_last_chunk;     /* … and in `chunk` */
    struct pl_buf chunk;    /* owned; what is being sent, framed */
    struct pl_turn_end due; /* what was put into reply meanwhile goes out then */
    void (*room)(struct pl_exchange *x);
};

struct pl_exchange_own {
    struct pl_exchange x;         /* first */
    struct pl_exchange_own *next; /* in the shard's list of spares */
    struct pl_buf body;           /* owned; what was gathered of the request's body */
    size_t max_body, n_body;
    struct pl_hold body_hold;  /* of the memory for bodies */
    struct pl_hold spool_hold; /* of the room for answers in files */
    char spool_user[64];       /* who asked, once the arena is gone */
    struct pl_hold kept_hold;  /* of the same: what was made of the body, and the answer */
    /* Its rate: n_body at the last looks, a second or more apart (http_conn.c). */
    size_t body_marks[PL_HTTP_SLOW_LOOKS];
    unsigned n_looks;
    struct pl_str body_digest; /* of an upload, once it was looked at; arena */
    struct pl_claim claim;
    struct pl_sending sending;
    struct pl_str static_body; /* the answer's body, in place of reply; outlives the exchange */
    struct pl_str kept_reply;  /* what Idempotency-Key keeps in place of reply; arena */
    const char *etag;          /* of a byte body; arena or static */
    struct pl_http1 *http;     /* owned once the client is gone: the head is in it */
    char allow[64];            /* of 405 and OPTIONS */
    bool is_rangeable;
    bool is_refused;   /* answered before its body was read */
    bool is_body_over; /* END was read */
    bool is_held;      /* a piece of an upload is being kept: no more of the body now */
    bool is_looking;   /* at the last piece */
    bool is_running;   /* the handler was called */
    bool is_taken;     /* the connection is no longer HTTP */
    bool is_failed;    /* the client went away before the request was whole */
    bool must_close;   /* the connection ends with this answer */
    bool is_parsed;
    bool must_end; /* there is no way back: its jobs wait as long as they have to */
    bool has_cors; /* the Origin is one of the configured ones */
    void (*gone)(struct pl_exchange *x); /* pl_exchange_watch; NULL: nobody does, or was told */
};

static inline struct pl_exchange_own *pl_exchange_own(struct pl_exchange *x)
{
    return (struct pl_exchange_own *)x;
}

/* --- exchange.c ------------------------------------------------------------------------------ */

/* Begins with the head; the body follows through pl_exchange_body and pl_exchange_body_end. */
void pl_exchange_start(struct pl_exchange_own *own);
/* Whether it still wants to hear of the body. */
bool pl_exchange_wants_body(const struct pl_exchange_own *own);
void pl_exchange_body(struct pl_exchange_own *own, struct pl_str piece);
void pl_exchange_body_end(struct pl_exchange_own *own);
/* Whether a body of this length could be gathered now: makes a problem of it if not. */
void pl_exchange_ask_body_memory(struct pl_exchange_own *own, size_t n_body);
/* Nobody will look at n bytes of the body any more, or at none of it. */
void pl_exchange_give_body_memory(struct pl_exchange_own *own, size_t n);
void pl_exchange_drop_body(struct pl_exchange_own *own);
/* Counts what the arena and the answer have now; makes a problem of it when that is too much and
 * nothing was begun. */
void pl_exchange_count_memory(struct pl_exchange_own *own);
/* An answer made by the connection itself (a broken head, a body that is too slow); then it
 * closes. */
void pl_exchange_refuse(struct pl_exchange_own *own, enum pl_problem problem, const char *detail);
/* The client is gone; `http` is handed over. */
void pl_exchange_lose_conn(struct pl_exchange_own *own, struct pl_http1 *http);
/* There is room for more bytes. */
void pl_exchange_writable(struct pl_exchange_own *own);

/* --- uploading.c ----------------------------------------------------------------------------- */

/* More of the body of an upload was gathered: hands a piece on when there is one. */
void pl_upload_gathered(struct pl_exchange_own *own);
/* The answer of `keep`, on the shard. Anything but PL_OK becomes a problem. */
void pl_exchange_piece_kept(struct pl_exchange *x, enum pl_status status,
                            const struct pl_error *err);
/* The last piece, on a worker. */
void pl_upload_look_last(struct pl_job *job);
/* The exchange ends: gives up what is not wanted. */
void pl_upload_end(struct pl_exchange_own *own);

/* --- spares.c -------------------------------------------------------------------------------- */

/* From the shard's spares or the heap; NULL when out of memory. Refers to the connection's head. */
struct pl_exchange_own *pl_exchange_take(struct pl_shard *shard, struct pl_http_conn *conn);
/* Empties it for the next request. */
void pl_exchange_give_back(struct pl_exchange_own *own);
void pl_exchange_free_spares(struct pl_shard *shard);

/* --- handling.c ------------------------------------------------------------------------------ */

/* `run` on a worker, then `done` on the shard, perhaps without the former and with a problem. */
void pl_exchange_submit(struct pl_exchange *x, enum pl_work lane, void (*run)(struct pl_job *),
                        void (*done)(struct pl_job *));
/* Makes a problem of a batch that was not committed. */
void pl_exchange_fail_commit(struct pl_exchange *x, enum pl_status status,
                             const struct pl_error *err);

/* --- admit.c --------------------------------------------------------------------------------- */

/* The client's X-Request-Id where it is a good one, else a new one. */
void pl_exchange_set_id(struct pl_exchange *x);
/* False when the answer is there already: a problem, or that of OPTIONS. */
bool pl_exchange_admit(struct pl_exchange_own *own);

/* --- sending.c ------------------------------------------------------------------------------- */

/* Writes head and body as far as the kernel takes them. PL_OK and *ret_is_over, or PL_IO. */
enum pl_status pl_sending_go(struct pl_exchange_own *own, bool *ret_is_over);
void pl_sending_reset(struct pl_sending *sending);

/* --- spooling.c ------------------------------------------------------------------------------ */

#define PL_SPOOL_BYTES (1u << 20) /* so much of an answer may wait in memory for longer … */
#define PL_SPOOL_MS    1000       /* … than this */

/* Whether what is left of the answer is too much to wait in memory; and whether it has. */
bool pl_spool_is_large(const struct pl_exchange_own *own);
bool pl_spool_is_due(const struct pl_exchange_own *own);
/* Puts it into a file, on a worker; PL_LIMIT: too much is in files already; PL_IO: there is no
 * file. */
enum pl_status pl_spool_start(struct pl_exchange_own *own);

/* --- flowing.c ------------------------------------------------------------------------------- */

/* The next chunk is what is sent. False: nothing waits to be. */
bool pl_flow_next(struct pl_exchange_own *own);
/* Whether the client has everything there is so far: it is not its turn. */
bool pl_flow_is_idle(const struct pl_exchange_own *own);
void pl_flow_reset(struct pl_exchange_own *own);

/* --- reply.c --------------------------------------------------------------------------------- */

/* The body is this text, which outlives every exchange; ranges of it may be asked for. */
void pl_exchange_static(struct pl_exchange *x, struct pl_str text, const char *etag);
/* The body is what the open file has, from its beginning; the exchange closes it. */
void pl_exchange_file(struct pl_exchange *x, int fd, int64_t n_bytes);
/* The body is n_bytes, which are read piece by piece as the client takes them; ranges of it may be
 * asked for. The tag is arena or static. */
void pl_exchange_bytes(struct pl_exchange *x, pl_body_read_fn *read, int64_t n_bytes,
                       const char *etag);
/* Applies Range to a byte body: 206, 416 or nothing. Sets the view of what is sent. */
void pl_reply_apply_range(struct pl_exchange_own *own);

/* --- idempotency.c --------------------------------------------------------------------------- */

/* Reads the header; false after making a problem of it. No key: *ret_has_key false. */
bool pl_claim_begin(struct pl_exchange_own *own, bool *ret_has_key);
/* On a worker: looks the key up; the answer may be made then (x->is_answered). */
void pl_claim_look(struct pl_exchange *x);
/* Before a change is planned once more, because another came first: that may have been this very
 * request, by another way in. On a worker. False: the answer is made, or a problem. */
bool pl_claim_again(struct pl_exchange *x);
/* The claim's writes for a batch, once: with the answer, if status, headers and reply (or
 * kept_reply) have it already. Without, what pl_claim_seed gave is kept, and a repetition after a
 * crash is told what was done: only of a route that PL_ROUTE_RETELLS. */
void pl_claim_add(struct pl_exchange_own *own, struct pl_batch *batch);
/* Time and randomness for the ids of what is made; the same again when it is only retold. */
struct pl_id_seed pl_claim_seed(struct pl_exchange *x);
/* The answer for a batch, now that it is made; the key is claimed with it if it was not before. */
void pl_claim_keep_answer(struct pl_exchange_own *own, struct pl_batch *batch);
/* A batch that stores the answer; NULL when there is nothing to store. */
struct pl_batch *pl_claim_settle(struct pl_exchange_own *own);
void pl_claim_end(struct pl_exchange_own *own);

/* --- request_schema.c ------------------------------------------------------------------------ */

/* Parses and validates the body by the schema of the route; a problem is made of what is wrong.
 * Any thread that has the exchange. */
void pl_exchange_check_body(struct pl_exchange_own *own);

#endif
