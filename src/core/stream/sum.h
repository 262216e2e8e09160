/* Adding up: the whole answer of a stream, as its vendor would have given it without streaming.
 * Every member of every event ends up in one of three places:
 *
 *   - in the answer, under the name it has there; unknown members, too
 *   - nowhere, because it is grammar of streaming (an event's type, a running number, padding)
 *   - in `strays`, because a whole answer has no place for it
 *
 * So the answer and the strays together account for the whole stream. Adding up costs as much as
 * parsing all bytes of the stream; a stream that is only translated is never added up. */
#ifndef PL_STREAM_SUM_H
#define PL_STREAM_SUM_H

#include "conv/conv.h"
#include "stream/stream.h"
#include "stream/tree.h"

/* A member that the answer has no place for. */
struct pl_stray {
    enum pl_loss_code code;
    struct pl_str pointer; /* arena; the nearest place in the answer */
    struct pl_str detail;  /* arena */
};

struct pl_sum {
    const struct pl_dialect *dialect;
    struct pl_trees trees;
    struct pl_arena event; /* of one event: reset before each */
    struct pl_str type;    /* borrowed; from the line `event:`, where the JSON has no type */
    struct pl_tree *answer;
    PL_VEC(struct pl_stray) strays; /* owned */
    bool is_over;                   /* the answer has ended, with or without an error */
    bool is_failed;                 /* … with an error, which is the member `error` */
    uint32_t n_after;               /* events after that */
    void *state;                    /* owned; the dialect's own, zeroed at first */
};

enum pl_status pl_sum_init(struct pl_sum *sum, const struct pl_dialect *dialect);
void pl_sum_deinit(struct pl_sum *sum);
/* Adds all bytes of a stream. A broken stream is added up as far as it can be read; PL_NOMEM and
 * PL_LIMIT are the only failures. */
enum pl_status pl_sum_add(struct pl_sum *sum, struct pl_str stream, struct pl_error *err);
/* Writes the whole answer as JSON text. */
void pl_sum_write(const struct pl_sum *sum, struct pl_buf *to);

/* For dialects. */

/* Reports something as dropped: once for each place and detail. */
void pl_sum_stray(struct pl_sum *sum, enum pl_loss_code code, const char *detail, struct pl_str of,
                  const char *pointer, ...) __attribute__((format(printf, 5, 6)));
/* Reports a member of `at` that has the wrong type; the answer does not get it. */
void pl_sum_refuse(struct pl_sum *sum, const struct pl_tree *at, struct pl_str key);
/* The types that a member may have in an event, beside null. */
struct pl_sum_kind {
    struct pl_str key;
    unsigned kinds; /* bits */
};
enum {
    PL_SUM_NUMBER = 1 << PL_JSON_NUMBER,
    PL_SUM_TEXT = 1 << PL_JSON_STRING,
    PL_SUM_LIST = 1 << PL_JSON_ARRAY,
    PL_SUM_OBJECT = 1 << PL_JSON_OBJECT,
    PL_SUM_BOOL = 1 << PL_JSON_TRUE | 1 << PL_JSON_FALSE,
};
#define PL_SUM_KIND(key, kinds)                                                                    \
    {                                                                                              \
        {key, sizeof(key) - 1}, kinds                                                              \
    }
/* False if the table has the member with other types: it is reported then, and belongs to `at`. */
bool pl_sum_fits(struct pl_sum *sum, const struct pl_sum_kind *table, size_t n,
                 const struct pl_tree *at, struct pl_str key, const struct pl_json_node *value);
/* A member that every event may repeat: the last value counts. Null does not replace a value, and
 * a value of another type is reported instead of replacing it. An object is merged member by
 * member. */
void pl_sum_keep(struct pl_sum *sum, struct pl_tree *object, struct pl_str key,
                 const struct pl_json_doc *doc, const struct pl_json_node *value);

void pl_chat_sum(struct pl_sum *sum, const struct pl_json_doc *doc);
void pl_chat_sum_end(struct pl_sum *sum);
void pl_responses_sum(struct pl_sum *sum, const struct pl_json_doc *doc);
void pl_responses_sum_end(struct pl_sum *sum);
void pl_anthropic_sum(struct pl_sum *sum, const struct pl_json_doc *doc);
void pl_anthropic_sum_end(struct pl_sum *sum);
void pl_gemini_sum(struct pl_sum *sum, const struct pl_json_doc *doc);
void pl_gemini_sum_end(struct pl_sum *sum);
void pl_gemini_sum_deinit(void *state);
void pl_patches_sum(struct pl_sum *sum, const struct pl_json_doc *doc);

#endif
