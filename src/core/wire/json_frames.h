/* Finds whole JSON objects in bytes that may be split anywhere: objects one after another, one per
 * line, or the elements of one array. Only strings and brackets are checked; errors inside an
 * object are found when it is parsed. */
#ifndef PL_WIRE_JSON_FRAMES_H
#define PL_WIRE_JSON_FRAMES_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

struct pl_json_frames {
    struct pl_buf object; /* the beginning of an incomplete object */
    struct pl_str input;  /* unread; borrowed from the last feed */
    uint32_t depth;       /* open brackets, including the object's own */
    bool is_in_string, is_escaped;
    bool is_given; /* the object in the buffer was returned */
};

/* max_bytes caps one object (0: no cap). */
void pl_json_frames_init(struct pl_json_frames *frames, size_t max_bytes);
void pl_json_frames_deinit(struct pl_json_frames *frames);
void pl_json_frames_feed(struct pl_json_frames *frames, struct pl_str bytes);

/* The next whole object, valid until the next call. PL_NOT_FOUND: more bytes are needed. PL_SYNTAX:
 * something other than an object or the brackets and commas between objects. */
enum pl_status pl_json_frames_next(struct pl_json_frames *frames, struct pl_str *ret_object);

/* Skips bytes between objects; then whether `input` begins with an object, so that a caller that
 * knows its length may take it from there. */
bool pl_json_frames_is_at_object(struct pl_json_frames *frames);

/* Whether an object has begun and not ended. */
bool pl_json_frames_is_open(const struct pl_json_frames *frames);

#endif
