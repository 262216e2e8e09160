/* Shared by the files that implement exchange.h: an exchange with everything its answer needs. The
 * shard keeps a few in a pool, so that a request on a quiet connection allocates nothing. */
#ifndef PL_HTTP_EXCHANGE_INT_H
#define PL_HTTP_EXCHANGE_INT_H

#include "base/text/uuid.h"
#include "http/claim.h"
#include "http/client_address.h"
#include "http/exchange.h"
#include "http/limits/body_memory.h"
#include "http/routes/route.h"

#define PL_HTTP_SLOW_LOOKS 10

/* The states of an exchange; the diagram is in exchange.c. */
enum pl_x_state {
    PL_X_NEW,
    PL_X_HEAD,
    PL_X_ASKING, /* a worker asks the store whether another node has just created the key */
    PL_X_BODY,
    PL_X_HELD,    /* a piece of an upload is checked or stored: the body is not read meanwhile */
    PL_X_DISCARD, /* refused; the rest of a small body is read, to keep the connection */
    PL_X_CHECK,
    PL_X_CHECKING, /* … on a worker */
    PL_X_CLAIM,
    PL_X_LOOKING, /* the Idempotency-Key is looked up on a worker */
    PL_X_RUN,
    PL_X_RUNNING, /* the handler is working */
    PL_X_SETTLE,
    PL_X_SETTLING, /* the store is saving the answer for its Idempotency-Key */
    PL_X_SEND,
    PL_X_READING,  /* a worker reads the next piece of the answer, or writes it to a file */
    PL_X_MAKING,   /* the answer is still being made, and the client has all of it so far */
    PL_X_ORPHANED, /* such an answer cannot be sent, but its producer is still working */
    PL_X_TAKEN,    /* the connection is no longer HTTP */
    PL_X_OVER,
    PL_X_BROKEN, /* the connection failed, or the client left before the request was complete */
};

/* Whether to ask the store for a key that is not known here: once only. */
enum pl_x_asking { PL_ASKING_NOT, PL_ASKING_WANTED, PL_ASKING_DONE };

/* The loop that runs the steps of an exchange is not entered twice. */
enum pl_x_pump { PL_PUMP_RESTS, PL_PUMP_RUNS, PL_PUMP_AGAIN };

/* The state of an answer that is sent while it is made; the diagram is in chunked.c. */
enum pl_flow {
    PL_FLOW_NONE, /* it is complete before it is sent */
    PL_FLOW_OPEN,
    PL_FLOW_ENDED, /* all of it is in reply */
    PL_FLOW_LAST,  /* … and in `chunk` */
};

/* The bytes of an answer to send: the head, and a view of the body or of its current piece. */
struct pl_sending {
    struct pl_buf head;    /* owned */
    struct pl_str body;    /* borrowed: reply, static text, or a piece */
    size_t n_head_sent;    /* of head */
    pl_body_read_fn *read; /* NULL: the whole body is in memory */
    int64_t at, n_left;    /* offset of the next piece, bytes not read yet */
    int64_t from_ms;       /* when it began */
    char *piece;           /* owned */
    enum pl_status status; /* of the last read */
    int fd;                /* owned; of a file; -1: none */
    _Atomic(bool) *busy;   /* borrowed; cleared at the end of the exchange; NULL: none */
    /* For an answer that is sent while it is made: */
    enum pl_flow flow;
    struct pl_buf chunk;     /* owned; the bytes being sent, framed */
    struct pl_buf trailers;  /* owned; "Name: value\r\n" each */
    struct pl_loop_hook due; /* wakes the exchange to send more of reply */
    void (*room)(struct pl_exchange *x);
};

static inline bool pl_sending_has_begun(const struct pl_sending *sending)
{
    return sending->head.len;
}

