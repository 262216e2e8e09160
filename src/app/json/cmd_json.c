/* parley json: reads a file, then does exactly one of: write it in a form, print one value, edit,
 * check. The whole output is made before the first byte is written. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "json/edit/edit.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"
#include "lib/locate.h"

/* Largest file for which --lenient is tried to give a hint: hand-written files are small. */
enum { MAX_HINT_BYTES = 1 << 20 };

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *path;           /* borrowed from argv */
    const char *name;           /* file name in messages */
    bool is_lenient;
    struct pl_file file; /* owned */
    struct pl_arena arena;
    struct pl_str text;     /* as given: of the file, or of `edited` */
    struct pl_json_doc doc; /* arena; its text is `text`, or a copy with tolerated syntax blanked */
    struct pl_buf out;      /* the output */
    struct pl_buf edited;   /* the text after the last change */
};

static enum pl_exit fail(struct job *job, const struct pl_error *err)
{
    return pl_console_fail(job->console, job->name, err);
}

static bool is_edit(enum pl_option_id id)
{
    return id == PL_OPT_SET || id == PL_OPT_INSERT || id == PL_OPT_REMOVE;
}

static bool is_form(enum pl_option_id id)
{
    return id == PL_OPT_PRETTY || id == PL_OPT_MINIFY || id == PL_OPT_CANONICAL;
}

static enum pl_exit check_pointer(struct pl_console *console, const struct pl_option_use *use)
{
    const char *pointer = use->values[0];
    if (pl_json_pointer_is_valid(pl_str_of(pointer)))
        return PL_EXIT_OK;
    if (pointer[0] != '/')
        return pl_usage_fail(console, "json",
                             "\"%s\" is not a JSON Pointer, which is empty or starts with a slash; "
                             "did you mean \"/%s\"?",
                             pointer, pointer);
    return pl_usage_fail(console, "json",
                         "\"%s\" is not a JSON Pointer: write ~ as ~0, and / in a name as ~1",
                         pointer);
}

static enum pl_exit check_value(struct pl_console *console, const struct pl_option_use *use)
{
    if (!use->option->args[1])
        return PL_EXIT_OK;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_status status = pl_json_parse(&arena, pl_str_of(use->values[1]), NULL, &doc, &err);
    if (status == PL_OK)
        return PL_EXIT_OK;
    if (status == PL_NOMEM)
        return pl_console_fail(console, NULL, &err);
    return pl_usage_fail(
        console, "json",
        "the value of --%s is not JSON: %s (a string needs its quotes: '\"text\"')",
        use->option->name, err.message);
}

/* The task that an option belongs to; two tasks cannot be combined. */
static const char *task_of(enum pl_option_id id)
{
    return is_form(id)        ? "choosing a form"
           : id == PL_OPT_GET ? "--get"
           : is_edit(id)      ? "editing"
                              : NULL;
}

static enum pl_exit check_usage(struct pl_console *console, const struct pl_args *args)
{
    const struct pl_option_use *task = NULL;
    for (size_t i = 0; i < args->uses.len; i++) {
        const struct pl_option_use *use = &args->uses.ptr[i];
        const char *name = task_of(use->option->id);
        if (!name)
            continue;
        if (task && (is_form(use->option->id) || strcmp(name, task_of(task->option->id)) != 0))
            return pl_usage_fail(console, "json", "--%s and --%s exclude each other",
                                 task->option->name, use->option->name);
        task = use;
        enum pl_exit code = PL_EXIT_OK;
        if (!is_form(use->option->id))
            code = check_pointer(console, use);
        if (code == PL_EXIT_OK)
            code = check_value(console, use);
        if (code != PL_EXIT_OK)
            return code;
    }
    if (pl_args_has(args, PL_OPT_RAW) && !pl_args_has(args, PL_OPT_GET))
        return pl_usage_fail(console, "json", "--raw needs --get POINTER");
    if (pl_args_has(args, PL_OPT_CHECK) && task && !is_form(task->option->id))
        return pl_usage_fail(console, "json", "--check and --%s exclude each other",
                             task->option->name);
    return PL_EXIT_OK;
}

