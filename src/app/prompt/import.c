/* parley prompt import: makes prompts from files. Sends them in pages of a few megabytes; files of
 * one directory are sent together, since an exported prompt is several files. */
#include "app/prompt/prompt_int.h"

#include "base/text/utf8.h"
#include "io/file/file.h"
#include "io/file/file_tree.h"

enum {
    MAX_FILE = 16 << 20,
    PAGE_BYTES = 2 << 20, /* of one request, unless one directory alone has more */
    PAGE_FILES = 500,
};

struct import {
    struct pl_deed *deed;
    struct pl_file_tree files; /* owned */
    size_t n_page;             /* files in the current request */
    size_t n_done, n_problems;
    size_t n_outcomes[4];
    struct pl_buf items, problems; /* owned; with --json: objects separated by commas */
};

static const char *const outcomes[] = {"created", "version", "same", "skipped"};

/* Whether a file of a directory may be a prompt. */
static bool is_wanted(struct pl_str name)
{
    static const char *const ends[] = {".json",     ".yaml", ".yml",   ".md",
                                       ".markdown", ".txt",  ".prompt"};
    if (!name.len || name.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct pl_str end = pl_str_of(ends[i]);
        if (name.len > end.len && pl_str_eq(pl_str_slice(name, name.len - end.len, name.len), end))
            return true;
    }
    return false;
}

static enum pl_status gather(struct import *import, const char *path, struct pl_error *err)
{
    if (pl_path_is_directory(path)) {
        size_t first = import->files.files.len, n_kept = first;
        enum pl_status status =
            pl_file_tree_list(&import->files, &import->deed->api.texts.arena, path, is_wanted, err);
        for (size_t i = first; status == PL_OK && i < import->files.files.len; i++)
            if (!pl_name_is_hidden(import->files.files.ptr[i].name))
                import->files.files.ptr[n_kept++] = import->files.files.ptr[i];
        if (status == PL_OK)
            import->files.files.len = n_kept;
        return status;
    }
    const char *slash = strrchr(path, '/');
    struct pl_file_tree_entry file = {path, slash && slash[1] ? slash + 1 : path};
    if (strcmp(path, "-") == 0)
        file.name = "prompt.txt";
    return pl_vec_push(&import->files.files, file) ? PL_OK
                                                   : pl_fail(err, PL_NOMEM, "out of memory");
}

static void note_problem(struct import *import, struct pl_str path, struct pl_str detail)
{
    import->n_problems++;
    if (!import->deed->api.is_json) {
        pl_console_say_about(import->deed->console, path, detail);
        return;
    }
    pl_buf_adds(&import->problems, import->problems.len ? "," : "");
    struct pl_json_out out = pl_json_out(&import->problems);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "path");
    pl_json_out_text(&out, path);
    pl_json_out_key(&out, "detail");
    pl_json_out_text(&out, detail);
    pl_json_out_close(&out, '}');
}

static void open_page(struct import *import)
{
    struct pl_deed *deed = import->deed;
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_FROM, "format");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_FOLDER, "folder");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_WHEN_THERE, "when_there");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_MEDIA, "media");
    pl_json_out_key(&deed->out, "files");
    pl_json_out_open(&deed->out, '[');
}

static void tell_item(struct import *import, const struct pl_json_node *item)
{
    struct pl_deed *deed = import->deed;
    struct pl_str outcome = pl_deed_text(deed, item, "outcome");
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        import->n_outcomes[i] += pl_str_eq(outcome, pl_str_of(outcomes[i]));
    if (deed->api.is_json) {
        pl_buf_adds(&import->items, import->items.len ? "," : "");
        pl_buf_add(&import->items, pl_json_span(&deed->answer, item));
        return;
    }
    pl_console_putf(deed->console, "%-8.*s ", PL_STR_ARG(outcome));
    pl_console_put_safe(deed->console, pl_deed_text(deed, item, "prompt_id"));
    pl_console_puts(deed->console, "  ");
    pl_console_put_safe(deed->console, pl_deed_text(deed, item, "path"));
    pl_console_puts(deed->console, "\n");
}

