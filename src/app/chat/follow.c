/* Each event of the session's stream has a handler. Text is printed as it arrives; a missed turn is
 * read again. */
#include "app/chat/follow.h"

#include "app/table/columns.h"
#include "app/chat/turn_show.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "json/text.h"
#include "json/write.h"
#include "wire/sse.h"

#include <stdio.h>

enum {
    MAX_EVENT = 256 << 20,
    SILENCE_MS = 90000, /* the server sends a comment every 25 s */
    MAX_TRIES = 20,
    PAUSE_MS = 500,
    MAX_NODES = 16000000,
    MAX_ARGUMENTS = 200,
};

/* Number of bytes of a turn's text printed so far, over all its text blocks. */
struct shown {
    char turn_id[PL_ID_MAX];
    size_t n_bytes;
};

struct following {
    struct pl_api *api;
    struct pl_console *console;
    const char *session_id;
    const char *message_id;         /* NULL: follow whatever runs */
    bool is_whole;                  /* also text from before the connection */
    bool is_talk;                   /* the caller asks the user the questions */
    bool is_aside;                  /* ended because an extension asks a question */
    struct pl_shown_answer *answer; /* draws at a terminal; NULL: plain output */
    char *why; /* quiet mode: print nothing; receives the reason of a failure */
    size_t why_size;
    struct pl_sse sse;      /* owned */
    struct pl_texts texts;  /* owned; of one event */
    struct pl_json_doc doc; /* data of the event */
    long long epoch, sequence;
    PL_VEC(struct shown) shown; /* owned */
    int64_t last_block;         /* block of the last printed text */
    bool is_ours;               /* the followed chat has begun */
    bool is_line_open;          /* the last printed byte was not a line break */
    bool is_over;
    bool has_news; /* since the last connect */
    enum pl_exit code;
    enum pl_status status;
};

static struct pl_str text_of(struct following *f, const struct pl_json_node *object,
                             const char *name)
{
    return pl_api_text(&f->texts, &f->doc, object, name);
}

static void end(struct following *f, enum pl_exit code)
{
    f->is_over = true;
    f->code = code;
}

static void close_line(struct following *f)
{
    if (f->answer)
        pl_answer_close(f->answer);
    if (f->is_line_open)
        pl_console_puts(f->console, "\n");
    f->is_line_open = false;
}

/* --- text ------------------------------------------------------------------------------------ */

static struct shown *find_shown(struct following *f, struct pl_str turn_id)
{
    for (size_t i = 0; i < f->shown.len; i++)
        if (pl_str_eq(pl_str_of(f->shown.ptr[i].turn_id), turn_id))
            return &f->shown.ptr[i];
    return NULL;
}

static struct shown *shown_of(struct following *f, struct pl_str turn_id)
{
    struct shown *known = find_shown(f, turn_id), fresh = {0};
    if (known || turn_id.len >= sizeof fresh.turn_id)
        return known;
    memcpy(fresh.turn_id, turn_id.ptr, turn_id.len);
    f->last_block = -1;
    if (!pl_vec_push(&f->shown, fresh)) {
        f->status = PL_NOMEM;
        return NULL;
    }
    return &f->shown.ptr[f->shown.len - 1];
}

/* Thoughts are shown only at a terminal; with --json the events contain them. */
static void print_thought(struct following *f, int64_t block, struct pl_str text)
{
    if (!text.len || !f->is_talk || !f->console->out_is_terminal || f->api->is_json)
        return;
    if (f->answer) {
        pl_answer_think(f->answer, text);
        return;
    }
    if (block != f->last_block)
        close_line(f);
    f->last_block = block;
    pl_console_style(f->console, PL_STYLE_DIM);
    pl_show_text(f->console, text, 0);
    pl_console_style(f->console, PL_STYLE_PLAIN);
    f->is_line_open = text.ptr[text.len - 1] != '\n';
}

/* At a terminal control characters are escaped; a file gets the text as it came. */
static void print_text(struct following *f, int64_t block, struct pl_str text)
{
    if (!text.len || f->api->is_json)
        return;
    if (block != f->last_block)
        close_line(f);
    f->last_block = block;
    if (f->answer) {
        pl_answer_text(f->answer, text);
        return;
    }
    if (f->console->out_is_terminal)
        pl_show_text(f->console, text, 0);
    else
        pl_console_put(f->console, text);
    f->is_line_open = text.ptr[text.len - 1] != '\n';
}

