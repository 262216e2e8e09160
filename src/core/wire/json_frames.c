/* Scans brackets and strings, and returns an object when its last bracket closes. */
#include "wire/json_frames.h"

void pl_json_frames_init(struct pl_json_frames *frames, size_t max_bytes)
{
    *frames = (struct pl_json_frames){0};
    pl_buf_init(&frames->object, max_bytes);
}

void pl_json_frames_deinit(struct pl_json_frames *frames)
{
    pl_buf_deinit(&frames->object);
}

void pl_json_frames_feed(struct pl_json_frames *frames, struct pl_str bytes)
{
    frames->input = bytes;
}

bool pl_json_frames_is_open(const struct pl_json_frames *frames)
{
    return frames->depth > 0;
}

/* Bytes that the scanner acts on. */
static const bool means_something[256] = {
    ['"'] = true, ['\\'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true,
};

/* Number of bytes up to the object's end, or all; keeps the state. */
static size_t scan(struct pl_json_frames *frames, struct pl_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!means_something[(unsigned char)c] && !frames->is_escaped)
            continue;
        if (frames->is_escaped)
            frames->is_escaped = false;
        else if (frames->is_in_string && c == '\\')
            frames->is_escaped = true;
        else if (c == '"')
            frames->is_in_string = !frames->is_in_string;
        else if (!frames->is_in_string && (c == '{' || c == '['))
            frames->depth++;
        else if (!frames->is_in_string && (c == '}' || c == ']') && --frames->depth == 0)
            return i + 1;
    }
    return s.len;
}

static struct pl_str take(struct pl_json_frames *frames, size_t n)
{
    struct pl_str piece = pl_str_slice(frames->input, 0, n);
    frames->input = pl_str_slice(frames->input, n, frames->input.len);
    return piece;
}

/* Skips bytes allowed between objects: white space, and the brackets and commas of an array. */
static enum pl_status skip_between(struct pl_json_frames *frames)
{
    size_t n = 0;
    while (n < frames->input.len && strchr(" \t\r\n[],", frames->input.ptr[n]) &&
           frames->input.ptr[n])
        n++;
    take(frames, n);
    if (!frames->input.len)
        return PL_NOT_FOUND;
    return frames->input.ptr[0] == '{' ? PL_OK : PL_SYNTAX;
}

bool pl_json_frames_is_at_object(struct pl_json_frames *frames)
{
    return frames->depth == 0 && skip_between(frames) == PL_OK;
}

enum pl_status pl_json_frames_next(struct pl_json_frames *frames, struct pl_str *ret_object)
{
    if (frames->is_given) {
        frames->object.len = 0;
        frames->is_given = false;
    }
    if (frames->depth == 0) {
        enum pl_status status = skip_between(frames);
        if (status != PL_OK)
            return status;
    }
    struct pl_str piece = take(frames, scan(frames, frames->input));
    bool is_whole = frames->depth == 0;
    if (is_whole && frames->object.len == 0) {
        *ret_object = piece;
        return PL_OK;
    }
    pl_buf_add(&frames->object, piece);
    if (frames->object.status != PL_OK)
        return frames->object.status;
    if (!is_whole)
        return PL_NOT_FOUND;
    *ret_object = pl_buf_str(&frames->object);
    frames->is_given = true;
    return PL_OK;
}
