/* Slash commands: a table with a function for each. They use the same routes as the verbs of
 * `parley session`. Before the first message there is no session, so settings are kept and sent
 * with it. */
#include "app/chat/slash.h"

#include "app/chat/follow.h"
#include "app/chat/turn_show.h"
#include "app/frame/attachment.h"
#include "app/table/columns.h"
#include "app/frame/short_id.h"
#include "base/text/suggest.h"
#include "json/text.h"
#include "terminal/width.h"
#include "io/file/outfile.h"

#include <dirent.h>
#include <stdio.h>

enum { N_SESSIONS = 10, N_TURNS = 100, INTENT_WIDTH = 60, ARGUMENT_CELLS = 15 };

struct slash {
    const char *name, *argument, *help;
    void (*run)(struct pl_talk *talk, const char *argument); /* "": no argument */
};
static const struct slash slashes[];

static const char *session_path(struct pl_talk *talk, const char *shape)
{
    return pl_api_path(&talk->deed->api, shape, talk->session_id, NULL);
}

static bool has_session(struct pl_talk *talk)
{
    if (!talk->session_id)
        pl_console_say(talk->deed->console, "nothing has been said yet");
    return talk->session_id;
}

/* Changes a member of the session, if there is one: {"name": value}, as JSON. */
static bool change(struct pl_talk *talk, const char *name, const char *json)
{
    struct pl_deed *deed = talk->deed;
    if (!talk->session_id)
        return true;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, name);
    pl_json_out_raw(&deed->out, pl_str_of(json));
    pl_json_out_close(&deed->out, '}');
    return pl_deed_ask(deed, "PATCH", session_path(talk, "/api/sessions/%")) == PL_EXIT_OK;
}

static const char *quoted(struct pl_talk *talk, const char *text)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_out out = pl_json_out(&json);
    pl_json_out_text(&out, pl_str_of(text));
    return json.status == PL_OK ? pl_deed_keep(talk->deed, pl_buf_str(&json)) : NULL;
}

/* --- model, system, tools -------------------------------------------------------------------- */

static void list_models(struct pl_talk *talk)
{
    static const char *const names[] = {"MODEL", "WINDOW", "ABOUT"};
    struct pl_deed *deed = talk->deed;
    struct pl_columns columns;
    pl_columns_init(&columns, names, sizeof names / sizeof *names);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_text(deed, one, "name"));
        pl_columns_add(&columns, pl_deed_number(deed, one, "context_window"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "about"));
    }
    (void)pl_deed_print_table(deed, &columns, NULL);
}

static void run_model(struct pl_talk *talk, const char *name)
{
    struct pl_deed *deed = talk->deed;
    struct pl_suggest suggest = pl_suggest(pl_str_of(name));
    if (pl_deed_ask(deed, "GET", "/api/models") != PL_EXIT_OK)
        return;
    if (!*name) {
        list_models(talk);
        return;
    }
    bool is_there = false;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        const char *known = pl_deed_keep(deed, pl_deed_text(deed, one, "name"));
        is_there = is_there || (known && strcmp(known, name) == 0);
        if (known)
            pl_suggest_offer(&suggest, known);
    }
    if (!is_there) {
        pl_console_say(deed->console, "there is no model %s%s%s%s", name,
                       suggest.best ? "; did you mean " : "; /model lists them",
                       suggest.best ? suggest.best : "", suggest.best ? "?" : "");
        return;
    }
    const char *json = quoted(talk, name);
    if (json && change(talk, "model", json)) {
        talk->model = pl_deed_keep(deed, pl_str_of(name));
        pl_console_say(deed->console, "%s answers from now on", name);
    }
}

