/* Opening sockets, and adopting them from systemd. */
#include "io/net/conn.h"
#include "unit/io/turning.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/parley-socket-test-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/socket", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void a_free_port_is_found_and_a_taken_one_is_named(void **state)
{
    (void)state;
    struct pl_socket first, second = {.fd = -7};
    struct pl_error err = {0};
    assert_int_equal(pl_socket_listen_tcp("127.0.0.1", 0, &first, &err), PL_OK);
    assert_true(first.port > 0);
    assert_false(first.is_unix);
    assert_int_equal(pl_socket_listen_tcp("127.0.0.1", first.port, &second, &err), PL_IO);
    char port[16];
    snprintf(port, sizeof port, "port %u", first.port);
    assert_non_null(strstr(err.message, port));
    assert_non_null(strstr(err.message, "in use"));
    assert_int_equal(second.fd, -7);
    pl_socket_close(&first);
}

static void names_and_version_6_addresses_are_understood(void **state)
{
    (void)state;
    struct pl_socket socket;
    struct pl_error err = {0};
    assert_int_equal(pl_socket_listen_tcp("localhost", 0, &socket, &err), PL_OK);
    pl_socket_close(&socket);
    if (access("/proc/net/if_inet6", R_OK) == 0) {
        assert_int_equal(pl_socket_listen_tcp("::1", 0, &socket, &err), PL_OK);
        assert_true(socket.port > 0);
        pl_socket_close(&socket);
    }
    assert_int_equal(pl_socket_listen_tcp("no.such.host.invalid", 0, &socket, &err), PL_IO);
    assert_non_null(strstr(err.message, "no.such.host.invalid"));
    assert_int_equal(pl_socket_listen_tcp("192.0.2.1", 0, &socket, &err), PL_IO);
    assert_non_null(strstr(err.message, "192.0.2.1"));
}

static bool is_seen;
static struct pl_peer peer;

static void note_peer(void *ctx, struct pl_conn *conn)
{
    (void)ctx;
    pl_conn_peer(conn, &peer);
    is_seen = true;
    pl_conn_close(conn);
}

static void accept_one(const struct pl_socket *socket)
{
    struct pl_loop *loop = make_loop();
    struct pl_listener *listener;
    struct pl_listener_config config = {.socket = socket, .on_accept = note_peer};
    is_seen = false;
    assert_int_equal(pl_listener_start(loop, &config, &listener, NULL), PL_OK);
    turn_until(loop, is_true, &is_seen);
    pl_loop_destroy(loop);
}

static int connect_to(const char *to)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", to);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void a_unix_socket_is_private_and_knows_its_own_user(void **state)
{
    (void)state;
    struct pl_socket socket;
    struct pl_error err = {0};
    assert_int_equal(pl_socket_listen_unix(path, &socket, &err), PL_OK);
    assert_true(socket.is_unix);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    int fd = connect_to(path);
    accept_one(&socket);
    assert_string_equal(peer.address, "unix");
    assert_true(peer.is_local_user);
    close(fd);
    pl_socket_close(&socket);
}

static void a_dead_unix_socket_is_replaced_and_a_live_one_is_not(void **state)
{
    (void)state;
    struct pl_socket first, second;
    struct pl_error err = {0};
    assert_int_equal(pl_socket_listen_unix(path, &first, &err), PL_OK);
    assert_int_equal(pl_socket_listen_unix(path, &second, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, path));
    pl_socket_close(&first); /* the file stays, as after a crash */
    assert_int_equal(pl_socket_listen_unix(path, &second, &err), PL_OK);
    pl_socket_close(&second);
    unlink(path);
}

static void a_file_in_the_way_of_a_unix_socket_is_left_alone(void **state)
{
    (void)state;
    struct pl_socket socket;
    struct pl_error err = {0};
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(pl_socket_listen_unix(path, &socket, &err), PL_CONFLICT);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    char nowhere[96];
    snprintf(nowhere, sizeof nowhere, "%s/none/socket", dir);
    assert_int_equal(pl_socket_listen_unix(nowhere, &socket, &err), PL_IO);
    char too_long[200];
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    assert_int_equal(pl_socket_listen_unix(too_long, &socket, &err), PL_USAGE);
}

