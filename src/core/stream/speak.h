/* Writes an answer by this server as a stream of any dialect. */
#ifndef PL_STREAM_SPEAK_H
#define PL_STREAM_SPEAK_H

#include "stream/stream.h"

/* Output is appended to stream->out, where the caller reads it. */
struct pl_speaker {
    struct pl_stream *stream; /* owned */
    uint32_t n_parts;
    enum pl_part_kind open; /* kind of the last part, if n_parts is not 0 */
    bool has_calls;
};

/* PL_NOMEM. */
enum pl_status pl_speaker_init(struct pl_speaker *speaker, const struct pl_dialect *to);
void pl_speaker_deinit(struct pl_speaker *speaker); /* accepts a zeroed one */

/* Must come first, once. Strings are plain UTF-8. */
void pl_speak_start(struct pl_speaker *speaker, struct pl_str id, struct pl_str model,
                    int64_t created_s);
/* Continues the text or thinking, or starts a new part. */
void pl_speak_text(struct pl_speaker *speaker, bool is_thinking, struct pl_str text);
/* A whole call; the arguments are JSON text. */
void pl_speak_call(struct pl_speaker *speaker, struct pl_str id, struct pl_str name,
                   struct pl_str arguments);
/* One of these must come last. */
void pl_speak_end(struct pl_speaker *speaker, const struct pl_counts *counts);
void pl_speak_error(struct pl_speaker *speaker, struct pl_str message);
/* PL_OK, PL_NOMEM or PL_LIMIT: sticky. */
enum pl_status pl_speaker_status(const struct pl_speaker *speaker);

#endif
