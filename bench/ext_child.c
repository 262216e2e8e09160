/* An extension that measures the host from inside, and the bare pipe for comparison.
 *
 * usage: ext-child ID            as an extension: the tool `measure_ID` runs what its input says
 *        ext-child echo N        two processes and two pipes: N round trips, p50 in microseconds
 *
 * It matches the protocol by its exact text: our host writes compact JSON in one order, and a
 * figure must not include the time of a parser. Both modes send lines of the same length. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 10000, CREDITS = 512 };

static double times_us[MOST];
static double seen_us[MOST]; /* arrival times of the last MOST hooks */
static size_t n_seen;
static char *line;
static size_t cap;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t n)
{
    qsort(times_us, n, sizeof *times_us, by_value);
    return n ? times_us[n / 2] : 0;
}

static bool next_line(void)
{
    return getline(&line, &cap, stdin) > 0;
}

/* Copies the string after "KEY":" in the line; "" if there is none. */
static void text_of(const char *key, char *to, size_t size)
{
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\":\"", key);
    const char *at = strstr(line, mark);
    size_t n = at ? strcspn(at + strlen(mark), "\"") : 0;
    snprintf(to, size, "%.*s", (int)n, at ? at + strlen(mark) : "");
}

/* Reads a whole number up to the first other character. */
static size_t number(const char *text)
{
    size_t n = 0;
    for (; *text >= '0' && *text <= '9' && n < MOST; text++)
        n = n * 10 + (size_t)(*text - '0');
    return n;
}

static size_t number_of(const char *key)
{
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\":", key);
    const char *at = strstr(line, mark);
    return at ? number(at + strlen(mark)) : 0;
}

/* --- the bare pipe ---------------------------------------------------------------------------- */

static int echo(size_t n)
{
    static const char said[] =
        "{\"id\":\"x1\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
        "\"m00001\","
        "\"capability\":\"env\",\"method\":\"env\",\"params\":{\"name\":\"BENCH\"}}}\n";
    int to[2], from[2];
    char bytes[512];
    if (pipe(to) || pipe(from) || n > MOST)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        ssize_t got;
        close(to[1]);
        while ((got = read(to[0], bytes, sizeof bytes)) > 0)
            if (write(from[1], bytes, (size_t)got) != got)
                _exit(1);
        _exit(0);
    }
    for (size_t i = 0; i < n; i++) {
        double begin = now_us();
        if (write(to[1], said, sizeof said - 1) != sizeof said - 1 ||
            read(from[0], bytes, sizeof bytes) <= 0)
            return 1;
        times_us[i] = now_us() - begin;
    }
    close(to[1]);
    waitpid(child, NULL, 0);
    printf("%.3f\n", median(n));
    return 0;
}

/* --- the extension ---------------------------------------------------------------------------- */

/* True if the line is the result of this call. Answers a hook that comes meanwhile. */
static bool is_result(const char *call_id)
{
    char mark[64], id[128];
    if (strstr(line, "\"type\":\"event_hook\"") && strstr(line, "\"event\":\"tool_call\"")) {
        seen_us[n_seen++ % MOST] = now_us();
        text_of("id", id, sizeof id);
        printf("{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
               "\"tool_"
               "call\",\"data\":{}}}\n",
               id);
        fflush(stdout);
        return false;
    }
    snprintf(mark, sizeof mark, "\"call_id\":\"%s\"", call_id);
    return strstr(line, "\"type\":\"host_result\"") && strstr(line, mark);
}

static size_t measure_calls(const char *capability, const char *method, const char *params,
                            size_t n)
{
    static size_t n_ever;
    char call_id[32], said[512];
    for (size_t i = 0; i < n; i++) {
        snprintf(call_id, sizeof call_id, "m%05zu", n_ever++);
        int n_said = snprintf(said, sizeof said,
                              "{\"id\":\"x1\",\"version\":\"1.0\",\"type\":\"host_call\","
                              "\"payload\":{\"call_id\":\"%s\","
                              "\"capability\":\"%s\",\"method\":\"%s\",\"params\":%s}}\n",
                              call_id, capability, method, params);
        /* Like the bare pipe: one write, one read, and the clock around them. */
        double begin = now_us();
        if (write(STDOUT_FILENO, said, (size_t)n_said) != n_said || !next_line())
            exit(1);
        times_us[i] = now_us() - begin;
        while (!is_result(call_id)) { /* something else came first */
            if (!next_line())
                exit(1);
            times_us[i] = now_us() - begin;
        }
        if (strstr(line, "\"is_error\":true"))
            return 0;
    }
    return n;
}

