/* openai-chat streams: reading tool calls, and content that comes between them.
 *
 * Chunks identify a tool call by its index and never mark its end. Its arguments show the end: once
 * their JSON text is complete, the next thing that starts closes the call, so consecutive calls are
 * emitted one after the other. Content that comes while a call is incomplete waits for it. Servers
 * that give no index or no id, or a new id under an old index, are supported. If the name of a call
 * comes after its first arguments, the arguments wait for it. */
#include "stream/openai_chat/openai_chat_int.h"

#include "base/hash.h"
#include "json/text.h"
#include "stream/pick.h"

/* Far more than any model calls at once; each open call is checked for every piece. */
enum { MAX_OPEN_CALLS = 256 };

/* Limit for arguments that wait for the name of their call. */
enum { MAX_WAITING_BYTES = 16 << 20 };

/* The legacy function_call has no index; no tool call has this one. */
#define LEGACY_INDEX INT64_MAX

static void emit_fragment(struct pl_chat_in *in, uint32_t part, struct pl_str raw)
{
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_FRAGMENT,
                              .choice = in->choice,
                              .part = part,
                              .raw = raw,
                          });
}

/* ---- calls ---- */

static bool is_whole(const struct pl_chat_open_call *call)
{
    return call->is_custom || (call->has_args && call->depth <= 0 && !call->is_in_string);
}

static void follow_byte(struct pl_chat_open_call *call, char c)
{
    if (call->is_in_string) {
        if (call->is_escaped)
            call->is_escaped = false;
        else if (c == '\\')
            call->is_escaped = true;
        else if (c == '"')
            call->is_in_string = false;
        return;
    }
    call->has_args |= c != ' ' && c != '\n' && c != '\r' && c != '\t';
    call->is_in_string = c == '"';
    call->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
}

/* A hash of bytes that come in pieces (FNV-1a). */
static uint64_t hash_on(uint64_t hash, struct pl_str raw)
{
    for (size_t i = 0; i < raw.len; i++)
        hash = (hash ^ (uint8_t)raw.ptr[i]) * 0x100000001b3;
    return hash;
}

/* Scans the arguments for the end of their JSON text. */
static void follow_args(struct pl_chat_in *in, struct pl_chat_open_call *call, struct pl_str raw)
{
    call->args = hash_on(call->args, raw);
    if (raw.len && memchr(raw.ptr, '\\', raw.len)) {
        char *text = pl_arena_alloc(&in->s->arena, raw.len, 1);
        if (!text) {
            in->s->status = PL_NOMEM;
            return;
        }
        raw = (struct pl_str){text, pl_json_decode(text, raw)};
    }
    for (size_t i = 0; i < raw.len; i++)
        follow_byte(call, raw.ptr[i]);
}

void pl_chat_deinit_call(struct pl_chat_open_call *call)
{
    pl_buf_deinit(&call->words);
    pl_buf_deinit(&call->call_id);
}

enum pl_status pl_chat_check_calls(const struct pl_chat_in *in)
{
    for (size_t i = 0; i < in->r->calls.len; i++) {
        const struct pl_chat_open_call *call = &in->r->calls.ptr[i];
        if (call->is_nameless)
            return pl_fail(in->err, PL_INVALID, "tool call %lld has arguments, but no name",
                           (long long)call->index);
        if (!in->s->is_stopped && call->has_args && !is_whole(call) && !in->s->passes_through)
            return pl_fail(in->err, PL_INVALID,
                           "the stream ended before the arguments of tool call %lld were complete",
                           (long long)call->index);
    }
    return PL_OK;
}

static void close_call(struct pl_chat_in *in, size_t i)
{
    struct pl_chat_reader *r = in->r;
    struct pl_chat_open_call *call = &r->calls.ptr[i];
    if (call->index >= 0 && call->index < 64)
        r->closed |= (uint64_t)1 << call->index;
    const struct pl_open_part *part = pl_stream_find(in->s, call->choice, call->key);
    if (part && !call->has_args && !call->is_custom)
        emit_fragment(in, part->part, PL_STR("{}"));
    pl_stream_close(in->s, call->choice, call->key);
    pl_chat_deinit_call(call);
    r->calls.len--;
    memmove(call, call + 1, (r->calls.len - i) * sizeof *call);
}

