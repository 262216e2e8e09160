/* Plays the scripts of a folder, one behaviour each, and prints TAP.
 *
 *     # words                         what the script shows; the first line is its name
 *     chat {"message":"hi"}           an event and its fields (see events[])
 *       frame chat:start {…}          what must come out, in order: every frame and every effect;
 *       effect call_model {…}         rows only when at least one is named
 *       row turn {…}
 *       reply {…}
 *       whole {…}                     the second form of the frame named last; "none" without one
 *       refused busy                  instead of all that
 *       *                             anything may come out
 *     times 128 call {…}              the same event many times, anything may come out
 *     wait 20                         milliseconds
 *     reload                          the session is loaded again from its rows
 *     session|turns|questions|queue P what it says of itself matches P
 *     quiet|running true|false
 *     next_tick N|none                milliseconds from now
 *     whole                           subscribers want every content
 *
 * Patterns are those of pattern.h; a "$name" in an event stands for what a pattern met before. A
 * text {"repeat":"ab","n":3} is "ababab". After every event the reader and the shelf of world.h
 * look too. */
#include "session/pattern.h"
#include "session/world.h"

#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

struct script {
    struct world world;
    struct pattern_names names;
    struct pl_arena arena; /* of the line being played */
    struct pl_json_doc args;
    size_t n_line;
    bool has_event;  /* one was played and its output is being checked */
    bool is_lenient; /* … or not */
    bool checks_rows;
    bool was_refused; /* and the script has said so */
    enum pl_status status;
    size_t n_frames, n_effects, n_rows; /* checked so far */
    struct pl_buf scratch;
};

static void fail_at(struct script *s, const char *what, struct pl_str wanted, struct pl_str got)
{
    world_fail(&s->world, "line %zu: %s\nwanted %.*s\ngot    %.*s", s->n_line, what,
               PL_STR_ARG(wanted), PL_STR_ARG(got));
}

/* --- arguments ------------------------------------------------------------------------------- */

static const struct pl_json_node *arg(const struct script *s, const char *key)
{
    return s->args.root ? pl_json_get(&s->args, s->args.root, pl_str_of(key)) : NULL;
}

static int64_t arg_int(const struct script *s, const struct pl_json_node *n)
{
    int64_t value = 0;
    if (n && !pl_json_number_int64(pl_json_span(&s->args, n), &value))
        return 0;
    return value;
}

static struct pl_str node_text(struct script *s, const struct pl_json_node *n)
{
    struct pl_str text = {0};
    if (n && pl_json_text(&s->arena, &s->args, n, &text) != PL_OK)
        return (struct pl_str){0};
    return pattern_value(&s->names, text);
}

static struct pl_str arg_text(struct script *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    if (!n || pl_json_kind(n) != PL_JSON_OBJECT)
        return node_text(s, n);
    struct pl_str unit = node_text(s, pl_json_get(&s->args, n, PL_STR("repeat")));
    int64_t times = arg_int(s, pl_json_get(&s->args, n, PL_STR("n")));
    char *text = pl_arena_alloc(&s->arena, (size_t)times, unit.len);
    for (int64_t i = 0; i < times; i++)
        memcpy(text + (size_t)i * unit.len, unit.ptr, unit.len);
    return (struct pl_str){text, (size_t)times * unit.len};
}

/* JSON as it stands; {"repeat"…} as a JSON string. */
static struct pl_str arg_json(struct script *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    if (!n)
        return (struct pl_str){0};
    if (pl_json_kind(n) != PL_JSON_OBJECT || !pl_json_get(&s->args, n, PL_STR("repeat")))
        return pl_json_span(&s->args, n);
    pl_buf_clear(&s->scratch);
    pl_json_quote(&s->scratch, arg_text(s, key));
    return pl_arena_dup(&s->arena, pl_buf_str(&s->scratch));
}

static bool arg_true(const struct script *s, const char *key)
{
    const struct pl_json_node *n = arg(s, key);
    return n && pl_json_kind(n) == PL_JSON_TRUE;
}

/* --- events ---------------------------------------------------------------------------------- */

static size_t word_index(const char *const *words, struct pl_str word)
{
    size_t i = 0;
    while (words[i] && !pl_str_eq(pl_str_of(words[i]), word))
        i++;
    return words[i] ? i : 0;
}

static void fill_chat(struct script *s, struct pl_session_event *e)
{
    static const char *const modes[] = {"keep", "planning", "executing", NULL};
    static const char *const busy[] = {"enqueue", "reject", "interrupt", "steer", NULL};
    e->chat.message = arg_json(s, "message");
    e->chat.client_message_id = arg_text(s, "id");
    e->chat.model = arg_text(s, "model");
    e->chat.context_window = arg_int(s, arg(s, "window"));
    e->chat.mode = (enum pl_chat_mode)word_index(modes, arg_text(s, "mode"));
    e->chat.when_busy = (enum pl_when_busy)word_index(busy, arg_text(s, "busy"));
}

static void fill_answer(struct script *s, struct pl_session_event *e)
{
    e->answer.tool_call_id = arg_text(s, "call");
    e->answer.answer = arg_json(s, "answer");
}

