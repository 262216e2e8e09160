/* A prompt as files that git can compare: its metadata in prompt.yaml, and one file for the content
 * of each version, which never changes once written. */
#include "promptfile/promptfile_int.h"

#include "base/text/utc.h"
#include "promptfile/yaml.h"
#include "json/equal.h"
#include "json/write.h"

struct writing {
    struct pl_arena *arena;
    const struct pl_filed_prompt *prompt;
    struct pl_str directory; /* with a trailing '/'; arena */
    PL_VEC(struct pl_prompt_file) made;
    struct pl_json_out yaml; /* prompt.yaml as JSON */
    struct pl_error *err;
};

static enum pl_status add_file(struct writing *w, struct pl_str name, const struct pl_buf *text)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_add(&path, w->directory);
    pl_buf_add(&path, name);
    struct pl_prompt_file file;
    enum pl_status status = pl_filed_keep(w->arena, &path, &file.path);
    if (status == PL_OK)
        status = pl_filed_keep(w->arena, text, &file.text);
    if (status == PL_OK && !pl_vec_push(&w->made, file))
        status = PL_NOMEM;
    return status;
}

void pl_prompt_directory(struct pl_buf *to, struct pl_str folder, struct pl_str name)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_file_folder_add(&path, folder);
    pl_file_name_add(&path, name);
    pl_file_path_fold(to, pl_buf_str(&path));
    if (path.status != PL_OK)
        to->status = path.status;
}

/* The first free FOLDER/NAME/: NAME, NAME ID, NAME ID 2 … */
static enum pl_status
find_directory(struct writing *w, bool (*is_taken)(void *ctx, struct pl_str directory), void *ctx)
{
    PL_CLEANUP_BUF struct pl_buf path, folded;
    pl_buf_init(&path, 0);
    pl_buf_init(&folded, 0);
    for (int n = 0;; n++) {
        pl_buf_clear(&path);
        pl_buf_clear(&folded);
        pl_file_folder_add(&path, w->prompt->folder);
        pl_file_name_add(&path, w->prompt->name);
        if (n) {
            pl_buf_addc(&path, ' ');
            pl_file_name_add(&path, w->prompt->id);
        }
        if (n > 1)
            pl_buf_addf(&path, " %d", n);
        pl_file_path_fold(&folded, pl_buf_str(&path));
        if (path.status != PL_OK || folded.status != PL_OK)
            return PL_NOMEM;
        if (!is_taken || !is_taken(ctx, pl_buf_str(&folded)))
            break;
    }
    pl_buf_addc(&path, '/');
    return pl_filed_keep(w->arena, &path, &w->directory);
}

