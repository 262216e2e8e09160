/* parley prompt: the prompt library of a server. This file shows and organises prompts; edit.c
 * writes, diff.c compares, run.c runs, and export.c and import.c handle files. */
#include "app/prompt/prompt_int.h"
#include "app/chat/turn_show.h"

#include "json/text.h"

enum { MAX_LIMIT = 100, NAME_WIDTH = 50, TAGS_WIDTH = 40, NOTE_WIDTH = 60 };

/* --- looking --------------------------------------------------------------------------------- */

/* The elements of an array, or the members of an object, as "a, b"; `with` separates a member from
 * its value. */
static struct pl_str join(struct pl_deed *deed, const struct pl_json_node *list, const char *with)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    bool is_object = list && pl_json_kind(list) == PL_JSON_OBJECT;
    for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
         one && one < pl_json_end(list);
         one = is_object ? pl_json_next_member(one) : pl_json_next(one)) {
        struct pl_str word = {0};
        if (pl_json_kind(one) == PL_JSON_STRING &&
            pl_json_text(&deed->api.texts.arena, &deed->answer, one, &word) != PL_OK)
            deed->api.texts.is_cut = true;
        pl_buf_adds(&text, text.len ? ", " : "");
        pl_buf_add(&text, word);
        if (is_object) {
            pl_buf_adds(&text, with);
            pl_buf_add(&text, pl_json_span(&deed->answer, one + 1));
        }
    }
    struct pl_str kept = pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&text));
    if (text.status != PL_OK || (text.len && !kept.ptr))
        deed->api.texts.is_cut = true;
    return kept;
}

/* "folder/name"; a pinned prompt gets a star. */
static struct pl_str place_of(struct pl_deed *deed, const struct pl_json_node *prompt)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_str folder = pl_deed_text(deed, prompt, "folder");
    pl_buf_add(&text, folder);
    pl_buf_adds(&text, folder.len ? "/" : "");
    pl_buf_add(&text, pl_deed_text(deed, prompt, "name"));
    if (pl_json_member(&deed->answer, prompt, "is_pinned", PL_JSON_TRUE))
        pl_buf_adds(&text, " *");
    if (text.status != PL_OK)
        deed->api.texts.is_cut = true;
    return pl_line_of(&deed->api.texts, pl_buf_str(&text), NAME_WIDTH);
}

static struct pl_str or_dash(struct pl_str text)
{
    return text.len ? text : PL_STR("-");
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_FOLDER, "folder"},
                                                  {PL_OPT_TAG, "tag"},
                                                  {PL_OPT_LABEL, "label"},
                                                  {PL_OPT_QUERY, "q"},
                                                  {PL_OPT_PINNED, "pinned"},
                                                  {PL_OPT_LIMIT, "limit"},
                                                  {0}};
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/prompts", params));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "no prompt found; \"parley prompt new NAME\" creates one");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_str labels =
            join(deed, pl_json_member(&deed->answer, one, "labels", PL_JSON_OBJECT), "=");
        struct pl_str tags =
            join(deed, pl_json_member(&deed->answer, one, "tags", PL_JSON_ARRAY), "");
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, place_of(deed, one));
        pl_columns_add(&columns, pl_deed_number(deed, one, "latest_version"));
        pl_columns_add(&columns, or_dash(pl_line_of(texts, labels, TAGS_WIDTH)));
        pl_columns_add(&columns, or_dash(pl_line_of(texts, tags, TAGS_WIDTH)));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "updated_at")));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more, --search TEXT filters.");
}

/* Copies a text, so that it survives the next request. */
static struct pl_str kept(struct pl_deed *deed, struct pl_str text)
{
    const char *copy = pl_deed_keep(deed, text);
    return copy ? pl_str_of(copy) : PL_STR("");
}

static enum pl_exit run_counts(struct pl_deed *deed, const char *path)
{
    struct pl_columns columns;
    enum pl_exit code = pl_deed_ask(deed, "GET", path);
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    pl_deed_begin_table(deed, &columns);
    for (const char *page = path; page && code == PL_EXIT_OK;) {
        for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
            struct pl_str name = pl_deed_text(deed, one, "name");
            pl_columns_add(&columns, name.len ? kept(deed, name) : PL_STR("(root)"));
            pl_columns_add(&columns, kept(deed, pl_deed_number(deed, one, "count")));
        }
        page = pl_deed_next_page(deed, path);
        code = page ? pl_deed_ask(deed, "GET", page) : code;
    }
    if (code == PL_EXIT_OK)
        return pl_deed_print_table(deed, &columns, NULL);
    pl_columns_deinit(&columns);
    return code;
}

static enum pl_exit run_folders(struct pl_deed *deed)
{
    return run_counts(deed, "/api/prompts/folders");
}

static enum pl_exit run_tags(struct pl_deed *deed)
{
    return run_counts(deed, "/api/prompts/tags");
}

