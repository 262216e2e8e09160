/* Handing a task over to another agent (seed 001, A.3): the packet harmony_handoff_v1.
 *
 *     conversation --make--> packet --check--> accepted | refused, with reasons
 *
 * The receiver needs only the packet. The objective never changes: each packet carries its SHA-256,
 * and each hop is compared with the one before, so that no constraint or artifact is lost. A task
 * makes at most five hops. Each goes to an agent that has not had the task, or back to the one that
 * gave it (planner -> coder -> planner); anything else is a circle. `visited` lists its holders in
 * order. The caller passes the time. */
#ifndef PL_HANDOFF_HANDOFF_H
#define PL_HANDOFF_HANDOFF_H

#include "base/buf.h"
#include "conv/conv.h"

#include "schema/schema.h"

enum { PL_HANDOFF_MAX_HOPS = 5 };

struct pl_handoff_artifact {
    struct pl_str name, place;
};

struct pl_handoff_texts {
    const struct pl_str *ptr; /* borrowed */
    size_t len;
};

/* The members of the packet that do not come from the conversation. An empty text is made from the
 * conversation, or copied from the previous packet if possible. */
struct pl_handoff_opts {
    struct pl_str source, target;                     /* agents; target is required */
    struct pl_str timestamp;                          /* RFC 3339; required */
    struct pl_str objective;                          /* default: the user's first words */
    struct pl_str status;                             /* default: "in_progress" */
    struct pl_str next;                               /* default: the open call or question */
    struct pl_str summary;                            /* default: a mechanical one */
    struct pl_str id, trace;                          /* optional in the packet */
    struct pl_handoff_texts steps, constraints, done; /* added to the known ones */
    const struct pl_handoff_artifact *artifacts;      /* borrowed; added to the known ones */
    size_t n_artifacts;
    const struct pl_json_doc
        *previous; /* borrowed; the packet of the previous hop; NULL: this is the first */
};

/* Reads the options from the members of an object: source, target, objective, status, next,
 * summary, trace_id (texts); steps, constraints, definition_of_done (lists); artifacts (name:
 * place); previous. Missing members are left empty. Uses memory of the arena; `previous` is a view
 * of doc. PL_NOMEM. */
enum pl_status pl_handoff_opts_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_handoff_opts *ret_opts);

/* Appends the packet. PL_INVALID: no objective, a changed objective, another trace, too many hops,
 * or a circle; err says which. On failure nothing is appended. */
enum pl_status pl_handoff_make(struct pl_buf *to, struct pl_conv *conv,
                               const struct pl_handoff_opts *opts, struct pl_error *err);

struct pl_handoff_reason {
    struct pl_str pointer; /* arena or static; into the packet */
    struct pl_str message; /* arena or static */
};

/* Reasons to refuse a packet; none: it can be accepted. */
struct pl_handoff_reasons {
    enum pl_schema_lang lang; /* set by the caller of pl_handoff_check() */
    PL_VEC(struct pl_handoff_reason) list;
};
void pl_handoff_reasons_deinit(struct pl_handoff_reasons *reasons);
/* Translates the reasons into Chinese. False: out of memory. */
bool pl_handoff_reasons_to_chinese(struct pl_handoff_reasons *reasons, struct pl_arena *arena);

/* Checks a packet against schemas/handoff.json and the rules above. `previous` (may be NULL) is the
 * packet of the previous hop or the answer to it; `receiver` (may be empty) is the agent that was
 * asked. */
enum pl_status pl_handoff_check(struct pl_arena *arena, const struct pl_json_doc *packet,
                                const struct pl_json_doc *previous, struct pl_str receiver,
                                struct pl_handoff_reasons *ret_reasons, struct pl_error *err);

struct pl_handoff_answer {
    bool is_accepted;
    struct pl_str agent, timestamp;
    const struct pl_handoff_reasons *reasons; /* borrowed */
};

/* Appends the answer to a packet: {"protocol","answer","agent","timestamp", the ids of the packet,
 * "reasons"}. */
void pl_handoff_answer_write(struct pl_buf *to, struct pl_arena *arena,
                             const struct pl_json_doc *packet,
                             const struct pl_handoff_answer *answer);

/* Appends [{"pointer","message"}]. */
struct pl_json_out;
void pl_handoff_reasons_write(struct pl_json_out *out, const struct pl_handoff_reasons *reasons);

#endif
