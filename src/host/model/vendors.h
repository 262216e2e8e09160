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

#include "model/vendor.h"

/* Vendors everybody knows: what they speak, where they are and what their key is called. */
struct pl_vendor_kind {
    const char *name, *dialect, *base_url;
    const char *key_variable;  /* of the environment; NULL: it needs none */
    const char *base_variable; /* NULL: none */
    bool is_local;             /* on this machine, if it is there: it is asked what it has */
};
/* Ended by a NULL name. */
extern const struct pl_vendor_kind pl_vendor_kinds[];

struct pl_vendor_config {
    const char *name, *dialect, *base_url;
    const char *key;      /* secret; NULL: none is needed */
    const char *ca_file;  /* NULL: the system's */
    const char *key_from; /* what the key is called, for people: "OPENAI_API_KEY"; may be NULL */
    const char *profile;  /* what it accepts; NULL: by the model's name */
    const char *const
        *models;       /* names to list, ended by NULL; NULL: those of schemas/models.json */
    bool is_local;     /* it is asked what it has */
    const char *place; /* where it was configured, for messages; NULL: nowhere in particular */
    const struct pl_priced_model *prices; /* ended by a NULL model; NULL: none */
};

struct pl_alias_config {
    const char *name;
    const char *const *targets; /* ended by NULL */
    const char *place;          /* where it was configured, for messages; NULL: nowhere */
};

struct pl_models_config {
    const struct pl_vendor_config *vendors;
    size_t n_vendors;
    const struct pl_alias_config *aliases;
    size_t n_aliases;
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: 10 s, 120 s, 90 s */
    int64_t cooldown_ms; /* a model of a chain that is busy or out of reach is not asked for so
                            long; 0: it is asked every time */
};

/* Copies all of it. PL_INVALID: a name, a dialect, an address, a key or a chain that cannot be; the
 * sentence has no key in it. */
enum pl_status pl_models_create(const struct pl_models_config *config,
                                struct pl_models **ret_models, struct pl_error *err);
void pl_models_destroy(struct pl_models *models); /* accepts NULL */

/* Asks the vendors of this machine what models they have, waiting for at most about a second: on a
 * worker. Nobody there is no failure. */
void pl_models_probe(struct pl_models *models);

#endif