static void put_text(struct pl_json_out *out, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void put_number(struct pl_json_out *out, const char *key, int64_t number)
{
    if (!number)
        return;
    pl_json_out_key(out, key);
    pl_json_out_int(out, number);
}

static void put_instant(struct pl_json_out *out, const char *key, int64_t ms)
{
    char text[PL_UTC_SIZE];
    if (!ms)
        return;
    pl_utc_write(text, ms);
    put_text(out, key, (struct pl_str){text, sizeof text});
}

static void put_spelling(struct pl_json_out *out, const struct pl_file_spelling *spelling)
{
    for (size_t i = 0; i < pl_n_spelling_words; i++) {
        const struct pl_spelling_word *word = &pl_spelling_words[i];
        if (!*(const bool *)((const char *)spelling + word->offset))
            continue;
        pl_json_out_key(out, word->key);
        if (word->value)
            pl_json_out_text(out, pl_str_of(word->value));
        else
            pl_json_out_bool(out, true);
    }
}

static enum pl_status write_version(struct writing *w, const struct pl_filed_version *version,
                                    int64_t number)
{
    PL_CLEANUP_BUF struct pl_buf text, name;
    pl_buf_init(&text, 0);
    pl_buf_init(&name, 0);
    struct pl_file_spelling spelling;
    enum pl_status status = pl_file_spell(w->arena, version, &text, &spelling, w->err);
    if (status != PL_OK)
        return status;
    const char *ending = spelling.is_yaml                               ? "yaml"
                         : version->is_structured || spelling.is_quoted ? "json"
                                                                        : "md";
    pl_buf_addf(&name, "%04lld.%s", (long long)number, ending);
    struct pl_json_out *out = &w->yaml;
    pl_json_out_open(out, '{');
    put_number(out, "version", number);
    put_text(out, "type", version->is_structured ? PL_STR("structured") : PL_STR("text"));
    put_text(out, "file", pl_buf_str(&name));
    put_text(out, "note", version->note);
    put_number(out, "based_on", version->based_on);
    put_number(out, "restored_from", version->restored_from);
    put_instant(out, "created_at", version->created_ms);
    put_spelling(out, &spelling);
    pl_json_out_close(out, '}');
    return name.status == PL_OK ? add_file(w, pl_buf_str(&name), &text) : name.status;
}

/* JSON from the caller, if not empty. */
static enum pl_status put_json(struct writing *w, const char *key, struct pl_str json)
{
    struct pl_json_doc doc;
    if (!json.len)
        return PL_OK;
    enum pl_status status = pl_json_parse(w->arena, json, NULL, &doc, w->err);
    if (status == PL_OK && pl_json_is_container(doc.root) && pl_json_count(doc.root)) {
        pl_json_out_key(&w->yaml, key);
        pl_json_out_raw(&w->yaml, json);
    }
    return status;
}

/* prompt.yaml names the folder if the directory name differs from it. */
static void put_folder(struct writing *w)
{
    struct pl_str directory = pl_str_slice(w->directory, 0, w->directory.len - 1);
    if (pl_str_eq(pl_file_directory(directory), w->prompt->folder))
        return;
    pl_json_out_key(&w->yaml, "folder");
    pl_json_out_text(&w->yaml, w->prompt->folder);
}

static enum pl_status put_all(struct writing *w)
{
    const struct pl_filed_prompt *p = w->prompt;
    struct pl_json_out *out = &w->yaml;
    pl_json_out_open(out, '{');
    put_text(out, "id", p->id);
    put_text(out, "name", p->name);
    put_text(out, "description", p->description);
    put_folder(w);
    enum pl_status status = put_json(w, "tags", p->tags);
    if (p->is_pinned) {
        pl_json_out_key(out, "is_pinned");
        pl_json_out_bool(out, true);
    }
    if (status == PL_OK)
        status = put_json(w, "labels", p->labels);
    put_instant(out, "created_at", p->created_ms);
    pl_json_out_key(out, "versions");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < p->n_versions && status == PL_OK; i++)
        status = write_version(w, &p->versions[i],
                               p->versions[i].version ? p->versions[i].version : (int64_t)i + 1);
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
    return status == PL_OK ? out->buf->status : status;
}

/* YAML, or JSON (which is YAML too) if a character of a name or note would not survive YAML. */
static enum pl_status add_prompt_yaml(struct writing *w)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_json_doc doc, home;
    bool is_same = false;
    enum pl_status status =
        pl_json_parse(w->arena, pl_buf_str(w->yaml.buf), &pl_json_own, &doc, w->err);
    if (status != PL_OK)
        return status;
    pl_yaml_write(&text, &doc);
    if (text.status == PL_OK)
        status = pl_prompt_yaml_parse(w->arena, pl_buf_str(&text), &home, NULL);
    if (status == PL_OK && text.status == PL_OK)
        status = pl_json_equal(&doc, doc.root, &home, home.root, &is_same);
    if (status == PL_NOMEM || text.status == PL_NOMEM)
        return PL_NOMEM;
    if (!is_same) {
        pl_buf_clear(&text);
        pl_json_write_pretty(&text, &doc, doc.root);
        pl_buf_addc(&text, '\n');
    }
    return text.status == PL_OK ? add_file(w, PL_STR("prompt.yaml"), &text) : text.status;
}

enum pl_status pl_prompt_files_write(struct pl_arena *arena, const struct pl_filed_prompt *prompt,
                                     bool (*is_taken)(void *ctx, struct pl_str directory),
                                     void *ctx, struct pl_prompt_files *files, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf yaml;
    pl_buf_init(&yaml, 0);
    struct writing w = {.arena = arena, .prompt = prompt, .yaml = pl_json_out(&yaml), .err = err};
    enum pl_status status = find_directory(&w, is_taken, ctx);
    if (status == PL_OK)
        status = put_all(&w);
    if (status == PL_OK)
        status = add_prompt_yaml(&w);
    if (status == PL_OK && !pl_vec_reserve(&files->list, files->list.len + w.made.len))
        status = PL_NOMEM;
    /* prompt.yaml first, for the reader. */
    for (size_t i = 0; status == PL_OK && i < w.made.len; i++)
        files->list.ptr[files->list.len++] = w.made.ptr[i ? i - 1 : w.made.len - 1];
    pl_vec_deinit(&w.made);
    return status == PL_NOMEM ? pl_fail(err, status, "out of memory") : status;
}