/* Prints the part of a whole turn that was not printed yet: usually nothing, or what was missed. */
static void print_rest(struct following *f, const struct pl_json_node *turn)
{
    const struct pl_json_node *blocks = pl_json_member(&f->doc, turn, "blocks", PL_JSON_ARRAY);
    struct shown *shown = shown_of(f, text_of(f, turn, "turn_id"));
    if (!blocks || !shown || !pl_str_eq(text_of(f, turn, "role"), PL_STR("assistant")) ||
        !pl_str_eq(text_of(f, turn, "loop_id"), PL_STR("root")))
        return;
    size_t n_before = 0;
    int64_t index = 0;
    for (const struct pl_json_node *block = pl_json_first(blocks); block < pl_json_end(blocks);
         block = pl_json_next(block), index++) {
        if (!pl_str_eq(text_of(f, block, "type"), PL_STR("text")))
            continue;
        struct pl_str text = text_of(f, block, "content");
        size_t from = shown->n_bytes > n_before ? shown->n_bytes - n_before : 0;
        print_text(f, index, pl_str_slice(text, from, text.len));
        n_before += text.len;
    }
    if (n_before > shown->n_bytes)
        shown->n_bytes = n_before;
}

/* --- events ---------------------------------------------------------------------------------- */

static void on_chat_start(struct following *f)
{
    struct pl_str id = text_of(f, f->doc.root, "client_message_id");
    if (f->message_id && pl_str_eq(id, pl_str_of(f->message_id)))
        f->is_ours = true;
}

/* Prints "= 42", or "error: MESSAGE". */
static void print_result(struct following *f, const struct pl_json_node *data)
{
    const struct pl_json_node *result = pl_json_get(&f->doc, data, PL_STR("result"));
    struct pl_str status = text_of(f, data, "status"), text = text_of(f, data, "result");
    bool is_done = pl_str_eq(status, PL_STR("done"));
    if (!is_done && pl_json_is(result, PL_JSON_OBJECT))
        text = text_of(f, result, "message");
    if (!text.ptr && result)
        text = pl_json_span(&f->doc, result);
    if (f->answer) {
        pl_answer_result(f->answer, text_of(f, data, "tool_call_id"), is_done, text);
        return;
    }
    struct pl_str line = pl_line_of(&f->texts, text, MAX_ARGUMENTS);
    close_line(f);
    pl_console_hint(f->console, "%.*s %.*s", (int)(is_done ? 1 : status.len),
                    is_done ? "=" : status.ptr, PL_STR_ARG(line));
}

static void on_patch(struct following *f)
{
    const struct pl_json_node *data = pl_json_member(&f->doc, f->doc.root, "data", PL_JSON_OBJECT);
    struct pl_str kind = text_of(f, f->doc.root, "patch_type");
    if (!f->is_ours || !data || f->why ||
        !pl_str_eq(text_of(f, f->doc.root, "loop_id"), PL_STR("root")))
        return;
    if (pl_str_eq(kind, PL_STR("add_content")) &&
        pl_str_eq(text_of(f, data, "type"), PL_STR("thinking"))) {
        print_thought(f, pl_api_int(&f->doc, data, "block_index", 0),
                      text_of(f, data, "text_delta"));
    } else if (pl_str_eq(kind, PL_STR("add_content")) &&
               pl_str_eq(text_of(f, data, "type"), PL_STR("text"))) {
        struct shown *shown = shown_of(f, text_of(f, f->doc.root, "turn_id"));
        struct pl_str delta = text_of(f, data, "text_delta");
        print_text(f, pl_api_int(&f->doc, data, "block_index", 0), delta);
        if (shown)
            shown->n_bytes += delta.len;
    } else if (pl_str_eq(kind, PL_STR("add_tool_call")) && f->answer) {
        pl_answer_call(f->answer, text_of(f, data, "id"), text_of(f, data, "tool_name"),
                       text_of(f, data, "arguments"));
    } else if (pl_str_eq(kind, PL_STR("add_tool_call"))) {
        struct pl_str name = text_of(f, data, "tool_name");
        struct pl_str line = pl_line_of(&f->texts, text_of(f, data, "arguments"), MAX_ARGUMENTS);
        close_line(f);
        pl_console_hint(f->console, "[%.*s] %.*s", PL_STR_ARG(name), PL_STR_ARG(line));
    } else if (pl_str_eq(kind, PL_STR("tool_result")) && f->is_talk) {
        print_result(f, data);
    } else if (pl_str_eq(kind, PL_STR("tool_result")) &&
               !pl_str_eq(text_of(f, data, "status"), PL_STR("done"))) {
        struct pl_str status = text_of(f, data, "status");
        close_line(f);
        pl_console_hint(f->console, "[tool] %.*s", PL_STR_ARG(status));
    }
}

