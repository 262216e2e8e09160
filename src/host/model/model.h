/* Models: who answers a conversation. One contract; `demo/…` plays scripts, `replay/…` a recorded
 * session, and the models of vendors (vendors.h) have the same functions. Everything happens on the
 * loop that called, but for pl_model_prepare. */
#ifndef PL_MODEL_MODEL_H
#define PL_MODEL_MODEL_H

#include "base/status.h"
#include "base/str.h"
#include "io/loop.h"

struct pl_model_info {
    const char *name;       /* "demo/echo" */
    const char *about;      /* a sentence */
    int64_t context_window; /* 0: it has none */
    bool is_family;    /* many models, whose names begin with `name`: pl_model_name says which */
    bool is_embedding; /* it makes embeddings, and does not chat */
    int64_t created_s; /* unix, as its server says; 0: it does not */
};

/* The one of ours that makes embeddings, without network: "demo/embed". In no list of models that
 * chat, and not found by pl_model_find. */
extern const struct pl_model_info *const pl_embedding_model;
enum { PL_EMBEDDING_DIMENSIONS = 256, PL_EMBEDDING_MAX_DIMENSIONS = 4096 };
/* Its vector of a text: of length 1, the same everywhere and always. Texts with the same words are
 * near each other. *ret_n_words is what the text counts. */
void pl_embedding_make(struct pl_str text, float *ret_vector, size_t n, int64_t *ret_n_words);

struct pl_upstreams;      /* io/upstream/upstream.h */
struct pl_models;         /* vendors.h: what was configured; NULL: demo and replay only */
struct pl_model_prepared; /* owned; what takes long, done before the start */
struct pl_format;         /* format/format.h */

/* What is asked: views, valid until start returns. */
struct pl_model_request {
    const struct pl_models *models; /* borrowed until the call is over */
    struct pl_str model;            /* resolved: a name pl_model_find knows */
    struct pl_str turns;    /* JSON array of TurnProjection: the context, oldest first; for a replay
                            the turns to be played */
    struct pl_str tools;    /* JSON array of tool definitions {name, description, input_schema} */
    struct pl_str settings; /* JSON object, as a session's; empty: those of the model */
    struct pl_str prefill;  /* text; how the answer begins, said with it; empty: none */
    bool tells_settings;    /* a block says which settings did not reach the model as they are */
    struct pl_str notice;   /* text, which a block says before the answer; empty: none */
    struct pl_str owner;    /* whose session it is: no connection to a vendor that could mistake
                            answers is shared with others; empty: with nobody */
    struct pl_str traceparent; /* W3C, for the vendor; empty: none */
    double speed;              /* of a replay: 2 is twice as fast as it was, 0 as fast as can be */
    bool is_paused;            /* it waits until pl_model_pace lets it go on */
    /* Where those of the loop are, which vendors are asked by: made at the first use; their owner
     * destroys them before the loop. NULL: no vendor can be asked. */
    struct pl_upstreams **upstreams;
    struct pl_model_prepared *prepared; /* taken by start, also when it fails; NULL: start prepares
                                         */
};

/* A block that comes whole; strings that are empty are null. */
struct pl_model_block {
    struct pl_str type;
    struct pl_str content;                               /* JSON */
    struct pl_str tool_call_id, tool_name, display_name; /* of the call it belongs to */
};

/* A call of a recording, and what came of it. */
struct pl_model_played {
    size_t call; /* of this turn, from 0 */
    struct pl_str tool_name, display_name, arguments;
    struct pl_str result; /* JSON */
    bool is_error;
    int64_t duration_ms;
};

/* Why a call failed. */
struct pl_model_failure {
    struct pl_str reason;     /* a sentence */
    bool is_overflow;         /* the context was too long */
    const char *code;         /* static; NULL: by the rest (pl_model_failure_code) */
    int vendor_status;        /* HTTP; 0: no vendor has answered */
    int64_t retry_after_ms;   /* 0: not told */
    struct pl_str request_id; /* the vendor's; empty: none */
};
/* A stable word: context_length_exceeded, rate_limited, upstream_overloaded … */
const char *pl_model_failure_code(const struct pl_model_failure *failure);
/* Whether the same may work later. */
bool pl_model_failure_is_retryable(const struct pl_model_failure *failure);

/* What comes back, on the same loop and never before start has returned. After end or failed
 * nothing comes, and the call is gone. Text comes in whole characters. */
