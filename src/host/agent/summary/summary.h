/* Summaries. There are two kinds: the first words of each turn, which needs no model and is of
 * little use; and the request with which a model writes a summary from which work can continue. */
#ifndef PL_AGENT_CONTEXT_SUMMARY_H
#define PL_AGENT_CONTEXT_SUMMARY_H

#include "base/arena.h"
#include "base/buf.h"

/* The first words of each turn; if it gets long, the newest are kept. `context` is a JSON array of
 * TurnProjection, of which n_turns are summarized. Appends plain text. */
enum pl_status pl_summary_write(struct pl_arena *arena, struct pl_str context, int64_t n_turns,
                                struct pl_buf *to, struct pl_error *err);

/* The request: appends a JSON array of two turns, the instructions for the writer of a summary and
 * the conversation as a text of at most max_bytes. It is one text so that every model accepts it,
 * with any tools and thoughts; if it is too long, the middle is omitted. */
enum pl_status pl_summary_ask(struct pl_arena *arena, struct pl_str context, size_t max_bytes,
                              struct pl_buf *to, struct pl_error *err);

#endif
