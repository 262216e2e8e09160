/* A reader as docs/internals/session.md describes it: whole turns from turn:start and turn:end,
 * patches in between. It also checks that every change of a status is a legal edge. */
#include "session/world.h"

#include "json/json.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

struct doc {
    struct pl_json_doc json;
    struct pl_arena arena;
    bool leaves_out_proofs; /* patches do not contain them */
};

static struct pl_str span(const struct doc *d, const struct pl_json_node *n)
{
    return n ? pl_json_span(&d->json, n) : PL_STR("null");
}

static const struct pl_json_node *get(const struct doc *d, const struct pl_json_node *of,
                                      const char *key)
{
    return of && pl_json_kind(of) == PL_JSON_OBJECT ? pl_json_get(&d->json, of, pl_str_of(key))
                                                    : NULL;
}

static struct pl_str text(struct doc *d, const struct pl_json_node *n)
{
    struct pl_str s = {"", 0};
    if (n && pl_json_kind(n) == PL_JSON_STRING && pl_json_text(&d->arena, &d->json, n, &s) != PL_OK)
        return PL_STR("?");
    return s;
}

static void set(struct pl_buf *to, struct pl_str s)
{
    pl_buf_clear(to);
    pl_buf_add(to, s);
}

static bool is(const struct pl_buf *buf, const char *s)
{
    return pl_str_eq(pl_buf_str(buf), pl_str_of(s));
}

/* --- memory ---------------------------------------------------------------------------------- */

static void block_init(struct reader_block *b)
{
    *b = (struct reader_block){0};
    pl_buf_init(&b->type, 0);
    pl_buf_init(&b->text, 0);
    pl_buf_init(&b->content, 0);
    pl_buf_init(&b->ids, 0);
}

static void call_each(struct reader_call *c, void (*visit)(struct pl_buf *buf))
{
    struct pl_buf *all[] = {&c->id,     &c->tool_name, &c->display_name, &c->arguments,
                            &c->status, &c->result,    &c->duration,     &c->ref};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        visit(all[i]);
}

static void init_one(struct pl_buf *buf)
{
    pl_buf_init(buf, 0);
}

static void forget_lists(struct reader_turn *t)
{
    for (size_t i = 0; i < t->blocks.len; i++) {
        pl_buf_deinit(&t->blocks.ptr[i].type);
        pl_buf_deinit(&t->blocks.ptr[i].text);
        pl_buf_deinit(&t->blocks.ptr[i].content);
        pl_buf_deinit(&t->blocks.ptr[i].ids);
    }
    for (size_t i = 0; i < t->calls.len; i++)
        call_each(&t->calls.ptr[i], pl_buf_deinit);
    t->blocks.len = t->calls.len = 0;
}

void reader_turn_deinit(struct reader_turn *t)
{
    forget_lists(t);
    pl_vec_deinit(&t->blocks);
    pl_vec_deinit(&t->calls);
    pl_buf_deinit(&t->id);
    pl_buf_deinit(&t->head);
    pl_buf_deinit(&t->tail);
    pl_buf_deinit(&t->status);
}