struct pl_exchange_own {
    struct pl_exchange x;         /* first */
    struct pl_exchange_own *next; /* in the shard's list of free exchanges */
    enum pl_x_state state;
    enum pl_x_pump pump;
    enum pl_x_asking asking;
    unsigned n_away;    /* jobs on workers and batches in the store that have a pointer to it */
    struct pl_buf body; /* owned; the gathered body of the request … */
    size_t body_at;     /* … begins here */
    size_t max_body, n_body;
    uint64_t n_sent;                      /* bytes of the answer, with its head */
    char address[PL_CLIENT_ADDRESS_SIZE]; /* of a client that is gone; else empty */
    struct pl_hold body_hold;             /* its share of the memory for bodies */
    struct pl_hold spool_hold;            /* its share of the space for answers in files */
    char spool_user[64], spool_key[64], spool_model[160]; /* for the log, without the arena */
    struct pl_hold kept_hold; /* the same, for data derived from the body and for the answer */
    /* For its rate: n_body at the last checks, a second or more apart (connection.c). */
    size_t body_marks[PL_HTTP_SLOW_LOOKS];
    unsigned n_looks;
    struct pl_str body_digest; /* of an upload, once it is known; arena */
    struct pl_claim claim;
    struct pl_sending sending;
    struct pl_str static_body; /* the answer's body, in place of reply; static or in the arena */
    struct pl_str kept_reply;  /* the answer to store for Idempotency-Key instead of reply; arena */
    const char *etag;          /* of a body of bytes; arena or static */
    struct pl_http1 *http;     /* owned once the client is gone: the head is in it */
    char allow[64];            /* for 405 and OPTIONS */
    bool is_rangeable;
    bool has_run;      /* the handler was called */
    bool is_line_held; /* the new owner of the connection writes its log line later */
    bool must_close;   /* the connection ends with this answer */
    bool must_end;     /* it must be completed: its jobs have no time limit in the queue */
    bool has_cors;     /* the Origin is one of the configured ones */
    void (*gone)(struct pl_exchange *x); /* pl_exchange_watch; NULL: not watched, or already
                                          * called */
};

static inline struct pl_exchange_own *pl_exchange_own(struct pl_exchange *x)
{
    return (struct pl_exchange_own *)x;
}

/* Free exchanges, and data that all answers of a shard share. */
struct pl_exchange_pool {
    struct pl_exchange_own *spares; /* owned */
    size_t n_spares;
    size_t n_exchanges; /* in use */
    int64_t date_s;     /* second of `date` */
    char date[37];      /* "Date: …\r\n" */
};

/* --- exchange.c ------------------------------------------------------------------------------ */

void pl_exchange_become(struct pl_exchange_own *own, enum pl_x_state to);
/* Runs the steps until one waits; the exchange may be freed by then. If called within a step, the
 * loop continues after that step. */
void pl_exchange_wake(struct pl_exchange_own *own);
/* Starts with the head; the body follows by pl_exchange_body and pl_exchange_body_end. */
void pl_exchange_start(struct pl_exchange_own *own);
/* Whether it still wants the body. */
bool pl_exchange_wants_body(const struct pl_exchange_own *own);
void pl_exchange_body(struct pl_exchange_own *own, struct pl_str piece);
/* A place for the next bytes of the body; pl_exchange_body then finds them there. False: they may
 * be read to any place. */
bool pl_exchange_body_room(struct pl_exchange_own *own, char **ret_to, size_t *ret_n);
void pl_exchange_body_end(struct pl_exchange_own *own);
/* Makes a problem if there is no memory now for a body of this length. */
void pl_exchange_ask_body_memory(struct pl_exchange_own *own, size_t n_body);
/* Releases the memory of n bytes of the body. */
void pl_exchange_give_body_memory(struct pl_exchange_own *own, size_t n);
void pl_exchange_drop_body(struct pl_exchange_own *own);
/* Counts the memory of the arena and the answer. Makes a problem if it is too much and nothing was
 * started. */
