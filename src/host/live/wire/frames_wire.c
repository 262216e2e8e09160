/* letter: session, epoch, first, is_resync, is_gone, list
 * frame:  kind, is_durable, sequence, data, whole
 * The list of a letter is one field, so that fields can be added after it. */
#include "live/wire/frames_wire.h"

static const char *const frame_names[] = {
#define X(name, text, is_durable) [PL_FRAME_##name] = (text),
    PL_FRAME_TABLE(X)
#undef X
};
static const struct pl_wire_words frame_kinds = PL_WIRE_WORDS(frame_names);

static const struct pl_wire_field frame_fields[] = {
    PL_WIRE_ENUM(pl_session_frame, kind, frame_kinds),
    PL_WIRE(FLAG, pl_session_frame, is_durable),
    PL_WIRE(NUMBER, pl_session_frame, sequence),
    PL_WIRE(TEXT, pl_session_frame, data),
    PL_WIRE(TEXT, pl_session_frame, whole),
    {0},
};

/* --- lists ----------------------------------------------------------------------------------- */

void pl_frames_wire_add(struct pl_buf *to, const struct pl_session_frame *frame)
{
    /* Cannot be PL_INVALID: the table above has a word for every kind. */
    if (pl_wire_put(to, frame_fields, frame, NULL) != PL_OK && to->status == PL_OK)
        to->status = PL_INVALID;
}

/* The number of frames in the list, without checking them. */
static size_t count_list(struct pl_str list)
{
    size_t n = 0;
    struct pl_node_fields fields = pl_node_fields_of(list);
    while (pl_node_fields_has_more(&fields)) {
        (void)pl_node_fields_bytes(&fields);
        n++;
    }
    return n;
}

enum pl_status pl_frames_wire_read_list(struct pl_str list, struct pl_arena *arena,
                                        struct pl_session_frame **ret_frames, size_t *ret_n,
                                        struct pl_error *err)
{
    size_t n = count_list(list);
    struct pl_session_frame *frames = n ? pl_arena_zalloc(arena, n, sizeof *frames) : NULL;
    struct pl_node_fields fields = pl_node_fields_of(list);
    if (n && !frames)
        return pl_fail(err, PL_NOMEM, "There is not enough memory for this.");
    for (size_t i = 0; i < n; i++) {
        enum pl_status status = pl_wire_take(&fields, frame_fields, &frames[i], err);
        if (status == PL_SYNTAX || (status == PL_OK && !frames[i].data.ptr))
            return pl_wire_fail_syntax(err);
        if (status != PL_OK)
            return status;
    }
    *ret_frames = frames;
    *ret_n = n;
    return PL_OK;
}

bool pl_frames_fit(const struct pl_session_frame *frames, size_t n, enum pl_lane lane)
{
    for (size_t i = 0; i < n && pl_lane_is_whole(lane); i++)
        if (frames[i].kind == PL_FRAME_TURN_PATCH && !frames[i].whole.len)
            return false;
    return true;
}

void pl_frames_spell(const struct pl_session_frame *frames, size_t n, enum pl_lane lane,
                     int64_t epoch, struct pl_buf *to)
{
    for (size_t i = 0; i < n; i++) {
        bool is_whole = pl_lane_is_whole(lane) && frames[i].whole.len;
        pl_encode_event(to, lane, pl_frame_text(frames[i].kind),
                        is_whole ? frames[i].whole : frames[i].data, epoch, frames[i].sequence);
    }
}

/* --- letters --------------------------------------------------------------------------------- */

static bool has_gap(const struct pl_frames_letter *letter)
{
    int64_t next = letter->first;
    for (size_t i = 0; i < letter->n_frames; i++) {
        if (letter->frames[i].sequence != next || next == INT64_MAX)
            return true;
        next++;
    }
    return false;
}

static bool is_whole(const struct pl_frames_letter *letter)
{
    return letter->is_resync ? !letter->n_frames
                             : letter->n_frames && !letter->is_gone && !has_gap(letter);
}

static void write_letter(const struct pl_frames_letter *letter, bool is_resync, struct pl_buf *to)
{
    pl_node_fields_put_bytes(to, letter->session_id);
    pl_node_fields_put_number(to, letter->epoch);
    pl_node_fields_put_number(to, letter->first);
    pl_node_fields_put_number(to, is_resync);
    pl_node_fields_put_number(to, letter->is_gone);
    size_t at = pl_wire_open(to);
    for (size_t i = 0; i < letter->n_frames && !is_resync; i++)
        pl_frames_wire_add(to, &letter->frames[i]);
    pl_wire_close(to, at);
}

/* The size of the data alone can show that it is too much, before anything is written. */
static bool is_too_much(const struct pl_frames_letter *letter)
{
    size_t n_left = PL_FRAMES_WIRE_MAX;
    for (size_t i = 0; i < letter->n_frames; i++) {
        const struct pl_session_frame *frame = &letter->frames[i];
        if (frame->data.len > n_left || frame->whole.len > n_left - frame->data.len)
            return true;
        n_left -= frame->data.len + frame->whole.len;
    }
    return false;
}

enum pl_status pl_frames_wire_write(const struct pl_frames_letter *letter, struct pl_buf *to,
                                    struct pl_error *err)
{
    size_t at = to->len;
    if (!is_whole(letter))
        return pl_fail(err, PL_INVALID, "Events for another server have a gap.");
    if (letter->session_id.len > PL_FRAMES_WIRE_MAX / 2)
        return pl_fail(err, PL_LIMIT, "The id of a session is too long.");
    bool is_resync = letter->is_resync || is_too_much(letter);
    write_letter(letter, is_resync, to);
    if (to->status == PL_OK && to->len - at > PL_FRAMES_WIRE_MAX) {
        to->len = at;
        write_letter(letter, true, to);
    }
    if (to->status != PL_OK)
        to->len = at;
    return to->status;
}

enum pl_status pl_frames_wire_read(struct pl_str bytes, struct pl_arena *arena,
                                   struct pl_frames_letter *ret_letter, struct pl_error *err)
{
    struct pl_node_fields fields = pl_node_fields_of(bytes);
    struct pl_frames_letter letter = {.session_id = pl_node_fields_bytes(&fields)};
    letter.epoch = pl_node_fields_number(&fields);
    letter.first = pl_node_fields_number(&fields);
    letter.is_resync = pl_wire_take_flag(&fields);
    letter.is_gone = pl_wire_take_flag(&fields);
    struct pl_str list = pl_node_fields_bytes(&fields);
    if (fields.status != PL_OK)
        return pl_wire_fail_syntax(err);
    enum pl_status status =
        pl_frames_wire_read_list(list, arena, &letter.frames, &letter.n_frames, err);
    if (status == PL_OK && !is_whole(&letter))
        return pl_wire_fail_syntax(err);
    if (status == PL_OK)
        *ret_letter = letter;
    return status;
}
