/* Resolves the name of a model and calls its vendor: the part that sessions (vendor_model.c) and
 * the gateway share. A request is sent in the vendor's own dialect and its answer is returned as
 * bytes; this room interprets neither.
 *
 * A normal call is one request, for clients that retry themselves and for models with a fallback. A
 * patient call is up to three requests. It retries after a refused connection, and if the vendor
 * reports that it did not process the request (408, 425, 429, 503, 529). It waits as long as
 * Retry-After says (up to 30 s), or 0.5 and 2 s. After any other failure the vendor may have
 * processed the request. */
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

/* Prices of a million tokens, in micro-dollars; -1 if unknown. */
struct pl_model_prices {
    int64_t input, output, cache_read, cache_write;
    const char *dated;
};
/* Configured prices of a model; "*" is every model of its vendor. */
struct pl_priced_model {
    const char *model; /* NULL ends a list */
    struct pl_model_prices prices;
};

/* A configured server. Keys are secrets: they appear in no message, log or answer. */
struct pl_vendor {
    const char *name; /* before the slash: "anthropic", "ollama", an alias of the configuration */
    const char *dialect;  /* "anthropic", "openai-responses", "openai-chat", "gemini" */
    const char *base_url; /* with the version: "https://api.anthropic.com/v1" */
    const char *key;      /* secret; NULL if none is needed */
    const char *key_from; /* name of the key, for people: "ANTHROPIC_API_KEY"; may be NULL */
    const char *ca_file;  /* NULL for the system's */
    int64_t connect_ms, first_byte_ms, idle_ms; /* timeouts */
    const struct pl_priced_model *prices;       /* configured; may be NULL */
    bool is_local;                              /* on this machine: it costs nothing */
    enum pl_embed_shape embeds;                 /* how to request embeddings */
    struct pl_vendor_stats *stats;              /* of its calls; NULL if not counted */
    const struct pl_models *home;               /* the pl_models that it belongs to; may be NULL */
    struct pl_gate *gate;                       /* a reference; NULL for no limit */
    /* Configured: "Name: value", ended by NULL; may be NULL. Values may be secrets. */
    const char *const *headers;
};

/* A model that can be called. */
struct pl_model_target {
    const struct pl_vendor *vendor;   /* NULL for a built-in model: call pl_model_start */
    const struct pl_format *format;   /* of its requests; NULL without a vendor */
    const struct pl_dialect *dialect; /* of its streams; NULL without a vendor */
    const struct pl_profile *profile; /* what it accepts; may be NULL */
    const struct pl_model_info *info;
    struct pl_str model; /* the vendor's own name; static, or a view of the requested name */
    struct pl_cooldown *cooldown;   /* in a chain: whether to call it; otherwise NULL */
    struct pl_cooldown *load;       /* counts its running calls; NULL if it is in no chain */
    struct pl_spread_state *spread; /* of its alias; NULL to keep the order */
    uint32_t weight;                /* its share; 0 means 1 */
};

/* Finds the targets of a name: the model itself, or the whole chain of an alias in configured
 * order. Returns their number; 0 if unknown. */
size_t pl_model_targets(const struct pl_models *models, struct pl_str name,
                        struct pl_model_target ret_targets[PL_VENDOR_MAX_CHAIN]);

/* Decides by the rule of the alias which target is called first and in which order the others
 * follow: once for each call. ret_order has n entries. Thread-safe. */
void pl_targets_spread(const struct pl_model_target *targets, size_t n,
                       uint8_t ret_order[PL_VENDOR_MAX_CHAIN]);

/* "vendor/model", or the name of a built-in model; at most n bytes including the NUL. */
void pl_target_name(const struct pl_model_target *target, char *to, size_t n);

/* Returns the first target from the i-th on that may be called now; n if none. Pass *ret_pass to
 * pl_vendor_start or to pl_cooldown_leave. Thread-safe. */
size_t pl_targets_enter(const struct pl_model_target *targets, size_t n, size_t i,
                        enum pl_cooldown_pass *ret_pass);
/* Seconds until the first of them may be called, at least 1. */
int64_t pl_targets_rest_s(const struct pl_model_target *targets, size_t n);
/* The i-th model that is in a chain; NULL after the last. */
const struct pl_cooldown *pl_cooldown_at(const struct pl_models *models, size_t i);

