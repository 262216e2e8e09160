/* Models, which answer conversations. There is one interface: `demo/…` plays scripts, `replay/…`
 * plays a recorded session, and vendors' models (vendors.h) have the same functions. Everything
 * runs on the caller's loop, except pl_model_prepare. */
#ifndef PL_MODEL_MODEL_H
#define PL_MODEL_MODEL_H

#include "base/status.h"
#include "base/str.h"
#include "io/loop.h"

struct pl_model_info {
    const char *name;       /* "demo/echo" */
    const char *about;      /* a sentence */
    int64_t context_window; /* 0 if unlimited or unknown */
    bool is_family;         /* many models whose names begin with `name`; see pl_model_name */
    bool is_embedding;      /* makes embeddings and does not chat */
    int64_t created_s;      /* unix time reported by its server; 0 if unknown */
};

/* The built-in model that makes embeddings without network: "demo/embed". It is in no list of chat
 * models, and pl_model_find does not find it. */
extern const struct pl_model_info *const pl_embedding_model;
enum { PL_EMBEDDING_DIMENSIONS = 256, PL_EMBEDDING_MAX_DIMENSIONS = 4096 };
/* Computes the vector of a text. It has length 1 and is the same on every machine. Texts with the
 * same words are close to each other. *ret_n_words is the number of words in the text. */
void pl_embedding_make(struct pl_str text, float *ret_vector, size_t n, int64_t *ret_n_words);

struct pl_upstreams;      /* io/upstream/upstream.h */
struct pl_models;         /* vendors.h: the configured models; NULL for demo and replay only */
struct pl_model_prepared; /* owned; slow work done before the start */
struct pl_format;         /* format/format.h */

/* A request. Its strings are views, valid until start returns. */
struct pl_model_request {
    const struct pl_models *models; /* borrowed until the call ends */
    struct pl_str model;            /* resolved: a name that pl_model_find knows */
    /* JSON array of TurnProjection: the context, oldest first. For a replay: the turns to play. */
    struct pl_str turns;
    struct pl_str tools;    /* JSON array of tool definitions {name, description, input_schema} */
    struct pl_str settings; /* JSON object, as in a session; empty for the model's defaults */
    struct pl_str prefill;  /* text that begins the answer, and is emitted with it; may be empty */
    bool tells_settings;    /* emit a block about settings that did not reach the model unchanged */
    struct pl_str notice;   /* text to emit as a block before the answer; may be empty */
    /* Owner of the session. No connection to a vendor that could mix up answers is shared with
     * other owners. Empty: shared with nobody. */
    struct pl_str owner;
    struct pl_str traceparent; /* W3C trace context for the vendor; may be empty */
    double speed;              /* of a replay: 2 is twice as fast as recorded, 0 without delays */
    bool is_paused;            /* wait until pl_model_pace resumes it */
    /* Where the loop's upstreams are, which call vendors. Created at the first use; their owner
     * destroys them before the loop. NULL: no vendor can be called. */
    struct pl_upstreams **upstreams;
    /* Taken by start, even if it fails. NULL: start prepares it. */
    struct pl_model_prepared *prepared;
};

/* A complete block; empty strings mean null. */
struct pl_model_block {
    struct pl_str type;
    struct pl_str content;                               /* JSON */
    struct pl_str tool_call_id, tool_name, display_name; /* of the tool call that it belongs to */
};

/* A recorded tool call and its result. */
struct pl_model_played {
    size_t call; /* index within this turn, from 0 */
    struct pl_str tool_name, display_name, arguments;
    struct pl_str result; /* JSON */
    bool is_error;
    int64_t duration_ms;
};

/* Describes why a call failed. */
struct pl_model_failure {
    struct pl_str reason;     /* a sentence */
    bool is_overflow;         /* the context was too long */
    const char *code;         /* static; NULL: derived from the rest (pl_model_failure_code) */
    int vendor_status;        /* HTTP; 0 if no vendor answered */
    int64_t retry_after_ms;   /* 0 if unknown */
    struct pl_str request_id; /* the vendor's; may be empty */
};
/* Returns a stable code: context_length_exceeded, rate_limited, upstream_overloaded … */
const char *pl_model_failure_code(const struct pl_model_failure *failure);
/* True if the same request may succeed later. */
bool pl_model_failure_is_retryable(const struct pl_model_failure *failure);

/* Callbacks. They run on the same loop and never before start has returned. After end or failed
 * nothing else is called, and the call no longer exists. Text is split only between characters. */
