/* The metadata of a message (seed 001, A.6) between harmony, which has all of it in one object, and
 * turns (seed 003), which have a model, a usage and a timing beside it.
 *
 *     metadata                               turn
 *     token_usage.prompt_tokens              usage.input_tokens
 *     token_usage.completion_tokens          usage.output_tokens
 *     token_usage.total_cost_usd             timing.cost_usd
 *     latency_ms.ttft, .total_time           timing.ttft_ms, .total_ms
 *     model_version                          model
 *
 * Other counters have one name in both. A turn's own metadata has the rest, and may repeat
 * these. */
#ifndef PL_FORMAT_PIECES_METADATA_H
#define PL_FORMAT_PIECES_METADATA_H

#include "format/pieces/citation.h"
#include "format/writer.h"

struct pl_format;

/* Whether a turn has any members for a metadata object. */
bool pl_metadata_is_in_turn(struct pl_conv *conv, const struct pl_json_node *turn);
/* Writes key and object from the members of a turn. */
void pl_metadata_write_turn(struct pl_writer *w, const struct pl_json_node *turn);

/* Writes the members model, usage, duration_ms, context_window and timing of a turn from a metadata
 * object (it may be absent). */
void pl_metadata_write_members(struct pl_writer *w, struct pl_val metadata);

/* Writes key and object: the metadata of a vendor's answer, and its citations. Model and usage are
 * written here even if the target also has them beside the metadata. */
void pl_metadata_write_answer(struct pl_writer *w, const struct pl_format *from,
                              const struct pl_cites_list *cites, const struct pl_message *message,
                              bool says_again);
/* The same for a message that is not an answer: its own metadata, then its citations or its
 * context_block (A.4). Writes nothing if it has neither. */
void pl_metadata_write_message(struct pl_writer *w, const struct pl_cites_list *cites,
                               const struct pl_message *message);

#endif
