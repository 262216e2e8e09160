/* Media as words, for a target that has no place for pictures, sound and files. */
#ifndef PL_CONV_SAY_LINKS_H
#define PL_CONV_SAY_LINKS_H

#include "conv/conv.h"

/* Every picture, sound, film and file that is behind a link becomes a text with that link, as
 * Markdown has it: "![name](link)" for a picture, "[name](link)" for the others. Reported as
 * approximated. What has no link, or one that Markdown cannot hold, stays as it is. PL_NOMEM is the
 * only failure. */
enum pl_status pl_conv_say_links(struct pl_conv *conv);

#endif
