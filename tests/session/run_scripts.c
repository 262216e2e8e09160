/* Plays the scripts of a folder, one behaviour each, and prints TAP.
 *
 *     # words                         the behaviour; the first line is the script's name
 *     chat {"message":"hi"}           an event and its fields (see script_events.c)
 *       frame chat:start {…}          the expected output, in order: every frame and every effect;
 *       effect call_model {…}         rows only if at least one is named
 *       row turn {…}
 *       reply {…}
 *       whole {…}                     the second form of the last frame; "none" if it has none
 *       refused busy                  instead of any output
 *       *                             any output is allowed
 *     times 128 call {…}              the same event many times, any output is allowed
 *     wait 20                         milliseconds
 *     reload                          loads the session again from its rows
 *     session|turns|questions|queue P the session's own view matches P
 *     quiet|running true|false
 *     next_tick N|none                milliseconds from now
 *     whole                           subscribers want every content
 *     behind true|false               earlier rows are not stored yet
 *
 * Patterns are those of pattern.h; a "$name" in an event is replaced by the text that a pattern bound
 * to it. A text {"repeat":"ab","n":3} is "ababab". After every event the reader and the shelf of
 * world.h check their state, too. */
#include "session/script_events.h"
#include "session/world.h"

#include "json/number.h"
#include "json/write.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

struct script {
    struct world world;
    struct script_args args; /* of the line being played */
    size_t n_line;
    bool has_event;  /* one was played and its output is being checked */
    bool is_lenient; /* … or not */
    bool checks_rows;
    bool was_refused; /* and the script has said so */
    enum pl_status status;
    size_t n_frames, n_effects, n_rows; /* checked so far */
};

static void fail_at(struct script *s, const char *what, struct pl_str wanted, struct pl_str got)
{
    world_fail(&s->world, "line %zu: %s\nwanted %.*s\ngot    %.*s", s->n_line, what,
               PL_STR_ARG(wanted), PL_STR_ARG(got));
}

/* --- events ---------------------------------------------------------------------------------- */

/* Checks that all output of the last event was named, or need not be. */
static void close_event(struct script *s)
{
    const struct pl_session_out *out = &s->world.out;
    if (!s->has_event)
        return;
    s->has_event = false;
    if (s->status != PL_OK && !s->was_refused)
        fail_at(s, "the event before was refused", PL_STR(""), pl_str_of(s->world.err.message));
    if (s->is_lenient)
        return;
    if (s->n_frames < out->frames.len) {
        pl_buf_clear(&s->args.scratch);
        pl_buf_addf(&s->args.scratch, "%s %.*s", pl_frame_text(out->frames.ptr[s->n_frames].kind),
                    PL_STR_ARG(out->frames.ptr[s->n_frames].data));
        fail_at(s, "one frame more", PL_STR(""), pl_buf_str(&s->args.scratch));
    }
    if (s->n_effects < out->effects.len)
        fail_at(s, "one effect more", PL_STR(""), out->effects.ptr[s->n_effects].tool_name);
    if (s->checks_rows && s->n_rows < out->rows.len)
        fail_at(s, "one row more", PL_STR(""), PL_STR(""));
}

static bool play_event(struct script *s, struct pl_str word, int64_t times)
{
    struct pl_session_event event;
    if (!script_event_read(&s->args, word, &event))
        return false;
    for (int64_t k = 0; k < times; k++)
        s->status = world_apply(&s->world, &event);
    s->has_event = true;
    s->is_lenient = times > 1;
    s->checks_rows = s->was_refused = false;
    s->n_frames = s->n_effects = s->n_rows = 0;
    return true;
}

/* --- output ---------------------------------------------------------------------------------- */

static void check(struct script *s, const char *what, struct pl_str pattern, struct pl_str json)
{
    if (!pattern_matches(&s->args.names, pattern.len ? pattern : PL_STR("\"*\""), json))
        fail_at(s, what, pattern, json);
}

static void check_frame(struct script *s, struct pl_str kind, struct pl_str pattern)
{
    if (s->n_frames >= s->world.out.frames.len) {
        fail_at(s, "no such frame", kind, PL_STR("no more frames"));
        return;
    }
    const struct pl_session_frame *frame = &s->world.out.frames.ptr[s->n_frames++];
    if (!pl_str_eq(pl_str_of(pl_frame_text(frame->kind)), kind))
        fail_at(s, "another frame", kind, frame->data);
    check(s, "another frame", pattern, frame->data);
}

static void add_member(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    if (text.ptr)
        pl_json_out_text(out, text);
    else
        pl_json_out_null(out);
}