void pl_chat_say_now(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw)
{
    if (kind == PL_PART_OTHER) {
        if (!in->choice)
            pl_stream_take_own(in->s, raw, PL_OWN_ALONE);
        return;
    }
    uint32_t key = PL_CHAT_KEY_OF(kind);
    struct pl_open_part *part = pl_stream_find(in->s, in->choice, key);
    if (!part) {
        pl_stream_open(in->s, in->choice, key, &(struct pl_delta){.part_kind = kind});
        part = pl_stream_find(in->s, in->choice, key);
    }
    if (part && kind == PL_PART_TEXT) {
        pl_stream_say_rated(in->s, part, raw, in->logprobs);
        in->logprobs.len = 0;
    } else if (part) {
        pl_stream_say(in->s, part, raw);
    }
    if (in->r->early.len && kind == PL_PART_TEXT)
        pl_chat_say_early(in);
}

static void say_held(struct pl_chat_in *in)
{
    struct pl_chat_reader *r = in->r;
    uint32_t choice = in->choice;
    size_t at = 0;
    for (size_t i = 0; i < r->runs.len; i++) {
        const struct pl_chat_run *run = &r->runs.ptr[i];
        in->choice = run->choice;
        pl_chat_say_now(in, run->kind, (struct pl_str){r->held.ptr + at, run->len});
        at += run->len;
    }
    in->choice = choice;
    r->runs.len = 0;
    pl_buf_clear(&r->held);
}

void pl_chat_settle(struct pl_chat_in *in, bool is_end)
{
    if (!in->r->calls.len)
        return;
    for (size_t i = 0; i < in->r->calls.len;) {
        const struct pl_chat_open_call *call = &in->r->calls.ptr[i];
        if (is_end || (is_whole(call) && !call->is_nameless))
            close_call(in, i);
        else
            i++;
    }
    if (!in->r->calls.len && in->r->runs.len)
        say_held(in);
}

void pl_chat_release(struct pl_stream *s, void *state)
{
    struct pl_chat_in in = {.s = s, .r = state};
    struct pl_chat_reader *r = in.r;
    for (size_t i = 0; i < r->calls.len;) {
        const struct pl_chat_open_call *call = &r->calls.ptr[i];
        /* The end of free text is not marked. */
        if (is_whole(call) && !call->is_custom && !call->is_nameless)
            close_call(&in, i);
        else
            i++;
    }
    if (!r->runs.len)
        return;
    for (size_t i = 0; i < r->calls.len; i++) {
        pl_stream_cut(s, r->calls.ptr[i].choice, r->calls.ptr[i].key);
        pl_chat_deinit_call(&r->calls.ptr[i]);
    }
    r->calls.len = 0;
    say_held(&in);
}

static void hold(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw)
{
    struct pl_chat_reader *r = in->r;
    if (!r->held.max)
        pl_buf_init(&r->held, 0);
    struct pl_chat_run *last = r->runs.len ? &r->runs.ptr[r->runs.len - 1] : NULL;
    pl_buf_add(&r->held, raw);
    if (r->held.status != PL_OK)
        in->s->status = PL_NOMEM;
    else if (last && last->choice == in->choice && last->kind == kind && kind != PL_PART_OTHER)
        last->len += raw.len;
    else if (!pl_vec_push(&r->runs, (struct pl_chat_run){in->choice, kind, raw.len}))
        in->s->status = PL_NOMEM;
}

void pl_chat_say(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw)
{
    if (!raw.len)
        return;
    pl_chat_settle(in, false);
    if (in->r->calls.len)
        hold(in, kind, raw);
    else
        pl_chat_say_now(in, kind, raw);
}

/* The members of one entry of tool_calls. */
struct piece {
    int64_t index;
    uint64_t id_hash, name_hash; /* 0: none */
    bool is_custom;
    struct pl_str id, name, args, signature;
};