static void run_system(struct pl_talk *talk, const char *text)
{
    struct pl_deed *deed = talk->deed;
    bool is_removal = strcmp(text, "-") == 0;
    if (!*text) {
        const char *now = talk->system;
        if (talk->session_id) {
            if (pl_deed_ask(deed, "GET", session_path(talk, "/api/sessions/%")) != PL_EXIT_OK)
                return;
            now = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "system_prompt"));
        }
        if (now && *now) {
            pl_show_text(deed->console, pl_str_of(now), 0);
            pl_console_puts(deed->console, "\n");
        } else {
            pl_console_say(deed->console, "there is no system prompt; /system TEXT sets one");
        }
        return;
    }
    const char *json = is_removal ? "null" : quoted(talk, text);
    if (!json || !change(talk, "system_prompt", json))
        return;
    talk->system = is_removal ? NULL : pl_deed_keep(deed, pl_str_of(text));
    pl_console_say(deed->console,
                   is_removal ? "the system prompt is removed" : "the system prompt is set");
}

static void list_tools(struct pl_talk *talk)
{
    static const char *const names[] = {"TOOL", "ASKS", "DESCRIPTION"};
    struct pl_deed *deed = talk->deed;
    struct pl_columns columns;
    if (pl_deed_ask(deed, "GET", "/api/tools") != PL_EXIT_OK)
        return;
    pl_columns_init(&columns, names, sizeof names / sizeof *names);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_text(deed, one, "name"));
        pl_columns_add(&columns, pl_json_member(&deed->answer, one, "is_gated", PL_JSON_TRUE)
                                     ? PL_STR("yes")
                                     : PL_STR("-"));
        pl_columns_add(&columns, pl_line_of(&deed->api.texts,
                                            pl_deed_text(deed, one, "description"), INTENT_WIDTH));
    }
    (void)pl_deed_print_table(deed, &columns, NULL);
}

/* "all", "none", or names separated by spaces. */
static void run_tools(struct pl_talk *talk, const char *words)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_json_out out = pl_json_out(&json);
    if (!*words) {
        list_tools(talk);
        return;
    }
    if (strcmp(words, "all") == 0 || strcmp(words, "none") == 0) {
        pl_json_out_text(&out, pl_str_of(words));
    } else {
        pl_json_out_open(&out, '[');
        for (const char *at = words; *at; at += strspn(at, " ,")) {
            size_t n = strcspn(at, " ,");
            pl_json_out_text(&out, (struct pl_str){at, n});
            at += n;
        }
        pl_json_out_close(&out, ']');
    }
    const char *kept = json.status == PL_OK ? pl_deed_keep(talk->deed, pl_buf_str(&json)) : NULL;
    if (kept && change(talk, "tools", kept)) {
        talk->tools = kept;
        pl_console_say(talk->deed->console, "the models can use these tools: %s", words);
    }
}

/* --- attachments ----------------------------------------------------------------------------- */

static void run_attach(struct pl_talk *talk, const char *path)
{
    PL_CLEANUP_BUF struct pl_buf part;
    pl_buf_init(&part, 0);
    if (!*path) {
        pl_console_say(talk->deed->console, "%zu %s with the next message; /attach FILE adds one",
                       talk->n_attached, talk->n_attached == 1 ? "file goes" : "files go");
        return;
    }
    if (pl_attachment_add(talk->deed, path, &part) != PL_EXIT_OK)
        return;
    pl_buf_adds(&talk->attached, ",");
    pl_buf_add(&talk->attached, pl_buf_str(&part));
    talk->n_attached++;
    pl_console_say(talk->deed->console, "%s goes with the next message", path);
}

/* --- the session ----------------------------------------------------------------------------- */

