/* Patches: the growth of a turn (seed 003, PatchEnvelope; sessions.md), one JSON object per line.
 *
 *     set_status streaming, ( add_content* | add_tool_call )*, set_status completed | failed
 *
 * A turn has text, thinking and calls; signatures, citations and further choices have no place in
 * it. The status has three more members, which a reader may ignore: the model at the start and
 * usage at the end, both named as in a TurnProjection, and the finish_reason of an answer that did
 * not end by itself. */
#include "stream/patches/patches_int.h"

#include "format/format.h"
#include "stream/sum.h"

void pl_patch_call_init(struct pl_patch_call *call)
{
    *call = (struct pl_patch_call){0};
    pl_buf_init(&call->id, 0);
    pl_buf_init(&call->name, 0);
    pl_buf_init(&call->args, 0);
}

void pl_patch_call_deinit(struct pl_patch_call *call)
{
    pl_buf_deinit(&call->id);
    pl_buf_deinit(&call->name);
    pl_buf_deinit(&call->args);
}

const struct pl_dialect pl_dialect_patches = {
    .name = "patches",
    .reads_json_framing = true,
    .reader_size = sizeof(struct pl_patches_reader),
    .writer_size = sizeof(struct pl_patches_writer),
    .read = pl_patches_stream_read,
    .say_again = pl_patches_stream_say_again,
    .read_end = pl_patches_stream_read_end,
    .release = pl_patches_stream_release,
    .read_deinit = pl_patches_stream_read_deinit,
    .sum = pl_patches_sum,
    .format = &pl_format_turns,
    .write = pl_patches_stream_writes,
    .write_first = pl_patches_stream_write_first,
    .write_deinit = pl_patches_stream_write_deinit,
};