static void check_effect(struct script *s, struct pl_str kind, struct pl_str pattern)
{
    static const char *const kinds[] = {"call_model",  "cancel_model", "run_tool",
                                        "cancel_tool", "summarise",    "tell_aside"};
    if (s->n_effects >= s->world.out.effects.len) {
        fail_at(s, "no such effect", kind, PL_STR("no more effects"));
        return;
    }
    const struct pl_session_effect *e = &s->world.out.effects.ptr[s->n_effects++];
    pl_buf_clear(&s->args.scratch);
    struct pl_json_out out = pl_json_out(&s->args.scratch);
    pl_json_out_open(&out, '{');
    add_member(&out, "loop_id", e->loop_id);
    add_member(&out, "turn_id", e->turn_id);
    add_member(&out, "model", e->model);
    add_member(&out, "trace_id", e->trace_id);
    add_member(&out, "compaction_id", e->compaction_id);
    add_member(&out, "trigger", e->trigger);
    add_member(&out, "tool_call_id", e->tool_call_id);
    add_member(&out, "tool_name", e->tool_name);
    add_member(&out, "arguments", e->arguments);
    add_member(&out, "mode",
               e->mode == PL_CHAT_MODE_PLANNING ? PL_STR("planning") : PL_STR("executing"));
    pl_json_out_key(&out, "is_confirmed");
    pl_json_out_bool(&out, e->is_confirmed);
    pl_json_out_close(&out, '}');
    if (!pl_str_eq(pl_str_of(kinds[e->kind]), kind))
        fail_at(s, "another effect", kind, pl_str_of(kinds[e->kind]));
    check(s, "another effect", pattern, pl_buf_str(&s->args.scratch));
}

static void add_json(struct pl_json_out *out, const char *key, struct pl_str value)
{
    pl_json_out_key(out, key);
    pl_json_out_raw(out, value.ptr ? value : PL_STR("null"));
}

static void write_row(const struct pl_session_row *row, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    switch (row->kind) {
    case PL_ROW_NEW_SESSION:
    case PL_ROW_SESSION:
        pl_json_out_open(&out, '{');
        add_member(&out, "status", pl_str_of(pl_session_status_text(row->session.status)));
        pl_json_out_key(&out, "version"), pl_json_out_int(&out, row->session.version);
        pl_json_out_key(&out, "epoch"), pl_json_out_int(&out, row->session.epoch);
        pl_json_out_key(&out, "next_event"), pl_json_out_int(&out, row->session.next_event);
        pl_json_out_key(&out, "next_entry"), pl_json_out_int(&out, row->session.next_entry);
        break;
    case PL_ROW_SETTINGS:
        pl_json_out_open(&out, '{');
        add_member(&out, "system_prompt", row->session.system_prompt);
        add_json(&out, "settings", row->session.settings);
        add_json(&out, "tools", row->session.tools);
        add_json(&out, "handoff", row->session.handoff);
        add_json(&out, "chat_override", row->session.chat_override);
        break;
    case PL_ROW_TURN:
        pl_json_out_open(&out, '{');
        add_member(&out, "turn_id", row->turn.turn_id);
        add_member(&out, "loop_id", row->turn.loop_id);
        add_member(&out, "status", pl_str_of(pl_turn_status_text(row->turn.status)));
        add_member(&out, "client_message_id", row->turn.client_message_id);
        pl_json_out_key(&out, "sequence"), pl_json_out_int(&out, row->turn.sequence);
        pl_json_out_key(&out, "last_event"), pl_json_out_int(&out, row->turn.last_event);
        pl_json_out_key(&out, "is_compaction"), pl_json_out_bool(&out, row->turn.is_compaction);
        pl_json_out_key(&out, "body"), pl_json_out_raw(&out, row->turn.body);
        break;
    case PL_ROW_QUESTION:
        pl_json_out_open(&out, '{');
        add_member(&out, "tool_call_id", row->question.tool_call_id);
        add_member(&out, "turn_id", row->question.turn_id);
        add_member(&out, "kind", row->question.kind);
        add_member(&out, "state", row->question.state);
        add_json(&out, "answer", row->question.answer);
        break;
    case PL_ROW_QUEUED:
    case PL_ROW_UNQUEUED:
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "position"), pl_json_out_int(&out, row->queued.position);
        add_member(&out, "client_message_id", row->queued.client_message_id);
        pl_json_out_key(&out, "body"), pl_json_out_raw(&out, row->queued.body);
        break;
    }
    pl_json_out_close(&out, '}');
}

