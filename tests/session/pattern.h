/* Patterns of JSON: an object matches an object that has at least its members, an array one of the
 * same length, "*" anything, "!" an absent member, "$name" any string, which must be equal in all
 * places with that name. */
#ifndef PL_TESTS_SESSION_PATTERN_H
#define PL_TESTS_SESSION_PATTERN_H

#include "base/arena.h"
#include "base/map.h"
#include "json/json.h"

struct pattern_names {
    struct pl_arena arena;
    struct pl_map map; /* name -> struct pl_str * (arena) */
};

void pattern_names_init(struct pattern_names *names);
void pattern_names_deinit(struct pattern_names *names);
/* The string that "$name" is bound to; the text itself if it is not a bound name. */
struct pl_str pattern_value(const struct pattern_names *names, struct pl_str text);
bool pattern_matches(struct pattern_names *names, struct pl_str pattern, struct pl_str json);

#endif
