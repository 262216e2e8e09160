/* The configured vendors, and the meaning of model names. Created as a whole and never changed,
 * except that servers on this machine report their models (pl_models_probe). A new configuration is
 * a new struct pl_models; the old one lives as long as it is in use. A caller that keeps a target
 * or a name must keep the struct too.
 *
 *     vendor/model    any model of that vendor
 *     model           by schemas/models.json ("claude-…" is anthropic's), or the only vendor that
 *                     lists it
 *     alias           a configured name: a model, or several to try in turn */
#ifndef PL_MODEL_VENDORS_H
#define PL_MODEL_VENDORS_H

#include "model/vendor/vendor.h"

enum { PL_VENDOR_MAX_HEADERS = 16 }; /* in the configuration */

/* Well-known vendors: their dialect, address and key variable. */
struct pl_vendor_kind {
    const char *name, *dialect, *base_url;
    const char *key_variable;  /* environment variable; NULL if it needs none */
    const char *base_variable; /* may be NULL */
    bool is_local;             /* on this machine, if it runs: its models are queried */
    enum pl_embed_shape embeds;
};
/* Ended by a NULL name. */
extern const struct pl_vendor_kind pl_vendor_kinds[];

struct pl_vendor_config {
    const char *name, *dialect, *base_url;
    const char *key;        /* secret; NULL if none is needed */
    const char *ca_file;    /* NULL for the system's */
    const char *key_from;   /* name of the key, for people: "OPENAI_API_KEY"; may be NULL */
    const char *profile;    /* what it accepts; NULL to choose by the model's name */
    const char *embeddings; /* "openai", "ollama", "gemini" or "none"; NULL: by name and dialect */
    const char *const *models;            /* to list, ended by NULL; NULL: schemas/models.json */
    bool is_local;                        /* its models are queried */
    const char *place;                    /* where it was configured, for messages; may be NULL */
    const struct pl_priced_model *prices; /* ended by a NULL model; may be NULL */
    const char *const *headers;           /* "Name: value", ended by NULL; may be NULL */
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0 for the common defaults */
    struct pl_gate_limits limits;               /* max 0 for no limit */
};

struct pl_alias_config {
    const char *name;
    const char *const *targets; /* ended by NULL */
    const char *spread;         /* which one is called first: pl_spread_words; NULL: "order" */
    const uint32_t *weights;    /* of each target, for "weighted"; NULL: 1 each */
    const char *place;          /* where it was configured, for messages; may be NULL */
};

struct pl_models_config {
    const struct pl_vendor_config *vendors;
    size_t n_vendors;
    const struct pl_alias_config *aliases;
    size_t n_aliases;
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: 10 s, 120 s, 90 s */
    int64_t demo_word_ms;                       /* delay of a word of demo/agent; 0 for none */
    /* How long a busy or unreachable model of a chain is skipped; 0: never skipped. */
    int64_t cooldown_ms;
};

/* Copies everything. PL_INVALID if a name, a dialect, an address, a key or a chain is invalid; the
 * message contains no key. */
enum pl_status pl_models_create(const struct pl_models_config *config,
                                struct pl_models **ret_models, struct pl_error *err);
void pl_models_destroy(struct pl_models *models); /* accepts NULL */
/* Returns the i-th configured server; NULL after the last. */
const struct pl_vendor *pl_models_vendor_at(const struct pl_models *models, size_t i);
/* 0 for NULL. */
int64_t pl_models_demo_word_ms(const struct pl_models *models);

/* Asks the vendors on this machine for their models; blocks for at most about a second, so call it
 * on a worker. A missing server is not an error. */
void pl_models_probe(struct pl_models *models);

/* After a reload, once nothing can fail any more: providers of the same name continue with the gate
 * of `before`, so that running calls still count. The gate gets the new limits. */
void pl_gates_inherit(struct pl_models *models, const struct pl_models *before);
/* Returns the gate and name of the i-th provider; false after the last. */
bool pl_gate_at(const struct pl_models *models, size_t i, const char **ret_name,
                struct pl_gate **ret_gate);

#endif