static enum pl_exit send_page(struct import *import)
{
    struct pl_deed *deed = import->deed;
    if (!import->n_page)
        return PL_EXIT_OK;
    pl_json_out_close(&deed->out, ']');
    pl_json_out_close(&deed->out, '}');
    import->n_done += import->n_page;
    import->n_page = 0;
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/prompts/import");
    if (code != PL_EXIT_OK)
        return code;
    for (const struct pl_json_node *item = NULL; (item = pl_deed_item(deed, item));)
        tell_item(import, item);
    const struct pl_json_node *problems =
        pl_json_member(&deed->answer, deed->answer.root, "problems", PL_JSON_ARRAY);
    for (const struct pl_json_node *one = problems ? pl_json_first(problems) : NULL;
         one && one < pl_json_end(problems); one = pl_json_next(one))
        note_problem(import, pl_deed_text(deed, one, "path"), pl_deed_text(deed, one, "detail"));
    pl_console_progress(deed->console, "%zu of %zu files ...", import->n_done,
                        import->files.files.len);
    return PL_EXIT_OK;
}

/* Whether two files may belong to one prompt. */
static bool is_same_directory(const char *a, const char *b)
{
    const char *a_end = strrchr(a, '/'), *b_end = strrchr(b, '/');
    size_t n_a = a_end ? (size_t)(a_end - a) : 0, n_b = b_end ? (size_t)(b_end - b) : 0;
    return a_end && b_end && n_a == n_b && memcmp(a, b, n_a) == 0;
}

static enum pl_exit add_file(struct import *import, const struct pl_file_tree_entry *source)
{
    struct pl_deed *deed = import->deed;
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_file_read(source->path, MAX_FILE, NULL, &file, &err);
    if (status == PL_OK && !pl_utf8_is_valid(file.bytes))
        status = pl_fail(&err, PL_UNREADABLE, "the file is not UTF-8");
    if (status == PL_OK && !pl_utf8_is_valid(pl_str_of(source->name)))
        status = pl_fail(&err, PL_UNREADABLE, "the file name is not UTF-8; rename the file");
    if (status == PL_NOMEM)
        return pl_deed_stop(deed, status);
    if (status != PL_OK) {
        note_problem(import, pl_str_of(source->path), pl_str_of(err.message));
        return PL_EXIT_OK;
    }
    if (!import->n_page)
        open_page(import);
    import->n_page++;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "path");
    pl_json_out_text(&deed->out, pl_str_of(source->name));
    pl_json_out_key(&deed->out, "text");
    pl_json_out_text(&deed->out, file.bytes.len ? file.bytes : PL_STR(""));
    pl_json_out_close(&deed->out, '}');
    return PL_EXIT_OK;
}

static enum pl_exit send_all(struct import *import)
{
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; i < import->files.files.len && code == PL_EXIT_OK; i++) {
        const struct pl_file_tree_entry *file = &import->files.files.ptr[i];
        bool is_full = import->deed->body.len > PAGE_BYTES || import->n_page >= PAGE_FILES;
        if (is_full && !is_same_directory(file[-1].name, file->name))
            code = send_page(import);
        if (code == PL_EXIT_OK)
            code = add_file(import, file);
    }
    return code == PL_EXIT_OK ? send_page(import) : code;
}

static void tell_import(struct import *import)
{
    struct pl_deed *deed = import->deed;
    if (deed->api.is_json) {
        pl_console_puts(deed->console, "{\"items\":[");
        pl_console_put(deed->console, pl_buf_str(&import->items));
        pl_console_puts(deed->console, "],\"problems\":[");
        pl_console_put(deed->console, pl_buf_str(&import->problems));
        pl_console_puts(deed->console, "]}\n");
        return;
    }
    pl_console_say(deed->console, "%zu created, %zu new versions, %zu unchanged, %zu skipped%s",
                   import->n_outcomes[0], import->n_outcomes[1], import->n_outcomes[2],
                   import->n_outcomes[3], import->n_problems ? "; see above for the rest" : "");
}

enum pl_exit pl_verb_prompt_import(struct pl_deed *deed)
{
    struct import import = {.deed = deed};
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    pl_buf_init(&import.items, 0);
    pl_buf_init(&import.problems, 0);
    for (size_t i = 0; i < deed->n_words && status == PL_OK; i++)
        status = gather(&import, deed->words[i], &err);
    enum pl_exit code = status == PL_OK ? send_all(&import) : pl_deed_fail(deed, status, &err);
    if (code == PL_EXIT_OK && (import.items.status != PL_OK || import.problems.status != PL_OK))
        code = pl_deed_stop(deed, PL_NOMEM);
    if (code == PL_EXIT_OK)
        tell_import(&import);
    if (code == PL_EXIT_OK && !import.files.files.len)
        pl_console_hint(deed->console, "None of the files can be a prompt.");
    pl_file_tree_deinit(&import.files);
    pl_buf_deinit(&import.items);
    pl_buf_deinit(&import.problems);
    return code == PL_EXIT_OK && import.n_problems ? PL_EXIT_NO : code;
}
