/* Reads a request to run a draft: its content or a version of a prompt, the variables, the
 * models, the tools. All of it on a worker, so that no model is called before the whole request
 * is known to be valid. */
#include "agent/context/ask_how.h"
#include "io/clock.h"
#include "access/meter/meter.h"
#include "agent/tools/offer.h"
#include "base/text/uuid.h"
#include "format/convert.h"
#include "json/edit/edit.h"
#include "json/text.h"
#include "prompt/asks.h"
#include "service/prompts/prompt_request.h"
#include "service/prompts/prompt_run.h"
#include "service/request_options.h"
#include "service/runs/draft_run.h"

#include <stdio.h>

static bool fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err)
{
    pl_exchange_fail(x, status, err);
    return false;
}

/* --- the text -------------------------------------------------------------------------------- */

/* The body names the prompt, not the path. */
static bool find_prompt(struct pl_exchange *x, struct pl_draft_runs *runs,
                        struct pl_prompt_text *ret_text)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    struct pl_str name = pl_body_text(x, "version");
    runs->prompt_id = pl_arena_dup(&x->arena, pl_body_text(x, "prompt_id"));
    x->args[0] = runs->prompt_id;
    bool is_found =
        pl_prompt_find(x, &prompt) &&
        pl_prompt_find_version(x, &prompt, name.ptr ? name : pl_body_raw(x, "version"), &version);
    if (!is_found)
        return false;
    runs->version = pl_body_has(x, "content") && !pl_body_has(x, "version") ? 0 : version.version;
    *ret_text = pl_prompt_text_of(&version);
    return true;
}

static bool read_text(struct pl_exchange *x, struct pl_draft_runs *runs,
                      struct pl_prompt_text *ret_text)
{
    bool has_content = pl_body_has(x, "content"), has_prompt = pl_body_has(x, "prompt_id");
    if (!has_content && !has_prompt) {
        pl_option_refuse(x, "Send content, or the prompt_id of a prompt.", "/content");
        return false;
    }
    if (!has_prompt && pl_body_has(x, "version")) {
        pl_option_refuse(x, "A version is one of a prompt: send prompt_id, too.", "/version");
        return false;
    }
    if (has_prompt && !find_prompt(x, runs, ret_text))
        return false;
    return !has_content || pl_prompt_draft(x, ret_text);
}

static bool fill_in(struct pl_exchange *x, struct pl_draft_runs *runs,
                    const struct pl_prompt_text *text)
{
    struct pl_render_opts opts = {.max_bytes = PL_MAX_RENDERED};
    struct pl_rendered rendered;
    struct pl_error err = {0};
    struct pl_str chat = {0};
    if (!pl_body_vars(x, &opts))
        return false;
    pl_rendered_init(&rendered);
    enum pl_status status = pl_prompt_chat(&x->arena, text, &chat);
    if (status == PL_OK)
        status = pl_render(chat, &opts, &rendered, &err);
    if (status == PL_OK)
        runs->chat = pl_arena_dup(&x->arena, pl_buf_str(&rendered.out));
    if (status == PL_OK && !runs->chat.ptr)
        status = PL_NOMEM;
    if (status != PL_OK && !pl_exchange_fail_vars(x, status, &rendered))
        (void)fail(x, status, &err);
    pl_rendered_deinit(&rendered);
    return status == PL_OK;
}

/* --- what it asks ---------------------------------------------------------------------------- */

/* The chat as turns; the prefill of the answer is not a turn. */
static enum pl_status make_turns(struct pl_exchange *x, struct pl_draft_runs *runs,
                                 const struct pl_json_doc *doc, const struct pl_prompt_asks *asks,
                                 struct pl_error *err)
{
    struct pl_convert_opts opts = {
        .from = &pl_format_structured_chat, .to = &pl_format_turns, .max_items = PL_MAX_ITEMS};
    struct pl_converted made;
    PL_CLEANUP_BUF struct pl_buf rest;
    struct pl_str chat = runs->chat;
    enum pl_status status = PL_OK;
    pl_buf_init(&rest, 0);
    if (asks->begun) {
        struct pl_json_edit edit;
        pl_json_edit_init(&edit, &x->arena, doc);
        status = pl_json_edit_remove_node(&edit, asks->messages, asks->begun, err);
        if (status == PL_OK)
            status = pl_json_edit_write(&edit, &rest);
        pl_json_edit_deinit(&edit);
        chat = pl_buf_str(&rest);
    }
    pl_converted_init(&made);
    if (status == PL_OK)
        status = pl_convert(chat, &opts, &made, err);
    if (status == PL_OK)
        runs->turns = pl_arena_dup(&x->arena, pl_buf_str(&made.out));
    pl_converted_deinit(&made);
    return status == PL_OK && !runs->turns.ptr ? PL_NOMEM : status;
}

static bool read_asks(struct pl_exchange *x, struct pl_draft_runs *runs,
                      struct pl_prompt_asks *ret_asks)
{
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_json_opts opts = pl_json_own;
    opts.refuses_nul = true;
    enum pl_status status = pl_json_parse(&x->arena, runs->chat, &opts, &doc, &err);
    if (status == PL_OK)
        status = pl_prompt_asks_read(&x->arena, &doc, ret_asks, &err);
    if (status == PL_OK && ret_asks->message.len <= 2)
        status = pl_fail(&err, PL_INVALID, "The last message of this prompt is empty.");
    if (status == PL_OK)
        status = make_turns(x, runs, &doc, ret_asks, &err);
    struct pl_prompt_keeper keeper = {x->shard->server, x->caller.user_id};
    if (status == PL_OK)
        status = pl_prompt_check_asks(&keeper, &x->arena, ret_asks, &err);
    runs->settings = ret_asks->settings;
    runs->prefill = ret_asks->prefill;
    return status == PL_OK || fail(x, status, &err);
}