static void on_turn_start(struct following *f)
{
    const struct pl_json_node *turn = pl_json_member(&f->doc, f->doc.root, "turn", PL_JSON_OBJECT);
    if (f->is_ours && turn)
        (void)shown_of(f, text_of(f, turn, "turn_id"));
}

/* Prints the rest of the turn. Without a message id and without is_whole, skips a turn that began
 * before the connection, such as one that waited for an answer: it was read then. */
static void on_turn_end(struct following *f)
{
    const struct pl_json_node *turn = pl_json_member(&f->doc, f->doc.root, "turn", PL_JSON_OBJECT);
    const struct pl_json_node *usage =
        turn ? pl_json_member(&f->doc, turn, "usage", PL_JSON_OBJECT) : NULL;
    if (f->answer && f->is_ours && usage) {
        f->answer->input_tokens += pl_api_int(&f->doc, usage, "input_tokens", 0);
        f->answer->output_tokens += pl_api_int(&f->doc, usage, "output_tokens", 0);
    }
    if (f->is_ours && turn && !f->why &&
        (f->message_id || f->is_whole || find_shown(f, text_of(f, turn, "turn_id"))))
        print_rest(f, turn);
}

/* Whether our message is among the cancelled messages. */
static bool is_cancelled(struct following *f)
{
    const struct pl_json_node *list =
        pl_json_member(&f->doc, f->doc.root, "cancelled_messages", PL_JSON_ARRAY);
    for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
         one && one < pl_json_end(list); one = pl_json_next(one))
        if (f->message_id &&
            pl_str_eq(text_of(f, one, "client_message_id"), pl_str_of(f->message_id)))
            return true;
    return false;
}

static void end_with(struct following *f, struct pl_str status, struct pl_str reason)
{
    bool is_good = pl_str_eq(status, PL_STR("completed"));
    close_line(f);
    if (!is_good && f->why)
        snprintf(f->why, f->why_size, "the answer is %.*s%s%.*s", PL_STR_ARG(status),
                 reason.len ? ": " : "", PL_STR_ARG(reason));
    else if (!is_good)
        pl_console_say(f->console, "the chat is %.*s%s%.*s", PL_STR_ARG(status),
                       reason.len ? ": " : "", PL_STR_ARG(reason));
    end(f, is_good ? PL_EXIT_OK : PL_EXIT_NO);
}

static void on_chat_end(struct following *f)
{
    if (f->is_ours) {
        end_with(f, text_of(f, f->doc.root, "status"), text_of(f, f->doc.root, "reason"));
    } else if (is_cancelled(f)) {
        pl_console_say(f->console, "the message was cancelled before it was processed");
        end(f, PL_EXIT_NO);
    }
}

static void show_options(struct following *f, const struct pl_json_node *question)
{
    const struct pl_json_node *options =
        pl_json_member(&f->doc, question, "options", PL_JSON_ARRAY);
    for (const struct pl_json_node *option = options ? pl_json_first(options) : NULL;
         option && option < pl_json_end(options); option = pl_json_next(option)) {
        struct pl_str label = text_of(f, option, "label");
        struct pl_str description = text_of(f, option, "description");
        pl_console_hint(f->console, "- %.*s%s%.*s", PL_STR_ARG(label), description.len ? ": " : "",
                        PL_STR_ARG(description));
    }
}

