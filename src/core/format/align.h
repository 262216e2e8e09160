/* Which elements of an edited list are which of the list as it was. */
#ifndef PL_FORMAT_ALIGN_H
#define PL_FORMAT_ALIGN_H

#include "base/status.h"

#include <stdint.h>

#define PL_ALIGN_GONE UINT32_MAX

/* For each of n_old elements (by their looks) the place of its successor among n_new, or
 * PL_ALIGN_GONE. Places increase. Elements that look the same are matched first (longest common
 * subsequence); between two matches, what is left over on both sides is paired in order: changed.
 */
enum pl_status pl_align(const uint64_t *old_looks, uint32_t n_old, const uint64_t *new_looks,
                        uint32_t n_new, uint32_t *ret_places);

#endif
