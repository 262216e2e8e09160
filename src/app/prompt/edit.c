/* parley prompt new and edit: makes a version from a file, or in the editor. Text from the editor
 * is never lost: if it cannot be saved, the file stays and its path is printed. */
#include "app/prompt/prompt_int.h"

#include "promptfile/yaml.h"
#include "io/file/file.h"
#include "io/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONFLICT = 412 };

/* A file in its own directory; both are private to this user. */
struct sheet {
    char dir[PATH_MAX], path[PATH_MAX + 16];
    bool is_kept; /* not removed at the end */
};

static enum pl_status make_sheet(struct sheet *sheet, const char *suffix, struct pl_str text,
                                 struct pl_error *err)
{
    enum pl_status status = pl_temp_dir_make(sheet->dir, err);
    if (status != PL_OK) {
        sheet->dir[0] = '\0';
        return status;
    }
    snprintf(sheet->path, sizeof sheet->path, "%s/prompt%s", sheet->dir, suffix);
    int fd = open(sheet->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "cannot write the file: %s", strerror(errno));
    status = pl_fd_write(fd, text, err);
    if (close(fd) != 0 && status == PL_OK)
        status = pl_fail(err, PL_IO, "cannot write the file: %s", strerror(errno));
    return status;
}

static void drop_sheet(struct sheet *sheet)
{
    if (sheet->dir[0] && !sheet->is_kept)
        pl_temp_dir_remove(sheet->dir);
}

static void keep_sheet(struct pl_deed *deed, struct sheet *sheet)
{
    sheet->is_kept = true;
    pl_console_hint(deed->console, "Your text is in %s", sheet->path);
}

/* Runs $VISUAL, $EDITOR, or vi at a terminal. The variable may have several words, so a shell
 * splits it. */
static enum pl_exit run_editor(struct pl_deed *deed, struct sheet *sheet)
{
    const char *editor = getenv("VISUAL");
    struct pl_error err = {0};
    int code = 0;
    if (!editor || !*editor)
        editor = getenv("EDITOR");
    if ((!editor || !*editor) && !isatty(STDIN_FILENO))
        return pl_deed_usage(deed,
                             "there is no editor; set VISUAL or EDITOR, or give --file FILE (- for "
                             "standard input)");
    if (!editor || !*editor)
        editor = "vi";
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_buf_addf(&line, "%s \"$@\"", editor);
    pl_buf_addc(&line, '\0');
    if (line.status != PL_OK)
        return pl_deed_stop(deed, line.status);
    const char *const argv[] = {"sh", "-c", line.ptr, editor, sheet->path, NULL};
    enum pl_status status = pl_process_run_here(argv, &code, &err);
    if (status == PL_OK && code != 0)
        status = pl_fail(&err, PL_IO, "the editor (%s) ended with exit code %d", editor, code);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, PL_IO, &err);
}

/* An editor ends the last line with a line break. Removes it if the text had none before. */
static struct pl_str cut_last_break(struct pl_str text, struct pl_str before)
{
    bool had_one = before.len && before.ptr[before.len - 1] == '\n';
    if (!had_one && text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    return text;
}

/* Lets the user edit the text. *ret_text lives as long as the deed; it is `before` if nothing
 * changed. */
static enum pl_exit edit_by_hand(struct pl_deed *deed, struct sheet *sheet, const char *suffix,
                                 struct pl_str before, struct pl_str *ret_text)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    if (make_sheet(sheet, suffix, before, &err) != PL_OK)
        return pl_console_fail(deed->console, sheet->dir[0] ? sheet->path : NULL, &err);
    enum pl_exit code = run_editor(deed, sheet);
    enum pl_status status = pl_file_read(sheet->path, PL_DRAFT_MAX, NULL, &file, &err);
    struct pl_str text = cut_last_break(file.bytes, before);
    bool is_changed = status == PL_OK && !pl_str_eq(text, before);
    if (code != PL_EXIT_OK && is_changed)
        keep_sheet(deed, sheet);
    if (code != PL_EXIT_OK)
        return code;
    if (status != PL_OK)
        return pl_console_fail(deed->console, sheet->path, &err);
    *ret_text = is_changed && text.len ? pl_arena_dup(&deed->api.texts.arena, text) : text;
    if (!is_changed)
        *ret_text = before;
    else if (!text.len)
        *ret_text = PL_STR("");
    return ret_text->ptr || !ret_text->len ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

/* Parses the edited text as a draft; reports file and line if it is invalid. */
static enum pl_exit read_sheet(struct pl_deed *deed, struct sheet *sheet, struct pl_str text,
                               enum pl_draft_type type, struct pl_draft *ret_draft)
{
    struct pl_error err = {0};
    enum pl_status status = pl_draft_read(deed, sheet->path, text, type, ret_draft, &err);
    if (status == PL_OK)
        return PL_EXIT_OK;
    err.status = status;
    enum pl_exit code = pl_console_fail(deed->console, sheet->path, &err);
    keep_sheet(deed, sheet);
    return code;
}

/* --- new ------------------------------------------------------------------------------------- */

static enum pl_exit create(struct pl_deed *deed, const struct pl_draft *draft)
{
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "name");
    pl_json_out_text(&deed->out, pl_str_of(deed->words[0]));
    pl_api_out_option(&deed->out, deed->args, PL_OPT_FOLDER, "folder");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_DESCRIPTION, "description");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_NOTE, "note");
    pl_deed_out_tags(deed);
    pl_draft_out(deed, draft);
    pl_json_out_close(&deed->out, '}');
    return pl_deed_ask(deed, "POST", "/api/prompts");
}