static void check_row(struct script *s, struct pl_str kind, struct pl_str pattern)
{
    static const char *const kinds[] = {
        [PL_ROW_NEW_SESSION] = "session", [PL_ROW_SESSION] = "session",
        [PL_ROW_TURN] = "turn",           [PL_ROW_QUESTION] = "question",
        [PL_ROW_QUEUED] = "queued",       [PL_ROW_UNQUEUED] = "unqueued",
        [PL_ROW_SETTINGS] = "settings"};
    s->checks_rows = true;
    if (s->n_rows >= s->world.out.rows.len) {
        fail_at(s, "no such row", kind, PL_STR("no more rows"));
        return;
    }
    const struct pl_session_row *row = &s->world.out.rows.ptr[s->n_rows++];
    pl_buf_clear(&s->args.scratch);
    write_row(row, &s->args.scratch);
    if (!pl_str_eq(pl_str_of(kinds[row->kind]), kind))
        fail_at(s, "another row", kind, pl_buf_str(&s->args.scratch));
    check(s, "another row", pattern, pl_buf_str(&s->args.scratch));
}

static void check_refused(struct script *s, struct pl_str kind)
{
    static const char *const kinds[] = {
        "none",       "busy",    "question_pending", "question_not_pending",
        "queue_full", "invalid", "not_found"};
    s->was_refused = true;
    if (s->status == PL_OK || !pl_str_eq(pl_str_of(kinds[s->world.out.refusal]), kind))
        fail_at(s, "not refused like this", kind, pl_str_of(kinds[s->world.out.refusal]));
}

/* --- the session's own view ------------------------------------------------------------------ */

static void look(struct script *s, struct pl_str word, struct pl_str pattern)
{
    struct pl_buf *to = &s->args.scratch;
    pl_buf_clear(to);
    if (pl_str_eq(word, PL_STR("session"))) {
        pl_session_write(s->world.session, to);
    } else if (pl_str_eq(word, PL_STR("questions"))) {
        pl_session_write_questions(s->world.session, to);
    } else if (pl_str_eq(word, PL_STR("queue"))) {
        pl_session_write_queue(s->world.session, to);
    } else if (pl_str_eq(word, PL_STR("turns"))) {
        pl_buf_addc(to, '[');
        for (size_t i = 0; i < pl_session_n_open_turns(s->world.session); i++) {
            pl_buf_adds(to, i ? "," : "");
            pl_session_write_open_turn(s->world.session, i, to);
        }
        pl_buf_addc(to, ']');
    } else if (pl_str_eq(word, PL_STR("quiet"))) {
        pl_buf_adds(to, pl_session_is_quiet(s->world.session) ? "true" : "false");
    } else if (pl_str_eq(word, PL_STR("running"))) {
        pl_buf_adds(to, pl_session_is_running(s->world.session) ? "true" : "false");
    } else {
        int64_t at = pl_session_next_tick_ms(s->world.session);
        if (at == INT64_MAX)
            pl_buf_adds(to, "\"none\"");
        else
            pl_buf_addf(to, "%lld", (long long)(at - s->world.seed.unix_ms));
    }
    check(s, "it says otherwise", pattern, pl_buf_str(to));
}

static bool is_look(struct pl_str word)
{
    static const char *const words[] = {"session", "questions", "queue",     "turns",
                                        "quiet",   "running",   "next_tick", NULL};
    return script_word_index(words, word) || pl_str_eq(word, PL_STR("session"));
}

/* --- lines ----------------------------------------------------------------------------------- */

static struct pl_str take_word(struct pl_str *line)
{
    size_t n = 0;
    while (n < line->len && line->ptr[n] != ' ')
        n++;
    struct pl_str word = pl_str_slice(*line, 0, n);
    while (n < line->len && line->ptr[n] == ' ')
        n++;
    *line = pl_str_slice(*line, n, line->len);
    return word;
}

static void check_line(struct script *s, struct pl_str word, struct pl_str rest)
{
    if (pl_str_eq(word, PL_STR("*"))) {
        s->is_lenient = true;
        return;
    }
    if (pl_str_eq(word, PL_STR("reply"))) {
        check(s, "another reply", rest, s->world.out.reply);
        return;
    }
    if (pl_str_eq(word, PL_STR("whole"))) {
        struct pl_str whole =
            s->n_frames ? s->world.out.frames.ptr[s->n_frames - 1].whole : (struct pl_str){0};
        check(s, "another whole", rest, whole.ptr ? whole : PL_STR("\"none\""));
        return;
    }
    struct pl_str kind = take_word(&rest);
    if (pl_str_eq(word, PL_STR("frame")))
        check_frame(s, kind, rest);
    else if (pl_str_eq(word, PL_STR("effect")))
        check_effect(s, kind, rest);
    else if (pl_str_eq(word, PL_STR("row")))
        check_row(s, kind, rest);
    else if (pl_str_eq(word, PL_STR("refused")))
        check_refused(s, kind);
    else
        fail_at(s, "nobody knows this word", word, rest);
}