void reader_forget(struct world *w)
{
    for (size_t i = 0; i < w->seen.len; i++)
        reader_turn_deinit(&w->seen.ptr[i]);
    w->seen.len = 0;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_block(const struct reader_block *b, struct pl_buf *to)
{
    pl_buf_adds(to, "{\"type\":");
    pl_json_quote(to, pl_buf_str(&b->type));
    pl_buf_adds(to, ",\"content\":");
    if (b->is_text)
        pl_json_quote(to, b->text.len ? pl_buf_str(&b->text) : PL_STR(""));
    else
        pl_buf_add(to, pl_buf_str(&b->content));
    pl_buf_add(to, pl_buf_str(&b->ids));
    pl_buf_addc(to, '}');
}

static void write_call(const struct reader_call *c, struct pl_buf *to)
{
    const struct {
        const char *key;
        const struct pl_buf *value;
    } members[] = {
        {"{\"id\":", &c->id},
        {",\"tool_name\":", &c->tool_name},
        {",\"display_name\":", &c->display_name},
        {",\"arguments\":", &c->arguments},
        {",\"status\":", &c->status},
        {",\"result\":", &c->result},
        {",\"duration_ms\":", &c->duration},
        {",\"pending_question_ref\":", &c->ref},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_buf_adds(to, members[i].key);
        pl_buf_add(to, pl_buf_str(members[i].value));
    }
    pl_buf_adds(to, c->is_client ? ",\"runs\":\"client\"}" : "}");
}

/* The part of a turn that patches contain. */
static void write_told(const struct reader_turn *t, struct pl_buf *to)
{
    pl_json_quote(to, pl_buf_str(&t->status));
    pl_buf_adds(to, ",\"blocks\":[");
    for (size_t i = 0; i < t->blocks.len; i++) {
        pl_buf_adds(to, i ? "," : "");
        write_block(&t->blocks.ptr[i], to);
    }
    pl_buf_adds(to, "],\"tool_calls\":[");
    for (size_t i = 0; i < t->calls.len; i++) {
        pl_buf_adds(to, i ? "," : "");
        write_call(&t->calls.ptr[i], to);
    }
    pl_buf_adds(to, "],");
}

void reader_turn_write(const struct reader_turn *t, struct pl_buf *to)
{
    pl_buf_add(to, pl_buf_str(&t->head));
    write_told(t, to);
    pl_buf_add(to, pl_buf_str(&t->tail));
}

/* --- blocks and calls ------------------------------------------------------------------------ */

static struct reader_block *push_block(struct reader_turn *t, struct pl_str type)
{
    struct reader_block *b = pl_vec_add(&t->blocks);
    block_init(b);
    set(&b->type, type);
    b->is_text =
        is(&b->type, "text") || is(&b->type, "thinking") || is(&b->type, "system_notification");
    return b;
}

/* The last member, if there is one. */
static void add_proof(struct doc *d, const struct pl_json_node *of, struct pl_buf *to)
{
    const struct pl_json_node *proof = get(d, of, "proof");
    if (proof && !d->leaves_out_proofs)
        pl_buf_addf(to, ",\"proof\":%.*s", PL_STR_ARG(span(d, proof)));
}

/* The times when a call ran, and when a person was asked. */
static void add_times(struct doc *d, const struct pl_json_node *of, struct pl_buf *to)
{
    static const char *const names[] = {"started_at", "asked_at", "answered_at"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pl_json_node *time = get(d, of, names[i]);
        if (time && !d->leaves_out_proofs)
            pl_buf_addf(to, ",\"%s\":%.*s", names[i], PL_STR_ARG(span(d, time)));
    }
}

static void set_ids(struct reader_block *b, struct pl_str id, struct pl_str name,
                    struct pl_str display)
{
    pl_buf_clear(&b->ids);
    pl_buf_addf(&b->ids, ",\"tool_call_id\":%.*s,\"tool_name\":%.*s,\"display_name\":%.*s",
                PL_STR_ARG(id), PL_STR_ARG(name), PL_STR_ARG(display));
}

static void push_whole_block(struct doc *d, struct reader_turn *t, const struct pl_json_node *n)
{
    struct reader_block *b = push_block(t, text(d, get(d, n, "type")));
    if (b->is_text)
        set(&b->text, text(d, get(d, n, "content")));
    else
        set(&b->content, span(d, get(d, n, "content")));
    set_ids(b, span(d, get(d, n, "tool_call_id")), span(d, get(d, n, "tool_name")),
            span(d, get(d, n, "display_name")));
    add_proof(d, n, &b->ids);
    const struct pl_json_node *variables = get(d, n, "variables");
    if (variables)
        pl_buf_addf(&b->ids, ",\"variables\":%.*s", PL_STR_ARG(span(d, variables)));
}

static void push_call_block(struct reader_turn *t, const struct reader_call *c, const char *type,
                            struct pl_str content)
{
    struct reader_block *b = push_block(t, pl_str_of(type));
    set(&b->content, content);
    set_ids(b, pl_buf_str(&c->id), pl_buf_str(&c->tool_name), pl_buf_str(&c->display_name));
}

static struct reader_call *push_call(struct doc *d, struct reader_turn *t,
                                     const struct pl_json_node *n)
{
    struct reader_call *c = pl_vec_add(&t->calls);
    call_each(c, init_one);
    set(&c->id, span(d, get(d, n, "id")));
    set(&c->tool_name, span(d, get(d, n, "tool_name")));
    set(&c->display_name, span(d, get(d, n, "display_name")));
    set(&c->arguments, span(d, get(d, n, "arguments")));
    set(&c->status, span(d, get(d, n, "status")));
    set(&c->result, span(d, get(d, n, "result")));
    set(&c->duration, span(d, get(d, n, "duration_ms")));
    set(&c->ref, span(d, get(d, n, "pending_question_ref")));
    add_times(d, n, &c->ref);
    add_proof(d, n, &c->ref);
    c->is_client = get(d, n, "runs");
    return c;
}

/* --- edges ----------------------------------------------------------------------------------- */

static bool may(const char *edges, struct pl_str from, struct pl_str to)
{
    char edge[80];
    snprintf(edge, sizeof edge, " %.*s>%.*s ", PL_STR_ARG(from), PL_STR_ARG(to));
    return strstr(edges, edge);
}

static const char turn_edges[] =
    " streaming>completed streaming>failed streaming>interrupted streaming>paused"
    " paused>streaming paused>interrupted paused>failed ";
static const char call_edges[] =
    " \"pending\">\"done\" \"pending\">\"error\" \"pending\">\"cancelled\""
    " \"pending\">\"awaiting_answer\" \"awaiting_answer\">\"pending\""
    " \"awaiting_answer\">\"done\" \"awaiting_answer\">\"error\""
    " \"awaiting_answer\">\"cancelled\" ";
static const char session_edges[] =
    " created>running completed>running failed>running interrupted>running running>completed"
    " running>failed running>interrupted running>waiting_for_input waiting_for_input>running"
    " waiting_for_input>interrupted ";

static void walk(struct world *w, const char *edges, struct pl_buf *status, struct pl_str to)
{
    if (!pl_str_eq(pl_buf_str(status), to) && !may(edges, pl_buf_str(status), to))
        world_fail(w, "from %.*s to %.*s", PL_STR_ARG(pl_buf_str(status)), PL_STR_ARG(to));
    set(status, to);
}

/* --- frames ---------------------------------------------------------------------------------- */

static struct reader_turn *find_turn(struct world *w, struct pl_str id)
{
    for (size_t i = 0; i < w->seen.len; i++)
        if (pl_str_eq(pl_buf_str(&w->seen.ptr[i].id), id))
            return &w->seen.ptr[i];
    return NULL;
}

/* The statuses of known calls may only have changed along edges. */
static void check_calls(struct world *w, struct doc *d, struct reader_turn *t,
                        const struct pl_json_node *calls)
{
    size_t i = 0;
    for (const struct pl_json_node *n = pl_json_first(calls);
         n < pl_json_end(calls) && i < t->calls.len; n = pl_json_next(n), i++)
        walk(w, call_edges, &t->calls.ptr[i].status, span(d, get(d, n, "status")));
    if (pl_json_count(calls) < t->calls.len)
        world_fail(w, "calls were lost");
}

static bool is_over(const struct reader_turn *t)
{
    return !is(&t->status, "streaming") && !is(&t->status, "paused");
}

static void read_lists(struct doc *d, struct reader_turn *t, const struct pl_json_node *turn)
{
    const struct pl_json_node *blocks = get(d, turn, "blocks"), *calls = get(d, turn, "tool_calls");
    forget_lists(t);
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n))
        push_whole_block(d, t, n);
    for (const struct pl_json_node *n = pl_json_first(calls); n < pl_json_end(calls);
         n = pl_json_next(n))
        (void)push_call(d, t, n);
}

