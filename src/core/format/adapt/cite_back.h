/* Converts citations of seed 001, A.4 back to a vendor's. If the target has a shape for an anchor's
 * entry, the anchor is removed from the text and becomes one of the vendor's own citations.
 *
 *     anthropic          entries that came from there: `origin` has its own members
 *     openai-responses   any entry with an address, and those that came from OpenAI
 *
 * Every other anchor stays in the text as the seed writes it. Its entry is reported with the
 * metadata. */
#ifndef PL_FORMAT_CITE_BACK_H
#define PL_FORMAT_CITE_BACK_H

#include "format/format.h"

/* Call between reading and repairing. Running out of memory is in conv->status. */
void pl_cite_back(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif
