/* The two halves of anthropic's streams: anthropic.c writes, read.c and blocks.c read. */
#ifndef PL_STREAM_ANTHROPIC_INT_H
#define PL_STREAM_ANTHROPIC_INT_H

#include "stream/stream.h"
#include "stream/tree.h"

/* The input in the start of a tool_use: it counts only if no pieces of input follow. */
struct pl_anthropic_input {
    uint32_t index;
    struct pl_buf raw; /* owned; as the contents of a JSON string */
};

/* A block type that only anthropic has, until the block ends. */
struct pl_anthropic_own {
    uint32_t index;
    struct pl_buf block; /* owned; its JSON in content_block_start */
    struct pl_buf input; /* owned; raw; pieces of its input since then */
};

/* An open block of any type. */
struct pl_anthropic_block {
    uint32_t index;
    bool is_own; /* of a type that only anthropic has */
    bool is_call;
};

struct pl_anthropic_reader {
    PL_VEC(struct pl_anthropic_block) blocks; /* the open ones */
    uint64_t n_begun;                         /* one more than the highest index so far */
    PL_VEC(struct pl_anthropic_input) inputs; /* of open blocks */
    PL_VEC(struct pl_anthropic_own) owns;
    struct pl_buf citations; /* of the open text block: they are emitted after it */
    PL_VEC(size_t) citation_lens;
    struct pl_counts counts; /* as anthropic counts: input without the cache */
    bool has_counts;
    uint64_t id;    /* hash of the message's id; 0: no message yet */
    bool has_delta; /* a message_delta came */
};

/* The event being read, and the stream that gets its deltas. */
struct pl_anthropic_in {
    struct pl_stream *s;
    struct pl_anthropic_reader *r;
    struct pl_json_doc doc;
    struct pl_error *err;
};

enum pl_status pl_anthropic_stream_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err);
/* Blocks (blocks.c). A block begins once, and its other events come while it is open: PL_INVALID
 * otherwise, unless the stream is passed through. */
enum pl_status pl_anthropic_block_start(struct pl_anthropic_in *in, uint32_t index,
                                        const struct pl_json_node *block);
enum pl_status pl_anthropic_block_delta(struct pl_anthropic_in *in, uint32_t index,
                                        const struct pl_json_node *delta);
enum pl_status pl_anthropic_block_stop(struct pl_anthropic_in *in, uint32_t index);
/* The answer has ended, and so have its blocks. */
void pl_anthropic_blocks_end(struct pl_anthropic_in *in);
void pl_anthropic_blocks_deinit(struct pl_anthropic_reader *r);

/* Blocks that only anthropic has (own.c). The last two functions return false if no such block is
 * open under the index. */
void pl_anthropic_own_start(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index,
                            struct pl_str block);
bool pl_anthropic_own_add(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index,
                          struct pl_str partial_json);
bool pl_anthropic_own_stop(struct pl_stream *s, struct pl_anthropic_reader *r, uint32_t index);
void pl_anthropic_own_deinit(struct pl_anthropic_reader *r);
void pl_anthropic_stream_release(struct pl_stream *s, void *state);
bool pl_anthropic_stream_say_again(struct pl_stream *s, void *state);
void pl_anthropic_stream_read_deinit(void *state);

/* Blocks come one after the other; a few may be open at once. Each event searches them. */
enum { PL_ANTHROPIC_MAX_OPEN = 256 };

/* Adding up (sum.c). */

struct pl_anthropic_sum_block {
    int64_t index;
    struct pl_tree *tree, *input; /* of the sum */
};

struct pl_anthropic_sum {
    struct pl_anthropic_sum_block open[PL_ANTHROPIC_MAX_OPEN];
    size_t n_open;
};

#endif
