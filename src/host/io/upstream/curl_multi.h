/* A multi handle of libcurl on a loop: its sockets are in the loop's set, its clock is a timer of
 * the loop, and whoever has it is called at the end of each turn in which something happened,
 * because libcurl may not be called from its own callbacks.
 *
 * Embedded in what it serves. All of it on the loop's thread. */
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
    int n_inside;         /* we are inside libcurl: it takes no calls of most functions then */
    struct pl_timer timer;
    struct pl_loop_hook look;
    struct pl_curl_wire *wires[PL_CURL_BUCKETS]; /* owned; by descriptor */
};

/* `look` is called at the end of an iteration. PL_IO: libcurl is missing; PL_NOMEM. */
enum pl_status pl_curl_multi_init(struct pl_curl_multi *multi, struct pl_loop *loop,
                                  void (*look)(struct pl_loop_hook *), struct pl_error *err);
/* Every easy handle was removed before. Accepts one that was never made, if it is zeroed. */
void pl_curl_multi_deinit(struct pl_curl_multi *multi);

/* Has `look` called at the end of this turn. */
void pl_curl_multi_look_later(struct pl_curl_multi *multi);
/* Lets libcurl do the work that is possible now, as for a handle that was just added. */
void pl_curl_multi_run(struct pl_curl_multi *multi);

/* CURLOPT_OPENSOCKETFUNCTION and CURLOPT_CLOSESOCKETFUNCTION of every easy handle, or what theirs
 * end with: `ctx` is the multi. */
curl_socket_t pl_curl_multi_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);
int pl_curl_multi_close(void *ctx, curl_socket_t fd);

#endif
