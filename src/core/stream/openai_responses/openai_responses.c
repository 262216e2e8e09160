/* The events of OpenAI's Responses: an answer is a list of items, a message a list of contents.
 *
 *     response.created, response.in_progress
 *     output_item.added {output_index, item}
 *         content_part.added {item_id, output_index, content_index, part}
 *             output_text.delta …, output_text.annotation.added …, output_text.done
 *         content_part.done
 *     output_item.done                      calls and reasoning likewise
 *     response.completed | incomplete | failed {response: everything again}
 *
 * Every event has its name twice and a sequence_number from 0. */
#include "stream/openai_responses/openai_responses_int.h"

#include "format/format.h"
#include "stream/sum.h"

const struct pl_dialect pl_dialect_openai_responses = {
    .name = "openai-responses",
    .reader_size = sizeof(struct pl_responses_reader),
    .writer_size = sizeof(struct pl_responses_writer),
    .read = pl_responses_stream_read,
    .say_again = pl_responses_stream_say_again,
    .release = pl_responses_slots_release,
    .read_deinit = pl_responses_stream_read_deinit,
    .sum_size = sizeof(struct pl_responses_sum),
    .sum = pl_responses_sum,
    .sum_end = pl_responses_sum_end,
    .format = &pl_format_openai_responses,
    .has_logprobs = true,
    .write = pl_responses_stream_writes,
    .write_deinit = pl_responses_stream_write_deinit,
};
