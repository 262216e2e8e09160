/* Decoded texts of the strings of a document, which stay as long as it does: each is made when it is
 * first asked for. Any number of threads may ask at the same time. */
#ifndef PL_LIB_DECODED_H
#define PL_LIB_DECODED_H

#include "json/json.h"

struct pl_decoded_entry;

struct pl_decoded {
    /* Owned; lists that only grow, by the place of the string. NULL until the first one is asked
     * for: most documents are read without. */
    _Atomic(_Atomic(struct pl_decoded_entry *) *) lists;
    uint32_t n_lists;
};

void pl_decoded_init(struct pl_decoded *decoded, const struct pl_json_doc *doc);
void pl_decoded_deinit(struct pl_decoded *decoded);

/* The text of a string node: a view of the document if nothing is escaped. The same pointer every
 * time. PL_NOMEM is the only failure. */
enum pl_status pl_decoded_get(struct pl_decoded *decoded, const struct pl_json_doc *doc,
                              const struct pl_json_node *string, struct pl_str *ret_text);

#endif
