/* parley chat: a conversation at the terminal. Sends each line to a session of the server and shows
 * the answer as it arrives. Through a pipe, every line is a message, and the answers are printed.
 *
 * A separate thread handles Ctrl-C (io/system/terminal.h). While a model answers, it asks the
 * server to stop; the chat:end event of the server then ends the wait here. */
#include "app/chat/chat_int.h"
#include "app/table/columns.h"
#include "app/chat/follow.h"
#include "app/chat/slash.h"
#include "app/chat/typed_file.h"
#include "app/frame/short_id.h"
#include "base/text/utf8.h"
#include "base/text/utc.h"
#include "io/clock.h"
#include "io/system/terminal_raw.h"
#include "json/number.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_LINE = 4 << 20, INTENT_WIDTH = 60, STOP_MS = 10000 };

/* --- Ctrl-C ---------------------------------------------------------------------------------- */

static void say(const struct pl_talk *talk, const char *english)
{
    char text[256];
    snprintf(text, sizeof text, "\nparley: %s\n", pl_console_word(talk->deed->console, english));
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody reads standard error */
}

/* Runs on the Ctrl-C thread: uses only data that does not change during a turn. */
static void stop_turn(struct pl_talk *talk)
{
    struct pl_error err;
    int http_status = 0;
    PL_CLEANUP_BUF struct pl_buf reply, path;
    pl_buf_init(&reply, 0);
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, "/api/sessions/");
    pl_api_escape(&path, pl_str_of(talk->session_id));
    pl_buf_adds(&path, "/stop");
    pl_buf_addc(&path, '\0');
    struct pl_http_call call = {.method = "POST", .has_body = true, .timeout_ms = STOP_MS};
    if (path.status != PL_OK ||
        pl_api_try(&talk->deed->api, &call, path.ptr, &http_status, &reply, &err) != PL_OK ||
        http_status >= 300)
        say(talk, "the answer could not be stopped; Ctrl-C again ends");
}

static void on_interrupt(void *ctx)
{
    struct pl_talk *talk = ctx;
    int state = atomic_load(&talk->state);
    int next = state == PL_TALK_TURN ? PL_TALK_STOPPING : PL_TALK_ANSWERED;
    bool is_first = state == PL_TALK_TURN || state == PL_TALK_READING;
    if (!is_first || !atomic_compare_exchange_strong(&talk->state, &state, next)) {
        pl_raw_end();
        _exit(state == PL_TALK_ANSWERED ? PL_EXIT_OK : PL_EXIT_NO);
    }
    if (next == PL_TALK_STOPPING)
        stop_turn(talk);
    else
        say(talk, "Ctrl-C again or Ctrl-D ends");
}

/* --- reading --------------------------------------------------------------------------------- */

static enum pl_status read_line(struct pl_talk *talk, struct pl_error *err)
{
    struct pl_str line;
    bool goes_on = true;
    pl_buf_clear(&talk->line);
    for (bool is_first = true; goes_on; is_first = false) {
        enum pl_status status = pl_lines_next(&talk->lines, &line, err);
        if (status == PL_NOT_FOUND && !is_first)
            break;
        if (status != PL_OK)
            return status;
        goes_on = line.len && line.ptr[line.len - 1] == '\\';
        pl_buf_adds(&talk->line, is_first ? "" : "\n");
        pl_buf_add(&talk->line, goes_on ? pl_str_slice(line, 0, line.len - 1) : line);
    }
    if (talk->line.status != PL_OK)
        return talk->line.status;
    if (!pl_utf8_is_valid(pl_buf_str(&talk->line)))
        return pl_fail(err, PL_UNREADABLE, "this line is not UTF-8 and was not sent");
    return PL_OK;
}

static bool is_blank(struct pl_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\n')
            return false;
    return true;
}

/* Reads a line with the editor. */
static enum pl_status type_line(struct pl_talk *talk, const char *prompt, bool is_kept,
                                struct pl_str *ret_line)
{
    enum pl_status status = PL_OK;
    do
        status = pl_typing_read(&talk->typing, prompt, is_kept, ret_line);
    while (status == PL_OK && is_blank(*ret_line));
    if (status != PL_OK)
        return status;
    pl_buf_clear(&talk->line);
    pl_buf_add(&talk->line, *ret_line);
    *ret_line = pl_buf_str(&talk->line);
    return talk->line.status;
}

