/* parley prompt export: one version in any format, or the library as files. --all synchronises a
 * directory with the library: only files that differ are written, so git and make see only real
 * changes. */
#include "app/prompt/prompt_int.h"

#include "io/file/file.h"
#include "io/file/outfile.h"
#include "io/file/file_tree.h"
#include "promptfile/export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_FILE = 16 << 20 };

/* --- one prompt ------------------------------------------------------------------------------ */

/* Where Claude Code expects a file, below the directory of --out. */
struct pl_claude_place {
    const char *dir, *shape; /* the name replaces %s */
};

static bool find_claude_place(struct pl_deed *deed, struct pl_claude_place *ret_place)
{
    static const struct {
        const struct pl_export *export;
        const char *shape;
    } places[] = {{&pl_export_claude_command, "/%s.md"}, {&pl_export_claude_skill, "/%s/SKILL.md"}};
    const char *to = pl_deed_option(deed, PL_OPT_TO), *out = pl_deed_option(deed, PL_OPT_OUT);
    for (size_t i = 0; i < sizeof places / sizeof *places && to && out; i++)
        if (strcmp(to, places[i].export->name) == 0 && pl_path_is_directory(out)) {
            *ret_place = (struct pl_claude_place){out, places[i].shape};
            return true;
        }
    return false;
}

/* deed->answer is the prompt. */
static enum pl_exit put_claude_file(struct pl_deed *deed, const struct pl_claude_place *place,
                                    struct pl_str text)
{
    char name[PL_CLAUDE_NAME_MAX + 1];
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_export_claude_name(pl_deed_text(deed, deed->answer.root, "name"), name);
    const char *gap = strstr(place->shape, "%s");
    pl_buf_addf(&path, "%s%.*s%s%s", place->dir, (int)(gap - place->shape), place->shape, name,
                gap + 2);
    pl_buf_addc(&path, '\0');
    enum pl_status status = path.status;
    if (status == PL_OK)
        status = pl_path_make_parents(path.ptr, &err);
    if (status == PL_OK)
        status = pl_file_write(path.ptr, text, &err);
    if (status != PL_OK)
        return pl_console_fail_as(deed->console, place->dir, status, &err);
    pl_console_say(deed->console, "wrote %s", path.ptr);
    return PL_EXIT_OK;
}

static enum pl_exit export_one(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_TO, "format"},
                                                  {PL_OPT_APPEND, "append"},
                                                  {PL_OPT_MODEL, "model"},
                                                  {PL_OPT_VERSION, "version"},
                                                  {0}};
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET"};
    const char *id;
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    const char *path =
        code == PL_EXIT_OK ? pl_api_path(&deed->api, "/api/prompts/%/export", id, NULL) : NULL;
    if (code == PL_EXIT_OK)
        code = path ? pl_api_call(&deed->api, &call, pl_deed_query(deed, path, params), &reply)
                    : pl_deed_stop(deed, PL_NOMEM);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_claude_place place;
    if (!find_claude_place(deed, &place))
        return pl_deed_put_result(deed, pl_buf_str(&reply));
    code = pl_deed_ask(deed, "GET", pl_api_path(&deed->api, "/api/prompts/%", id, NULL));
    return code == PL_EXIT_OK ? put_claude_file(deed, &place, pl_buf_str(&reply)) : code;
}

/* --- the library ----------------------------------------------------------------------------- */

struct library {
    struct pl_deed *deed;
    const char *dir;
    PL_VEC(struct pl_str) paths; /* owned; of all exported files */
    size_t n_written, n_same, n_removed;
};

/* Whether the path stays below the directory: the server is not trusted with that. */
static bool is_safe_path(struct pl_str path)
{
    size_t from = 0;
    if (!path.len || memchr(path.ptr, '\0', path.len))
        return false;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/')
            continue;
        struct pl_str part = pl_str_slice(path, from, i);
        if (!part.len || part.ptr[0] == '.')
            return false;
        from = i + 1;
    }
    return true;
}

/* Writes a file unless it already has this content. */
static enum pl_status put_file(struct library *library, const char *path, struct pl_str text,
                               struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_file_read(path, MAX_FILE, NULL, &file, err);
    if (status == PL_NOMEM)
        return status;
    if (status == PL_OK && pl_str_eq(file.bytes, text)) {
        library->n_same++;
        return PL_OK;
    }
    status = pl_path_make_parents(path, err);
    if (status == PL_OK)
        status = pl_file_write(path, text, err);
    library->n_written += status == PL_OK;
    return status;
}

static enum pl_exit write_file(struct library *library, const struct pl_json_node *file)
{
    struct pl_deed *deed = library->deed;
    struct pl_str name = pl_deed_text(deed, file, "path"), text = pl_deed_text(deed, file, "text");
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    if (!deed->api.texts.is_cut && !is_safe_path(name))
        return pl_deed_fail(deed,
                            pl_fail(&err, PL_IO,
                                    "the server sent the file name \"%.*s\", which is outside the "
                                    "directory",
                                    PL_STR_ARG(name)),
                            &err);
    pl_buf_addf(&path, "%s/", library->dir);
    pl_buf_add(&path, name);
    pl_buf_addc(&path, '\0');
    struct pl_str kept = pl_arena_dup(&deed->api.texts.arena, name);
    if (path.status != PL_OK || !kept.ptr || !pl_vec_push(&library->paths, kept))
        return pl_deed_stop(deed, PL_NOMEM);
    /* Does not write a text that could not be decoded. */
    enum pl_status status =
        deed->api.texts.is_cut ? PL_NOMEM : put_file(library, path.ptr, text, &err);
    err.status = status;
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(deed->console, path.ptr, &err);
}

