/* No edit is silent: an edit of a target arrives in the source, or the report names it. */
#ifndef PL_TESTS_PROPERTY_EDIT_LAW_H
#define PL_TESTS_PROPERTY_EDIT_LAW_H

#include "format/convert.h"

struct pl_edit_trip {
    const struct pl_format *from, *to; /* of the conversion there */
    struct pl_str carry;
    struct pl_str edited; /* the target, edited */
};

enum pl_edit_fate {
    PL_EDIT_ARRIVED,  /* the source has the edit */
    PL_EDIT_REPORTED, /* the report names the missing part */
    PL_EDIT_REFUSED,  /* it is no longer a document of the target's format */
    PL_EDIT_WRONG,    /* the law is broken: `why` has the reason */
};

/* Converts back with the carry, then converts the result again and compares. */
enum pl_edit_fate pl_edit_law_check(const struct pl_edit_trip *trip, struct pl_buf *why);

#endif
