/* Imports files of any kind as prompts. They are read and planned on a worker, then committed in
 * one transaction with the answer: a repeated request after a crash finds all of it or nothing.
 * If another change was committed first, everything is planned again. */
#include "promptfile/export.h"
#include "http/exchange.h"
#include "json/text.h"
#include "service/blobs/media_import.h"
#include "service/prompts/prompt_import.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/routes.h"
#include "service/request_options.h"
#include "transaction/commit.h"
#include "transaction/idempotency.h"

#include <stdio.h>

/* --- planning, on a worker -------------------------------------------------------------------- */

enum { MAX_TRIES = 100 };

struct importing {
    struct pl_exchange *x;
    struct pl_prompt_import import;
    struct pl_batch *batch; /* owned until submitted; NULL: nothing to write */
    struct pl_media_import media;
    int n_tries;
};

static bool is_path(struct pl_str path)
{
    struct pl_str folder;
    return path.len && path.ptr[0] != '/' && path.ptr[path.len - 1] != '/' &&
           pl_prompt_folder(path, &folder);
}

static bool add_problem(struct pl_prompt_import *import, struct pl_str path, const char *detail)
{
    struct pl_filed_problem problem = {path, pl_arena_dup(import->arena, pl_str_of(detail))};
    return problem.detail.ptr && pl_vec_push(&import->problems, problem);
}

/* Linked media become local blobs; remaining links are reported. */
static enum pl_status store_media(struct pl_exchange *x, struct pl_prompt_import *import,
                                  struct pl_prompt_file *file)
{
    struct importing *importing = x->state;
    struct pl_media_import_options options = {.from = pl_format_find(pl_body_text(x, "format"))};
    struct pl_media_import_stored stored;
    struct pl_error err = {0};
    enum pl_status status = pl_media_import_store(&importing->media, import->arena, file->text,
                                                  &options, &stored, &err);
    if (status != PL_OK) /* a file that is not a conversation has no media */
        return status == PL_NOMEM ? status : PL_OK;
    file->text = stored.text;
    for (size_t i = 0; i < stored.n_notes; i++) {
        char detail[512];
        snprintf(detail, sizeof detail, "%.*s is kept as a URL: %.*s",
                 (int)(stored.notes[i].url.len < 200 ? stored.notes[i].url.len : 200),
                 stored.notes[i].url.ptr, PL_STR_ARG(stored.notes[i].message));
        if (!add_problem(import, file->path, detail))
            return PL_NOMEM;
    }
    return PL_OK;
}

static enum pl_status read_file(struct pl_exchange *x, struct pl_prompt_import *import,
                                const struct pl_json_node *node, struct pl_prompt_file *ret_file,
                                bool *ret_is_file)
{
    struct pl_prompt_file file;
    bool is_file = false;
    enum pl_status status =
        pl_json_text(&x->arena, &x->body, pl_json_get(&x->body, node, PL_STR("path")), &file.path);
    if (status == PL_OK)
        status = pl_json_text(&x->arena, &x->body, pl_json_get(&x->body, node, PL_STR("text")),
                              &file.text);
    if (status != PL_OK)
        return status;
    if (!is_path(file.path))
        status = add_problem(import, file.path,
                             "The path is invalid: use names separated by slashes, without \"..\" "
                             "and not absolute.")
                     ? PL_OK
                     : PL_NOMEM;
    else if (file.text.len && memchr(file.text.ptr, 0, file.text.len))
        status = add_problem(import, file.path,
                             "The file contains a NUL character, so it is not "
                             "text.")
                     ? PL_OK
                     : PL_NOMEM;
    else
        is_file = true;
    if (status == PL_OK && is_file && pl_str_eq(pl_body_text(x, "media"), PL_STR("store")))
        status = store_media(x, import, &file);
    *ret_file = file;
    *ret_is_file = is_file;
    return status;
}

static enum pl_status read_files(struct pl_exchange *x, struct pl_prompt_import *import,
                                 struct pl_prompt_file **ret_files, size_t *ret_n)
{
    const struct pl_json_node *list = pl_json_get(&x->body, x->body.root, PL_STR("files"));
    struct pl_prompt_file *files =
        pl_arena_zalloc(&x->arena, pl_json_count(list) + 1, sizeof *files);
    size_t n = 0;
    enum pl_status status = files ? PL_OK : PL_NOMEM;
    for (const struct pl_json_node *node = pl_json_first(list);
         status == PL_OK && node < pl_json_end(list); node = pl_json_next(node)) {
        bool is_file = false;
        status = read_file(x, import, node, &files[n], &is_file);
        n += is_file;
    }
    *ret_files = files;
    *ret_n = n;
    return status;
}

static bool is_known_kind(struct pl_str name)
{
    const struct pl_export *export = pl_export_find(name);
    return !name.len || pl_format_find(name) || (export && export->read) ||
           pl_str_eq(name, PL_STR("langfuse")) || pl_str_eq(name, PL_STR("text"));
}

