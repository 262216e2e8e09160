/* parley key: make, list and revoke keys. Where a server runs it is asked; otherwise the store is
 * opened here, exclusively. Both ways give the same answer in the same form. */
#include "app/frame/api.h"
#include "app/frame/columns.h"
#include "app/server/local_store.h"
#include "app/frame/verbs.h"

#include "access/auth.h"
#include "base/text/utf8.h"
#include "base/text/uuid.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "service/admin/key_json.h"

enum { MAX_NAME = 100 };

struct job {
    struct pl_api api; /* owned */
    struct pl_console *console;
    const struct pl_args *args;
    const char *id;         /* operand of revoke */
    struct pl_store *store; /* owned; NULL: a server is asked */
    struct pl_auth *auth;   /* owned; of the store */
    struct pl_str user_id;  /* whose keys these are, in the store */
    struct pl_buf answer;   /* owned; what the server says, or would say */
    struct pl_json_doc doc; /* of the answer; root NULL: it is empty */
};

static enum pl_exit fail(struct job *job, enum pl_status status, struct pl_error *err)
{
    return pl_api_fail(&job->api, status, err);
}

/* --- without a server ------------------------------------------------------------------------ */

/* The first user is created here too, if no server was started yet. */
static enum pl_exit open_store(struct job *job, bool makes_it)
{
    struct pl_error err = {0};
    struct pl_caller caller = {0};
    enum pl_status status = pl_local_store_open(&job->api, makes_it, &job->store, &err);
    if (status == PL_OK)
        status = pl_auth_create(job->store, &job->auth, &err);
    if (status == PL_OK)
        status = pl_auth_local_caller(job->auth, &job->api.texts.arena, &caller);
    job->user_id = caller.user_id;
    if (status == PL_NOT_FOUND)
        status = pl_fail(&err, PL_INVALID, "the store has no administrator");
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, &err);
}

static enum pl_status create_here(struct job *job, const char *name, struct pl_error *err)
{
    char plain[PL_KEY_SIZE + 1];
    uint8_t hash[32];
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_ms()};
    if (!pl_entropy_fill(seed.random, sizeof seed.random) || !pl_key_make(plain, hash))
        return pl_fail(err, PL_IO, "the system provides no random bytes");
    struct pl_id id = pl_id_take(&seed, "key_");
    struct pl_key_row row = {
        .id = pl_str_of(id.text),
        .user_id = job->user_id,
        .name = pl_str_of(name),
        .hash = {(const char *)hash, sizeof hash},
        .last4 = {plain + PL_KEY_SIZE - 4, 4},
        .created_ms = seed.unix_ms,
    };
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_create_key(batch, &row);
    enum pl_status status = pl_store_commit(job->store, batch, err);
    struct pl_json_out out = pl_json_out(&job->answer);
    if (status == PL_OK)
        pl_key_write(&out, &row, plain, NULL);
    return status;
}

static enum pl_status read_rows(struct job *job, struct pl_key_row **ret_rows, size_t *ret_n,
                                struct pl_error *err)
{
    return pl_store_key_list(job->store, &job->api.texts.arena, job->user_id, ret_rows, ret_n, err);
}

static enum pl_status list_here(struct job *job, struct pl_error *err)
{
    struct pl_key_row *rows;
    size_t n = 0;
    enum pl_status status = read_rows(job, &rows, &n, err);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(&job->answer);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++)
        pl_key_write(&out, &rows[i], NULL, NULL);
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "total");
    pl_json_out_int(&out, (int64_t)n);
    pl_json_out_close(&out, '}');
    return PL_OK;
}

static enum pl_status revoke_here(struct job *job, struct pl_error *err)
{
    struct pl_key_row *rows;
    size_t n = 0, at = 0;
    enum pl_status status = read_rows(job, &rows, &n, err);
    if (status != PL_OK)
        return status;
    while (at < n && !pl_str_eq(rows[at].id, pl_str_of(job->id)))
        at++;
    if (at == n)
        return pl_fail(err, PL_INVALID,
                       "there is no key with the id %s; \"parley key list\" lists the keys",
                       job->id);
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_delete_key(batch, job->user_id, pl_str_of(job->id));
    return pl_store_commit(job->store, batch, err);
}

/* What was written as an answer, read like one. */
static enum pl_exit read_answer(struct job *job, enum pl_status status, struct pl_error *err)
{
    if (status == PL_OK)
        status = job->answer.status;
    if (status == PL_OK && job->answer.len)
        status =
            pl_json_parse(&job->api.texts.arena, pl_buf_str(&job->answer), NULL, &job->doc, err);
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, err);
}

/* --- both ways ------------------------------------------------------------------------------- */

static struct pl_str text_of(struct job *job, const struct pl_json_node *object, const char *name)
{
    return pl_api_text(&job->api.texts, &job->doc, object, name);
}

static enum pl_exit print_answer(struct job *job)
{
    if (job->doc.root)
        pl_json_write_min(pl_console_out(job->console), &job->doc, job->doc.root);
    else
        pl_console_puts(job->console, "{}");
    pl_console_puts(job->console, "\n");
    return PL_EXIT_OK;
}

static enum pl_exit ask_create(struct job *job, const char *name)
{
    struct pl_error err = {0};
    if (job->store)
        return read_answer(job, create_here(job, name, &err), &err);
    struct pl_json_out out = pl_json_out(&job->answer);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "name");
    pl_json_out_text(&out, pl_str_of(name));
    pl_json_out_close(&out, '}');
    if (job->answer.status != PL_OK)
        return fail(job, job->answer.status, &err);
    return pl_api_ask(&job->api, "POST", "/api/user/api-keys", pl_buf_str(&job->answer), &job->doc);
}

