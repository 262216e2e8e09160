/* Paths of the workspace: how they are spelled, which globs match them, and which no extension ever
 * writes. host/ext checks the real path again when it opens a file. */
#ifndef PL_EXTPROTO_PATH_SCOPE_H
#define PL_EXTPROTO_PATH_SCOPE_H

#include "base/arena.h"
#include "base/status.h"

/* NULL: a glob that may be in a scope. Otherwise what is wrong with it: it is empty, absolute or
 * leaves the workspace, has an empty segment, a segment "." or a NUL, or begins with "~". */
const char *pl_ext_glob_refusal(struct pl_str glob);

/* `*` is any text of one segment, `?` one character of it, a segment `**` any number of segments,
 * also none. Every other character stands for itself. The path is a clean one. */
bool pl_ext_glob_match(struct pl_str glob, struct pl_str path);

/* Whether every path that `inner` matches is matched by `outer` as well. Never true in error; where
 * the answer is not plain to see, it is false. */
bool pl_ext_glob_covers(struct pl_str outer, struct pl_str inner);

/* The path from the workspace root without "." and empty segments; the root itself is "". Memory of
 * the arena. PL_INVALID: absolute, a segment "..", a NUL; PL_NOMEM. */
enum pl_status pl_ext_path_clean(struct pl_arena *arena, struct pl_str path,
                                 struct pl_str *ret_path);

/* Whether a clean path is one that no extension may write, whether it exists or not. */
bool pl_ext_path_is_protected(struct pl_str path);

#endif
