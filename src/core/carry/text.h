/* Spelling the source in a carry; carry.h describes the spelling. */
#ifndef PL_CARRY_TEXT_H
#define PL_CARRY_TEXT_H

#include "base/buf.h"
#include "json/json.h"

/* Bytes inside a string of the source that the target has too. */
struct pl_carry_reference {
    uint32_t off, len;
    uint32_t at; /* in the target */
    uint64_t hash;
};

/* Appends the source without quotes around it. `doc` is the parsed source; its text may lack
 * comments that `source` has. `references` are sorted by offset; one that begins inside another is
 * skipped. */
void pl_carry_put_source(struct pl_buf *to, struct pl_str source, const struct pl_json_doc *doc,
                         const struct pl_carry_reference *references, size_t n_references);

/* Writes the eleven characters of a hash; returns the place after them. */
char *pl_carry_put_hash(char *to, uint64_t hash);

#endif
