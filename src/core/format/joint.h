/* One of several texts that stand in the target as one string, with glue between them.
 *
 * The carry keeps where in the whole a part stands, not what it says. On the way home the part is
 * cut out again; when the whole was edited, a part that was not is known by its look, and the
 * edited one is what is left between its neighbours. What was put between two parts goes to the
 * first of them: no words are lost. */
#ifndef PL_FORMAT_JOINT_H
#define PL_FORMAT_JOINT_H

#include "base/buf.h"
#include "json/json.h"
#include "json/write.h"

struct pl_joint {
    struct pl_str glue;
    size_t n_before, n_own, n_after; /* code points of the whole before, in and behind the part */
    size_t glues_before, glues_own;  /* how often the glue stands there */
    size_t n_next;                   /* code points of the next part; 0 for the last */
    uint64_t look, look_next;        /* of the part, of the next one */
};

/* A whole that parts are put into or cut out of, with marks in it: finding a place takes as long as
 * the part there, however long the whole is. */
struct pl_joined {
    struct pl_str whole, glue; /* borrowed */
    size_t n_points;           /* code points of the whole */
    uint32_t *marks;           /* arena; offset of every so many code points; NULL: all are bytes */
    uint32_t *glues;           /* arena; offset behind each glue */
    size_t n_glues;
    size_t n_looks_left; /* bytes that may yet be looked at: parts do not overlap */
};

/* PL_LIMIT: the whole is longer than a document may be. */
enum pl_status pl_joined_init(struct pl_joined *joined, struct pl_arena *arena, struct pl_str whole,
                              struct pl_str glue);

/* The part of n_own code points that begins behind n_before, and the next one behind the glue;
 * false when the whole is shorter. */
bool pl_joint_make(const struct pl_joined *joined, size_t n_before, size_t n_own, size_t n_next,
                   struct pl_joint *ret_joint, struct pl_str *ret_part);

/* As an array. */
void pl_joint_write(struct pl_json_out *out, const struct pl_joint *joint);
/* Reads such an array; false when it is none. The glue is arena memory or a view of the text. */
bool pl_joint_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                   const struct pl_json_node *array, struct pl_joint *ret_joint);

/* The part in the whole as it is now; both have the same glue. */
struct pl_str pl_joint_cut(const struct pl_joint *joint, struct pl_joined *joined);

#endif
