/* Many WebSocket readers in one process. Opens sockets, waits until each was greeted, then counts
 * the frames of one round after another. It reads only heads and the first bytes of a payload, so
 * that the server is what is measured.
 *
 * usage: live-client PORT PATH SOCKETS READY END [HELLO [KEY]]
 *
 * HELLO is the text frame that each socket sends first. A socket is ready after a payload that
 * begins with READY. Then "ready" is printed. Each line of standard input is sent on the first
 * socket and starts a round, which is over when every socket has seen a payload that begins with
 * END. One JSON object per round is printed. The program ends at the end of standard input. */
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18, N_EVENTS = 512, N_LOOKED_AT = 32, MAX_HEAD = 10, ROUND_S = 60 };

/* The position of a socket in its stream: `start` collects a head and the first bytes after it if
 * they come in pieces; then `n_left` bytes of payload are skipped. */
struct reader {
    int fd;
    bool is_ready, is_over;
    uint8_t n_start;
    uint8_t start[MAX_HEAD + N_LOOKED_AT];
    uint64_t n_left;
};

struct client {
    struct reader *readers;
    size_t n_readers, n_ready, n_over;
    const char *ready, *end, *hello, *key, *path;
    uint16_t port;
    int epoll;
    uint64_t n_frames, n_bytes;
    char *buffer;
};

static void die(const char *what)
{
    fprintf(stderr, "live-client: %s: %s\n", what, errno ? strerror(errno) : "gave up");
    exit(4);
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* --- opening --------------------------------------------------------------------------------- */

static void send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            die("cannot send");
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
        }
    }
}

/* RFC 6455 5.2; the mask is zero, which is valid. */
static void send_text(int fd, const char *text)
{
    size_t n = strlen(text), n_head = 2;
    uint8_t head[MAX_HEAD + 4] = {0x81};
    size_t n_length = n < 126 ? 0 : n < 65536 ? 2 : 8;
    head[1] = (uint8_t)(0x80 | (n_length == 0 ? n : n_length == 2 ? 126 : 127));
    for (size_t i = n_length; i > 0; i--)
        head[n_head++] = (uint8_t)(n >> (8 * (i - 1)));
    send_all(fd, (const char *)head, n_head + 4);
    send_all(fd, text, n);
}

/* Reads byte by byte up to the empty line, because a frame follows. */
static void read_upgrade(int fd)
{
    char head[4096] = "";
    size_t n = 0;
    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        if (n == sizeof head || recv(fd, head + n, 1, 0) != 1)
            die("the server did not answer the upgrade");
        n++;
    }
    if (n < 12 || memcmp(head + 9, "101", 3) != 0) {
        fprintf(stderr, "live-client: %.*s\n", (int)n, head);
        die("the server refused the upgrade");
    }
}

