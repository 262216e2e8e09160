/* The vendors that were configured, and what names stand for. Made whole and never changed, except
 * that servers on this machine tell what models they have (pl_models_probe): a new configuration is
 * a new struct pl_models beside the old one, which stays as long as somebody asks by it. A caller
 * that keeps a target or a name it found must keep the struct, too.
 *
 *     vendor/model    a model of that vendor, whatever it is called
 *     model           by schemas/models.json ("claude-…" is anthropic's), or the only vendor that
 *                     lists it
 *     alias           a name of the configuration: a model, or several to be tried in turn */
#ifndef PL_MODEL_VENDORS_H
#define PL_MODEL_VENDORS_H

#include "model/vendor/vendor.h"

enum { PL_VENDOR_MAX_HEADERS = 16 }; /* of the configuration */

/* Vendors everybody knows: what they speak, where they are and what their key is called. */
struct pl_vendor_kind {
    const char *name, *dialect, *base_url;
    const char *key_variable;  /* of the environment; NULL: it needs none */
    const char *base_variable; /* NULL: none */
    bool is_local;             /* on this machine, if it is there: it is asked what it has */
    enum pl_embed_shape embeds;
};
/* Ended by a NULL name. */
extern const struct pl_vendor_kind pl_vendor_kinds[];

struct pl_vendor_config {
    const char *name, *dialect, *base_url;
    const char *key;        /* secret; NULL: none is needed */
    const char *ca_file;    /* NULL: the system's */
    const char *key_from;   /* what the key is called, for people: "OPENAI_API_KEY"; may be NULL */
    const char *profile;    /* what it accepts; NULL: by the model's name */
    const char *embeddings; /* "openai", "ollama", "gemini" or "none"; NULL: by name and dialect */
    const char *const
        *models;       /* names to list, ended by NULL; NULL: those of schemas/models.json */
    bool is_local;     /* it is asked what it has */
    const char *place; /* where it was configured, for messages; NULL: nowhere in particular */
    const struct pl_priced_model *prices;       /* ended by a NULL model; NULL: none */
    const char *const *headers;                 /* "Name: value", ended by NULL; NULL: none */
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: as for all */
    struct pl_gate_limits limits;               /* max 0: none */
};

struct pl_alias_config {
    const char *name;
    const char *const *targets; /* ended by NULL */
    const char *spread;         /* which is asked first: pl_spread_words; NULL: "order" */
    const uint32_t *weights;    /* of each target, for "weighted"; NULL: 1 each */
    const char *place;          /* where it was configured, for messages; NULL: nowhere */
};

struct pl_models_config {
    const struct pl_vendor_config *vendors;
    size_t n_vendors;
    const struct pl_alias_config *aliases;
    size_t n_aliases;
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: 10 s, 120 s, 90 s */
    int64_t demo_word_ms;                       /* demo/agent says a word in so long; 0: at once */
    int64_t cooldown_ms; /* a model of a chain that is busy or out of reach is not asked for so
                            long; 0: it is asked every time */
};

/* Copies all of it. PL_INVALID: a name, a dialect, an address, a key or a chain that cannot be; the
 * sentence has no key in it. */
enum pl_status pl_models_create(const struct pl_models_config *config,
                                struct pl_models **ret_models, struct pl_error *err);
void pl_models_destroy(struct pl_models *models); /* accepts NULL */
/* The i-th server that was configured; NULL after the last. */
const struct pl_vendor *pl_models_vendor_at(const struct pl_models *models, size_t i);
/* 0 for NULL. */
int64_t pl_models_demo_word_ms(const struct pl_models *models);

/* Asks the vendors of this machine what models they have, waiting for at most about a second: on a
 * worker. Nobody there is no failure. */
void pl_models_probe(struct pl_models *models);

/* After a reload, when nothing can fail any more: providers of the same name go on with the gate of
 * `before`, so that calls under way still count; its limits are the new ones. */
void pl_gates_inherit(struct pl_models *models, const struct pl_models *before);
/* The gate of the i-th provider and its name; false after the last. */
bool pl_gate_at(const struct pl_models *models, size_t i, const char **ret_name,
                struct pl_gate **ret_gate);

#endif
