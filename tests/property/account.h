/* Nothing silent: every text of a source is said by the output, or the report names it and the
 * carry has it. */
#ifndef PL_TESTS_PROPERTY_ACCOUNT_H
#define PL_TESTS_PROPERTY_ACCOUNT_H

#include "base/buf.h"
#include "json/json.h"

/* One conversion as its documents; all JSON, parsed. */
struct pl_account {
    struct pl_arena *arena; /* borrowed */
    const struct pl_json_doc *source, *out, *report, *carry;
    const char *from, *to;
};

/* Is the report what it must be: names, codes, pointers into the source, the flag? Appends what is
 * wrong to `ret_why`, nothing when all is well. */
void pl_account_report(const struct pl_account *a, struct pl_buf *ret_why);

/* Texts of six characters and more that are neither said nor reported, and words that the output
 * says and the carry repeats. */
void pl_account_texts(const struct pl_account *a, struct pl_buf *ret_why);

#endif
