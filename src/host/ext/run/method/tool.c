/* The method tool. Seven names run here, with the caller's own scopes: read, write, edit, ls,
 * find, grep on a worker, and bash as exec. Other tools are called at their owner. All of them
 * have passed the hooks (broker/nested.c). */
#include "ext/run/method/method.h"

#include "base/text/utf8.h"
#include "json/text.h"
#include "schema/regex/regex.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    MAX_SHOWN = 64 << 10,
    MAX_FILE = 4 << 20,
    MAX_DEPTH = 32,
    MAX_FILES = 20000,
    MAX_FOUND = 1000,
    MAX_HITS = 200,
};

struct tool {
    const struct pl_json_node *input;
    struct pl_ext_root root;
    struct pl_str path, pattern, content, old_text, new_text, glob;
    int64_t offset, limit;
    bool is_literal;
    void (*run)(struct pl_ext_hostcall *call, struct tool *tool, int root_fd);
    struct pl_buf text; /* the result */
    size_t n_seen, n_found;
    struct pl_regex *regex;
    struct pl_regex_scratch *scratch;
};

static void clean(struct pl_ext_hostcall *call)
{
    struct tool *tool = call->own;
    pl_buf_deinit(&tool->text);
    pl_regex_destroy(tool->regex);
    pl_regex_scratch_destroy(tool->scratch);
}

/* --- on a worker ------------------------------------------------------------------------------ */

static bool load(struct pl_ext_hostcall *call, struct tool *tool, int root_fd, struct pl_str path,
                 struct pl_buf *to)
{
    int fd = pl_ext_file_open(call, &tool->root, root_fd, path, O_RDONLY);
    bool is_good = fd >= 0 && pl_ext_file_read(call, fd, 0, MAX_FILE + 1, to);
    if (fd >= 0)
        close(fd);
    if (is_good && to->len > MAX_FILE)
        pl_hostcall_set_error(call, "invalid_request", "too_large", "the file is over 4 MiB");
    else if (is_good && !pl_utf8_is_valid(pl_buf_str(to)))
        pl_hostcall_set_error(call, "invalid_request", NULL, "the file is no text");
    return is_good && !call->error;
}

/* Lines from `offset`, counted from 1. */
static void run_read(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    PL_CLEANUP_BUF struct pl_buf file;
    int64_t line = 1;
    size_t from = 0;
    pl_buf_init(&file, 0);
    if (!load(call, tool, root_fd, tool->path, &file))
        return;
    while (from < file.len) {
        const char *end = memchr(file.ptr + from, '\n', file.len - from);
        size_t n = end ? (size_t)(end - file.ptr) - from + 1 : file.len - from;
        bool is_in = line >= tool->offset && line < tool->offset + tool->limit;
        if (is_in && tool->text.len + n > MAX_SHOWN) {
            pl_buf_addf(&tool->text, "[cut at line %lld: continue with offset]", (long long)line);
            return;
        }
        if (is_in)
            pl_buf_add(&tool->text, (struct pl_str){file.ptr + from, n});
        from += n;
        line++;
    }
}

static void run_write(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    if (pl_ext_file_write(call, &tool->root, root_fd, tool->path, PL_EXT_WRITE_REPLACE, true,
                          tool->content))
        pl_buf_addf(&tool->text, "Wrote %zu bytes to %.*s", tool->content.len,
                    PL_STR_ARG(tool->path));
}

