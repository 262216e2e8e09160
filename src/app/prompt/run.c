/* parley prompt run: fills in the variables of a prompt and sends it to one or several models. */
#include "app/chat/follow.h"
#include "app/prompt/prompt_int.h"
#include "app/chat/turn_show.h"
#include "app/table/local.h"

enum { ANSWER_MS = 600000 };

size_t pl_deed_count_models(const struct pl_deed *deed)
{
    size_t n = 0;
    for (size_t i = 0; i < deed->args->uses.len; i++)
        n += deed->args->uses.ptr[i].option->id == PL_OPT_MODEL;
    return n;
}

static void out_models(struct pl_deed *deed)
{
    pl_json_out_key(&deed->out, "models");
    pl_json_out_open(&deed->out, '[');
    for (size_t i = 0; i < deed->args->uses.len; i++)
        if (deed->args->uses.ptr[i].option->id == PL_OPT_MODEL)
            pl_json_out_text(&deed->out, pl_str_of(deed->args->uses.ptr[i].values[0]));
    pl_json_out_close(&deed->out, ']');
}

bool pl_deed_out_tools(struct pl_deed *deed)
{
    bool has_any = false;
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        if (deed->args->uses.ptr[i].option->id != PL_OPT_TOOL)
            continue;
        if (!has_any) {
            pl_json_out_key(&deed->out, "tools");
            pl_json_out_open(&deed->out, '[');
            has_any = true;
        }
        pl_json_out_text(&deed->out, pl_str_of(deed->args->uses.ptr[i].values[0]));
    }
    if (has_any)
        pl_json_out_close(&deed->out, ']');
    return has_any;
}

static enum pl_exit out_request(struct pl_deed *deed, bool is_answer)
{
    pl_json_out_open(&deed->out, '{');
    pl_deed_out_version(deed, pl_deed_option(deed, PL_OPT_VERSION));
    if (pl_deed_count_models(deed) > 1)
        out_models(deed);
    else
        pl_api_out_option(&deed->out, deed->args, PL_OPT_MODEL, "model");
    (void)pl_deed_out_tools(deed);
    if (is_answer) {
        pl_json_out_key(&deed->out, "mode");
        pl_json_out_text(&deed->out, PL_STR("answer"));
    }
    pl_json_out_key(&deed->out, "variables");
    enum pl_exit code = pl_deed_out_variables(deed);
    pl_json_out_close(&deed->out, '}');
    return code;
}

/* The timeout is long: an answer may take as long as a model takes. */
static enum pl_exit ask(struct pl_deed *deed, const char *id)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    if (deed->body.status != PL_OK)
        return pl_deed_stop(deed, deed->body.status);
    struct pl_http_call call = {.method = "POST",
                                .body = pl_buf_str(&deed->body),
                                .has_body = true,
                                .timeout_ms = ANSWER_MS};
    enum pl_exit code = pl_api_call(
        &deed->api, &call, pl_api_path(&deed->api, "/api/prompts/%/run", id, NULL), &reply);
    return code == PL_EXIT_OK ? pl_deed_take(deed, pl_buf_str(&reply)) : code;
}

void pl_deed_put_heading(struct pl_deed *deed, struct pl_str model, bool is_first)
{
    pl_console_puts(deed->console, is_first ? "" : "\n");
    pl_console_style(deed->console, PL_STYLE_BOLD);
    pl_console_puts(deed->console, "## ");
    pl_console_put_safe(deed->console,
                        model.len ? model
                                  : pl_table_word(deed->console, PL_STR("the server's model")));
    pl_console_style(deed->console, PL_STYLE_PLAIN);
    pl_console_puts(deed->console, "\n\n");
}

static void put_text(struct pl_deed *deed, struct pl_str text)
{
    if (deed->console->out_is_terminal)
        pl_show_text(deed->console, text, 0);
    else
        pl_console_put(deed->console, text);
    if (text.len && text.ptr[text.len - 1] != '\n')
        pl_console_puts(deed->console, "\n");
}

/* With --json the answers are already printed; a failure is always reported. */
static enum pl_exit put_answer(struct pl_deed *deed, const struct pl_json_node *item)
{
    struct pl_str text = pl_deed_text(deed, item, "text"),
                  error = pl_deed_text(deed, item, "error");
    if (!deed->api.is_json)
        put_text(deed, text);
    struct pl_str status = pl_deed_text(deed, item, "status");
    if (pl_str_eq(status, PL_STR("completed")))
        return PL_EXIT_OK;
    pl_console_say(deed->console, "the answer is %.*s%s%.*s", PL_STR_ARG(status),
                   error.len ? ": " : "", PL_STR_ARG(error));
    return PL_EXIT_NO;
}

/* The sessions run in parallel; they are printed one after another. */
static enum pl_exit follow(struct pl_deed *deed, const struct pl_json_node *item)
{
    struct pl_str id = pl_deed_text(deed, item, "session_id");
    if (!id.len)
        return put_answer(deed, item);
    const char *kept = pl_deed_keep(deed, id);
    return kept ? pl_follow_new(&deed->api, kept) : pl_deed_stop(deed, PL_NOMEM);
}

static enum pl_exit put_items(struct pl_deed *deed, bool is_answer, bool waits)
{
    bool has_headings = pl_deed_count_models(deed) > 1 && !deed->api.is_json;
    enum pl_exit worst = PL_EXIT_OK;
    for (const struct pl_json_node *item = NULL; (item = pl_deed_item(deed, item));) {
        enum pl_exit code = PL_EXIT_OK;
        if (has_headings && (is_answer || waits))
            pl_deed_put_heading(deed, pl_deed_text(deed, item, "model"),
                                item == pl_deed_item(deed, NULL));
        if (is_answer) {
            code = put_answer(deed, item);
        } else if (waits) {
            code = follow(deed, item);
        } else if (!deed->api.is_json) {
            pl_console_put_safe(deed->console, pl_deed_text(deed, item, "session_id"));
            pl_console_puts(deed->console, "\n");
        }
        worst = code > worst ? code : worst;
    }
    return worst;
}

static enum pl_exit run(struct pl_deed *deed, bool is_answer)
{
    bool waits = !pl_args_has(deed->args, PL_OPT_NO_WAIT);
    const char *id;
    enum pl_exit code = pl_named_prompt_find(deed, deed->words[0], &id);
    if (code == PL_EXIT_OK)
        code = out_request(deed, is_answer);
    if (code == PL_EXIT_OK)
        code = ask(deed, id);
    if (code != PL_EXIT_OK)
        return code;
    if (deed->api.is_json && (is_answer || !waits))
        (void)pl_deed_print(deed);
    return put_items(deed, is_answer, waits);
}

enum pl_exit pl_verb_prompt_run(struct pl_deed *deed)
{
    return run(deed, pl_args_has(deed->args, PL_OPT_ANSWER));
}

enum pl_exit pl_prompt_answer(struct pl_deed *deed)
{
    return run(deed, true);
}
