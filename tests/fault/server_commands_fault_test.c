/* Commands that talk to a server survive running out of memory at any point: exit code 4, no files
 * left. The server is a thread that always sends the same answer. */
#include "app/frame/commands.h"
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
static char url[sizeof dir + 24] = "unix:"; /* of the socket; its path after the scheme */
static char *path = url + sizeof "unix:" - 1;
static int listener;
static pthread_t thread;
static char message_id[64];

#define SESSION                                                                                    \
    "{\"id\":\"sess_1\",\"intent\":\"two\\nlines\",\"status\":\"completed\",\"model\":\"m\","      \
    "\"created_at\":\"2026-01-02T03:04:05.678Z\",\"updated_at\":\"2026-01-02T03:04:05.678Z\"}"

#define VERSION                                                                                    \
    "{\"prompt_id\":\"prompt_1\",\"version\":2,\"type\":\"structured\",\"content\":{\"protocol\":" \
    "\"structured-chat\",\"messages\":[{\"role\":\"user\",\"content\":\"a\\nb\"}]},\"note\":"      \
    "\"n\","                                                                                       \
    "\"variables\":[{\"name\":\"x\",\"required\":true}],\"created_at\":\"2026-01-02T03:04:05."     \
    "678Z\"}"
#define PROMPT                                                                                     \
    "{\"id\":\"prompt_1\",\"name\":\"one\",\"folder\":\"f\",\"tags\":[\"t\",\"u\"],\"labels\":{"   \
    "\"l\":1},"                                                                                    \
    "\"is_pinned\":true,\"latest_version\":2,\"updated_at\":\"2026-01-02T03:04:05.678Z\","         \
    "\"latest\":" VERSION "}"
#define MEMORY                                                                                     \
    "{\"id\":1,\"type\":\"feedback\",\"content\":\"a\\nb\",\"topic\":\"t\",\"hit_count\":0,"       \
    "\"created_at\":\"2026-01-02T03:04:05.678Z\"}"
#define TASK                                                                                       \
    "{\"id\":\"task_1\",\"title\":\"t\",\"prompt\":\"a\\nb\",\"cron\":\"@daily\",\"timezone\":"    \
    "\"UTC\","                                                                                     \
    "\"enabled\":true,\"next_run_at\":\"2026-01-02T03:04:05.678Z\"}"
#define BLOB                                                                                       \
    "{\"id\":\"blob_1\",\"sha256\":\"00\",\"size\":3,\"content_type\":\"text/"                     \
    "plain\",\"name\":\"n\","                                                                      \
    "\"url\":\"/api/blobs/blob_1\",\"created_at\":\"2026-01-02T03:04:05.678Z\"}"

static const struct {
    const char *request, *answer;
} answers[] = {
    {"GET /api/prompts/files",
     "{\"files\":[{\"path\":\"f/prompt.yaml\",\"text\":\"a\\nb\"}],\"next_cursor\":null}"},
    {"GET /api/prompts/prompt_1/versions/1/diff/2",
     "{\"is_same\":true,\"blocks\":[{\"id\":\"m\",\"role\":\"user\",\"change\":\"changed\","
     "\"words\":[{\"op\":\"same\",\"text\":\"a\\n\"},{\"op\":\"removed\",\"text\":\"b \"},"
     "{\"op\":\"added\",\"text\":\"c \"}]}],\"members\":[{\"pointer\":\"/x\",\"change\":"
     "\"changed\",\"from\":1,\"to\":2}]}"},
    {"GET /api/prompts/prompt_1/versions/2", VERSION},
    {"GET /api/prompts/prompt_1/versions", "{\"items\":[" VERSION "],\"total\":1}"},
    {"POST /api/prompts/prompt_1/versions", VERSION},
    {"POST /api/prompts/prompt_1/run",
     "{\"items\":[{\"model\":\"m\",\"session_id\":null,\"status\":\"completed\",\"text\":"
     "\"a\\nb\",\"error\":null}]}"},
    {"POST /api/prompts/import",
     "{\"items\":[{\"path\":\"p\",\"prompt_id\":\"prompt_1\",\"name\":\"n\",\"outcome\":"
     "\"created\"}],\"problems\":[]}"},
    {"GET /api/prompts/prompt_1", PROMPT},
    {"GET /api/prompts?", "{\"items\":[" PROMPT "],\"total\":1,\"next_cursor\":null}"},
    {"POST /api/prompts", PROMPT},
    {"POST /api/memories/batch", "{\"created\":[],\"updated\":[],\"deleted\":[]}"},
    {"POST /api/memories/search", "{\"items\":[" MEMORY "]}"},
    {"GET /api/memories/1", MEMORY},
    {"GET /api/memories", "{\"items\":[" MEMORY "],\"total\":1,\"next_cursor\":null}"},
    {"GET /api/scheduled-tasks/calendar",
     "{\"items\":[{\"task_id\":\"task_1\",\"title\":\"t\",\"at\":\"2026-01-02T03:04:05.678Z\","
     "\"local\":\"2026-01-02T03:04:05Z\",\"run\":{\"status\":\"completed\"}}],\"is_complete\":"
     "true}"},
    {"GET /api/scheduled-tasks/task_1", TASK},
    {"GET /api/scheduled-tasks", "{\"items\":[" TASK "],\"total\":1}"},
    {"POST /api/scheduled-tasks", TASK},
    {"GET /api/blobs/blob_1/info", BLOB},
    {"GET /api/blobs/blob_1", "bytes"},
    {"GET /api/blobs", "{\"items\":[" BLOB "],\"total\":1}"},
    {"POST /api/blobs", BLOB},
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
        code = pl_command_run(command, &console, &args);
    code = pl_console_finish(&console, code);
    pl_args_deinit(&args);
    pl_console_deinit(&console);
    return code;
}

