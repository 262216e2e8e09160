/* Visits every value of a document in order, each with its JSON Pointer. For reports with many
 * places, where finding each pointer from the root would be quadratic. */
#ifndef PL_JSON_TOUR_H
#define PL_JSON_TOUR_H

#include "base/buf.h"
#include "base/vec.h"
#include "json/json.h"

struct pl_json_stop {
    const struct pl_json_node *end; /* after the last child */
    uint32_t index;                 /* of the next child of an array */
    uint32_t path_len;              /* of the container's own pointer */
    bool is_object;
};

struct pl_json_tour {
    const struct pl_json_doc *doc;   /* borrowed */
    const struct pl_json_node *next; /* to be visited */
    struct pl_buf path;              /* pointer of the value visited last */
    PL_VEC(struct pl_json_stop) open;
};

void pl_json_tour_init(struct pl_json_tour *tour, const struct pl_json_doc *doc);
void pl_json_tour_deinit(struct pl_json_tour *tour);

/* The next value; NULL at the end or when out of memory (see tour->path.status). Keys are not
 * visited; they are in the path. */
const struct pl_json_node *pl_json_tour_next(struct pl_json_tour *tour);

#endif