void pl_exchange_count_memory(struct pl_exchange_own *own);
/* Answers for the connection itself (a broken head, a body that is too slow), then closes it. */
void pl_exchange_refuse(struct pl_exchange_own *own, enum pl_problem problem, const char *detail);
/* The client is gone; the exchange now owns `http`. */
void pl_exchange_lose_conn(struct pl_exchange_own *own, struct pl_http1 *http);
/* The connection can take more bytes. */
void pl_exchange_writable(struct pl_exchange_own *own);

/* --- upload.c -------------------------------------------------------------------------------- */

/* More of an upload was gathered: hands a piece on once it is complete. */
void pl_upload_gathered(struct pl_exchange_own *own);
/* The last piece, on a worker. */
void pl_upload_look_last(struct pl_job *job);
/* Called when the exchange ends: drops pieces that are not needed. */
void pl_upload_end(struct pl_exchange_own *own);

/* --- exchange_pool.c ------------------------------------------------------------------------- */

/* Takes a free exchange or allocates one; NULL: out of memory. It uses the connection's head. */
struct pl_exchange_own *pl_exchange_take(struct pl_shard *shard, struct pl_http_conn *conn);
/* Empties it for the next request. */
void pl_exchange_give_back(struct pl_exchange_own *own);

/* --- handler_api.c --------------------------------------------------------------------------- */

/* Runs `run` on a worker, then `done` on the shard. If no worker is free in time, `run` is skipped
 * and `done` finds a problem. */
void pl_exchange_submit(struct pl_exchange *x, enum pl_work lane, void (*run)(struct pl_job *),
                        void (*done)(struct pl_job *));

/* --- admission.c ----------------------------------------------------------------------------- */

/* Takes the client's X-Request-Id if it is valid, else makes one. */
void pl_exchange_set_id(struct pl_exchange *x);
/* False if there is an answer already: a problem, or the one to OPTIONS. */
bool pl_exchange_admit(struct pl_exchange_own *own);
/* The checks from the key on; repeated after the store was asked (PL_ASKING_WANTED). */
bool pl_exchange_admit_caller(struct pl_exchange_own *own);
/* Whether the route knows these parameters and values; false after making a problem (query.c). */
bool pl_exchange_check_query(struct pl_exchange *x);

/* --- send.c ---------------------------------------------------------------------------------- */

/* Writes head and body as far as the kernel accepts them. PL_OK and *ret_is_over, or PL_IO. */
enum pl_status pl_sending_go(struct pl_exchange_own *own, bool *ret_is_over);
void pl_sending_reset(struct pl_sending *sending);

/* --- spool.c --------------------------------------------------------------------------------- */

#define PL_SPOOL_BYTES (1u << 20) /* more of an answer than this goes to a file … */
#define PL_SPOOL_MS    1000       /* … after waiting this long in memory */

/* Whether the rest of the answer is too large to wait in memory; whether it was moved to a file. */
bool pl_spool_is_large(const struct pl_exchange_own *own);
bool pl_spool_is_due(const struct pl_exchange_own *own);
/* Moves it to a file, on a worker. PL_LIMIT: the files are full. PL_IO: no file. */
enum pl_status pl_spool_start(struct pl_exchange_own *own);

/* --- chunked.c ------------------------------------------------------------------------------- */

/* Makes the next chunk. False: there is nothing to send. */
bool pl_flow_next(struct pl_exchange_own *own);
/* Whether the client has everything made so far. */
bool pl_flow_is_idle(const struct pl_exchange_own *own);
void pl_flow_reset(struct pl_exchange_own *own);

/* --- reply.c --------------------------------------------------------------------------------- */

/* Applies Range to a body of bytes: 206, 416 or nothing. Sets the view that is sent. */
void pl_reply_apply_range(struct pl_exchange_own *own);

/* --- request_schema.c ------------------------------------------------------------------------ */

/* Parses the body and validates it against the route's schema; makes a problem of errors. Any
 * thread that has the exchange. */
void pl_exchange_check_body(struct pl_exchange_own *own);

#endif
