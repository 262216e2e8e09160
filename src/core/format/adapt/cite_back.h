/* Citations on the way back from seed 001, A.4 to a vendor. Where the target has a shape for an
 * anchor's entry, the anchor leaves the text and becomes one of the vendor's own citations.
 *
 *     anthropic          entries that came from there: `origin` has what only it knows
 *     openai-responses   any entry with an address, and those that came from OpenAI
 *
 * Every other anchor stays in the text as the seed writes it. Its entry is reported with the
 * metadata. */
#ifndef PL_FORMAT_CITE_BACK_H
#define PL_FORMAT_CITE_BACK_H

#include "format/format.h"

/* Between reading and repairing. Out of memory is in conv->status. */
void pl_cite_back(struct pl_conv *conv, const struct pl_format_task *task);

#endif
