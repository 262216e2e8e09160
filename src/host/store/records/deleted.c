/* Deleted records that can be restored. Until then they belong to nobody (0017_deleted.sql), so
 * they are in no list, search or count of their user. They are in no index of terms, and shared
 * links to a session are deleted permanently. */
#include "base/text/decimal.h"
#include "store/library.h"
#include "store/page.h"
#include "store/store_int.h"

/* Never the id of a user: ids are random. */
#define NOBODY PL_STR("user_00000000-0000-0000-0000-000000000000")

enum { MAX_STEPS = 3, EXPIRE_AT_ONCE = 500 };

/* `before` and `after` are statements on (id, user); the list ends where is_there is false. */
static const struct kind {
    const char *name, *prefix; /* NULL: its id is a number */
    enum pl_sql bury, raise, buried, drop, full, old;
    bool has_blobs; /* released by these statements, before drop, full and old: */
    enum pl_sql drop_blobs, full_blobs, old_blobs;
    struct {
        bool is_there;
        enum pl_sql sql;
    } before[MAX_STEPS], after[MAX_STEPS];
} kinds[PL_DELETED_KINDS] = {
#define KIND(NAME)                                                                                 \
    .bury = PL_SQL_##NAME##_BURY, .raise = PL_SQL_##NAME##_RAISE,                                  \
    .buried = PL_SQL_##NAME##_BURIED, .drop = PL_SQL_##NAME##_DROP, .full = PL_SQL_##NAME##_FULL,  \
    .old = PL_SQL_##NAME##_OLD
#define BLOBS(NAME)                                                                                \
    .has_blobs = true, .drop_blobs = PL_SQL_##NAME##_DROP_BLOBS,                                   \
    .full_blobs = PL_SQL_##NAME##_FULL_BLOBS, .old_blobs = PL_SQL_##NAME##_OLD_BLOBS
    [PL_DELETED_SESSION] = {.name = "session",
                            .prefix = "sess_",
                            KIND(SESSION),
                            BLOBS(SESSION),
                            .before = {{true, PL_SQL_SHARE_DELETE},
                                       {true, PL_SQL_SESSION_UNQUEUE}}},
    [PL_DELETED_PROMPT] = {.name = "prompt",
                           .prefix = "prompt_",
                           KIND(PROMPT),
                           BLOBS(PROMPT),
                           .before = {{true, PL_SQL_PROMPT_UNINDEX}, {true, PL_SQL_PROMPT_UNTAG}},
                           .after = {{true, PL_SQL_PROMPT_INDEX}, {true, PL_SQL_PROMPT_RETAG}}},
    [PL_DELETED_TASK] = {.name = "task", .prefix = "task_", KIND(TASK), BLOBS(TASK)},
    [PL_DELETED_MEMORY] = {.name = "memory",
                           KIND(MEMORY),
                           .before = {{true, PL_SQL_MEMORY_UNLINK}, {true, PL_SQL_MEMORY_UNINDEX}},
                           .after = {{true, PL_SQL_MEMORY_INDEX}}},
#undef BLOBS
#undef KIND
};

const char *pl_deleted_kind_name(enum pl_deleted_kind kind)
{
    return kinds[kind].name;
}

bool pl_deleted_kind_of(struct pl_str id, enum pl_deleted_kind *ret_kind)
{
    int64_t number;
    for (size_t i = 0; i < PL_DELETED_KINDS; i++)
        if (kinds[i].prefix ? pl_id_is(id, kinds[i].prefix) : pl_decimal_read(id, &number)) {
            *ret_kind = (enum pl_deleted_kind)i;
            return true;
        }
    return false;
}

/* --- writing --------------------------------------------------------------------------------- */

static void add_id(struct pl_params *params, const struct kind *kind, struct pl_str id)
{
    int64_t number = 0;
    if (kind->prefix) {
        pl_params_id(params, id, kind->prefix);
        return;
    }
    (void)pl_decimal_read(id, &number);
    pl_params_int(params, number);
}

static void write_of(struct pl_batch *batch, const struct kind *kind, enum pl_sql sql,
                     struct pl_str user_id, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    add_id(&params, kind, id);
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, sql, &params);
}

/* Permanently deletes all but the newest `n_kept` deleted records of a user. */
static void keep_newest(struct pl_batch *batch, const struct kind *kind, struct pl_str user_id,
                        int64_t n_kept)
{
    const enum pl_sql steps[] = {kind->full_blobs, kind->full};
    for (size_t i = kind->has_blobs ? 0 : 1; i < 2; i++) {
        struct pl_params params = {.err = &batch->err};
        pl_params_id(&params, user_id, "user_");
        pl_params_int(&params, n_kept);
        pl_batch_write(batch, steps[i], &params);
    }
}

