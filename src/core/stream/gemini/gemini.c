/* Google's streamGenerateContent.
 *
 * Every event is a response object of its own. Parts are deltas: consecutive texts belong together,
 * a call comes whole. Counters are snapshots. There is no end event; a finishReason (or a blocked
 * prompt) means that the answer is complete. Without `alt=sse` the same objects come as the
 * elements of one JSON array. */
#include "stream/gemini/gemini_int.h"

#include "format/format.h"
#include "stream/sum.h"

const struct pl_dialect pl_dialect_gemini = {
    .name = "gemini",
    .reads_json_framing = true,
    .reader_size = sizeof(struct pl_gemini_reader),
    .writer_size = sizeof(struct pl_gemini_writer),
    .read = pl_gemini_stream_read,
    .say_again = pl_gemini_stream_say_again,
    .read_end = pl_gemini_stream_read_end,
    .release = pl_gemini_stream_release,
    .read_deinit = pl_gemini_stream_read_deinit,
    .sum_size = sizeof(struct pl_gemini_sum),
    .sum = pl_gemini_sum,
    .sum_end = pl_gemini_sum_end,
    .sum_deinit = pl_gemini_sum_deinit,
    .format = &pl_format_gemini,
    .write = pl_gemini_stream_writes,
    .write_first = pl_gemini_stream_write_first,
    .has_choices = true,
    .write_deinit = pl_gemini_stream_write_deinit,
};