static void run_context(struct pl_talk *talk, const char *argument)
{
    struct pl_deed *deed = talk->deed;
    (void)argument;
    if (!has_session(talk) ||
        pl_deed_ask(deed, "GET", session_path(talk, "/api/sessions/%/context")) != PL_EXIT_OK)
        return;
    const struct pl_json_node *root = deed->answer.root;
    const struct pl_json_node *parts =
        pl_json_member(&deed->answer, root, "segments", PL_JSON_ARRAY);
    int64_t window = pl_api_int(&deed->answer, root, "context_window", 0);
    struct pl_str n = pl_deed_number(deed, root, "tokens"),
                  model = pl_deed_text(deed, root, "model");
    if (window)
        pl_console_put_said(deed->console, "%.*s of %lld tokens, for ", PL_STR_ARG(n),
                            (long long)window);
    else
        pl_console_put_said(deed->console, "%.*s tokens, for ", PL_STR_ARG(n));
    pl_console_put_safe(deed->console, model);
    pl_console_puts(deed->console, "\n");
    for (const struct pl_json_node *one = parts ? pl_json_first(parts) : NULL;
         one && one < pl_json_end(parts); one = pl_json_next(one)) {
        if (!pl_api_int(&deed->answer, one, "tokens", 0))
            continue;
        struct pl_str kind = pl_deed_text(deed, one, "kind");
        pl_console_putf(deed->console, "  %-18.*s %8lld\n", PL_STR_ARG(kind),
                        (long long)pl_api_int(&deed->answer, one, "tokens", 0));
    }
}

static void run_compact(struct pl_talk *talk, const char *argument)
{
    struct pl_deed *deed = talk->deed;
    (void)argument;
    if (!has_session(talk))
        return;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_close(&deed->out, '}');
    if (pl_deed_ask(deed, "POST", session_path(talk, "/api/sessions/%/compact")) == PL_EXIT_OK)
        pl_console_say(deed->console,
                       "the conversation is being summarised; /context shows what is "
                       "left of it");
}

static bool fork_at(struct pl_talk *talk, const char *turn_id)
{
    struct pl_deed *deed = talk->deed;
    pl_json_out_open(&deed->out, '{');
    if (turn_id) {
        pl_json_out_key(&deed->out, "turn_id");
        pl_json_out_text(&deed->out, pl_str_of(turn_id));
    }
    pl_json_out_close(&deed->out, '}');
    if (pl_deed_ask(deed, "POST", session_path(talk, "/api/sessions/%/fork")) != PL_EXIT_OK)
        return false;
    const char *id = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "id"));
    talk->session_id = id ? id : talk->session_id;
    return id;
}

static void run_fork(struct pl_talk *talk, const char *argument)
{
    (void)argument;
    if (has_session(talk) && fork_at(talk, NULL))
        pl_console_say(talk->deed->console, "this is a copy, session %s; the other stays as it is",
                       talk->session_id);
}

/* Requests the turns of the session, oldest first, into deed->answer. */
static bool ask_turns(struct pl_talk *talk, int limit)
{
    char number[16];
    snprintf(number, sizeof number, "%d", limit);
    const char *path = pl_api_path(&talk->deed->api, "/api/sessions/%/messages?limit=%",
                                   talk->session_id, number, NULL);
    return pl_deed_ask(talk->deed, "GET", path) == PL_EXIT_OK &&
           pl_json_is(talk->deed->answer.root, PL_JSON_ARRAY);
}

/* The last turn of the user; *ret_before is the turn before it (NULL: there is none). */
static const struct pl_json_node *last_question(struct pl_deed *deed,
                                                const struct pl_json_node **ret_before)
{
    const struct pl_json_node *last = NULL, *before = NULL, *list = deed->answer.root;
    *ret_before = NULL;
    for (const struct pl_json_node *turn = pl_json_first(list); turn < pl_json_end(list);
         before = turn, turn = pl_json_next(turn))
        if (pl_str_eq(pl_deed_text(deed, turn, "role"), PL_STR("user"))) {
            last = turn;
            *ret_before = before;
        }
    return last;
}

/* A session keeps everything: undo continues in a fork, and the undone turns stay in the
 * original. */