/* Finds the call that an entry continues. A different id under the same index starts another call,
 * and so does, without an id, a name with arguments or another name after complete arguments. An entry without index continues the
 * call with its id or, without id, the latest call. */
static struct pl_chat_open_call *find_call(struct pl_chat_in *in, const struct piece *piece)
{
    for (size_t i = in->r->calls.len; i-- > 0;) {
        struct pl_chat_open_call *call = &in->r->calls.ptr[i];
        bool is_other_id = piece->id_hash && call->id && piece->id_hash != call->id;
        bool is_it =
            piece->index >= 0 ? call->index == piece->index : piece->id_hash || !piece->name.len;
        bool is_new = piece->args.len || call->name != piece->name_hash;
        bool is_again =
            !piece->id_hash && piece->name.len && is_new && is_whole(call) && !call->is_nameless;
        if (call->choice == in->choice && is_it && !is_other_id && !is_again)
            return call;
    }
    return NULL;
}

/* Opens a call, now that its name is known. */
static void open_call(struct pl_chat_in *in, const struct pl_chat_open_call *call,
                      const struct piece *piece)
{
    pl_stream_open(in->s, call->choice, call->key,
                   &(struct pl_delta){
                       .part_kind = PL_PART_CALL,
                       .id = piece->id.len ? piece->id : pl_buf_str(&call->call_id),
                       .name = piece->name,
                       .is_custom = piece->is_custom,
                   });
}

static enum pl_status start_call(struct pl_chat_in *in, const struct piece *piece)
{
    struct pl_chat_reader *r = in->r;
    pl_chat_settle(in, false);
    if (r->calls.len == MAX_OPEN_CALLS)
        return pl_fail(in->err, PL_LIMIT, "more than %d tool calls with incomplete arguments",
                       MAX_OPEN_CALLS);
    struct pl_chat_open_call call = {
        .choice = in->choice,
        .key = r->n_calls++,
        .index = piece->index,
        .id = piece->id_hash,
        .name = piece->name_hash,
        .is_custom = piece->is_custom,
        .is_nameless = !piece->name.len,
    };
    pl_buf_init(&call.words, MAX_WAITING_BYTES);
    pl_buf_init(&call.call_id, 0);
    if (!pl_vec_push(&r->calls, call))
        return PL_NOMEM;
    if (!call.is_nameless) {
        open_call(in, &call, piece);
        pl_chat_sign_call(in, &call);
    }
    return PL_OK;
}

/* Keeps arguments of a call without a name; they are emitted once it has one. */
static enum pl_status wait_for_name(struct pl_chat_in *in, struct pl_chat_open_call *call,
                                    const struct piece *piece)
{
    follow_args(in, call, piece->args);
    pl_buf_add(&call->words, piece->args);
    if (!call->call_id.len)
        pl_buf_add(&call->call_id, piece->id);
    if (call->words.status == PL_LIMIT)
        return pl_fail(in->err, PL_LIMIT,
                       "tool call %lld has more than %d MiB of arguments before its name",
                       (long long)call->index, MAX_WAITING_BYTES >> 20);
    if (call->words.status != PL_OK || call->call_id.status != PL_OK)
        return PL_NOMEM;
    pl_repeat_spoil(&in->s->repeat);
    if (!piece->name.len)
        return in->s->status;
    call->is_nameless = false;
    call->name = piece->name_hash;
    open_call(in, call, piece);
    struct pl_open_part *part = pl_stream_find(in->s, call->choice, call->key);
    if (part)
        pl_stream_say(in->s, part, pl_buf_str(&call->words));
    return in->s->status;
}

static bool is_blank(struct pl_str raw)
{
    for (size_t i = 0; i < raw.len; i++)
        if (raw.ptr[i] != ' ')
            return false;
    return true;
}

