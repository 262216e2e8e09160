/* parley ext: shows, changes and removes the extensions of a server. Creating, adding and testing
 * them is in other files. */
#include "app/chat/turn_show.h"
#include "app/extension/ext_int.h"

#include "json/text.h"

#include <stdio.h>

enum { NAME_WIDTH = 50 };

static struct pl_str version_of(struct pl_deed *deed, const struct pl_json_node *one)
{
    return pl_deed_text(deed, one, "version");
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    struct pl_columns columns;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/extensions?limit=100");
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "there is no extension; parley ext add workspace adds one");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, version_of(deed, one));
        pl_columns_add(&columns, pl_deed_text(deed, one, "runtime"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "state"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "profile"));
        pl_columns_add(&columns,
                       pl_line_of(&deed->api.texts, pl_deed_text(deed, one, "name"), NAME_WIDTH));
    }
    return pl_deed_print_table(deed, &columns, "explain ID shows any.");
}

/* --- explain ---------------------------------------------------------------------------------- */

static void put_heading(struct pl_console *console, const char *english)
{
    pl_console_putf(console, "\n%s\n", pl_console_word(console, english));
}

/* Prints "WHAT a, b" for a list of texts; nothing for an empty one. */
static void put_texts(struct pl_deed *deed, const struct pl_json_node *object, const char *name,
                      const char *what)
{
    const struct pl_json_node *list = pl_json_member(&deed->answer, object, name, PL_JSON_ARRAY);
    const char *before = what;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        pl_console_puts(deed->console, pl_console_word(deed->console, before));
        pl_console_put_safe(deed->console, pl_json_raw(&deed->answer, n));
        before = ", ";
    }
}

static void explain_capabilities(struct pl_deed *deed)
{
    const struct pl_json_node *list =
        pl_json_member(&deed->answer, deed->answer.root, "capabilities", PL_JSON_ARRAY);
    put_heading(deed->console, "may:");
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        struct pl_str name = pl_deed_text(deed, n, "capability");
        struct pl_str decision = pl_deed_text(deed, n, "decision");
        struct pl_str reason = pl_deed_text(deed, n, "reason");
        pl_console_putf(deed->console, "  %-8.*s %-5.*s (%.*s)", PL_STR_ARG(name),
                        PL_STR_ARG(decision), PL_STR_ARG(reason));
        put_texts(deed, n, "methods", "; by ");
        put_texts(deed, n, "paths", "; in ");
        put_texts(deed, n, "hosts", "; to ");
        put_texts(deed, n, "env", "; of ");
        pl_console_puts(deed->console, "\n");
    }
}

static void explain_tools(struct pl_deed *deed)
{
    const struct pl_json_node *list =
        pl_json_member(&deed->answer, deed->answer.root, "tools", PL_JSON_ARRAY);
    if (!list || !pl_json_count(list)) {
        put_heading(deed->console, "tools: not known until it has run once");
        return;
    }
    put_heading(deed->console, "tools:");
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        const struct pl_json_node *definition =
            pl_json_member(&deed->answer, n, "definition", PL_JSON_OBJECT);
        bool is_withheld = pl_json_member(&deed->answer, n, "is_withheld", PL_JSON_TRUE);
        pl_console_puts(deed->console, "  ");
        pl_console_put_safe(deed->console, pl_deed_text(deed, n, "name"));
        struct pl_str says = pl_deed_text(deed, definition, "description");
        pl_console_puts(deed->console, says.len ? ": " : "");
        pl_console_put_safe(deed->console, pl_line_of(&deed->api.texts, says, 90));
        if (is_withheld)
            pl_console_put_said(deed->console, " [changed: withheld until parley ext accept]");
        pl_console_puts(deed->console, "\n");
    }
}

