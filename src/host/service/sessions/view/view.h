/* Sessions as the web page shows them: in a list, as an outline, and the contents of their
 * context. On a worker. */
#ifndef PL_SERVICE_SESSIONS_VIEW_H
#define PL_SERVICE_SESSIONS_VIEW_H

#include "agent/context/request.h"
#include "http/exchange.h"
#include "store/store.h"

/* The first line of a turn's text, at most `most` characters; empty: it has no text. Arena
 * memory. */
enum pl_status pl_turn_first_line(struct pl_arena *arena, const struct pl_turn_row *row,
                                  size_t most, struct pl_str *ret_line);

/* Appends the Session object with preview, turns, cost_usd and open_questions. */
enum pl_status pl_session_write_details(struct pl_store *store, struct pl_arena *arena,
                                        const struct pl_session_record *record, struct pl_buf *to,
                                        struct pl_error *err);

/* The largest items of each kind in the context: {turn_id, tool_call_id, label, tokens}. */
struct pl_context_items; /* arena */
enum pl_status pl_context_items_read(struct pl_arena *arena, const struct pl_request *request,
                                     const struct pl_counted *counted,
                                     struct pl_context_items **ret_items, struct pl_error *err);
/* Writes the array of a kind. */
void pl_context_items_write(struct pl_json_out *out, const struct pl_context_items *items,
                            enum pl_segment_kind kind);

#endif
