/* parley session: conversations stored on a server. One function per verb; all use the public REST
 * interface. */
#include "app/table/columns.h"
#include "app/chat/follow.h"
#include "app/chat/session_files.h"
#include "app/frame/input.h"
#include "app/chat/turn_show.h"
#include "app/frame/verbs.h"

#include "base/text/utf8.h"
#include "json/write.h"

#include <stdio.h>

enum { MAX_LIMIT = 100, INTENT_WIDTH = 60 };

static enum pl_exit check_counts(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    return code == PL_EXIT_OK ? pl_deed_check_count(deed, PL_OPT_TURNS, MAX_LIMIT) : code;
}

/* --- looking --------------------------------------------------------------------------------- */

static enum pl_exit print_list(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "no session found; \"parley session new\" creates one");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_str model = pl_deed_text(deed, one, "model");
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "status"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "updated_at")));
        pl_columns_add(&columns, model.len ? model : PL_STR("-"));
        pl_columns_add(&columns,
                       pl_line_of(texts, pl_deed_text(deed, one, "intent"), INTENT_WIDTH));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more, --query TEXT filters.");
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {
        {PL_OPT_LIMIT, "limit"}, {PL_OPT_STATUS, "status"}, {PL_OPT_QUERY, "q"}, {0}};
    enum pl_exit code = check_counts(deed);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/sessions", params));
    if (code != PL_EXIT_OK)
        return code;
    return deed->api.is_json ? pl_deed_print(deed) : print_list(deed);
}

static enum pl_exit show_both(struct pl_deed *deed, const struct pl_json_doc *session)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_buf *out = pl_console_out(deed->console);
    if (deed->api.is_json) {
        pl_buf_adds(out, "{\"session\":");
        pl_json_write_min(out, session, session->root);
        pl_buf_adds(out, ",\"turns\":");
        pl_json_write_min(out, &deed->answer, deed->answer.root);
        pl_buf_adds(out, "}\n");
        return PL_EXIT_OK;
    }
    pl_show_session(deed->console, texts, session, session->root);
    for (const struct pl_json_node *turn = pl_json_first(deed->answer.root);
         turn < pl_json_end(deed->answer.root); turn = pl_json_next(turn))
        pl_show_turn(deed->console, texts, &deed->answer, turn);
    return PL_EXIT_OK;
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    const char *n_turns = pl_deed_option(deed, PL_OPT_TURNS);
    struct pl_error err = {0};
    enum pl_exit code = check_counts(deed);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET",
                           pl_api_path(&deed->api, "/api/sessions/%", deed->words[0], NULL));
    struct pl_json_doc session = deed->answer;
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET",
                           pl_api_path(&deed->api, "/api/sessions/%/messages?limit=%",
                                       deed->words[0], n_turns ? n_turns : "10", NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (!session.root || !deed->answer.root || pl_json_kind(deed->answer.root) != PL_JSON_ARRAY)
        return pl_deed_fail(
            deed, pl_fail(&err, PL_IO, "unexpected answer; is this a Parley server?"), &err);
    return show_both(deed, &session);
}

/* --- making and ending ----------------------------------------------------------------------- */

static enum pl_exit run_new(struct pl_deed *deed)
{
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_INTENT, "intent");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_MODEL, "model");
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/sessions");
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

static enum pl_exit run_fork(struct pl_deed *deed)
{
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_TURN, "turn_id");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_INTENT, "intent");
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code = pl_deed_ask(
        deed, "POST", pl_api_path(&deed->api, "/api/sessions/%/fork", deed->words[0], NULL));
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

static enum pl_exit run_stop(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(
        deed, "POST", pl_api_path(&deed->api, "/api/sessions/%/stop", deed->words[0], NULL));
    if (code != PL_EXIT_OK)
        return code;
    bool was_running = pl_json_member(&deed->answer, deed->answer.root, "stopped", PL_JSON_TRUE);
    return pl_deed_done(deed, was_running ? "stopped" : "nothing was running");
}

static enum pl_exit run_delete(struct pl_deed *deed)
{
    enum pl_exit code =
        pl_deed_confirm(deed, "Delete the session %s with all its turns?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE",
                           pl_api_path(&deed->api, "/api/sessions/%", deed->words[0], NULL));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "deleted %s with all its turns", deed->words[0])
                              : code;
}

static enum pl_exit run_share(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(
        deed, "POST", pl_api_path(&deed->api, "/api/sessions/%/share", deed->words[0], NULL));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    if (!deed->api.unix_path)
        pl_console_puts(deed->console, deed->api.url);
    pl_console_put_safe(deed->console, pl_deed_text(deed, deed->answer.root, "path"));
    pl_console_puts(deed->console, "\n");
    if (deed->api.unix_path)
        pl_console_hint(deed->console, "To get the link, append this path to the address of the "
                                       "server.");
    return PL_EXIT_OK;
}

