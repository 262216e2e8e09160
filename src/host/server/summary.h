/* What was said, in short: the first words of each turn. The newest are kept when it gets long. */
#ifndef PL_SERVER_SUMMARY_H
#define PL_SERVER_SUMMARY_H

#include "base/arena.h"
#include "base/buf.h"

/* `context` is a JSON array of TurnProjection, of which n_turns are told. Appends plain text. */
enum pl_status pl_summary_write(struct pl_arena *arena, struct pl_str context, int64_t n_turns,
                                struct pl_buf *to, struct pl_error *err);

#endif