static void show_question(struct following *f, const struct pl_json_node *question)
{
    const struct pl_json_node *list = pl_json_member(&f->doc, question, "questions", PL_JSON_ARRAY);
    struct pl_str id = text_of(f, question, "tool_call_id");
    bool is_ask = pl_str_eq(text_of(f, question, "kind"), PL_STR("ask"));
    close_line(f);
    for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
         one && one < pl_json_end(list); one = pl_json_next(one)) {
        struct pl_str text = text_of(f, one, "question");
        pl_console_say(f->console, "question: %.*s", PL_STR_ARG(text));
        show_options(f, one);
    }
    pl_console_hint(f->console, "Answer with: parley session answer %s %.*s '%s'", f->session_id,
                    PL_STR_ARG(id), is_ask ? "\"...\"" : "{\"approve\":true}");
}

static void on_question(struct following *f)
{
    const struct pl_json_node *question =
        pl_json_member(&f->doc, f->doc.root, "question", PL_JSON_OBJECT);
    if (f->is_ours && question && !f->is_talk && !f->why)
        show_question(f, question);
    /* A question of an extension: the chat runs on, so no other event shows that it waits for a
     * user. */
    f->is_aside = f->is_talk && pl_str_starts(text_of(f, question, "tool_call_id"), PL_STR("ask_"));
    if (f->is_aside) {
        close_line(f);
        end(f, PL_EXIT_NO);
    }
}

static void on_updated(struct following *f)
{
    const struct pl_json_node *session =
        pl_json_member(&f->doc, f->doc.root, "session", PL_JSON_OBJECT);
    if (f->is_ours && pl_str_eq(text_of(f, session, "status"), PL_STR("waiting_for_input"))) {
        close_line(f);
        if (f->why)
            snprintf(f->why, f->why_size, "the model asks something, and nobody can answer here");
        end(f, PL_EXIT_NO);
    }
}

/* For is_whole: the last turn of the user; everything up to it is the state the session began
 * with. */
static const struct pl_json_node *find_beginning(struct following *f,
                                                 const struct pl_json_node *turns)
{
    const struct pl_json_node *last = NULL;
    for (const struct pl_json_node *turn = turns ? pl_json_first(turns) : NULL;
         turn && turn < pl_json_end(turns); turn = pl_json_next(turn))
        if (pl_str_eq(text_of(f, turn, "role"), PL_STR("user")))
            last = turn;
    return last;
}

static void print_turns(struct following *f, const struct pl_json_node *turns)
{
    const struct pl_json_node *beginning = f->is_whole ? find_beginning(f, turns) : NULL;
    for (const struct pl_json_node *turn = turns ? pl_json_first(turns) : NULL;
         turn && turn < pl_json_end(turns); turn = pl_json_next(turn)) {
        struct pl_str id = text_of(f, turn, "client_message_id");
        if (f->message_id && pl_str_eq(id, pl_str_of(f->message_id)))
            f->is_ours = true;
        else if (f->is_whole ? turn > beginning : f->is_ours && f->message_id)
            print_rest(f, turn);
    }
}

/* The server sends the whole state if too many events were missed. */
static void on_snapshot(struct following *f)
{
    const struct pl_json_node *session =
        pl_json_member(&f->doc, f->doc.root, "session", PL_JSON_OBJECT);
    const struct pl_json_node *turns = pl_json_member(&f->doc, f->doc.root, "turns", PL_JSON_ARRAY);
    const struct pl_json_node *questions =
        pl_json_member(&f->doc, f->doc.root, "questions", PL_JSON_ARRAY);
    struct pl_str status = text_of(f, session, "status");
    f->epoch = pl_api_int(&f->doc, f->doc.root, "epoch", f->epoch);
    f->sequence = pl_api_int(&f->doc, f->doc.root, "sequence", f->sequence);
    if (!f->why)
        print_turns(f, turns);
    bool is_to_come = f->is_whole && pl_str_eq(status, PL_STR("created"));
    f->is_aside =
        f->is_talk && pl_str_eq(status, PL_STR("running")) && questions && pl_json_count(questions);
    if (f->is_aside) {
        end(f, PL_EXIT_NO);
        return;
    }
    if (!f->is_ours || is_to_come || pl_str_eq(status, PL_STR("running")))
        return;
    bool is_told = questions && !f->is_talk && !f->why;
    for (const struct pl_json_node *one = is_told ? pl_json_first(questions) : NULL;
         one && one < pl_json_end(questions); one = pl_json_next(one))
        show_question(f, one);
    if (f->is_talk && pl_str_eq(status, PL_STR("waiting_for_input")))
        end(f, PL_EXIT_NO);
    else
        end_with(f, status, (struct pl_str){0});
}