static void explain_notes(struct pl_deed *deed)
{
    const struct pl_json_node *list =
        pl_json_member(&deed->answer, deed->answer.root, "notes", PL_JSON_ARRAY);
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        struct pl_str text;
        if (n == pl_json_first(list))
            put_heading(deed->console, "notes:");
        if (pl_json_text(&deed->api.texts.arena, &deed->answer, n, &text) != PL_OK)
            continue;
        pl_console_puts(deed->console, "  ");
        pl_console_put_safe(deed->console, text);
        pl_console_puts(deed->console, "\n");
    }
}

static enum pl_exit run_explain(struct pl_deed *deed)
{
    static const char *const members[] = {"name",    "description", "runtime",  "state",
                                          "profile", "source",      "artifact", "last_error"};
    enum pl_exit code = pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/extensions/%"));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *one = deed->answer.root;
    pl_console_put_safe(deed->console, pl_deed_text(deed, one, "id"));
    pl_console_puts(deed->console, " ");
    pl_console_put_safe(deed->console, version_of(deed, one));
    pl_console_puts(deed->console, "\n");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        pl_show_member(deed->console, members[i], pl_deed_text(deed, one, members[i]));
    explain_capabilities(deed);
    explain_tools(deed);
    put_texts(deed, one, "commands", "\ncommands: ");
    put_texts(deed, one, "hooks", "\nhooks: ");
    pl_console_puts(deed->console, "\n");
    explain_notes(deed);
    return PL_EXIT_OK;
}

/* --- changing --------------------------------------------------------------------------------- */

static enum pl_exit patch(struct pl_deed *deed, const char *body)
{
    pl_buf_adds(&deed->body, body);
    return pl_deed_ask(deed, "PATCH", pl_deed_path(deed, "/api/extensions/%"));
}

static enum pl_exit run_enable(struct pl_deed *deed)
{
    enum pl_exit code = patch(deed, "{\"state\":\"enabled\"}");
    return code == PL_EXIT_OK ? pl_deed_done(deed, "%s is enabled", deed->words[0]) : code;
}

static enum pl_exit run_disable(struct pl_deed *deed)
{
    enum pl_exit code = patch(deed, "{\"state\":\"disabled\"}");
    return code == PL_EXIT_OK ? pl_deed_done(deed, "%s is disabled", deed->words[0]) : code;
}

/* Accepts the current definition of every tool. */
static enum pl_exit run_accept(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/extensions/%"));
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *list =
        pl_json_member(&deed->answer, deed->answer.root, "tools", PL_JSON_ARRAY);
    size_t n_changed = 0;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "accept_tools");
    pl_json_out_open(&deed->out, '[');
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        if (!pl_json_member(&deed->answer, n, "is_withheld", PL_JSON_TRUE))
            continue;
        n_changed++;
        pl_json_out_open(&deed->out, '{');
        pl_json_out_key(&deed->out, "name");
        pl_json_out_text(&deed->out, pl_deed_text(deed, n, "name"));
        pl_json_out_key(&deed->out, "hash");
        pl_json_out_text(&deed->out, pl_deed_text(deed, n, "hash"));
        pl_json_out_close(&deed->out, '}');
    }
    pl_json_out_close(&deed->out, ']');
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "PATCH", pl_deed_path(deed, "/api/extensions/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "accepted %zu changed tools", n_changed) : code;
}

