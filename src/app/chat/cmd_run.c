/* parley run: a prompt once, answered by a model or by several side by side, with nothing left
 * after. A prompt of the library is run by the server; a file becomes a session for each model,
 * which is deleted when it has answered, or when the command is asked to end before. */
#include "app/chat/follow.h"
#include "app/chat/run_check.h"
#include "app/frame/attachment.h"
#include "app/frame/input.h"
#include "io/system/terminal.h"
#include "app/prompt/prompt_int.h"
#include "app/frame/variable.h"
#include "prompt/asks.h"
#include "prompt/render.h"
#include "json/edit/edit.h"
#include "json/text.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MODELS = 8, MAX_VARS = 256, STOP_MS = 10000 };

/* What a file asks: the message that is answered, and the conversation before it. */
struct asked {
    struct pl_str message;         /* JSON */
    struct pl_str document;        /* a structured chat; empty: nothing comes before */
    struct pl_str prefill;         /* text: how the answer begins; empty: none */
    const char *model;             /* of the file's config, of the deed; NULL: none */
    struct pl_str settings, tools; /* JSON, of the config; empty: none */
    const char *system;            /* of --system; NULL: the file's */
};

/* --- the file -------------------------------------------------------------------------------- */

static enum pl_exit read_vars(struct pl_deed *deed, struct pl_render_var *vars, size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        const struct pl_option_use *use = &deed->args->uses.ptr[i];
        if (use->option->id != PL_OPT_VAR)
            continue;
        if (n == MAX_VARS)
            return pl_deed_usage(deed, "at most %d variables can be given", MAX_VARS);
        enum pl_exit code = pl_deed_read_variable(deed, use->values[0], &vars[n++]);
        if (code != PL_EXIT_OK)
            return code;
    }
    *ret_n = n;
    return PL_EXIT_OK;
}

/* A text is a structured chat of one message. */
static enum pl_status wrap(const struct pl_draft *draft, struct pl_buf *to)
{
    if (draft->is_structured) {
        pl_buf_add(to, draft->content);
        return to->status;
    }
    pl_buf_adds(to, "{\"messages\":[{\"role\":\"user\",\"content\":");
    pl_json_quote(to, draft->content);
    pl_buf_adds(to, "}]}");
    return to->status;
}

/* The last message, the user's, apart from what comes before it. */
static enum pl_status split(struct pl_deed *deed, struct pl_str chat, struct asked *ret_asked,
                            struct pl_error *err)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, chat, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    struct pl_prompt_asks asks;
    status = pl_prompt_asks_read(arena, &doc, &asks, err);
    if (status != PL_OK)
        return status;
    if (!asks.message.len || pl_str_eq(asks.message, PL_STR("\"\"")))
        return pl_fail(err, PL_INVALID,
                       "the last message is empty; give the model something to answer");
    ret_asked->message = asks.message;
    ret_asked->prefill = asks.prefill;
    ret_asked->settings = asks.settings;
    ret_asked->tools = asks.tools;
    ret_asked->model = asks.model.len ? pl_deed_keep(deed, asks.model) : NULL;
    if (asks.model.len && !ret_asked->model)
        return PL_NOMEM;
    bool has_system = pl_api_text(&deed->api.texts, &doc, doc.root, "system_prompt").len;
    if (pl_json_count(asks.messages) == (asks.begun ? 2u : 1u) && !has_system)
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf rest;
    struct pl_json_edit edit;
    pl_buf_init(&rest, 0);
    pl_json_edit_init(&edit, arena, &doc);
    status = pl_json_edit_remove_node(&edit, asks.messages, asks.last, err);
    if (status == PL_OK && asks.begun)
        status = pl_json_edit_remove_node(&edit, asks.messages, asks.begun, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &rest);
    pl_json_edit_deinit(&edit);
    if (status != PL_OK)
        return status;
    ret_asked->document = pl_arena_dup(arena, pl_buf_str(&rest));
    return ret_asked->document.ptr ? PL_OK : PL_NOMEM;
}