/* Reads a file in pieces, with credits; returns MB/s. */
static double measure_stream(const char *path)
{
    double begin = now_us();
    size_t n_bytes = 0, n_chunks = 0;
    printf("{\"id\":\"x1\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":\"s%"
           ".0f\","
           "\"capability\":\"read\",\"method\":\"fs\",\"params\":{\"op\":\"read\",\"path\":\"%s\","
           "\"stream\":{\"credits\":%d}},\"timeout_ms\":120000}}\n",
           begin, path, CREDITS);
    fflush(stdout);
    while (next_line()) {
        if (!strstr(line, "\"type\":\"host_result\""))
            continue;
        if (strstr(line, "\"is_error\":true"))
            return 0;
        n_bytes += strlen(line);
        if (strstr(line + strlen(line) - 300 * (strlen(line) > 300), "\"is_last\":true") ||
            strstr(line, "\"is_last\":true"))
            break;
        if (++n_chunks % (CREDITS / 2) == 0) {
            printf(
                "{\"id\":\"x2\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
                "\"stream.credit\",\"data\":{\"call_id\":\"s%.0f\",\"credits\":%d}}}\n",
                begin, CREDITS / 2);
            fflush(stdout);
        }
    }
    return (double)n_bytes / (now_us() - begin);
}

/* Sends frames of a megabyte, as many as the quota allows, until nobody reads. */
static void flood(void)
{
    enum { N = 1 << 20 };
    static char fill[N];
    memset(fill, 'x', N - 1);
    for (size_t i = 0;; i++) {
        if (printf(
                "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
                "\"f%zu\",\"capability\":\"env\",\"method\":\"env\",\"params\":{\"name\":\"%s\"}}}"
                "\n",
                i, fill) < 0)
            return;
        fflush(stdout);
        usleep(22000);
    }
}

/* Writes the hooks before the last `skip` ones, newest first. */
static void write_seen(size_t skip, char *to, size_t size)
{
    enum { N = 20 };
    size_t len = 0;
    for (size_t i = 0; i < N && skip + i < n_seen && len < size; i++)
        len += (size_t)snprintf(to + len, size - len, "%s%.1f", i ? " " : "",
                                seen_us[(n_seen - 1 - skip - i) % MOST]);
}

static void run_tool(void)
{
    char call_id[128], id[128], what[32], text[1024] = "failed";
    text_of("call_id", call_id, sizeof call_id);
    text_of("id", id, sizeof id);
    text_of("do", what, sizeof what);
    size_t n = number_of("n");
    n = n < MOST ? n : MOST;
    if (strcmp(what, "calls") == 0 && measure_calls("env", "env", "{\"name\":\"BENCH\"}", n))
        snprintf(text, sizeof text, "%.3f", median(n));
    else if (strcmp(what, "stream") == 0)
        snprintf(text, sizeof text, "%.1f", measure_stream("big.txt"));
    else if (strcmp(what, "seen") == 0)
        write_seen(n, text, sizeof text);
    else if (strcmp(what, "nothing") == 0)
        snprintf(text, sizeof text, "0");
    else if (strcmp(what, "flood") == 0)
        flood();
    if (strcmp(text, "failed") == 0) {
        char why[100];
        text_of("message", why, sizeof why);
        snprintf(text, sizeof text, "failed: %s", why);
    }
    printf("{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"tool_result\",\"payload\":{\"call_id\":"
           "\"%s\","
           "\"output\":{\"text\":\"%s\"},\"is_error\":%s}}\n",
           id, call_id, text, text[0] == 'f' ? "true" : "false");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "echo") == 0)
        return echo(number(argv[2]));
    if (argc < 2)
        return 2;
    const char *hooks = argc > 2 ? "\"tool_call\"" : "";
    printf(
        "{\"id\":\"r\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{\"name\":\"%s\","
        "\"version\":"
        "\"1.0.0\",\"api_version\":\"1.0\",\"capability_manifest\":{\"schema\":"
        "\"pi.ext.cap.v1\",\"capabilities\":[{\"capability\":\"read\"},{\"capability\":\"tool\"},{"
        "\"capability\":\"session\"},{\"capability\":\"log\"},{\"capability\":\"env\",\"scope\":{"
        "\"env\":["
        "\"BENCH\"]}}]},\"tools\":[{\"name\":\"measure_%s\",\"description\":\"Measures.\","
        "\"parameters\":{"
        "\"type\":\"object\"},\"timeout_ms\":120000}],\"event_hooks\":[%s]}}\n",
        argv[1], argv[1], hooks);
    fflush(stdout);
    while (next_line()) {
        if (strstr(line, "\"type\":\"tool_call\""))
            run_tool();
        else
            (void)is_result("");
    }
    return 0;
}