static void show_variables(struct pl_deed *deed, const struct pl_json_node *version)
{
    const struct pl_json_node *list =
        pl_json_member(&deed->answer, version, "variables", PL_JSON_ARRAY);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
         one && one < pl_json_end(list); one = pl_json_next(one)) {
        pl_buf_adds(&text, text.len ? ", " : "");
        pl_buf_add(&text, pl_deed_text(deed, one, "name"));
        if (!pl_json_member(&deed->answer, one, "required", PL_JSON_TRUE))
            pl_buf_adds(&text, " (optional)");
    }
    if (text.status != PL_OK)
        deed->api.texts.is_cut = true;
    pl_show_member(deed->console, "variables", pl_buf_str(&text));
}

/* Prints a text as it is, and a structured chat as readable JSON. */
static void put_content(struct pl_deed *deed, const struct pl_json_node *version, bool is_raw)
{
    const struct pl_json_node *content = pl_json_get(&deed->answer, version, PL_STR("content"));
    if (!content)
        return;
    if (pl_json_kind(content) == PL_JSON_STRING) {
        struct pl_str text = pl_deed_text(deed, version, "content");
        if (is_raw && !deed->console->out_is_terminal) {
            pl_console_put(deed->console, text);
            return;
        }
        pl_show_text(deed->console, text, 0);
    } else if (is_raw) {
        pl_console_put(deed->console, pl_json_span(&deed->answer, content));
    } else {
        pl_json_write_pretty(pl_console_out(deed->console), &deed->answer, content);
    }
    pl_console_puts(deed->console, "\n");
}

static void show_prompt(struct pl_deed *deed, const struct pl_json_node *prompt)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_console *console = deed->console;
    pl_console_put_safe(console, pl_deed_text(deed, prompt, "id"));
    pl_console_puts(console, "\n");
    pl_show_member(console, "name", pl_deed_text(deed, prompt, "name"));
    pl_show_member(console, "folder", pl_deed_text(deed, prompt, "folder"));
    pl_show_member(console, "about", pl_deed_text(deed, prompt, "description"));
    pl_show_member(console, "tags",
                   join(deed, pl_json_member(&deed->answer, prompt, "tags", PL_JSON_ARRAY), ""));
    pl_show_member(
        console, "labels",
        join(deed, pl_json_member(&deed->answer, prompt, "labels", PL_JSON_OBJECT), "="));
    if (pl_json_member(&deed->answer, prompt, "is_pinned", PL_JSON_TRUE))
        pl_show_member(console, "pinned", PL_STR("yes"));
    pl_show_member(console, "changed", pl_time_of(texts, pl_deed_text(deed, prompt, "updated_at")));
}

static void show_version(struct pl_deed *deed, const struct pl_json_node *version)
{
    pl_show_member(deed->console, "version", pl_deed_number(deed, version, "version"));
    pl_show_member(deed->console, "type", pl_deed_text(deed, version, "type"));
    pl_show_member(deed->console, "note", pl_deed_text(deed, version, "note"));
    show_variables(deed, version);
    pl_console_puts(deed->console, "\n");
    put_content(deed, version, false);
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    const char *version = pl_deed_option(deed, PL_OPT_VERSION), *id;
    bool is_raw = pl_args_has(deed->args, PL_OPT_RAW);
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK && (!version || !(is_raw || deed->api.is_json)))
        code = pl_deed_ask(deed, "GET", pl_api_path(&deed->api, "/api/prompts/%", id, NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (!version && deed->api.is_json)
        return pl_deed_print(deed);
    if (!is_raw && !deed->api.is_json)
        show_prompt(deed, deed->answer.root);
    const struct pl_json_node *shown =
        version ? NULL : pl_json_member(&deed->answer, deed->answer.root, "latest", PL_JSON_OBJECT);
    if (version) {
        code = pl_deed_ask(deed, "GET",
                           pl_api_path(&deed->api, "/api/prompts/%/versions/%", id, version, NULL));
        shown = deed->answer.root;
    }
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    if (is_raw)
        put_content(deed, shown, true);
    else
        show_version(deed, shown);
    return PL_EXIT_OK;
}

static enum pl_exit run_versions(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_LIMIT, "limit"}, {0}};
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    const char *id;
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_named_prompt_find(deed, deed->words[0], &id);
    const char *path =
        code == PL_EXIT_OK ? pl_api_path(&deed->api, "/api/prompts/%/versions", id, NULL) : NULL;
    if (code == PL_EXIT_OK)
        code = path ? pl_deed_ask(deed, "GET", pl_deed_query(deed, path, params))
                    : pl_deed_stop(deed, PL_NOMEM);
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_number(deed, one, "version"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "type"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "created_at")));
        pl_columns_add(&columns,
                       or_dash(pl_line_of(texts, pl_deed_text(deed, one, "note"), NOTE_WIDTH)));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more.");
}

/* --- ordering -------------------------------------------------------------------------------- */