static void play_line(struct script *s, struct pl_str line)
{
    bool is_indented = line.ptr[0] == ' ';
    while (line.len && line.ptr[0] == ' ')
        line = pl_str_slice(line, 1, line.len);
    if (!line.len || line.ptr[0] == '#')
        return;
    struct pl_str word = take_word(&line);
    if (is_indented) {
        check_line(s, word, line);
        return;
    }
    close_event(s);
    int64_t times = 1;
    s->args.doc = (struct pl_json_doc){0};
    pl_arena_reset(&s->args.arena);
    if (is_look(word)) {
        look(s, word, line);
    } else if (pl_str_eq(word, PL_STR("wait"))) {
        int64_t ms = 0;
        if (pl_json_number_int64(line, &ms))
            s->world.seed.unix_ms += ms;
    } else if (pl_str_eq(word, PL_STR("reload"))) {
        world_reload(&s->world);
    } else if (pl_str_eq(word, PL_STR("whole"))) {
        s->world.out.wants_whole = true;
    } else if (pl_str_eq(word, PL_STR("gates"))) {
        s->world.out.gates_calls = pl_str_eq(line, PL_STR("true"));
    } else if (pl_str_eq(word, PL_STR("behind"))) {
        s->world.out.is_behind = pl_str_eq(line, PL_STR("true"));
    } else {
        if (pl_str_eq(word, PL_STR("times"))) {
            if (!pl_json_number_int64(take_word(&line), &times))
                fail_at(s, "how many times", PL_STR("a number"), line);
            word = take_word(&line);
        }
        if (line.len &&
            pl_json_parse(&s->args.arena, line, NULL, &s->args.doc, &s->world.err) != PL_OK)
            fail_at(s, s->world.err.message, PL_STR("JSON"), line);
        else if (!play_event(s, word, times))
            fail_at(s, "nobody knows this word", word, line);
    }
}

static void play(struct script *s, struct pl_str text)
{
    size_t at = 0;
    while (at < text.len && !s->world.problem[0]) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t stop = end ? (size_t)(end - text.ptr) : text.len;
        s->n_line++;
        if (stop > at)
            play_line(s, pl_str_slice(text, at, stop));
        at = stop + 1;
    }
    if (!s->world.problem[0])
        close_event(s);
}

static bool run(const char *path, int number, const char *name)
{
    struct pl_session_record record = {
        .id = PL_STR("sess_1"),
        .user_id = PL_STR("user_1"),
        .intent = PL_STR("a test"),
        .memory_enabled = true,
        .created_ms = 1767225600000,
    };
    struct script s = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_init(&s.args.scratch, 0);
    pl_arena_init(&s.args.arena, 0);
    pattern_names_init(&s.args.names);
    world_init(&s.world, &record, record.created_ms);
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    for (size_t n; file && (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        pl_buf_add(&text, (struct pl_str){chunk, n});
    if (file)
        fclose(file);
    if (!text.len)
        world_fail(&s.world, "%s cannot be read", path);
    play(&s, pl_buf_str(&text));
    bool is_ok = !s.world.problem[0];
    printf("%s %d - %s\n", is_ok ? "ok" : "not ok", number, name);
    if (!is_ok) {
        printf("# ");
        for (const char *c = s.world.problem; *c; c++) {
            putchar(*c);
            if (*c == '\n')
                printf("# ");
        }
        printf("\n");
    }
    world_deinit(&s.world);
    pattern_names_deinit(&s.args.names);
    pl_arena_deinit(&s.args.arena);
    pl_buf_deinit(&s.args.scratch);
    return is_ok;
}

static int is_script(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 7 && !strcmp(entry->d_name + n - 7, ".script");
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int n = argc > 1 ? scandir(argv[1], &names, is_script, alphasort) : -1;
    bool is_ok = n > 0;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], names[i]->d_name);
        if (argc < 3 || strstr(names[i]->d_name, argv[2]))
            is_ok &= run(path, i + 1, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    printf("1..%d\n", n < 0 ? 0 : n);
    return is_ok ? 0 : 1;
}
