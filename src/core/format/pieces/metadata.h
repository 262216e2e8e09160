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
 * Other counters have one name in both. A turn's own metadata says the rest, and may say the same
 * again. */
#ifndef PL_FORMAT_PIECES_METADATA_H
#define PL_FORMAT_PIECES_METADATA_H

#include "format/pieces/citation.h"
#include "format/writer.h"

struct pl_format;

/* Whether a turn says anything that has a place in a metadata object. */
bool pl_metadata_is_in_turn(struct pl_conv *conv, const struct pl_json_node *turn);
/* Key and object: what a turn says. */
void pl_metadata_write_turn(struct pl_writer *w, const struct pl_json_node *turn);

/* The members model, usage, duration_ms, context_window and timing of a turn, as a metadata object
 * says them (it may be absent). */
void pl_metadata_write_members(struct pl_writer *w, struct pl_val metadata);

/* Key and object: what a vendor's answer says about itself, and what its words cite. Where the
 * target says model and usage beside it, too, they are said here again. */
void pl_metadata_write_answer(struct pl_writer *w, const struct pl_format *from,
                              const struct pl_cites_list *cites, const struct pl_message *message,
                              bool says_again);
/* The same of a message that is no answer: its own metadata, and behind that what it cites, or what
 * its context_block (A.4) says of that. Nothing where there is neither. */
void pl_metadata_write_message(struct pl_writer *w, const struct pl_cites_list *cites,
                               const struct pl_message *message);

#endif