/* --- whom it asks ---------------------------------------------------------------------------- */

static bool read_model(struct pl_exchange *x, struct pl_draft_runs *runs, struct pl_str name,
                       const char *pointer)
{
    struct pl_draft_run *run = &runs->items[runs->n_items++];
    struct pl_str found = {0};
    run->all = runs;
    run->index = runs->n_items - 1;
    pl_buf_init(&run->text, 0);
    pl_buf_init(&run->thinking, 0);
    pl_buf_init(&run->calls, 0);
    if (!pl_option_model(x, name, pointer, &found))
        return false;
    if (pl_model_replayed(name).len) {
        pl_option_refuse(x, "A replay answers its own session only; name another model.", "%s",
                         pointer);
        return false;
    }
    run->model = pl_arena_dup(&x->arena, found);
    return run->model.ptr || fail(x, PL_NOMEM, NULL);
}

static bool read_models(struct pl_exchange *x, struct pl_draft_runs *runs,
                        const struct pl_prompt_asks *asks)
{
    const struct pl_json_node *list = pl_json_get(&x->body, x->body.root, PL_STR("models"));
    const struct pl_json_node *node = list ? pl_json_first(list) : NULL;
    struct pl_str name = pl_body_text(x, "model");
    if (!list) {
        bool has_own = asks->model.len && pl_model_find(x->setup->models, asks->model);
        return read_model(x, runs,
                          name.len  ? name
                          : has_own ? asks->model
                                    : pl_str_of(x->setup->config.default_model),
                          "/model");
    }
    if (name.len) {
        pl_option_refuse(x, "Send model or models, not both.", "/model");
        return false;
    }
    for (; node < pl_json_end(list); node = pl_json_next(node)) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/models/%zu", runs->n_items);
        if (pl_json_text(&x->arena, &x->body, node, &name) != PL_OK)
            return fail(x, PL_NOMEM, NULL);
        if (!read_model(x, runs, name, pointer))
            return false;
    }
    return true;
}

/* The tools of the request, otherwise those of the prompt. Built-in tools are offered only on
 * request. No tool is run. */
static bool write_tools(struct pl_exchange *x, struct pl_draft_run *run,
                        const struct pl_prompt_asks *asks)
{
    struct pl_error err = {0};
    struct pl_str given = pl_body_raw(x, "tools");
    bool is_given = given.len && !pl_str_eq(given, PL_STR("null"));
    struct pl_str choice = is_given ? given : asks->tools.len ? asks->tools : PL_STR("\"none\"");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = PL_OK;
    if (is_given)
        status = pl_offer_check(&x->arena, &x->body,
                                pl_json_get(&x->body, x->body.root, PL_STR("tools")), "/tools",
                                x->shard->server->ext, x->caller.user_id, &err);
    if (status == PL_OK)
        status = pl_offer_write(&x->arena, choice, run->model, false, x->shard->server->ext,
                                x->caller.user_id, &text);
    run->tools = pl_arena_dup(&x->arena, pl_buf_str(&text));
    if (status == PL_OK && (text.status != PL_OK || !run->tools.ptr))
        status = PL_NOMEM;
    return status == PL_OK || fail(x, status, &err);
}

struct pl_model_request pl_draft_run_request(const struct pl_draft_run *run)
{
    const struct pl_draft_runs *runs = run->all;
    return (struct pl_model_request){
        .models = runs->x->setup->models,
        .model = run->model,
        .turns = runs->turns,
        .tools = run->tools,
        .settings = runs->settings,
        .prefill = runs->prefill,
        .owner = runs->x->caller.user_id,
    };
}

static bool prepare(struct pl_exchange *x, struct pl_draft_runs *runs, struct pl_draft_run *run)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (runs->prefill.len)
        status = pl_model_continues(x->setup->models, run->model, &err);
    struct pl_model_request request = pl_draft_run_request(run);
    if (status == PL_OK)
        status = pl_model_prepare(&request, &run->prepared, &err);
    return status == PL_OK || fail(x, status, &err);
}

/* Fetches limits that several nodes share, for one of the runs. */
static void fetch_limits(struct pl_exchange *x, const struct pl_draft_runs *runs)
{
    enum { BYTES_PER_TOKEN = 4 };
    struct pl_meter *meter = x->shard->server->meter;
    if (pl_meter_needs_fetch(meter, x->caller.user_id, x->caller.key_id))
        pl_meter_fetch(meter, x->caller.user_id, x->caller.key_id,
                       (int64_t)(runs->turns.len / BYTES_PER_TOKEN) + PL_METER_OUTPUT_TOKENS,
                       pl_clock_unix_ms());
}

void pl_draft_runs_plan(struct pl_exchange *x)
{
    struct pl_draft_runs *runs = x->state;
    struct pl_prompt_text text;
    struct pl_prompt_asks asks = {0};
    struct pl_id_seed seed = pl_seed_draw();
    runs->is_stream = pl_body_bool(x, "stream", false);
    if (!read_text(x, runs, &text) || !fill_in(x, runs, &text) || !read_asks(x, runs, &asks) ||
        !read_models(x, runs, &asks))
        return;
    for (size_t i = 0; i < runs->n_items; i++) {
        runs->items[i].id = pl_id_take(&seed, "run_");
        if (!write_tools(x, &runs->items[i], &asks) || !prepare(x, runs, &runs->items[i]))
            return;
        fetch_limits(x, runs);
    }
}
