/* A provider of models: the implementation side of model.h. */
#ifndef PL_MODEL_MODEL_INT_H
#define PL_MODEL_MODEL_INT_H

#include "model/model.h"

struct pl_provider {
    const char *name; /* before the slash */
    const struct pl_model_info *models;
    size_t n_models;
    /* A provider may accept any name after its slash for which `owns` is true. Such a model keeps
     * the requested name and is in no list. NULL if the provider has no family. */
    const struct pl_model_info *family;
    bool (*owns)(struct pl_str name);
    enum pl_status (*start)(struct pl_loop *loop, const struct pl_model_request *request,
                            const struct pl_model_info *info, const struct pl_model_ops *ops,
                            void *ctx, struct pl_model_call **ret_call, struct pl_error *err);
};

/* The first member of every provider's call. */
struct pl_model_call {
    void (*cancel)(struct pl_model_call *call);
    void (*pace)(struct pl_model_call *call, double speed, bool is_paused); /* may be NULL */
};

extern const struct pl_provider pl_provider_demo;
extern const struct pl_provider pl_provider_replay;

/* Find a built-in model (demo, replay) by its full name, or without its provider; NULL if none. */
const struct pl_model_info *pl_model_find_own(struct pl_str name);
const struct pl_model_info *pl_model_find_bare(struct pl_str name);

/* --- vendor_request.c, vendor_model.c: the models of vendors */
enum pl_status pl_vendor_model_prepare(const struct pl_model_request *request,
                                       struct pl_model_prepared **ret_prepared,
                                       struct pl_error *err);
enum pl_status pl_vendor_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                                     const struct pl_model_ops *ops, void *ctx,
                                     struct pl_model_call **ret_call, struct pl_error *err);

#endif
