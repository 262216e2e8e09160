/* Writes and reads extensions, their tools and stored answers. */
#include "store/extensions.h"

#include "store/store_int.h"

/* The columns from id to state. */
static void add_head(struct pl_params *params, const struct pl_extension_row *row)
{
    pl_params_text(params, row->id);
    pl_params_text(params, row->name);
    pl_params_text(params, row->version);
    pl_params_text(params, row->runtime);
    pl_params_text(params, row->artifact);
    pl_params_text(params, row->manifest_hash);
    pl_params_text(params, row->profile);
    pl_params_text(params, row->granted.ptr ? row->granted : PL_STR(""));
    pl_params_text(params, row->denied.ptr ? row->denied : PL_STR(""));
    pl_params_text(params, row->state);
    pl_params_int(params, row->revision);
}

static void add_tail(struct pl_params *params, const struct pl_extension_row *row)
{
    pl_params_int(params, row->updated_ms);
    pl_params_text(params, row->source.ptr ? row->source : PL_STR(""));
    pl_params_text(params, row->last_error);
    pl_params_text(params, row->manifest);
    pl_params_text(params, row->registered);
    pl_params_text(params, row->before_version);
    pl_params_text(params, row->before_manifest);
}

static void expect(struct pl_batch *batch, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, id);
    pl_batch_write(batch, PL_SQL_EXTENSION_EXPECT, &params);
}

void pl_batch_create_extension(struct pl_batch *batch, const struct pl_extension_row *row)
{
    struct pl_params params = {.err = &batch->err};
    add_head(&params, row);
    pl_params_int(&params, row->created_ms);
    add_tail(&params, row);
    pl_batch_write(batch, PL_SQL_EXTENSION_CREATE, &params);
}

void pl_batch_update_extension(struct pl_batch *batch, const struct pl_extension_row *row)
{
    struct pl_params params = {.err = &batch->err};
    add_head(&params, row);
    add_tail(&params, row);
    pl_batch_write(batch, PL_SQL_EXTENSION_UPDATE, &params);
    expect(batch, row->id);
}

void pl_batch_set_extension_state(struct pl_batch *batch, struct pl_str id, struct pl_str state,
                                  struct pl_str last_error, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, id);
    pl_params_text(&params, state);
    pl_params_text(&params, last_error);
    pl_params_int(&params, now_ms);
    pl_batch_write(batch, PL_SQL_EXTENSION_STATE, &params);
    expect(batch, id);
}

void pl_batch_restart_extension(struct pl_batch *batch, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, id);
    pl_batch_write(batch, PL_SQL_EXTENSION_RESTART, &params);
}

void pl_batch_set_extension_registered(struct pl_batch *batch, struct pl_str id,
                                       struct pl_str registered)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, id);
    pl_params_text(&params, registered);
    pl_batch_write(batch, PL_SQL_EXTENSION_REGISTERED, &params);
    expect(batch, id);
}

void pl_batch_delete_extension(struct pl_batch *batch, struct pl_str id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, id);
    pl_batch_write(batch, PL_SQL_EXTENSION_DELETE, &params);
}

/* SQL_EXTENSION_COLUMNS, and restarts. */
static struct pl_extension_row read_extension(struct pl_read *read)
{
    return (struct pl_extension_row){
        .id = pl_read_text(read, 0),
        .name = pl_read_text(read, 1),
        .version = pl_read_text(read, 2),
        .runtime = pl_read_text(read, 3),
        .artifact = pl_read_text(read, 4),
        .manifest_hash = pl_read_text(read, 5),
        .profile = pl_read_text(read, 6),
        .granted = pl_read_text(read, 7),
        .denied = pl_read_text(read, 8),
        .state = pl_read_text(read, 9),
        .revision = pl_read_int(read, 10),
        .created_ms = pl_read_int(read, 11),
        .updated_ms = pl_read_int(read, 12),
        .source = pl_read_text(read, 13),
        .last_error = pl_read_text(read, 14),
        .manifest = pl_read_text(read, 15),
        .registered = pl_read_text(read, 16),
        .before_version = pl_read_text(read, 17),
        .before_manifest = pl_read_text(read, 18),
        .restarts = pl_read_int(read, 19),
    };
}

enum pl_status pl_store_extension_get(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str id, struct pl_extension_row *ret_row,
                                      struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, id);
    struct pl_extension_row row = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_EXTENSION_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        row = read_extension(&read);
    enum pl_status status = pl_read_end_one(&read, was_found, "extension");
    if (status == PL_OK)
        *ret_row = row;
    return status;
}

enum pl_status pl_store_extension_list(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_extension_row **ret_rows, size_t *ret_n,
                                       struct pl_error *err)
{
    struct pl_list list = {.size = sizeof(struct pl_extension_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_EXTENSION_LIST, &(struct pl_params){0});
    while (pl_read_next(&read)) {
        struct pl_extension_row *row = pl_read_add(&read, &list);
        if (row)
            *row = read_extension(&read);
    }
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_rows = list.items;
    *ret_n = list.n;
    return PL_OK;
}

/* --- tools ----------------------------------------------------------------------------------- */

void pl_batch_see_extension_tool(struct pl_batch *batch, struct pl_str extension_id,
                                 const struct pl_extension_tool_row *tool)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, extension_id);
    pl_params_text(&params, tool->name);
    pl_params_text(&params, tool->seen);
    pl_params_int(&params, tool->seen_ms);
    pl_params_text(&params, tool->definition);
    pl_batch_write(batch, PL_SQL_EXTENSION_TOOL_SEEN, &params);
}