struct pl_model_ops {
    void (*on_text)(void *ctx, bool is_thinking, struct pl_str text);
    void (*on_block)(void *ctx, const struct pl_model_block *block);
    /* proof: see on_proof; empty: none. */
    void (*on_call)(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof);
    /* model is who really answered, empty for the one that was asked; usage and timing are JSON
     * objects, usage may be empty. */
    void (*on_end)(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing);
    void (*on_failed)(void *ctx, const struct pl_model_failure *failure);
    /* What only its vendor can check, of the block of thinking or text that has just ended: a JSON
     * object {"vendor": dialect, "signature", "id", "data"}, those there are. Data without thinking
     * before it is encrypted thinking. NULL: nobody keeps it. */
    void (*on_proof)(void *ctx, bool is_thinking, struct pl_str proof);
    /* A replay: a call as it was made, and its result, which may never come. NULL: they are played
     * as blocks. */
    void (*on_played_call)(void *ctx, const struct pl_model_played *call);
    void (*on_played_result)(void *ctx, const struct pl_model_played *call);
    /* What the model says of its answer, right before on_end: a JSON object with members of seed
     * 001, A.6 (model_version, system_fingerprint, finish_reason, safety_check, citation_map),
     * those there are. NULL: nobody keeps it, and no anchors of citations are put into the text. */
    void (*on_about)(void *ctx, struct pl_str metadata);
};

struct pl_model_call; /* owned by whoever started it until end, failed or cancel */

/* i-th model, NULL after the last. Families are not among them. */
const struct pl_model_info *pl_model_at(const struct pl_models *models, size_t i);
/* By its whole name, by an alias, or by a bare one that only one provider has. NULL: unknown. */
const struct pl_model_info *pl_model_find(const struct pl_models *models, struct pl_str name);
/* Why pl_model_find knows no such name, as a sentence: PL_NOT_FOUND. */
enum pl_status pl_model_missing(const struct pl_models *models, struct pl_str name,
                                struct pl_error *err);
/* The whole name of what was found by `asked`: a view of that, or of the models. */
struct pl_str pl_model_name(const struct pl_model_info *info, struct pl_str asked);
/* Whether this model continues an answer that was begun for it: PL_INVALID with a sentence where it
 * does not, PL_NOT_FOUND. */
enum pl_status pl_model_continues(const struct pl_models *models, struct pl_str name,
                                  struct pl_error *err);
/* The session that replay/<session> plays; {NULL, 0} for every other name. */
struct pl_str pl_model_replayed(struct pl_str name);

/* Makes of a request what the model is sent, which takes long where the context does: on a worker.
 * *ret_prepared is NULL where there is nothing to be done ahead. The request's strings are not
 * needed any more. PL_NOT_FOUND: no such model; PL_INVALID; PL_NOMEM. */
enum pl_status pl_model_prepare(const struct pl_model_request *request,
                                struct pl_model_prepared **ret_prepared, struct pl_error *err);
void pl_model_prepared_destroy(struct pl_model_prepared *prepared); /* accepts NULL */
/* What the model that is asked first will be sent, and in which format; a view. Empty for NULL. */
struct pl_str pl_model_prepared_body(const struct pl_model_prepared *prepared,
                                     const struct pl_format **ret_format);

/* Each model that may be asked in its turn has a body of its own. */
size_t pl_model_prepared_n(const struct pl_model_prepared *prepared);
/* The i-th body and the name of its format; views. */
struct pl_str pl_model_prepared_at(const struct pl_model_prepared *prepared, size_t i,
                                   struct pl_str *ret_format);
/* Another body for the i-th model: a JSON object. PL_NOMEM: it has the old one. */
enum pl_status pl_model_prepared_replace(struct pl_model_prepared *prepared, size_t i,
                                         struct pl_str body);

/* PL_NOT_FOUND: no such model; PL_INVALID; PL_IO: no libcurl; PL_NOMEM. */
enum pl_status pl_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                              const struct pl_model_ops *ops, void *ctx,
                              struct pl_model_call **ret_call, struct pl_error *err);
/* A replay goes on so fast, or waits; other calls go on as they do. Accepts NULL. */
void pl_model_pace(struct pl_model_call *call, double speed, bool is_paused);
/* Nothing comes after this. Accepts NULL. */
void pl_model_cancel(struct pl_model_call *call);

#endif
