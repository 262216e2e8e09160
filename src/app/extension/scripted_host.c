/* The scripted host: starts the process, exchanges lines over two pipes, and answers the
 * extension's calls. */
#include "app/extension/scripted_host.h"

#include "extproto/manifest.h"
#include "io/clock.h"
#include "io/file/file.h"
#include "io/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- the process ------------------------------------------------------------------------------ */

/* The command with /ext/ replaced by the directory of the copy. */
static const char *const *place_command(struct pl_scripted *host, struct pl_ext_source *source)
{
    const char *const *argv = NULL;
    size_t n = 0;
    if (pl_ext_package_command(&source->arena, &source->package, &argv, NULL) != PL_OK)
        return NULL;
    while (argv[n])
        n++;
    const char **placed = pl_arena_zalloc(&source->arena, n + 1, sizeof *placed);
    for (size_t i = 0; placed && i < n; i++) {
        bool is_inside = strncmp(argv[i], "/ext/", 5) == 0;
        placed[i] =
            is_inside ? pl_ext_source_text(source, "%s/%s", host->dir, argv[i] + 5) : argv[i];
        if (!placed[i])
            return NULL;
    }
    return (const char *const *)placed;
}

static bool open_pipe(int ends[2])
{
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static enum pl_exit spawn_child(struct pl_scripted *host, const char *const *argv)
{
    int to[2], from[2];
    struct pl_error err = {0};
    if (!open_pipe(to))
        return pl_deed_stop(host->deed, PL_IO);
    if (!open_pipe(from)) {
        close(to[0]), close(to[1]);
        return pl_deed_stop(host->deed, PL_IO);
    }
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (!error) {
        error = posix_spawn_file_actions_adddup2(&actions, to[0], 0);
        if (!error)
            error = posix_spawn_file_actions_adddup2(&actions, from[1], 1);
        if (!error)
            error = posix_spawnp(&host->pid, argv[0], &actions, NULL,
                                 (char *const *)(uintptr_t)argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(to[0]), close(from[1]);
    host->in = to[1], host->out = from[0];
    if (!error)
        return PL_EXIT_OK;
    host->pid = 0;
    enum pl_status status = pl_fail(&err, error == ENOENT ? PL_NOT_FOUND : PL_IO,
                                    "%s cannot be started: %s", argv[0], strerror(error));
    return pl_deed_fail(host->deed, status, &err);
}

enum pl_exit pl_scripted_start(struct pl_scripted *host, struct pl_deed *deed,
                               struct pl_ext_source *source)
{
    struct pl_error err = {0};
    char data[PATH_MAX], hash[PL_EXT_HASH_SIZE];
    host->deed = deed;
    host->in = host->out = -1;
    host->package = source->package;
    pl_arena_init(&host->arena, 0);
    pl_buf_init(&host->heard, 0);
    pl_buf_init(&host->line, 0);
    if (source->package.runtime == PL_EXT_RUNTIME_REMOTE)
        return pl_deed_usage(deed,
                             "\"%.*s\" runs elsewhere (runtime \"remote\"), so there is nothing "
                             "to start here; add it, and start it where it runs",
                             PL_STR_ARG(source->package.id));
    enum pl_status status = pl_ext_codec_create(&host->codec, &err);
    if (status == PL_OK)
        status = pl_ext_tree_hash(&source->arena, &source->tree, hash);
    if (status == PL_OK)
        status = pl_temp_dir_make(data, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    snprintf(host->dir, sizeof host->dir, "%s", data);
    status = pl_ext_tree_store(data, source->package.id, &source->tree, hash, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    int n = snprintf(host->dir, sizeof host->dir, "%s/extensions/%.*s/%s", data,
                     PL_STR_ARG(source->package.id), hash);
    if (n < 0 || (size_t)n >= sizeof host->dir)
        return pl_deed_stop(deed, PL_LIMIT);
    const char *const *argv = place_command(host, source);
    return argv ? spawn_child(host, argv) : pl_deed_stop(deed, PL_NOMEM);
}

static void remove_copy(struct pl_scripted *host)
{
    char *end = strstr(host->dir, "/extensions/");
    if (!host->dir[0])
        return;
    if (end)
        *end = '\0';
    pl_ext_tree_sweep(host->dir, host->package.id, NULL);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/extensions", host->dir);
    rmdir(path);
    rmdir(host->dir);
    host->dir[0] = '\0';
}

void pl_scripted_stop(struct pl_scripted *host)
{
    if (!host->deed)
        return;
    if (host->pid) {
        kill(host->pid, SIGKILL);
        (void)waitpid(host->pid, NULL, 0);
    }
    if (host->in >= 0)
        close(host->in);
    if (host->out >= 0)
        close(host->out);
    remove_copy(host);
    pl_ext_codec_destroy(host->codec);
    pl_buf_deinit(&host->heard);
    pl_buf_deinit(&host->line);
    pl_arena_deinit(&host->arena);
    *host = (struct pl_scripted){0};
}

/* --- its time --------------------------------------------------------------------------------- */

/* A limit on the time that the extension takes. Time spent waiting for a processor does not count,
 * so that a good extension passes on a busy machine. */
struct limit {
    int64_t begun_ms, delayed_ms, limit_ms;
};

/* Time it has waited for a processor since it began; 0 if the kernel does not count it. */
static int64_t delayed_ms(const struct pl_scripted *host)
{
    char path[40], text[100];
    long long n_ran = 0, n_waited = 0; /* nanoseconds */
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)host->pid);
    PL_CLEANUP_FILE struct pl_file file = {0};
    if (pl_file_read(path, sizeof text - 1, NULL, &file, NULL) != PL_OK)
        return 0;
    memcpy(text, file.bytes.ptr, file.bytes.len);
    text[file.bytes.len] = 0;
    return sscanf(text, "%lld %lld", &n_ran, &n_waited) == 2 ? n_waited / 1000000 : 0;
}

static struct limit limit_of(const struct pl_scripted *host, int64_t limit_ms)
{
    return (struct limit){pl_clock_ms(), delayed_ms(host), limit_ms};
}

static int64_t left_ms(const struct pl_scripted *host, const struct limit *limit)
{
    int64_t passed_ms = pl_clock_ms() - limit->begun_ms;
    if (passed_ms < limit->limit_ms)
        return limit->limit_ms - passed_ms;
    return limit->limit_ms - passed_ms + delayed_ms(host) - limit->delayed_ms;
}

bool pl_scripted_close(struct pl_scripted *host, int64_t limit_ms)
{
    struct limit limit = limit_of(host, limit_ms);
    close(host->in);
    host->in = -1;
    for (;;) {
        pid_t pid = waitpid(host->pid, NULL, WNOHANG);
        if (pid == host->pid || (pid < 0 && errno != EINTR)) {
            host->pid = 0;
            return true;
        }
        if (left_ms(host, &limit) <= 0)
            return false;
        poll(NULL, 0, 10);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

void pl_scripted_complain(struct pl_scripted *host, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    host->n_complaints++;
    host->complain(host, text);
}

/* Takes a line from the received bytes, as a copy in the arena. False if none is complete. */
static bool take_line(struct pl_scripted *host, struct pl_str *ret_line)
{
    const char *end = host->heard.len ? memchr(host->heard.ptr, '\n', host->heard.len) : NULL;
    if (!end)
        return false;
    size_t n = (size_t)(end - host->heard.ptr);
    *ret_line = pl_arena_dup(&host->arena, pl_str_slice(pl_buf_str(&host->heard), 0, n));
    memmove(host->heard.ptr, end + 1, host->heard.len - n - 1);
    host->heard.len -= n + 1;
    return true;
}

/* Reads available bytes even after the limit: only their absence is a timeout. */
static enum pl_status fill(struct pl_scripted *host, const struct limit *limit)
{
    int64_t left = left_ms(host, limit);
    struct pollfd wait = {.fd = host->out, .events = POLLIN};
    char *room = pl_buf_reserve(&host->heard, 65536);
    if (!room)
        return PL_NOMEM;
    if (poll(&wait, 1, left <= 0 ? 0 : left > 1000000 ? 1000000 : (int)left) == 0)
        return left_ms(host, limit) > 0 ? PL_OK : PL_NOT_FOUND;
    ssize_t n = read(host->out, room, 65536);
    if (n < 0 && errno == EINTR)
        return PL_OK;
    if (n <= 0)
        return PL_IO;
    host->heard.len += (size_t)n;
    return PL_OK;
}

static enum pl_status hear(struct pl_scripted *host, const struct limit *limit,
                           struct pl_ext_frame *ret_frame)
{
    for (;;) {
        struct pl_str line;
        struct pl_ext_fault fault = {0};
        if (!take_line(host, &line)) {
            enum pl_status status = fill(host, limit);
            if (status != PL_OK)
                return status;
            continue;
        }
        enum pl_status status = pl_ext_frame_read(host->codec, &host->arena, line,
                                                  PL_EXT_FROM_CHILD, ret_frame, &fault);
        if (status != PL_INVALID)
            return status;
        pl_scripted_complain(host, "a line is no frame (%s): %s%s%s: %.*s",
                             pl_ext_code_text(fault.code), fault.err.message,
                             fault.err.pointer[0] ? " at " : "", fault.err.pointer,
                             PL_STR_ARG(pl_str_slice(line, 0, 120)));
    }
}

struct pl_str pl_scripted_say(struct pl_scripted *host, enum pl_ext_type type, const char *payload)
{
    char id[24];
    struct pl_error err = {0};
    snprintf(id, sizeof id, "host-%u", ++host->n_said);
    pl_buf_clear(&host->line);
    pl_buf_addf(&host->line,
                "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"%s\",\"payload\":{%s}}\n", id,
                pl_ext_type_text(type), payload);
    /* Ignores a failure: the next read reports it. */
    if (host->line.status == PL_OK && host->in >= 0)
        (void)pl_fd_write(host->in, pl_buf_str(&host->line), &err);
    return pl_arena_dup(&host->arena, pl_str_of(id));
}

/* --- calls of the extension ------------------------------------------------------------------- */

static struct pl_str member(struct pl_scripted *host, const struct pl_ext_frame *frame,
                            const char *name)
{
    struct pl_str text = PL_STR("");
    if (pl_ext_frame_text(&host->arena, frame, name, &text) != PL_OK)
        return PL_STR("");
    return text;
}

/* A canned result for a call of the extension: an empty file, a page without text, the first
 * answer. */
static const char *canned(struct pl_str method, enum pl_ext_capability capability)
{
    static const struct {
        const char *method, *output;
    } outputs[] = {
        {"fs", "{\"content\":\"\",\"size\":0,\"type\":\"file\",\"mtime\":0,\"entries\":[]}"},
        {"tool", "{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}"},
        {"exec",
         "{\"stdout\":\"\",\"stderr\":\"\",\"code\":0,\"killed\":false,\"truncated\":false}"},
        {"http", "{\"status\":200,\"url\":\"\",\"headers\":{},\"body\":\"\",\"size_bytes\":0,"
                 "\"duration_ms\":0}"},
        {"ui", "{\"value\":\"\",\"dismissed\":true}"},
        {"env", "{\"values\":{}}"},
        {"session", "{\"messages\":[],\"entries\":[]}"},
        {"events", "{\"tools\":[],\"commands\":[]}"},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (pl_str_eq(method, pl_str_of(outputs[i].method)))
            return capability == PL_EXT_CAP_WRITE && i == 0 ? "{}" : outputs[i].output;
    return "{}";
}

static void answer_call(struct pl_scripted *host, const struct pl_ext_frame *frame)
{
    struct pl_str method = member(host, frame, "method");
    const struct pl_json_node *params = pl_json_get(&frame->doc, frame->payload, PL_STR("params"));
    enum pl_ext_capability derived = pl_ext_capability_derive(method, &frame->doc, params);
    enum pl_ext_capability said = pl_ext_capability_find(member(host, frame, "capability"));
    struct pl_ext_result result = {
        .id = frame->id, .call_id = member(host, frame, "call_id"), .credits = -1};
    if (derived == PL_EXT_CAP_NONE || derived != said) {
        pl_scripted_complain(
            host, "a host_call \"%.*s\" declares the capability \"%.*s\"; it needs \"%s\"",
            PL_STR_ARG(method), PL_STR_ARG(member(host, frame, "capability")),
            derived == PL_EXT_CAP_NONE ? "none: the call is invalid"
                                       : pl_ext_capability_name(derived));
        result.error = "invalid_request";
        result.message = PL_STR("the capability is another");
    } else if (!(pl_ext_manifest_capabilities(&host->package.manifest) & PL_EXT_CAP_BIT(derived))) {
        pl_scripted_complain(
            host, "a host_call \"%.*s\" needs \"%s\", which extension.json does not declare",
            PL_STR_ARG(method), pl_ext_capability_name(derived));
        result.error = "denied";
        result.message = PL_STR("extension.json does not declare it");
        result.reason = PL_STR("not_declared");
    } else {
        result.output = pl_str_of(canned(method, derived));
        result.is_chunk = result.is_last =
            params && pl_json_get(&frame->doc, params, PL_STR("stream"));
    }
    pl_buf_clear(&host->line);
    pl_ext_frame_write_result(&host->line, &result);
    if (host->line.len && host->line.ptr[host->line.len - 1] != '\n')
        pl_buf_addc(&host->line, '\n');
    if (host->line.status == PL_OK && host->in >= 0)
        (void)pl_fd_write(host->in, pl_buf_str(&host->line), NULL);
}

static void show_log(struct pl_scripted *host, const struct pl_ext_frame *frame)
{
    pl_console_hint(
        host->deed->console, "[%.*s] %.*s",
        PL_STR_ARG(member(host, frame, frame->type == PL_EXT_TYPE_LOG ? "level" : "code")),
        PL_STR_ARG(pl_str_slice(member(host, frame, "message"), 0, 400)));
}

static bool is_update(struct pl_scripted *host, const struct pl_ext_frame *frame)
{
    struct pl_str event = member(host, frame, "event");
    return frame->type == PL_EXT_TYPE_EVENT_HOOK &&
           (pl_str_eq(event, PL_STR("tool_execution_update")) ||
            pl_str_eq(event, PL_STR("stream.credit")) || pl_str_eq(event, PL_STR("cancel")));
}

enum pl_status pl_scripted_await(struct pl_scripted *host, enum pl_ext_type type, struct pl_str id,
                                 int64_t limit_ms, struct pl_ext_frame *ret_frame)
{
    struct limit limit = limit_of(host, limit_ms);
    for (;;) {
        enum pl_status status = hear(host, &limit, ret_frame);
        if (status != PL_OK)
            return status;
        bool is_meant = !id.len || pl_str_eq(ret_frame->id, id);
        if (ret_frame->type == type && is_meant && !is_update(host, ret_frame))
            return PL_OK;
        if (ret_frame->type == PL_EXT_TYPE_HOST_CALL)
            answer_call(host, ret_frame);
        else if (ret_frame->type == PL_EXT_TYPE_LOG || ret_frame->type == PL_EXT_TYPE_ERROR)
            show_log(host, ret_frame);
        if (ret_frame->type == PL_EXT_TYPE_ERROR && id.len && is_meant)
            return PL_CONFLICT;
    }
}
