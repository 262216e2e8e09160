/* A session with the environment that a host would be: a clock, deterministic ids, a shelf that
 * stores the rows, and a reader that sees only frames. Every step is checked with the guarantees of
 * docs/internals/session.md; `problem` has the first violation. */
#ifndef PL_TESTS_SESSION_WORLD_H
#define PL_TESTS_SESSION_WORLD_H

#include "session/session.h"

struct reader_block {
    struct pl_buf type, text, content; /* content: JSON; text where the content is one */
    bool is_text;
    struct pl_buf ids; /* the members after the content, as they are spelled */
};

struct reader_call {
    struct pl_buf id, tool_name, display_name, arguments, status, result, duration, ref; /* JSON */
    bool is_client;
};

struct reader_turn {
    struct pl_buf id;         /* turn_id, decoded */
    struct pl_buf head, tail; /* JSON before `status` and from `model` on */
    struct pl_buf status;     /* decoded */
    bool is_terminal;
    PL_VEC(struct reader_block) blocks;
    PL_VEC(struct reader_call) calls;
};

struct shelf_turn {
    struct pl_arena arena;
    struct pl_turn_row row;
    struct pl_buf last; /* the last projection of a terminal turn */
};

struct shelf_question {
    struct pl_arena arena;
    struct pl_question_row row;
};

struct shelf_queued {
    struct pl_arena arena;
    struct pl_queued_row row;
};

struct world {
    struct pl_session *session;
    struct pl_session_out out;
    struct pl_error err;
    struct pl_id_seed seed;
    uint64_t n_steps;
    char problem[2048]; /* "": no violation */

    struct pl_arena record_arena, settings_arena;
    struct pl_session_record record;
    struct pl_session_record settings; /* system_prompt, settings, tools, handoff */
    PL_VEC(struct shelf_turn) turns;
    PL_VEC(struct shelf_question) questions;
    PL_VEC(struct shelf_queued) queue;

    PL_VEC(struct reader_turn) seen; /* open turns only, and those that ended in this step */
    int64_t last_sequence;
    bool is_chatting;
    enum pl_session_status status;
    bool keeps_terminal; /* the shelf keeps ended turns, with their last projection */
};

void world_init(struct world *world, const struct pl_session_record *record, int64_t now_ms);
void world_deinit(struct world *world);
/* Applies an event (seed and time are the world's), stores the rows, reads the frames, checks. */
enum pl_status world_apply(struct world *world, struct pl_session_event *event);
/* Drops the session and loads it from the shelf. */
void world_reload(struct world *world);
/* Loads a second session from the shelf and compares the views of both. */
void world_compare_loaded(struct world *world);

/* reader.c */
void reader_read(struct world *world, const struct pl_session_frame *frame);
/* Compares the reader's turns with those of the session, byte for byte. */
void reader_compare(struct world *world);
void reader_forget(struct world *world);
void reader_turn_deinit(struct reader_turn *turn);
void reader_turn_write(const struct reader_turn *turn, struct pl_buf *to);

void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