static enum pl_exit read_file(struct pl_deed *deed, struct asked *ret_asked)
{
    struct pl_render_var vars[MAX_VARS];
    struct pl_render_opts opts = {.vars = vars, .is_command = true, .refuses_unknown = true};
    struct pl_error err = {0};
    const char *name = pl_input_name(deed->words[0]);
    struct pl_draft draft;
    struct pl_rendered rendered;
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    enum pl_exit code = read_vars(deed, vars, &opts.n_vars);
    if (code == PL_EXIT_OK)
        code = pl_draft_read_file(deed, deed->words[0], PL_DRAFT_ANY, &draft);
    if (code != PL_EXIT_OK)
        return code;
    pl_rendered_init(&rendered);
    enum pl_status status = PL_OK;
    if (draft.content.len && memchr(draft.content.ptr, '\0', draft.content.len))
        status = pl_fail(&err, PL_INVALID, "it has a NUL character, which no model takes");
    if (status == PL_OK)
        status = wrap(&draft, &chat);
    if (status == PL_OK)
        status = pl_render(pl_buf_str(&chat), &opts, &rendered, &err);
    struct pl_str filled = status == PL_OK
                               ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&rendered.out))
                               : (struct pl_str){0};
    if (status == PL_OK && !filled.ptr)
        status = PL_NOMEM;
    if (status == PL_OK)
        status = split(deed, filled, ret_asked, &err);
    code = PL_EXIT_OK;
    err.status = status;
    if (rendered.problems.len)
        pl_variables_say(deed->console, name, "", &rendered.problems);
    else if (status != PL_OK)
        code = pl_console_fail(deed->console, name, &err);
    else
        pl_variables_say(deed->console, name, "warning: ", &rendered.notes);
    code = rendered.problems.len ? PL_EXIT_NO : code;
    pl_rendered_deinit(&rendered);
    return code;
}

/* --- what the command line adds -------------------------------------------------------------- */

/* The files of --attach after the words: the message as parts. */
static enum pl_exit attach(struct pl_deed *deed, struct asked *asked)
{
    PL_CLEANUP_BUF struct pl_buf parts;
    pl_buf_init(&parts, 0);
    if (!pl_args_has(deed->args, PL_OPT_ATTACH))
        return PL_EXIT_OK;
    bool is_list = pl_str_begins(asked->message, "[");
    pl_buf_adds(&parts, is_list ? "" : "[{\"type\":\"text\",\"text\":");
    pl_buf_add(&parts,
               is_list ? pl_str_slice(asked->message, 0, asked->message.len - 1) : asked->message);
    pl_buf_adds(&parts, is_list ? "" : "}");
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        if (deed->args->uses.ptr[i].option->id != PL_OPT_ATTACH)
            continue;
        pl_buf_addc(&parts, ',');
        enum pl_exit code = pl_attachment_add(deed, deed->args->uses.ptr[i].values[0], &parts);
        if (code != PL_EXIT_OK)
            return code;
    }
    pl_buf_addc(&parts, ']');
    asked->message = parts.status == PL_OK
                         ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&parts))
                         : (struct pl_str){0};
    return asked->message.ptr ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

/* --schema: the model is asked for JSON of that form. */
static enum pl_exit ask_for_form(struct pl_deed *deed, struct asked *asked, struct pl_str schema)
{
    PL_CLEANUP_BUF struct pl_buf settings;
    pl_buf_init(&settings, 0);
    if (!schema.len)
        return PL_EXIT_OK;
    if (pl_str_find(asked->settings, PL_STR("\"response_format\"")) != SIZE_MAX)
        return pl_deed_usage(deed,
                             "the prompt has a response_format of its own; leave --schema out, "
                             "or remove it from the prompt");
    pl_buf_adds(&settings, "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
                           "{\"name\":\"answer\",\"schema\":");
    pl_buf_add(&settings, schema);
    pl_buf_adds(&settings, "}}");
    bool has_more = asked->settings.len > 2;
    pl_buf_adds(&settings, has_more ? "," : "}");
    if (has_more)
        pl_buf_add(&settings, pl_str_slice(asked->settings, 1, asked->settings.len));
    asked->settings = settings.status == PL_OK
                          ? pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&settings))
                          : (struct pl_str){0};
    return asked->settings.ptr ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

