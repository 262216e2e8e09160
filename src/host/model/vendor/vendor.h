/* Who is behind a model's name, and how they are asked: the part that sessions (vendor_model.c) and
 * the gateway share. A request goes out in the vendor's own dialect and its answer comes back as
 * bytes; this room looks into neither.
 *
 * A call is one request, for clients that try again themselves and for models that have a next one
 * after them. A patient call is up to three: after a refused connection, and where the vendor says
 * that it did not take the request (408, 425, 429, 503, 529), as Retry-After says (up to 30 s) or
 * after 0.5 and 2 s. Whatever else became of a request, the vendor may have carried it out. */
#ifndef PL_MODEL_VENDOR_H
#define PL_MODEL_VENDOR_H

#include "format/embed/embed.h"
#include "format/format.h"
#include "format/profile.h"
#include "io/upstream/upstream.h"
#include "model/balance/gate.h"
#include "model/balance/spread.h"
#include "model/cooldown.h"
#include "model/model.h"
#include "model/vendor/vendor_stats.h"
#include "stream/stream.h"

/* What a million tokens cost, in micro-dollars; -1: not known. */
struct pl_model_prices {
    int64_t input, output, cache_read, cache_write;
    const char *dated;
};
/* What the configuration says of a model: "*" is every model of its vendor. */
struct pl_priced_model {
    const char *model; /* NULL ends a list */
    struct pl_model_prices prices;
};

/* A server that was configured. Keys are secrets: they are in no message, log or answer. */
struct pl_vendor {
    const char *name; /* before the slash: "anthropic", "ollama", an alias of the configuration */
    const char *dialect;  /* "anthropic", "openai-responses", "openai-chat", "gemini" */
    const char *base_url; /* with the version: "https://api.anthropic.com/v1" */
    const char *key;      /* secret; NULL: none is needed */
    const char *key_from; /* what the key is called, for people: "ANTHROPIC_API_KEY"; or NULL */
    const char *ca_file;  /* NULL: the system's */
    int64_t connect_ms, first_byte_ms, idle_ms; /* how long it is waited for */
    const struct pl_priced_model *prices;       /* of the configuration; NULL: none */
    bool is_local;                              /* on this machine: it costs nothing */
    enum pl_embed_shape embeds;                 /* how it is asked for embeddings */
    struct pl_vendor_stats *stats;              /* of its calls; NULL: nobody counts */
    const struct pl_models *home;               /* those it is one of; NULL: none */
    struct pl_gate *gate;                       /* a reference; NULL: any number at once */
    /* Of the configuration: "Name: value", ended by NULL; may be NULL. Values may be secrets. */
    const char *const *headers;
};

/* A model that can be asked. */
struct pl_model_target {
    const struct pl_vendor *vendor; /* NULL: one of ours (demo, replay), asked by pl_model_start */
    const struct pl_format *format; /* of its requests; NULL without a vendor */
    const struct pl_dialect *dialect; /* of its streams; NULL without a vendor */
    const struct pl_profile *profile; /* what it accepts; may be NULL */
    const struct pl_model_info *info;
    struct pl_str model;            /* the vendor's own name; static, or a view of what was asked */
    struct pl_cooldown *cooldown;   /* of a chain: whether it is to be asked; else NULL */
    struct pl_cooldown *load;       /* where its calls are counted; NULL: no chain has it */
    struct pl_spread_state *spread; /* of its alias; NULL: the order is as it is */
    uint32_t weight;                /* … its share; 0 is 1 */
};

/* What a name stands for: the model itself, or all of an alias's chain, the first to be asked
 * first. 0: unknown. */
size_t pl_model_targets(const struct pl_models *models, struct pl_str name,
                        struct pl_model_target ret_targets[PL_VENDOR_MAX_CHAIN]);

/* Decides which of them is asked first, as their alias says, and in which order the others follow:
 * once for each call. ret_order has the n places. Any thread. */
void pl_targets_spread(const struct pl_model_target *targets, size_t n,
                       uint8_t ret_order[PL_VENDOR_MAX_CHAIN]);

/* "vendor/model", or the name of one of our own; at most n bytes with the NUL. */
void pl_target_name(const struct pl_model_target *target, char *to, size_t n);

/* The first of them from the i-th on that is to be asked now; n: none. *ret_pass goes to
 * pl_vendor_start, or to pl_cooldown_leave. Any thread. */
size_t pl_targets_enter(const struct pl_model_target *targets, size_t n, size_t i,
                        enum pl_cooldown_pass *ret_pass);
