/* A batch is a list of statements with their parameters. Nothing is left to decide when the writer
 * gets it, and this file knows no types of records. */
#include "store/store_int.h"
#include "base/mem.h"

struct pl_batch *pl_batch_create(void)
{
    struct pl_batch *batch = pl_mem_alloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    memset(batch, 0, offsetof(struct pl_batch, space));
    pl_arena_init_in(&batch->arena, 0, batch->space, sizeof batch->space);
    batch->end = &batch->first;
    return batch;
}

void pl_batch_destroy(struct pl_batch *batch)
{
    if (!batch)
        return;
    pl_arena_deinit(&batch->arena);
    pl_mem_free(batch);
}

size_t pl_batch_n_writes(const struct pl_batch *batch)
{
    return batch->n_writes;
}

static bool copy_values(struct pl_batch *batch, struct pl_write *write,
                        const struct pl_params *params)
{
    for (size_t i = 0; i < params->n; i++) {
        struct pl_sql_value value = params->values[i];
        if (value.bytes.len) {
            value.bytes = pl_arena_dup(&batch->arena, value.bytes);
            if (!value.bytes.ptr)
                return false;
        } else if (value.bytes.ptr) {
            value.bytes.ptr = "";
        }
        write->values[write->n++] = value;
        batch->n_bytes += value.bytes.len;
    }
    return true;
}

/* Some data is cached in the memory of all nodes. Returns the statement that raises its version
 * (node/shared.h), so that they read it again, or PL_SQL_COUNT. Expired sign-ins do not count: they
 * grant nothing, and every node removes them by itself. Nor do registrations of extensions: every
 * node gets the same one. */
static enum pl_sql raise_of(enum pl_sql sql)
{
    static const struct {
        bool is_auth, is_ext;
    } changes[PL_SQL_COUNT] = {
        [PL_SQL_USER_CREATE] = {.is_auth = true},
        [PL_SQL_USER_CHANGE] = {.is_auth = true},
        [PL_SQL_USER_DELETE] = {.is_auth = true},
        [PL_SQL_KEY_CREATE] = {.is_auth = true},
        [PL_SQL_KEY_CHANGE] = {.is_auth = true},
        [PL_SQL_KEY_ROTATE] = {.is_auth = true},
        [PL_SQL_KEY_DELETE] = {.is_auth = true},
        [PL_SQL_LIMITS_PUT] = {.is_auth = true},
        [PL_SQL_USER_LIMITS_PUT] = {.is_auth = true},
        [PL_SQL_EXTENSION_CREATE] = {.is_ext = true},
        [PL_SQL_EXTENSION_UPDATE] = {.is_ext = true},
        [PL_SQL_EXTENSION_STATE] = {.is_ext = true},
        [PL_SQL_EXTENSION_RESTART] = {.is_ext = true},
        [PL_SQL_EXTENSION_DELETE] = {.is_ext = true},
        [PL_SQL_EXTENSION_TOOL_ACCEPT] = {.is_ext = true},
        [PL_SQL_EXTENSION_QUARANTINE_PUT] = {.is_ext = true},
        [PL_SQL_EXTENSION_QUARANTINES_FORGET] = {.is_ext = true},
        [PL_SQL_PACKAGE_END] = {.is_ext = true},
    };
    return changes[sql].is_auth  ? PL_SQL_AUTH_RAISE
           : changes[sql].is_ext ? PL_SQL_EXT_RAISE
                                 : PL_SQL_COUNT;
}

/* Once per batch. */
static void raise_version(struct pl_batch *batch, enum pl_sql raise)
{
    bool *is_raised = raise == PL_SQL_AUTH_RAISE ? &batch->raises_auth : &batch->raises_ext;
    if (raise == PL_SQL_COUNT || *is_raised)
        return;
    *is_raised = true;
    pl_batch_write(batch, raise, &(struct pl_params){.err = &batch->err});
}

void pl_batch_write(struct pl_batch *batch, enum pl_sql sql, const struct pl_params *params)
{
    if (batch->status != PL_OK)
        return;
    if (params->status != PL_OK) {
        batch->status = params->status;
        return;
    }
    struct pl_write *write =
        pl_arena_alloc(&batch->arena, 1, sizeof *write + params->n * sizeof(struct pl_sql_value));
    if (write)
        *write = (struct pl_write){.sql = sql};
    if (!write || !copy_values(batch, write, params)) {
        batch->status = pl_fail(&batch->err, PL_NOMEM, "out of memory while preparing a change");
        return;
    }
    *batch->end = write;
    batch->end = &write->next;
    batch->n_writes++;
    raise_version(batch, raise_of(sql));
}

void pl_batch_write_of(struct pl_batch *batch, enum pl_sql sql, struct pl_str id,
                       const char *prefix, struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, id, prefix);
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, sql, &params);
}