static void run_edit(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    PL_CLEANUP_BUF struct pl_buf file, made;
    pl_buf_init(&file, 0);
    pl_buf_init(&made, 0);
    if (!load(call, tool, root_fd, tool->path, &file))
        return;
    struct pl_str text = pl_buf_str(&file);
    size_t at = pl_str_find(text, tool->old_text);
    size_t after = at == SIZE_MAX ? 0 : at + tool->old_text.len;
    if (at == SIZE_MAX ||
        pl_str_find(pl_str_slice(text, at + 1, text.len), tool->old_text) != SIZE_MAX) {
        pl_hostcall_set_error(call, "invalid_request", NULL, "oldText is %s in the file",
                              at == SIZE_MAX ? "not" : "more than once");
        return;
    }
    pl_buf_add(&made, pl_str_slice(text, 0, at));
    pl_buf_add(&made, tool->new_text);
    pl_buf_add(&made, pl_str_slice(text, after, text.len));
    if (made.status == PL_OK && pl_ext_file_write(call, &tool->root, root_fd, tool->path,
                                                  PL_EXT_WRITE_REPLACE, false, pl_buf_str(&made)))
        pl_buf_addf(&tool->text, "Replaced text in %.*s", PL_STR_ARG(tool->path));
}

static void run_ls(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    struct pl_ext_entry_seen *entries = NULL;
    size_t n = 0;
    int fd = pl_ext_file_open(call, &tool->root, root_fd, tool->path, O_RDONLY | O_DIRECTORY);
    bool is_good = fd >= 0 && pl_ext_dir_list(call, fd, &entries, &n);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; is_good && i < n && tool->text.len < MAX_SHOWN; i++)
        pl_buf_addf(&tool->text, "%.*s%s\n", PL_STR_ARG(entries[i].name),
                    strcmp(entries[i].type, "directory") == 0 ? "/" : "");
    if (is_good && !n)
        pl_buf_adds(&tool->text, "(empty directory)");
}

/* --- walking ---------------------------------------------------------------------------------- */

typedef void visit_fn(struct pl_ext_hostcall *call, struct tool *tool, int root_fd,
                      struct pl_str path);

static bool is_enough(const struct tool *tool)
{
    return tool->n_seen >= MAX_FILES || (int64_t)tool->n_found >= tool->limit ||
           tool->text.len >= MAX_SHOWN || tool->text.status != PL_OK;
}

/* Visits everything below a directory that the scopes allow, without .git and without following
 * links. */
static void walk(struct pl_ext_hostcall *call, struct tool *tool, int root_fd, struct pl_str dir,
                 unsigned depth, visit_fn *visit)
{
    struct pl_ext_entry_seen *entries = NULL;
    size_t n = 0;
    int fd = pl_ext_file_open(call, &tool->root, root_fd, dir, O_RDONLY | O_DIRECTORY);
    bool is_good = fd >= 0 && pl_ext_dir_list(call, fd, &entries, &n);
    if (fd >= 0)
        close(fd);
    if (!is_good && depth)
        call->error = call->error_reason = NULL; /* skips unreadable ones */
    for (size_t i = 0; is_good && i < n && !is_enough(tool); i++) {
        PL_CLEANUP_BUF struct pl_buf path;
        pl_buf_init(&path, 0);
        pl_buf_addf(&path, "%.*s%s%.*s", PL_STR_ARG(dir), dir.len ? "/" : "",
                    PL_STR_ARG(entries[i].name));
        if (path.status != PL_OK)
            return;
        tool->n_seen++;
        if (strcmp(entries[i].type, "directory") == 0 && depth < MAX_DEPTH &&
            !pl_str_eq(entries[i].name, PL_STR(".git")))
            walk(call, tool, root_fd, pl_buf_str(&path), depth + 1, visit);
        else if (strcmp(entries[i].type, "file") == 0 &&
                 pl_ext_path_allowed(call, pl_buf_str(&path)))
            visit(call, tool, root_fd, pl_buf_str(&path));
    }
}

static struct pl_str name_of(struct pl_str path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash ? pl_str_slice(path, (size_t)(slash - path.ptr) + 1, path.len) : path;
}

/* A pattern without a slash matches the name, any other the path below `path`. */
static bool matches(const struct tool *tool, struct pl_str glob, struct pl_str path)
{
    struct pl_str below = tool->path.len ? pl_str_slice(path, tool->path.len + 1, path.len) : path;
    return pl_ext_glob_match(glob, memchr(glob.ptr, '/', glob.len) ? below : name_of(path));
}

