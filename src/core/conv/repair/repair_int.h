/* Inside the repairs: the conversation as a deck of units.
 *
 * A unit is a message with a list of part numbers. Every pass deals the deck anew, from `now` to
 * `next`, so that moving, dropping and inserting are all linear and no struct is copied; only when
 * something changed are the vectors of the conversation built again, once, at the end. Parts and
 * messages that a repair makes are appended to the conversation and dealt like the others. */
#ifndef PL_CONV_REPAIR_INT_H
#define PL_CONV_REPAIR_INT_H

#include "conv/repair/repair.h"

#define PL_NO_PART       UINT32_MAX
#define PL_REPAIR_MAX_ID 64u /* bytes of an id that is made */

struct pl_unit {
    uint32_t message; /* index in conv->messages */
    enum pl_role role;
    uint32_t first, n; /* of deck->parts */
    bool is_changed;
};

struct pl_deck {
    PL_VEC(struct pl_unit) units;
    PL_VEC(uint32_t) parts; /* indexes in conv->parts */
};

/* The findings of one look over a conversation. A fact that holds is always set; one that does not
 * hold may be set too. */
struct pl_repair_facts {
    uint32_t kinds[PL_ROLE_TOOL + 1]; /* PL_PART_BIT of the parts of each role's messages */
    uint32_t all_kinds;               /* … of all */
    uint32_t child_kinds;             /* … of the content of results */
    size_t n_longest_id;              /* bytes of an id of a call or result, at the most */
    bool is_begun;                    /* somebody speaks who is not the system */
    bool begins_with_assistant, ends_with_assistant;
    bool has_late_system;   /* after the first message of somebody else */
    bool has_listed_system; /* in the source's list */
    bool has_same_turns;    /* two in a row of one side, but for results after results */
    bool has_blank;         /* texts; looked for where they are dropped */
    bool has_empty;         /* a message without parts */
    bool has_cache, has_citations;
};

struct pl_repair {
    struct pl_conv *conv;                /* borrowed */
    const struct pl_repair_rules *rules; /* borrowed */
    struct pl_repair_facts facts;        /* of the conversation as it was */
    struct pl_deck now, next;            /* owned */
    bool is_dealt;                       /* `now` is there */
    bool is_changed;                     /* the deck is not the conversation any more */
};

/* Looking. */
static inline struct pl_part *pl_unit_part(const struct pl_repair *r, const struct pl_unit *unit,
                                           uint32_t i)
{
    return &r->conv->parts.ptr[r->now.parts.ptr[unit->first + i]];
}

static inline bool pl_unit_is_users(const struct pl_unit *unit)
{
    return unit->role == PL_ROLE_USER || unit->role == PL_ROLE_TOOL;
}

static inline bool pl_unit_is_system(const struct pl_unit *unit)
{
    return unit->role == PL_ROLE_SYSTEM || unit->role == PL_ROLE_DEVELOPER;
}

/* Whether the target can check the proof of a part. */
static inline bool pl_repair_keeps_proof(const struct pl_repair *r, const struct pl_part *part)
{
    return part->home ? part->home == r->rules->home : r->rules->keeps_signatures;
}

/* Whether one of its parts is of one of these kinds (PL_PART_BIT). */
bool pl_unit_has(const struct pl_repair *r, const struct pl_unit *unit, uint32_t kinds);
/* The message of a unit; the node to report a part of it at (never NULL but for made ones). */
struct pl_message *pl_unit_message(const struct pl_repair *r, const struct pl_unit *unit);
const struct pl_json_node *pl_unit_node(const struct pl_repair *r, const struct pl_unit *unit,
                                        const struct pl_part *part);

/* Dealing: open a unit like `unit` but without parts, give it parts; or deal it as it is. An opened
 * unit is the last one of `next`. */
void pl_deal_open(struct pl_repair *r, const struct pl_unit *unit);
void pl_deal_part(struct pl_repair *r, uint32_t part);
void pl_deal_whole(struct pl_repair *r, const struct pl_unit *unit);
/* Opens a unit for a message that the source does not have. */
void pl_deal_new(struct pl_repair *r, enum pl_role role);
struct pl_unit *pl_dealt_last(struct pl_repair *r);
/* The unit opened last is not what it was. */
void pl_deal_change(struct pl_repair *r);
/* Takes the last unit back when it has no parts. */
void pl_deal_drop_empty(struct pl_repair *r);
/* The parts that were dealt become the deck of the next pass. */
void pl_deal_end(struct pl_repair *r);

/* Making parts; the answer is an index in conv->parts (any when out of memory). */
uint32_t pl_repair_part(struct pl_repair *r, struct pl_part part);
uint32_t pl_repair_text(struct pl_repair *r, struct pl_str text);

/* Reports without touching the fate of the node: what is moved is still said by the writer. */
void pl_repair_note(struct pl_repair *r, enum pl_loss_code code, const struct pl_json_node *node,
                    const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* X(name): the passes, in the order in which they run. Parts are left out first, because this may
 * bring together others that then have to be paired. */
#define PL_REPAIR_FIRST_PASSES(X) X(blank)
#define PL_REPAIR_PASSES(X)                                                                        \
    X(tools)                                                                                       \
    X(calls_last)                                                                                  \
    X(arguments)                                                                                   \
    X(sources)                                                                                     \
    X(assistant_media)                                                                             \
    X(result_media)                                                                                \
    X(lost_thinking)                                                                               \
    X(thinking_tail)                                                                               \
    X(system)                                                                                      \
    X(first)                                                                                       \
    X(alternation)                                                                                 \
    X(last)                                                                                        \
    X(thinking)                                                                                    \
    X(signatures)                                                                                  \
    X(ids)                                                                                         \
    X(declarations)                                                                                \
    X(cache)                                                                                       \
    X(citations)

/* A pass, and whether it would do anything to a conversation that nothing was done to
 * (due.c). Running out of memory shows in conv->status. */
#define X(name)                                                                                    \
    void pl_repair_##name(struct pl_repair *r);                                                    \
    bool pl_due_##name(const struct pl_repair *r);
PL_REPAIR_FIRST_PASSES(X)
PL_REPAIR_PASSES(X)
#undef X

/* What is not in messages; at the end. */
void pl_repair_settings(struct pl_conv *conv, const struct pl_repair_rules *rules);
/* Whether the source says that the vendor has stored nothing of the history. */
bool pl_repair_is_unstored(const struct pl_repair *r);
/* Whether the target is told of a tool at all. */
bool pl_repair_has_declared(const struct pl_repair *r);

struct pl_repair_facts pl_repair_look(struct pl_conv *conv, const struct pl_repair_rules *rules);
/* Whether the results of each turn stand right after it, in the order of its calls, and there are
 * no others; gives them names where the target wants those. */
bool pl_repair_calls_are_answered(const struct pl_repair *r);

#endif