enum pl_status pl_talk_read_words(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                                  struct pl_error *err)
{
    return talk->has_editor ? type_line(talk, prompt, false, ret_line)
                            : pl_talk_read(talk, prompt, ret_line, err);
}

enum pl_status pl_talk_read(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                            struct pl_error *err)
{
    if (talk->has_editor)
        return type_line(talk, prompt, true, ret_line);
    enum pl_status status = PL_OK;
    do {
        if (talk->is_terminal)
            pl_console_put_styled(talk->deed->console, PL_STYLE_GOOD, prompt);
        if (pl_console_finish(talk->deed->console, PL_EXIT_OK) != PL_EXIT_OK)
            return PL_NOT_FOUND; /* nobody would read the answer */
        atomic_store(&talk->state, PL_TALK_READING);
        status = read_line(talk, err);
    } while (status == PL_OK && is_blank(pl_buf_str(&talk->line)));
    if (status == PL_NOT_FOUND && talk->is_terminal)
        pl_console_puts(talk->deed->console, "\n");
    *ret_line = pl_buf_str(&talk->line);
    return status;
}

/* --- the session ----------------------------------------------------------------------------- */

static enum pl_exit find_session(struct pl_talk *talk)
{
    struct pl_deed *deed = talk->deed;
    const char *id = pl_deed_option(deed, PL_OPT_SESSION);
    if (id && pl_args_has(deed->args, PL_OPT_NEW))
        return pl_deed_usage(deed,
                             "--new creates a session and --session continues one; give only one "
                             "of them");
    if (!id)
        return PL_EXIT_OK;
    enum pl_exit code = pl_deed_find_session(deed, id, &talk->session_id);
    if (code != PL_EXIT_OK)
        return code;
    return pl_deed_ask(deed, "GET",
                       pl_api_path(&deed->api, "/api/sessions/%", talk->session_id, NULL));
}

/* Writes the model: the last /model, or --model. */
static void out_model(struct pl_talk *talk)
{
    const char *model = talk->model ? talk->model : pl_deed_option(talk->deed, PL_OPT_MODEL);
    if (!model)
        return;
    pl_json_out_key(&talk->deed->out, "model");
    pl_json_out_text(&talk->deed->out, pl_str_of(model));
}

/* Runs at the first message, so that a user who sends nothing leaves no empty session. */
static enum pl_exit make_session(struct pl_talk *talk, struct pl_str message)
{
    struct pl_deed *deed = talk->deed;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "intent");
    pl_json_out_text(&deed->out, pl_line_of(&deed->api.texts, message, INTENT_WIDTH));
    out_model(talk);
    if (talk->system) {
        pl_json_out_key(&deed->out, "system_prompt");
        pl_json_out_text(&deed->out, pl_str_of(talk->system));
    }
    if (talk->tools) {
        pl_json_out_key(&deed->out, "tools");
        pl_json_out_raw(&deed->out, pl_str_of(talk->tools));
    }
    pl_json_out_close(&deed->out, '}');
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/sessions");
    if (code != PL_EXIT_OK)
        return code;
    talk->session_id = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "id"));
    if (!talk->session_id)
        return pl_deed_stop(deed, PL_NOMEM);
    if (talk->is_terminal)
        pl_console_say(deed->console, "this is session %s", talk->session_id);
    return PL_EXIT_OK;
}

/* --- talking --------------------------------------------------------------------------------- */

/* Adds the costs of the model calls of this turn, as the server counted them. False if any is
 * unknown. */
