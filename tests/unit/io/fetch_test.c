/* Fetching from a small server on loopback, which is reachable only by a configured name. A table
 * resolves names; no server listens at the global addresses of the tests. */
#include "unit/io/turning.h"

#include "io/fetch/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- the server ------------------------------------------------------------------------------ */

static struct {
    int fd;
    unsigned port;
    pthread_t thread;
    atomic_int n_heard;
    char heard[2048]; /* the last request; read after its answer */
} server;

static void say(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

/* gzip of n zeros has this beginning and end, with a run of zeros between. */
static void say_bomb(int fd)
{
    static const unsigned char head[] = {0x1f, 0x8b, 0x08, 0,    0,    0,    0,   0, 2,
                                         3,    0xed, 0xc1, 0x31, 1,    0,    0,   0, 0xc2,
                                         0xa0, 0xf5, 0x4f, 0x6d, 0x08, 0x5f, 0xa0};
    static const unsigned char tail[] = {0x3e, 0x03, 0x1c, 0xea, 0x38, 0xa7, 0, 0, 0x10, 0};
    unsigned char bytes[1051] = {0};
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof bytes - sizeof tail, tail, sizeof tail);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1051\r\n\r\n");
    (void)!write(fd, bytes, sizeof bytes);
}

/* Answers until the client disconnects. */
static void say_slowly(int fd)
{
    char byte;
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    while (recv(fd, &byte, 1, MSG_DONTWAIT) != 0) {
        if (send(fd, ".", 1, MSG_NOSIGNAL) != 1)
            break;
        usleep(20000);
    }
}

static void answer(int fd, const char *path)
{
    char text[1024];
    if (strncmp(path, "/to?", 4) == 0) {
        snprintf(text, sizeof text,
                 "HTTP/1.1 302 Found\r\nLocation: %.*s\r\nContent-Length: 3\r\n\r\nno.",
                 (int)strcspn(path + 4, " "), path + 4);
        say(fd, text);
    } else if (strncmp(path, "/hello ", 7) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
                "Content-Length: 5\r\n\r\nhello");
    } else if (strncmp(path, "/loop ", 6) == 0) {
        say(fd, "HTTP/1.1 307 Again\r\nLocation: loop\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(path, "/long ", 6) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0123456789");
    } else if (strncmp(path, "/promised ", 10) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n0");
    } else if (strncmp(path, "/cut ", 5) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123");
    } else if (strncmp(path, "/bomb ", 6) == 0) {
        say_bomb(fd);
    } else if (strncmp(path, "/slow ", 6) == 0) {
        say_slowly(fd);
    } else if (strncmp(path, "/head ", 6) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 1000; i++)
            say(fd,
                "X-Filler: 0123456789012345678901234567890123456789012345678901234567890123456789"
                "\r\n");
        say(fd, "Content-Length: 0\r\n\r\n");
    } else {
        say(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
    }
}

static void *serve(void *ctx)
{
    (void)ctx;
    for (int fd; (fd = accept(server.fd, NULL, NULL)) >= 0; close(fd)) {
        size_t n = 0;
        ssize_t got = 1;
        while (got > 0 && n < sizeof server.heard - 1) {
            got = read(fd, server.heard + n, sizeof server.heard - 1 - n);
            n += got > 0 ? (size_t)got : 0;
            server.heard[n] = '\0';
            if (strstr(server.heard, "\r\n\r\n"))
                break;
        }
        atomic_fetch_add(&server.n_heard, 1);
        if (strncmp(server.heard, "GET ", 4) == 0)
            answer(fd, server.heard + 4);
    }
    return NULL;
}

static struct pl_loop *loop;
static struct pl_workers *workers;

static int start(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server.fd < 0 || bind(server.fd, (struct sockaddr *)&address, size) ||
        listen(server.fd, 16) || getsockname(server.fd, (struct sockaddr *)&address, &size))
        return 1;
    server.port = ntohs(address.sin_port);
    loop = make_loop();
    if (pl_workers_create(2, &workers, NULL) != PL_OK)
        return 1;
    return pthread_create(&server.thread, NULL, serve, NULL);
}

