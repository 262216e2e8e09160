/* A page of turns as a reader sees it at one position: finished ones from the store, open ones from
 * the session's memory, ordered by sequence. */
#ifndef PL_LIVE_TURN_PAGE_H
#define PL_LIVE_TURN_PAGE_H

#include "json/json.h"
#include "store/store.h"

/* The reply of PL_COMMAND_LOOK. */
struct pl_session_snapshot {
    struct pl_json_doc doc; /* arena */
    int64_t position;
};
enum pl_status pl_session_snapshot_read(struct pl_arena *arena, struct pl_str reply,
                                        int64_t position, struct pl_session_snapshot *ret_look,
                                        struct pl_error *err);
/* The JSON of a member: "session", "questions", "queue". */
struct pl_str pl_session_snapshot_member(const struct pl_session_snapshot *look, const char *name);

/* The end of a page: whether there is more beyond its limits, and the sequence where it ends on
 * that side (of the first turn if the newest are kept, else of the last; -1: no turn). */
struct pl_turn_page_end {
    bool has_more;
    int64_t edge;
};
/* Appends the projections, separated by commas, without gaps: up to the limit and max_bytes of the
 * query, and at least one. Turns that changed after the position are taken from the look, as they
 * were then. Blocks: on a worker. */
enum pl_status pl_turn_page_write(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_turn_query *query,
                                  const struct pl_session_snapshot *look, struct pl_buf *to,
                                  struct pl_turn_page_end *ret_end, struct pl_error *err);

#endif
