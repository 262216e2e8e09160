/* parley models: lists the models of a server, shows one, and tests whether one answers.
 * parley open: opens the web page in a browser. */
#include "app/chat/turn_show.h"
#include "app/frame/verbs.h"
#include "base/text/suggest.h"
#include "io/clock.h"
#include "io/system/machine.h"
#include "io/system/process.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 1000000 };

/* --- looking --------------------------------------------------------------------------------- */

/* Micro-dollars per million tokens as "$3.00"; "-" if unknown. */
static struct pl_str price_of(struct pl_deed *deed, const struct pl_json_node *model,
                              const char *name)
{
    const struct pl_json_node *prices =
        pl_json_member(&deed->answer, model, "prices", PL_JSON_OBJECT);
    int64_t price = prices ? pl_api_int(&deed->answer, prices, name, -1) : -1;
    char text[32];
    if (price < 0)
        return PL_STR("-");
    snprintf(text, sizeof text, "$%.2f", (double)price / MANY);
    const char *kept = pl_deed_keep(deed, pl_str_of(text));
    return pl_str_of(kept);
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    struct pl_columns columns;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/models");
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        bool has_key = !pl_str_eq(pl_deed_text(deed, one, "state"), PL_STR("no_key"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "name"));
        pl_columns_add(&columns, has_key ? PL_STR("ready") : PL_STR("no key"));
        pl_columns_add(&columns, pl_deed_number(deed, one, "context_window"));
        pl_columns_add(&columns, price_of(deed, one, "input"));
        pl_columns_add(&columns, price_of(deed, one, "output"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "about"));
    }
    struct pl_str usual = pl_deed_text(deed, deed->answer.root, "default_model");
    code = pl_deed_print_table(deed, &columns, NULL);
    pl_console_hint(deed->console, "%.*s is the default model.", PL_STR_ARG(usual));
    return code;
}

/* The model of this name in the list. NULL if there is none, after printing that. */
static const struct pl_json_node *find(struct pl_deed *deed, const char *name)
{
    struct pl_suggest suggest = pl_suggest(pl_str_of(name));
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        const char *known = pl_deed_keep(deed, pl_deed_text(deed, one, "name"));
        if (known && strcmp(known, name) == 0)
            return one;
        if (known)
            pl_suggest_offer(&suggest, known);
    }
    pl_console_say(deed->console, "there is no model \"%s\"%s%s%s", name,
                   suggest.best ? "; did you mean \"" : "; \"parley models list\" shows all",
                   suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
    return NULL;
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    static const char *const texts[] = {"about", "provider", "dialect", "profile", "state"};
    struct pl_console *console = deed->console;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/models");
    const struct pl_json_node *model = code == PL_EXIT_OK ? find(deed, deed->words[0]) : NULL;
    if (!model)
        return code == PL_EXIT_OK ? PL_EXIT_NO : code;
    if (deed->api.is_json) {
        pl_json_write_min(pl_console_out(console), &deed->answer, model);
        pl_console_puts(console, "\n");
        return PL_EXIT_OK;
    }
    pl_console_put_safe(console, pl_deed_text(deed, model, "name"));
    pl_console_puts(console, "\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pl_show_member(console, texts[i], pl_deed_text(deed, model, texts[i]));
    pl_show_member(console, "window", pl_deed_number(deed, model, "context_window"));
    pl_show_member(console, "answer", pl_deed_number(deed, model, "max_output"));
    pl_show_member(console, "input/M", price_of(deed, model, "input"));
    pl_show_member(console, "output/M", price_of(deed, model, "output"));
    return PL_EXIT_OK;
}

/* --- trying ---------------------------------------------------------------------------------- */

static enum pl_exit run_test(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/models");
    if (code == PL_EXIT_OK && !find(deed, deed->words[0]))
        return PL_EXIT_NO;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "content");
    pl_json_out_text(&deed->out, PL_STR("Reply with the word: ready"));
    pl_json_out_key(&deed->out, "type");
    pl_json_out_text(&deed->out, PL_STR("text"));
    pl_json_out_key(&deed->out, "model");
    pl_json_out_text(&deed->out, pl_str_of(deed->words[0]));
    pl_json_out_close(&deed->out, '}');
    int64_t since_ms = pl_clock_ms();
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "POST", "/api/run");
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *item = pl_deed_item(deed, NULL);
    const struct pl_json_node *error =
        item ? pl_json_member(&deed->answer, item, "error", PL_JSON_OBJECT) : NULL;
    struct pl_str text = pl_deed_text(deed, item, "text");
    struct pl_str why = error ? pl_deed_text(deed, error, "message") : PL_STR("");
    bool is_good = pl_str_eq(pl_deed_text(deed, item, "status"), PL_STR("completed"));
    if (deed->api.is_json)
        (void)pl_deed_print(deed);
    else if (is_good)
        pl_console_put_line(deed->console, "%s answered after %.1f s: %.*s", deed->words[0],
                            (double)(pl_clock_ms() - since_ms) / 1000,
                            PL_STR_ARG(pl_line_of(&deed->api.texts, text, 60)));
    else
        pl_console_say(deed->console, "%s did not answer: %.*s", deed->words[0],
                       PL_STR_ARG(why.len ? why : pl_deed_text(deed, item, "status")));
    return is_good ? PL_EXIT_OK : PL_EXIT_NO;
}

const struct pl_verb pl_models_verbs[] = {
    {"list", "", 0, 0, "List the models with their windows and list prices", run_list,
     .is_default = true, .is_anywhere = true, .columns = "model,state,window,in/m,out/m,about"},
    {"show", "NAME", 1, 1, "Show one model", run_show, .is_anywhere = true, .offers = "models"},
    {"test", "NAME", 1, 1, "Ask a model for one word, and say whether it answers", run_test,
     .is_anywhere = true, .offers = "models"},
    {0},
};

/* --- the page -------------------------------------------------------------------------------- */

static const char *find_url(struct pl_deed *deed)
{
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    if (!deed->api.is_local)
        return deed->api.unix_path ? NULL : deed->api.url;
    const char *host = deed->api.config.host;
    bool is_any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    pl_buf_addf(&url, "%s://%s%s%s:%u", deed->api.config.tls_cert ? "https" : "http",
                strchr(host, ':') && !is_any ? "[" : "", is_any ? "127.0.0.1" : host,
                strchr(host, ':') && !is_any ? "]" : "", (unsigned)deed->api.config.port);
    return url.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&url)) : NULL;
}

static bool has_screen(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return ((x && *x) || (wayland && *wayland)) && pl_program_is_there("xdg-open");
}

static enum pl_exit open_page(struct pl_deed *deed)
{
    struct pl_error err = {0};
    int exit_code = 0;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/version");
    const char *url = code == PL_EXIT_OK ? find_url(deed) : NULL;
    if (!url && code == PL_EXIT_OK)
        return pl_deed_usage(deed,
                             "a browser cannot open a socket; give --server http://HOST:PORT");
    if (code != PL_EXIT_OK)
        return code;
    pl_console_puts(deed->console, url);
    pl_console_puts(deed->console, "\n");
    if (!deed->console->out_is_terminal || !has_screen())
        return PL_EXIT_OK;
    pl_console_settle(deed->console);
    const char *const argv[] = {"xdg-open", url, NULL};
    enum pl_status status = pl_process_run_here(argv, &exit_code, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    return exit_code ? PL_EXIT_NO : PL_EXIT_OK;
}

enum pl_exit pl_cmd_open(struct pl_console *console, const struct pl_args *args)
{
    return pl_deed_run(console, "open", args, open_page);
}