static int stop(void **state)
{
    (void)state;
    shutdown(server.fd, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.fd);
    pl_workers_destroy(workers);
    pl_loop_destroy(loop);
    return 0;
}

/* --- names ----------------------------------------------------------------------------------- */

#define NOBODY "2620:4f:8000::1" /* global, without a web server */
#define EIGHT                                                                                      \
    NOBODY "\n" NOBODY "\n" NOBODY "\n" NOBODY "\n" NOBODY "\n" NOBODY "\n" NOBODY "\n" NOBODY "\n"

static const struct {
    const char *name, *first, *later;
} names[] = {
    {"files.test", "127.0.0.1", "127.0.0.1"},
    {"other.test", "127.0.0.1", "127.0.0.1"},
    {"turning.test", "127.0.0.1", "127.0.0.9"},
    {"rebind.test", NOBODY, "127.0.0.1"},
    {"global.test", NOBODY, NOBODY},
    {"private.test", "10.0.0.5", "10.0.0.5"},
    {"mixed.test", NOBODY "\n10.0.0.1", NOBODY "\n10.0.0.1"},
    {"mixed6.test", "fd00::1\n" NOBODY, "fd00::1\n" NOBODY},
    {"empty.test", "", ""},
    {"crowd.test", EIGHT EIGHT EIGHT EIGHT NOBODY, NOBODY},
    {"inner-crowd.test", "10.0.0.1\n" EIGHT EIGHT EIGHT EIGHT, NOBODY},
    {"odd.test", "0x7f.1", "0x7f.1"},
    {"localhost", "127.0.0.1\n::1", "127.0.0.1"},
    {"a.localhost", "127.0.0.1", "127.0.0.1"},
    {"xn--bcher-kva.test", "192.168.1.1", "192.168.1.1"},
};

struct asked {
    atomic_size_t n; /* times a name was resolved */
};

static enum pl_status resolve(void *ctx, struct pl_str host, struct pl_buf *to,
                              struct pl_error *err)
{
    struct asked *asked = ctx;
    bool is_first = atomic_fetch_add(&asked->n, 1) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_str_eq(host, pl_str_of(names[i].name))) {
            pl_buf_adds(to, is_first ? names[i].first : names[i].later);
            return PL_OK;
        }
    return pl_fail(err, PL_NOT_FOUND, "there is no such name");
}

/* --- one fetch ------------------------------------------------------------------------------- */

struct result {
    enum pl_status status;
    struct pl_error err;
    int http_status;
    char body[64], type[64], url[256];
    size_t n_body, n_asked;
    int n_heard;
};

static void copy_text(char *to, size_t size, struct pl_str text)
{
    snprintf(to, size, "%.*s", PL_STR_ARG(text));
}

/* '$' in the URL means the server's port. */
static struct pl_str with_port(const char *text, struct pl_buf *to)
{
    for (; *text; text++) {
        if (*text == '$')
            pl_buf_addf(to, "%u", server.port);
        else
            pl_buf_addc(to, *text);
    }
    return pl_buf_str(to);
}

/* A fetch in progress. */
struct fetching {
    struct result r;
    struct pl_buf body, url;
    struct pl_fetch *fetch; /* NULL after its end */
    bool is_over;
};

static void on_bytes(void *ctx, struct pl_str bytes)
{
    struct fetching *f = ctx;
    pl_buf_add(&f->body, bytes);
}

static void on_end(void *ctx, enum pl_status status, const struct pl_fetched *fetched,
                   const struct pl_error *err)
{
    struct fetching *f = ctx;
    f->is_over = true;
    f->fetch = NULL;
    f->r.status = status;
    f->r.n_body = f->body.len;
    copy_text(f->r.body, sizeof f->r.body, pl_buf_str(&f->body));
    if (status == PL_OK) {
        f->r.http_status = fetched->status;
        copy_text(f->r.type, sizeof f->r.type, fetched->content_type);
        copy_text(f->r.url, sizeof f->r.url, fetched->url);
    } else {
        f->r.err = *err;
        assert_true(err->message[0]);
    }
}

static const struct pl_fetch_ops ops = {on_bytes, on_end};

