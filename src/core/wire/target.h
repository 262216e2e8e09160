/* Splits the target of a request (RFC 9112, 3.2) into decoded path segments and query parameters.
 * Dots are not resolved and slashes are not merged: no path of ours needs it. */
#ifndef PL_WIRE_TARGET_H
#define PL_WIRE_TARGET_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#define PL_TARGET_MAX_SEGMENTS 16
#define PL_TARGET_MAX_PARAMS   64

struct pl_target_param {
    struct pl_str name, value; /* decoded, '+' is a space */
};

struct pl_target {
    struct pl_str path;                             /* as sent, without the query */
    struct pl_str segments[PL_TARGET_MAX_SEGMENTS]; /* decoded; "/a/b" has two, "/" none */
    size_t n_segments;
    struct pl_target_param params[PL_TARGET_MAX_PARAMS];
    size_t n_params;
};

/* PL_SYNTAX: bad percent sign, not UTF-8, a control character, no leading slash (the form
 * "http://host/path" is accepted, "*" and authority are not); PL_LIMIT: too many segments or
 * parameters. */
enum pl_status pl_target_parse(struct pl_arena *arena, struct pl_str target,
                               struct pl_target *ret_target, struct pl_error *err);

/* {NULL, 0} if absent; an empty value has a pointer. */
struct pl_str pl_target_param(const struct pl_target *target, const char *name);

#endif
