/* Paths of the workspace: their form, the globs that match them, and those that no extension may
 * write. host/ext checks the real path again when it opens a file. */
#ifndef PL_EXTPROTO_PATH_SCOPE_H
#define PL_EXTPROTO_PATH_SCOPE_H

#include "base/arena.h"
#include "base/status.h"

/* NULL: a glob that is valid in a scope. Otherwise the error: it is empty, absolute or leaves the
 * workspace, has an empty segment, a segment "." or a NUL, or begins with "~". */
const char *pl_ext_glob_refusal(struct pl_str glob);

/* `*` is any text in one segment, `?` one character of it, and a segment `**` any number of
 * segments, also none. Other characters match themselves. The path must be clean. */
bool pl_ext_glob_match(struct pl_str glob, struct pl_str path);

/* Whether `outer` matches every path that `inner` matches. Never true in error; false if this is
 * hard to decide. */
bool pl_ext_glob_covers(struct pl_str outer, struct pl_str inner);

/* The path from the workspace root without "." and empty segments; the root itself is "". Allocated
 * in the arena. PL_INVALID: absolute, a segment "..", a NUL. PL_NOMEM. */
enum pl_status pl_ext_path_clean(struct pl_arena *arena, struct pl_str path,
                                 struct pl_str *ret_path);

/* Whether no extension may write this clean path, whether it exists or not. */
bool pl_ext_path_is_protected(struct pl_str path);

#endif
