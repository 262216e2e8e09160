/* Resolves many JSON Pointers into one document. A container with many children gets an index on
 * first use, so the cost of a pointer depends only on its own length. For one pointer
 * pl_json_pointer_get() is enough. */
#ifndef PL_JSON_REACH_H
#define PL_JSON_REACH_H

#include "base/buf.h"
#include "base/map.h"
#include "json/json.h"

struct pl_json_reach {
    const struct pl_json_doc *doc; /* borrowed */
    struct pl_arena *arena;        /* borrowed; must outlive it */
    struct pl_map wide;            /* owned; node index of a container -> its index */
    struct pl_buf name;            /* owned; a key, decoded */
    enum pl_status status;         /* PL_OK or PL_NOMEM; sticky */
};

/* Allocates nothing yet. */
void pl_json_reach_init(struct pl_json_reach *reach, const struct pl_json_doc *doc,
                        struct pl_arena *arena);
void pl_json_reach_deinit(struct pl_json_reach *reach);
#define PL_CLEANUP_REACH __attribute__((cleanup(pl_json_reach_deinit)))

/* The value that a valid pointer names, starting at a value of the document; NULL: not found, or
 * out of memory (see status). */
const struct pl_json_node *pl_json_reach_get(struct pl_json_reach *reach,
                                             const struct pl_json_node *from,
                                             struct pl_str pointer);
/* The member of an object with this decoded name; NULL: as above, or not an object. */
const struct pl_json_node *pl_json_reach_member(struct pl_json_reach *reach,
                                                const struct pl_json_node *object,
                                                struct pl_str name);

#endif
