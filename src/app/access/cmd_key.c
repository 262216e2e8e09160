/* parley key: creates, lists, changes, rotates and revokes keys. Uses the server if one runs;
 * otherwise opens the store exclusively. The answer has the same form in both cases. */
#include "app/frame/api.h"
#include "app/table/columns.h"
#include "app/frame/verbs.h"
#include "app/access/key_wish.h"
#include "app/server/local_store.h"
#include "app/access/user_find.h"

#include "access/auth.h"
#include "base/text/utf8.h"
#include "base/text/uuid.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "service/admin/keys/key_json.h"
#include "store/audit.h"

enum { MAX_NAME = 100 };

struct job {
    struct pl_deed *deed;
    struct pl_api *api; /* owned by the deed */
    struct pl_console *console;
    const struct pl_args *args;
    const char *id;   /* operand */
    const char *user; /* --user, as an id; NULL: the caller */
    struct pl_key_wish wish;
    struct pl_store *store; /* owned; NULL: a server is used */
    struct pl_auth *auth;   /* owned; uses the store */
    struct pl_str user_id;  /* owner of the keys, in the store */
    struct pl_str actor;    /* acting user in the store: the local administrator */
    struct pl_buf answer;   /* owned; answer of the server, or the same made here */
    struct pl_json_doc doc; /* of the answer; root NULL: empty */
    char own_name[32];      /* default name of a key */
};

static enum pl_exit fail(struct job *job, enum pl_status status, struct pl_error *err)
{
    return pl_api_fail(job->api, status, err);
}

/* --- without a server ------------------------------------------------------------------------ */

/* Also creates the first user if no server was ever started. */
static enum pl_exit open_store(struct job *job, bool makes_it)
{
    struct pl_error err = {0};
    struct pl_caller caller = {0};
    enum pl_status status = pl_local_store_open(job->api, makes_it, &job->store, &err);
    if (status == PL_OK)
        status = pl_auth_create(job->store, &job->auth, &err);
    if (status == PL_OK)
        status = pl_auth_local_caller(job->auth, &job->api->texts.arena, &caller);
    job->user_id = job->actor = caller.user_id;
    if (status == PL_NOT_FOUND)
        status = pl_fail(&err, PL_INVALID, "the store has no administrator");
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, &err);
}

/* Adds an audit row to the batch of the change, as the server does; the next server seals it. A
 * wish contains no secret. */
static void add_audit(struct job *job, struct pl_batch *batch, const char *action,
                      struct pl_str key_id, bool has_detail)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    if (has_detail)
        pl_key_wish_write(&out, &job->wish);
    pl_batch_add_audit(batch, &(struct pl_audit_row){
                                  .at_ms = pl_clock_unix_ms(),
                                  .user_id = job->actor,
                                  .key_id = PL_STR(""),
                                  .action = pl_str_of(action),
                                  .object = key_id,
                                  .detail = detail.len ? pl_buf_str(&detail) : PL_STR(""),
                              });
}

/* Finds the user of --user in the store. */
static enum pl_status find_here(struct job *job, const char *who, struct pl_error *err)
{
    struct pl_user_row *users;
    size_t n = 0, n_found = 0;
    enum pl_status status = pl_store_user_list(job->store, &job->api->texts.arena, &users, &n, err);
    for (size_t i = 0; i < n && status == PL_OK; i++)
        if (pl_str_eq(users[i].id, pl_str_of(who)) || pl_str_eq(users[i].name, pl_str_of(who))) {
            job->user_id = users[i].id;
            n_found++;
        }
    if (status == PL_OK && n_found != 1)
        status = pl_fail(err, PL_INVALID,
                         n_found ? "there are several users named \"%s\"; give the id of one"
                                 : "there is no user \"%s\"",
                         who);
    return status;
}

static enum pl_status make_secret(struct job *job, char plain[PL_KEY_SIZE + 1], uint8_t hash[32],
                                  struct pl_key_row *row, struct pl_error *err)
{
    if (!pl_key_make(plain, hash))
        return pl_fail(err, PL_IO, "the system provides no random bytes");
    row->user_id = job->user_id;
    row->hash = (struct pl_str){(const char *)hash, 32};
    row->last4 = (struct pl_str){plain + PL_KEY_SIZE - 4, 4};
    return PL_OK;
}