struct pl_model_prices pl_model_prices(struct pl_str vendor_model);
/* Cost of a call in micro-dollars; -1 if unknown. */
int64_t pl_model_cost(struct pl_str vendor_model, const struct pl_counts *counts);
/* The same for a target. Known only if the model's own vendor is called: the prices of other
 * providers for the same model are unknown. */
struct pl_model_prices pl_target_prices(const struct pl_model_target *target);
int64_t pl_target_cost(const struct pl_model_target *target, const struct pl_counts *counts);

enum pl_vendor_failure {
    PL_VENDOR_REFUSED, /* not reachable; the next of the chain may be called */
    PL_VENDOR_TIMEOUT,
    PL_VENDOR_BROKEN, /* in mid-answer */
    PL_VENDOR_MEMORY,
    PL_VENDOR_FULL, /* too many of our calls are already waiting for it */
    PL_VENDOR_LATE, /* it waited too long; no request was sent */
    PL_VENDOR_FAILURES,
};

struct pl_vendor_ops {
    /* The final status, after retries; `retry_after` as the vendor sent it, or empty. */
    void (*on_head)(void *ctx, int status, struct pl_str content_type, struct pl_str retry_after);
    void (*on_body)(void *ctx, struct pl_str piece);
    void (*on_end)(void *ctx);
    void (*on_failed)(void *ctx, enum pl_vendor_failure why, const char *sentence);
    /* The bytes of the request body are not needed any more (io/upstream/upstream.h). May be
     * NULL. */
    void (*on_sent)(void *ctx);
};

struct pl_vendor_call; /* owned by its starter until end, failed or cancel */

/* Valid until start returns. */
struct pl_vendor_request {
    const struct pl_model_target *target;
    /* A whole request in the target's dialect; its bytes are taken. The path (Gemini has the model
     * in it), the key and the vendor's headers are added here. */
    struct pl_buf *body;
    /* In place of `body`, for a call that is not patient. The bytes are borrowed until they are
     * sent or the call ends. */
    const struct pl_str *pieces;
    size_t n_pieces;
    bool is_stream;
    bool is_embedding; /* the body requests embeddings, in the vendor's shape */
    /* Headers of the client that its vendor knows (anthropic-beta …): "Name: value", ended by NULL;
     * may be NULL. */
    const char *const *extra_headers;
    /* Owner of the call. No connection that could mix up answers is shared with other owners
     * (io/upstream/upstream.h). */
    struct pl_str owner;
    bool is_patient;
    enum pl_cooldown_pass pass; /* of the target; taken even if start fails */
};

/* No callback is called before this returns. */
enum pl_status pl_vendor_start(struct pl_upstreams *upstreams,
                               const struct pl_vendor_request *request,
                               const struct pl_vendor_ops *ops, void *ctx,
                               struct pl_vendor_call **ret_call, struct pl_error *err);
/* True if the bytes of the request body are not needed any more. */
bool pl_vendor_is_sent(const struct pl_vendor_call *call);
void pl_vendor_cancel(struct pl_vendor_call *call); /* accepts NULL */
void pl_vendor_pause(struct pl_vendor_call *call);
void pl_vendor_resume(struct pl_vendor_call *call);
/* Finds the message in an error body of the dialect, for people and without secrets; empty if
 * none. */
struct pl_str pl_vendor_error_text(struct pl_arena *arena, const struct pl_model_target *target,
                                   struct pl_str body);
/* Removes the vendor's key from its text: "[key]" replaces every part of the key that has eight
 * bytes or more. Returns `text` itself if it contains none; empty if out of memory. */
struct pl_str pl_vendor_redact(struct pl_arena *arena, const struct pl_vendor *vendor,
                               struct pl_str text);
/* True if an error of a vendor says that the conversation is too long for the model. */
bool pl_vendor_says_overflow(struct pl_str text);

/* Returns the loop's upstreams at *place, created at the first use; their owner destroys them
 * before the loop. PL_IO: no libcurl. */
enum pl_status pl_vendor_upstreams(struct pl_loop *loop, struct pl_upstreams **place,
                                   struct pl_error *err);

#endif
