/* Inside the repairs: the conversation as a deck of units.
 *
 * A unit is a message with a list of part numbers. Every pass deals the deck anew, from `now` to
 * `next`, so that moving, dropping and inserting are all linear and no struct is copied. If
 * something changed, the vectors of the conversation are built again, once, at the end. Parts and
 * messages that a repair makes are appended to the conversation and dealt like the others. */
#ifndef PL_CONV_REPAIR_INT_H
#define PL_CONV_REPAIR_INT_H

#include "conv/repair/repair.h"

#define PL_NO_PART       UINT32_MAX
#define PL_REPAIR_MAX_ID 64u /* bytes of an id that we make */

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

/* Facts about a conversation from one look at it. A fact that is true is always set; a fact that is
 * false may be set too. */
struct pl_repair_facts {
    uint32_t kinds[PL_ROLE_TOOL + 1]; /* PL_PART_BIT of the parts of each role's messages */
    uint32_t all_kinds;               /* … of all */
    uint32_t child_kinds;             /* … of the content of results */
    size_t n_longest_id;              /* bytes of the longest id of a call or result, at most */
    bool is_begun;                    /* a message is not the system's */
    bool begins_with_assistant, ends_with_assistant;
    bool has_late_system;   /* after the first message of another role */
    bool has_listed_system; /* in the source's list */
    bool has_same_turns;    /* two turns in a row of one side, except results after results */
    bool has_blank;         /* blank texts; only set if they are to be dropped */
    bool has_empty;         /* a message without parts */
    bool has_void;          /* a text without words */
    bool has_cache, has_citations;
};

struct pl_repair {
    struct pl_conv *conv;                /* borrowed */
    const struct pl_repair_rules *rules; /* borrowed */
    struct pl_repair_facts facts;        /* of the conversation before the repairs */
    struct pl_deck now, next;            /* owned */
    bool is_dealt;                       /* `now` is filled */
    bool is_changed;                     /* the deck differs from the conversation */
};

/* Reading. */
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
/* The message of a unit; the node for reports about a part of it (NULL only for made ones). */
struct pl_message *pl_unit_message(const struct pl_repair *r, const struct pl_unit *unit);
const struct pl_json_node *pl_unit_node(const struct pl_repair *r, const struct pl_unit *unit,
                                        const struct pl_part *part);

/* Dealing: open a unit like `unit` but without parts and add parts to it, or deal it unchanged. An
 * opened unit is the last one of `next`. */
void pl_deal_open(struct pl_repair *r, const struct pl_unit *unit);
void pl_deal_part(struct pl_repair *r, uint32_t part);
void pl_deal_whole(struct pl_repair *r, const struct pl_unit *unit);
/* Opens a unit for a message that is not in the source. */
void pl_deal_new(struct pl_repair *r, enum pl_role role);
struct pl_unit *pl_dealt_last(struct pl_repair *r);
/* Marks the unit opened last as changed. */
void pl_deal_change(struct pl_repair *r);
/* Removes the last unit if it has no parts. */
void pl_deal_drop_empty(struct pl_repair *r);
/* The parts that were dealt become the deck of the next pass. */
void pl_deal_end(struct pl_repair *r);

/* Making parts; returns an index in conv->parts (any when out of memory). */
uint32_t pl_repair_part(struct pl_repair *r, struct pl_part part);
uint32_t pl_repair_text(struct pl_repair *r, struct pl_str text);

/* Reports without setting the fate of the node: the writer still writes a moved part. */
void pl_repair_note(struct pl_repair *r, enum pl_loss_code code, const struct pl_json_node *node,
                    const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* X(name): the passes, in running order. Dropping parts comes first, because it may bring together
 * parts that then have to be paired. */
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

/* A pass, and whether it would change an unchanged conversation (due.c). Running out of memory is
 * in conv->status. */
#define X(name)                                                                                    \
    void pl_repair_##name(struct pl_repair *r);                                                    \
    bool pl_due_##name(const struct pl_repair *r);
PL_REPAIR_FIRST_PASSES(X)
PL_REPAIR_PASSES(X)
#undef X

/* Everything outside messages; runs last. */
void pl_repair_settings(struct pl_conv *conv, const struct pl_repair_rules *rules);
/* Whether the source says that the vendor stores no history. */
bool pl_repair_is_unstored(const struct pl_repair *r);
/* Whether the target gets any tool. */
bool pl_repair_has_declared(const struct pl_repair *r);

struct pl_repair_facts pl_repair_look(struct pl_conv *conv, const struct pl_repair_rules *rules);
/* Whether the results of each turn come right after it, in the order of its calls, without others.
 * Gives the results names if the target wants names. */
bool pl_repair_calls_are_answered(const struct pl_repair *r);

#endif
