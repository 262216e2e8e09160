#include "model/model_int.h"

static const struct pl_provider *const providers[] = {&pl_provider_demo, &pl_provider_replay};

#define N_PROVIDERS (sizeof providers / sizeof *providers)

const struct pl_model_info *pl_model_at(size_t i)
{
    for (size_t p = 0; p < N_PROVIDERS; p++) {
        if (i < providers[p]->n_models)
            return &providers[p]->models[i];
        i -= providers[p]->n_models;
    }
    return NULL;
}

static struct pl_str bare_name(const struct pl_model_info *info)
{
    struct pl_str name = pl_str_of(info->name);
    const char *slash = memchr(name.ptr, '/', name.len);
    return slash ? pl_str_slice(name, (size_t)(slash - name.ptr) + 1, name.len) : name;
}

const struct pl_model_info *pl_model_find(struct pl_str name)
{
    const struct pl_model_info *found = NULL;
    size_t n_bare = 0;
    const struct pl_model_info *info;
    for (size_t i = 0; (info = pl_model_at(i)); i++) {
        if (pl_str_eq(pl_str_of(info->name), name))
            return info;
        if (pl_str_eq(bare_name(info), name)) {
            found = info;
            n_bare++;
        }
    }
    for (size_t p = 0; p < N_PROVIDERS; p++)
        if (providers[p]->family && providers[p]->owns(name))
            return providers[p]->family;
    return n_bare == 1 ? found : NULL;
}

struct pl_str pl_model_name(const struct pl_model_info *info, struct pl_str asked)
{
    return info->is_family ? asked : pl_str_of(info->name);
}

static const struct pl_provider *provider_of(const struct pl_model_info *info)
{
    for (size_t p = 0; p < N_PROVIDERS; p++) {
        const struct pl_provider *provider = providers[p];
        if (info == provider->family)
            return provider;
        for (size_t i = 0; i < provider->n_models; i++)
            if (info == &provider->models[i])
                return provider;
    }
    return NULL;
}

enum pl_status pl_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                              const struct pl_model_ops *ops, void *ctx,
                              struct pl_model_call **ret_call, struct pl_error *err)
{
    const struct pl_model_info *info = pl_model_find(request->model);
    if (!info)
        return pl_fail(err, PL_NOT_FOUND,
                       "There is no model %.*s; GET /api/models lists those there are.",
                       PL_STR_ARG(request->model));
    return provider_of(info)->start(loop, request, info, ops, ctx, ret_call, err);
}

void pl_model_cancel(struct pl_model_call *call)
{
    if (call)
        call->cancel(call);
}
