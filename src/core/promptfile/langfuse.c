/* Prompts of Langfuse, as its API gives them (GET /api/public/v2/prompts/{name}) and takes them:
 *
 *     {"name": "folder/movie-critic", "version": 3, "type": "chat",
 *      "prompt": [{"role": "system", "content": "…{{variable}}…"},
 *                 {"type": "placeholder", "name": "history"}],
 *      "config": {"model": …}, "labels": ["production"], "tags": […], "commitMessage": "…"}
 *
 * For the type text, the prompt is a string. An object is one version; all versions of a name, in
 * however many files, become one prompt. Labels of versions become labels of the prompt; "latest"
 * is kept by the library itself. A text with a config becomes a chat of one message, since a text
 * has no place for it. A placeholder, which stands for messages, becomes a message that is one
 * variable and says so in "placeholder". */
#include "promptfile/promptfile_int.h"

#include "promptfile/github_int.h"
#include "json/text.h"
#include "json/write.h"

struct label {
    struct label *next; /* arena */
    struct pl_str name;
    int64_t version;
};

struct pl_langfuse {
    struct pl_filed_prompt prompt; /* without its labels */
    size_t n_room;                 /* for versions */
    int64_t newest;
    struct label *labels; /* the last one first */
};

static bool is_prompt(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    const struct pl_json_node *prompt = pl_json_get(doc, n, PL_STR("prompt"));
    const struct pl_json_node *type = pl_json_member(doc, n, "type", PL_JSON_STRING);
    if (!prompt || !pl_json_member(doc, n, "name", PL_JSON_STRING) ||
        (pl_json_kind(prompt) != PL_JSON_STRING && pl_json_kind(prompt) != PL_JSON_ARRAY))
        return false;
    return (type && (pl_json_text_is(doc, type, PL_STR("text")) ||
                     pl_json_text_is(doc, type, PL_STR("chat")))) ||
           pl_json_member(doc, n, "labels", PL_JSON_ARRAY) ||
           pl_json_member(doc, n, "version", PL_JSON_NUMBER);
}

/* The list of a page; NULL if it is not a page. */
static const struct pl_json_node *page_of(const struct pl_json_doc *doc,
                                          const struct pl_json_node *n)
{
    const struct pl_json_node *data = pl_json_member(doc, n, "data", PL_JSON_ARRAY);
    return data && pl_json_member(doc, n, "meta", PL_JSON_OBJECT) ? data : NULL;
}

bool pl_langfuse_is(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    if (is_prompt(doc, node) || page_of(doc, node))
        return true;
    if (pl_json_kind(node) != PL_JSON_ARRAY || !pl_json_count(node))
        return false;
    for (const struct pl_json_node *n = pl_json_first(node); n < pl_json_end(node);
         n = pl_json_next(n))
        if (!is_prompt(doc, n))
            return false;
    return true;
}

/* --- one version ----------------------------------------------------------------------------- */

static void put_value(struct pl_json_out *out, const struct pl_json_doc *doc,
                      const struct pl_json_node *value)
{
    pl_json_out_raw(out, PL_STR(""));
    pl_json_write_min(out->buf, doc, value);
}

static enum pl_status put_placeholder(struct pl_filing *f, struct pl_json_out *out,
                                      const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    PL_CLEANUP_BUF struct pl_buf variable;
    pl_buf_init(&variable, 0);
    struct pl_str name;
    if (pl_filed_text(f->arena, doc, n, "name", &name) != PL_OK)
        return PL_NOMEM;
    pl_buf_adds(&variable, "{{");
    pl_buf_add(&variable, name);
    pl_buf_adds(&variable, "}}");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "role");
    pl_json_out_text(out, PL_STR("user"));
    pl_json_out_key(out, "content");
    pl_json_out_text(out, pl_buf_str(&variable));
    pl_json_out_key(out, "placeholder");
    pl_json_out_text(out, name);
    pl_json_out_close(out, '}');
    return variable.status;
}

/* A message without the type that Langfuse adds: the role implies it. */
static enum pl_status put_message(struct pl_filing *f, struct pl_json_out *out,
                                  const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return pl_fail(f->err, PL_INVALID, "a message of the prompt is not an object");
    const struct pl_json_node *type = pl_json_member(doc, n, "type", PL_JSON_STRING);
    if (type && pl_json_text_is(doc, type, PL_STR("placeholder")))
        return put_placeholder(f, out, doc, n);
    bool is_usual = type && pl_json_text_is(doc, type, PL_STR("chatmessage"));
    pl_json_out_open(out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(n); key < pl_json_end(n);
         key = pl_json_next_member(key)) {
        struct pl_str name;
        if (is_usual && key + 1 == type)
            continue;
        if (pl_json_text(f->arena, doc, key, &name) != PL_OK)
            return PL_NOMEM;
        pl_json_out_key_str(out, name);
        put_value(out, doc, key + 1);
    }
    pl_json_out_close(out, '}');
    return PL_OK;
}

