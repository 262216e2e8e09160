#ifndef PL_FORMAT_TURNS_INT_H
#define PL_FORMAT_TURNS_INT_H

#include "format/format.h"
#include "format/pieces/content.h"

enum pl_status pl_turns_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err);
enum pl_status pl_turns_write(struct pl_writer *w, const struct pl_format_task *task,
                              struct pl_error *err);

/* --- media.c: the block `media`, {kind, blob|url|data, mime, name, …} */

/* Adds the part that a media block shows. */
void pl_turns_read_media(struct pl_conv *conv, const struct pl_json_node *block,
                         pl_part_adder *add);
bool pl_turns_has_media(const struct pl_part *part);
/* Writes a part that has media as a block. */
void pl_turns_write_media(struct pl_writer *w, const struct pl_part *part);

/* --- what stands for the result of a call that has none: an error when it was cancelled, `halted` (seed
 * 001) while it waits for a person, "null" when it is done. None for one nobody has run. */
struct pl_val pl_turns_open_call(struct pl_conv *conv, const struct pl_json_node *turn,
                                 const struct pl_json_node *call);
/* The same for a call of a session that only a block shows: nothing runs it, so none will come. */
struct pl_val pl_turns_shown_call(struct pl_conv *conv, const struct pl_json_node *block);

/* What a result says, as children of the result that was added last. */
void pl_turns_read_result(struct pl_conv *conv, const struct pl_json_node *result);

#endif
