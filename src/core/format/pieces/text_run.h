/* Several texts for a target with one string. */
#ifndef PL_FORMAT_TEXT_RUN_H
#define PL_FORMAT_TEXT_RUN_H

#include "format/writer.h"

/* Whether a part has text that is part of the message itself: text, refusals, documents of plain
 * text. */
bool pl_text_run_has(const struct pl_part *part);

/* Writes the texts of `parts` as one JSON string. One text is copied with its spelling; several are
 * joined with `glue` and reported as merged; no text gives "". A refusal or a document becomes
 * plain text and is reported. Other kinds are left alone. */
void pl_text_run_write(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts,
                       const char *glue);
/* The parts of a result as a list, in the arena; NULL when out of memory (conv->status). */
const struct pl_part **pl_text_run_children(struct pl_writer *w, const struct pl_part *result);
/* Writes the content of a result in the same way. */
void pl_text_run_write_result(struct pl_writer *w, const struct pl_part *result, const char *glue);

#endif
