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

/* The untouched run must return PL_OK. Returns how many N were tried, so that a test can say that
 * there was something to fail: assert_true(pl_fault_each(…) > 0). */
size_t pl_fault_each(pl_fault_fn *scenario, void *ctx);

/* The same for a scenario whose untouched run ends in `expected`, an error for instance. */
size_t pl_fault_each_expecting(pl_fault_fn *scenario, void *ctx, enum pl_status expected);

/* The same for a scenario that may do without some of its memory (a cache, a compiled fast path):
 * a run with a refused allocation reports PL_NOMEM or what the untouched run reports. */
size_t pl_fault_each_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected);

/* The same, but about `most` places of each part, evenly spread: for a scenario of thousands of allocations,
 * whose time grows with their square. A scenario has two parts where it calls pl_fault_is_prepared(). With
 * PARLEY_FAULT_MOST in the environment there are so many (`make soak`). */
size_t pl_fault_some_tolerant(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                              size_t most);
/* The same with a number for each part. 0 before: another test has failed those places. */
size_t pl_fault_some_parts(pl_fault_fn *scenario, void *ctx, enum pl_status expected,
                           size_t most_before, size_t most_after);
/* Inside a scenario: what was needed first (a store that is open) is there, and what the test is about
 * begins. */
void pl_fault_is_prepared(void);

#endif
