/* An HTTP/1.1 connection: one request at a time, answers in the order of the requests.
 * docs/internals/http.md. */
#ifndef PL_HTTP_CONNECTION_H
#define PL_HTTP_CONNECTION_H

#include "http/exchange_int.h"

#define PL_HTTP_HEAD_MS    10000
#define PL_HTTP_IDLE_MS    60000
#define PL_HTTP_LOOK_MS    1000  /* how often the rate of a body is checked … */
#define PL_HTTP_SLOW_BYTES 10240 /* … and the bytes that must arrive in ten checks */
#define PL_HTTP_SEND_MS    30000 /* a client that reads nothing for this long is gone */
#define PL_HTTP_LINGER_MS  2000

/* The state of a connection. Each state has a deadline. The diagram is in connection.c. */
enum pl_conn_phase {
    PL_PHASE_HEAD,   /* a head has begun to arrive, or the first one is awaited */
    PL_PHASE_GIVEN,  /* a head went to its exchange; the next state is known after parsing */
    PL_PHASE_BODY,   /* the exchange needs more of the body */
    PL_PHASE_ANSWER, /* the exchange is working: nothing is read */
    PL_PHASE_IDLE,   /* between two requests */
    PL_PHASE_LINGER, /* everything is sent: the client has a moment to read it */
    PL_PHASE_CLOSED, /* freed when the parser has returned */
};

/* The reason to refuse every request on this connection. */
enum pl_http_refusal { PL_HTTP_WELCOME, PL_HTTP_FULL, PL_HTTP_ADDRESS_FULL };

struct pl_http_conn {
    struct pl_http_conn *prev, *next; /* in the shard's list */
    struct pl_shard *shard;           /* borrowed */
    struct pl_conn *conn;             /* owned; NULL once it was taken or closed */
    struct pl_http1 *http;            /* owned */
    struct pl_exchange_own *x;        /* the request being answered; may be NULL */
    struct pl_buf rest;               /* owned; input read while a request was being answered */
    struct pl_timer timer;
    int64_t deadline_ms; /* the timer may fire earlier; it is then started again */
    enum pl_conn_phase phase;
    enum pl_http_refusal refusal;
    struct pl_hold place; /* its place in the limit of its address */
    uint64_t n_lingered;
    bool is_unix, is_tls;
    char peer[PL_CLIENT_ADDRESS_SIZE]; /* the other end, or the client that a proxy names */
    bool awaits_proxy;                 /* a proxy's header comes first (wire/proxy_header.h) */
    bool is_control; /* from the control socket: the local user is the administrator */
    bool is_parsing; /* the parser's loop is on the stack */
    bool is_paused;  /* reading is paused */
    bool has_ended;  /* the other side sends no more */
};

/* Takes the connection over. The control socket makes only our own user an administrator. */
void pl_http_conn_open(struct pl_shard *shard, struct pl_conn *conn, bool is_control);
/* Closes it now, whatever it is doing. */
void pl_http_conn_close(struct pl_http_conn *conn);
/* Closes it if it is idle; otherwise it closes after the current answer. */
void pl_http_conn_retire(struct pl_http_conn *conn);

/* Closes the connections of a shard that are still answering this user. */
void pl_http_conns_drop_user(struct pl_shard *shard, struct pl_str user_id);

/* The fate of a connection after an answer: it takes the next request, closes, or is broken. */
enum pl_http_end { PL_HTTP_KEPT, PL_HTTP_LAST, PL_HTTP_BROKEN };
void pl_http_conn_done(struct pl_http_conn *conn, enum pl_http_end end);
/* Hands the bare connection over, with the input after the request. For the exchange the client is
 * then gone. shard->n_conns still counts the connection: when the new owner closes it, it
 * decrements that count and the metric of connections, and releases its place. */
struct pl_conn *pl_http_conn_take(struct pl_http_conn *conn, struct pl_buf *ret_rest,
                                  struct pl_hold *ret_place);
/* The exchange wants more of the body again. */
void pl_http_conn_go_on(struct pl_http_conn *conn);
/* Some bytes were sent: the client is not gone. */
void pl_http_conn_sent(struct pl_http_conn *conn);

#endif