static enum pl_exit run_remove(struct pl_deed *deed)
{
    enum pl_exit code =
        pl_deed_confirm(deed, "Remove the extension %s and its files?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE", pl_deed_path(deed, "/api/extensions/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "removed %s", deed->words[0]) : code;
}

/* --- log -------------------------------------------------------------------------------------- */

/* Prints a line: time, kind and text. */
static void put_line(struct pl_deed *deed, const struct pl_json_node *one, const char *const *names)
{
    if (deed->api.is_json) {
        pl_console_put(deed->console, pl_json_span(&deed->answer, one));
    } else {
        pl_console_put_safe(deed->console,
                            pl_time_of(&deed->api.texts, pl_deed_text(deed, one, names[0])));
        for (size_t i = 1; i < 3; i++) {
            pl_console_puts(deed->console, "  ");
            pl_console_put_safe(deed->console, pl_deed_text(deed, one, names[i]));
        }
    }
    pl_console_puts(deed->console, "\n");
}

/* Prints the changes of the extension from the audit log, newest first. */
static enum pl_exit put_history(struct pl_deed *deed, size_t *n_shown)
{
    static const char first[] = "/api/audit?limit=1000";
    static const char *const names[] = {"at", "action", "user_id"};
    for (const char *path = first; path; path = pl_deed_next_page(deed, first)) {
        enum pl_exit code = pl_deed_ask(deed, "GET", path);
        if (code != PL_EXIT_OK)
            return code;
        for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));)
            if (pl_str_eq(pl_deed_text(deed, one, "object"), pl_str_of(deed->words[0])) &&
                pl_str_starts(pl_deed_text(deed, one, "action"), PL_STR("extension."))) {
                put_line(deed, one, names);
                (*n_shown)++;
            }
    }
    return PL_EXIT_OK;
}

static enum pl_exit run_log(struct pl_deed *deed)
{
    static const char *const names[] = {"ts", "event", "message"};
    size_t n_shown = 0;
    enum pl_exit code = put_history(deed, &n_shown);
    if (code != PL_EXIT_OK)
        return code;
    if (!n_shown) {
        pl_console_say(deed->console, "there are no entries for %s", deed->words[0]);
        return PL_EXIT_NO;
    }
    /* The log of the extension itself; a removed extension has none. */
    struct pl_http_call call = {.method = "GET"};
    PL_CLEANUP_BUF struct pl_buf reply;
    struct pl_error err = {0};
    int status = 0;
    pl_buf_init(&reply, 0);
    const char *path = pl_deed_path(deed, "/api/extensions/%/log");
    if (!path || pl_api_try(&deed->api, &call, path, &status, &reply, &err) != PL_OK)
        return pl_deed_fail(deed, PL_IO, &err);
    if (status != 200)
        return PL_EXIT_OK;
    code = pl_deed_take(deed, pl_buf_str(&reply));
    for (const struct pl_json_node *one = NULL;
         code == PL_EXIT_OK && (one = pl_deed_item(deed, one));)
        put_line(deed, one, names);
    return code;
}

const struct pl_verb pl_ext_verbs[] = {
    {"new", "DIR", 1, 1, "Make a small extension that works, to start from", pl_ext_run_new, true},
    {"test", "SOURCE", 1, 1, "Run an extension on this machine, and list what is wrong with it",
     pl_ext_run_test, true},
    {"run", "SOURCE TOOL [INPUT]", 2, 3,
     "Run an extension on this machine, and call one of its tools", pl_ext_run_run, true},
    {"add", "SOURCE | --mcp ID -- CMD...", 0, SIZE_MAX, "Add an extension to the server",
     pl_ext_run_add},
    {"update", "SOURCE | --mcp ID -- CMD...", 0, SIZE_MAX,
     "Replace an extension by another version", pl_ext_run_update},
    {"list", "", 0, 0, "List the extensions", run_list,
     .columns = "id,version,runtime,state,profile,name"},
    {"explain", "ID", 1, 1, "Show what an extension may do, its tools and its state", run_explain,
     .offers = "extensions"},
    {"accept", "ID", 1, 1, "Accept tools that were changed", run_accept, .offers = "extensions"},
    {"enable", "ID", 1, 1, "Let an extension run again", run_enable, .offers = "extensions"},
    {"disable", "ID", 1, 1, "Stop an extension", run_disable, .offers = "extensions"},
    {"remove", "ID", 1, 1, "Remove an extension and its files", run_remove, .offers = "extensions"},
    {"log", "ID", 1, 1, "Show the changes of an extension and its log", run_log,
     .offers = "extensions"},
    {0},
};