static void on_error(struct following *f)
{
    struct pl_str detail = text_of(f, f->doc.root, "detail");
    close_line(f);
    if (f->why)
        snprintf(f->why, f->why_size, "%.*s", PL_STR_ARG(detail));
    else
        pl_console_say(f->console, "%.*s", PL_STR_ARG(detail));
    end(f, f->why ? PL_EXIT_NO : PL_EXIT_FAILED);
}

static const struct {
    const char *event;
    void (*handle)(struct following *f);
} handlers[] = {
    {"chat:start", on_chat_start},   {"turn:start", on_turn_start},
    {"turn:patch", on_patch},        {"turn:end", on_turn_end},
    {"chat:end", on_chat_end},       {"question:asked", on_question},
    {"session:updated", on_updated}, {"session:snapshot", on_snapshot},
    {"system:error", on_error},
};

/* With --json: {"event":…,"data":…}, one per line. */
static void print_event(struct following *f, const struct pl_sse_event *event)
{
    struct pl_buf *out = pl_console_out(f->console);
    pl_buf_adds(out, "{\"event\":");
    pl_json_quote(out, event->type);
    pl_buf_adds(out, ",\"data\":");
    pl_json_write_min(out, &f->doc, f->doc.root);
    pl_buf_adds(out, "}\n");
}

/* Whether the event is new: events are numbered in order, and a lower or equal number was seen
 * before. */
static bool is_new(struct following *f, struct pl_str type)
{
    int64_t sequence = pl_api_int(&f->doc, f->doc.root, "sequence", -1);
    if (sequence < 0 || pl_str_eq(type, PL_STR("session:snapshot")))
        return true;
    if (sequence <= f->sequence)
        return false;
    f->sequence = sequence;
    return true;
}

static void take(struct following *f, const struct pl_sse_event *event)
{
    struct pl_error err = {0};
    struct pl_json_opts opts = {.max_nodes = MAX_NODES, .max_depth = 256};
    pl_arena_reset(&f->texts.arena);
    enum pl_status status = pl_json_parse(&f->texts.arena, event->data, &opts, &f->doc, &err);
    if (status != PL_OK) {
        f->status = status;
        return;
    }
    f->has_news = true;
    if (!is_new(f, event->type))
        return;
    bool was_ours = f->is_ours;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (pl_str_eq(event->type, pl_str_of(handlers[i].event)))
            handlers[i].handle(f);
    if (f->api->is_json && !f->why && (was_ours || f->is_ours || f->is_over))
        print_event(f, event);
    if (f->texts.is_cut || (f->answer && f->answer->status != PL_OK))
        f->status = PL_NOMEM;
    if (!f->why && pl_console_finish(f->console, PL_EXIT_OK) != PL_EXIT_OK)
        end(f, PL_EXIT_FAILED);
}

static bool on_piece(void *ctx, struct pl_str piece)
{
    struct following *f = ctx;
    struct pl_sse_event event;
    enum pl_status status = PL_OK;
    pl_sse_feed(&f->sse, piece);
    while (!f->is_over && f->status == PL_OK && (status = pl_sse_next(&f->sse, &event)) == PL_OK)
        take(f, &event);
    if (f->status == PL_OK && status != PL_OK && status != PL_NOT_FOUND)
        f->status = status;
    return !f->is_over && f->status == PL_OK;
}

bool pl_message_id_make(char ret_id[PL_UUID_SIZE + 1])
{
    uint64_t random[2];
    if (!pl_entropy_fill(random, sizeof random))
        return false;
    pl_uuid7_write(ret_id, pl_clock_unix_ms(), random);
    ret_id[PL_UUID_SIZE] = '\0';
    return true;
}

/* --- connections ----------------------------------------------------------------------------- */

enum pl_exit pl_follow_position(struct pl_api *api, const char *session_id,
                                char ret_position[PL_HTTP_CALL_HEADER_SIZE])
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {
        .method = "GET", .header_name = "X-Stream-Position", .header_value = ret_position};
    return pl_api_call(api, &call, pl_api_path(api, "/api/sessions/%", session_id, NULL), &reply);
}