static void open_reader(struct client *client, struct reader *reader)
{
    char request[1024];
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(client->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int n =
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: Upgrade\r\n"
                 "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s%s%s\r\n",
                 client->path, client->port,
                 client->key ? "Sec-WebSocket-Protocol: parley.v1\r\nAuthorization: Bearer " : "",
                 client->key ? client->key : "", client->key ? "\r\n" : "");
    send_all(fd, request, (size_t)n);
    read_upgrade(fd);
    if (client->hello)
        send_text(fd, client->hello);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    reader->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = reader};
    if (epoll_ctl(client->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("cannot watch a socket");
}

/* --- reading --------------------------------------------------------------------------------- */

/* Returns the length of the head and of the payload; 0 if there are not enough bytes. */
static size_t read_head(const uint8_t *bytes, size_t n, uint64_t *ret_n_payload)
{
    if (n < 2)
        return 0;
    size_t n_length = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0;
    uint64_t length = bytes[1];
    if (n < 2 + n_length)
        return 0;
    if (n_length)
        length = 0;
    for (size_t i = 0; i < n_length; i++)
        length = length << 8 | bytes[2 + i];
    *ret_n_payload = length;
    return 2 + n_length;
}

static bool begins_with(const uint8_t *bytes, uint64_t n, const char *prefix)
{
    size_t n_prefix = strlen(prefix);
    return n >= n_prefix && memcmp(bytes, prefix, n_prefix) == 0;
}

static void note_frame(struct client *client, struct reader *reader, const uint8_t *payload,
                       uint64_t n)
{
    client->n_frames++;
    if (!reader->is_ready && begins_with(payload, n, client->ready)) {
        reader->is_ready = true;
        client->n_ready++;
    } else if (!reader->is_over && begins_with(payload, n, client->end)) {
        reader->is_over = true;
        client->n_over++;
    }
}

/* Reads the beginning of a frame. Returns the number of bytes used; 0 if more are needed. */
static size_t begin_frame(struct client *client, struct reader *reader, const uint8_t *bytes,
                          size_t n)
{
    uint64_t n_payload;
    size_t n_head = read_head(bytes, n, &n_payload);
    size_t n_looked = n_payload < N_LOOKED_AT ? (size_t)n_payload : N_LOOKED_AT;
    if (!n_head || n < n_head + n_looked)
        return 0;
    note_frame(client, reader, bytes + n_head, n_looked);
    reader->n_left = n_payload - n_looked;
    return n_head + n_looked;
}

static void take_bytes(struct client *client, struct reader *reader, const uint8_t *bytes, size_t n)
{
    while (n) {
        size_t used = reader->n_left < n ? (size_t)reader->n_left : n;
        reader->n_left -= used;
        if (!used && reader->n_start) {
            /* Byte by byte, which happens once per read. */
            reader->start[reader->n_start++] = *bytes;
            used = 1;
            if (begin_frame(client, reader, reader->start, reader->n_start))
                reader->n_start = 0;
        } else if (!used) {
            used = begin_frame(client, reader, bytes, n);
            if (!used) {
                memcpy(reader->start, bytes, n);
                reader->n_start = (uint8_t)n;
                return;
            }
        }
        bytes += used;
        n -= used;
    }
}

static void read_some(struct client *client, struct reader *reader)
{
    ssize_t n = recv(reader->fd, client->buffer, READ_BYTES, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        die("the server closed a socket");
    client->n_bytes += (uint64_t)n;
    take_bytes(client, reader, (const uint8_t *)client->buffer, (size_t)n);
}

/* Reads until *at_count has reached all readers. */
static void read_until(struct client *client, const size_t *at_count, double until_s)
{
    struct epoll_event events[N_EVENTS];
    while (*at_count < client->n_readers) {
        int n = epoll_wait(client->epoll, events, N_EVENTS, 1000);
        for (int i = 0; i < n; i++)
            read_some(client, events[i].data.ptr);
        if (now_s() > until_s) {
            fprintf(stderr, "live-client: %zu of %zu sockets got there\n", *at_count,
                    client->n_readers);
            errno = 0;
            die("waiting");
        }
    }
}

/* --- rounds ---------------------------------------------------------------------------------- */

static void run_round(struct client *client, const char *line)
{
    client->n_frames = client->n_bytes = 0;
    client->n_over = 0;
    for (size_t i = 0; i < client->n_readers; i++)
        client->readers[i].is_over = false;
    double start = now_s(), cpu = cpu_s();
    send_text(client->readers[0].fd, line);
    read_until(client, &client->n_over, start + ROUND_S);
    printf(
        "{\"sockets\":%zu,\"frames\":%llu,\"bytes\":%llu,\"seconds\":%.4f,\"client_cpu_s\":%.4f}\n",
        client->n_readers, (unsigned long long)client->n_frames,
        (unsigned long long)client->n_bytes, now_s() - start, cpu_s() - cpu);
    fflush(stdout);
}

static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: live-client PORT PATH SOCKETS READY END [HELLO [KEY]]\n");
        return 2;
    }
    struct client client = {
        .port = (uint16_t)strtod(argv[1], NULL),
        .path = argv[2],
        .n_readers = (size_t)strtod(argv[3], NULL),
        .ready = argv[4],
        .end = argv[5],
        .hello = argc > 6 && argv[6][0] ? argv[6] : NULL,
        .key = argc > 7 ? argv[7] : NULL,
        .epoll = epoll_create1(EPOLL_CLOEXEC),
    };
    raise_limit();
    client.readers = pl_mem_alloc(client.n_readers, sizeof *client.readers);
    client.buffer = pl_mem_alloc(READ_BYTES, 1);
    if (!client.readers || !client.buffer || client.epoll < 0)
        die("cannot begin");
    memset(client.readers, 0, client.n_readers * sizeof *client.readers);
    for (size_t i = 0; i < client.n_readers; i++)
        open_reader(&client, &client.readers[i]);
    read_until(&client, &client.n_ready, now_s() + ROUND_S);
    puts("ready");
    fflush(stdout);
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, stdin)) > 0) {
        line[n - 1] = '\0';
        run_round(&client, line);
    }
    return 0;
}
