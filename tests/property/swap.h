/* Values of the wrong type: each value of a document is replaced by others, one at a time. */
#ifndef PL_TESTS_PROPERTY_SWAP_H
#define PL_TESTS_PROPERTY_SWAP_H

#include "base/buf.h"
#include "json/json.h"

/* The replacements of each value; NULL-terminated. */
extern const char *const pl_swaps[];

/* Appends the document with the value at `node` (no key) replaced. */
void pl_swap_write(struct pl_buf *to, const struct pl_json_doc *doc,
                   const struct pl_json_node *node, const char *value);

/* A golden case: the path and text of its document, and whether it is a response. */
struct pl_golden {
    char path[512];
    struct pl_buf text; /* owned */
    bool is_response;
};

/* Calls `visit` for in.json or in.txt of every case in the directory. Ends the test if there is
 * none. */
void pl_golden_each(const char *directory, void (*visit)(void *ctx, const struct pl_golden *golden),
                    void *ctx);

/* Appends a file; ends the test if it cannot be read. */
void pl_read_whole(const char *path, struct pl_buf *to);

#endif
