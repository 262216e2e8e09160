/* A multi handle of libcurl on a loop: the loop watches its sockets and runs its timer. Its owner
 * is called at the end of each turn in which something happened, because libcurl may not be called
 * from its own callbacks.
 *
 * Embedded in its owner. Everything runs on the loop's thread. */
#ifndef PL_IO_UPSTREAM_CURL_MULTI_H
#define PL_IO_UPSTREAM_CURL_MULTI_H

#include "io/upstream/curl_int.h"
#include "io/loop.h"

enum { PL_CURL_BUCKETS = 64 };

struct pl_curl_wire;

struct pl_curl_multi {
    const struct pl_curl *curl;
    CURLM *handle;        /* owned; NULL before init and after deinit */
    struct pl_loop *loop; /* borrowed */
    int n_inside;         /* >0: we are inside libcurl, where most functions are forbidden */
    struct pl_timer timer;
    struct pl_loop_hook look;
    struct pl_curl_wire *wires[PL_CURL_BUCKETS]; /* owned; hashed by descriptor */
};

/* `look` is called at the end of a turn. PL_IO: libcurl is missing; PL_NOMEM. */
enum pl_status pl_curl_multi_init(struct pl_curl_multi *multi, struct pl_loop *loop,
                                  void (*look)(struct pl_loop_hook *), struct pl_error *err);
/* Every easy handle must have been removed. Accepts a zeroed multi that was never initialised. */
void pl_curl_multi_deinit(struct pl_curl_multi *multi);

/* Calls `look` at the end of this turn. */
void pl_curl_multi_look_later(struct pl_curl_multi *multi);
/* Lets libcurl do the work that is possible now, for example for a new handle. */
void pl_curl_multi_run(struct pl_curl_multi *multi);

/* CURLOPT_OPENSOCKETFUNCTION and CURLOPT_CLOSESOCKETFUNCTION of every easy handle. A callback of a
 * caller's own ends with a call of these; `ctx` is the multi. */
curl_socket_t pl_curl_multi_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);
int pl_curl_multi_close(void *ctx, curl_socket_t fd);

#endif