struct pl_model_ops {
    void (*on_text)(void *ctx, bool is_thinking, struct pl_str text);
    void (*on_block)(void *ctx, const struct pl_model_block *block);
    /* proof: see on_proof; may be empty. */
    void (*on_call)(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof);
    /* model is the one that actually answered; empty if it is the requested one. usage and timing
     * are JSON objects; usage may be empty. */
    void (*on_end)(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing);
    void (*on_failed)(void *ctx, const struct pl_model_failure *failure);
    /* Data that only the vendor can verify, about the thinking or text block that just ended: a
     * JSON object {"vendor": dialect, "signature", "id", "data"} with the members that exist. Data
     * without preceding thinking is encrypted thinking. NULL: not kept. */
    void (*on_proof)(void *ctx, bool is_thinking, struct pl_str proof);
    /* For a replay: a recorded call, and its result, which may never come. NULL: they are played as
     * blocks. */
    void (*on_played_call)(void *ctx, const struct pl_model_played *call);
    void (*on_played_result)(void *ctx, const struct pl_model_played *call);
    /* Metadata of the answer, directly before on_end: a JSON object with members of seed 001, A.6
     * (model_version, system_fingerprint, finish_reason, safety_check, citation_map), if they
     * exist. NULL: not kept, and no citation anchors are added to the text. */
    void (*on_about)(void *ctx, struct pl_str metadata);
};

struct pl_model_call; /* owned by its starter until end, failed or cancel */

/* Returns the i-th model, NULL after the last. Families are not included. */
const struct pl_model_info *pl_model_at(const struct pl_models *models, size_t i);
/* Finds a model by its full name, by an alias, or by a bare name that only one provider has. NULL
 * if unknown. */
const struct pl_model_info *pl_model_find(const struct pl_models *models, struct pl_str name);
/* Explains why pl_model_find does not know the name. Returns PL_NOT_FOUND. */
enum pl_status pl_model_missing(const struct pl_models *models, struct pl_str name,
                                struct pl_error *err);
/* The full name of the model found by `asked`: a view of `asked` or of the models. */
struct pl_str pl_model_name(const struct pl_model_info *info, struct pl_str asked);
/* Checks that this model can continue an answer that was begun for it. PL_INVALID with a message if
 * it cannot, PL_NOT_FOUND. */
enum pl_status pl_model_continues(const struct pl_models *models, struct pl_str name,
                                  struct pl_error *err);
/* Returns the session that replay/<session> plays; {NULL, 0} for every other name. */
struct pl_str pl_model_replayed(struct pl_str name);

/* Builds the body that the model is sent. Slow for a long context, so call it on a worker.
 * *ret_prepared is NULL if nothing can be done ahead. Afterwards the strings of the request are not
 * needed any more. PL_NOT_FOUND: no such model; PL_INVALID; PL_NOMEM. */
enum pl_status pl_model_prepare(const struct pl_model_request *request,
                                struct pl_model_prepared **ret_prepared, struct pl_error *err);
void pl_model_prepared_destroy(struct pl_model_prepared *prepared); /* accepts NULL */
/* The body for the model that is called first, and its format; a view. Empty for NULL. */
struct pl_str pl_model_prepared_body(const struct pl_model_prepared *prepared,
                                     const struct pl_format **ret_format);

/* Each model of a chain has a body of its own. */
size_t pl_model_prepared_n(const struct pl_model_prepared *prepared);
/* The i-th body and the name of its format; views. */
struct pl_str pl_model_prepared_at(const struct pl_model_prepared *prepared, size_t i,
                                   struct pl_str *ret_format);
/* Replaces the body for the i-th model by a JSON object. PL_NOMEM: it keeps the old one. */
enum pl_status pl_model_prepared_replace(struct pl_model_prepared *prepared, size_t i,
                                         struct pl_str body);

/* PL_NOT_FOUND: no such model; PL_INVALID; PL_IO: no libcurl; PL_NOMEM. */
enum pl_status pl_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                              const struct pl_model_ops *ops, void *ctx,
                              struct pl_model_call **ret_call, struct pl_error *err);
/* Sets the speed of a replay, or pauses it. Has no effect on other calls. Accepts NULL. */
void pl_model_pace(struct pl_model_call *call, double speed, bool is_paused);
/* No callback comes after this. Accepts NULL. */
void pl_model_cancel(struct pl_model_call *call);

#endif
