/* The two halves of the patches dialect: read.c and write.c. */
#ifndef PL_STREAM_PATCHES_INT_H
#define PL_STREAM_PATCHES_INT_H

#include "base/map.h"
#include "stream/stream.h"

/* A call that is not final yet. When reading: until something else comes, since a call may be
 * repeated with more arguments. When writing: until it is complete. Strings are raw. */
struct pl_patch_call {
    uint32_t part;                /* when writing */
    bool is_custom;               /* when writing: the arguments are free text */
    struct pl_buf id, name, args; /* owned */
};

void pl_patch_call_init(struct pl_patch_call *call);
void pl_patch_call_deinit(struct pl_patch_call *call);

struct pl_patches_writer {
    uint64_t sequence;
    /* The open block: its kind and whole text so far. Consecutive parts of a kind are one block,
     * since patches cannot separate them. */
    const char *block; /* "text", "thinking" or NULL */
    struct pl_buf content;
    size_t n_said; /* length of the `content` last written */
    PL_VEC(struct pl_patch_call) calls;
    uint32_t n_calls;
    struct pl_counts counts;
    bool has_usage;
};

extern pl_delta_writer *const pl_patches_stream_writes[PL_DELTA_COUNT];
pl_delta_writer pl_patches_stream_write_first;
void pl_patches_stream_write_deinit(void *state);

struct pl_patches_reader {
    bool is_ready, has_turn;
    int64_t sequence;                   /* of the last patch */
    struct pl_buf session_id;           /* these three are from the first patch: */
    struct pl_buf turn_id, loop_id;     /* patches with other ids are ignored */
    enum pl_part_kind block;            /* TEXT or THINKING; OTHER: no block is open */
    struct pl_buf content;              /* its text so far */
    PL_VEC(struct pl_patch_call) calls; /* waiting */
    struct pl_map ids;                  /* of all calls; keys in `arena` */
    struct pl_arena arena;
    uint32_t n_calls;
    bool ends_in_call; /* the last part was a call */
    bool is_paused;
};

enum pl_status pl_patches_stream_read(struct pl_stream *s, void *state,
                                      const struct pl_sse_event *event, struct pl_error *err);
bool pl_patches_stream_say_again(struct pl_stream *s, void *state);
void pl_patches_stream_release(struct pl_stream *s, void *state);
void pl_patches_stream_read_end(struct pl_stream *s, void *state);
void pl_patches_stream_read_deinit(void *state);

#endif