void pl_batch_accept_extension_tool(struct pl_batch *batch, struct pl_str extension_id,
                                    struct pl_str name, struct pl_str hash)
{
    static const enum pl_sql steps[] = {PL_SQL_EXTENSION_TOOL_ACCEPT, PL_SQL_EXTENSION_TOOL_EXPECT};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct pl_params params = {.err = &batch->err};
        pl_params_text(&params, extension_id);
        pl_params_text(&params, name);
        pl_params_text(&params, hash);
        pl_batch_write(batch, steps[i], &params);
    }
}

enum pl_status pl_store_extension_tools(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str extension_id,
                                        struct pl_extension_tool_row **ret_tools, size_t *ret_n,
                                        struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, extension_id);
    struct pl_list list = {.size = sizeof(struct pl_extension_tool_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_EXTENSION_TOOL_LIST, &params);
    while (pl_read_next(&read)) {
        struct pl_extension_tool_row *row = pl_read_add(&read, &list);
        if (row)
            *row = (struct pl_extension_tool_row){
                .name = pl_read_text(&read, 0),
                .accepted = pl_read_text(&read, 1),
                .seen = pl_read_text(&read, 2),
                .seen_ms = pl_read_int(&read, 3),
                .definition = pl_read_text(&read, 4),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_tools = list.items;
    *ret_n = list.n;
    return PL_OK;
}

/* --- answers --------------------------------------------------------------------------------- */

void pl_batch_put_extension_answer(struct pl_batch *batch, struct pl_str extension_id,
                                   const struct pl_extension_answer_row *answer)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, extension_id);
    pl_params_id(&params, answer->user_id, "user_");
    pl_params_text(&params, answer->capability);
    pl_params_text(&params, answer->target.ptr ? answer->target : PL_STR(""));
    pl_params_text(&params, answer->manifest_hash);
    pl_params_int(&params, answer->is_allowed);
    pl_params_int(&params, answer->answered_ms);
    pl_batch_write(batch, PL_SQL_EXTENSION_ANSWER_PUT, &params);
}

void pl_batch_forget_extension_answers(struct pl_batch *batch, struct pl_str extension_id,
                                       struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, extension_id);
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, PL_SQL_EXTENSION_ANSWERS_FORGET, &params);
}

enum pl_status pl_store_extension_answers(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str extension_id, struct pl_str user_id,
                                          struct pl_extension_answer_row **ret_answers,
                                          size_t *ret_n, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, extension_id);
    pl_params_id(&params, user_id, "user_");
    struct pl_list list = {.size = sizeof(struct pl_extension_answer_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_EXTENSION_ANSWER_LIST, &params);
    while (pl_read_next(&read)) {
        struct pl_extension_answer_row *row = pl_read_add(&read, &list);
        if (row)
            *row = (struct pl_extension_answer_row){
                .user_id = pl_read_id(&read, 0, "user_"),
                .capability = pl_read_text(&read, 1),
                .target = pl_read_text(&read, 2),
                .manifest_hash = pl_read_text(&read, 3),
                .is_allowed = pl_read_int(&read, 4),
                .answered_ms = pl_read_int(&read, 5),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_answers = list.items;
    *ret_n = list.n;
    return PL_OK;
}

/* --- quarantines ----------------------------------------------------------------------------- */

void pl_batch_quarantine_extension(struct pl_batch *batch, struct pl_str extension_id,
                                   const struct pl_extension_quarantine_row *row)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, extension_id);
    pl_params_id(&params, row->user_id, "user_");
    pl_params_text(&params, row->error.ptr ? row->error : PL_STR(""));
    pl_params_int(&params, row->since_ms);
    pl_batch_write(batch, PL_SQL_EXTENSION_QUARANTINE_PUT, &params);
}

void pl_batch_forget_extension_quarantines(struct pl_batch *batch, struct pl_str extension_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, extension_id);
    pl_batch_write(batch, PL_SQL_EXTENSION_QUARANTINES_FORGET, &params);
}

enum pl_status pl_store_extension_quarantines(struct pl_store *store, struct pl_arena *arena,
                                              struct pl_str extension_id,
                                              struct pl_extension_quarantine_row **ret_rows,
                                              size_t *ret_n, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_text(&params, extension_id);
    struct pl_list list = {.size = sizeof(struct pl_extension_quarantine_row)};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_EXTENSION_QUARANTINE_LIST, &params);
    while (pl_read_next(&read)) {
        struct pl_extension_quarantine_row *row = pl_read_add(&read, &list);
        if (row)
            *row = (struct pl_extension_quarantine_row){
                .user_id = pl_read_id(&read, 0, "user_"),
                .error = pl_read_text(&read, 1),
                .since_ms = pl_read_int(&read, 2),
            };
    }
    enum pl_status status = pl_read_end(&read);
    if (status != PL_OK)
        return status;
    *ret_rows = list.items;
    *ret_n = list.n;
    return PL_OK;
}
