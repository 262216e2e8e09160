/* Converts many sources into one directory. All output paths are checked before the first byte is
 * written: two results in one file, or a result over its own source, are refused. */
#include "app/conversation/converting.h"

#include "format/gpt_oss/gpt_oss.h"
#include "io/clock.h"
#include "io/file/file_tree.h"

#include <stdlib.h>

enum {
    PROGRESS_AFTER_MS = 1000,
    PROGRESS_EVERY_MS = 100,
};

struct run {
    const struct pl_converting *how; /* borrowed */
    const struct pl_args *args;      /* borrowed */
    const char *out, *report, *carry, *with_carry;
    struct pl_arena arena;    /* owned; all names */
    struct pl_file_tree tree; /* owned */
    PL_VEC(struct pl_converting_at) plan;
    enum pl_exit code; /* the highest so far */
    size_t n_failed;
    int64_t started_ms, shown_ms;
};

static bool ends_in(struct pl_str s, const char *end)
{
    size_t n = strlen(end);
    return s.len > n && memcmp(s.ptr + s.len - n, end, n) == 0;
}

static bool is_json_name(struct pl_str name)
{
    return ends_in(name, ".json") || ends_in(name, ".ndjson");
}

static bool is_text_name(struct pl_str name)
{
    return ends_in(name, ".txt");
}

static bool is_yaml_name(struct pl_str name)
{
    return ends_in(name, ".yaml") || ends_in(name, ".yml");
}

static bool is_markdown_name(struct pl_str name)
{
    return ends_in(name, ".md");
}

/* What a directory contains for a run, by the format of the sources. */
struct wanted {
    pl_file_tree_wants_fn *wants;
    const char *if_none;
};

static struct wanted wanted_by(const struct pl_converting *how)
{
    if (how->import == &pl_export_yaml)
        return (struct wanted){is_yaml_name, "it contains no *.yaml or *.yml files"};
    if (how->import == &pl_export_markdown)
        return (struct wanted){is_markdown_name, "it contains no *.md files"};
    if (how->opts.from == &pl_format_gpt_oss)
        return (struct wanted){is_text_name, "it contains no *.txt files"};
    return (struct wanted){is_json_name, "it contains no *.json or *.ndjson files"};
}

/* The ending of a result if the ending of its source does not fit. */
static const char *ending_of(const struct pl_converting *how, bool is_ndjson)
{
    static const struct {
        const struct pl_export *export;
        const char *ending;
    } endings[] = {
        {&pl_export_yaml, ".yaml"},         {&pl_export_markdown, ".md"},
        {&pl_export_curl, ".sh"},           {&pl_export_claude, ".sh"},
        {&pl_export_claude_command, ".md"}, {&pl_export_claude_skill, ".md"},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (how->export == endings[i].export)
            return endings[i].ending;
    return how->opts.to == &pl_format_gpt_oss ? ".txt" : is_ndjson ? ".ndjson" : ".json";
}

/* Makes dir/name.middle.ending in the arena; NULL if out of memory. */
static const char *place(struct run *run, const char *dir, struct pl_str name, const char *middle,
                         const char *ending)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, dir);
    if (!ends_in(pl_str_of(dir), "/") && strcmp(dir, "/") != 0)
        pl_buf_addc(&path, '/');
    pl_buf_add(&path, name);
    pl_buf_adds(&path, middle);
    pl_buf_adds(&path, ending);
    pl_buf_addc(&path, '\0');
    return path.status == PL_OK ? pl_arena_dup(&run->arena, pl_buf_str(&path)).ptr : NULL;
}

static enum pl_exit fail_memory(struct run *run)
{
    struct pl_error err = {.status = PL_NOMEM};
    return pl_console_fail(run->how->console, NULL, &err);
}

/* On the way home, without the ending that was added on the way out: a.json.txt was a.json, and
 * a.txt.json was a.txt. */
static struct pl_str old_name(struct pl_str name, const char *ending, bool is_json)
{
    static const char *const added[] = {".txt", ".yaml", ".md", ".sh", ".json"};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        if (!ends_in(name, added[i]) || is_json == is_json_name(name))
            continue;
        struct pl_str rest = pl_str_slice(name, 0, name.len - strlen(added[i]));
        if (is_json ? is_json_name(rest) : ends_in(rest, ending))
            return rest;
    }
    return name;
}

