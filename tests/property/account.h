/* No silent loss: the output has every text of a source, or the report names it and the carry has
 * it. */
#ifndef PL_TESTS_PROPERTY_ACCOUNT_H
#define PL_TESTS_PROPERTY_ACCOUNT_H

#include "base/buf.h"
#include "json/json.h"

/* The documents of one conversion, as parsed JSON. */
struct pl_account {
    struct pl_arena *arena; /* borrowed */
    const struct pl_json_doc *source, *out, *report, *carry;
    const char *from, *to;
};

/* Checks the report: names, codes, pointers into the source, the flag. Appends errors to `ret_why`;
 * nothing if it is correct. */
void pl_account_report(const struct pl_account *a, struct pl_buf *ret_why);

/* Appends the texts of six or more characters that are neither in the output nor reported, and the
 * texts of the output that the carry repeats. */
void pl_account_texts(const struct pl_account *a, struct pl_buf *ret_why);

#endif
