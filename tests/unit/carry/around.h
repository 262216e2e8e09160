/* For the tests of formats and carries: a conversion that keeps a carry, and one there and back. */
#ifndef PL_TESTS_UNIT_CARRY_AROUND_H
#define PL_TESTS_UNIT_CARRY_AROUND_H

#include "unit/format/through.h"

/* Like pl_test_convert, with a carry. */
struct pl_converted pl_test_convert_kept(const char *from, const char *to, enum pl_format_kind kind,
                                         enum pl_mode mode, const char *text);

/* Converts there and back with the carry; fails the test unless the bytes are the same. */
void pl_test_round_trip(const char *from, const char *to, const char *text);

#endif
