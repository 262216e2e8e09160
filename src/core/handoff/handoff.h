/* Handing a task over to another agent (seed 001, A.3): the packet harmony_handoff_v1.
 *
 *     conversation --make--> packet --check--> accepted | refused, with reasons
 *
 * The receiver needs nothing but the packet. The objective never changes on the way: each packet
 * carries its SHA-256, and each hop is compared with the one before: what constrains the task and what
 * belongs to it is not lost on the way. A task makes at most five hops. Each goes to an agent that has
 * not had it, or back to the one that gave it (planner -> coder -> planner); anything else is a
 * circle. `visited` lists who had it, in that order. Time arrives as an argument. */
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

/* What the packet says beside what the conversation tells. An empty text is made from the
 * conversation, or, where it can be, taken over from the previous packet. */
struct pl_handoff_opts {
    struct pl_str source, target;                     /* agents; target must be given */
    struct pl_str timestamp;                          /* RFC 3339; must be given */
    struct pl_str objective;                          /* or the first words of the user */
    struct pl_str status;                             /* or "in_progress" */
    struct pl_str next;                               /* or what is open: a call, a question */
    struct pl_str summary;                            /* or a mechanical one */
    struct pl_str id, trace;                          /* optional in the packet */
    struct pl_handoff_texts steps, constraints, done; /* added to what is known */
    const struct pl_handoff_artifact *artifacts;      /* borrowed; added */
    size_t n_artifacts;
    const struct pl_json_doc
        *previous; /* borrowed; the packet of the hop before; NULL: the first */
};

/* The same from the members of an object: source, target, objective, status, next, summary, trace_id
 * (texts); steps, constraints, definition_of_done (lists); artifacts (name: place); previous. Missing
 * members are left empty. Memory of the arena, and `previous` a view of doc. PL_NOMEM. */
enum pl_status pl_handoff_opts_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_handoff_opts *ret_opts);

/* Appends the packet. PL_INVALID: no objective, another one than before, another trace, too many hops,
 * going in circles; err says which. On failure nothing is appended. */
enum pl_status pl_handoff_make(struct pl_buf *to, struct pl_conv *conv,
                               const struct pl_handoff_opts *opts, struct pl_error *err);

struct pl_handoff_reason {
    struct pl_str pointer; /* arena or static; into the packet */
    struct pl_str message; /* arena or static */
};

/* Why a packet is to be refused; none: it can be accepted. */
struct pl_handoff_reasons {
    enum pl_schema_lang lang; /* set by the caller of pl_handoff_check() */
    PL_VEC(struct pl_handoff_reason) list;
};
void pl_handoff_reasons_deinit(struct pl_handoff_reasons *reasons);
/* Says what is against the rules in Chinese. False: out of memory. */
bool pl_handoff_reasons_to_chinese(struct pl_handoff_reasons *reasons, struct pl_arena *arena);

/* Holds a packet to schemas/handoff.json and to the rules above. `previous` (may be NULL) is the
 * packet of the hop before or the answer to it; `receiver` (may be empty) is who was asked. */
enum pl_status pl_handoff_check(struct pl_arena *arena, const struct pl_json_doc *packet,
                                const struct pl_json_doc *previous, struct pl_str receiver,
                                struct pl_handoff_reasons *ret_reasons, struct pl_error *err);

struct pl_handoff_answer {
    bool is_accepted;
    struct pl_str agent, timestamp;
    const struct pl_handoff_reasons *reasons; /* borrowed */
};

/* Appends the answer to a packet: {"protocol","answer","agent","timestamp", what identifies the
 * packet, "reasons"}. */
void pl_handoff_answer_write(struct pl_buf *to, struct pl_arena *arena,
                             const struct pl_json_doc *packet,
                             const struct pl_handoff_answer *answer);

/* Appends [{"pointer","message"}]. */
struct pl_json_out;
void pl_handoff_reasons_write(struct pl_json_out *out, const struct pl_handoff_reasons *reasons);

#endif