static void begin(struct fetching *f, const char *text, uint64_t owner,
                  const struct pl_fetch_rules *rules)
{
    struct pl_fetch_from from = {.loop = loop, .workers = workers, .owner = owner};
    *f = (struct fetching){0};
    pl_buf_init(&f->body, 0);
    pl_buf_init(&f->url, 0);
    f->fetch = pl_fetch_start(&from, with_port(text, &f->url), rules, &ops, f);
    assert_non_null(f->fetch);
    assert_false(f->is_over);
}

static void deinit(struct fetching *f)
{
    pl_buf_deinit(&f->body);
    pl_buf_deinit(&f->url);
}

static struct result fetch_with(const char *text, struct pl_fetch_rules rules)
{
    struct asked asked = {0};
    struct fetching f;
    int n_heard = atomic_load(&server.n_heard);
    rules.resolve = resolve;
    rules.ctx = &asked;
    begin(&f, text, 1, &rules);
    turn_until(loop, is_true, &f.is_over);
    f.r.n_heard = atomic_load(&server.n_heard) - n_heard;
    f.r.n_asked = asked.n;
    deinit(&f);
    return f.r;
}

/* files.test is allowed with the server's port, turning.test with any. */
static struct result fetch(const char *text)
{
    char files[64];
    const char *const allowed[] = {files, "Turning.test"};
    snprintf(files, sizeof files, "files.test:%u", server.port);
    return fetch_with(text, (struct pl_fetch_rules){.allowed = allowed, .n_allowed = 2});
}

/* --- fetched URLs ---------------------------------------------------------------------------- */

static void a_named_host_is_fetched(void **state)
{
    (void)state;
    struct result r = fetch("http://FILES.test:$/hello#part");
    assert_int_equal(r.status, PL_OK);
    assert_int_equal(r.http_status, 200);
    assert_string_equal(r.body, "hello");
    assert_string_equal(r.type, "text/plain; charset=utf-8");
    assert_int_equal(r.n_asked, 1);
    assert_int_equal(r.n_heard, 1);
    assert_non_null(strstr(server.heard, "GET /hello HTTP/1.1\r\n"));
    assert_non_null(strstr(server.heard, "Host: files.test:"));
    assert_null(strstr(server.heard, "Cookie"));
    assert_null(strstr(server.heard, "Authorization"));
}

static void a_name_may_end_in_a_dot(void **state)
{
    (void)state;
    assert_int_equal(fetch("http://files.test.:$/hello").status, PL_OK);
}

static void redirects_are_followed_and_the_last_url_is_told(void **state)
{
    (void)state;
    struct result r = fetch("http://files.test:$/to?/to?hello");
    assert_int_equal(r.status, PL_OK);
    assert_string_equal(r.body, "hello");
    assert_int_equal(r.n_asked, 3); /* each hop is resolved again */
    assert_int_equal(r.n_heard, 3);
    assert_non_null(strstr(r.url, "/hello"));
}

static void a_proxy_of_the_environment_is_not_asked(void **state)
{
    (void)state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    struct result r = fetch("http://files.test:$/hello");
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    assert_int_equal(r.status, PL_OK);
}

static void an_address_may_be_allowed_in_any_spelling(void **state)
{
    (void)state;
    const char *const allowed[] = {"127.1"};
    struct pl_fetch_rules rules = {.allowed = allowed, .n_allowed = 1};
    struct result r = fetch_with("http://0x7f000001:$/hello", rules);
    assert_int_equal(r.status, PL_OK);
    assert_int_equal(r.n_asked, 0);
    assert_int_equal(fetch_with("http://other.test:$/hello", rules).status, PL_INVALID);
}

static void an_allowed_port_is_that_port_only(void **state)
{
    (void)state;
    const char *const allowed[] = {"files.test:80", "other.test:443"};
    struct pl_fetch_rules rules = {.allowed = allowed, .n_allowed = 2};
    assert_int_equal(fetch_with("http://files.test:$/hello", rules).status, PL_INVALID);
    assert_int_equal(fetch_with("https://files.test/hello", rules).status, PL_INVALID);
    assert_int_equal(fetch_with("http://other.test/hello", rules).status, PL_INVALID);
}