static void fill_compact(struct script *s, struct pl_session_event *e)
{
    e->compact.trigger = arg_text(s, "trigger");
    e->compact.loop_id = arg_text(s, "loop");
}

static void fill_settings(struct script *s, struct pl_session_event *e)
{
    e->settings.has_intent = arg(s, "intent");
    e->settings.intent = arg_text(s, "intent");
    e->settings.has_model = arg(s, "model");
    e->settings.model = arg_text(s, "model");
    e->settings.has_pinned = arg(s, "pinned");
    e->settings.is_pinned = arg_true(s, "pinned");
    e->settings.has_shared = arg(s, "shared");
    e->settings.shared = arg_true(s, "shared");
    e->settings.has_memory = arg(s, "memory");
    e->settings.memory_enabled = arg_true(s, "memory");
    e->settings.has_persistent = arg(s, "persistent");
    e->settings.is_persistent = arg_true(s, "persistent");
    e->settings.has_replay = arg(s, "replay");
    e->settings.replay_state = arg_json(s, "replay");
}

static void fill_model(struct script *s, struct pl_session_event *e)
{
    e->model.loop_id = arg(s, "loop") ? arg_text(s, "loop") : PL_STR("root");
    e->model.turn_id = arg_text(s, "turn");
    e->model.is_thinking = arg_true(s, "thinking");
    e->model.text = arg_text(s, "text");
    e->model.type = arg_text(s, "type");
    e->model.content = arg_json(s, "content");
    e->model.tool_call_id = arg_text(s, "tool_call_id");
    e->model.tool_name = arg_text(s, "tool");
    e->model.display_name = arg_text(s, "display");
    e->model.arguments = arg_text(s, "arguments");
    e->model.model = arg_text(s, "model");
    e->model.usage = arg_json(s, "usage");
    e->model.timing = arg_json(s, "timing");
    e->model.memory_refs = arg_json(s, "memory_refs");
    e->model.reason = arg_text(s, "reason");
    e->model.is_overflow = arg_true(s, "overflow");
}

static void fill_tool(struct script *s, struct pl_session_event *e)
{
    e->tool.tool_call_id = arg_text(s, "call");
    e->tool.result = arg(s, "raw") ? arg_text(s, "raw") : arg_json(s, "result");
    e->tool.is_error = arg_true(s, "error");
    e->tool.duration_ms = arg_int(s, arg(s, "ms"));
    e->tool.question_kind = arg_text(s, "kind");
    e->tool.questions = arg_json(s, "questions");
}

static void fill_summary(struct script *s, struct pl_session_event *e)
{
    e->summary.loop_id = arg(s, "loop") ? arg_text(s, "loop") : PL_STR("root");
    e->summary.compaction_id = arg_text(s, "id");
    e->summary.summary = arg_text(s, "text");
    e->summary.reason = arg_text(s, "reason");
    e->summary.tokens_before = arg_int(s, arg(s, "before"));
    e->summary.tokens_after = arg_int(s, arg(s, "after"));
    e->summary.archived_count = arg_int(s, arg(s, "archived"));
}

static void fill_notice(struct script *s, struct pl_session_event *e)
{
    e->notice.text = arg_text(s, "text");
}

static void fill_nothing(struct script *s, struct pl_session_event *e)
{
    (void)s, (void)e;
}

static const struct {
    const char *word;
    enum pl_session_event_kind kind;
    void (*fill)(struct script *s, struct pl_session_event *e);
} events[] = {
    {"chat", PL_SE_CHAT, fill_chat},
    {"answer", PL_SE_ANSWER, fill_answer},
    {"stop", PL_SE_STOP, fill_nothing},
    {"compact", PL_SE_COMPACT, fill_compact},
    {"settings", PL_SE_SETTINGS, fill_settings},
    {"tick", PL_SE_TICK, fill_nothing},
    {"text", PL_SE_MODEL_TEXT, fill_model},
    {"block", PL_SE_MODEL_BLOCK, fill_model},
    {"call", PL_SE_MODEL_CALL, fill_model},
    {"end", PL_SE_MODEL_END, fill_model},
    {"failed", PL_SE_MODEL_FAILED, fill_model},
    {"result", PL_SE_TOOL_RESULT, fill_tool},
    {"asks", PL_SE_TOOL_ASKS, fill_tool},
    {"summary", PL_SE_SUMMARY, fill_summary},
    {"summary_failed", PL_SE_SUMMARY_FAILED, fill_summary},
    {"recover", PL_SE_RECOVER, fill_nothing},
    {"shut_down", PL_SE_SHUT_DOWN, fill_nothing},
    {"notice", PL_SE_NOTICE, fill_notice},
};

/* Whatever came out of the event before has been named, or need not be. */
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
        pl_buf_clear(&s->scratch);
        pl_buf_addf(&s->scratch, "%s %.*s", pl_frame_text(out->frames.ptr[s->n_frames].kind),
                    PL_STR_ARG(out->frames.ptr[s->n_frames].data));
        fail_at(s, "one frame more", PL_STR(""), pl_buf_str(&s->scratch));
    }
    if (s->n_effects < out->effects.len)
        fail_at(s, "one effect more", PL_STR(""), out->effects.ptr[s->n_effects].tool_name);
    if (s->checks_rows && s->n_rows < out->rows.len)
        fail_at(s, "one row more", PL_STR(""), PL_STR(""));
}