/* Patches alone are sufficient: before turn:end they have contained the status, the blocks and the
 * calls of the turn. */
static void check_told(struct world *w, struct doc *d, struct reader_turn *t,
                       const struct pl_json_node *turn)
{
    PL_CLEANUP_BUF struct pl_buf told, whole;
    pl_buf_init(&told, 0);
    pl_buf_init(&whole, 0);
    write_told(t, &told);
    d->leaves_out_proofs = true;
    read_lists(d, t, turn);
    d->leaves_out_proofs = false;
    set(&t->status, text(d, get(d, turn, "status")));
    write_told(t, &whole);
    if (!pl_str_eq(pl_buf_str(&told), pl_buf_str(&whole)))
        world_fail(w, "patches told\n%.*s\nand turn:end says\n%.*s", PL_STR_ARG(pl_buf_str(&told)),
                   PL_STR_ARG(pl_buf_str(&whole)));
}

static void read_whole(struct world *w, struct doc *d, const struct pl_json_node *turn, bool is_end)
{
    struct pl_str id = text(d, get(d, turn, "turn_id"));
    struct reader_turn *t = find_turn(w, id);
    const struct pl_json_node *status = get(d, turn, "status");
    const struct pl_json_node *calls = get(d, turn, "tool_calls");
    if (t && t->is_terminal)
        world_fail(w, "a turn that had ended was told again");
    if (!t) {
        t = pl_vec_add(&w->seen);
        *t = (struct reader_turn){0};
        init_one(&t->id), init_one(&t->head), init_one(&t->tail), init_one(&t->status);
        set(&t->id, id);
        set(&t->status, text(d, status));
    }
    if (is_end)
        check_told(w, d, t, turn);
    walk(w, turn_edges, &t->status, text(d, status));
    check_calls(w, d, t, calls);
    t->is_terminal = is_over(t);
    if (is_end != t->is_terminal)
        world_fail(w, "turn:end and a terminal status belong together");
    struct pl_str whole = pl_json_span(&d->json, turn);
    size_t head = status->off - turn->off;
    size_t tail = calls->off + calls->len + 1 - turn->off;
    set(&t->head, pl_str_slice(whole, 0, head));
    set(&t->tail, pl_str_slice(whole, tail, whole.len));
    read_lists(d, t, turn);
    for (size_t i = 0; t->is_terminal && i < t->calls.len; i++)
        if (is(&t->calls.ptr[i].status, "\"pending\"") ||
            is(&t->calls.ptr[i].status, "\"awaiting_answer\""))
            world_fail(w, "a turn ended with an open call");
}