static void what_is_no_host_cannot_be_allowed(void **state)
{
    (void)state;
    static const char *const good[] = {"files.intranet", "files.intranet:8080", "10.0.0.5:80",
                                       "[::1]",          "[::1]:443",           "127.1"};
    static const char *const bad[] = {"",        "http://x", "x/y", "x/",  "a@x",  "x:y",
                                      "x:70000", "x y",      "*",   "x?y", "[::1", "10.0.0.0/8"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(pl_fetch_is_host(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pl_fetch_is_host(bad[i]))
            fail_msg("\"%s\" is taken for a host", bad[i]);
}

/* --- refused URLs ---------------------------------------------------------------------------- */

/* URLs, each with a word of the reason. */
static const struct {
    const char *url, *word;
} refused[] = {
    {"http://10.0.0.1:$/hello", "private"},
    {"http://192.168.1.1/", "private"},
    {"http://172.16.5.5/", "private"},
    {"http://127.0.0.1:$/hello", "loopback"},
    {"http://127.255.1.2:$/hello", "loopback"},
    {"http://169.254.169.254/latest/meta-data/", "link-local"},
    {"http://100.64.0.1/", "shared"},
    {"http://0.0.0.0:$/hello", "unspecified"},
    {"http://224.0.0.1/", "multicast"},
    {"http://255.255.255.255/", "broadcast"},
    {"http://[::1]:$/hello", "loopback"},
    {"http://[::]:$/hello", "unspecified"},
    {"http://[fe80::1]/", "link-local"},
    {"http://[fd00::1]/", "private"},
    {"http://[::ffff:127.0.0.1]:$/hello", "loopback"},
    {"http://[::ffff:7f00:1]:$/hello", "loopback"},
    {"http://[::127.0.0.1]:$/hello", "loopback"},
    {"http://[2002:7f00:1::]:$/hello", "loopback"},
    {"http://[64:ff9b::7f00:1]:$/hello", "loopback"},
    {"http://[64:ff9b::10.0.0.1]/", "private"},
    {"http://2130706433:$/hello", "loopback"},
    {"http://0x7f000001:$/hello", "loopback"},
    {"http://0x7f.0.0.1:$/hello", "loopback"},
    {"http://017700000001:$/hello", "loopback"},
    {"http://0177.0.0.1:$/hello", "loopback"},
    {"http://127.1:$/hello", "loopback"},
    {"http://127.0.0.1.:$/hello", "loopback"},
    {"http://%31%32%37.1:$/hello", "loopback"},
    {"http://\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.1:$/hello", "loopback"},
    {"http://localhost:$/hello", "no public host"},
    {"http://LOCALHOST.:$/hello", "no public host"},
    {"http://a.localhost:$/hello", "no public host"},
    {"http://private.test/", "no public host"},
    {"http://mixed.test/", "no public host"},
    {"http://mixed6.test/", "no public host"},
    {"http://b\xC3\xBC"
     "cher.test/",
     "no public host"},
    {"http://files.test:1/hello", "another protocol"},
    {"http://files.test:8/hello", "no public host"}, /* allowed only with another port */
    {"http://other.test:$/hello", "no public host"},
    {"http://good.example@127.0.0.1:$/hello", "before the host"},
    {"http://a:b@files.test:$/hello", "before the host"},
    {"http://127.0.0.1:$#@files.test/", "loopback"},
    {"http://127.0.0.1:$\\@files.test/", "loopback"},
    {"http://files.test:$@127.0.0.1:$/", "before the host"},
    {"http://global.test:25/", "another protocol"},
    {"http://global.test:6667/", "another protocol"},
    {"ftp://files.test:$/hello", "ftp"},
    {"file:///etc/passwd", "file"},
    {"gopher://files.test:$/x", "gopher"},
    {"data:text/plain,hello", "data"},
    {"javascript:alert(1)", "javascript"},
    {"http://[::1", "IPv6"},
    {"http:///", "host"},
};

static void internal_places_are_not_fetched_however_they_are_spelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct result r = fetch(refused[i].url);
        if (r.status != PL_INVALID || r.n_heard || !strstr(r.err.message, refused[i].word))
            fail_msg("%s: status %d, %d requests, %s", refused[i].url, r.status, r.n_heard,
                     r.err.message);
    }
}