static void run_undo(struct pl_talk *talk, const char *argument)
{
    struct pl_deed *deed = talk->deed;
    const struct pl_json_node *before = NULL;
    (void)argument;
    if (!has_session(talk) || !ask_turns(talk, N_TURNS))
        return;
    if (!last_question(deed, &before)) {
        pl_console_say(deed->console, "there is nothing to undo");
        return;
    }
    const char *old = talk->session_id;
    const char *turn_id = before ? pl_deed_keep(deed, pl_deed_text(deed, before, "turn_id")) : NULL;
    if (before && turn_id && !fork_at(talk, turn_id))
        return;
    if (!before)
        talk->session_id = NULL; /* the next message begins a new session */
    pl_console_say(deed->console,
                   "your last message and its answer are taken back; session %s still has them",
                   old);
}

static void run_sessions(struct pl_talk *talk, const char *id)
{
    static const char *const names[] = {"ID", "CHANGED", "INTENT"};
    struct pl_deed *deed = talk->deed;
    struct pl_columns columns;
    if (*id) {
        if (pl_deed_find_session(deed, id, &talk->session_id) == PL_EXIT_OK)
            (void)pl_talk_show_past(talk);
        return;
    }
    if (pl_deed_ask(deed, "GET", "/api/sessions?limit=10") != PL_EXIT_OK)
        return;
    pl_columns_init(&columns, names, sizeof names / sizeof *names);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_texts *texts = &deed->api.texts;
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "updated_at")));
        pl_columns_add(&columns,
                       pl_line_of(texts, pl_deed_text(deed, one, "intent"), INTENT_WIDTH));
    }
    (void)pl_deed_print_table(deed, &columns, NULL);
    pl_console_hint(deed->console, "/sessions ID continues one.");
}

/* --- files ----------------------------------------------------------------------------------- */

static void write_file(struct pl_talk *talk, const char *path, struct pl_str text)
{
    static const struct pl_outfile_rules rules = {.is_new = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_outfile_open(&out, path, &rules, &err);
    if (status == PL_OK)
        status = pl_outfile_write(&out, text, &err);
    if (status == PL_OK)
        status = pl_outfile_commit(&out, &err);
    if (status == PL_CONFLICT)
        pl_console_say(talk->deed->console, "%s exists already; choose another name", path);
    else if (status != PL_OK)
        (void)pl_console_fail_as(talk->deed->console, path, status, &err);
    else
        pl_console_say(talk->deed->console, "written to %s", path);
}

static void run_export(struct pl_talk *talk, const char *words)
{
    struct pl_deed *deed = talk->deed;
    size_t n = strcspn(words, " ");
    const char *path = pl_deed_keep(deed, (struct pl_str){words, n});
    const char *format = words[n] ? words + n + strspn(words + n, " ") : "structured-chat";
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    if (!has_session(talk) || !path)
        return;
    if (!*path) {
        pl_console_say(deed->console, "/export FILE [FORMAT] writes the conversation to a file");
        return;
    }
    struct pl_http_call call = {.method = "GET"};
    if (pl_api_call(&deed->api, &call,
                    pl_api_path(&deed->api, "/api/sessions/%/export?format=%", talk->session_id,
                                format, NULL),
                    &reply) == PL_EXIT_OK)
        write_file(talk, path, pl_buf_str(&reply));
}

static void run_save(struct pl_talk *talk, const char *path)
{
    struct pl_deed *deed = talk->deed;
    const struct pl_json_node *before = NULL;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!*path) {
        pl_console_say(deed->console, "/save FILE writes the last answer to a file");
        return;
    }
    if (!has_session(talk) || !ask_turns(talk, N_TURNS))
        return;
    const struct pl_json_node *turn = last_question(deed, &before);
    for (turn = turn ? pl_json_next(turn) : NULL; turn && turn < pl_json_end(deed->answer.root);
         turn = pl_json_next(turn)) {
        const struct pl_json_node *blocks =
            pl_json_member(&deed->answer, turn, "blocks", PL_JSON_ARRAY);
        for (const struct pl_json_node *one = blocks ? pl_json_first(blocks) : NULL;
             one && one < pl_json_end(blocks); one = pl_json_next(one))
            if (pl_str_eq(pl_deed_text(deed, one, "type"), PL_STR("text"))) {
                pl_buf_add(&text, pl_deed_text(deed, one, "content"));
                pl_buf_addc(&text, '\n');
            }
    }
    if (text.len && text.status == PL_OK)
        write_file(talk, path, pl_buf_str(&text));
    else
        pl_console_say(deed->console, "there is no answer to write");
}