static enum pl_status put_messages(struct pl_filing *f, struct pl_json_out *out,
                                   const struct pl_json_doc *doc, const struct pl_json_node *prompt)
{
    enum pl_status status = PL_OK;
    pl_json_out_key(out, "messages");
    pl_json_out_open(out, '[');
    if (pl_json_kind(prompt) == PL_JSON_STRING) {
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "role");
        pl_json_out_text(out, PL_STR("user"));
        pl_json_out_key(out, "content");
        put_value(out, doc, prompt);
        pl_json_out_close(out, '}');
    } else {
        for (const struct pl_json_node *n = pl_json_first(prompt);
             n < pl_json_end(prompt) && status == PL_OK; n = pl_json_next(n))
            status = put_message(f, out, doc, n);
    }
    pl_json_out_close(out, ']');
    return status;
}

/* Members that the library keeps elsewhere, or that only the original project needs. */
static bool is_told_elsewhere(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const char *const told[] = {
        "name",      "version",       "type",      "prompt",          "labels",
        "tags",      "commitMessage", "createdAt", "updatedAt",       "createdBy",
        "projectId", "isActive",      "id",        "resolutionGraph", NULL};
    for (size_t i = 0; told[i]; i++)
        if (pl_json_text_is(doc, key, pl_str_of(told[i])))
            return true;
    return false;
}

/* Makes the chat through GitHub's shape, which handles system prompts and ids. */
static enum pl_status make_chat(struct pl_filing *f, const struct pl_json_doc *doc,
                                const struct pl_json_node *n, struct pl_str *ret_chat)
{
    PL_CLEANUP_BUF struct pl_buf shape, chat;
    pl_buf_init(&shape, 0);
    pl_buf_init(&chat, 0);
    struct pl_json_out out = pl_json_out(&shape);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(n); key < pl_json_end(n);
         key = pl_json_next_member(key)) {
        struct pl_str name;
        if (is_told_elsewhere(doc, key) || pl_json_kind(key + 1) == PL_JSON_NULL)
            continue;
        if (pl_json_text(f->arena, doc, key, &name) != PL_OK)
            return PL_NOMEM;
        pl_json_out_key_str(&out, name);
        put_value(&out, doc, key + 1);
    }
    enum pl_status status = put_messages(f, &out, doc, pl_json_get(doc, n, PL_STR("prompt")));
    pl_json_out_close(&out, '}');
    if (status == PL_OK)
        status = shape.status;
    if (status == PL_OK)
        status = pl_prompt_from_file(&chat, pl_buf_str(&shape), f->err);
    return status == PL_OK ? pl_filed_keep(f->arena, &chat, ret_chat) : status;
}

static enum pl_status read_version(struct pl_filing *f, const struct pl_json_doc *doc,
                                   const struct pl_json_node *n, struct pl_filed_version *v)
{
    const struct pl_json_node *prompt = pl_json_get(doc, n, PL_STR("prompt"));
    const struct pl_json_node *config = pl_json_member(doc, n, "config", PL_JSON_OBJECT);
    enum pl_status status = pl_filed_text(f->arena, doc, n, "commitMessage", &v->note);
    if (status == PL_OK)
        status = pl_filed_instant(f->arena, doc, n, "createdAt", &v->created_ms);
    if (status != PL_OK)
        return status;
    v->version = pl_filed_number(doc, n, "version");
    v->is_structured = pl_json_kind(prompt) != PL_JSON_STRING || (config && pl_json_count(config));
    return v->is_structured ? make_chat(f, doc, n, &v->content)
                            : pl_json_text(f->arena, doc, prompt, &v->content);
}

/* --- joining versions ------------------------------------------------------------------------ */

/* Splits "a/b/c" into "a/b" and "c"; the folder is below the file's own. */
static enum pl_status read_name(struct pl_filing *f, struct pl_str full, struct pl_filed_prompt *p)
{
    struct pl_str directory = pl_file_directory(f->file->path), folder = pl_file_directory(full);
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_add(&path, directory);
    if (directory.len && folder.len)
        pl_buf_addc(&path, '/');
    pl_buf_add(&path, folder);
    p->name = pl_file_base(full);
    if (!p->name.len)
        p->name = pl_filing_name(f->file->path);
    return pl_filed_keep(f->arena, &path, &p->folder);
}

/* The prompt of a name, created if new. */
static enum pl_status find_prompt(struct pl_filing *f, const struct pl_json_doc *doc,
                                  const struct pl_json_node *n, struct pl_langfuse **ret_prompt)
{
    struct pl_langfuse made = {.prompt.path = f->file->path};
    struct pl_str full, key;
    bool is_new;
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    enum pl_status status = pl_filed_text(f->arena, doc, n, "name", &full);
    if (status == PL_OK)
        status = read_name(f, full, &made.prompt);
    if (status != PL_OK)
        return status;
    pl_buf_add(&whole, made.prompt.folder);
    pl_buf_addc(&whole, '/');
    pl_buf_add(&whole, made.prompt.name);
    status = pl_filed_keep(f->arena, &whole, &key);
    struct pl_map_entry *entry = status == PL_OK ? pl_map_put(&f->names, key, &is_new) : NULL;
    if (!entry)
        return PL_NOMEM;
    if (is_new) {
        entry->value = f->langfuse.len;
        status = pl_filed_tags(f->arena, doc, n, "tags", &made.prompt.tags);
        if (status == PL_OK && !pl_vec_push(&f->langfuse, made))
            status = PL_NOMEM;
    }
    if (status == PL_OK)
        *ret_prompt = &f->langfuse.ptr[entry->value];
    return status;
}

