/* Drafts of prompts, cards of tools, and the settings of users. */
#include "store/page.h"
#include "store/store_int.h"

void pl_batch_put_draft(struct pl_batch *batch, struct pl_str user_id, struct pl_str prompt_id,
                        const struct pl_draft_row *draft)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, prompt_id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, draft->revision);
    pl_params_int(&params, draft->based_on);
    pl_params_int(&params, draft->updated_ms);
    pl_params_text(&params, draft->type);
    pl_params_text(&params, draft->extra.len ? draft->extra : PL_STR("{}"));
    pl_params_text(&params, draft->content.ptr ? draft->content : PL_STR(""));
    pl_batch_write(batch, PL_SQL_DRAFT_PUT, &params);
    pl_blobs_use(batch, PL_BLOB_OF_PROMPT, prompt_id, draft->content);
    pl_blobs_use(batch, PL_BLOB_OF_PROMPT, prompt_id, draft->extra);
}

void pl_batch_delete_draft(struct pl_batch *batch, struct pl_str user_id, struct pl_str prompt_id)
{
    pl_batch_write_of(batch, PL_SQL_DRAFT_DELETE, prompt_id, "prompt_", user_id);
}

enum pl_status pl_store_draft_get(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str prompt_id,
                                  struct pl_draft_row *ret_draft, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_draft_row draft = {0};
    pl_params_id(&params, prompt_id, "prompt_");
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_DRAFT_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        draft = (struct pl_draft_row){
            .revision = pl_read_int(&read, 0),
            .based_on = pl_read_int(&read, 1),
            .updated_ms = pl_read_int(&read, 2),
            .type = pl_read_text(&read, 3),
            .extra = pl_read_text(&read, 4),
            .content = pl_read_text(&read, 5),
        };
    enum pl_status status = pl_read_end_one(&read, was_found, "draft");
    if (status == PL_OK)
        *ret_draft = draft;
    return status;
}

void pl_batch_put_user_settings(struct pl_batch *batch, struct pl_str user_id, int64_t revision,
                                struct pl_str value)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, revision);
    pl_params_text(&params, value);
    pl_batch_write(batch, PL_SQL_USER_SETTINGS_PUT, &params);
}

enum pl_status pl_store_user_settings_get(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str user_id, int64_t *ret_revision,
                                          struct pl_str *ret_value, struct pl_error *err)
{
    struct pl_params params = {0};
    int64_t revision = 0;
    struct pl_str value = PL_STR("{}");
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_USER_SETTINGS_GET, &params);
    if (pl_read_next(&read)) {
        revision = pl_read_int(&read, 0);
        value = pl_read_text(&read, 1);
    }
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK) {
        *ret_revision = revision;
        *ret_value = value;
    }
    return status;
}

void pl_batch_put_card(struct pl_batch *batch, struct pl_str session_id, struct pl_str name,
                       struct pl_str html)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session_id, "sess_");
    pl_params_text(&params, name);
    pl_params_text(&params, html);
    pl_batch_write(batch, PL_SQL_CARD_PUT, &params);
    pl_blobs_use(batch, PL_BLOB_OF_SESSION, session_id, html);
}

enum pl_status pl_store_card_get(struct pl_store *store, struct pl_arena *arena, struct pl_str name,
                                 struct pl_str *ret_html, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_str html = {0};
    pl_params_text(&params, name);
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_CARD_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        html = pl_read_text(&read, 0);
    enum pl_status status = pl_read_end_one(&read, was_found, "card");
    if (status == PL_OK)
        *ret_html = html;
    return status;
}
