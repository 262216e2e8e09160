/* The sessions of `parley run`, from creation to deletion. */
#include "app/run/answering.h"

#include "app/chat/follow.h"
#include "io/system/terminal.h"
#include "json/number.h"
#include "words/words.h"

#include <stdio.h>
#include <unistd.h>

enum { STOP_MS = 10000, MAX_WHY = 512 };

/* --- signals --------------------------------------------------------------------------------- */

static void tell(struct pl_api *api, const char *method, const char *session_id, const char *verb)
{
    struct pl_http_call call = {
        .method = method, .has_body = *method == 'P', .timeout_ms = STOP_MS};
    struct pl_error err;
    int http_status;
    PL_CLEANUP_BUF struct pl_buf reply, path;
    pl_buf_init(&reply, 0);
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, "/api/sessions/");
    pl_api_escape(&path, pl_str_of(session_id));
    pl_buf_adds(&path, verb);
    pl_buf_addc(&path, '\0');
    if (path.status == PL_OK) /* failures are ignored: a server that is gone has stopped too */
        (void)pl_api_try(api, &call, path.ptr, &http_status, &reply, &err);
}

/* Runs on a separate thread: stops the model calls and deletes the sessions. */
static void on_end(void *ctx)
{
    struct pl_answering *at_work = ctx;
    pthread_mutex_lock(&at_work->lock);
    for (size_t i = 0; i < PL_RUN_AT_ONCE; i++)
        if (at_work->slots[i].session_id) {
            tell(&at_work->deed->api, "POST", at_work->slots[i].session_id, "/stop");
            tell(&at_work->deed->api, "DELETE", at_work->slots[i].session_id, "");
        }
    _exit(PL_EXIT_NO);
}

enum pl_exit pl_answering_open(struct pl_answering *at_work, struct pl_deed *deed)
{
    struct pl_error err = {0};
    *at_work = (struct pl_answering){.deed = deed, .lock = PTHREAD_MUTEX_INITIALIZER};
    enum pl_status status = pl_endings_take(on_end, at_work, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

static void forget(struct pl_answering *at_work, size_t slot)
{
    struct pl_deed *deed = at_work->deed;
    const char *id = at_work->slots[slot].session_id;
    if (id)
        (void)pl_deed_ask(deed, "DELETE", pl_api_path(&deed->api, "/api/sessions/%", id, NULL));
    at_work->slots[slot].session_id = NULL;
}

void pl_answering_forget(struct pl_answering *at_work, size_t slot)
{
    pthread_mutex_lock(&at_work->lock);
    forget(at_work, slot);
    pthread_mutex_unlock(&at_work->lock);
}

void pl_answering_close(struct pl_answering *at_work)
{
    pthread_mutex_lock(&at_work->lock);
    for (size_t i = 0; i < PL_RUN_AT_ONCE; i++)
        forget(at_work, i);
}

/* --- asking ---------------------------------------------------------------------------------- */

static enum pl_exit make_session(struct pl_deed *deed, const struct pl_asked *asked,
                                 const char *model, const char **ret_session_id)
{
    pl_json_out_open(&deed->out, '{');
    if (model) {
        pl_json_out_key(&deed->out, "model");
        pl_json_out_text(&deed->out, pl_str_of(model));
    }
    if (asked->document.len) {
        pl_json_out_key(&deed->out, "from");
        pl_json_out_text(&deed->out, PL_STR("structured-chat"));
        pl_json_out_key(&deed->out, "document");
        pl_json_out_raw(&deed->out, asked->document);
    }
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code =
        pl_deed_ask(deed, "POST", asked->document.len ? "/api/sessions/import" : "/api/sessions");
    if (code != PL_EXIT_OK)
        return code;
    *ret_session_id = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "id"));
    return *ret_session_id ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

static void out_message(struct pl_deed *deed, const struct pl_asked *asked)
{
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "message");
    pl_json_out_raw(&deed->out, asked->message);
    if (asked->settings.len) {
        pl_json_out_key(&deed->out, "settings");
        pl_json_out_raw(&deed->out, asked->settings);
    }
    /* The server's own tools are offered only by name: a run asks for text. */
    if (!pl_deed_out_tools(deed)) {
        pl_json_out_key(&deed->out, "tools");
        pl_json_out_raw(&deed->out, asked->tools.len ? asked->tools : PL_STR("\"none\""));
    }
    if (asked->system) {
        pl_json_out_key(&deed->out, "system_prompt");
        pl_json_out_text(&deed->out, pl_str_of(asked->system));
    }
    if (asked->prefill.len) {
        pl_json_out_key(&deed->out, "prefill");
        pl_json_out_text(&deed->out, asked->prefill);
    }
    pl_json_out_close(&deed->out, '}');
}

