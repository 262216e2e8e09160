/* A parcel: letters in the database, one after the other in one row. Pure functions.
 *
 *     1 to all   4 length   letter …   and again
 *
 * Numbers are big-endian. */
#ifndef PL_BUS_PARCEL_H
#define PL_BUS_PARCEL_H

#include "base/str.h"

enum { PL_PARCEL_HEAD = 5 };

struct pl_parcel_letter {
    struct pl_str bytes; /* points into the parcel */
    bool is_to_all;
};

/* Writes the header of a letter of this length. */
void pl_parcel_head(bool is_to_all, size_t len, char to[PL_PARCEL_HEAD]);

/* Takes the first letter off. Returns false if there is none, or if the rest is not a letter. */
bool pl_parcel_next(struct pl_str *parcel, struct pl_parcel_letter *ret_letter);

#endif