/* --- help, the end --------------------------------------------------------------------------- */

/* Calls fn for the name of each command of the extensions. */
static void each_extension_command(struct pl_talk *talk, void (*fn)(void *ctx, const char *name),
                                   void *ctx)
{
    struct pl_deed *deed = talk->deed;
    PL_CLEANUP_BUF struct pl_buf reply;
    struct pl_error err = {0};
    int http_status = 0;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET"};
    /* Without extensions on the server, or with a key that may not see them, there are no
     * commands. */
    if (pl_api_try(&deed->api, &call, "/api/extensions", &http_status, &reply, &err) != PL_OK ||
        http_status != 200 || pl_deed_take(deed, pl_buf_str(&reply)) != PL_EXIT_OK)
        return;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        const struct pl_json_node *list =
            pl_json_member(&deed->answer, one, "commands", PL_JSON_ARRAY);
        for (const struct pl_json_node *name = list ? pl_json_first(list) : NULL;
             name && name < pl_json_end(list); name = pl_json_next(name)) {
            struct pl_str text = {0};
            if (pl_json_is(name, PL_JSON_STRING) &&
                pl_json_text(&deed->api.texts.arena, &deed->answer, name, &text) == PL_OK) {
                const char *kept = pl_deed_keep(deed, text);
                if (kept)
                    fn(ctx, kept);
            }
        }
    }
}

static void show_name(void *ctx, const char *name)
{
    struct pl_talk *talk = ctx;
    pl_console_puts(talk->deed->console, "  /");
    pl_console_put_safe(talk->deed->console, pl_str_of(name));
    pl_console_putf(talk->deed->console, "%s\n",
                    pl_console_word(talk->deed->console, " (of an extension)"));
}

static void run_help(struct pl_talk *talk, const char *argument)
{
    (void)argument;
    struct pl_console *console = talk->deed->console;
    for (const struct slash *slash = slashes; slash->name; slash++) {
        const char *what = pl_console_word(console, slash->argument);
        size_t width = pl_width(pl_str_of(what));
        pl_console_putf(console, "  /%-8s %s%*s %s\n", slash->name, what,
                        width < ARGUMENT_CELLS ? (int)(ARGUMENT_CELLS - width) : 0, "",
                        pl_console_word(console, slash->help));
    }
    each_extension_command(talk, show_name, talk);
    pl_console_putf(
        console, "%s\n",
        pl_console_word(
            console,
            "Keys: Enter sends, Alt-Enter or \\ and Enter begins a new line, arrows move and "
            "bring back\nwhat you typed, Ctrl-R searches it, Tab completes, Ctrl-O shows "
            "thoughts and tools of the last\nanswer, Ctrl-C stops an answer, Ctrl-D ends."));
}

static const struct slash slashes[] = {
    {"help", "", "Show this", run_help},
    {"model", "[NAME]", "List the models, or use another one", run_model},
    {"system", "[TEXT|-]", "Show, set or remove the system prompt", run_system},
    {"tools", "[all|none|NAME]", "List the tools, or say which are offered", run_tools},
    {"attach", "FILE", "Send a file with the next message", run_attach},
    {"context", "", "Show how many tokens the conversation has", run_context},
    {"compact", "", "Summarise the conversation", run_compact},
    {"fork", "", "Continue in a copy of the session", run_fork},
    {"undo", "", "Take back the last message and its answer", run_undo},
    {"export", "FILE [FORMAT]", "Write the conversation to a file", run_export},
    {"save", "FILE", "Write the last answer to a file", run_save},
    {"sessions", "[ID]", "List sessions, or continue another one", run_sessions},
    {"quit", "", "End; the session is kept", NULL},
    {0},
};

