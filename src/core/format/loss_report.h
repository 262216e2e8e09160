/* The loss report: {"from":F,"to":G,"losses":[{"code","pointer","detail"}],"lossless":bool}. */
#ifndef PL_FORMAT_LOSS_REPORT_H
#define PL_FORMAT_LOSS_REPORT_H

#include "base/buf.h"
#include "conv/conv.h"

/* No loss that --strict refuses: dropped, approximated, reordered, merged. */
bool pl_loss_report_is_lossless(const struct pl_conv *conv);

/* Appends the report, losses in source order. `conv` may be NULL: nothing was lost. */
enum pl_status pl_loss_report_write(struct pl_buf *to, const char *from, const char *to_format,
                                    const struct pl_conv *conv);

const char *pl_loss_name(enum pl_loss_code code);

#endif