static enum pl_status create_here(struct job *job, struct pl_error *err)
{
    char plain[PL_KEY_SIZE + 1];
    uint8_t hash[32];
    const struct pl_key_wish *wish = &job->wish;
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_ms()};
    if (!pl_entropy_fill(seed.random, sizeof seed.random))
        return pl_fail(err, PL_IO, "the system provides no random bytes");
    struct pl_id id = pl_id_take(&seed, "key_");
    struct pl_key_row row = {
        .id = pl_str_of(id.text),
        .name = pl_str_of(wish->name),
        .created_ms = seed.unix_ms,
        .scope = wish->scope ? pl_str_of(wish->scope) : PL_STR("all"),
        .models = wish->models,
        .expires_ms = wish->expires_ms > 0 ? wish->expires_ms : 0,
        .is_admin = wish->is_admin,
    };
    enum pl_status status = make_secret(job, plain, hash, &row, err);
    struct pl_limits limits = {.user_id = row.user_id, .key_id = row.id};
    memcpy(limits.values, wish->values, sizeof wish->values);
    struct pl_batch *batch = status == PL_OK ? pl_batch_create() : NULL;
    if (!batch)
        return status == PL_OK ? pl_fail(err, PL_NOMEM, "out of memory") : status;
    pl_batch_create_key(batch, &row);
    add_audit(job, batch, "key.create", row.id, true);
    if (wish->has_limits)
        pl_batch_put_limits(batch, &limits);
    status = pl_store_commit(job->store, batch, err);
    struct pl_json_out out = pl_json_out(&job->answer);
    if (status == PL_OK)
        pl_key_write(&out, &row, plain, wish->has_limits ? &limits : NULL);
    return status;
}

static enum pl_status read_rows(struct job *job, struct pl_key_row **ret_rows, size_t *ret_n,
                                struct pl_error *err)
{
    return pl_store_key_list(job->store, &job->api->texts.arena, job->user_id, ret_rows, ret_n,
                             err);
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

static enum pl_status find_row(struct job *job, struct pl_key_row *ret_row, struct pl_error *err)
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
    *ret_row = rows[at];
    return PL_OK;
}

static enum pl_status revoke_here(struct job *job, struct pl_error *err)
{
    struct pl_key_row row;
    enum pl_status status = find_row(job, &row, err);
    if (status != PL_OK)
        return status;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_batch_delete_key(batch, job->user_id, row.id);
    add_audit(job, batch, "key.revoke", row.id, false);
    return pl_store_commit(job->store, batch, err);
}

static enum pl_status rotate_here(struct job *job, int64_t overlap_s, struct pl_error *err)
{
    char plain[PL_KEY_SIZE + 1];
    uint8_t hash[32];
    struct pl_key_row row;
    enum pl_status status = find_row(job, &row, err);
    if (status == PL_OK)
        status = make_secret(job, plain, hash, &row, err);
    struct pl_batch *batch = status == PL_OK ? pl_batch_create() : NULL;
    if (!batch)
        return status == PL_OK ? pl_fail(err, PL_NOMEM, "out of memory") : status;
    row.old_until_ms = pl_clock_unix_ms() + overlap_s * 1000;
    pl_batch_rotate_key(batch, &row, row.old_until_ms);
    add_audit(job, batch, "key.rotate", row.id, false);
    status = pl_store_commit(job->store, batch, err);
    struct pl_json_out out = pl_json_out(&job->answer);
    if (status == PL_OK)
        pl_key_write(&out, &row, plain, NULL);
    return status;
}

static enum pl_status change_here(struct job *job, struct pl_error *err)
{
    const struct pl_key_wish *wish = &job->wish;
    struct pl_key_row row;
    enum pl_status status = find_row(job, &row, err);
    struct pl_batch *batch = status == PL_OK ? pl_batch_create() : NULL;
    if (!batch)
        return status == PL_OK ? pl_fail(err, PL_NOMEM, "out of memory") : status;
    struct pl_key_patch patch = {
        .user_id = job->user_id,
        .id = row.id,
        .name = wish->name ? pl_str_of(wish->name) : (struct pl_str){0},
        .scope = wish->scope ? pl_str_of(wish->scope) : (struct pl_str){0},
        .models = wish->models,
        .expires_ms = wish->expires_ms,
    };
    struct pl_limits limits = {.user_id = job->user_id, .key_id = row.id};
    memcpy(limits.values, wish->values, sizeof wish->values);
    pl_batch_change_key(batch, &patch);
    add_audit(job, batch, "key.change", row.id, true);
    if (wish->has_limits)
        pl_batch_put_limits(batch, &limits);
    status = pl_store_commit(job->store, batch, err);
    if (status == PL_OK)
        status = find_row(job, &row, err);
    struct pl_json_out out = pl_json_out(&job->answer);
    if (status == PL_OK)
        pl_key_write(&out, &row, NULL, NULL);
    return status;
}

/* Parses the answer that was written here. */
static enum pl_exit read_answer(struct job *job, enum pl_status status, struct pl_error *err)
{
    if (status == PL_OK)
        status = job->answer.status;
    if (status == PL_OK && job->answer.len)
        status =
            pl_json_parse(&job->api->texts.arena, pl_buf_str(&job->answer), NULL, &job->doc, err);
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, err);
}