static void visit_find(struct pl_ext_hostcall *call, struct tool *tool, int root_fd,
                       struct pl_str path)
{
    (void)call, (void)root_fd;
    if (!matches(tool, tool->pattern, path))
        return;
    tool->n_found++;
    pl_buf_addf(&tool->text, "%.*s\n", PL_STR_ARG(path));
}

static void run_find(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    walk(call, tool, root_fd, tool->path, 0, visit_find);
    if (!call->error && !tool->n_found)
        pl_buf_adds(&tool->text, "No files found matching pattern");
}

static bool is_hit(struct tool *tool, struct pl_str line)
{
    if (tool->is_literal)
        return pl_str_find(line, tool->pattern) != SIZE_MAX;
    return pl_regex_search(tool->regex, tool->scratch, line) == PL_OK;
}

static void visit_grep(struct pl_ext_hostcall *call, struct tool *tool, int root_fd,
                       struct pl_str path)
{
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    if (tool->glob.len && !matches(tool, tool->glob, path))
        return;
    if (!load(call, tool, root_fd, path, &file)) {
        call->error = call->error_reason = NULL; /* not a text, too large, or gone */
        return;
    }
    size_t number = 1;
    for (size_t from = 0; from < file.len && !is_enough(tool); number++) {
        const char *end = memchr(file.ptr + from, '\n', file.len - from);
        size_t n = end ? (size_t)(end - file.ptr) - from : file.len - from;
        struct pl_str line = {file.ptr + from, n};
        from += n + 1;
        if (!is_hit(tool, line))
            continue;
        struct pl_str shown = pl_str_slice(line, 0, 500);
        while (shown.len && !pl_utf8_is_valid(shown))
            shown.len--;
        tool->n_found++;
        pl_buf_addf(&tool->text, "%.*s:%zu: %.*s\n", PL_STR_ARG(path), number, PL_STR_ARG(shown));
    }
}

static void run_grep(struct pl_ext_hostcall *call, struct tool *tool, int root_fd)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (!tool->is_literal)
        status = pl_regex_compile(tool->pattern, &tool->regex, &err);
    if (status == PL_OK)
        status = pl_regex_scratch_create(&tool->scratch);
    if (status != PL_OK) {
        pl_hostcall_set_error(call, "invalid_request", NULL, "pattern: %s", err.message);
        return;
    }
    walk(call, tool, root_fd, tool->path, 0, visit_grep);
    if (!call->error && !tool->n_found)
        pl_buf_adds(&tool->text, "No matches found");
}

static void run(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct tool *tool = call->own;
    int root_fd = pl_ext_root_open(call, &tool->root);
    if (root_fd < 0)
        return;
    tool->run(call, tool, root_fd);
    close(root_fd);
    if (call->error)
        return;
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "content");
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, PL_STR("text"));
    pl_json_out_key(&out, "text");
    pl_json_out_text(&out, pl_buf_str(&tool->text));
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

/* --- at its owner ----------------------------------------------------------------------------- */

/* The timeouts of the owner and of the call may end at the same moment: both are reported as a
 * timeout. */
static const char *code_of(enum pl_tool_error error)
{
    switch (error) {
    case PL_TOOL_ERROR_TIMEOUT:
        return "timeout";
    case PL_TOOL_ERROR_DENIED:
        return "denied";
    case PL_TOOL_ERROR_MEMORY:
        return "internal";
    default:
        return "io";
    }
}

static void on_answer(struct pl_ext_ask *ask)
{
    struct pl_ext_hostcall *call = ask->ctx;
    if (!call)
        return;
    call->asking = NULL;
    if (ask->is_failed) {
        pl_hostcall_fail(call, code_of(ask->error), NULL, "%s", ask->message);
        return;
    }
    if (ask->is_error) {
        pl_hostcall_fail(call, "io", "tool_error", "%.*s",
                         PL_STR_ARG(pl_str_slice(pl_buf_str(&ask->reply), 0, 280)));
        return;
    }
    pl_buf_add(&call->output, pl_buf_str(&ask->reply));
    pl_hostcall_succeed(call);
}

