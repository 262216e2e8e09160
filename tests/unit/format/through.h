/* For the tests of formats: one conversion and its report. */
#ifndef PL_TESTS_UNIT_FORMAT_THROUGH_H
#define PL_TESTS_UNIT_FORMAT_THROUGH_H

#include "format/convert.h"

/* A conversion that must succeed, or the test fails. Free with pl_converted_deinit. */
struct pl_converted pl_test_convert(const char *from, const char *to, enum pl_format_kind kind,
                                    enum pl_mode mode, const char *text);
/* … with a way home. */
struct pl_converted pl_test_convert_by(const struct pl_way_home *way_home, const char *from,
                                       const char *to, enum pl_format_kind kind, enum pl_mode mode,
                                       const char *text);

/* Whether the report has a loss with that code at that pointer. */
bool pl_test_has_loss(const struct pl_converted *c, const char *code, const char *pointer);

#endif
