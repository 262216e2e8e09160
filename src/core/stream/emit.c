/* Puts deltas in the order that every writer may rely on: see stream.h. */
#include "stream/stream.h"

#include "json/text.h"

static void write_delta(struct pl_stream *s, const struct pl_delta *delta)
{
    const struct pl_dialect *to = s->to;
    if (s->passes_through || (delta->choice && !to->has_choices))
        return;
    if (!s->is_written && to->write_first)
        to->write_first(s, s->writer, delta);
    s->is_written = true;
    if (to->write[delta->kind])
        to->write[delta->kind](s, s->writer, delta);
}

static void need_start(struct pl_stream *s)
{
    if (s->is_started)
        return;
    s->is_started = true;
    write_delta(s, &(struct pl_delta){.kind = PL_DELTA_START});
}

struct pl_open_part *pl_stream_find(struct pl_stream *s, uint32_t choice, uint32_t key)
{
    for (size_t i = 0; i < s->open.len; i++)
        if (s->open.ptr[i].choice == choice && s->open.ptr[i].key == key)
            return &s->open.ptr[i];
    return NULL;
}

static void write_fragment(struct pl_stream *s, struct pl_open_part *part, struct pl_str raw,
                           struct pl_str logprobs)
{
    struct pl_delta *delta = &s->fragment;
    part->has_fragment = true;
    delta->choice = part->choice;
    delta->part = part->part;
    delta->part_kind = part->kind;
    delta->raw = raw;
    delta->json = logprobs;
    write_delta(s, delta);
}

static void close_at(struct pl_stream *s, size_t i, bool is_cut)
{
    struct pl_open_part *part = &s->open.ptr[i];
    /* Half of a surrogate pair without its other half cannot be written. */
    if (part->n_held)
        write_fragment(s, part, PL_STR("\\ufffd"), (struct pl_str){0});
    write_delta(s, &(struct pl_delta){
                       .kind = PL_DELTA_PART_END,
                       .choice = part->choice,
                       .part = part->part,
                       .part_kind = part->kind,
                       .is_cut = is_cut,
                   });
    s->open.len--;
    memmove(part, part + 1, (s->open.len - i) * sizeof *part);
}

void pl_stream_close(struct pl_stream *s, uint32_t choice, uint32_t key)
{
    const struct pl_open_part *part = pl_stream_find(s, choice, key);
    if (part)
        close_at(s, (size_t)(part - s->open.ptr), false);
}

void pl_stream_cut(struct pl_stream *s, uint32_t choice, uint32_t key)
{
    const struct pl_open_part *part = pl_stream_find(s, choice, key);
    if (part)
        close_at(s, (size_t)(part - s->open.ptr), true);
}

/* Several calls may be open at once; any other part is alone. */
static void close_others(struct pl_stream *s, uint32_t choice, enum pl_part_kind kind)
{
    for (size_t i = 0; i < s->open.len;) {
        bool stays = s->open.ptr[i].choice != choice ||
                     (kind == PL_PART_CALL && s->open.ptr[i].kind == PL_PART_CALL);
        if (stays)
            i++;
        else
            close_at(s, i, false);
    }
}

static void say_own(struct pl_stream *s)
{
    struct pl_stream_own *own = &s->own;
    if (!own->parts.len || s->status != PL_OK)
        return;
    need_start(s);
    write_delta(s, &(struct pl_delta){.kind = PL_DELTA_OTHER, .json = pl_buf_str(&own->parts)});
    pl_buf_clear(&own->parts);
    own->n_open = 0;
}

void pl_stream_take_own(struct pl_stream *s, struct pl_str part, enum pl_own_role role)
{
    if (s->is_ended || !pl_stream_wants_own(s))
        return;
    close_others(s, 0, PL_PART_OTHER);
    pl_stream_keep_own(s, part, role);
    if (!s->own.n_open)
        say_own(s);
}

uint32_t pl_stream_open(struct pl_stream *s, uint32_t choice, uint32_t key,
                        const struct pl_delta *start)
{
    struct pl_open_part *there = pl_stream_find(s, choice, key);
    if (there)
        return there->part;
    need_start(s);
    say_own(s);
    close_others(s, choice, start->part_kind);
    struct pl_open_part part = {
        .choice = choice, .part = s->n_parts++, .key = key, .kind = start->part_kind};
    if (!pl_vec_push(&s->open, part)) {
        s->status = PL_NOMEM;
        return part.part;
    }
    struct pl_delta delta = *start;
    delta.kind = PL_DELTA_PART_START;
    delta.choice = choice;
    delta.part = part.part;
    write_delta(s, &delta);
    return part.part;
}