/* A cycle of extensions that wait for each other ends with the timeouts of their calls. */
static void ask_owner(struct pl_ext_hostcall *call, struct pl_str name,
                      const struct pl_json_node *input)
{
    struct pl_ext_offered offered;
    if (pl_ext_tool_find(call->exts->host, &call->arena, call->user_id, name, &offered) != PL_OK) {
        pl_hostcall_fail(call, "invalid_request", "not_found", "there is no tool %.*s",
                         PL_STR_ARG(pl_str_slice(name, 0, 64)));
        return;
    }
    char says[280] = "";
    struct pl_error err = {0};
    enum pl_status status = pl_ext_input_check(&call->arena, offered.schema, &call->doc, input,
                                               says, sizeof says, &err);
    if (status != PL_OK || says[0]) {
        pl_hostcall_fail(call, status == PL_NOMEM ? "internal" : "invalid_request", NULL, "%s",
                         says[0]          ? says
                         : err.message[0] ? err.message
                                          : "out of memory");
        return;
    }
    struct pl_ext_ask *ask = pl_ext_ask_create(call->exts->shard, PL_EXT_ASK_TOOL);
    if (!ask) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    ask->extension_id = pl_ext_ask_keep(ask, offered.extension_id);
    ask->user_id = pl_ext_ask_keep(ask, call->user_id);
    ask->session_id = pl_ext_ask_keep(ask, call->session_id);
    ask->turn_id = pl_ext_ask_keep(ask, call->turn_id);
    ask->tool_call_id = pl_ext_ask_keep(ask, call->call_id);
    ask->name = pl_ext_ask_keep(ask, name);
    ask->input = pl_ext_ask_keep(ask, pl_json_span(&call->doc, input));
    ask->timeout_ms = call->timeout_ms;
    ask->has_person = call->has_person;
    ask->is_sequential = offered.is_sequential;
    ask->done = on_answer;
    ask->ctx = call;
    call->asking = ask;
    pl_ext_ask_send(ask);
}

void pl_ext_tool_cancel(struct pl_ext_hostcall *call)
{
    if (call->capability == PL_EXT_CAP_EXEC)
        pl_ext_exec_cancel(call);
    else
        pl_ext_ask_cancel(PL_TAKE(call->asking));
}

/* --- params ----------------------------------------------------------------------------------- */

static bool read_flag(struct pl_ext_hostcall *call, const struct pl_json_node *input,
                      const char *key, bool *ret_flag)
{
    const struct pl_json_node *n = pl_json_get(&call->doc, input, pl_str_of(key));
    *ret_flag = pl_json_is(n, PL_JSON_TRUE);
    if (!n || *ret_flag || pl_json_is(n, PL_JSON_FALSE))
        return true;
    pl_hostcall_fail(call, "invalid_request", NULL, "%s is true or false", key);
    return false;
}

static const struct named {
    const char *name;
    void (*run)(struct pl_ext_hostcall *call, struct tool *tool, int root_fd);
    const char *members[7], *needs[3];
    int64_t limit, offset;
} names[] = {
    {"read", run_read, {"path", "offset", "limit"}, {"path"}, 2000, 1},
    {"write", run_write, {"path", "content"}, {"path", "content"}, 0, 0},
    {"edit", run_edit, {"path", "oldText", "newText"}, {"path", "oldText", "newText"}, 0, 0},
    {"ls", run_ls, {"path", "limit"}, {0}, MAX_FOUND, 0},
    {"find", run_find, {"pattern", "path", "limit"}, {"pattern"}, MAX_FOUND, 0},
    {"grep", run_grep, {"pattern", "path", "glob", "literal", "limit"}, {"pattern"}, MAX_HITS, 0},
};

