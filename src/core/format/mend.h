/* A format into itself after a repair: only the bytes of the repairs change. */
#ifndef PL_FORMAT_MEND_H
#define PL_FORMAT_MEND_H

#include "format/format.h"

/* Appends the source with everything that the repair did not touch as it was: elements whose
 * messages are not marked as changed, and members of the root that no loss speaks of. The others
 * are as the writer wrote them (`fresh` is its whole output, parsed). The writer has kept
 * PL_LINKS_ALL. The first n_losses of w->conv are the repair's; of the writer's own only the fields
 * it had to add stay in the report. */
enum pl_status pl_mend_write(struct pl_buf *to, struct pl_writer *w, struct pl_str source,
                             const struct pl_json_doc *fresh, const struct pl_format *format,
                             size_t n_losses);

#endif