static struct pl_open_part *part_of(struct pl_stream *s, const struct pl_delta *delta)
{
    for (size_t i = 0; i < s->open.len; i++)
        if (s->open.ptr[i].part == delta->part)
            return &s->open.ptr[i];
    return NULL;
}

static bool is_high_surrogate(const char *escape)
{
    char third = (char)(escape[3] | 0x20);
    return escape[0] == '\\' && escape[1] == 'u' && (escape[2] | 0x20) == 'd' &&
           (third == '8' || third == '9' || third == 'a' || third == 'b');
}

/* Whether the text ends in the first half of a surrogate pair. */
static bool ends_in_half(struct pl_str raw)
{
    if (raw.len < 6 || !is_high_surrogate(raw.ptr + raw.len - 6))
        return false;
    size_t n_before = 0;
    while (n_before < raw.len - 6 && raw.ptr[raw.len - 7 - n_before] == '\\')
        n_before++;
    return n_before % 2 == 0;
}

void pl_stream_say_rated(struct pl_stream *s, struct pl_open_part *part, struct pl_str raw,
                         struct pl_str logprobs)
{
    if (!s->to->has_logprobs)
        logprobs.len = 0;
    if ((!raw.len && !logprobs.len) || s->is_ended || s->status != PL_OK)
        return;
    if (part->n_held) {
        char *joined = pl_arena_alloc(&s->arena, part->n_held + raw.len, 1);
        if (!joined) {
            s->status = PL_NOMEM;
            return;
        }
        memcpy(joined, part->held, part->n_held);
        memcpy(joined + part->n_held, raw.ptr, raw.len);
        raw = (struct pl_str){joined, part->n_held + raw.len};
        part->n_held = 0;
    }
    if (ends_in_half(raw)) {
        raw.len -= 6;
        memcpy(part->held, raw.ptr + raw.len, 6);
        part->n_held = 6;
    }
    if (raw.len || logprobs.len)
        write_fragment(s, part, raw, logprobs);
}

void pl_stream_say(struct pl_stream *s, struct pl_open_part *part, struct pl_str raw)
{
    pl_stream_say_rated(s, part, raw, (struct pl_str){0});
}

static void take_fragment(struct pl_stream *s, const struct pl_delta *delta)
{
    struct pl_open_part *part = part_of(s, delta);
    if (part)
        pl_stream_say_rated(s, part, delta->raw, delta->json);
}

static int64_t later(int64_t before, int64_t now)
{
    return now >= 0 ? now : before;
}

static void merge_counts(struct pl_stream *s, const struct pl_counts *now)
{
    struct pl_counts *c = &s->counts;
    s->has_usage = true;
    *c = (struct pl_counts){
        .input = later(c->input, now->input),
        .output = later(c->output, now->output),
        .total = later(c->total, now->total),
        .cache_read = later(c->cache_read, now->cache_read),
        .cache_write = later(c->cache_write, now->cache_write),
        .reasoning = later(c->reasoning, now->reasoning),
        .tool_input = later(c->tool_input, now->tool_input),
    };
}

/* Copies a string that must outlive its event. */
static void keep(struct pl_stream *s, struct pl_str *text)
{
    size_t at = s->kept.len;
    pl_buf_add(&s->kept, *text);
    if (s->kept.status != PL_OK)
        s->status = PL_NOMEM;
    /* Stores an offset for now: the buffer may move. */
    text->ptr = (const char *)at;
}

static void restore(const struct pl_stream *s, struct pl_str *text)
{
    text->ptr = text->len ? s->kept.ptr + (size_t)text->ptr : NULL;
}

void pl_stream_note_tier(struct pl_stream *s, struct pl_str raw)
{
    if (!raw.len || pl_str_eq(raw, pl_buf_str(&s->tier)))
        return;
    pl_buf_clear(&s->tier);
    pl_buf_add(&s->tier, raw);
    if (s->tier.status != PL_OK)
        s->status = PL_NOMEM;
}

static void hold_stop(struct pl_stream *s, const struct pl_delta *delta)
{
    s->is_stopped = true;
    s->stop = *delta;
    keep(s, &s->stop.word);
    keep(s, &s->stop.stop_sequence);
    keep(s, &s->stop.detail);
}

static void finish(struct pl_stream *s)
{
    need_start(s);
    say_own(s);
    while (s->open.len)
        close_at(s, 0, false);
    if (s->has_usage)
        write_delta(s, &(struct pl_delta){.kind = PL_DELTA_USAGE, .counts = s->counts});
    struct pl_delta stop = s->stop;
    stop.kind = PL_DELTA_STOP;
    stop.counts = s->counts;
    if (s->is_stopped) {
        restore(s, &stop.word);
        restore(s, &stop.stop_sequence);
        restore(s, &stop.detail);
    } else {
        stop.finish = PL_FINISH_STOP;
    }
    write_delta(s, &stop);
    write_delta(s, &(struct pl_delta){.kind = PL_DELTA_END, .finish = stop.finish});
}