/* --- the models ------------------------------------------------------------------------------ */

struct answering {
    const char *model;      /* NULL: the server's */
    const char *session_id; /* of the deed; NULL: none was made */
};

/* What is under way; a signal may come at any time. */
struct running {
    struct pl_deed *deed;
    struct answering list[MAX_MODELS];
    pthread_mutex_t lock; /* held while a session is made: the signal waits until its id is known */
};

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
    if (path.status == PL_OK) /* a server that is gone has stopped too */
        (void)pl_api_try(api, &call, path.ptr, &http_status, &reply, &err);
}

/* On a thread of its own: stops the models' calls and leaves no session. */
static void on_end(void *ctx)
{
    struct running *running = ctx;
    pthread_mutex_lock(&running->lock);
    for (size_t i = 0; i < MAX_MODELS; i++)
        if (running->list[i].session_id) {
            tell(&running->deed->api, "POST", running->list[i].session_id, "/stop");
            tell(&running->deed->api, "DELETE", running->list[i].session_id, "");
        }
    _exit(PL_EXIT_NO);
}

static enum pl_exit make_session(struct pl_deed *deed, const struct asked *asked,
                                 struct answering *answering)
{
    pl_json_out_open(&deed->out, '{');
    if (answering->model) {
        pl_json_out_key(&deed->out, "model");
        pl_json_out_text(&deed->out, pl_str_of(answering->model));
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
    answering->session_id = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "id"));
    return answering->session_id ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

static enum pl_exit start(struct running *running, const struct asked *asked,
                          struct answering *answering)
{
    struct pl_deed *deed = running->deed;
    pthread_mutex_lock(&running->lock);
    enum pl_exit code = make_session(deed, asked, answering);
    pthread_mutex_unlock(&running->lock);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "message");
    pl_json_out_raw(&deed->out, asked->message);
    if (asked->settings.len) {
        pl_json_out_key(&deed->out, "settings");
        pl_json_out_raw(&deed->out, asked->settings);
    }
    /* What answers a file is asked for words: the server's own tools are offered by name only. */
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
    return pl_deed_ask(
        deed, "POST", pl_api_path(&deed->api, "/api/sessions/%/chat", answering->session_id, NULL));
}

static void forget(struct pl_deed *deed, const struct answering *answering)
{
    if (answering->session_id)
        (void)pl_deed_ask(deed, "DELETE",
                          pl_api_path(&deed->api, "/api/sessions/%", answering->session_id, NULL));
}

static size_t list_models(const struct pl_deed *deed, struct answering *list)
{
    size_t n = 0;
    for (size_t i = 0; i < deed->args->uses.len; i++)
        if (deed->args->uses.ptr[i].option->id == PL_OPT_MODEL)
            list[n++].model = deed->args->uses.ptr[i].values[0];
    return n ? n : 1;
}

/* All begin before the first is printed, so that they run in parallel. */
static enum pl_exit begin_all(struct running *running, const struct asked *asked, size_t n)
{
    struct pl_error err = {0};
    enum pl_status status = pl_endings_take(on_end, running, &err);
    enum pl_exit code = status == PL_OK ? PL_EXIT_OK : pl_deed_fail(running->deed, status, &err);
    for (size_t i = 0; i < n && code == PL_EXIT_OK; i++)
        code = start(running, asked, &running->list[i]);
    return code;
}

/* Holds the answer to the checks; with several models, says at a terminal what
 * each took. */