static void report_notes(struct job *job, const struct pl_json_notes *notes)
{
    struct pl_locator locator = pl_locator(job->file.bytes);
    for (uint32_t i = 0; i < notes->len; i++) {
        struct pl_position position = pl_locator_find(&locator, notes->items[i].off);
        bool is_duplicate = notes->items[i].kind == PL_JSON_NOTE_DUPLICATE_KEY;
        pl_console_say(job->console, "%s:%zu:%zu: accepted a %s%s", job->name, position.line,
                       position.column, pl_json_note_name(notes->items[i].kind),
                       is_duplicate ? "; the last one counts" : "");
    }
}

/* RFC 8259 only advises against duplicate keys, so they are accepted and reported. */
static enum pl_status parse_strictly(struct job *job, struct pl_str text,
                                     struct pl_json_notes *ret_notes, struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    enum pl_status status = pl_json_parse(&job->arena, text, &opts, &job->doc, err);
    if (status == PL_OK)
        status = pl_json_find_duplicates(&job->arena, &job->doc, ret_notes, err);
    return status;
}

static enum pl_status parse(struct job *job, struct pl_str text, bool reports, struct pl_error *err)
{
    job->text = text;
    struct pl_json_notes notes;
    enum pl_status status =
        job->is_lenient ? pl_json_parse_lenient(&job->arena, text, NULL, &job->doc, &notes, err)
                        : parse_strictly(job, text, &notes, err);
    if (status == PL_OK && reports)
        report_notes(job, &notes);
    return status;
}

static enum pl_exit read_input(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_input_read(job->path, &job->file, &err);
    if (status != PL_OK)
        return fail(job, &err);
    status = parse(job, job->file.bytes, true, &err);
    if (status == PL_OK)
        return PL_EXIT_OK;
    err.status = status;
    enum pl_exit code = fail(job, &err);
    if (job->is_lenient || status != PL_SYNTAX || job->file.bytes.len > MAX_HINT_BYTES)
        return code;
    struct pl_json_notes notes;
    pl_arena_reset(&job->arena);
    if (pl_json_parse_lenient(&job->arena, job->file.bytes, NULL, &job->doc, &notes, NULL) == PL_OK)
        pl_console_hint(job->console, "--lenient accepts this.");
    return code;
}

static enum pl_status apply(struct job *job, const struct pl_option_use *use, struct pl_error *err)
{
    __attribute__((cleanup(pl_json_edit_deinit))) struct pl_json_edit edit;
    /* Edits the text as given, so that comments stay. */
    struct pl_json_doc doc = job->doc;
    doc.text = job->text;
    pl_json_edit_init(&edit, &job->arena, &doc);
    struct pl_str pointer = pl_str_of(use->values[0]), value = pl_str_of(use->values[1]);
    enum pl_status status =
        use->option->id == PL_OPT_SET      ? pl_json_edit_set(&edit, pointer, value, err)
        : use->option->id == PL_OPT_INSERT ? pl_json_edit_insert(&edit, pointer, value, err)
                                           : pl_json_edit_remove(&edit, pointer, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &job->out);
    return status != PL_OK ? status : job->out.status;
}

/* Each change applies to the result of the one before. The last result is parsed too, so the output
 * is JSON within the limits. */
static enum pl_exit edit(struct job *job)
{
    for (size_t i = 0; i < job->args->uses.len; i++) {
        const struct pl_option_use *use = &job->args->uses.ptr[i];
        if (!is_edit(use->option->id))
            continue;
        struct pl_error err = {0};
        pl_buf_clear(&job->out);
        enum pl_status status = apply(job, use, &err);
        if (status == PL_OK) {
            struct pl_buf swapped = job->edited;
            job->edited = job->out;
            job->out = swapped;
            pl_arena_reset(&job->arena);
            status = parse(job, pl_buf_str(&job->edited), false, &err);
        }
        if (status != PL_OK) {
            err.status = status;
            pl_console_fail(job->console, job->name, &err);
            pl_console_hint(job->console, "This was --%s %s; nothing was written.",
                            use->option->name, use->values[0]);
            return (enum pl_exit)pl_status_info(status)->exit_code;
        }
    }
    struct pl_buf swapped = job->out;
    job->out = job->edited;
    job->edited = swapped;
    return PL_EXIT_OK;
}