void pl_stream_emit(struct pl_stream *s, const struct pl_delta *delta)
{
    if (s->is_ended || s->status != PL_OK)
        return;
    switch (delta->kind) {
    case PL_DELTA_START:
        if (!s->is_started)
            write_delta(s, delta);
        s->is_started = true;
        break;
    case PL_DELTA_FRAGMENT:
        take_fragment(s, delta);
        break;
    case PL_DELTA_USAGE:
        merge_counts(s, &delta->counts);
        break;
    case PL_DELTA_STOP:
        if (delta->choice == 0)
            hold_stop(s, delta);
        else
            write_delta(s, delta);
        break;
    case PL_DELTA_END:
        finish(s);
        s->is_ended = true;
        break;
    case PL_DELTA_ERROR:
        /* Bytes that were passed through are not written again. */
        if (s->from->release && s->from != s->to)
            s->from->release(s, s->reader);
        say_own(s);
        write_delta(s, delta);
        s->is_ended = true;
        break;
    case PL_DELTA_ABOUT:
        if (delta->choice == 0 && s->to->write[PL_DELTA_ABOUT])
            write_delta(s, delta);
        break;
    case PL_DELTA_PART_START:
    case PL_DELTA_PART_END:
        break; /* emitted only by pl_stream_open and pl_stream_close */
    default:
        need_start(s);
        write_delta(s, delta);
    }
}

bool pl_stream_is_home(const struct pl_stream *s, const struct pl_delta *proof)
{
    return proof->home ? proof->home == s->to : s->is_same_vendor;
}

enum pl_status pl_stream_json(struct pl_stream *s, struct pl_str data, struct pl_json_doc *ret_doc,
                              struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    enum pl_status status = pl_json_parse(&s->arena, data, &opts, ret_doc, err);
    if (status == PL_SYNTAX && err) {
        char message[sizeof err->message];
        memcpy(message, err->message, sizeof message);
        return pl_fail(err, status, "an event is not JSON: %.400s", message);
    }
    return status;
}

static bool is_json_framed(const struct pl_stream *s)
{
    return s->from == s->to && s->framing == PL_FRAMING_JSON;
}

void pl_stream_begin_event(struct pl_stream *s, const char *type_or_null)
{
    if (is_json_framed(s)) {
        if (s->has_passed)
            pl_buf_adds(&s->out, s->is_array ? ",\n" : "\n");
        else if (s->is_array)
            pl_buf_addc(&s->out, '[');
        return;
    }
    if (type_or_null) {
        pl_buf_adds(&s->out, "event: ");
        pl_buf_adds(&s->out, type_or_null);
        pl_buf_addc(&s->out, '\n');
    }
    pl_buf_adds(&s->out, "data: ");
}

void pl_stream_end_event(struct pl_stream *s)
{
    pl_buf_adds(&s->out, !is_json_framed(s) ? "\n\n" : s->is_array ? "\n]\n" : "\n");
}

void pl_stream_put_json(struct pl_stream *s, struct pl_buf *to, struct pl_str json)
{
    struct pl_json_doc doc;
    if (pl_stream_json(s, json, &doc, NULL) == PL_OK)
        pl_json_write_min(to, &doc, doc.root);
    else
        s->status = PL_NOMEM; /* it parsed before: memory ran out */
}

uint64_t pl_stream_count_points(struct pl_str raw)
{
    uint64_t n = 0;
    if (raw.len && memchr(raw.ptr, '\\', raw.len)) {
        struct pl_json_walk walk = {.at = raw.ptr, .end = raw.ptr + raw.len};
        for (int byte; (byte = pl_json_walk_next(&walk)) >= 0;)
            n += (byte & 0xC0) != 0x80;
        return n;
    }
    for (size_t i = 0; i < raw.len; i++)
        n += ((unsigned char)raw.ptr[i] & 0xC0) != 0x80;
    return n;
}

void pl_stream_put_string(struct pl_stream *s, struct pl_str raw)
{
    pl_buf_addc(&s->out, '"');
    pl_buf_add(&s->out, raw);
    pl_buf_addc(&s->out, '"');
}

void pl_stream_add_created(const struct pl_stream *s, struct pl_buf *to,
                           const struct pl_delta *start)
{
    if (start->created.len)
        pl_buf_add(to, start->created);
    else
        pl_buf_addf(to, "%lld", (long long)s->made_s);
}