static void patch_text(struct world *w, struct doc *d, struct reader_turn *t,
                       const struct pl_json_node *data)
{
    const struct pl_json_node *content = get(d, data, "content"), *at = get(d, data, "block_index");
    struct pl_str type = text(d, get(d, data, "type"));
    char index[24];
    bool is_new = t->blocks.len == 0;
    snprintf(index, sizeof index, "%zu", t->blocks.len);
    is_new |= pl_str_eq(span(d, at), pl_str_of(index));
    if (is_new)
        set_ids(push_block(t, type), PL_STR("null"), PL_STR("null"), PL_STR("null"));
    struct reader_block *b = &t->blocks.ptr[t->blocks.len - 1];
    snprintf(index, sizeof index, "%zu", t->blocks.len - 1);
    if (!pl_str_eq(span(d, at), pl_str_of(index)) || !pl_str_eq(pl_buf_str(&b->type), type))
        world_fail(w, "a delta for a block that is not the last");
    pl_buf_add(&b->text, text(d, get(d, data, "text_delta")));
    if (content && !pl_str_eq(text(d, content), pl_buf_str(&b->text)))
        world_fail(w, "content is not the deltas together");
}

static void patch_call(struct doc *d, struct reader_turn *t, const struct pl_json_node *data)
{
    struct reader_call *c = push_call(d, t, data);
    struct pl_str arguments = text(d, get(d, data, "arguments"));
    PL_CLEANUP_BUF struct pl_buf use;
    pl_buf_init(&use, 0);
    pl_buf_addf(&use, "{\"id\":%.*s,\"name\":%.*s,\"input\":", PL_STR_ARG(pl_buf_str(&c->id)),
                PL_STR_ARG(pl_buf_str(&c->tool_name)));
    struct pl_json_doc input;
    if (pl_json_parse(&d->arena, arguments, NULL, &input, NULL) == PL_OK)
        pl_json_write_min(&use, &input, input.root);
    else
        pl_json_quote(&use, arguments);
    pl_buf_addc(&use, '}');
    push_call_block(t, c, "tool_use", pl_buf_str(&use));
}