/* Discards both outputs. */
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

/* One line per command line; FILE is a structured chat on the disk, DIR a directory. */
static const char *const library_lines[][10] = {
    {"prompt", "list", "--folder", "f", "-q", "x"},
    {"prompt", "show", "f/one"},
    {"prompt", "show", "prompt_1", "--raw", "--version", "2"},
    {"prompt", "versions", "prompt_1"},
    {"prompt", "diff", "prompt_1", "1", "2"},
    {"prompt", "new", "name", "--file", "FILE", "--tag", "a", "--note", "n"},
    {"prompt", "edit", "prompt_1", "--file", "FILE", "--json"},
    {"prompt", "run", "prompt_1", "--var", "a=b", "--model", "m", "--answer"},
    {"prompt", "export", "--all", "DIR", "--prune", "--json"},
    {"prompt", "import", "FILE", "--json"},
    {"memory", "list", "--topic", "t"},
    {"memory", "show", "1"},
    {"memory", "search", "words", "--limit", "3"},
    {"memory", "export"},
    {"memory", "import", "FILE", "--json"},
    {"task", "list"},
    {"task", "show", "task_1"},
    {"task", "calendar", "--from", "2026-01-01"},
    {"task", "new", "t", "--cron", "@daily", "--use", "one@l", "--var", "a=b"},
    {"task", "explain", "@daily"},
    {"blob", "list"},
    {"blob", "show", "blob_1"},
    {"blob", "add", "FILE"},
    {"blob", "get", "blob_1"},
};

static void commands_over_the_library_survive(void **state)
{
    (void)state;
    static const char chat[] = "{\"protocol\":\"structured-chat\",\"messages\":[{\"role\":\"user\","
                               "\"content\":\"a\"}],\"content\":\"a\"}";
    char file[sizeof dir + 16], kept[sizeof dir + 16], command[sizeof dir + 32];
    snprintf(file, sizeof file, "%s/chat.json", dir);
    snprintf(kept, sizeof kept, "%s/kept", dir);
    FILE *out = fopen(file, "we");
    assert_non_null(out);
    assert_int_equal(fwrite(chat, 1, sizeof chat - 1, out), sizeof chat - 1);
    assert_int_equal(fclose(out), 0);
    for (size_t i = 0; i < sizeof library_lines / sizeof *library_lines; i++) {
        const char *words[13] = {0};
        size_t n = 0;
        for (; library_lines[i][n]; n++) {
            const char *word = library_lines[i][n];
            words[n] = strcmp(word, "FILE") == 0 ? file : strcmp(word, "DIR") == 0 ? kept : word;
        }
        words[n++] = "--server";
        words[n++] = url;
        if (strcmp(words[1], "explain") == 0)
            words[n - 2] = NULL;
        assert_true(pl_fault_each(run_quietly, words) > 0);
    }
    unlink(file);
    snprintf(command, sizeof command, "rm -r %s", kept);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_survives),
        cmocka_unit_test(a_session_with_its_turns_survives),
        cmocka_unit_test(a_chat_that_is_followed_survives),
        cmocka_unit_test(a_list_of_keys_survives),
        cmocka_unit_test(commands_over_the_library_survive),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