static void a_redirect_leads_to_none_of_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char url[512] = "http://files.test:$/to?";
        /* The server returns the text after '?' unchanged, so '#' would not pass the parser. */
        if (strpbrk(refused[i].url, "#\\") || (unsigned char)refused[i].url[7] >= 0x80)
            continue;
        strncat(url, refused[i].url, sizeof url - strlen(url) - 1);
        struct result r = fetch(url);
        if (r.status != PL_INVALID || r.n_heard != 1 || !strstr(r.err.message, refused[i].word))
            fail_msg("%s: status %d, %d requests, %s", url, r.status, r.n_heard, r.err.message);
    }
}

static void what_is_checked_is_what_is_asked(void **state)
{
    (void)state;
    /* A second lookup would lead to the server; it never happens. */
    struct result r =
        fetch_with("http://rebind.test:$/hello", (struct pl_fetch_rules){.total_ms = 300});
    assert_true(r.status == PL_NOT_FOUND || r.status == PL_LIMIT);
    assert_int_equal(r.n_asked, 1);
    assert_int_equal(r.n_heard, 0);
    /* Here a second lookup would lead away from the server. */
    r = fetch("http://turning.test:$/hello");
    assert_int_equal(r.status, PL_OK);
    assert_int_equal(r.n_asked, 1);
}

static void names_of_the_operator_are_told_when_they_are_not_there(void **state)
{
    (void)state;
    static const char *const allowed[] = {"nowhere.test", "empty.test", "odd.test"};
    struct pl_fetch_rules rules = {.allowed = allowed, .n_allowed = 3};
    for (size_t i = 0; i < 3; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://%s/", allowed[i]);
        struct result r = fetch_with(url, rules);
        assert_int_equal(r.status, PL_NOT_FOUND);
        assert_int_equal(r.n_heard, 0);
    }
    assert_int_equal(fetch("http://turning.test:9999/").status, PL_NOT_FOUND);
}

static void a_name_with_too_many_addresses_is_refused(void **state)
{
    (void)state;
    struct result r = fetch("http://crowd.test/");
    assert_int_equal(r.status, PL_INVALID);
    assert_non_null(strstr(r.err.message, "more than 32 addresses"));
}

static void the_system_is_asked_when_nobody_else_is(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_fetch_rules rules = {0};
    struct pl_error err = {0};
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_fetch_check(&arena, PL_STR("http://localhost/"), &rules, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "no public host"));
}

static void rules_can_be_asked_without_fetching(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct asked asked = {0};
    struct pl_fetch_rules rules = {.resolve = resolve, .ctx = &asked};
    int n_heard = atomic_load(&server.n_heard);
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_fetch_check(&arena, PL_STR("http://global.test/x"), &rules, NULL), PL_OK);
    assert_int_equal(pl_fetch_check(&arena, PL_STR("http://private.test/x"), &rules, NULL),
                     PL_INVALID);
    assert_int_equal(atomic_load(&server.n_heard), n_heard);
}

/* A refusal does not reveal what an internal name points to, whether a server listens there, or
 * whether the name exists. */
static void internal_and_unknown_names_are_refused_in_the_same_words(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://private.test/",        "http://private.test:$/hello", "http://other.test:$/hello",
        "http://other.test:8/",        "http://localhost:$/",         "http://mixed.test/",
        "http://mixed6.test/",         "http://inner-crowd.test/",    "http://nowhere.test/",
        "http://nowhere.test:$/hello", "http://empty.test/",          "http://odd.test/"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct result r = fetch(urls[i]);
        const char *host = urls[i] + strlen("http://");
        size_t n_host = strcspn(host, ":/");
        assert_int_equal(r.status, PL_INVALID);
        assert_int_equal(r.n_heard, 0);
        assert_memory_equal(r.err.message, host, n_host);
        assert_string_equal(
            r.err.message + n_host,
            " is not fetched: there is no public host of this name; an operator can "
            "allow it with --allow-fetch");
    }
}