static struct reader_call *find_call(struct world *w, struct doc *d, struct reader_turn *t,
                                     const struct pl_json_node *data)
{
    struct pl_str id = span(d, get(d, data, "tool_call_id"));
    for (size_t i = 0; i < t->calls.len; i++)
        if (pl_str_eq(pl_buf_str(&t->calls.ptr[i].id), id))
            return &t->calls.ptr[i];
    world_fail(w, "a patch for a call nobody knows");
    return NULL;
}

static void patch_result(struct world *w, struct doc *d, struct reader_turn *t,
                         const struct pl_json_node *data)
{
    struct reader_call *c = find_call(w, d, t, data);
    const struct pl_json_node *result = get(d, data, "result");
    const struct pl_json_node *meta = get(d, result, "_meta");
    const struct pl_json_node *ui = get(d, meta, "ui"), *bridge = get(d, meta, "bridge");
    if (!c)
        return;
    walk(w, call_edges, &c->status, span(d, get(d, data, "status")));
    set(&c->result, span(d, result));
    set(&c->duration, span(d, get(d, data, "duration_ms")));
    set(&c->ref, PL_STR("null"));
    push_call_block(t, c, "tool_result", span(d, result));
    if (ui && pl_json_kind(ui) == PL_JSON_OBJECT)
        push_call_block(t, c, "tool_ui", span(d, ui));
    if (bridge && pl_json_kind(bridge) == PL_JSON_OBJECT)
        push_call_block(t, c, "tool_bridge", span(d, bridge));
}

static void patch_call_status(struct world *w, struct doc *d, struct reader_turn *t,
                              const struct pl_json_node *data)
{
    struct reader_call *c = find_call(w, d, t, data);
    if (!c)
        return;
    walk(w, call_edges, &c->status, span(d, get(d, data, "status")));
    set(&c->ref, span(d, get(d, data, "pending_question_ref")));
    c->is_client |= get(d, data, "runs") != NULL;
}

static void read_patch(struct world *w, struct doc *d, const struct pl_json_node *root)
{
    struct reader_turn *t = find_turn(w, text(d, get(d, root, "turn_id")));
    struct pl_str type = text(d, get(d, root, "patch_type"));
    const struct pl_json_node *data = get(d, root, "data");
    if (!t || is_over(t)) {
        world_fail(w, "a patch for a turn that is not open");
        return;
    }
    if (pl_str_eq(type, PL_STR("add_content")) && get(d, data, "text_delta"))
        patch_text(w, d, t, data);
    else if (pl_str_eq(type, PL_STR("add_content")))
        push_whole_block(d, t, data);
    else if (pl_str_eq(type, PL_STR("add_tool_call")))
        patch_call(d, t, data);
    else if (pl_str_eq(type, PL_STR("tool_result")))
        patch_result(w, d, t, data);
    else if (pl_str_eq(type, PL_STR("set_tool_status")))
        patch_call_status(w, d, t, data);
    else if (pl_str_eq(type, PL_STR("set_status")))
        walk(w, turn_edges, &t->status, text(d, get(d, data, "status")));
    else
        world_fail(w, "a patch of an unknown type");
}

