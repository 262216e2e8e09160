/* No edit is silent: what was edited in a target arrives in the source, or the report names it. */
#ifndef PL_TESTS_PROPERTY_EDIT_LAW_H
#define PL_TESTS_PROPERTY_EDIT_LAW_H

#include "format/convert.h"

struct pl_edit_trip {
    const struct pl_format *from, *to; /* of the conversion there */
    struct pl_str carry;
    struct pl_str edited; /* the target, edited */
};

enum pl_edit_fate {
    PL_EDIT_ARRIVED,  /* the source says it */
    PL_EDIT_REPORTED, /* the report names what did not arrive */
    PL_EDIT_REFUSED,  /* it is not a document of the target's format any more */
    PL_EDIT_WRONG,    /* the law is broken: `why` says how */
};

/* Goes home with the carry, and converts what came home once more. */
enum pl_edit_fate pl_edit_law_check(const struct pl_edit_trip *trip, struct pl_buf *why);

#endif