static void pause_a_moment(void)
{
    struct timespec time = {.tv_nsec = PAUSE_MS * 1000000L};
    nanosleep(&time, NULL);
}

/* One connection, until it or the chat ends. PL_EXIT_OK: the caller may reconnect. */
static enum pl_exit listen_once(struct following *f, enum pl_status *ret_status,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {
        .method = "GET", .timeout_ms = SILENCE_MS, .on_piece = on_piece, .ctx = f};
    char position[64];
    int http_status = 0;
    bool is_first = f->is_whole && f->sequence < 0;
    snprintf(position, sizeof position, "%lld:%lld", f->epoch, f->sequence);
    pl_sse_init(&f->sse, MAX_EVENT);
    f->has_news = false;
    const char *path = is_first ? pl_api_path(f->api, "/api/sessions/%/events", f->session_id, NULL)
                                : pl_api_path(f->api, "/api/sessions/%/events?since=%",
                                              f->session_id, position, NULL);
    *ret_status = pl_api_try(f->api, &call, path, &http_status, &reply, err);
    pl_sse_deinit(&f->sse);
    if (*ret_status != PL_OK || f->is_over || (http_status >= 200 && http_status < 300))
        return PL_EXIT_OK;
    pl_api_problem_read(&f->api->texts, http_status, pl_buf_str(&reply), err);
    return pl_console_fail(f->console, NULL, err);
}

static enum pl_exit listen(struct following *f)
{
    struct pl_error err = {0};
    for (int n_tries = 0;; n_tries++) {
        enum pl_status status;
        enum pl_exit code = listen_once(f, &status, &err);
        if (f->is_over && f->status == PL_OK)
            return f->code;
        if (code != PL_EXIT_OK)
            return code;
        if (f->status != PL_OK)
            return pl_api_fail(f->api, f->status, &err);
        if (f->has_news)
            n_tries = 0;
        if (status == PL_NOMEM || n_tries == MAX_TRIES) {
            close_line(f);
            return pl_api_fail(f->api, status == PL_OK ? PL_IO : status, &err);
        }
        pause_a_moment();
    }
}

static enum pl_exit follow(struct following *f)
{
    f->console = f->api->console;
    f->last_block = -1;
    pl_arena_init(&f->texts.arena, 0);
    enum pl_exit code = listen(f);
    pl_arena_deinit(&f->texts.arena);
    pl_vec_deinit(&f->shown);
    return code;
}

static enum pl_exit follow_from(struct following *f, const char *position)
{
    f->is_ours = !f->message_id;
    if (sscanf(position, "%lld:%lld", &f->epoch, &f->sequence) != 2)
        f->sequence = -1;
    return follow(f);
}

enum pl_exit pl_follow(struct pl_api *api, const char *session_id, const char *position,
                       const char *client_message_id)
{
    struct following f = {.api = api, .session_id = session_id, .message_id = client_message_id};
    return follow_from(&f, position);
}

enum pl_exit pl_follow_talk(struct pl_api *api, const char *session_id,
                            char position[PL_HTTP_CALL_HEADER_SIZE], const char *client_message_id,
                            struct pl_shown_answer *answer, bool *ret_is_aside)
{
    struct following f = {.api = api,
                          .session_id = session_id,
                          .message_id = client_message_id,
                          .is_talk = true,
                          .answer = answer};
    enum pl_exit code = follow_from(&f, position);
    *ret_is_aside = f.is_aside;
    snprintf(position, PL_HTTP_CALL_HEADER_SIZE, "%lld:%lld", f.epoch, f.sequence);
    return code;
}

enum pl_exit pl_follow_quietly(struct pl_api *api, const char *session_id, char *why, size_t size)
{
    struct following f = {
        .api = api,
        .session_id = session_id,
        .is_whole = true,
        .is_ours = true,
        .sequence = -1,
        .why = why,
        .why_size = size,
    };
    return follow(&f);
}

enum pl_exit pl_follow_new(struct pl_api *api, const char *session_id)
{
    return pl_follow_quietly(api, session_id, NULL, 0);
}