/* An entry that only continues a call may be followed by others like it. */
static void offer_args(struct pl_chat_in *in, const struct pl_chat_open_call *call,
                       const struct piece *piece)
{
    bool is_args = !piece->id_hash && !piece->name.len && !piece->signature.len;
    if (!is_args || piece->index == LEGACY_INDEX)
        pl_repeat_spoil(&in->s->repeat);
    else
        pl_repeat_offer_words(&in->s->repeat, piece->args,
                              (struct pl_repeat_of){.choice = in->choice,
                                                    .key = call->key,
                                                    .kind = PL_PART_CALL,
                                                    .piece = (uint64_t)piece->index});
}

bool pl_chat_take_args_again(struct pl_chat_in *in)
{
    const struct pl_repeat *repeat = &in->s->repeat;
    in->choice = repeat->of.choice;
    struct pl_chat_open_call *call =
        find_call(in, &(struct piece){.index = (int64_t)repeat->of.piece, .args = repeat->words});
    struct pl_open_part *part =
        call && call->key == repeat->of.key ? pl_stream_find(in->s, call->choice, call->key) : NULL;
    if (!part)
        return false;
    follow_args(in, call, repeat->words);
    pl_stream_say(in->s, part, repeat->words);
    return true;
}

/* Whether an entry says a complete call once more. */
static bool is_repetition(const struct pl_chat_open_call *call, const struct piece *piece)
{
    return piece->id_hash && piece->id_hash == call->id && piece->name.len && call->has_args &&
           !call->is_custom && is_whole(call) && hash_on(0, piece->args) == call->args;
}

static enum pl_status take_piece(struct pl_chat_in *in, const struct piece *piece)
{
    struct pl_chat_open_call *call = find_call(in, piece);
    bool was_closed = piece->index >= 0 && piece->index < 64 && (in->r->closed >> piece->index & 1);
    if (!call && !piece->name.len && is_blank(piece->args) && (was_closed || !piece->id.len)) {
        pl_repeat_spoil(&in->s->repeat);
        return PL_OK;
    }
    if (!call && !piece->name.len && was_closed) {
        return pl_fail(in->err, PL_INVALID,
                       "arguments for tool call %lld, which is not open: the first entry of a call "
                       "must have its name, and its arguments end with their JSON text",
                       (long long)piece->index);
    }
    if (!call) {
        enum pl_status status = start_call(in, piece);
        if (status != PL_OK)
            return status;
        call = &in->r->calls.ptr[in->r->calls.len - 1];
    }
    if (call->is_nameless)
        return wait_for_name(in, call, piece);
    if (piece->name_hash && piece->name_hash != call->name && !in->s->passes_through)
        return pl_fail(in->err, PL_INVALID, "tool call %lld has two names", (long long)call->index);
    if (is_repetition(call, piece)) {
        pl_repeat_spoil(&in->s->repeat);
        return PL_OK;
    }
    struct pl_open_part *part = pl_stream_find(in->s, call->choice, call->key);
    if (!part)
        return in->s->status;
    uint32_t number = part->part;
    if (piece->args.len) {
        follow_args(in, call, piece->args);
        pl_stream_say(in->s, part, piece->args);
    }
    offer_args(in, call, piece);
    if (piece->signature.len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_SIGNATURE,
                                  .choice = in->choice,
                                  .part = number,
                                  .part_kind = PL_PART_CALL,
                                  .raw = piece->signature,
                              });
    return PL_OK;
}

/* Some servers send the arguments as an object instead of its text. */
static struct pl_str args_of(struct pl_chat_in *in, const struct pl_json_node *args)
{
    if (!pl_json_is(args, PL_JSON_OBJECT))
        return pl_pick_raw(&in->doc, args);
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_json_span(&in->doc, args));
    struct pl_str raw = {0};
    if (quoted.status == PL_OK)
        raw = pl_arena_dup(&in->s->arena, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
    if (!raw.len)
        in->s->status = PL_NOMEM;
    return raw;
}

