/* Reads a stream of any dialect, for callers that keep an answer instead of forwarding it. Text is
 * decoded, in whole characters; calls come whole; a signature or the id of a reasoning item comes
 * with the end of its part. */
#ifndef PL_STREAM_HEAR_H
#define PL_STREAM_HEAR_H

#include "stream/stream.h"

/* Data that only the vendor can check: it must be sent back with its part. Empty when absent. */
struct pl_heard_proof {
    struct pl_str signature; /* signature, thoughtSignature, encrypted_content */
    struct pl_str id;        /* of a reasoning item */
    struct pl_str data;      /* of redacted thinking */
};

struct pl_heard_end {
    enum pl_finish finish;
    struct pl_str word;        /* the vendor's own finish reason */
    struct pl_str detail;      /* why, for people; may be empty */
    struct pl_str model;       /* the model that answered; may be empty */
    struct pl_counts counts;   /* -1: not given */
    struct pl_str fingerprint; /* of the system that answered; may be empty */
    struct pl_str ratings;     /* JSON: ratings of a content filter, in the vendor's form; may be
                                * empty */
};

struct pl_hear_ops {
    void (*on_text)(void *ctx, bool is_thinking, struct pl_str text);
    /* A part of thinking or text with a signature has ended. Redacted thinking reports only
     * this. */
    void (*on_proof)(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof);
    void (*on_refusal)(void *ctx, struct pl_str text);
    /* `arguments` should be JSON text; `id` is the vendor's. */
    void (*on_call)(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                    const struct pl_heard_proof *proof);
    void (*on_citation)(void *ctx, struct pl_str json);
    void (*on_end)(void *ctx, const struct pl_heard_end *end);
    void (*on_error)(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message);
};

struct pl_hearing; /* owned */

/* PL_NOMEM. Either on_end or on_error is called, once, as the last callback. */
enum pl_status pl_hearing_create(const struct pl_dialect *dialect, const struct pl_hear_ops *ops,
                                 void *ctx, struct pl_hearing **ret_hearing);
void pl_hearing_destroy(struct pl_hearing *hearing); /* accepts NULL; not inside a callback */
/* Takes bytes, split anywhere. PL_NOMEM; bad input is an on_error, not a failure. */
enum pl_status pl_hearing_feed(struct pl_hearing *hearing, struct pl_str bytes);
/* Ends the input: on_error if the answer was incomplete. */
enum pl_status pl_hearing_finish(struct pl_hearing *hearing);

#endif