/* Serialises changes of a user's memories: their chains span several rows. */
static void lock(struct pl_batch *batch, const struct kind *kind, struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    if (kind != &kinds[PL_DELETED_MEMORY])
        return;
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, PL_SQL_MEMORY_LOCK, &params);
}

void pl_batch_bury(struct pl_batch *batch, enum pl_deleted_kind which, struct pl_str user_id,
                   struct pl_str id, int64_t now_ms)
{
    const struct kind *kind = &kinds[which];
    struct pl_params params = {.err = &batch->err};
    lock(batch, kind, user_id);
    for (size_t i = 0; i < MAX_STEPS && kind->before[i].is_there; i++)
        write_of(batch, kind, kind->before[i].sql, user_id, id);
    add_id(&params, kind, id);
    pl_params_id(&params, user_id, "user_");
    pl_params_id(&params, NOBODY, "user_");
    pl_params_int(&params, now_ms);
    pl_batch_write(batch, kind->bury, &params);
    keep_newest(batch, kind, user_id, PL_DELETED_MAX);
}

void pl_batch_raise(struct pl_batch *batch, enum pl_deleted_kind which, struct pl_str user_id,
                    struct pl_str id)
{
    const struct kind *kind = &kinds[which];
    lock(batch, kind, user_id);
    write_of(batch, kind, kind->buried, user_id, id);
    write_of(batch, kind, kind->raise, user_id, id);
    for (size_t i = 0; i < MAX_STEPS && kind->after[i].is_there; i++)
        write_of(batch, kind, kind->after[i].sql, user_id, id);
    if (which != PL_DELETED_MEMORY)
        return;
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, PL_MEMORY_MAX_PER_USER);
    pl_batch_write(batch, PL_SQL_MEMORY_LIMIT, &params);
}

void pl_batch_drop_deleted(struct pl_batch *batch, enum pl_deleted_kind which,
                           struct pl_str user_id, struct pl_str id)
{
    const struct kind *kind = &kinds[which];
    if (kind->has_blobs)
        write_of(batch, kind, kind->drop_blobs, user_id, id);
    write_of(batch, kind, kind->drop, user_id, id);
}

void pl_batch_expire_deleted(struct pl_batch *batch, int64_t before_ms)
{
    for (size_t i = 0; i < PL_DELETED_KINDS; i++) {
        const enum pl_sql steps[] = {kinds[i].old_blobs, kinds[i].old};
        for (size_t k = kinds[i].has_blobs ? 0 : 1; k < 2; k++) {
            struct pl_params params = {.err = &batch->err};
            pl_params_int(&params, before_ms);
            pl_params_int(&params, EXPIRE_AT_ONCE);
            pl_batch_write(batch, steps[k], &params);
        }
    }
}

void pl_batch_empty_deleted(struct pl_batch *batch, struct pl_str user_id)
{
    for (size_t i = 0; i < PL_DELETED_KINDS; i++)
        keep_newest(batch, &kinds[i], user_id, 0);
}

/* --- reading --------------------------------------------------------------------------------- */

static enum pl_deleted_kind kind_named(struct pl_str name)
{
    size_t i = 0;
    while (i + 1 < PL_DELETED_KINDS && !pl_str_eq(pl_str_of(kinds[i].name), name))
        i++;
    return (enum pl_deleted_kind)i;
}

static void read_item(struct pl_read *read, struct pl_deleted_row *ret_row)
{
    enum pl_deleted_kind kind = kind_named(pl_read_text(read, 0));
    const char *prefix = kinds[kind].prefix;
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)pl_read_int(read, 2));
    *ret_row = (struct pl_deleted_row){
        .kind = kind,
        .id = prefix ? pl_read_id(read, 1, prefix)
                     : pl_read_keep(read, (struct pl_str){digits, (size_t)n}),
        .title = pl_read_text(read, 3),
        .deleted_ms = pl_read_int(read, 4),
    };
}

enum pl_status pl_store_deleted_list(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str user_id, struct pl_str kind,
                                     struct pl_deleted_row **ret_rows, size_t *ret_n,
                                     struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_list list = {.size = sizeof(struct pl_deleted_row)};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, kind.len ? kind : PL_STR(""));
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_DELETED_LIST, &params);
    while (pl_read_next(&read)) {
        struct pl_deleted_row *row = pl_read_add(&read, &list);
        if (row)
            read_item(&read, row);
    }
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_rows = list.items;
        *ret_n = list.n;
    }
    return status;
}