static void accepted_sockets_send_at_once(void **state)
{
    (void)state;
    struct pl_socket socket_;
    assert_int_equal(pl_socket_listen_tcp("127.0.0.1", 0, &socket_, NULL), PL_OK);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(socket_.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof to), 0);
    int fd = accept(socket_.fd, NULL, NULL), on = 0;
    socklen_t size = sizeof on;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    assert_int_equal(on, 1);
    close(fd);
    close(client);
    pl_socket_close(&socket_);
}

/* --- systemd ---------------------------------------------------------------------------------- */

/* Runs in its own process, where descriptors 3 and 4 may be moved. */
static int adopt_in_child(int tcp_fd, int unix_fd, uint16_t port)
{
    char pid[24];
    struct pl_socket sockets[4];
    struct pl_error err = {0};
    size_t n = 9;
    dup2(tcp_fd, 103);
    dup2(unix_fd, 104);
    dup2(103, 3);
    dup2(104, 4);
    setenv("LISTEN_FDS", "2", 1);
    setenv("LISTEN_PID", "1", 1);
    if (pl_socket_from_systemd(sockets, 4, &n, &err) != PL_OK || n != 0)
        return 1; /* for another process */
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    if (pl_socket_from_systemd(sockets, 1, &n, &err) != PL_LIMIT || n != 0)
        return 2;
    if (pl_socket_from_systemd(sockets, 4, &n, &err) != PL_OK || n != 2)
        return 3;
    if (sockets[0].fd != 3 || sockets[0].is_unix || sockets[0].port != port)
        return 4;
    if (sockets[1].fd != 4 || !sockets[1].is_unix || !(fcntl(4, F_GETFD) & FD_CLOEXEC) ||
        !(fcntl(4, F_GETFL) & O_NONBLOCK))
        return 5;
    dup2(STDERR_FILENO, 4);
    if (pl_socket_from_systemd(sockets, 4, &n, &err) != PL_IO || !strstr(err.message, "4"))
        return 6;
    setenv("LISTEN_FDS", "two", 1);
    return pl_socket_from_systemd(sockets, 4, &n, &err) == PL_OK && n == 0 ? 0 : 7;
}

static void sockets_of_systemd_are_taken_over(void **state)
{
    (void)state;
    struct pl_socket tcp, local;
    assert_int_equal(pl_socket_listen_tcp("127.0.0.1", 0, &tcp, NULL), PL_OK);
    assert_int_equal(pl_socket_listen_unix(path, &local, NULL), PL_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(adopt_in_child(tcp.fd, local.fd, tcp.port));
    int code = -1;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
    pl_socket_close(&tcp);
    pl_socket_close(&local);
    unlink(path);
}

static void systemd_is_told_where_it_listens(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    pl_systemd_notify("READY=1"); /* no notify socket */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    pl_systemd_notify("READY=1");
    char text[64] = {0};
    assert_int_equal(recv(fd, text, sizeof text, 0), 7);
    assert_string_equal(text, "READY=1");
    close(fd);
    pl_systemd_notify("STOPPING=1"); /* nobody listens any more */
    unsetenv("NOTIFY_SOCKET");
    unlink(path);
}

static void the_limit_of_descriptors_goes_up_to_the_hard_one(void **state)
{
    (void)state;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit low = {.rlim_cur = 64, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    assert_int_equal(pl_fd_limit_raise(), limit.rlim_max);
    getrlimit(RLIMIT_NOFILE, &low);
    assert_int_equal(low.rlim_cur, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_port_is_found_and_a_taken_one_is_named),
        cmocka_unit_test(names_and_version_6_addresses_are_understood),
        cmocka_unit_test(a_unix_socket_is_private_and_knows_its_own_user),
        cmocka_unit_test(a_dead_unix_socket_is_replaced_and_a_live_one_is_not),
        cmocka_unit_test(a_file_in_the_way_of_a_unix_socket_is_left_alone),
        cmocka_unit_test(accepted_sockets_send_at_once),
        cmocka_unit_test(sockets_of_systemd_are_taken_over),
        cmocka_unit_test(systemd_is_told_where_it_listens),
        cmocka_unit_test(the_limit_of_descriptors_goes_up_to_the_hard_one),
    };
    return cmocka_run_group_tests_name("io/socket", tests, set_up, tear_down);
}