/* In how many seconds the first of them may be asked, at least 1. */
int64_t pl_targets_rest_s(const struct pl_model_target *targets, size_t n);
/* The i-th model that stands in a chain; NULL after the last. */
const struct pl_cooldown *pl_cooldown_at(const struct pl_models *models, size_t i);

struct pl_model_prices pl_model_prices(struct pl_str vendor_model);
/* Micro-dollars of a call; -1: not known. */
int64_t pl_model_cost(struct pl_str vendor_model, const struct pl_counts *counts);
/* The same where the vendor itself is asked: what somebody else takes for the same model is not
 * known. */
struct pl_model_prices pl_target_prices(const struct pl_model_target *target);
int64_t pl_target_cost(const struct pl_model_target *target, const struct pl_counts *counts);

enum pl_vendor_failure {
    PL_VENDOR_REFUSED, /* nobody there; the next of the chain may be asked */
    PL_VENDOR_TIMEOUT,
    PL_VENDOR_BROKEN, /* in mid-answer */
    PL_VENDOR_MEMORY,
    PL_VENDOR_FULL, /* so many calls of ours wait for it that this one may not */
    PL_VENDOR_LATE, /* it has waited for too long; nobody was asked */
    PL_VENDOR_FAILURES,
};

struct pl_vendor_ops {
    /* The status that counts, after retries; `retry_after` as the vendor said it, or empty. */
    void (*on_head)(void *ctx, int status, struct pl_str content_type, struct pl_str retry_after);
    void (*on_body)(void *ctx, struct pl_str piece);
    void (*on_end)(void *ctx);
    void (*on_failed)(void *ctx, enum pl_vendor_failure why, const char *sentence);
    /* The bytes of the request's body are not needed any more (io/upstream/upstream.h). May be NULL. */
    void (*on_sent)(void *ctx);
};

struct pl_vendor_call; /* owned by whoever started it until end, failed or cancel */

/* Valid until start returns. */
struct pl_vendor_request {
    const struct pl_model_target *target;
    struct pl_buf *body; /* a whole request in the target's dialect; its bytes are taken. The path
                            (Gemini has the model in it), the key and the vendor's headers are added
                            here */
    const struct pl_str *pieces; /* in place of `body`, for a call that is not patient: its bytes
                                    are borrowed until they are sent or the call is gone */
    size_t n_pieces;
    bool is_stream;
    bool is_embedding;                /* the body asks for embeddings, in the shape of the vendor */
    const char *const *extra_headers; /* those of the client that its vendor knows (anthropic-beta
                                         …): "Name: value", ended by NULL; may be NULL */
    struct pl_str owner;              /* whose call it is: no connection that could mistake answers
                                         is shared with others (io/upstream/upstream.h) */
    bool is_patient;
    enum pl_cooldown_pass pass; /* of the target; taken, also when start fails */
};

/* No callback before this has returned. */
enum pl_status pl_vendor_start(struct pl_upstreams *upstreams,
                               const struct pl_vendor_request *request,
                               const struct pl_vendor_ops *ops, void *ctx,
                               struct pl_vendor_call **ret_call, struct pl_error *err);
/* Whether the bytes of the request's body are not needed any more. */
bool pl_vendor_is_sent(const struct pl_vendor_call *call);
void pl_vendor_cancel(struct pl_vendor_call *call); /* accepts NULL */
void pl_vendor_pause(struct pl_vendor_call *call);
void pl_vendor_resume(struct pl_vendor_call *call);
/* Answers of an error in the dialect, as a sentence for people without secrets; empty: none found.
 */
struct pl_str pl_vendor_error_text(struct pl_arena *arena, const struct pl_model_target *target,
                                   struct pl_str body);
/* Text of a vendor without the vendor's key, should it say it: "[key]" replaces every piece of it
 * that has eight bytes or more. `text` itself where there is none of it; empty when out of
 * memory. */
struct pl_str pl_vendor_redact(struct pl_arena *arena, const struct pl_vendor *vendor,
                               struct pl_str text);
/* Whether an error of a vendor says that the conversation is longer than the model reads. */
bool pl_vendor_says_overflow(struct pl_str text);

/* Those of the loop at *place, made on the first use; their owner destroys them before the loop.
 * PL_IO: no libcurl. */
enum pl_status pl_vendor_upstreams(struct pl_loop *loop, struct pl_upstreams **place,
                                   struct pl_error *err);

#endif
