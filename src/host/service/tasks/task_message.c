/* The message of a task: its own text, or a library prompt as it is when the task runs. */
#include "service/tasks/task_message.h"

#include "agent/chat_message.h"
#include "http/json_members.h"
#include "json/text.h"
#include "json/write.h"
#include "service/prompts/prompt_run.h"
#include "service/request_options.h"

/* The member as text; it is a string or a number. */
static enum pl_status read_version(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   struct pl_str *ret_version)
{
    const struct pl_json_node *node = pl_json_get(doc, doc->root, PL_STR("version"));
    if (!node || pl_json_kind(node) != PL_JSON_NUMBER)
        return pl_member_text(arena, doc, doc->root, "version", ret_version);
    *ret_version = pl_json_span(doc, node);
    return PL_OK;
}

static enum pl_status load(const struct pl_models *models, struct pl_server *server,
                           struct pl_arena *arena, const struct pl_task_row *task, int64_t now_ms,
                           struct pl_prompt_run *ret_run, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str id, version;
    struct pl_render_opts opts = {0};
    enum pl_status status = pl_json_parse(arena, task->prompt_ref, NULL, &doc, err);
    if (status == PL_OK)
        status = pl_member_text(arena, &doc, doc.root, "prompt_id", &id);
    if (status == PL_OK)
        status = read_version(arena, &doc, &version);
    if (status == PL_OK)
        status = pl_vars_read(arena, &doc, pl_json_get(&doc, doc.root, PL_STR("variables")), &opts);
    if (status != PL_OK)
        return status;
    return pl_prompt_run_load(models, server, arena, task->user_id, id, version, &opts, now_ms,
                              ret_run, err);
}

static enum pl_status write_prefill(struct pl_arena *arena, struct pl_str prefill,
                                    struct pl_str *ret_override, struct pl_error *err)
{
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    if (!prefill.len)
        return PL_OK;
    pl_buf_adds(&text, "{\"prefill\":");
    pl_json_quote(&text, prefill);
    pl_buf_addc(&text, '}');
    *ret_override = pl_arena_dup(arena, pl_buf_str(&text));
    return text.status == PL_OK && ret_override->ptr ? PL_OK
                                                     : pl_fail(err, PL_NOMEM, "out of memory");
}

enum pl_status pl_task_says(const struct pl_models *models, struct pl_server *server,
                            struct pl_arena *arena, const struct pl_task_row *task, int64_t now_ms,
                            struct pl_task_said *ret_said, struct pl_error *err)
{
    if (task->prompt_ref.ptr) {
        struct pl_prompt_run run = {0};
        enum pl_status status = load(models, server, arena, task, now_ms, &run, err);
        if (status == PL_OK)
            *ret_said = (struct pl_task_said){run.turns,    run.n_turns, run.message, run.model,
                                              run.settings, run.tools,   {0}};
        return status == PL_OK ? write_prefill(arena, run.prefill, &ret_said->override, err)
                               : status;
    }
    struct pl_buf quoted PL_CLEANUP_BUF;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, task->prompt);
    struct pl_str message = pl_arena_dup(arena, pl_buf_str(&quoted));
    if (quoted.status != PL_OK || !message.ptr)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *ret_said = (struct pl_task_said){.message = message};
    return PL_OK;
}
