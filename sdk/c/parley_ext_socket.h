/* Remote extensions for Parley in C: a WebSocket for parley_ext.h. POSIX; compile with -pthread. Define
 * PARLEY_EXT_IMPLEMENTATION before you include it in one file of your program.
 *
 *     char why[PEXT_SOCKET_WHY];
 *     if (!pext_socket_open(NULL, NULL, why))          // PARLEY_EXT_URL and PARLEY_EXT_KEY
 *         return fprintf(stderr, "%s\n", why), 1;
 *     pext_run(argc, argv, tools, commands, hooks);
 *     int code = pext_socket_end(why);                 // the close code; 0: standard streams were used
 *
 * The socket replaces stdin and stdout: one thread converts received messages to lines and answers pings, another converts
 * the program's lines to messages. So parley_ext.h works the same way with both. For wss:// the program `openssl` makes the
 * connection and verifies the certificate; it must be installed. */
#ifndef PARLEY_EXT_SOCKET_H
#define PARLEY_EXT_SOCKET_H
#include <stdbool.h>

enum { PEXT_SOCKET_WHY = 512 };
/* NULL: from the environment; without an address it does nothing and returns true. False: `why` has the reason. */
bool pext_socket_open(const char *url, const char *key, char why[PEXT_SOCKET_WHY]);
/* To call after pext_run: returns the close code and, in `why`, the reason. */
int pext_socket_end(char why[PEXT_SOCKET_WHY]);

#endif
#ifdef PARLEY_EXT_IMPLEMENTATION
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PEXT_MOST = 8 << 20, PEXT_TEXT = 1, PEXT_CLOSE = 8, PEXT_PING, PEXT_PONG };
static struct {
    int fd;          /* of the socket, or of the TLS process */
    FILE *in;        /* the same, for reading */
    FILE *said;      /* the program's output lines */
    int to_program;  /* the program's input */
    bool is_closing; /* no frame is sent after a close */
    int code;
    char why[PEXT_SOCKET_WHY];
    pid_t tls; /* 0: none */
    pthread_mutex_t lock; /* for sending */
    pthread_t reader, writer;
} pext_ws = {.fd = -1, .code = 1006, .why = "the connection was cut", .lock = PTHREAD_MUTEX_INITIALIZER};