/* --- name servers that do not answer --------------------------------------------------------- */

static sem_t silence, is_asked;

static enum pl_status say_nothing(void *ctx, struct pl_str host, struct pl_buf *to,
                                  struct pl_error *err)
{
    sem_post(&is_asked);
    while (sem_wait(&silence) != 0)
        ;
    return resolve(ctx, host, to, err);
}

static void await_question(void)
{
    while (sem_wait(&is_asked) != 0)
        ;
}

static void a_silent_name_server_ends_the_fetch_at_its_time_and_holds_up_nobody_else(void **state)
{
    (void)state;
    enum { N = 6 };
    struct fetching silent[N];
    static struct asked asked; /* outlives the cancelled fetches */
    struct pl_fetch_rules rules = {.resolve = say_nothing, .ctx = &asked, .total_ms = 300};
    sem_init(&silence, 0, 0);
    sem_init(&is_asked, 0, 0);
    for (int i = 0; i < N; i++)
        begin(&silent[i], "http://files.test:$/hello", 7, &rules);
    for (int i = 0; i < 4; i++) /* the maximum number of threads per owner */
        while (sem_trywait(&is_asked) != 0)
            turn_for(loop, 1);
    assert_int_equal(fetch("http://files.test:$/hello").status, PL_OK);
    for (int i = 0; i < N; i++) {
        turn_until(loop, is_true, &silent[i].is_over);
        assert_int_equal(silent[i].r.status, PL_LIMIT);
        assert_non_null(strstr(silent[i].r.err.message, "files.test is too slow"));
        deinit(&silent[i]);
    }
    for (int i = 0; i < N; i++)
        sem_post(&silence);
}

static void a_fetch_that_is_cancelled_tells_nothing_more(void **state)
{
    (void)state;
    struct fetching f;
    static struct asked asked;
    const char *const allowed[] = {"files.test"};
    struct pl_fetch_rules rules = {
        .resolve = resolve, .ctx = &asked, .allowed = allowed, .n_allowed = 1};
    int n_heard = atomic_load(&server.n_heard);
    begin(&f, "http://files.test:$/hello", 1, &rules); /* before its first step */
    pl_fetch_cancel(f.fetch);
    deinit(&f);
    rules.resolve = say_nothing;
    sem_init(&silence, 0, 0);
    sem_init(&is_asked, 0, 0);
    begin(&f, "http://files.test:$/hello", 1, &rules); /* during the lookup of its name */
    turn_for(loop, 1);
    await_question();
    pl_fetch_cancel(f.fetch);
    sem_post(&silence);
    turn_for(loop, 20);
    assert_false(f.is_over);
    deinit(&f);
    assert_int_equal(atomic_load(&server.n_heard), n_heard);
    rules.resolve = resolve;
    begin(&f, "http://files.test:$/slow", 1, &rules); /* in the middle of the body */
    while (!f.body.len)
        turn_for(loop, 1);
    pl_fetch_cancel(f.fetch);
    assert_false(f.is_over);
    deinit(&f);
}

static void a_paused_fetch_goes_on_where_it_was(void **state)
{
    (void)state;
    struct fetching f;
    struct asked asked = {0};
    const char *const allowed[] = {"files.test"};
    struct pl_fetch_rules rules = {
        .resolve = resolve, .ctx = &asked, .allowed = allowed, .n_allowed = 1};
    begin(&f, "http://files.test:$/bomb", 1, &rules);
    pl_fetch_pause(f.fetch, true);
    turn_for(loop, 50);
    assert_false(f.is_over);
    pl_fetch_pause(f.fetch, false);
    turn_until(loop, is_true, &f.is_over);
    assert_int_equal(f.r.status, PL_OK);
    assert_int_equal(f.r.n_body, 1 << 20);
    deinit(&f);
}

/* --- caps ------------------------------------------------------------------------------------ */

static void redirects_end_after_three(void **state)
{
    (void)state;
    struct result r = fetch("http://files.test:$/loop");
    assert_int_equal(r.status, PL_LIMIT);
    assert_int_equal(r.n_heard, 4);
    assert_int_equal(fetch("http://files.test:$/to?/to?/to?/hello").status, PL_OK);
    assert_int_equal(fetch("http://files.test:$/to?/to?/to?/to?/hello").status, PL_LIMIT);
}