static void read_memories(struct world *w, struct doc *d, const struct pl_json_node *root)
{
    struct reader_turn *t = find_turn(w, text(d, get(d, root, "turn_id")));
    struct pl_str was = PL_STR("\"memory_refs\":null");
    size_t at = 0;
    while (t && at + was.len <= t->tail.len && memcmp(t->tail.ptr + at, was.ptr, was.len) != 0)
        at++;
    if (!t || t->is_terminal || at + was.len > t->tail.len) {
        world_fail(w, "memories for a turn that is not open or has some");
        return;
    }
    struct pl_str tail = pl_arena_dup(&d->arena, pl_buf_str(&t->tail));
    set(&t->tail, pl_str_slice(tail, 0, at + was.len - 4));
    pl_buf_add(&t->tail, span(d, get(d, root, "memory_refs")));
    pl_buf_add(&t->tail, pl_str_slice(tail, at + was.len, tail.len));
}

static void read_session(struct world *w, struct doc *d, const struct pl_json_node *root)
{
    struct pl_str to = text(d, get(d, get(d, root, "session"), "status"));
    struct pl_str from = pl_str_of(pl_session_status_text(w->status));
    if (!pl_str_eq(from, to) && !may(session_edges, from, to))
        world_fail(w, "session from %.*s to %.*s", PL_STR_ARG(from), PL_STR_ARG(to));
    w->status = pl_session_status_of(to);
}

void reader_read(struct world *w, const struct pl_session_frame *frame)
{
    const struct pl_json_opts opts = {.max_depth = 128};
    struct doc d = {0};
    pl_arena_init(&d.arena, 0);
    if (frame->sequence != ++w->last_sequence)
        world_fail(w, "sequence %lld instead of %lld", (long long)frame->sequence,
                   (long long)w->last_sequence);
    if (pl_json_parse(&d.arena, frame->data, &opts, &d.json, &w->err) != PL_OK) {
        world_fail(w, "a frame is not JSON: %s", w->err.message);
        pl_arena_deinit(&d.arena);
        return;
    }
    const struct pl_json_node *root = d.json.root;
    switch (frame->kind) {
    case PL_FRAME_CHAT_START:
        if (w->is_chatting)
            world_fail(w, "a chat started within a chat");
        w->is_chatting = true;
        break;
    case PL_FRAME_CHAT_END:
        w->is_chatting = false;
        break;
    case PL_FRAME_TURN_START:
    case PL_FRAME_TURN_END:
        read_whole(w, &d, get(&d, root, "turn"), frame->kind == PL_FRAME_TURN_END);
        break;
    case PL_FRAME_TURN_PATCH:
        if (frame->data.len > PL_SESSION_MAX_PATCH && get(&d, get(&d, root, "data"), "text_delta"))
            world_fail(w, "a patch of text over the limit");
        read_patch(w, &d, root);
        break;
    case PL_FRAME_SESSION_UPDATED:
        read_session(w, &d, root);
        break;
    case PL_FRAME_MEMORY_INJECTED:
        read_memories(w, &d, root);
        break;
    default:
        break;
    }
    pl_arena_deinit(&d.arena);
}

void reader_compare(struct world *w)
{
    PL_CLEANUP_BUF struct pl_buf ours, theirs;
    pl_buf_init(&ours, 0);
    pl_buf_init(&theirs, 0);
    if (w->problem[0])
        return;
    if (w->seen.len != pl_session_n_open_turns(w->session))
        world_fail(w, "a reader has %zu open turns, the session %zu", w->seen.len,
                   pl_session_n_open_turns(w->session));
    for (size_t i = 0; i < w->seen.len; i++) {
        pl_buf_clear(&ours);
        pl_buf_clear(&theirs);
        reader_turn_write(&w->seen.ptr[i], &theirs);
        if (!pl_session_write_turn(w->session, pl_buf_str(&w->seen.ptr[i].id), &ours) ||
            !pl_str_eq(pl_buf_str(&ours), pl_buf_str(&theirs)))
            world_fail(w, "the session has\n%.*s\na reader has\n%.*s",
                       PL_STR_ARG(pl_buf_str(&ours)), PL_STR_ARG(pl_buf_str(&theirs)));
    }
}