/* The name without the ending of JSON. */
static struct pl_str stem_of(struct pl_str name)
{
    if (is_json_name(name))
        name.len -= strlen(ends_in(name, ".json") ? ".json" : ".ndjson");
    return name;
}

static enum pl_exit plan_file(struct run *run, const struct pl_file_tree_entry *file)
{
    bool is_ndjson = pl_converting_is_ndjson(run->args, file->name);
    const char *lines = is_ndjson ? ".ndjson" : ".json", *ending = ending_of(run->how, is_ndjson);
    bool is_json = strcmp(ending, lines) == 0;
    struct pl_str name = pl_str_of(file->name);
    if (is_ndjson && pl_converting_check_ndjson(run->how, file->path) != PL_EXIT_OK)
        return PL_EXIT_USAGE;
    if (run->with_carry)
        name = old_name(name, ending, is_json);
    struct pl_str stem = stem_of(name);
    bool fits = is_json ? is_json_name(name) : ends_in(name, ending);
    struct pl_converting_at at = {
        .in = file->path,
        .out = place(run, run->out, name, "", fits ? "" : ending),
        .report = run->report ? place(run, run->report, stem, ".report", lines) : NULL,
        .carry = run->carry ? place(run, run->carry, stem, ".carry", lines) : NULL,
        .with_carry = run->with_carry ? place(run, run->with_carry, stem, ".carry", lines) : NULL,
        .is_ndjson = is_ndjson,
    };
    if (!at.out || (run->report && !at.report) || (run->carry && !at.carry) ||
        (run->with_carry && !at.with_carry) || !pl_vec_push(&run->plan, at))
        return fail_memory(run);
    if (pl_path_is_same(at.in, at.out))
        return pl_usage_fail(run->how->console, "convert",
                             "%s would overwrite itself; give --out another directory", at.in);
    return PL_EXIT_OK;
}

/* Whether a file is a report or a carry among the results of the way out: its name says so, and it
 * has no carry of its own. */
static bool is_beside(struct run *run, struct pl_str name)
{
    static const char *const endings[] = {".report.json", ".carry.json", ".report.ndjson",
                                          ".carry.ndjson"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!ends_in(name, endings[i]))
            continue;
        const char *lines = strrchr(endings[i], '.');
        const char *carry = place(run, run->with_carry, stem_of(name), ".carry", lines);
        return carry && !pl_path_exists(carry);
    }
    return false;
}

/* Takes reports and carries off the files that were found since `n_before`. */
static void leave_out_beside(struct run *run, size_t n_before)
{
    size_t n = n_before;
    for (size_t i = n_before; i < run->tree.files.len; i++)
        if (!is_beside(run, pl_str_of(run->tree.files.ptr[i].name)))
            run->tree.files.ptr[n++] = run->tree.files.ptr[i];
    run->tree.files.len = n;
}

/* Adds the files of an operand to run->tree. */
static enum pl_exit list_operand(struct run *run, const char *operand)
{
    struct pl_error err = {0};
    if (strcmp(operand, "-") == 0)
        return pl_usage_fail(run->how->console, "convert",
                             "standard input has no file name for --out; remove --out");
    if (!pl_path_is_directory(operand)) {
        const char *slash = strrchr(operand, '/');
        struct pl_file_tree_entry file = {operand, slash ? slash + 1 : operand};
        return pl_vec_push(&run->tree.files, file) ? PL_EXIT_OK : fail_memory(run);
    }
    size_t n_before = run->tree.files.len;
    struct wanted wanted = wanted_by(run->how);
    enum pl_status status = pl_file_tree_list(&run->tree, &run->arena, operand, wanted.wants, &err);
    /* Texts may have the names of JSON, if all of them do. */
    if (status == PL_OK && run->tree.files.len == n_before && wanted.wants != is_json_name)
        status = pl_file_tree_list(&run->tree, &run->arena, operand, is_json_name, &err);
    if (status != PL_OK)
        return pl_console_fail(run->how->console, operand, &err);
    if (run->with_carry)
        leave_out_beside(run, n_before);
    if (run->tree.files.len == n_before) {
        err.status = pl_fail(&err, PL_UNREADABLE, "%s", wanted.if_none);
        run->code = pl_console_fail(run->how->console, operand, &err);
    }
    return PL_EXIT_OK;
}