static enum pl_exit judge(struct pl_deed *deed, const struct pl_run_checks *checks,
                          const struct answering *answering, size_t n_models)
{
    struct pl_run_answer answer = {0};
    bool is_told = n_models > 1 && !deed->api.is_json && deed->console->err_is_terminal;
    if (!checks->list.len && !is_told)
        return PL_EXIT_OK;
    enum pl_exit code = pl_run_answer_read(deed, answering->session_id, &answer);
    if (code != PL_EXIT_OK)
        return code;
    if (is_told)
        pl_console_hint(deed->console, "%s: %lld.%lld s, %lld tokens in, %lld out",
                        answering->model, (long long)answer.duration_ms / 1000,
                        (long long)answer.duration_ms / 100 % 10, (long long)answer.input_tokens,
                        (long long)answer.output_tokens);
    return pl_run_checks_apply(checks, deed, answering->model, answer.text);
}

static enum pl_exit run_checked(struct pl_deed *deed, const struct pl_run_checks *checks)
{
    struct running running = {.deed = deed, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct answering *list = running.list;
    struct asked asked = {0};
    enum pl_exit worst = read_file(deed, &asked);
    asked.system = pl_deed_option(deed, PL_OPT_SYSTEM);
    if (worst == PL_EXIT_OK)
        worst = ask_for_form(deed, &asked, checks->schema);
    if (worst == PL_EXIT_OK)
        worst = attach(deed, &asked);
    if (worst != PL_EXIT_OK)
        return worst;
    size_t n = list_models(deed, list);
    if (!list[0].model)
        list[0].model = asked.model;
    worst = begin_all(&running, &asked, n);
    bool has_begun = worst == PL_EXIT_OK;
    for (size_t i = 0; has_begun && worst <= PL_EXIT_NO && i < n; i++) {
        if (n > 1 && !deed->api.is_json)
            pl_deed_put_heading(deed, pl_str_of(list[i].model), i == 0);
        enum pl_exit code = pl_follow_new(&deed->api, list[i].session_id);
        if (code == PL_EXIT_OK)
            code = judge(deed, checks, &list[i], n);
        worst = code > worst ? code : worst;
    }
    pthread_mutex_lock(&running.lock); /* from here on a signal finds nothing to do, and waits */
    for (size_t i = 0; i < n; i++)
        forget(deed, &list[i]);
    return worst;
}

static enum pl_exit run_file(struct pl_deed *deed)
{
    struct pl_run_checks checks;
    if (pl_deed_count_models(deed) > MAX_MODELS)
        return pl_deed_usage(deed, "at most %d models can be used side by side", MAX_MODELS);
    enum pl_exit code = pl_run_checks_read(deed, &checks);
    if (code == PL_EXIT_OK)
        code = run_checked(deed, &checks);
    pl_run_checks_deinit(&checks);
    return code;
}

/* What the server does with a prompt of its library takes no more than the prompt says. */
static enum pl_exit refuse_for_library(struct pl_deed *deed)
{
    static const enum pl_option_id ids[] = {PL_OPT_SYSTEM, PL_OPT_ATTACH, PL_OPT_SCHEMA,
                                            PL_OPT_EXPECT};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct pl_option_use *use = pl_args_find(deed->args, ids[i]);
        if (use)
            return pl_deed_usage(deed,
                                 "--%s works with a file, and there is no file \"%s\"; \"parley "
                                 "prompt export\" writes a prompt of the library to one",
                                 use->option->name, deed->words[0]);
    }
    return PL_EXIT_OK;
}

static enum pl_exit run(struct pl_deed *deed)
{
    const char *word = deed->words[0];
    struct stat info;
    if (strcmp(word, "-") == 0 || (stat(word, &info) == 0 && !S_ISDIR(info.st_mode)))
        return run_file(deed);
    enum pl_exit code = refuse_for_library(deed);
    return code == PL_EXIT_OK ? pl_prompt_answer(deed) : code;
}

enum pl_exit pl_cmd_run(struct pl_console *console, const struct pl_args *args)
{
    return pl_deed_run_anywhere(console, "run", args, run);
}
