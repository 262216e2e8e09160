/* Finds the rows that a change of memories names, checks the user's limit, and adds new and
 * changed rows to the batch. */
#include "service/memories/memory_change.h"

#include "agent/context/memory_row.h"
#include "io/clock.h"
#include "service/burying.h"
#include "service/memories/memory_json.h"

#include <stdio.h>

bool pl_memory_get(struct pl_exchange *x, int64_t id, const char *pointer,
                   struct pl_memory_row *ret_memory)
{
    struct pl_error err = {0};
    enum pl_status status = id > 0 ? pl_store_memory_get(x->shard->server->store, &x->arena,
                                                         x->caller.user_id, id, ret_memory, &err)
                                   : PL_NOT_FOUND;
    if (status == PL_OK)
        return true;
    if (status == PL_NOT_FOUND) {
        (void)pl_fail(&err, status, "You have no memory %lld.", (long long)id);
        if (pointer)
            pl_error_point(&err, "%s", pointer);
    }
    pl_exchange_fail(x, status, &err);
    return false;
}

bool pl_memory_has_room(struct pl_exchange *x, int64_t n)
{
    struct pl_error err = {0};
    int64_t n_there = 0;
    enum pl_status status =
        pl_store_memory_count(x->shard->server->store, x->caller.user_id, &n_there, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (n_there + n > PL_MEMORY_MAX_PER_USER)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "You have %lld memories, and the maximum is %d; delete some first.",
                            (long long)n_there, PL_MEMORY_MAX_PER_USER);
    return status == PL_OK && n_there + n <= PL_MEMORY_MAX_PER_USER;
}

/* Checks the members that a scope requires, and that a source is a session of the user. */
static enum pl_status check_home(struct pl_exchange *x, const struct pl_json_node *object,
                                 const char *pointer, const struct pl_memory_row *row,
                                 struct pl_error *err)
{
    struct pl_session_record session;
    bool is_session = pl_str_eq(row->scope, PL_STR("session"));
    bool is_owned =
        pl_str_eq(row->scope, PL_STR("solution")) || pl_str_eq(row->scope, PL_STR("role"));
    enum pl_status status = PL_OK;
    if (is_owned && !row->owner.len) {
        status = pl_fail(err, PL_INVALID,
                         "A memory with the scope %.*s needs an owner: the %.*s it belongs to.",
                         PL_STR_ARG(row->scope), PL_STR_ARG(row->scope));
        pl_error_point(err, "%s/owner", pointer);
    } else if (is_session && !row->source_session.len) {
        status =
            pl_fail(err, PL_INVALID, "A memory with the scope session needs a source_session.");
        pl_error_point(err, "%s/source_session", pointer);
    } else if (row->source_session.len && pl_json_get(&x->body, object, PL_STR("source_session"))) {
        status = pl_store_session_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                      row->source_session, &session, err);
        if (status == PL_NOT_FOUND) {
            status = pl_fail(err, PL_INVALID, "You have no session %.*s.",
                             (int)(row->source_session.len < 80 ? row->source_session.len : 80),
                             row->source_session.ptr);
            pl_error_point(err, "%s/source_session", pointer);
        }
    }
    return status;
}

bool pl_memory_plan_new(struct pl_exchange *x, const struct pl_json_node *object,
                        const char *pointer, struct pl_str uid, struct pl_batch *batch)
{
    struct pl_error err = {0};
    struct pl_memory_row row = {
        .uid = uid,
        .user_id = x->caller.user_id,
        .type = PL_STR("feedback"),
        .created_ms = pl_clock_unix_ms(),
    };
    enum pl_status status = pl_memory_read(&x->arena, &x->body, object, pointer, &row, &err);
    if (status == PL_OK)
        status = check_home(x, object, pointer, &row, &err);
    if (status == PL_OK)
        status = pl_memory_set_terms(&x->arena, &row);
    if (status == PL_OK)
        pl_batch_create_memory(batch, &row);
    else
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

bool pl_memory_find_new(struct pl_exchange *x, struct pl_str uid, struct pl_memory_row *ret_memory)
{
    struct pl_error err = {0};
    enum pl_status status = pl_store_memory_find(x->shard->server->store, &x->arena,
                                                 x->caller.user_id, uid, ret_memory, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

bool pl_memory_plan_update(struct pl_exchange *x, const struct pl_json_node *object,
                           const char *pointer, struct pl_memory_row row, struct pl_batch *batch)
{
    struct pl_error err = {0};
    enum pl_status status = pl_memory_read(&x->arena, &x->body, object, pointer, &row, &err);
    row.updated_ms = pl_clock_unix_ms();
    row.user_id = x->caller.user_id;
    if (status == PL_OK)
        status = check_home(x, object, pointer, &row, &err);
    if (status == PL_OK)
        status = pl_memory_set_terms(&x->arena, &row);
    if (status == PL_OK)
        pl_batch_update_memory(batch, &row);
    else
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

void pl_memory_plan_delete(struct pl_exchange *x, struct pl_batch *batch, int64_t id)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)id);
    if (!pl_exchange_bury(x, batch, PL_DELETED_MEMORY, (struct pl_str){digits, (size_t)n}))
        pl_batch_delete_memory(batch, x->caller.user_id, id);
}