/* --- taking a line --------------------------------------------------------------------------- */

struct looking {
    const char *name;
    struct pl_suggest suggest;
    bool is_there;
};

static void look_at(void *ctx, const char *name)
{
    struct looking *looking = ctx;
    looking->is_there = looking->is_there || strcmp(name, looking->name) == 0;
    pl_suggest_offer(&looking->suggest, name);
}

/* A command of an extension is sent as a message; the server runs it. */
static bool is_of_extension(struct pl_talk *talk, const char *name)
{
    struct looking looking = {.name = name, .suggest = pl_suggest(pl_str_of(name))};
    for (const struct slash *slash = slashes; slash->name; slash++)
        pl_suggest_offer(&looking.suggest, slash->name);
    each_extension_command(talk, look_at, &looking);
    if (looking.is_there)
        return true;
    if (looking.suggest.best)
        pl_console_say(talk->deed->console, "there is no /%s; did you mean /%s?", name,
                       looking.suggest.best);
    else
        pl_console_say(talk->deed->console,
                       "there is no /%s; /help lists what there is, and //%s sends it as text",
                       name, name);
    return false;
}

bool pl_slash_take(struct pl_talk *talk, struct pl_str line, bool *ret_is_over)
{
    *ret_is_over = false;
    if (!line.len || line.ptr[0] != '/' || (line.len > 1 && line.ptr[1] == '/'))
        return false;
    const char *text = pl_deed_keep(talk->deed, pl_str_slice(line, 1, line.len));
    if (!text)
        return true;
    size_t n = strcspn(text, " \n\t");
    const char *name = pl_deed_keep(talk->deed, (struct pl_str){text, n});
    const char *argument = text + n + strspn(text + n, " \n\t");
    size_t n_argument = strlen(argument);
    while (n_argument && (argument[n_argument - 1] == ' ' || argument[n_argument - 1] == '\n'))
        n_argument--;
    argument = pl_deed_keep(talk->deed, (struct pl_str){argument, n_argument});
    if (!name || !argument)
        return true;
    for (const struct slash *slash = slashes; slash->name; slash++) {
        if (strcmp(slash->name, name) != 0)
            continue;
        *ret_is_over = !slash->run;
        if (slash->run)
            slash->run(talk, argument);
        return true;
    }
    return !is_of_extension(talk, name);
}

/* --- completion ------------------------------------------------------------------------------ */

struct offering {
    struct pl_completion *completion;
    struct pl_str typed;
};

static void offer_name(void *ctx, const char *name)
{
    struct offering *offering = ctx;
    char word[128];
    snprintf(word, sizeof word, "/%s", name);
    pl_completion_offer(offering->completion, offering->typed, pl_str_of(word));
}

static void offer_models(struct pl_talk *talk, struct pl_completion *completion,
                         struct pl_str typed)
{
    struct pl_deed *deed = talk->deed;
    if (pl_deed_ask(deed, "GET", "/api/models") != PL_EXIT_OK)
        return;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));)
        pl_completion_offer(completion, typed, pl_deed_text(deed, one, "name"));
}

static void offer_sessions(struct pl_talk *talk, struct pl_completion *completion,
                           struct pl_str typed)
{
    struct pl_deed *deed = talk->deed;
    if (pl_deed_ask(deed, "GET", "/api/sessions?limit=100") != PL_EXIT_OK)
        return;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));)
        pl_completion_offer(completion, typed, pl_deed_text(deed, one, "id"));
}

