/* The pieces of openai-chat's streams: openai_chat.c writes, read.c reads chunks and
 * calls.c the tool calls in them. */
#ifndef PL_STREAM_OPENAI_CHAT_INT_H
#define PL_STREAM_OPENAI_CHAT_INT_H

#include "stream/stream.h"

/* A tool call whose end has not come: chunks do not say when a call is whole. */
struct pl_chat_open_call {
    uint32_t choice, key;
    int64_t index; /* the source's own; -1: it gives none */
    uint64_t id;   /* hash of the source's id; 0: it gives none */
    bool is_custom;
    /* How far the arguments are: of JSON text, whether its end has come. */
    bool has_args, is_in_string, is_escaped;
    int64_t depth;
    /* A call whose name has not come yet is not open in the stream: its words wait here. */
    bool is_nameless;
    struct pl_buf words, call_id; /* owned */
};

/* Content that came while a call was not whole. */
struct pl_chat_run {
    uint32_t choice;
    enum pl_part_kind kind;
    size_t len; /* bytes of `held` */
};

struct pl_chat_reader {
    PL_VEC(struct pl_chat_open_call) calls;
    uint32_t n_calls; /* so far: the key of the next one */
    uint64_t closed;  /* bit i: a call of index i has ended */
    PL_VEC(struct pl_chat_run) runs;
    struct pl_buf held;
    /* Annotations that came before the text they are about, of the first answer: a JSON array
     * without its brackets. */
    struct pl_buf early;
};

/* Parts other than calls are found by their kind. */
#define PL_CHAT_KEY_OF(kind) (UINT32_MAX - (uint32_t)(kind))

/* One event, and where its deltas go. */
struct pl_chat_in {
    struct pl_stream *s;
    struct pl_chat_reader *r;
    struct pl_json_doc doc;
    uint32_t choice;
    struct pl_error *err;
};

/* Words of a part other than a call; they wait for calls that are not whole. Of kind OTHER: the JSON
 * of an image. */
void pl_chat_say(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw);
/* The same at once: no call is open. */
void pl_chat_say_now(struct pl_chat_in *in, enum pl_part_kind kind, struct pl_str raw);

/* What waited for the text that has begun. */
void pl_chat_say_early(struct pl_chat_in *in);

/* Something else begins: complete calls end. At the end all of them do. */
void pl_chat_settle(struct pl_chat_in *in, bool is_end);

/* PL_INVALID when a call has arguments and never got a name. */
enum pl_status pl_chat_check_names(const struct pl_chat_in *in);
void pl_chat_deinit_call(struct pl_chat_open_call *call);

/* The answer breaks off: complete calls end, and what waited for the others is emitted. */
void pl_chat_release(struct pl_stream *s, void *state);

/* The entries of tool_calls, and the legacy function_call (each may be NULL). */
enum pl_status pl_chat_take_calls(struct pl_chat_in *in, const struct pl_json_node *calls);
enum pl_status pl_chat_take_function_call(struct pl_chat_in *in, const struct pl_json_node *call);
/* Arguments like those of the event that is remembered. False when another call would get them. */
bool pl_chat_take_args_again(struct pl_chat_in *in);

enum pl_status pl_chat_read(struct pl_stream *s, void *state, const struct pl_sse_event *event,
                            struct pl_error *err);
bool pl_chat_say_again(struct pl_stream *s, void *state);
void pl_chat_read_end(struct pl_stream *s, void *state);
void pl_chat_read_deinit(void *state);

#endif
