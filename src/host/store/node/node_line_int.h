/* The internals of a line: its transactions. */
#ifndef PL_STORE_NODE_LINE_INT_H
#define PL_STORE_NODE_LINE_INT_H

#include "store/node/node_line.h"
#include "store/store_int.h"

struct pl_node_line {
    struct pl_store *store; /* borrowed */
    struct pl_db *db;       /* owned */
    struct pl_node_id writer;
};

/* All zeros if the bytes are not an id. */
struct pl_node_id pl_node_id_of(struct pl_str bytes);

/* A durable transaction; pl_node_line_end commits it if `status` is PL_OK, and rolls it back
 * otherwise. */
enum pl_status pl_node_line_begin(struct pl_node_line *line, struct pl_error *err);
enum pl_status pl_node_line_end(struct pl_node_line *line, enum pl_status status,
                                struct pl_error *err);

#endif
