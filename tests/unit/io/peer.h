/* A server for tests: it reads requests and sends a given answer, piece by piece. */
#ifndef PL_TESTS_IO_PEER_H
#define PL_TESTS_IO_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { MAX_HEARD = 1 << 16 };

/* One thread serves one connection after another; all requests of a connection get the same
 * answer. */
struct peer {
    int fd;
    uint16_t port;
    char url[64];
    const char *const *says; /* pieces, NULL-terminated; 10 ms between them. None: it closes */
    const char *const *then; /* … to every request but the first; NULL: the same */
    bool closes;             /* after an answer */
    char heard[MAX_HEARD];
    _Atomic(int) n_connections, n_requests, n_pieces, n_broken;
    pthread_mutex_t lock; /* guards the members below: a closed fd is never used */
    int conn_fd;          /* in use; -1: none */
    pthread_t thread;
};

static inline bool hear_request(struct peer *peer, int fd)
{
    size_t n = 0, n_body = 0;
    char *end = NULL;
    while (n < MAX_HEARD - 1) {
        ssize_t got = read(fd, peer->heard + n, MAX_HEARD - 1 - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        peer->heard[n] = '\0';
        end = strstr(peer->heard, "\r\n\r\n");
        const char *length = strstr(peer->heard, "Content-Length: ");
        n_body = length ? (size_t)strtoull(length + 16, NULL, 10) : 0;
        if (end && n >= (size_t)(end + 4 - peer->heard) + n_body)
            return true;
    }
    return false;
}

static inline void peer_has_conn(struct peer *peer, int fd)
{
    pthread_mutex_lock(&peer->lock);
    if (peer->conn_fd >= 0)
        close(peer->conn_fd);
    peer->conn_fd = fd;
    pthread_mutex_unlock(&peer->lock);
}

static inline void *peer_answer(void *ctx)
{
    struct peer *peer = ctx;
    int fd;
    while ((fd = accept(peer->fd, NULL, NULL)) >= 0) {
        peer->n_connections++;
        peer_has_conn(peer, fd);
        while (hear_request(peer, fd)) {
            const char *const *says = peer->n_requests++ && peer->then ? peer->then : peer->says;
            if (!says[0])
                break;
            for (size_t i = 0; says[i]; i++) {
                const char *piece = says[i];
                if (i)
                    usleep(10000);
                if (send(fd, piece, strlen(piece), MSG_NOSIGNAL) < 0)
                    peer->n_broken++;
                peer->n_pieces++;
            }
            if (peer->closes)
                break;
        }
        peer_has_conn(peer, -1);
    }
    return NULL;
}

/* Opens its socket; nobody answers yet. */
static inline void listen_peer(struct peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(peer->fd, 16), 0);
    assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&address, &n), 0);
    peer->port = ntohs(address.sin_port);
    snprintf(peer->url, sizeof peer->url, "http://127.0.0.1:%u/v1/x", (unsigned)peer->port);
}

static inline void open_peer(struct peer *peer, const char *const *says, bool closes)
{
    *peer = (struct peer){.says = says, .closes = closes, .conn_fd = -1};
    pthread_mutex_init(&peer->lock, NULL);
    listen_peer(peer);
    assert_int_equal(pthread_create(&peer->thread, NULL, peer_answer, peer), 0);
}

/* Sends text on the current or kept connection. */
static inline void peer_blurt(struct peer *peer, const char *text)
{
    pthread_mutex_lock(&peer->lock);
    (void)send(peer->conn_fd, text, strlen(text), MSG_NOSIGNAL);
    pthread_mutex_unlock(&peer->lock);
}

static inline void peer_hang_up(struct peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    shutdown(peer->conn_fd, SHUT_RDWR);
    pthread_mutex_unlock(&peer->lock);
}

static inline void close_peer(struct peer *peer)
{
    shutdown(peer->fd, SHUT_RDWR);
    peer_hang_up(peer);
    pthread_join(peer->thread, NULL);
    pthread_mutex_destroy(&peer->lock);
    close(peer->fd);
}

#endif