static enum pl_exit write_new(struct pl_deed *deed, struct sheet *sheet)
{
    enum pl_draft_type type = pl_draft_type_of(deed, PL_DRAFT_TEXT);
    bool is_structured = type == PL_DRAFT_STRUCTURED;
    struct pl_str before = is_structured ? PL_STR("protocol: structured-chat\n"
                                                  "system_prompt: \"\"\n"
                                                  "messages:\n"
                                                  "  - id: m1\n"
                                                  "    role: user\n"
                                                  "    content: \"\"\n")
                                         : PL_STR("");
    struct pl_str text;
    struct pl_draft draft;
    enum pl_exit code = edit_by_hand(deed, sheet, is_structured ? ".yaml" : ".md", before, &text);
    if (code != PL_EXIT_OK)
        return code;
    if (pl_str_eq(text, before)) {
        pl_console_say(deed->console, "the text is empty; no prompt was created");
        return PL_EXIT_NO;
    }
    code = read_sheet(deed, sheet, text, type, &draft);
    if (code != PL_EXIT_OK)
        return code;
    code = create(deed, &draft);
    if (code != PL_EXIT_OK)
        keep_sheet(deed, sheet);
    return code;
}

enum pl_exit pl_verb_prompt_new(struct pl_deed *deed)
{
    const char *file = pl_deed_option(deed, PL_OPT_FILE);
    struct sheet sheet = {0};
    struct pl_draft draft;
    enum pl_exit code =
        pl_named_prompt_refuse_second(deed, pl_deed_option(deed, PL_OPT_FOLDER), deed->words[0]);
    if (code != PL_EXIT_OK)
        return code;
    if (file) {
        code = pl_draft_read_file(deed, file, pl_draft_type_of(deed, PL_DRAFT_ANY), &draft);
        if (code == PL_EXIT_OK)
            code = create(deed, &draft);
    } else {
        code = write_new(deed, &sheet);
    }
    drop_sheet(&sheet);
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

/* --- edit ------------------------------------------------------------------------------------ */

/* Another version was saved meanwhile: prints the differences from theirs to ours. */
static enum pl_exit tell_conflict(struct pl_deed *deed, struct pl_str reply)
{
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_status status = pl_json_parse(&deed->api.texts.arena, reply, &pl_json_own, &doc, &err);
    if (status == PL_NOMEM)
        return pl_deed_stop(deed, status);
    if (deed->api.is_json || status != PL_OK)
        return pl_api_refused(&deed->api, CONFLICT, reply);
    const struct pl_json_node *current = pl_json_member(&doc, doc.root, "current", PL_JSON_OBJECT);
    const struct pl_json_node *diff = pl_json_member(&doc, doc.root, "diff", PL_JSON_OBJECT);
    pl_console_say(deed->console,
                   "somebody else saved version %lld in the meantime; yours is not saved. From "
                   "theirs to yours:",
                   (long long)pl_api_int(&doc, current, "version", 0));
    if (diff)
        pl_show_diff(deed, &doc, diff);
    return PL_EXIT_NO;
}

static enum pl_exit save(struct pl_deed *deed, const char *id, int64_t based_on,
                         const struct pl_draft *draft)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_error err = {0};
    int http_status = 0;
    pl_json_out_open(&deed->out, '{');
    pl_draft_out(deed, draft);
    pl_api_out_option(&deed->out, deed->args, PL_OPT_NOTE, "note");
    pl_json_out_key(&deed->out, "based_on");
    pl_json_out_int(&deed->out, based_on);
    pl_json_out_close(&deed->out, '}');
    if (deed->body.status != PL_OK)
        return pl_deed_stop(deed, deed->body.status);
    struct pl_http_call call = {
        .method = "POST", .body = pl_buf_str(&deed->body), .has_body = true};
    enum pl_status status =
        pl_api_try(&deed->api, &call, pl_api_path(&deed->api, "/api/prompts/%/versions", id, NULL),
                   &http_status, &reply, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    if (http_status == CONFLICT)
        return tell_conflict(deed, pl_buf_str(&reply));
    if (http_status < 200 || http_status >= 300)
        return pl_api_refused(&deed->api, http_status, pl_buf_str(&reply));
    return pl_deed_take(deed, pl_buf_str(&reply));
}

/* The latest version in its editing form: a structured chat as YAML. */
static enum pl_exit text_of_latest(struct pl_deed *deed, const struct pl_json_node *latest,
                                   bool is_structured, struct pl_str *ret_text)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    const struct pl_json_node *content = pl_json_get(&deed->answer, latest, PL_STR("content"));
    if (!is_structured) {
        *ret_text = pl_deed_text(deed, latest, "content");
        return PL_EXIT_OK;
    }
    PL_CLEANUP_BUF struct pl_buf yaml;
    pl_buf_init(&yaml, 0);
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_status status =
        content
            ? pl_json_parse(arena, pl_json_span(&deed->answer, content), &pl_json_own, &doc, &err)
            : pl_fail(&err, PL_IO, "unexpected answer; is this a Parley server?");
    if (status == PL_OK) {
        pl_yaml_write(&yaml, &doc);
        status = yaml.status;
    }
    *ret_text = status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&yaml)) : (struct pl_str){0};
    if (status == PL_OK && !ret_text->ptr)
        status = PL_NOMEM;
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