/* --- both ways ------------------------------------------------------------------------------- */

static struct pl_str text_of(struct job *job, const struct pl_json_node *object, const char *name)
{
    return pl_api_text(&job->api->texts, &job->doc, object, name);
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

/* Path of the keys of --user, or of the caller; `rest` follows the id: "", "/rotate". */
static const char *path_of(struct job *job, bool has_id, const char *rest)
{
    PL_CLEANUP_BUF struct pl_buf shape;
    pl_buf_init(&shape, 0);
    pl_buf_addf(&shape, "%s%s%s", job->user ? "/api/users/%/api-keys" : "/api/user/api-keys",
                has_id ? "/%" : "", rest);
    pl_buf_addc(&shape, '\0');
    const char *kept =
        shape.status == PL_OK ? pl_arena_dup(&job->api->texts.arena, pl_buf_str(&shape)).ptr : NULL;
    if (!kept)
        return NULL;
    return job->user ? pl_api_path(job->api, kept, job->user, has_id ? job->id : NULL, NULL)
                     : pl_api_path(job->api, kept, has_id ? job->id : NULL, NULL);
}

static enum pl_exit ask(struct job *job, const char *method, const char *path)
{
    if (job->answer.status != PL_OK || !path)
        return fail(job, PL_NOMEM, &(struct pl_error){0});
    struct pl_str body = job->answer.len ? pl_buf_str(&job->answer) : (struct pl_str){0};
    return pl_api_ask(job->api, method, path, body, &job->doc);
}

static enum pl_exit print_secret(struct job *job)
{
    if (job->api->is_json)
        return print_answer(job);
    pl_console_put_safe(job->console, text_of(job, job->doc.root, "plaintext"));
    pl_console_puts(job->console, "\n");
    pl_console_hint(job->console, "Store it now: it cannot be shown again.");
    return PL_EXIT_OK;
}

static enum pl_exit run_create(struct job *job)
{
    struct pl_error err = {0};
    const char *scope = job->wish.scope ? job->wish.scope : "";
    snprintf(job->own_name, sizeof job->own_name, "%s%skey", scope, *scope ? " " : "");
    if (!job->wish.name)
        job->wish.name = job->own_name;
    enum pl_exit code;
    if (job->store) {
        code = read_answer(job, create_here(job, &err), &err);
    } else {
        struct pl_json_out out = pl_json_out(&job->answer);
        pl_key_wish_write(&out, &job->wish);
        code = ask(job, "POST", path_of(job, false, ""));
    }
    return code == PL_EXIT_OK ? print_secret(job) : code;
}

static enum pl_exit run_rotate(struct job *job)
{
    const char *overlap = pl_args_value(job->args, PL_OPT_OVERLAP);
    int64_t overlap_s = overlap ? pl_duration_read(overlap) : 0;
    struct pl_error err = {0};
    enum { MAX_OVERLAP_S = 30 * 86400 };
    if (overlap_s < 0 || overlap_s > MAX_OVERLAP_S)
        return pl_usage_fail(job->console, "key",
                             "--overlap %s: give a time such as 24h or 7d, 30d at most", overlap);
    enum pl_exit code;
    if (job->store) {
        code = read_answer(job, rotate_here(job, overlap_s, &err), &err);
    } else {
        pl_buf_addf(&job->answer, "{\"overlap_s\":%lld}", (long long)overlap_s);
        code = ask(job, "POST", path_of(job, true, "/rotate"));
    }
    return code == PL_EXIT_OK ? print_secret(job) : code;
}

static enum pl_exit run_change(struct job *job)
{
    struct pl_error err = {0};
    const struct pl_key_wish *wish = &job->wish;
    bool has_some =
        wish->name || wish->scope || wish->models.ptr || wish->expires_ms >= 0 || wish->has_limits;
    if (!has_some)
        return pl_usage_fail(job->console, "key",
                             "say what changes: --name, --scope, --models, --expires, --rpm, "
                             "--tpm, --budget-day or --budget-month");
    enum pl_exit code;
    if (job->store) {
        code = read_answer(job, change_here(job, &err), &err);
    } else {
        struct pl_json_out out = pl_json_out(&job->answer);
        pl_key_wish_write(&out, wish);
        code = ask(job, "PATCH", path_of(job, true, ""));
    }
    if (code != PL_EXIT_OK || job->api->is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    pl_console_say(job->console, "changed %s", job->id);
    return PL_EXIT_OK;
}

static struct pl_str scope_of(struct job *job, const struct pl_json_node *key)
{
    const struct pl_json_node *is_admin = pl_json_get(&job->doc, key, PL_STR("is_admin"));
    return is_admin && pl_json_kind(is_admin) == PL_JSON_TRUE ? PL_STR("admin")
                                                              : text_of(job, key, "scope");
}

static enum pl_exit print_list(struct job *job)
{
    const struct pl_json_node *items =
        pl_json_member(&job->doc, job->doc.root, "items", PL_JSON_ARRAY);
    struct pl_error err = {0};
    struct pl_columns columns;
    if (!items || !pl_json_count(items)) {
        pl_console_say(
            job->console,
            "there are no keys of this user; \"parley key create\" creates one, and --user "
            "lists those of another");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(job->deed, &columns);
    for (const struct pl_json_node *one = pl_json_first(items); one < pl_json_end(items);
         one = pl_json_next(one)) {
        pl_columns_add(&columns, text_of(job, one, "id"));
        pl_columns_add(&columns, text_of(job, one, "masked"));
        pl_columns_add(&columns, scope_of(job, one));
        pl_columns_add(&columns, pl_time_of(&job->api->texts, text_of(job, one, "created_at")));
        pl_columns_add(&columns, pl_time_of(&job->api->texts, text_of(job, one, "last_used_at")));
        pl_columns_add(&columns, pl_time_of(&job->api->texts, text_of(job, one, "expires_at")));
        pl_columns_add(&columns, pl_line_of(&job->api->texts, text_of(job, one, "name"), MAX_NAME));
    }
    pl_deed_page(job->deed);
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
                                   : ask(job, "GET", path_of(job, false, "?limit=100"));
    if (code != PL_EXIT_OK)
        return code;
    return job->api->is_json ? print_answer(job) : print_list(job);
}

static enum pl_exit run_revoke(struct job *job)
{
    struct pl_error err = {0};
    enum pl_exit code = job->store ? read_answer(job, revoke_here(job, &err), &err)
                                   : ask(job, "DELETE", path_of(job, true, ""));
    if (code != PL_EXIT_OK || job->api->is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    pl_console_say(job->console, "revoked %s; it is no longer accepted", job->id);
    return PL_EXIT_OK;
}

static enum pl_exit find_user(struct job *job, const char *who)
{
    struct pl_error err = {0};
    if (!job->store)
        return pl_user_find(job->api, who, &job->user);
    enum pl_status status = find_here(job, who, &err);
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, &err);
}

/* Uses the server, or opens the store if none runs. `makes_store`: creates a missing store. */
static enum pl_exit with_keys(struct pl_deed *deed, bool makes_store,
                              enum pl_exit (*fn)(struct job *job))
{
    struct job job = {
        .deed = deed, .api = &deed->api, .console = deed->console, .args = deed->args};
    const char *who = pl_args_value(deed->args, PL_OPT_USER);
    bool is_free = false;
    job.id = deed->n_words ? deed->words[0] : NULL;
    pl_buf_init(&job.answer, 0);
    enum pl_exit code = pl_local_store_is_free(job.api, &is_free);
    if (code == PL_EXIT_OK)
        code = pl_key_wish_read(job.console, job.args, &job.api->texts.arena, &job.wish);
    if (code == PL_EXIT_OK && is_free)
        code = open_store(&job, makes_store);
    if (code == PL_EXIT_OK && who)
        code = find_user(&job, who);
    if (code == PL_EXIT_OK)
        code = fn(&job);
    pl_auth_destroy(job.auth);
    pl_store_close(job.store);
    pl_buf_deinit(&job.answer);
    return code;
}

static enum pl_exit key_create(struct pl_deed *deed)
{
    return with_keys(deed, true, run_create);
}

static enum pl_exit key_list(struct pl_deed *deed)
{
    return with_keys(deed, false, run_list);
}

static enum pl_exit key_change(struct pl_deed *deed)
{
    return with_keys(deed, false, run_change);
}

static enum pl_exit key_rotate(struct pl_deed *deed)
{
    return with_keys(deed, false, run_rotate);
}

static enum pl_exit key_revoke(struct pl_deed *deed)
{
    return with_keys(deed, false, run_revoke);
}

const struct pl_verb pl_key_verbs[] = {
    {"create", "", 0, 0, "Create a key and print it once", key_create},
    {"list", "", 0, 0, "List keys and when they were last used", key_list,
     .columns = "id,key,scope,made,last_used,expires,name"},
    {"change", "ID", 1, 1, "Change what the options name", key_change, .offers = "keys"},
    {"rotate", "ID", 1, 1, "Replace the secret and keep everything else", key_rotate,
     .offers = "keys"},
    {"revoke", "ID", 1, 1, "Revoke a key and close the sockets that it opened", key_revoke,
     .offers = "keys"},
    {0},
};
