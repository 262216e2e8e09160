/* A format into itself after a repair: only the bytes of the repairs change. */
#ifndef PL_FORMAT_MEND_H
#define PL_FORMAT_MEND_H

#include "format/format.h"

/* Appends the source. Everything that the repair did not touch keeps its bytes: elements whose
 * messages are not marked as changed, and members of the root without a loss. The others come from
 * the writer (`fresh` is its whole output, parsed). The writer has kept PL_LINKS_ALL. The first
 * n_losses of w->conv are the repair's; of the writer's own only those about added fields stay in
 * the report. The others are discarded; pl_conv_sweep then reports what nobody kept. */
enum pl_status pl_mend_write(struct pl_buf *to, struct pl_writer *w, struct pl_str source,
                             const struct pl_json_doc *fresh, const struct pl_format *format,
                             size_t n_losses);

#endif