static enum pl_exit write_page(struct library *library)
{
    struct pl_deed *deed = library->deed;
    const struct pl_json_node *files =
        pl_json_member(&deed->answer, deed->answer.root, "files", PL_JSON_ARRAY);
    enum pl_exit code = PL_EXIT_OK;
    for (const struct pl_json_node *file = files ? pl_json_first(files) : NULL;
         file && file < pl_json_end(files) && code == PL_EXIT_OK; file = pl_json_next(file))
        code = write_file(library, file);
    pl_console_progress(deed->console, "%zu files ...", library->paths.len);
    return code;
}

static int compare(const void *a, const void *b)
{
    return pl_str_cmp(*(const struct pl_str *)a, *(const struct pl_str *)b);
}

/* Whether export writes files of this name: prompt.yaml, and versions as 0001.md or 0001.yaml. */
static bool is_ours(struct pl_str name)
{
    size_t at = 0;
    if (pl_str_eq(name, PL_STR("prompt.yaml")))
        return true;
    while (at < name.len && name.ptr[at] >= '0' && name.ptr[at] <= '9')
        at++;
    struct pl_str suffix = pl_str_slice(name, at, name.len);
    return at >= 4 && (pl_str_eq(suffix, PL_STR(".md")) || pl_str_eq(suffix, PL_STR(".yaml")));
}

bool pl_name_is_hidden(const char *name)
{
    return name[0] == '.' || strstr(name, "/.");
}

/* Removes a file, and the directories that become empty. */
static enum pl_status remove_file(const struct library *library, const char *path,
                                  struct pl_error *err)
{
    char above[PATH_MAX];
    if (unlink(path) != 0)
        return pl_fail(err, PL_IO, "%s cannot be removed: %s", path, strerror(errno));
    snprintf(above, sizeof above, "%s", path);
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = '\0';
        if (strlen(above) <= strlen(library->dir) || rmdir(above) != 0)
            break;
    }
    return PL_OK;
}

/* Removes files that look exported but are not in the library any more; other files are not
 * touched. */
static enum pl_exit prune(struct library *library)
{
    struct pl_deed *deed = library->deed;
    struct pl_error err = {0};
    struct pl_file_tree tree = {0};
    if (library->paths.len)
        qsort(library->paths.ptr, library->paths.len, sizeof *library->paths.ptr, compare);
    enum pl_status status =
        pl_file_tree_list(&tree, &deed->api.texts.arena, library->dir, is_ours, &err);
    for (size_t i = 0; status == PL_OK && i < tree.files.len; i++) {
        const struct pl_file_tree_entry *file = &tree.files.ptr[i];
        struct pl_str name = pl_str_of(file->name);
        if (!name.len || pl_name_is_hidden(file->name) ||
            (library->paths.len &&
             bsearch(&name, library->paths.ptr, library->paths.len, sizeof name, compare)))
            continue;
        status = remove_file(library, file->path, &err);
        library->n_removed += status == PL_OK;
    }
    pl_file_tree_deinit(&tree);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

static enum pl_exit tell_library(struct library *library)
{
    struct pl_deed *deed = library->deed;
    if (!deed->api.is_json) {
        pl_console_say(deed->console, "%s: %zu files written, %zu the same, %zu removed",
                       library->dir, library->n_written, library->n_same, library->n_removed);
        return PL_EXIT_OK;
    }
    struct pl_json_out out = pl_json_out(pl_console_out(deed->console));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "written");
    pl_json_out_int(&out, (int64_t)library->n_written);
    pl_json_out_key(&out, "same");
    pl_json_out_int(&out, (int64_t)library->n_same);
    pl_json_out_key(&out, "removed");
    pl_json_out_int(&out, (int64_t)library->n_removed);
    pl_json_out_close(&out, '}');
    pl_console_puts(deed->console, "\n");
    return PL_EXIT_OK;
}

static enum pl_exit export_all(struct pl_deed *deed)
{
    static const char all[] = "/api/prompts/files";
    struct library library = {.deed = deed, .dir = deed->words[0]};
    enum pl_exit code = PL_EXIT_OK;
    for (const char *path = all; path && code == PL_EXIT_OK;) {
        code = pl_deed_ask(deed, "GET", path);
        if (code == PL_EXIT_OK)
            code = write_page(&library);
        path = code == PL_EXIT_OK ? pl_deed_next_page(deed, all) : NULL;
    }
    if (code == PL_EXIT_OK && deed->api.texts.is_cut)
        code = pl_deed_stop(deed, PL_NOMEM);
    if (code == PL_EXIT_OK && pl_args_has(deed->args, PL_OPT_PRUNE))
        code = prune(&library);
    pl_vec_deinit(&library.paths);
    return code == PL_EXIT_OK ? tell_library(&library) : code;
}

enum pl_exit pl_verb_prompt_export(struct pl_deed *deed)
{
    bool is_all = pl_args_has(deed->args, PL_OPT_ALL);
    bool has_one = pl_args_has(deed->args, PL_OPT_TO) || pl_args_has(deed->args, PL_OPT_VERSION) ||
                   pl_args_has(deed->args, PL_OPT_MODEL) || pl_args_has(deed->args, PL_OPT_OUT);
    if (deed->n_words != 1)
        return pl_deed_usage(deed, "usage: parley prompt export ID, or export --all DIR");
    if (is_all && has_one)
        return pl_deed_usage(
            deed, "--all writes every version; remove --to, --version, --model and --out");
    if (!is_all && pl_args_has(deed->args, PL_OPT_PRUNE))
        return pl_deed_usage(deed, "--prune needs --all");
    return is_all ? export_all(deed) : export_one(deed);
}