/* --- talking --------------------------------------------------------------------------------- */

static enum pl_exit out_message(struct pl_deed *deed, const char *word)
{
    struct pl_str text;
    enum pl_exit code = pl_deed_read_text(deed, word, true, &text);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_key(&deed->out, "message");
    pl_json_out_text(&deed->out, text);
    return PL_EXIT_OK;
}

static enum pl_exit run_chat(struct pl_deed *deed)
{
    char id[PL_UUID_SIZE + 1], position[PL_HTTP_CALL_HEADER_SIZE];
    struct pl_error err = {0};
    if (!pl_message_id_make(id))
        return pl_deed_fail(deed, pl_fail(&err, PL_IO, "the system provides no random bytes"),
                            &err);
    pl_json_out_open(&deed->out, '{');
    enum pl_exit code = out_message(deed, deed->words[1]);
    pl_api_out_option(&deed->out, deed->args, PL_OPT_MODEL, "model");
    pl_json_out_key(&deed->out, "client_message_id");
    pl_json_out_text(&deed->out, pl_str_of(id));
    pl_json_out_close(&deed->out, '}');
    bool waits = !pl_args_has(deed->args, PL_OPT_NO_WAIT);
    if (code == PL_EXIT_OK && waits)
        code = pl_follow_position(&deed->api, deed->words[0], position);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "POST",
                           pl_api_path(&deed->api, "/api/sessions/%/chat", deed->words[0], NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (pl_json_member(&deed->answer, deed->answer.root, "queued", PL_JSON_TRUE))
        pl_console_say(deed->console, "the session is busy; the message is queued");
    if (waits)
        return pl_follow(&deed->api, deed->words[0], position, id);
    return deed->api.is_json ? pl_deed_print(deed) : PL_EXIT_OK;
}

static enum pl_exit run_answer(struct pl_deed *deed)
{
    char position[PL_HTTP_CALL_HEADER_SIZE];
    struct pl_error err = {0};
    struct pl_json_doc answer;
    if (pl_json_parse(&deed->api.texts.arena, pl_str_of(deed->words[2]), NULL, &answer, &err) !=
        PL_OK)
        return pl_usage_fail(deed->console, "session",
                             "the answer must be JSON (a text needs its quotes: '\"yes\"'): %s",
                             err.message);
    bool waits = !pl_args_has(deed->args, PL_OPT_NO_WAIT);
    enum pl_exit code =
        waits ? pl_follow_position(&deed->api, deed->words[0], position) : PL_EXIT_OK;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "answer");
    pl_json_out_raw(&deed->out, pl_json_span(&answer, answer.root));
    pl_json_out_close(&deed->out, '}');
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "POST",
                           pl_api_path(&deed->api, "/api/sessions/%/questions/%/answer",
                                       deed->words[0], deed->words[1], NULL));
    if (code != PL_EXIT_OK)
        return code;
    bool is_repeated = pl_json_member(&deed->answer, deed->answer.root, "repeated", PL_JSON_TRUE);
    if (is_repeated)
        pl_console_say(deed->console, "this answer was already given");
    else if (waits)
        return pl_follow(&deed->api, deed->words[0], position, NULL);
    return deed->api.is_json ? pl_deed_print(deed) : PL_EXIT_OK;
}

/* --- the verbs ------------------------------------------------------------------------------- */

const struct pl_verb pl_session_verbs[] = {
    {"list", "", 0, 0, "List sessions, last changed first", run_list,
     .columns = "id,status,changed,model,intent"},
    {"new", "", 0, 0, "Create a session, and print its id", run_new},
    {"show", "ID", 1, 1, "Show a session with its newest turns", run_show, .takes_session = true},
    {"chat", "ID MESSAGE", 2, 2, "Send a message (- is standard input), and print the answer",
     run_chat, .takes_session = true},
    {"stop", "ID", 1, 1, "Stop the running turn", run_stop, .takes_session = true},
    {"answer", "ID TOOL_CALL_ID JSON", 3, 3,
     "Answer a question of the model, and continue "
     "printing",
     run_answer, .takes_session = true},
    {"delete", "ID", 1, 1, "Delete a session with all its turns", run_delete,
     .takes_session = true},
    {"export", "ID", 1, 1, "Write a session in any format, and say what that loses",
     pl_session_export, .takes_session = true},
    {"import", "FILE", 1, 1, "Create a session from a conversation in any format, and print its id",
     pl_session_import},
    {"fork", "ID", 1, 1, "Copy a session up to a turn, and print the id of the copy", run_fork,
     .takes_session = true},
    {"share", "ID", 1, 1, "Print a link with which anybody can read the session", run_share,
     .takes_session = true},
    {0},
};
