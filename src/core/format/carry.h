/* The carry: what a target has no place for, kept beside it so that the source can be made again.
 *
 * It is the source's own text with holes. Where the output says a piece of the source, the carry
 * has a reference to the value that says it and how (spell.h) instead of the piece; so it holds
 * only what the target lacks, and the source comes back byte for byte. The text is kept element by
 * element (message, turn, item), each with the elements of the target it refers to: a message that
 * somebody appended, changed or removed in the target is appended, changed or removed in the
 * source.
 *
 *     {"parley_carry":1, "from":F, "to":G,
 *      "elements":["a0…", …],                      what the target's elements looked like
 *      "head":[P, …], "items":[{"text":[P, …],"gap":"…"}, …], "tail":[P, …]}
 *
 * A piece P is a string (bytes of the source) or a value of the target,
 *
 *     [element or -1, pointer, spelling]
 *     [element, pointer, spelling, quirks]          a string spelled in its own way (quirk.h)
 *     [element, pointer, spelling, look, layout]    a value laid out in its own way (layout.h)
 *     [element, pointer, "g", joint]                a part of a string (joint.h), maybe with quirks
 */
#ifndef PL_FORMAT_CARRY_H
#define PL_FORMAT_CARRY_H

#include "format/format.h"

/* Appends the carry of a conversion that is done; the writer has watched the target's list.
 * `source` is the text as it was given. */
enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              const struct pl_format_task *task);

/* Makes the source again from `target` (which may have been edited) and its carry; task->from is
 * the target's format, task->to the source's. PL_INVALID when the carry belongs to other formats.
 */
enum pl_status pl_carry_apply(struct pl_buf *to, struct pl_arena *arena, struct pl_str carry,
                              const struct pl_json_doc *target, const struct pl_format_task *task,
                              struct pl_error *err);

/* The array of a document's elements: the root, or the format's list member; NULL without one. */
const struct pl_json_node *pl_carry_list(const struct pl_json_doc *doc,
                                         const struct pl_format *format);

#endif