static bool play_event(struct script *s, struct pl_str word, int64_t times)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (!pl_str_eq(pl_str_of(events[i].word), word))
            continue;
        struct pl_session_event event = {.kind = events[i].kind};
        events[i].fill(s, &event);
        for (int64_t k = 0; k < times; k++)
            s->status = world_apply(&s->world, &event);
        s->has_event = true;
        s->is_lenient = times > 1;
        s->checks_rows = s->was_refused = false;
        s->n_frames = s->n_effects = s->n_rows = 0;
        return true;
    }
    return false;
}

/* --- what came out --------------------------------------------------------------------------- */

static void check(struct script *s, const char *what, struct pl_str pattern, struct pl_str json)
{
    if (!pattern_matches(&s->names, pattern.len ? pattern : PL_STR("\"*\""), json))
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
    static const char *const kinds[] = {"call_model", "cancel_model", "run_tool", "cancel_tool",
                                        "summarise"};
    if (s->n_effects >= s->world.out.effects.len) {
        fail_at(s, "no such effect", kind, PL_STR("no more effects"));
        return;
    }
    const struct pl_session_effect *e = &s->world.out.effects.ptr[s->n_effects++];
    pl_buf_clear(&s->scratch);
    struct pl_json_out out = pl_json_out(&s->scratch);
    pl_json_out_open(&out, '{');
    add_member(&out, "loop_id", e->loop_id);
    add_member(&out, "turn_id", e->turn_id);
    add_member(&out, "model", e->model);
    add_member(&out, "compaction_id", e->compaction_id);
    add_member(&out, "trigger", e->trigger);
    add_member(&out, "tool_call_id", e->tool_call_id);
    add_member(&out, "tool_name", e->tool_name);
    add_member(&out, "arguments", e->arguments);
    add_member(&out, "mode",
               e->mode == PL_MODE_PLANNING ? PL_STR("planning") : PL_STR("executing"));
    pl_json_out_key(&out, "is_confirmed");
    pl_json_out_bool(&out, e->is_confirmed);
    pl_json_out_close(&out, '}');
    if (!pl_str_eq(pl_str_of(kinds[e->kind]), kind))
        fail_at(s, "another effect", kind, pl_str_of(kinds[e->kind]));
    check(s, "another effect", pattern, pl_buf_str(&s->scratch));
}

static void write_row(const struct pl_session_row *row, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    switch (row->kind) {
    case PL_ROW_SESSION:
        pl_json_out_open(&out, '{');
        add_member(&out, "status", pl_str_of(pl_session_status_text(row->session.status)));
        pl_json_out_key(&out, "version"), pl_json_out_int(&out, row->session.version);
        pl_json_out_key(&out, "epoch"), pl_json_out_int(&out, row->session.epoch);
        pl_json_out_key(&out, "next_event"), pl_json_out_int(&out, row->session.next_event);
        pl_json_out_key(&out, "next_entry"), pl_json_out_int(&out, row->session.next_entry);
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
        pl_json_out_key(&out, "answer");
        pl_json_out_raw(&out, row->question.answer.ptr ? row->question.answer : PL_STR("null"));
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
    static const char *const kinds[] = {"session", "turn", "question", "queued", "unqueued"};
    s->checks_rows = true;
    if (s->n_rows >= s->world.out.rows.len) {
        fail_at(s, "no such row", kind, PL_STR("no more rows"));
        return;
    }
    const struct pl_session_row *row = &s->world.out.rows.ptr[s->n_rows++];
    pl_buf_clear(&s->scratch);
    write_row(row, &s->scratch);
    if (!pl_str_eq(pl_str_of(kinds[row->kind]), kind))
        fail_at(s, "another row", kind, pl_buf_str(&s->scratch));
    check(s, "another row", pattern, pl_buf_str(&s->scratch));
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

/* --- what it says of itself ------------------------------------------------------------------ */

static void look(struct script *s, struct pl_str word, struct pl_str pattern)
{
    struct pl_buf *to = &s->scratch;
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
    return word_index(words, word) || pl_str_eq(word, PL_STR("session"));
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
    s->args = (struct pl_json_doc){0};
    pl_arena_reset(&s->arena);
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
    } else {
        if (pl_str_eq(word, PL_STR("times"))) {
            if (!pl_json_number_int64(take_word(&line), &times))
                fail_at(s, "how many times", PL_STR("a number"), line);
            word = take_word(&line);
        }
        if (line.len && pl_json_parse(&s->arena, line, NULL, &s->args, &s->world.err) != PL_OK)
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
    pl_buf_init(&s.scratch, 0);
    pl_arena_init(&s.arena, 0);
    pattern_names_init(&s.names);
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
    pattern_names_deinit(&s.names);
    pl_arena_deinit(&s.arena);
    pl_buf_deinit(&s.scratch);
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