struct editing {
    const char *id;
    int64_t version; /* the current version */
    bool is_structured;
    struct pl_str before;
    struct sheet sheet;
};

/* *ret_is_changed is false if there is nothing to save. */
static enum pl_exit write_version(struct pl_deed *deed, struct editing *editing,
                                  bool *ret_is_changed)
{
    enum pl_draft_type type = editing->is_structured ? PL_DRAFT_STRUCTURED : PL_DRAFT_TEXT;
    struct pl_str text;
    struct pl_draft draft;
    enum pl_exit code = edit_by_hand(
        deed, &editing->sheet, editing->is_structured ? ".yaml" : ".md", editing->before, &text);
    if (code != PL_EXIT_OK)
        return code;
    *ret_is_changed = !pl_str_eq(text, editing->before);
    if (!*ret_is_changed)
        return PL_EXIT_OK;
    code = read_sheet(deed, &editing->sheet, text, type, &draft);
    if (code != PL_EXIT_OK)
        return code;
    code = save(deed, editing->id, editing->version, &draft);
    if (code != PL_EXIT_OK) {
        keep_sheet(deed, &editing->sheet);
        pl_console_hint(deed->console,
                        "Correct it, and save it with: parley prompt edit %s --file "
                        "%s",
                        editing->id, editing->sheet.path);
    }
    return code;
}

static enum pl_exit edit_content(struct pl_deed *deed, const char *id)
{
    const char *file = pl_deed_option(deed, PL_OPT_FILE);
    const char *path = pl_api_path(&deed->api, "/api/prompts/%", id, NULL);
    struct editing editing = {.id = id};
    bool is_changed = true;
    enum pl_exit code = pl_deed_ask(deed, "GET", path);
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *latest =
        pl_json_member(&deed->answer, deed->answer.root, "latest", PL_JSON_OBJECT);
    editing.version = pl_api_int(&deed->answer, latest, "version", 0);
    editing.is_structured = pl_str_eq(pl_deed_text(deed, latest, "type"), PL_STR("structured"));
    if (file) {
        struct pl_draft draft;
        enum pl_draft_type type = editing.is_structured ? PL_DRAFT_STRUCTURED : PL_DRAFT_TEXT;
        code = pl_draft_read_file(deed, file, pl_draft_type_of(deed, type), &draft);
        if (code == PL_EXIT_OK)
            code = save(deed, id, editing.version, &draft);
    } else {
        code = text_of_latest(deed, latest, editing.is_structured, &editing.before);
        if (code == PL_EXIT_OK)
            code = write_version(deed, &editing, &is_changed);
    }
    drop_sheet(&editing.sheet);
    if (code != PL_EXIT_OK)
        return code;
    if (!is_changed)
        pl_console_say(deed->console, "no change; no new version");
    if (!is_changed)
        return PL_EXIT_OK;
    return pl_deed_done(deed, "saved as version %lld",
                        (long long)pl_api_int(&deed->answer, deed->answer.root, "version", 0));
}

/* Changes the name, folder, description and tags of a prompt, without a new version. */
static enum pl_exit change_members(struct pl_deed *deed, const char *id)
{
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_NAME, "name");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_FOLDER, "folder");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_DESCRIPTION, "description");
    pl_deed_out_tags(deed);
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code =
        pl_deed_ask(deed, "PATCH", pl_api_path(&deed->api, "/api/prompts/%", id, NULL));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "changed") : code;
}

enum pl_exit pl_verb_prompt_edit(struct pl_deed *deed)
{
    const char *id;
    bool has_members =
        pl_args_has(deed->args, PL_OPT_NAME) || pl_args_has(deed->args, PL_OPT_FOLDER) ||
        pl_args_has(deed->args, PL_OPT_DESCRIPTION) || pl_args_has(deed->args, PL_OPT_TAG);
    bool has_content = pl_args_has(deed->args, PL_OPT_FILE) ||
                       pl_args_has(deed->args, PL_OPT_NOTE) || pl_args_has(deed->args, PL_OPT_TYPE);
    if (has_members && has_content)
        return pl_deed_usage(deed,
                             "--name, --folder, --description and --tag change the prompt, the "
                             "other options its text; give one kind at a time");
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code != PL_EXIT_OK)
        return code;
    return has_members ? change_members(deed, id) : edit_content(deed, id);
}
