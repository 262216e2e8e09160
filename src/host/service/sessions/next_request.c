#include "service/sessions/next_request.h"

#include "http/routes/route.h"
#include "io/clock.h"
#include "shard/setup.h"

/* The model of the request: the session's own, or the server's default. */
static struct pl_str model_of(const struct pl_exchange *x, const struct pl_session_record *record)
{
    struct pl_str name =
        record->model.len ? record->model : pl_str_of(x->setup->config.default_model);
    const struct pl_model_info *info = pl_model_find(x->setup->models, name);
    return info ? pl_model_name(info, name) : name;
}

enum pl_status pl_exchange_read_request(struct pl_exchange *x, struct pl_request *ret_request,
                                        struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_str loop_id = pl_target_param(&x->target, "loop_id");
    struct pl_session_record record;
    enum pl_status status =
        pl_store_session_get(store, &x->arena, x->caller.user_id, x->args[0], &record, err);
    if (status != PL_OK)
        return status;
    struct pl_request_query query = {
        .record = &record,
        .loop_id = loop_id.len ? loop_id : PL_STR("root"),
        .model = model_of(x, &record),
        .models = x->setup->models,
        .is_planning = record.is_planning,
        .is_answering = record.status == PL_SESSION_RUNNING,
        .unix_ms = pl_clock_unix_ms(),
        .ext = x->shard->server->ext,
    };
    return pl_request_read(store, &x->arena, &query, ret_request, err);
}
