/* The pieces of the gemini dialect: read.c, args.c and write.c. */
#ifndef PL_STREAM_GEMINI_INT_H
#define PL_STREAM_GEMINI_INT_H

#include "base/map.h"
#include "stream/stream.h"
#include "stream/tree.h"

/* ---- arguments that come path by path ---- */

struct pl_gemini_arg;

/* Arguments of one call, collected from partialArgs: a tree that grows by jsonPath. */
struct pl_gemini_args {
    struct pl_arena arena;      /* owned: nodes, keys and the pieces of strings */
    struct pl_map children;     /* owned; number of the parent and step -> node */
    struct pl_gemini_arg *root; /* arena; NULL: no arguments yet */
    uint32_t n_nodes;
};

void pl_gemini_args_init(struct pl_gemini_args *args);
void pl_gemini_args_deinit(struct pl_gemini_args *args);

/* Adds one element of partialArgs. A string is appended to the string at its path, any other value
 * replaces the old one. PL_INVALID for a path we cannot follow. */
enum pl_status pl_gemini_args_add(struct pl_gemini_args *args, const struct pl_json_doc *doc,
                                  const struct pl_json_node *partial, struct pl_error *err);
/* Writes the arguments as JSON text; "{}" when there are none. */
void pl_gemini_args_write(const struct pl_gemini_args *args, struct pl_buf *to);

/* ---- reading ---- */

/* Google answers with at most eight candidates; any more are ignored. */
enum { PL_GEMINI_MAX_CHOICES = 8 };

/* A call that still receives arguments. Strings are raw JSON string contents. */
struct pl_gemini_call {
    bool is_open;
    uint32_t key;
    struct pl_buf id, signature;
    struct pl_buf whole; /* JSON text of `args`, if it came instead of partialArgs */
    struct pl_gemini_args args;
};

struct pl_gemini_choice {
    bool is_seen, is_finished, has_call;
    enum pl_finish finish;
    struct pl_buf word, detail;
    /* Sources that are not emitted yet, as JSON: citations, separated by commas, and the last list
     * of the grounding's chunks. */
    struct pl_buf citations, chunks;
    struct pl_gemini_call call;
};

/* As Google counts: the prompt without tool prompts, the candidates without thoughts. */
enum {
    PL_GEMINI_PROMPT,
    PL_GEMINI_CANDIDATES,
    PL_GEMINI_THOUGHTS,
    PL_GEMINI_TOOL_PROMPT,
    PL_GEMINI_CACHED,
    PL_GEMINI_TOTAL,
    PL_GEMINI_COUNTERS,
};

struct pl_gemini_reader {
    bool is_ready;
    bool has_usage;
    bool is_torn; /* something else came while a call still waited for arguments */
    int64_t counts[PL_GEMINI_COUNTERS]; /* -1: not given */
    uint32_t n_calls;                   /* so far: for keys */
    uint32_t n_made;                    /* ids made for calls without one */
    struct pl_buf waiting; /* owned; parts with whole calls of the first candidate, as JSON */
    uint32_t n_waiting;
    struct pl_gemini_choice choices[PL_GEMINI_MAX_CHOICES];
};

/* Keys of the parts of one candidate: texts of a kind that follow each other are one part, every
 * call has its own. */
enum { PL_GEMINI_KEY_TEXT, PL_GEMINI_KEY_THINKING, PL_GEMINI_KEY_CALL };

/* The object being read: an event may hold several. */
struct pl_gemini_reading {
    struct pl_stream *s;
    struct pl_gemini_reader *r;
    const struct pl_json_doc *doc;
    struct pl_error *err;
};

/* A member in the two spellings that protocol buffers accept. */
struct pl_gemini_field {
    struct pl_str name, snake;
};
#define PL_GEMINI_FIELD(name, snake)                                                               \
    {                                                                                              \
        {name, sizeof(name) - 1},                                                                  \
        {                                                                                          \
            snake, sizeof(snake) - 1                                                               \
        }                                                                                          \
    }

/* Gets the values of several members in one pass; NULL for those that are absent or null, and for
 * all when `object` is NULL or not an object. */
void pl_gemini_get(const struct pl_json_doc *doc, const struct pl_json_node *object,
                   const struct pl_gemini_field fields[], size_t n,
                   const struct pl_json_node *ret[]);
/* Copies `text`, which does not outlive its event, into `buf`. */
void pl_gemini_keep(struct pl_stream *s, struct pl_buf *buf, struct pl_str text);

/* A functionCall, or a piece of one. */
enum pl_status pl_gemini_read_call(const struct pl_gemini_reading *x, uint32_t choice,
                                   const struct pl_json_node *node, struct pl_str signature);
/* Completes the call that received its arguments in pieces. Does nothing without such a call. */
void pl_gemini_end_call(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice);
/* The candidate continues with something else than its open call: calls that wait are emitted. A
 * call that still waits for arguments makes the stream torn. */
void pl_gemini_finish_call(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice);

/* Calls that Google may answer itself (served.c). True: the call waits for the next part. */
bool pl_gemini_hold_call(const struct pl_gemini_reading *x, uint32_t choice,
                         const struct pl_json_node *part, const struct pl_json_node *call);
/* Emits the waiting calls: the client must answer them. */
void pl_gemini_release_calls(struct pl_stream *s, void *reader);
/* Takes a functionResponse of the first candidate. False: it answers no waiting call. */
bool pl_gemini_serve_call(const struct pl_gemini_reading *x, const struct pl_json_node *part,
                          const struct pl_json_node *response);

/* The sources of a candidate's texts (sources.c): keeps those of one event. */
void pl_gemini_keep_sources(const struct pl_gemini_reading *x, uint32_t choice,
                            const struct pl_json_node *citations,
                            const struct pl_json_node *grounding);
/* Another part begins: emits the citations of the open text. */
void pl_gemini_end_text(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice);
/* The candidate ends: emits all that waits. */
void pl_gemini_end_sources(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice);
/* The answer breaks off: emits waiting calls, and citations of open texts. */
void pl_gemini_stream_release(struct pl_stream *s, void *state);

enum pl_status pl_gemini_stream_read(struct pl_stream *s, void *state,
                                     const struct pl_sse_event *event, struct pl_error *err);
bool pl_gemini_stream_say_again(struct pl_stream *s, void *state);
void pl_gemini_stream_read_end(struct pl_stream *s, void *state);
void pl_gemini_stream_read_deinit(void *state);

/* ---- writing ---- */

/* A call that was started: Gemini's calls are whole, so it waits for its end. */
struct pl_gemini_open_call {
    uint32_t part;
    bool is_custom;
    struct pl_buf id, name, args, signature; /* owned; raw */
};

struct pl_gemini_writer {
    struct pl_buf tail; /* the end of every event: the model, the id */
    PL_VEC(struct pl_gemini_open_call) calls;
    struct pl_counts counts;
    bool has_usage;
};

extern pl_delta_writer *const pl_gemini_stream_writes[PL_DELTA_COUNT];
pl_delta_writer pl_gemini_stream_write_first;
void pl_gemini_stream_write_deinit(void *state);

/* ---- adding up (sum.c) ---- */

struct pl_gemini_sum_choice {
    struct pl_tree *tree, *call; /* of the sum; `call` is the open one */
    bool is_open;
    struct pl_gemini_args args; /* owned while `call` is open */
};

struct pl_gemini_sum {
    struct pl_gemini_sum_choice choices[PL_GEMINI_MAX_CHOICES];
};

#endif
