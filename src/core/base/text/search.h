/* Finds a word in a long text. */
#ifndef PL_BASE_TEXT_SEARCH_H
#define PL_BASE_TEXT_SEARCH_H

#include "base/cpu.h"
#include "base/str.h"

/* The first occurrence of `part` (not empty) in s; SIZE_MAX if not found. Many times faster than
 * pl_str_find() if the first byte of the part is a common one. */
size_t pl_str_search(struct pl_str s, struct pl_str part);
/* The same with one of the instruction sets, for tests. */
size_t pl_str_search_with(enum pl_cpu cpu, struct pl_str s, struct pl_str part);

#endif
