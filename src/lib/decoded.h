/* Decoded strings of a document. Each is decoded on first use and lives as long as the document.
 * Any number of threads may read at the same time. */
#ifndef PL_LIB_DECODED_H
#define PL_LIB_DECODED_H

#include "json/json.h"

struct pl_decoded_entry;

struct pl_decoded {
    /* Owned; lists that only grow, by the index of the string. NULL until the first escaped string
     * is read: most documents never need it. */
    _Atomic(_Atomic(struct pl_decoded_entry *) *) lists;
    uint32_t n_lists;
};

void pl_decoded_init(struct pl_decoded *decoded, const struct pl_json_doc *doc);
void pl_decoded_deinit(struct pl_decoded *decoded);

/* The text of a string node: a view of the document if nothing is escaped. Always the same pointer.
 * PL_NOMEM is the only failure. */
enum pl_status pl_decoded_get(struct pl_decoded *decoded, const struct pl_json_doc *doc,
                              const struct pl_json_node *string, struct pl_str *ret_text);

#endif