/* Each path is a directory here. Paths of the same directory get the same spelling, so that two
 * results for one file are detected. */
static enum pl_exit check_directories(struct run *run)
{
    const struct {
        const char *option, **path;
    } all[] = {{"--out", &run->out}, {"--report", &run->report}, {"--carry", &run->carry}};
    for (size_t i = 1; i < sizeof all / sizeof *all; i++) {
        if (!*all[i].path)
            continue;
        if (strcmp(*all[i].path, "-") == 0)
            return pl_usage_fail(run->how->console, "convert",
                                 "with --out, %s must be a directory, not standard output",
                                 all[i].option);
        for (size_t k = 0; k < i; k++)
            if (*all[k].path && pl_path_is_same(*all[k].path, *all[i].path))
                *all[i].path = *all[k].path;
    }
    return PL_EXIT_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum pl_exit check_twice(struct run *run)
{
    size_t n = 0;
    PL_CLEANUP_FREE const char **paths = pl_mem_alloc(3 * run->plan.len + 1, sizeof *paths);
    if (!paths)
        return fail_memory(run);
    for (size_t i = 0; i < run->plan.len; i++) {
        const struct pl_converting_at *at = &run->plan.ptr[i];
        const char *const all[] = {at->out, at->report, at->carry};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            if (all[k])
                paths[n++] = all[k];
    }
    qsort(paths, n, sizeof *paths, compare);
    for (size_t i = 1; i < n; i++)
        if (strcmp(paths[i - 1], paths[i]) == 0)
            return pl_usage_fail(run->how->console, "convert",
                                 "two results would be written to %s; convert them in separate "
                                 "runs",
                                 paths[i]);
    return PL_EXIT_OK;
}

static enum pl_exit make_plan(struct run *run)
{
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; code == PL_EXIT_OK && i < run->args->operands.len; i++)
        code = list_operand(run, run->args->operands.ptr[i]);
    for (size_t i = 0; code == PL_EXIT_OK && i < run->tree.files.len; i++)
        code = plan_file(run, &run->tree.files.ptr[i]);
    return code == PL_EXIT_OK ? check_twice(run) : code;
}

static void show_progress(struct run *run, size_t n_done)
{
    struct pl_console *console = run->how->console;
    int64_t now_ms = run->plan.len > 1 && console->err_is_terminal ? pl_clock_ms() : 0;
    if (now_ms == 0 || now_ms - run->started_ms < PROGRESS_AFTER_MS ||
        now_ms - run->shown_ms < PROGRESS_EVERY_MS)
        return;
    run->shown_ms = now_ms;
    pl_console_progress(console, "%zu of %zu files, %zu failed", n_done, run->plan.len,
                        run->n_failed);
}

static void convert_all(struct run *run)
{
    run->started_ms = pl_clock_ms();
    for (size_t i = 0; i < run->plan.len; i++) {
        show_progress(run, i);
        enum pl_exit code = pl_converting_run(run->how, &run->plan.ptr[i]);
        run->n_failed += code != PL_EXIT_OK;
        if (code > run->code)
            run->code = code;
    }
    pl_console_say(run->how->console, "%zu %s: %zu converted, %zu failed", run->plan.len,
                   run->plan.len == 1 ? "file" : "files", run->plan.len - run->n_failed,
                   run->n_failed);
}

enum pl_exit pl_convert_many(const struct pl_converting *how, const struct pl_args *args)
{
    struct run run = {
        .how = how,
        .args = args,
        .out = pl_args_value(args, PL_OPT_OUT),
        .report = pl_args_value(args, PL_OPT_REPORT),
        .carry = pl_args_value(args, PL_OPT_CARRY),
        .with_carry = pl_args_value(args, PL_OPT_WITH_CARRY),
    };
    pl_arena_init(&run.arena, 0);
    enum pl_exit code = check_directories(&run);
    if (code == PL_EXIT_OK)
        code = make_plan(&run);
    if (code == PL_EXIT_OK) {
        convert_all(&run);
        code = run.code;
    }
    pl_vec_deinit(&run.plan);
    pl_file_tree_deinit(&run.tree);
    pl_arena_deinit(&run.arena);
    return code;
}