static enum pl_status add_version(struct pl_filing *f, struct pl_langfuse *p,
                                  struct pl_filed_version *v)
{
    struct pl_filed_prompt *prompt = &p->prompt;
    if (!v->version)
        v->version = p->newest < INT64_MAX ? p->newest + 1 : p->newest;
    if (prompt->n_versions == p->n_room) {
        size_t n = p->n_room ? 2 * p->n_room : 4;
        struct pl_filed_version *more =
            pl_arena_grow(f->arena, prompt->versions, p->n_room * sizeof *more, n * sizeof *more);
        if (!more)
            return PL_NOMEM;
        prompt->versions = more;
        p->n_room = n;
    }
    prompt->versions[prompt->n_versions++] = *v;
    if (v->version > p->newest)
        p->newest = v->version;
    return PL_OK;
}

static enum pl_status add_labels(struct pl_filing *f, struct pl_langfuse *p,
                                 const struct pl_json_doc *doc, const struct pl_json_node *n,
                                 int64_t version)
{
    const struct pl_json_node *list = pl_json_member(doc, n, "labels", PL_JSON_ARRAY);
    for (const struct pl_json_node *l = list ? pl_json_first(list) : NULL;
         list && l < pl_json_end(list); l = pl_json_next(l)) {
        if (pl_json_kind(l) != PL_JSON_STRING || pl_json_text_is(doc, l, PL_STR("latest")))
            continue;
        struct label *label = pl_arena_alloc(f->arena, 1, sizeof *label);
        if (!label)
            return PL_NOMEM;
        *label = (struct label){.next = p->labels, .version = version};
        if (pl_json_text(f->arena, doc, l, &label->name) != PL_OK)
            return PL_NOMEM;
        p->labels = label;
    }
    return PL_OK;
}

static enum pl_status read_one(struct pl_filing *f, const struct pl_json_doc *doc,
                               const struct pl_json_node *n)
{
    struct pl_langfuse *p;
    struct pl_filed_version v = {0};
    if (!is_prompt(doc, n))
        return pl_fail(f->err, PL_INVALID,
                       "this is only the listing of a prompt; get the prompt itself from the API");
    enum pl_status status = read_version(f, doc, n, &v);
    if (status == PL_OK)
        status = find_prompt(f, doc, n, &p);
    if (status == PL_OK)
        status = add_version(f, p, &v);
    return status == PL_OK ? add_labels(f, p, doc, n, v.version) : status;
}

enum pl_status pl_langfuse_read(struct pl_filing *f, const struct pl_json_doc *doc,
                                const struct pl_json_node *node)
{
    const struct pl_json_node *list = page_of(doc, node);
    if (!list && pl_json_kind(node) == PL_JSON_OBJECT)
        return read_one(f, doc, node);
    if (!list)
        list = node;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status != PL_NOMEM; n = pl_json_next(n)) {
        status = read_one(f, doc, n);
        if (status != PL_OK && status != PL_NOMEM)
            status = pl_filing_add_problem(f, f->file->path, f->err->message);
    }
    return status;
}

/* Labels by name; if two versions have a label, the one read last counts. */
static enum pl_status write_labels(struct pl_filing *f, struct pl_langfuse *p)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_map seen = {0};
    struct pl_json_out out = pl_json_out(&text);
    enum pl_status status = PL_OK;
    pl_json_out_open(&out, '{');
    for (const struct label *l = p->labels; l && status == PL_OK; l = l->next) {
        bool is_new;
        if (!pl_map_put(&seen, l->name, &is_new)) {
            status = PL_NOMEM;
        } else if (is_new) {
            pl_json_out_key_str(&out, l->name);
            pl_json_out_int(&out, l->version);
        }
    }
    pl_json_out_close(&out, '}');
    pl_map_deinit(&seen);
    return status == PL_OK ? pl_filed_keep(f->arena, &text, &p->prompt.labels) : status;
}

/* Removes duplicate versions (one in a page and on its own, for example). */
static void drop_doubles(struct pl_filed_prompt *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_versions; i++)
        if (!n || p->versions[n - 1].version != p->versions[i].version)
            p->versions[n++] = p->versions[i];
    p->n_versions = n;
}

enum pl_status pl_langfuse_finish(struct pl_filing *f)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < f->langfuse.len && status == PL_OK; i++) {
        struct pl_langfuse *p = &f->langfuse.ptr[i];
        status = pl_filed_sort(f->arena, p->prompt.versions, p->prompt.n_versions);
        if (status == PL_OK)
            status = write_labels(f, p);
        drop_doubles(&p->prompt);
        if (status == PL_OK && !pl_vec_push(&f->filed.prompts, p->prompt))
            status = PL_NOMEM;
    }
    return status;
}
