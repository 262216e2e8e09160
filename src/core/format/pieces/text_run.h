/* Several texts where the target has one string. */
#ifndef PL_FORMAT_TEXT_RUN_H
#define PL_FORMAT_TEXT_RUN_H

#include "format/writer.h"

/* Whether a part has words a model reads as the message itself: text, refusals,
 * documents of plain text. */
bool pl_text_run_has(const struct pl_part *part);

/* Writes a JSON string that says the words of `parts`. One text is copied as it is spelled; several
 * are put together with `glue` between them and reported as merged; none is "". A refusal or a
 * document is said as plain words and reported. Parts of other kinds are left alone. */
void pl_text_run_write(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts,
                       const char *glue);
/* The parts of a result as a list. Arena memory; NULL when there is none left, which is in conv->status. */
const struct pl_part **pl_text_run_children(struct pl_writer *w, const struct pl_part *result);
/* Writes the content of a result in the same way. */
void pl_text_run_write_result(struct pl_writer *w, const struct pl_part *result, const char *glue);

#endif
