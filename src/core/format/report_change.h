/* Changes a written loss report (loss_report.h) after the conversion. */
#ifndef PL_FORMAT_REPORT_CHANGE_H
#define PL_FORMAT_REPORT_CHANGE_H

#include "base/buf.h"
#include "conv/conv.h"

struct pl_report_change {
    struct pl_str
        kept; /* a pointer to a value that was kept after all and is no loss; empty: none */
    struct pl_loss_note {
        enum pl_loss_code code;
        struct pl_str pointer, detail;
    } const *added; /* borrowed */
    size_t n_added;
};

/* Writes the changed report, with `lossless` updated. PL_SYNTAX: not a report; PL_NOMEM. */
enum pl_status pl_report_change(struct pl_buf *report, const struct pl_report_change *change);

#endif