static enum pl_exit run_create(struct job *job)
{
    const char *name = pl_args_value(job->args, PL_OPT_NAME);
    size_t n = name ? pl_utf8_count(pl_str_of(name)) : 0;
    if (!n || n > MAX_NAME)
        return pl_usage_fail(job->console, "key",
                             name ? "the name of a key has 1 to 100 characters"
                                  : "the key needs a name; give --name NAME");
    enum pl_exit code = ask_create(job, name);
    if (code != PL_EXIT_OK || job->api.is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    pl_console_put_safe(job->console, text_of(job, job->doc.root, "plaintext"));
    pl_console_puts(job->console, "\n");
    pl_console_hint(job->console, "Store it now: it cannot be shown again.");
    return PL_EXIT_OK;
}

static enum pl_exit print_list(struct job *job)
{
    static const char *const names[] = {"ID", "KEY", "MADE", "LAST USED", "NAME"};
    const struct pl_json_node *items =
        pl_json_member(&job->doc, job->doc.root, "items", PL_JSON_ARRAY);
    struct pl_error err = {0};
    struct pl_columns columns;
    if (!items || !pl_json_count(items)) {
        pl_console_say(job->console,
                       "there are no keys; \"parley key create --name NAME\" creates one");
        return PL_EXIT_OK;
    }
    pl_columns_init(&columns, names, sizeof names / sizeof *names);
    for (const struct pl_json_node *one = pl_json_first(items); one < pl_json_end(items);
         one = pl_json_next(one)) {
        pl_columns_add(&columns, text_of(job, one, "id"));
        pl_columns_add(&columns, text_of(job, one, "masked"));
        pl_columns_add(&columns, pl_time_of(&job->api.texts, text_of(job, one, "created_at")));
        pl_columns_add(&columns, pl_time_of(&job->api.texts, text_of(job, one, "last_used_at")));
        pl_columns_add(&columns, pl_line_of(&job->api.texts, text_of(job, one, "name"), MAX_NAME));
    }
    enum pl_status status = pl_columns_print(&columns, job->console);
    pl_columns_deinit(&columns);
    int64_t total = pl_api_int(&job->doc, job->doc.root, "total", 0);
    if (total > pl_json_count(items))
        pl_console_hint(job->console, "%u of %lld keys are shown.", pl_json_count(items),
                        (long long)total);
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, &err);
}

static enum pl_exit run_list(struct job *job)
{
    struct pl_error err = {0};
    enum pl_exit code = job->store ? read_answer(job, list_here(job, &err), &err)
                                   : pl_api_ask(&job->api, "GET", "/api/user/api-keys?limit=100",
                                                (struct pl_str){0}, &job->doc);
    if (code != PL_EXIT_OK)
        return code;
    return job->api.is_json ? print_answer(job) : print_list(job);
}

static enum pl_exit run_revoke(struct job *job)
{
    struct pl_error err = {0};
    enum pl_exit code =
        job->store ? read_answer(job, revoke_here(job, &err), &err)
                   : pl_api_ask(&job->api, "DELETE",
                                pl_api_path(&job->api, "/api/user/api-keys/%", job->id, NULL),
                                (struct pl_str){0}, &job->doc);
    if (code != PL_EXIT_OK || job->api.is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    pl_console_say(job->console, "revoked %s; it is no longer accepted", job->id);
    return PL_EXIT_OK;
}

static const struct verb {
    const char *name;
    size_t n_words;
    const char *words; /* what follows it */
    bool makes_store;  /* also where no server has run yet */
    enum pl_exit (*run)(struct job *job);
} verbs[] = {
    {"create", 0, " --name NAME", true, run_create},
    {"list", 0, "", false, run_list},
    {"revoke", 1, " ID", false, run_revoke},
};

static enum pl_exit run(struct job *job, const struct verb *verb)
{
    bool is_free = false;
    enum pl_exit code = pl_api_open(&job->api, job->console, job->args, "key");
    if (code == PL_EXIT_OK)
        code = pl_local_store_is_free(&job->api, &is_free);
    if (code == PL_EXIT_OK && is_free)
        code = open_store(job, verb->makes_store);
    return code == PL_EXIT_OK ? verb->run(job) : code;
}

enum pl_exit pl_cmd_key(struct pl_console *console, const struct pl_args *args)
{
    const struct verb *verb = NULL;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, args->operands.ptr[0]) == 0)
            verb = &verbs[i];
    if (!verb)
        return pl_usage_fail(console, "key", "\"%s\" is not an action; use create, list or revoke",
                             args->operands.ptr[0]);
    if (args->operands.len != verb->n_words + 1)
        return pl_usage_fail(console, "key", "usage: parley key %s%s", verb->name, verb->words);
    if (pl_verb_check_options(console, "key", verb->name, args) != PL_EXIT_OK)
        return PL_EXIT_USAGE;
    struct job job = {.console = console, .args = args};
    if (verb->n_words)
        job.id = args->operands.ptr[1];
    pl_buf_init(&job.answer, 0);
    enum pl_exit code = run(&job, verb);
    if (code == PL_EXIT_OK && job.api.texts.is_cut)
        code = fail(&job, PL_NOMEM, &(struct pl_error){0});
    pl_auth_destroy(job.auth);
    pl_store_close(job.store);
    pl_api_close(&job.api);
    pl_buf_deinit(&job.answer);
    return code;
}