static bool pext_write(int fd, const void *bytes, size_t n) /* writes all bytes; false: the connection is cut */
{
    for (ssize_t done; n; bytes = (const char *)bytes + done, n -= (size_t)done)
        if ((done = write(fd, bytes, n)) < 0) {
            if (errno != EINTR)
                return false;
            done = 0;
        }
    return true;
}
static void pext_put(int kind, char *bytes, size_t n) /* sends a frame; masks its bytes in place, as a client must */
{
    unsigned char head[14] = {(unsigned char)(0x80 | kind)};
    size_t n_size = n < 126 ? 0 : n < 65536 ? 2 : 8, n_head = 2 + n_size;
    head[1] = (unsigned char)(0x80 | (n_size == 0 ? n : n_size == 2 ? 126 : 127));
    for (size_t i = 0; i < n_size; i++)
        head[2 + i] = (unsigned char)((uint64_t)n >> 8 * (n_size - 1 - i));
    if (getrandom(head + n_head, 4, 0) != 4)
        abort();
    for (size_t i = 0; i < n; i++)
        bytes[i] ^= (char)head[n_head + i % 4];
    pthread_mutex_lock(&pext_ws.lock);
    if (!pext_ws.is_closing && pext_write(pext_ws.fd, head, n_head + 4))
        pext_write(pext_ws.fd, bytes, n);
    pext_ws.is_closing |= kind == PEXT_CLOSE;
    pthread_mutex_unlock(&pext_ws.lock);
}
static void pext_goodbye(int code)
{
    pext_put(PEXT_CLOSE, (char[]){(char)(code >> 8), (char)code}, 2);
}
static bool pext_take_frame(char *data, size_t n_before, size_t *ret_n, int *ret_kind) /* *ret_kind: its first byte; false: the end */
{
    unsigned char head[10];
    if (fread(head, 1, 2, pext_ws.in) != 2)
        return false;
    size_t n_size = head[1] < 126 ? 0 : head[1] == 126 ? 2 : 8;
    uint64_t n = n_size ? 0 : head[1];
    if (fread(head + 2, 1, n_size, pext_ws.in) != n_size)
        return false;
    for (size_t i = 0; i < n_size; i++)
        n = n << 8 | head[2 + i];
    bool is_wrong = head[0] & 0x70 || head[1] & 0x80; /* no extension was negotiated, and a server must not mask */
    *ret_kind = head[0];
    size_t at = (head[0] & 15) <= PEXT_TEXT ? n_before : PEXT_MOST; /* message fragments; control frames may come between them */
    if (is_wrong || n > (at == PEXT_MOST ? 125 : PEXT_MOST - at))
        return pext_goodbye(is_wrong ? 1002 : 1009), false;
    *ret_n = (size_t)n;
    return fread(data + at, 1, *ret_n, pext_ws.in) == *ret_n;
}
static void *pext_read_socket(void *unused)
{
    char *data = malloc(PEXT_MOST + 126), *control = data + PEXT_MOST;
    size_t n_message = 0, n;
    int kind;
    while (data && pext_take_frame(data, n_message, &n, &kind)) {
        if ((kind & 15) == PEXT_PING)
            pext_put(PEXT_PONG, control, n);
        if ((kind & 15) == PEXT_CLOSE) {
            control[n] = '\0';
            pext_ws.code = n < 2 ? 1005 : (unsigned char)control[0] << 8 | (unsigned char)control[1];
            snprintf(pext_ws.why, sizeof pext_ws.why, "%s", n < 2 ? "" : control + 2);
            break;
        }
        n_message += (kind & 15) <= PEXT_TEXT ? n : 0;
        if ((kind & 15) > PEXT_TEXT || !(kind & 0x80))
            continue;
        for (size_t i = 0; i < n_message; i++) /* a frame is one line: line breaks between values become spaces */
            data[i] = data[i] == '\n' || data[i] == '\r' ? ' ' : data[i];
        data[n_message++] = '\n';
        pext_write(pext_ws.to_program, data, n_message);
        n_message = 0;
    }
    pext_goodbye(1000);
    shutdown(pext_ws.fd, SHUT_RDWR);
    close(pext_ws.to_program); /* ends the program's input */
    free(data);
    return unused;
}
static void *pext_read_program(void *unused)
{
    char *line = NULL;
    size_t size = 0;
    for (ssize_t n; (n = getline(&line, &size, pext_ws.said)) > 0;)
        pext_put(PEXT_TEXT, line, (size_t)n - (line[n - 1] == '\n'));
    pext_goodbye(1000);
    free(line);
    return unused;
}
static bool pext_no(char *why, const char *what, const char *more)
{
    snprintf(why, PEXT_SOCKET_WHY, "%.100s: %.400s", what, more);
    if (pext_ws.fd >= 0)
        close(pext_ws.fd);
    pext_ws.fd = -1;
    return false;
}
static void pext_base64(const unsigned char *bytes, size_t n, char *to)
{
    static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = bytes[i] << 16u | (i + 1 < n ? bytes[i + 1] : 0) << 8u | (i + 2 < n ? bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *to++ = i + k <= n ? signs[v >> (18 - 6 * k) & 63] : '=';
    }
    *to = '\0';
}
static void pext_accept(const char *nonce, char *to) /* the server's expected answer: SHA-1 of 60 bytes, two blocks */
{
    unsigned char block[129] = "", sum[20];
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, w[80];
    snprintf((char *)block, sizeof block, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11\x80", nonce);
    block[126] = 60 * 8 >> 8, block[127] = (60 * 8) & 255;
    for (const unsigned char *at = block; at < block + 128; at += 64) {
        uint32_t v[5];
        memcpy(v, h, sizeof v);
        for (size_t i = 0; i < 80; i++) {
            uint32_t x = i < 16 ? 0 : w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16];
            w[i] = i < 16 ? (uint32_t)at[4 * i] << 24 | at[4 * i + 1] << 16 | at[4 * i + 2] << 8 | at[4 * i + 3] : x << 1 | x >> 31;
            uint32_t f = i < 20 ? (v[1] & v[2]) | (~v[1] & v[3]) : i < 40 || i >= 60 ? v[1] ^ v[2] ^ v[3] : (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]);
            uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
            uint32_t next = (v[0] << 5 | v[0] >> 27) + f + v[4] + k + w[i];
            v[4] = v[3], v[3] = v[2], v[2] = v[1] << 30 | v[1] >> 2, v[1] = v[0], v[0] = next;
        }
        for (size_t i = 0; i < 5; i++)
            h[i] += v[i];
    }
    for (size_t i = 0; i < 20; i++)
        sum[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    pext_base64(sum, 20, to);
}
static void pext_connect_tls(const char *host, const char *port)
{
    int ends[2];
    char address[300];
    unsigned char ip[16];
    bool is_v6 = strchr(host, ':'), is_ip = is_v6 || inet_pton(AF_INET, host, ip) == 1;
    snprintf(address, sizeof address, "%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) || (pext_ws.tls = fork()) < 0)
        return;
    if (!pext_ws.tls) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not notice by itself that this process ended */
        dup2(ends[1], STDIN_FILENO), dup2(ends[1], STDOUT_FILENO);
        execlp("openssl", "openssl", "s_client", "-quiet", "-verify_return_error", is_ip ? "-verify_ip" : "-verify_hostname", host, "-connect", address,
               is_ip ? "-noservername" : "-servername", is_ip ? NULL : host, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    pext_ws.fd = ends[0];
}
static bool pext_connect(const char *host, const char *port, char *why)
{
    struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (getaddrinfo(host, port, &hints, &list))
        return pext_no(why, host, "no such host");
    for (struct addrinfo *at = list; at && pext_ws.fd < 0; at = at->ai_next)
        if ((pext_ws.fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0)) >= 0 && connect(pext_ws.fd, at->ai_addr, at->ai_addrlen))
            pext_no(why, host, strerror(errno));
    freeaddrinfo(list);
    return pext_ws.fd >= 0 && !setsockopt(pext_ws.fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}
/* Reports a refusal: its status, and the detail of its problem if there is one. */
static bool pext_refused(char *status, size_t n_body, char *why)
{
    char body[4096];
    body[fread(body, 1, n_body < sizeof body ? n_body : sizeof body - 1, pext_ws.in)] = '\0';
    char *detail = strstr(body, "\"detail\":\"");
    status[strcspn(status, "\r\n")] = '\0';
    return pext_no(why, *status ? status : "no answer", detail ? strtok(detail + 10, "\"") : "the server did not let it in");
}
static bool pext_shake_hands(const char *host, const char *path, const char *key, char *why)
{
    unsigned char random[16];
    char nonce[25], wanted[29], status[512] = "", line[4096];
    bool is_accepted = false, is_ours = false;
    size_t n_body = 0;
    if (getrandom(random, 16, 0) != 16 || !(pext_ws.in = fdopen(pext_ws.fd, "r")))
        return pext_no(why, host, "out of memory");
    pext_base64(random, 16, nonce);
    pext_accept(nonce, wanted);
    int n = snprintf(line, sizeof line, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: pi.ext.v1\r\nAuthorization: Bearer %s\r\n\r\n", path, host, nonce, key);
    if (n < 0 || (size_t)n >= sizeof line || !pext_write(pext_ws.fd, line, (size_t)n) || !fgets(status, sizeof status, pext_ws.in))
        return pext_no(why, host, "no answer");
    while (fgets(line, sizeof line, pext_ws.in) && *line != '\r' && *line != '\n') {
        line[strcspn(line, "\r\n")] = '\0';
        char *value = line + strcspn(line, ":"), *at = *value ? value + 1 + strspn(value + 1, " ") : value;
        *value = '\0';
        is_accepted |= strcasecmp(line, "Sec-WebSocket-Accept") == 0 && strcmp(at, wanted) == 0;
        is_ours |= strcasecmp(line, "Sec-WebSocket-Protocol") == 0 && strcmp(at, "pi.ext.v1") == 0;
        n_body = strcasecmp(line, "Content-Length") == 0 ? strtoul(at, NULL, 10) : n_body;
    }
    if (strncmp(status, "HTTP/1.1 101", 12) != 0)
        return pext_refused(status, n_body, why);
    return (is_accepted && is_ours) || pext_no(why, host, "this is no server of Parley: its handshake is wrong");
}
bool pext_socket_open(const char *url, const char *key, char why[PEXT_SOCKET_WHY])
{
    char host[256] = "", port[8] = "", authority[270] = "";
    int in[2], out[2];
    if (!(url = url ? url : getenv("PARLEY_EXT_URL")) || !*url)
        return true;
    if (!(key = key ? key : getenv("PARLEY_EXT_KEY")) || strpbrk(key, " \r\n"))
        return pext_no(why, "PARLEY_EXT_KEY", "there is no key, or one that cannot be");
    const char *at = strstr(url, "://"), *path;
    bool is_tls = strncmp(url, "wss:", 4) == 0 || strncmp(url, "https:", 6) == 0;
    at = at && (is_tls || strncmp(url, "ws:", 3) == 0 || strncmp(url, "http:", 5) == 0) ? at + 3 : "";
    bool is_v6 = *at == '[';
    snprintf(authority, sizeof authority, "%.*s", (int)strcspn(at, "/"), at);
    size_t n = strcspn(at += is_v6, is_v6 ? "]" : ":/");
    snprintf(host, sizeof host, "%.*s", (int)n, at);
    at += n + (is_v6 && at[n] == ']');
    size_t n_port = *at == ':' ? strspn(++at, "0123456789") : 0;
    snprintf(port, sizeof port, "%.*s", n_port ? (int)n_port : 3, n_port ? at : is_tls ? "443" : "80");
    path = at[n_port] && strcmp(at + n_port, "/") != 0 ? at + n_port : "/api/extensions/connect";
    if (!*host || *host == '-' || *path != '/' || strpbrk(url, " \r\n@#"))
        return pext_no(why, url, "not an address of a server, such as wss://parley.example.com");
    signal(SIGPIPE, SIG_IGN);
    if (is_tls)
        pext_connect_tls(host, port);
    if ((is_tls ? pext_ws.fd < 0 : !pext_connect(host, port, why)) || !pext_shake_hands(authority, path, key, why))
        return false;
    if (pipe(in) || pipe(out) || !(pext_ws.said = fdopen(out[0], "r")) || dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
        return pext_no(why, "pipe", strerror(errno));
    close(in[0]), close(out[1]);
    pext_ws.to_program = in[1];
    return (!pthread_create(&pext_ws.reader, NULL, pext_read_socket, NULL) && !pthread_create(&pext_ws.writer, NULL, pext_read_program, NULL)) ||
           pext_no(why, "pthread_create", "no thread");
}
int pext_socket_end(char why[PEXT_SOCKET_WHY])
{
    if (pext_ws.fd < 0)
        return 0;
    fclose(stdout); /* end of the output: both threads end */
    pthread_join(pext_ws.writer, NULL);
    pthread_join(pext_ws.reader, NULL);
    fclose(pext_ws.said), fclose(pext_ws.in);
    if (pext_ws.tls)
        kill(pext_ws.tls, SIGTERM), waitpid(pext_ws.tls, NULL, 0);
    memcpy(why, pext_ws.why, PEXT_SOCKET_WHY);
    return pext_ws.code;
}
#endif