static struct result fetch_capped(const char *url, int64_t max_bytes, int64_t total_ms)
{
    const char *const allowed[] = {"files.test"};
    return fetch_with(
        url, (struct pl_fetch_rules){
                 .allowed = allowed, .n_allowed = 1, .max_bytes = max_bytes, .total_ms = total_ms});
}

static void an_answer_has_at_most_so_many_bytes(void **state)
{
    (void)state;
    assert_int_equal(fetch_capped("http://files.test:$/long", 10, 0).status, PL_OK);
    assert_int_equal(fetch_capped("http://files.test:$/long", 9, 0).status, PL_LIMIT);
    assert_int_equal(fetch_capped("http://files.test:$/promised", 0, 0).status, PL_LIMIT);
    assert_int_equal(fetch_capped("http://files.test:$/head", 0, 0).status, PL_LIMIT);
}

static void what_is_inflated_counts_as_it_is_then(void **state)
{
    (void)state;
    struct result r = fetch_capped("http://files.test:$/bomb", 1 << 20, 0);
    assert_int_equal(r.status, PL_OK);
    assert_int_equal(r.n_body, 1 << 20);
    assert_int_equal(fetch_capped("http://files.test:$/bomb", (1 << 20) - 1, 0).status, PL_LIMIT);
    assert_int_equal(fetch_capped("http://files.test:$/bomb", 2000, 0).status, PL_LIMIT);
}

static void a_slow_answer_is_given_up(void **state)
{
    (void)state;
    int64_t before_ms = pl_clock_ms();
    struct result r = fetch_capped("http://files.test:$/slow", 0, 200);
    assert_int_equal(r.status, PL_LIMIT);
    assert_non_null(strstr(r.err.message, "slow"));
    assert_true(pl_clock_ms() - before_ms >= 200);
}

static void an_answer_that_is_no_2xx_or_breaks_off_is_a_failure(void **state)
{
    (void)state;
    struct result r = fetch("http://files.test:$/none");
    assert_int_equal(r.status, PL_IO);
    assert_non_null(strstr(r.err.message, "404"));
    assert_int_equal(fetch("http://files.test:$/cut").status, PL_IO);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* the server sends more than the client reads */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_named_host_is_fetched),
        cmocka_unit_test(a_name_may_end_in_a_dot),
        cmocka_unit_test(redirects_are_followed_and_the_last_url_is_told),
        cmocka_unit_test(a_proxy_of_the_environment_is_not_asked),
        cmocka_unit_test(an_address_may_be_allowed_in_any_spelling),
        cmocka_unit_test(an_allowed_port_is_that_port_only),
        cmocka_unit_test(what_is_no_host_cannot_be_allowed),
        cmocka_unit_test(internal_places_are_not_fetched_however_they_are_spelled),
        cmocka_unit_test(a_redirect_leads_to_none_of_them),
        cmocka_unit_test(what_is_checked_is_what_is_asked),
        cmocka_unit_test(names_of_the_operator_are_told_when_they_are_not_there),
        cmocka_unit_test(a_name_with_too_many_addresses_is_refused),
        cmocka_unit_test(the_system_is_asked_when_nobody_else_is),
        cmocka_unit_test(rules_can_be_asked_without_fetching),
        cmocka_unit_test(internal_and_unknown_names_are_refused_in_the_same_words),
        cmocka_unit_test(a_silent_name_server_ends_the_fetch_at_its_time_and_holds_up_nobody_else),
        cmocka_unit_test(a_fetch_that_is_cancelled_tells_nothing_more),
        cmocka_unit_test(a_paused_fetch_goes_on_where_it_was),
        cmocka_unit_test(redirects_end_after_three),
        cmocka_unit_test(an_answer_has_at_most_so_many_bytes),
        cmocka_unit_test(what_is_inflated_counts_as_it_is_then),
        cmocka_unit_test(a_slow_answer_is_given_up),
        cmocka_unit_test(an_answer_that_is_no_2xx_or_breaks_off_is_a_failure),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
