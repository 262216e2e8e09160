#ifndef PL_FORMAT_ENVELOPE_INT_H
#define PL_FORMAT_ENVELOPE_INT_H

#include "conv/lint/lint.h"
#include "format/format.h"

enum pl_status pl_envelope_read(struct pl_conv *conv, enum pl_format_kind kind,
                                struct pl_error *err);
enum pl_status pl_envelope_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                 struct pl_error *err);
/* Problems that only envelopes have: segments in messages of the wrong role, wrong counts. */
void pl_envelope_lint(struct pl_conv *conv, struct pl_findings *findings);

/* Whether a charCount is the length of a text, in code points or, from other writers, UTF-16 units;
 * ret_n_points may be NULL. */
bool pl_envelope_count_fits(const struct pl_conv *conv, const struct pl_json_node *count,
                            const struct pl_json_node *content, int64_t *ret_n_points);

#endif