static enum pl_status check_args(const struct pl_chat_in *in, const struct pl_json_node *args)
{
    bool is_known = !args || pl_json_is(args, PL_JSON_STRING) || pl_json_is(args, PL_JSON_OBJECT);
    if (is_known || in->s->passes_through)
        return PL_OK;
    return pl_fail(in->err, PL_INVALID, "the arguments of a tool call must be a string, not %s",
                   pl_json_kind_name(pl_json_kind(args)));
}

/* Google's compatible server: extra_content.google.thought_signature. */
static struct pl_str signature_of(const struct pl_chat_in *in, const struct pl_json_node *extra)
{
    static const struct pl_str google = {"google", 6};
    static const struct pl_str signature = {"thought_signature", 17};
    const struct pl_json_node *node;
    pl_pick(&in->doc, extra, &google, 1, &node);
    pl_pick(&in->doc, node, &signature, 1, &node);
    return pl_pick_raw(&in->doc, node);
}

enum { INDEX, ID, FUNCTION, CUSTOM, EXTRA, ENTRY_COUNT };
static const struct pl_str entry_names[] = {
    [INDEX] = {"index", 5},          [ID] = {"id", 2},
    [FUNCTION] = {"function", 8},    [CUSTOM] = {"custom", 6},
    [EXTRA] = {"extra_content", 13},
};

enum { NAME, ARGUMENTS, INPUT, BODY_COUNT };
static const struct pl_str body_names[] = {
    [NAME] = {"name", 4}, [ARGUMENTS] = {"arguments", 9}, [INPUT] = {"input", 5}};

enum pl_status pl_chat_take_calls(struct pl_chat_in *in, const struct pl_json_node *calls)
{
    enum pl_status status = PL_OK;
    if (!pl_json_is(calls, PL_JSON_ARRAY))
        return status;
    for (const struct pl_json_node *n = pl_json_first(calls), *end = pl_json_end(calls);
         n < end && status == PL_OK; n = pl_json_next(n)) {
        const struct pl_json_node *entry[ENTRY_COUNT], *body[BODY_COUNT];
        pl_pick(&in->doc, n, entry_names, ENTRY_COUNT, entry);
        pl_pick(&in->doc, entry[CUSTOM], body_names, BODY_COUNT, body);
        /* Some servers fill in the other kind with empty texts. */
        bool is_custom = pl_pick_raw(&in->doc, body[NAME]).len ||
                         pl_pick_raw(&in->doc, body[INPUT]).len ||
                         (entry[CUSTOM] && !entry[FUNCTION]);
        if (!is_custom)
            pl_pick(&in->doc, entry[FUNCTION], body_names, BODY_COUNT, body);
        struct piece piece = {
            .index = pl_pick_count(&in->doc, entry[INDEX]),
            .is_custom = is_custom,
            .id = pl_pick_raw(&in->doc, entry[ID]),
            .name = pl_pick_raw(&in->doc, body[NAME]),
            .args = args_of(in, body[is_custom ? INPUT : ARGUMENTS]),
            .signature = signature_of(in, entry[EXTRA]),
        };
        if (piece.id.len)
            piece.id_hash = pl_hash(piece.id) | 1;
        if (piece.name.len)
            piece.name_hash = pl_hash(piece.name) | 1;
        status = check_args(in, body[is_custom ? INPUT : ARGUMENTS]);
        if (status == PL_OK)
            status = take_piece(in, &piece);
    }
    return status;
}

/* The legacy form: one call, without index and id. */
enum pl_status pl_chat_take_function_call(struct pl_chat_in *in, const struct pl_json_node *n)
{
    const struct pl_json_node *body[BODY_COUNT];
    if (!n)
        return PL_OK;
    pl_pick(&in->doc, n, body_names, BODY_COUNT, body);
    struct pl_str name = pl_pick_raw(&in->doc, body[NAME]);
    enum pl_status status = check_args(in, body[ARGUMENTS]);
    if (status != PL_OK)
        return status;
    return take_piece(in, &(struct piece){
                              .index = LEGACY_INDEX,
                              .name = name,
                              .name_hash = name.len ? pl_hash(name) | 1 : 0,
                              .args = args_of(in, body[ARGUMENTS]),
                          });
}
