/* Memories across sessions: a model saves and searches them here. recall.h decides which of them
 * are part of every call. */
#include "agent/context/memory_row.h"
#include "agent/context/recall.h"
#include "agent/tools/tool_int.h"
#include "base/text/terms.h"
#include "base/text/utc.h"
#include "json/write.h"
#include "shard/shard.h"

enum { MAX_FOUND = 10, MAX_READ = 100 };

/* --- saving ---------------------------------------------------------------------------------- */

static enum pl_status check_room(struct pl_activity *activity)
{
    int64_t n = 0;
    enum pl_status status =
        pl_store_memory_count(activity->server->store, activity->user_id, &n, &activity->err);
    if (status == PL_OK && n >= PL_MEMORY_MAX_PER_USER)
        status = pl_fail(&activity->err, PL_INVALID,
                         "Nothing was saved: there are %d memories already, which is the limit. "
                         "Tell the person, who can delete some.",
                         PL_MEMORY_MAX_PER_USER);
    return status;
}

static enum pl_status commit(struct pl_activity *activity, struct pl_memory_row *row)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_create_memory(batch, row);
    enum pl_status status = pl_store_commit(activity->server->store, batch, &activity->err);
    if (status == PL_OK)
        status = pl_store_memory_find(activity->server->store, &activity->arena, activity->user_id,
                                      row->uid, row, &activity->err);
    return status;
}

static enum pl_status save(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    struct pl_id_seed seed = pl_seed_draw();
    struct pl_id uid = pl_id_take(&seed, "mem_");
    struct pl_memory_row row = {
        .uid = pl_str_of(uid.text),
        .user_id = activity->user_id,
        .type = PL_STR("experience"),
        .created_ms = seed.unix_ms,
        .source_session = activity->session_id,
    };
    enum pl_status status =
        pl_memory_read(&activity->arena, arguments, arguments->root, "", &row, &activity->err);
    row.source_session = activity->session_id;
    if (status == PL_OK)
        status = pl_memory_set_terms(&activity->arena, &row);
    if (status == PL_OK)
        status = check_room(activity);
    if (status == PL_OK)
        status = commit(activity, &row);
    if (status == PL_OK)
        pl_buf_addf(&activity->text, "{\"saved\":true,\"id\":%lld}", (long long)row.id);
    return status;
}

void pl_tool_memory_save(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_tool_work(activity, save);
}

/* --- finding --------------------------------------------------------------------------------- */

static enum pl_status find(struct pl_activity *activity, const struct pl_json_doc *arguments,
                           struct pl_memory_page *ret_page)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    struct pl_str words, type;
    pl_buf_init(&terms, 0);
    enum pl_status status = pl_tool_text(activity, arguments, "query", &words);
    if (status == PL_OK)
        status = pl_tool_text(activity, arguments, "type", &type);
    if (status != PL_OK)
        return status;
    pl_terms_of_query(words, PL_TERMS_ASKED, &terms);
    struct pl_memory_query query = {
        .user_id = activity->user_id,
        .type = type,
        .created_before_ms = INT64_MAX,
        .terms = pl_buf_str(&terms),
        .now_ms = activity->unix_ms,
        .limit = MAX_READ,
        .before_id = INT64_MAX,
    };
    *ret_page = (struct pl_memory_page){0};
    if (terms.status != PL_OK || !terms.len)
        return terms.status;
    return pl_store_memory_list(activity->server->store, &activity->arena, &query, ret_page,
                                &activity->err);
}

static void write_found(struct pl_json_out *out, const struct pl_memory_row *memory)
{
    char day[PL_UTC_SIZE];
    pl_utc_write(day, memory->created_ms);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "id");
    pl_json_out_int(out, memory->id);
    pl_json_out_key(out, "type");
    pl_json_out_text(out, memory->type);
    pl_json_out_key(out, "content");
    pl_json_out_text(out, memory->content);
    if (memory->topic.len) {
        pl_json_out_key(out, "topic");
        pl_json_out_text(out, memory->topic);
    }
    pl_json_out_key(out, "saved");
    pl_json_out_text(out, (struct pl_str){day, sizeof "2026-01-01" - 1});
    pl_json_out_close(out, '}');
}

static enum pl_status search(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    struct pl_memory_page page;
    struct pl_session_record session;
    enum pl_status status = find(activity, arguments, &page);
    if (status == PL_OK)
        status = pl_store_session_get(activity->server->store, &activity->arena, activity->user_id,
                                      activity->session_id, &session, &activity->err);
    if (status != PL_OK)
        return status;
    size_t n = 0;
    struct pl_json_out out = pl_json_out(&activity->text);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "memories");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < page.n_items && n < MAX_FOUND; i++) {
        struct pl_memory_home home = pl_memory_home(&page.items[i]);
        if (!pl_memory_is_at_home(&home, &session))
            continue;
        write_found(&out, &page.items[i]);
        n++;
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    return PL_OK;
}

void pl_tool_memory_search(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    activity->unix_ms = pl_loop_unix_ms(activity->loop);
    pl_tool_work(activity, search);
}