enum pl_exit pl_answering_begin(struct pl_answering *at_work, size_t slot,
                                const struct pl_asked *asked, const char *model)
{
    struct pl_deed *deed = at_work->deed;
    model = model ? model : asked->model;
    at_work->slots[slot].model = model;
    pthread_mutex_lock(&at_work->lock);
    enum pl_exit code = make_session(deed, asked, model, &at_work->slots[slot].session_id);
    pthread_mutex_unlock(&at_work->lock);
    if (code != PL_EXIT_OK)
        return code;
    out_message(deed, asked);
    return pl_deed_ask(
        deed, "POST",
        pl_api_path(&deed->api, "/api/sessions/%/chat", at_work->slots[slot].session_id, NULL));
}

/* --- the answer ------------------------------------------------------------------------------ */

enum pl_exit pl_answering_show(struct pl_answering *at_work, size_t slot)
{
    return pl_follow_new(&at_work->deed->api, at_work->slots[slot].session_id);
}

static void add_turn(struct pl_deed *deed, const struct pl_json_node *turn, struct pl_buf *text,
                     struct pl_run_answer *answer)
{
    const struct pl_json_node *usage = pl_json_member(&deed->answer, turn, "usage", PL_JSON_OBJECT);
    const struct pl_json_node *blocks =
        pl_json_member(&deed->answer, turn, "blocks", PL_JSON_ARRAY);
    answer->duration_ms += pl_api_int(&deed->answer, turn, "duration_ms", 0);
    if (usage) {
        answer->input_tokens += pl_api_int(&deed->answer, usage, "input_tokens", 0);
        answer->output_tokens += pl_api_int(&deed->answer, usage, "output_tokens", 0);
    }
    for (const struct pl_json_node *one = blocks ? pl_json_first(blocks) : NULL;
         one && one < pl_json_end(blocks); one = pl_json_next(one)) {
        if (!pl_str_eq(pl_deed_text(deed, one, "type"), PL_STR("text")))
            continue;
        pl_buf_adds(text, text->len ? "\n" : "");
        pl_buf_add(text, pl_deed_text(deed, one, "content"));
    }
}

static enum pl_exit read_turns(struct pl_deed *deed, const char *session_id,
                               struct pl_run_answer *answer)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_exit code = pl_deed_ask(
        deed, "GET",
        pl_api_path(&deed->api, "/api/sessions/%/messages?limit=100", session_id, NULL));
    if (code != PL_EXIT_OK || !pl_json_is(deed->answer.root, PL_JSON_ARRAY))
        return code;
    const struct pl_json_node *list = deed->answer.root;
    for (const struct pl_json_node *turn = pl_json_first(list); turn < pl_json_end(list);
         turn = pl_json_next(turn)) {
        bool is_user = pl_str_eq(pl_deed_text(deed, turn, "role"), PL_STR("user"));
        if (is_user) { /* what came before was input */
            pl_buf_clear(&text);
            answer->input_tokens = answer->output_tokens = answer->duration_ms = 0;
        } else {
            add_turn(deed, turn, &text, answer);
        }
    }
    answer->text = text.len ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&text)) : PL_STR("");
    return text.status == PL_OK && answer->text.ptr ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

