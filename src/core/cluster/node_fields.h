/* The fields of a letter's body, one after the other, each with its type:
 *
 *     'n' and 8 bytes: a number, signed, big-endian
 *     'b', 4 bytes of length and that many bytes: text or bytes
 *
 * The writer puts them in the order in which the reader takes them. Read errors are sticky, like
 * those of a buffer: take everything and check once. A later version may add fields at the end, so
 * a reader ignores everything after the fields that it knows. */
#ifndef PL_CLUSTER_NODE_FIELDS_H
#define PL_CLUSTER_NODE_FIELDS_H

#include "base/buf.h"
#include "cluster/node.h"

void pl_node_fields_put_number(struct pl_buf *to, int64_t number);
/* At most 4 GiB; more sets PL_LIMIT in the buffer's status. */
void pl_node_fields_put_bytes(struct pl_buf *to, struct pl_str bytes);
void pl_node_fields_put_id(struct pl_buf *to, const struct pl_node_id *id);

struct pl_node_fields {
    struct pl_str left;    /* borrowed from the letter */
    enum pl_status status; /* sticky; PL_SYNTAX if the body is cut off or the type differs */
};

struct pl_node_fields pl_node_fields_of(struct pl_str body);
/* True if another field can be taken. */
bool pl_node_fields_has_more(const struct pl_node_fields *fields);
/* Return zero or empty values after a failure. */
int64_t pl_node_fields_number(struct pl_node_fields *fields);
struct pl_str pl_node_fields_bytes(struct pl_node_fields *fields);
struct pl_node_id pl_node_fields_id(struct pl_node_fields *fields);

#endif