static bool read_wish(struct pl_exchange *x, struct pl_prompt_import *import)
{
    struct pl_str kind = pl_body_text(x, "format"), there = pl_body_text(x, "when_there");
    import->store = x->shard->server->store;
    import->arena = &x->arena;
    import->user_id = x->caller.user_id;
    import->when_there = pl_str_eq(there, PL_STR("skip"))   ? PL_THERE_SKIP
                         : pl_str_eq(there, PL_STR("copy")) ? PL_THERE_COPY
                                                            : PL_THERE_VERSION;
    if (!is_known_kind(kind))
        pl_exchange_fail_name(x, "format", kind);
    return !x->is_problem && pl_prompt_body_folder(x, &import->folder);
}

static enum pl_status make_batch(struct importing *importing)
{
    const struct pl_prompt_import *import = &importing->import;
    for (size_t i = 0; i < import->plans.len; i++) {
        const struct pl_import_plan *plan = &import->plans.ptr[i];
        if (!pl_import_plan_writes(plan))
            continue;
        if (!importing->batch)
            importing->batch = pl_batch_create();
        if (!importing->batch)
            return PL_NOMEM;
        pl_import_plan_put(plan, importing->batch);
    }
    return PL_OK;
}

static void write_member(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void write_plan(struct pl_json_out *out, const struct pl_import_plan *plan)
{
    pl_json_out_open(out, '{');
    write_member(out, "path", plan->path);
    write_member(out, "prompt_id", plan->row.id);
    write_member(out, "name", plan->row.name);
    write_member(out, "outcome", pl_str_of(pl_import_outcome_text(plan->outcome)));
    pl_json_out_key(out, "version");
    pl_json_out_int(out, plan->row.latest_version);
    pl_json_out_close(out, '}');
}

static void write_answer(const struct pl_prompt_import *import, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < import->plans.len; i++)
        write_plan(&out, &import->plans.ptr[i]);
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "problems");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < import->problems.len; i++) {
        pl_json_out_open(&out, '{');
        write_member(&out, "path", import->problems.ptr[i].path);
        write_member(&out, "detail", import->problems.ptr[i].detail);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

/* Drops earlier plans. False: the answer is ready. */
static bool begin_plan(struct pl_exchange *x, struct importing *importing)
{
    if (importing->n_tries++ && !pl_claim_again(x))
        return false;
    pl_prompt_import_deinit(&importing->import);
    importing->import = (struct pl_prompt_import){.seed = importing->import.seed};
    return read_wish(x, &importing->import);
}

static void import_work(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    struct pl_prompt_import *import = &importing->import;
    struct pl_prompt_file *files = NULL;
    struct pl_error err = {0};
    struct pl_filed filed;
    size_t n = 0;
    if (!begin_plan(x, importing))
        return;
    pl_filed_init(&filed);
    enum pl_status status = read_files(x, import, &files, &n);
    if (status == PL_OK && pl_media_import_wants(&importing->media)) {
        /* Plan everything again when the media are fetched. */
        importing->n_tries = 0;
        pl_filed_deinit(&filed);
        return;
    }
    if (status == PL_OK)
        status = pl_prompt_files_read(&x->arena, files, n, pl_body_text(x, "format"), &filed, &err);
    if (status == PL_OK)
        status = pl_prompt_import_plan(import, &filed, &err);
    if (status == PL_OK)
        status = make_batch(importing);
    pl_filed_deinit(&filed);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else
        write_answer(import, &x->reply);
}

/* --- committing, on the shard ----------------------------------------------------------------- */

static void finish(struct importing *importing)
{
    pl_prompt_import_deinit(&importing->import);
    pl_exchange_finish(importing->x);
}

static void plan_import(struct pl_exchange *x);

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct importing *importing = ctx;
    struct pl_exchange *x = importing->x;
    if (status == PL_CONFLICT && importing->n_tries < MAX_TRIES) {
        plan_import(x);
        return;
    }
    if (status == PL_CONFLICT)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "Too many others are changing these prompts; try again.");
    else if (status != PL_OK)
        pl_exchange_fail_commit(x, status, err);
    finish(importing);
}

static void import_planned(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    struct pl_batch *batch = PL_TAKE(importing->batch);
    bool is_open = !x->is_problem && !x->is_replayed;
    if (is_open && pl_media_import_wants(&importing->media)) {
        pl_media_import_fetch(&importing->media, x, plan_import);
    } else if (is_open && batch && x->reply.status == PL_OK) {
        pl_exchange_must_end(x);
        pl_claim_add(x, batch);
        pl_store_submit(x->shard->server->store, x->shard->loop, batch, committed, importing);
    } else {
        pl_batch_destroy(batch);
        finish(importing);
    }
}

static void plan_import(struct pl_exchange *x)
{
    if (x->is_problem)
        import_planned(x);
    else
        pl_exchange_compute(x, import_work, import_planned);
}

static void prompt_import(struct pl_exchange *x)
{
    struct importing *importing = pl_exchange_room(x, sizeof *importing);
    if (!importing)
        return;
    importing->x = x;
    importing->import.seed = pl_shard_seed(x->shard);
    x->state = importing;
    plan_import(x);
}

const struct pl_route pl_routes_prompt_import[] = {
    {PL_METHOD_POST, "/api/prompts/import", PL_ROUTE_IDEMPOTENT | PL_ROUTE_LARGE, PL_FOR_ALL,
     prompt_import, "prompt_import",
     "Create prompts from files: requests of any format, YAML, Markdown, an "
     "export",
     "prompts", "PromptImport", "PromptImported", 200, NULL, .tells = "prompt:updated"},
    {0},
};
