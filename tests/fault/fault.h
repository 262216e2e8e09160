/* Fails the Nth allocation of a scenario, N = 1, 2, 3 …, until the scenario passes untouched.
 *
 *     static enum pl_status copies_a_document(void *ctx)
 *     {
 *         PL_CLEANUP_BUF struct pl_buf buf;
 *         pl_buf_init(&buf, 0);
 *         pl_buf_add(&buf, *(struct pl_str *)ctx);
 *         return buf.status;
 *     }
 *     …
 *     pl_fault_each(copies_a_document, &text);
 *
 * A scenario does everything from nothing, frees all it took on every way out, and returns the
 * status of the call under test. Where that call has outputs, the scenario asserts that a failure
 * left them as they were.
 *
 * Every N is tried twice: only the Nth allocation fails (does the caller stop, or go on with half a
 * result?), and the Nth and all later ones fail (does cleaning up need memory?). Growing a block
 * counts as an allocation. After each run the test fails, naming N, when
 *   - an allocation was refused but the status is not PL_NOMEM,
 *   - no allocation was refused but the status is not what an untouched run gives,
 *   - a block is still allocated, or a block was freed that had not been taken.
 *
 * For cmocka tests only: a failure ends the running test. */
#ifndef PL_TESTS_FAULT_H
#define PL_TESTS_FAULT_H

#include "base/status.h"

#include <stddef.h>

typedef enum pl_status pl_fault_fn(void *ctx);

/* The unchanged run must return PL_OK. Returns the number of N that were tried, so that a test can
 * assert that there was something to fail: assert_true(pl_fault_each(…) > 0). */
size_t pl_fault_each(pl_fault_fn *scenario, void *ctx);

/* The same for a scenario whose unchanged run returns `expected`, for example an error. */
size_t pl_fault_each_expecting(pl_fault_fn *scenario, void *ctx, enum pl_status expected);

/* The same for a scenario that can do without some of its memory (a cache, a compiled fast path): a
 * run with a refused allocation returns PL_NOMEM or the status of the unchanged run. */
size_t pl_fault_each_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected);

/* The same, but with about `most` places of each part, evenly spread: for a scenario of thousands
 * of allocations, whose time grows with their square. pl_fault_is_prepared() splits a scenario into
 * two parts. PARLEY_FAULT_MOST in the environment replaces `most` (`make soak`). */
size_t pl_fault_some_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                              size_t most);
/* The same with a number for each part. 0 before: another test covers those places. */
size_t pl_fault_some_parts(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                           size_t most_before, size_t most_after);
/* Called inside a scenario after its preparation (for example opening a store), before the part
 * that the test is about. */
void pl_fault_is_prepared(void);

#endif
