/* What was said, in short. Two ways: the first words of each turn, which needs nobody and is worth
 * little; and the request by which a model writes a summary that can be gone on from. */
#ifndef PL_SERVER_SUMMARY_H
#define PL_SERVER_SUMMARY_H

#include "base/arena.h"
#include "base/buf.h"

/* The first words of each turn; the newest are kept when it gets long. `context` is a JSON array of
 * TurnProjection, of which n_turns are told. Appends plain text. */
enum pl_status pl_summary_write(struct pl_arena *arena, struct pl_str context, int64_t n_turns,
                                struct pl_buf *to, struct pl_error *err);

/* The request: appends a JSON array of two turns, what the writer of a summary is and the
 * conversation as a text of at most max_bytes. As one text, so that every model takes it, whatever
 * tools and thoughts are in it; where it is too long, the middle is left out. */
enum pl_status pl_summary_ask(struct pl_arena *arena, struct pl_str context, size_t max_bytes,
                              struct pl_buf *to, struct pl_error *err);

#endif