static void offer_files(struct pl_talk *talk, struct pl_completion *completion, struct pl_str typed)
{
    size_t n_folder = typed.len;
    while (n_folder && typed.ptr[n_folder - 1] != '/')
        n_folder--;
    const char *folder = pl_deed_keep(talk->deed, pl_str_slice(typed, 0, n_folder));
    DIR *dir = folder ? opendir(*folder ? folder : ".") : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[4096];
        bool is_hidden = entry->d_name[0] == '.' && typed.len == n_folder;
        snprintf(path, sizeof path, "%s%s%s", folder, entry->d_name,
                 entry->d_type == DT_DIR ? "/" : "");
        if (!is_hidden)
            pl_completion_offer(completion, typed, pl_str_of(path));
    }
    if (dir)
        closedir(dir);
}

static const struct {
    const char *before;
    void (*offer)(struct pl_talk *talk, struct pl_completion *completion, struct pl_str typed);
} arguments[] = {
    {"/model ", offer_models}, {"/sessions ", offer_sessions}, {"/attach ", offer_files},
    {"/export ", offer_files}, {"/save ", offer_files},
};

void pl_slash_complete(void *ctx, struct pl_str before, struct pl_completion *completion)
{
    struct pl_talk *talk = ctx;
    struct offering offering = {completion, before};
    if (!before.len || before.ptr[0] != '/')
        return;
    if (!memchr(before.ptr, ' ', before.len)) {
        completion->from = 0;
        for (const struct slash *slash = slashes; slash->name; slash++)
            offer_name(&offering, slash->name);
        each_extension_command(talk, offer_name, &offering);
        return;
    }
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        if (pl_str_begins(before, arguments[i].before)) {
            completion->from = strlen(arguments[i].before);
            arguments[i].offer(talk, completion,
                               pl_str_slice(before, completion->from, before.len));
        }
}

/* --- earlier turns --------------------------------------------------------------------------- */

void pl_slash_open(void *ctx)
{
    struct pl_talk *talk = ctx;
    struct pl_deed *deed = talk->deed;
    const struct pl_json_node *before = NULL;
    if (!has_session(talk) || !ask_turns(talk, N_TURNS))
        return;
    const struct pl_json_node *turn = last_question(deed, &before);
    for (turn = turn ? pl_json_next(turn) : NULL; turn && turn < pl_json_end(deed->answer.root);
         turn = pl_json_next(turn))
        pl_show_turn_whole(deed->console, &deed->api.texts, &deed->answer, turn);
    pl_console_settle(deed->console);
}

static void show_said(struct pl_talk *talk, const struct pl_json_node *turn)
{
    struct pl_deed *deed = talk->deed;
    const struct pl_json_node *blocks =
        pl_json_member(&deed->answer, turn, "blocks", PL_JSON_ARRAY);
    bool is_user = pl_str_eq(pl_deed_text(deed, turn, "role"), PL_STR("user"));
    struct pl_shown_answer answer;
    pl_answer_begin(&answer, deed->console);
    for (const struct pl_json_node *one = blocks ? pl_json_first(blocks) : NULL;
         one && one < pl_json_end(blocks); one = pl_json_next(one)) {
        struct pl_str text = pl_deed_text(deed, one, "content");
        if (!pl_str_eq(pl_deed_text(deed, one, "type"), PL_STR("text")) || !text.len)
            continue;
        if (is_user) {
            pl_console_put_styled(deed->console, PL_STYLE_GOOD, "> ");
            pl_show_text(deed->console, text, 2);
            pl_console_puts(deed->console, "\n");
        } else {
            pl_answer_text(&answer, text);
            pl_answer_close(&answer);
        }
    }
    pl_answer_deinit(&answer);
}

enum pl_exit pl_talk_show_past(struct pl_talk *talk)
{
    enum { N_SHOWN = 10 };
    struct pl_deed *deed = talk->deed;
    if (!ask_turns(talk, N_SHOWN))
        return PL_EXIT_FAILED;
    for (const struct pl_json_node *turn = pl_json_first(deed->answer.root);
         turn < pl_json_end(deed->answer.root); turn = pl_json_next(turn))
        show_said(talk, turn);
    pl_console_settle(deed->console);
    return PL_EXIT_OK;
}
