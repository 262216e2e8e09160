/* Internals of openai-chat's streams: openai_chat.c writes, read.c reads chunks, calls.c reads the
 * tool calls in them, proofs.c reasoning_details. */
#ifndef PL_STREAM_OPENAI_CHAT_INT_H
#define PL_STREAM_OPENAI_CHAT_INT_H

#include "stream/stream.h"

/* A tool call that has not ended: chunks do not mark when a call is complete. */
struct pl_chat_open_call {
    uint32_t choice, key;
    int64_t index; /* the source's own; -1: none */
    uint64_t id;   /* hash of the source's id; 0: none */
    uint64_t name; /* hash; 0: none yet */
    uint64_t args; /* hash of all arguments so far, raw */
    bool is_custom;
    /* Scanner state of the arguments: for JSON text, whether its end was reached. */
    bool has_args, is_in_string, is_escaped;
    int64_t depth;
    /* A call without a name is not open in the stream: its arguments wait here. */
    bool is_nameless;
    struct pl_buf words, call_id; /* owned */
};

/* Content that came while a call was incomplete. */
struct pl_chat_run {
    uint32_t choice;
    enum pl_part_kind kind;
    size_t len; /* bytes of `held` */
};

/* A proof that waits for its call. */
struct pl_chat_proof {
    uint64_t id; /* hash of the call's id */
    struct pl_buf data;
};

struct pl_chat_reader {
    PL_VEC(struct pl_chat_open_call) calls;
    uint32_t n_calls; /* so far: key of the next one */
    uint64_t closed;  /* bit i: a call with index i has ended */
    PL_VEC(struct pl_chat_run) runs;
    struct pl_buf held;
    /* Annotations of the first answer that came before their text: a JSON array without its
     * brackets. */
    struct pl_buf early;
    PL_VEC(struct pl_chat_proof) proofs;
    bool has_thought;
    int64_t thought; /* index of the latest thought in reasoning_details */
};

/* Parts other than calls are found by their kind. */
#define PL_CHAT_KEY_OF(kind) (UINT32_MAX - (uint32_t)(kind))

/* The event being read, and the stream that gets its deltas. */
struct pl_chat_in {
    struct pl_stream *s;
    struct pl_chat_reader *r;
    struct pl_json_doc doc;
    uint32_t choice;
    struct pl_str logprobs; /* of the text in this event, until it is emitted; a JSON list */
    struct pl_str model;
    struct pl_error *err;
};

/* Emits text of a part other than a call; it waits for incomplete calls. For kind OTHER, `raw` is
 * the JSON of an image. */
void pl_chat_say(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw);
/* The same without waiting: no call is open. */
void pl_chat_say_now(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw);

/* Text of a thought follows, which these entries repeat: another thought ends the one before. */
void pl_chat_begin_thought(struct pl_chat_in *in, const struct pl_json_node *details);
/* Takes the entries of reasoning_details; is_said: their texts were emitted already. */
void pl_chat_take_details(struct pl_chat_in *in, const struct pl_json_node *details, bool is_said);
/* Signs a call that was just opened, if its proof came before. */
void pl_chat_sign_call(struct pl_chat_in *in, const struct pl_chat_open_call *call);
void pl_chat_drop_proofs(struct pl_chat_reader *r);

/* Emits the annotations that waited for the text, which has begun. */
void pl_chat_say_early(struct pl_chat_in *in);

/* Closes complete calls, since something else begins; at the end, closes all calls. */
void pl_chat_settle(struct pl_chat_in *in, bool is_end);

/* The answer has ended: PL_INVALID when a call has arguments but never got a name, or when they are
 * incomplete although no finish_reason says that the model had ended. */
enum pl_status pl_chat_check_calls(const struct pl_chat_in *in);
void pl_chat_deinit_call(struct pl_chat_open_call *call);

/* The answer breaks off: closes complete calls and emits what waited for the others. */
void pl_chat_release(struct pl_stream *s, void *state);

/* Take the entries of tool_calls, and the legacy function_call (each may be NULL). */
enum pl_status pl_chat_take_calls(struct pl_chat_in *in, const struct pl_json_node *calls);
enum pl_status pl_chat_take_function_call(struct pl_chat_in *in, const struct pl_json_node *call);
/* Takes arguments in an event like the remembered one. False if they belong to another call. */
bool pl_chat_take_args_again(struct pl_chat_in *in);

enum pl_status pl_chat_read(struct pl_stream *s, void *state, const struct pl_sse_event *event,
                            struct pl_error *err);
bool pl_chat_say_again(struct pl_stream *s, void *state);
void pl_chat_read_end(struct pl_stream *s, void *state);
void pl_chat_read_deinit(void *state);

#endif
