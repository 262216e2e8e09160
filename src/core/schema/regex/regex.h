/* Regular expressions of ECMA-262 (u flag), as JSON Schema requires, run by PCRE2 with limits. */
#ifndef PL_SCHEMA_REGEX_H
#define PL_SCHEMA_REGEX_H

#include "base/status.h"
#include "base/str.h"

struct pl_regex; /* immutable, shared by threads */

/* Scratch memory of one thread, for any pl_regex. */
struct pl_regex_scratch;

/* PL_SYNTAX with a message and the offset in the pattern if it is not a regular expression;
 * PL_LIMIT if it is too large (8 KiB) or the engine cannot run it, such as a lookbehind of varying
 * length; PL_NOMEM. */
enum pl_status pl_regex_compile(struct pl_str pattern, struct pl_regex **ret_regex,
                                struct pl_error *err);
void pl_regex_destroy(struct pl_regex *regex);

enum pl_status pl_regex_scratch_create(struct pl_regex_scratch **ret_scratch);
void pl_regex_scratch_destroy(struct pl_regex_scratch *scratch);

/* Unanchored search in valid UTF-8. PL_OK: found; PL_NOT_FOUND; PL_LIMIT: gave up; PL_NOMEM. */
enum pl_status pl_regex_search(const struct pl_regex *regex, struct pl_regex_scratch *scratch,
                               struct pl_str text);

#endif
