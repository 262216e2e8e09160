/* Inside the repairs: the conversation as a deck of units.
 *
 * A unit is a message with a list of part numbers. Every pass deals the deck anew, from `now` to
 * `next`, so that moving, dropping and inserting are all linear and no struct is copied; only when
 * something changed are the vectors of the conversation built again, once, at the end. Parts and
 * messages that a repair makes are appended to the conversation and dealt like the others. */
#ifndef PL_CONV_REPAIR_INT_H
#define PL_CONV_REPAIR_INT_H

#include "conv/repair.h"

#define PL_NO_PART UINT32_MAX

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

struct pl_repair {
    struct pl_conv *conv;                /* borrowed */
    const struct pl_repair_rules *rules; /* borrowed */
    struct pl_deck now, next;            /* owned */
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
/* What was dealt is the deck of the next pass. */
void pl_deal_end(struct pl_repair *r);

/* Making parts; the answer is an index in conv->parts (any when out of memory). */
uint32_t pl_repair_part(struct pl_repair *r, struct pl_part part);
uint32_t pl_repair_text(struct pl_repair *r, struct pl_str text);

/* Reports without touching the fate of the node: what is moved is still said by the writer. */
void pl_repair_note(struct pl_repair *r, enum pl_loss_code code, const struct pl_json_node *node,
                    const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* "image", "audio", "video", "file". */
const char *pl_repair_media_word(enum pl_part_kind kind);

/* The passes, in the order in which they run. Running out of memory shows in conv->status. */
typedef void pl_repair_pass(struct pl_repair *r);
pl_repair_pass pl_repair_blank, pl_repair_tools, pl_repair_calls_last, pl_repair_arguments,
    pl_repair_sources, pl_repair_assistant_media, pl_repair_result_media, pl_repair_thinking_tail,
    pl_repair_system, pl_repair_first, pl_repair_alternation, pl_repair_last, pl_repair_thinking,
    pl_repair_signatures, pl_repair_ids, pl_repair_declarations, pl_repair_cache,
    pl_repair_settings;

#endif
