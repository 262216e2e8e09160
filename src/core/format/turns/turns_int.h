#ifndef PL_FORMAT_TURNS_INT_H
#define PL_FORMAT_TURNS_INT_H

#include "format/format.h"
#include "format/pieces/content.h"

enum pl_status pl_turns_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err);
enum pl_status pl_turns_write(struct pl_writer *w, const struct pl_conversion *conversion,
                              struct pl_error *err);

/* --- media.c: the block `media`, {kind, blob|url|data, mime, name, …} */

/* Adds the part of a media block. */
void pl_turns_read_media(struct pl_conv *conv, const struct pl_json_node *block,
                         pl_part_adder *add);
bool pl_turns_has_media(const struct pl_part *part);
/* Writes a part that has media as a block. */
void pl_turns_write_media(struct pl_writer *w, const struct pl_part *part);

/* --- open_calls.c: results for calls that have none */

/* The result by the call's status: an error if it was cancelled, `halted` (seed 001) if it waits
 * for a person, `pending` if it still runs in a paused turn, "null" if it ended. NONE for any other
 * call: nobody has run it. */
struct pl_val pl_turns_open_call(struct pl_conv *conv, const struct pl_json_node *turn,
                                 const struct pl_json_node *call);
/* The result of a session's call that only a block shows: an error, since nothing runs the call. */
struct pl_val pl_turns_shown_call(struct pl_conv *conv, const struct pl_json_node *block);

/* Reads a result into children of the result that was added last. */
void pl_turns_read_result(struct pl_conv *conv, const struct pl_json_node *result);

#endif