static enum pl_exit run_label(struct pl_deed *deed)
{
    bool is_removed = pl_args_has(deed->args, PL_OPT_REMOVE);
    const char *label = deed->words[1], *id;
    int64_t version = 0;
    if (is_removed == (deed->n_words == 3))
        return pl_deed_usage(deed, "usage: parley prompt label ID LABEL VERSION, or label ID LABEL "
                                   "--remove");
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK && !is_removed)
        code = pl_named_version_number(deed, id, deed->words[2], &version);
    if (code != PL_EXIT_OK)
        return code;
    const char *path = pl_api_path(&deed->api, "/api/prompts/%/labels/%", id, label, NULL);
    if (is_removed) {
        code = pl_deed_ask(deed, "DELETE", path);
        return code == PL_EXIT_OK ? pl_deed_done(deed, "removed the label %s", label) : code;
    }
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "version");
    pl_json_out_int(&deed->out, version);
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "PUT", path);
    return code == PL_EXIT_OK
               ? pl_deed_done(deed, "%s is now version %lld", label, (long long)version)
               : code;
}

static enum pl_exit run_rollback(struct pl_deed *deed)
{
    const char *id;
    int64_t version = 0;
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK)
        code = pl_named_version_number(deed, id, deed->words[1], &version);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "version");
    pl_json_out_int(&deed->out, version);
    pl_api_out_option(&deed->out, deed->args, PL_OPT_NOTE, "note");
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST", pl_api_path(&deed->api, "/api/prompts/%/rollback", id, NULL));
    if (code != PL_EXIT_OK)
        return code;
    return pl_deed_done(deed, "version %lld has the content of version %lld",
                        (long long)pl_api_int(&deed->answer, deed->answer.root, "version", 0),
                        (long long)version);
}

static enum pl_exit run_delete(struct pl_deed *deed)
{
    const char *id;
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK)
        code = pl_deed_confirm(deed, "Delete the prompt %s with all its versions?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE", pl_api_path(&deed->api, "/api/prompts/%", id, NULL));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "deleted %s with all its versions", id) : code;
}

static enum pl_exit set_pin(struct pl_deed *deed, bool is_pinned)
{
    const char *id;
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "is_pinned");
    pl_json_out_bool(&deed->out, is_pinned);
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "PATCH", pl_api_path(&deed->api, "/api/prompts/%", id, NULL));
    return code == PL_EXIT_OK ? pl_deed_done(deed, is_pinned ? "pinned" : "no longer pinned")
                              : code;
}

static enum pl_exit run_pin(struct pl_deed *deed)
{
    return set_pin(deed, true);
}

static enum pl_exit run_unpin(struct pl_deed *deed)
{
    return set_pin(deed, false);
}

const struct pl_verb pl_prompt_verbs[] = {
    {"list", "", 0, 0, "List prompts, pinned ones first", run_list,
     .columns = "id,name,version,labels,tags,changed"},
    {"show", "ID", 1, 1, "Show the latest version of a prompt, or --version V", run_show,
     .offers = "prompts"},
    {"new", "NAME", 1, 1, "Create a prompt from --file or in your editor, and print its id",
     pl_verb_prompt_new},
    {"edit", "ID", 1, 1,
     "Write a new version in your editor or from --file; or change name, folder, description or "
     "tags",
     pl_verb_prompt_edit, .offers = "prompts"},
    {"versions", "ID", 1, 1, "List the versions, newest first", run_versions,
     .columns = "version,type,made,note", .offers = "prompts"},
    {"diff", "ID A [B]", 2, 3,
     "Show the changes from version A to B (the latest, or --file); exit 1 if they differ",
     pl_verb_prompt_diff, .offers = "prompts"},
    {"label", "ID LABEL [VERSION]", 2, 3, "Move a label to a version, or delete it", run_label,
     .offers = "prompts"},
    {"rollback", "ID VERSION", 2, 2, "Make a new version with the content of an old one",
     run_rollback, .offers = "prompts"},
    {"run", "ID", 1, 1, "Run a prompt with one or several models, and print the answers",
     pl_verb_prompt_run, .offers = "prompts"},
    {"export", "ID | --all DIR", 0, 1,
     "Write a version in any format, or the library as files that git can compare",
     pl_verb_prompt_export, .offers = "prompts"},
    {"import", "PATH...", 1, SIZE_MAX,
     "Create prompts from files, and from all files in directories: requests of any vendor, YAML, "
     "Markdown, .prompt.yml, Langfuse, or the output of export --all",
     pl_verb_prompt_import},
    {"delete", "ID", 1, 1, "Delete a prompt with all its versions", run_delete,
     .offers = "prompts"},
    {"pin", "ID", 1, 1, "Keep a prompt at the top of the list", run_pin, .offers = "prompts"},
    {"unpin", "ID", 1, 1, "Undo pin", run_unpin, .offers = "prompts"},
    {"folders", "", 0, 0, "List the folders and their number of prompts", run_folders,
     .columns = "folder,prompts"},
    {"tags", "", 0, 0, "List the tags and their number of prompts", run_tags,
     .columns = "tag,prompts"},
    {0},
};