static bool add_costs(struct pl_talk *talk, const struct pl_shown_answer *answer,
                      double *ret_dollars)
{
    struct pl_deed *deed = talk->deed;
    int64_t since_ms = pl_clock_unix_ms() - (pl_clock_ms() - answer->started_ms) - 1000;
    bool is_known = false;
    *ret_dollars = 0;
    if (pl_deed_ask(deed, "GET", "/api/runs?limit=50") != PL_EXIT_OK)
        return false;
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        const struct pl_json_node *cost =
            pl_json_member(&deed->answer, one, "cost_usd", PL_JSON_NUMBER);
        struct pl_str session = pl_deed_text(deed, one, "session_id");
        int64_t started_us = 0;
        if (!pl_str_eq(session, pl_str_of(talk->session_id)) ||
            !pl_utc_read(pl_deed_text(deed, one, "started_at"), &started_us) ||
            started_us < since_ms * 1000)
            continue;
        if (!cost)
            return false;
        *ret_dollars += pl_json_number_double(pl_json_span(&deed->answer, cost));
        is_known = true;
    }
    return is_known;
}

static void sum_up(struct pl_talk *talk, struct pl_shown_answer *answer)
{
    char text[32];
    double dollars = 0;
    bool is_known = add_costs(talk, answer, &dollars) && dollars > 0;
    snprintf(text, sizeof text, "%.4f", dollars);
    pl_answer_sum_up(answer, is_known ? text : NULL);
}

static enum pl_exit follow(struct pl_talk *talk, char position[PL_HTTP_CALL_HEADER_SIZE],
                           const char *message_id, bool *ret_is_aside)
{
    struct pl_shown_answer answer;
    bool is_shown = talk->has_editor && !talk->deed->api.is_json;
    pl_answer_begin(&answer, talk->deed->console);
    atomic_store(&talk->state, PL_TALK_TURN);
    enum pl_exit code = pl_follow_talk(&talk->deed->api, talk->session_id, position, message_id,
                                       is_shown ? &answer : NULL, ret_is_aside);
    atomic_store(&talk->state, PL_TALK_READING);
    if (is_shown && code <= PL_EXIT_NO && answer.output_tokens)
        sum_up(talk, &answer);
    pl_answer_deinit(&answer);
    return code;
}

/* While the session waits for the user: asks, sends the answers, continues. If the chat runs on
 * while an extension asks, follows it from where it stopped. */
static enum pl_exit go_on(struct pl_talk *talk, enum pl_exit code,
                          char position[PL_HTTP_CALL_HEADER_SIZE], bool is_aside)
{
    for (;;) {
        bool was_asked = false;
        enum pl_exit asking =
            is_aside ? PL_EXIT_OK
                     : pl_follow_position(&talk->deed->api, talk->session_id, position);
        if (asking == PL_EXIT_OK)
            asking = pl_talk_ask_person(talk, &was_asked);
        if (asking != PL_EXIT_OK || (!was_asked && !is_aside))
            return asking != PL_EXIT_OK ? asking : code;
        code = follow(talk, position, NULL, &is_aside);
        if (code != PL_EXIT_OK && code != PL_EXIT_NO)
            return code;
    }
}

/* Writes the message text and the attached files. */
static void out_parts(struct pl_talk *talk, struct pl_str message)
{
    PL_CLEANUP_BUF struct pl_buf parts;
    pl_buf_init(&parts, 0);
    pl_buf_adds(&parts, "[{\"type\":\"text\",\"text\":");
    pl_json_quote(&parts, message);
    pl_buf_adds(&parts, "}");
    pl_buf_add(&parts, pl_buf_str(&talk->attached));
    pl_buf_adds(&parts, "]");
    pl_json_out_raw(&talk->deed->out, pl_buf_str(&parts));
    if (parts.status != PL_OK || talk->attached.status != PL_OK)
        talk->deed->body.status = PL_NOMEM;
    pl_buf_clear(&talk->attached);
    talk->n_attached = 0;
}