static bool read_input(struct pl_ext_hostcall *call, const struct named *named, struct tool *tool)
{
    const char *members[8] = {0};
    struct pl_str path;
    memcpy(members, named->members, sizeof named->members);
    if (!pl_hostcall_members(call, tool->input, members) ||
        !pl_hostcall_text(call, tool->input, "path", &path) ||
        !pl_hostcall_text(call, tool->input, "pattern", &tool->pattern) ||
        !pl_hostcall_text(call, tool->input, "glob", &tool->glob) ||
        !pl_hostcall_text(call, tool->input, "content", &tool->content) ||
        !pl_hostcall_text(call, tool->input, "oldText", &tool->old_text) ||
        !pl_hostcall_text(call, tool->input, "newText", &tool->new_text) ||
        !read_flag(call, tool->input, "literal", &tool->is_literal) ||
        !pl_hostcall_int(call, tool->input, "limit", 1, 100000, named->limit, &tool->limit) ||
        !pl_hostcall_int(call, tool->input, "offset", 1, INT32_MAX, named->offset, &tool->offset))
        return false;
    for (size_t i = 0; i < 3 && named->needs[i]; i++)
        if (!pl_json_get(&call->doc, tool->input, pl_str_of(named->needs[i]))) {
            pl_hostcall_fail(call, "invalid_request", NULL, "%s needs %s", named->name,
                             named->needs[i]);
            return false;
        }
    if (pl_ext_path_clean(&call->arena, path.ptr ? path : PL_STR("."), &tool->path) != PL_OK) {
        pl_hostcall_deny(call, PL_EXT_REASON_PATH_ESCAPE);
        return false;
    }
    if (named->run == run_edit && !tool->old_text.len) {
        pl_hostcall_fail(call, "invalid_request", NULL, "oldText is empty");
        return false;
    }
    return pl_ext_root_find(call, false, &tool->root);
}

static bool takes_quota(struct pl_ext_hostcall *call, const struct tool *tool)
{
    struct pl_ext_instance *instance = call->instance;
    int64_t n = (int64_t)(tool->content.len + tool->new_text.len);
    if (pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_WRITTEN_BYTES],
                           PL_EXT_QUOTA_WRITTEN_BYTES, n, pl_loop_now_ms(call->exts->loop)))
        return true;
    pl_hostcall_fail(call, "io", "quota", "at most 50 MiB are written in an hour");
    (void)pl_ext_instance_strike(instance, "written bytes");
    return false;
}

void pl_ext_tool_start(struct pl_ext_hostcall *call)
{
    static const char *const members[] = {"name", "input", NULL};
    struct pl_str name;
    const struct pl_json_node *input = pl_json_get(&call->doc, call->params, PL_STR("input"));
    if (!pl_hostcall_members(call, call->params, members) ||
        !pl_hostcall_text(call, call->params, "name", &name))
        return;
    if (!pl_json_is(input, PL_JSON_OBJECT)) {
        pl_hostcall_fail(call, "invalid_request", NULL, "input is an object");
        return;
    }
    if (call->capability == PL_EXT_CAP_EXEC) {
        pl_ext_exec_start(call);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!pl_str_eq(name, pl_str_of(names[i].name)))
            continue;
        struct tool *tool = pl_arena_zalloc(&call->arena, 1, sizeof *tool);
        if (!tool) {
            pl_hostcall_fail(call, "internal", NULL, "out of memory");
            return;
        }
        tool->input = input;
        tool->run = names[i].run;
        if (!read_input(call, &names[i], tool) || !takes_quota(call, tool))
            return;
        pl_buf_init(&tool->text, 0);
        call->own = tool;
        call->clean = clean;
        pl_hostcall_work(call, run, NULL);
        return;
    }
    ask_owner(call, name, input);
}
