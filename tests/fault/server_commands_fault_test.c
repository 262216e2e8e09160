/* Commands that talk to a server survive running out of memory at any point: exit code 4, nothing
 * left behind. The server is a thread that says the same every time. */
#include "app/commands.h"
#include "fault/fault.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/parley-commands-fault-XXXXXX";
static char url[sizeof dir + 24] = "unix:"; /* of the socket; its path behind the scheme */
static char *path = url + sizeof "unix:" - 1;
static int listener;
static pthread_t thread;
static char message_id[64];

#define SESSION                                                                                    \
    "{\"id\":\"sess_1\",\"intent\":\"two\\nlines\",\"status\":\"completed\",\"model\":\"m\","      \
    "\"created_at\":\"2026-01-02T03:04:05.678Z\",\"updated_at\":\"2026-01-02T03:04:05.678Z\"}"

static const struct {
    const char *request, *answer;
} answers[] = {
    {"GET /healthz", "{\"status\":\"ok\"}"},
    {"GET /api/sessions/sess_1/messages",
     "[{\"turn_id\":\"turn_1\",\"role\":\"assistant\",\"kind\":\"message\",\"status\":\"failed\","
     "\"blocks\":[{\"type\":\"text\",\"content\":\"a\\nb\"}],\"tool_calls\":[{\"id\":\"tc_1\","
     "\"tool_name\":\"look\",\"arguments\":\"{\\\"a\\\":1}\",\"status\":\"done\",\"result\":[1]}],"
     "\"started_at\":\"2026-01-02T03:04:05.678Z\"}]"},
    {"POST /api/sessions/sess_1/chat", "{\"queued\":false}"},
    {"GET /api/sessions/sess_1", SESSION},
    {"GET /api/sessions?", "{\"items\":[" SESSION "],\"total\":1}"},
    {"GET /api/user/api-keys",
     "{\"items\":[{\"id\":\"key_1\",\"name\":\"a\\tb\",\"masked\":\"sk-...1234\",\"created_at\":"
     "\"2026-01-02T03:04:05.678Z\",\"last_used_at\":null}],\"total\":1}"},
};

static const char events[] =
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    "event: chat:start\ndata: {\"sequence\":5,\"client_message_id\":\"%s\"}\n\n"
    "event: turn:start\ndata: {\"sequence\":6,\"turn\":{\"turn_id\":\"turn_2\"}}\n\n"
    "event: turn:patch\ndata: {\"sequence\":7,\"turn_id\":\"turn_2\",\"loop_id\":\"root\","
    "\"patch_type\":\"add_content\",\"data\":{\"type\":\"text\",\"text_delta\":\"a\\nb\","
    "\"block_index\":0}}\n\n"
    "event: turn:end\ndata: {\"sequence\":8,\"turn\":{\"turn_id\":\"turn_2\",\"loop_id\":\"root\","
    "\"role\":\"assistant\",\"blocks\":[{\"type\":\"text\",\"content\":\"a\\nb c\"}]}}\n\n"
    "event: chat:end\ndata: {\"sequence\":9,\"status\":\"completed\"}\n\n";

static void keep_message_id(const char *request)
{
    const char *mark = strstr(request, "\"client_message_id\":\"");
    if (mark)
        snprintf(message_id, sizeof message_id, "%.36s", mark + strlen("\"client_message_id\":\""));
}

static void answer(int fd, const char *request)
{
    char text[4096] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    keep_message_id(request);
    if (strncmp(request, "GET /api/sessions/sess_1/events", 31) == 0)
        snprintf(text, sizeof text, events, message_id);
    else
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
            if (strncmp(request, answers[i].request, strlen(answers[i].request)) == 0) {
                snprintf(text, sizeof text,
                         "HTTP/1.1 200 OK\r\nX-Stream-Position: 1:4\r\nContent-Length: %zu\r\n"
                         "Connection: close\r\n\r\n%s",
                         strlen(answers[i].answer), answers[i].answer);
                break;
            }
    (void)!write(fd, text, strlen(text));
}

static bool is_whole(const char *request)
{
    const char *end = strstr(request, "\r\n\r\n");
    return end && (!strstr(request, "Content-Length") || request[strlen(request) - 1] == '}');
}

static void *serve(void *ctx)
{
    (void)ctx;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        char request[4096] = "";
        size_t n = 0;
        ssize_t got;
        while (!is_whole(request) && (got = read(fd, request + n, sizeof request - 1 - n)) > 0)
            n += (size_t)got;
        answer(fd, request);
    }
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!mkdtemp(dir))
        return -1;
    snprintf(url, sizeof url, "unix:%s/parley.sock", dir);
    memcpy(address.sun_path, path, strlen(path) + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 16) != 0)
        return -1;
    return pthread_create(&thread, NULL, serve, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    unlink(path);
    return rmdir(dir);
}

static enum pl_exit run(char *const *words)
{
    const struct pl_command *command = pl_command_find(words[0]);
    struct pl_console console;
    struct pl_args args;
    struct pl_error err = {0};
    int n = 0;
    while (words[n + 1])
        n++;
    pl_console_init(&console);
    enum pl_exit code = PL_EXIT_FAILED;
    if (pl_args_parse(&args, command->options, n, words + 1, &err) == PL_OK)
        code = command->run(&console, &args);
    code = pl_console_finish(&console, code);
    pl_args_deinit(&args);
    pl_console_deinit(&console);
    return code;
}

/* With both outputs thrown away. */
static enum pl_status run_quietly(void *ctx)
{
    fflush(stdout);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    enum pl_exit code = run(ctx);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(null);
    close(out);
    close(err);
    return code == PL_EXIT_OK ? PL_OK : code == PL_EXIT_FAILED ? PL_NOMEM : PL_INTERNAL;
}

static void a_list_survives(void **state)
{
    (void)state;
    char *words[] = {"session", "list", "--limit", "5", "--server", url, NULL};
    assert_true(pl_fault_each(run_quietly, words) > 0);
}

static void a_session_with_its_turns_survives(void **state)
{
    (void)state;
    char *words[] = {"session", "show", "sess_1", "--server", url, NULL};
    assert_true(pl_fault_each(run_quietly, words) > 0);
}

static void a_chat_that_is_followed_survives(void **state)
{
    (void)state;
    char *words[] = {"session", "chat", "sess_1", "hello", "--server", url, NULL};
    assert_true(pl_fault_each(run_quietly, words) > 0);
}

static void a_list_of_keys_survives(void **state)
{
    (void)state;
    char *words[] = {"key", "list", "--server", url, NULL};
    assert_true(pl_fault_each(run_quietly, words) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_survives),
        cmocka_unit_test(a_session_with_its_turns_survives),
        cmocka_unit_test(a_chat_that_is_followed_survives),
        cmocka_unit_test(a_list_of_keys_survives),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