static enum pl_exit send(struct pl_talk *talk, struct pl_str message)
{
    struct pl_deed *deed = talk->deed;
    char id[PL_UUID_SIZE + 1], position[PL_HTTP_CALL_HEADER_SIZE];
    struct pl_error err = {0};
    if (!pl_message_id_make(id))
        return pl_deed_fail(deed, pl_fail(&err, PL_IO, "the system provides no random bytes"),
                            &err);
    enum pl_exit code = talk->session_id ? PL_EXIT_OK : make_session(talk, message);
    if (code == PL_EXIT_OK)
        code = pl_follow_position(&deed->api, talk->session_id, position);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "message");
    if (talk->n_attached)
        out_parts(talk, message);
    else
        pl_json_out_text(&deed->out, message);
    out_model(talk);
    pl_json_out_key(&deed->out, "client_message_id");
    pl_json_out_text(&deed->out, pl_str_of(id));
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST",
                       pl_api_path(&deed->api, "/api/sessions/%/chat", talk->session_id, NULL));
    if (code != PL_EXIT_OK)
        return code;
    bool is_aside = false;
    code = follow(talk, position, id, &is_aside);
    return code == PL_EXIT_NO ? go_on(talk, code, position, is_aside) : code;
}

/* At a terminal an error does not end the conversation; a pipe gets the exit code. */
static enum pl_exit converse(struct pl_talk *talk)
{
    char position[PL_HTTP_CALL_HEADER_SIZE];
    enum pl_exit worst = talk->session_id ? go_on(talk, PL_EXIT_OK, position, false) : PL_EXIT_OK;
    while (worst <= PL_EXIT_NO) {
        struct pl_error err = {0};
        struct pl_str line;
        enum pl_status status = pl_talk_read(talk, "> ", &line, &err);
        if (status == PL_NOT_FOUND)
            return talk->is_terminal ? PL_EXIT_OK : worst;
        if (status != PL_OK)
            return pl_deed_fail(talk->deed, status, &err);
        bool is_over = false;
        if (talk->is_terminal && pl_slash_take(talk, line, &is_over)) {
            if (is_over)
                return PL_EXIT_OK;
            continue;
        }
        bool is_literal = talk->is_terminal && pl_str_starts(line, PL_STR("//"));
        enum pl_exit code = send(talk, pl_str_slice(line, is_literal, line.len));
        worst = code > worst ? code : worst;
    }
    return worst;
}

static bool is_capable_terminal(void)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0;
}

/* Takes over Ctrl-C, and the keys if the terminal supports editing. */
static enum pl_status take_terminal(struct pl_talk *talk, struct pl_error *err)
{
    pl_console_say(talk->deed->console, "Ctrl-C stops an answer, Ctrl-D ends, /help shows more");
    enum pl_status status = pl_interrupts_take(on_interrupt, talk, err);
    if (status != PL_OK || !talk->has_editor)
        return status;
    status = pl_typing_begin(&talk->typing, talk->deed->console,
                             pl_typed_file_path(&talk->deed->api.texts.arena), MAX_LINE, err);
    talk->typing.complete = pl_slash_complete;
    talk->typing.open = pl_slash_open;
    talk->typing.ctx = talk;
    return status;
}

static enum pl_exit run(struct pl_deed *deed)
{
    struct pl_error err = {0};
    struct pl_talk talk = {.deed = deed};
    talk.is_terminal = pl_is_terminal(STDIN_FILENO) && deed->console->out_is_terminal;
    talk.has_editor = talk.is_terminal && is_capable_terminal();
    enum pl_exit code = find_session(&talk);
    if (code != PL_EXIT_OK)
        return code;
    enum pl_status status = talk.is_terminal ? take_terminal(&talk, &err) : PL_OK;
    pl_lines_init(&talk.lines, STDIN_FILENO, MAX_LINE);
    pl_buf_init(&talk.line, MAX_LINE);
    pl_buf_init(&talk.attached, 0);
    if (status == PL_OK && talk.is_terminal && talk.session_id)
        code = pl_talk_show_past(&talk);
    if (status == PL_OK && code == PL_EXIT_OK)
        code = converse(&talk);
    pl_buf_deinit(&talk.attached);
    pl_buf_deinit(&talk.line);
    pl_lines_deinit(&talk.lines);
    if (talk.has_editor)
        pl_typing_end(&talk.typing);
    return status == PL_OK ? code : pl_deed_fail(deed, status, &err);
}

enum pl_exit pl_cmd_chat(struct pl_console *console, const struct pl_args *args)
{
    return pl_deed_run_anywhere(console, "chat", args, run);
}