/* Adds the costs of a session's calls, among the newest calls of the server. Unknown if the cost of
 * any call is. */
static void add_costs(const struct pl_json_doc *doc, struct pl_texts *texts, const char *session_id,
                      struct pl_run_answer *answer)
{
    const struct pl_json_node *items = pl_json_member(doc, doc->root, "items", PL_JSON_ARRAY);
    bool is_known = true;
    for (const struct pl_json_node *run = items ? pl_json_first(items) : NULL;
         run && run < pl_json_end(items); run = pl_json_next(run)) {
        const struct pl_json_node *cost = pl_json_member(doc, run, "cost_usd", PL_JSON_NUMBER);
        if (!pl_str_eq(pl_api_text(texts, doc, run, "session_id"), pl_str_of(session_id)))
            continue;
        answer->has_cost = true;
        is_known = is_known && cost;
        answer->cost_usd += cost ? pl_json_number_double(pl_json_span(doc, cost)) : 0;
    }
    answer->has_cost = answer->has_cost && is_known;
}

/* Does not use the memory of the deed, which stays until the end. */
static enum pl_exit read_costs(struct pl_deed *deed, const char *session_id,
                               struct pl_run_answer *answer)
{
    struct pl_texts texts = {0};
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_http_call call = {.method = "GET"};
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    enum pl_exit code = pl_api_call(&deed->api, &call, "/api/runs?limit=100", &reply);
    if (code != PL_EXIT_OK)
        return code;
    pl_arena_init(&texts.arena, 0);
    enum pl_status status =
        pl_json_parse(&texts.arena, pl_buf_str(&reply), &pl_json_own, &doc, &err);
    if (status == PL_OK)
        add_costs(&doc, &texts, session_id, answer);
    if (status == PL_OK && texts.is_cut)
        status = PL_NOMEM;
    pl_arena_deinit(&texts.arena);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

enum pl_exit pl_answering_read(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer)
{
    struct pl_run_answer answer = {.model = at_work->slots[slot].model, .is_complete = true};
    const char *session_id = at_work->slots[slot].session_id;
    enum pl_exit code = read_turns(at_work->deed, session_id, &answer);
    if (code == PL_EXIT_OK)
        code = read_costs(at_work->deed, session_id, &answer);
    if (code == PL_EXIT_OK)
        *ret_answer = answer;
    return code;
}

enum pl_exit pl_answering_wait(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer)
{
    struct pl_deed *deed = at_work->deed;
    char why[MAX_WHY] = "";
    enum pl_exit ended =
        pl_follow_quietly(&deed->api, at_work->slots[slot].session_id, why, sizeof why);
    if (ended > PL_EXIT_NO)
        return ended;
    enum pl_exit code = pl_answering_read(at_work, slot, ret_answer);
    if (code != PL_EXIT_OK || ended == PL_EXIT_OK)
        return code;
    ret_answer->is_complete = false;
    ret_answer->why = pl_deed_keep(deed, pl_str_of(why));
    return ret_answer->why ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

const char *pl_run_answer_sum(struct pl_deed *deed, const struct pl_run_answer *answer)
{
    char sum[160], cost[40] = "";
    if (answer->has_cost && answer->cost_usd > 0) /* same form as below a chat answer */
        snprintf(cost, sizeof cost, ", $%.4f", answer->cost_usd);
    snprintf(sum, sizeof sum, "%lld.%lld s, %lld tokens in, %lld out%s",
             (long long)answer->duration_ms / 1000, (long long)answer->duration_ms / 100 % 10,
             (long long)answer->input_tokens, (long long)answer->output_tokens, cost);
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    if (deed->console->is_chinese)
        (void)pl_words_add(&said, pl_str_of(sum));
    else
        pl_buf_adds(&said, sum);
    return said.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&said)) : NULL;
}