static enum pl_exit get(struct job *job, const char *pointer)
{
    const struct pl_json_node *node;
    struct pl_error err = {0};
    if (pl_json_pointer_get(&job->doc, pl_str_of(pointer), &node, &err) != PL_OK)
        return fail(job, &err);
    struct pl_str span = pl_json_span(&job->doc, node);
    if (pl_args_has(job->args, PL_OPT_RAW) && pl_json_kind(node) == PL_JSON_STRING) {
        char *to = pl_buf_reserve(&job->out, span.len);
        if (to)
            job->out.len += pl_json_decode(to, pl_json_raw(&job->doc, node));
    } else {
        pl_buf_add(&job->out, span);
    }
    pl_buf_addc(&job->out, '\n');
    return PL_EXIT_OK;
}

static enum pl_exit write_form(struct job *job)
{
    const struct pl_json_node *root = job->doc.root;
    enum pl_status status = PL_OK;
    if (pl_args_has(job->args, PL_OPT_CANONICAL))
        status = pl_json_write_canonical(&job->out, &job->doc, root);
    else if (pl_args_has(job->args, PL_OPT_MINIFY))
        pl_json_write_min(&job->out, &job->doc, root);
    else
        pl_json_write_pretty(&job->out, &job->doc, root);
    pl_buf_addc(&job->out, '\n');
    if (status == PL_OK)
        return PL_EXIT_OK;
    struct pl_error err = {.status = status};
    return fail(job, &err);
}

static bool has_form(const struct pl_args *args)
{
    return pl_args_has(args, PL_OPT_PRETTY) || pl_args_has(args, PL_OPT_MINIFY) ||
           pl_args_has(args, PL_OPT_CANONICAL);
}

static enum pl_exit check_form(struct job *job)
{
    enum pl_exit code = has_form(job->args) ? write_form(job) : PL_EXIT_OK;
    bool is_same = !has_form(job->args) || pl_str_eq(pl_buf_str(&job->out), job->file.bytes);
    if (code != PL_EXIT_OK || job->out.status != PL_OK || is_same)
        return code;
    pl_console_say(job->console, "%s: this is JSON, but not in that form", job->name);
    return PL_EXIT_NO;
}

static bool has_edits(const struct pl_args *args)
{
    return pl_args_has(args, PL_OPT_SET) || pl_args_has(args, PL_OPT_INSERT) ||
           pl_args_has(args, PL_OPT_REMOVE);
}

static enum pl_exit do_job(struct job *job)
{
    enum pl_exit code = read_input(job);
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_option_use *get_use = pl_args_find(job->args, PL_OPT_GET);
    bool only_checks = pl_args_has(job->args, PL_OPT_CHECK);
    if (only_checks)
        code = check_form(job);
    else if (get_use)
        code = get(job, get_use->values[0]);
    else if (has_edits(job->args))
        code = edit(job);
    else
        code = write_form(job);
    if (code == PL_EXIT_OK && job->out.status != PL_OK) {
        struct pl_error err = {.status = job->out.status};
        return fail(job, &err);
    }
    struct pl_error err = {0};
    if (code == PL_EXIT_OK && !only_checks && pl_fd_write(1, pl_buf_str(&job->out), &err) != PL_OK)
        return pl_console_fail_out(job->console, &err);
    return code;
}

enum pl_exit pl_cmd_json(struct pl_console *console, const struct pl_args *args)
{
    enum pl_exit code = check_usage(console, args);
    if (code != PL_EXIT_OK)
        return code;
    const char *path = args->operands.ptr[0];
    struct job job = {
        .console = console,
        .args = args,
        .path = path,
        .name = pl_input_name(path),
        .is_lenient = pl_args_has(args, PL_OPT_LENIENT),
    };
    pl_arena_init(&job.arena, 0);
    pl_buf_init(&job.out, 0);
    pl_buf_init(&job.edited, 0);
    code = do_job(&job);
    pl_buf_deinit(&job.edited);
    pl_buf_deinit(&job.out);
    pl_arena_deinit(&job.arena);
    pl_file_close(&job.file);
    return code;
}
