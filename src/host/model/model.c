/* Finds a model by its name, and passes a call to its provider: demo, replay or vendor. */
#include "model/model_int.h"
#include "model/vendor/vendors_int.h"

static const struct pl_provider *const providers[] = {&pl_provider_demo, &pl_provider_replay};

#define N_PROVIDERS (sizeof providers / sizeof *providers)

static const struct pl_model_info *own_at(size_t i)
{
    for (size_t p = 0; p < N_PROVIDERS; p++) {
        if (i < providers[p]->n_models)
            return &providers[p]->models[i];
        i -= providers[p]->n_models;
    }
    return NULL;
}

const struct pl_model_info *pl_model_at(const struct pl_models *models, size_t i)
{
    size_t n_own = 0;
    for (size_t p = 0; p < N_PROVIDERS; p++)
        n_own += providers[p]->n_models;
    return i < n_own ? own_at(i) : pl_vendors_model_at(models, i - n_own);
}

static struct pl_str bare_name(const struct pl_model_info *info)
{
    struct pl_str name = pl_str_of(info->name);
    const char *slash = memchr(name.ptr, '/', name.len);
    return slash ? pl_str_slice(name, (size_t)(slash - name.ptr) + 1, name.len) : name;
}

const struct pl_model_info *pl_model_find_own(struct pl_str name)
{
    const struct pl_model_info *info;
    for (size_t i = 0; (info = own_at(i)); i++)
        if (pl_str_eq(pl_str_of(info->name), name))
            return info;
    for (size_t p = 0; p < N_PROVIDERS; p++)
        if (providers[p]->family && providers[p]->owns(name))
            return providers[p]->family;
    return NULL;
}

const struct pl_model_info *pl_model_find_bare(struct pl_str name)
{
    const struct pl_model_info *found = NULL, *info;
    size_t n_bare = 0;
    for (size_t i = 0; (info = own_at(i)); i++)
        if (pl_str_eq(bare_name(info), name)) {
            found = info;
            n_bare++;
        }
    return n_bare == 1 ? found : NULL;
}

const struct pl_model_info *pl_model_find(const struct pl_models *models, struct pl_str name)
{
    struct pl_model_target target;
    const struct pl_model_info *alias = pl_alias_find(models, name);
    if (alias)
        return alias;
    bool is_there = pl_model_resolve(models, name, &target) && !target.info->is_embedding;
    return is_there ? target.info : NULL;
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

/* Returns the built-in provider of a model; NULL for a vendor's. *ret_info is NULL if the model is
 * unknown. */
static const struct pl_provider *player_of(const struct pl_model_request *request,
                                           const struct pl_model_info **ret_info)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    *ret_info = pl_model_targets(request->models, request->model, targets) ? targets[0].info : NULL;
    if (*ret_info && (*ret_info)->is_embedding)
        *ret_info = NULL; /* pl_model_missing explains it */
    return *ret_info ? provider_of(*ret_info) : NULL;
}

enum pl_status pl_model_continues(const struct pl_models *models, struct pl_str name,
                                  struct pl_error *err)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n = pl_model_targets(models, name, targets);
    for (size_t i = 0; i < n; i++) {
        const struct pl_model_target *target = &targets[i];
        if (target->vendor && !(target->profile && target->profile->refuses_prefill))
            continue;
        return pl_fail(err, PL_INVALID,
                       "The answer is begun already (the last message is the assistant's), and "
                       "%s%s%.*s does not continue an answer: end with a user message, or choose "
                       "another model.",
                       target->vendor ? target->vendor->name : "", target->vendor ? "/" : "",
                       (int)(target->model.len < 100 ? target->model.len : 100), target->model.ptr);
    }
    return n ? PL_OK : pl_model_missing(models, name, err);
}

enum pl_status pl_model_prepare(const struct pl_model_request *request,
                                struct pl_model_prepared **ret_prepared, struct pl_error *err)
{
    const struct pl_model_info *info;
    const struct pl_provider *provider = player_of(request, &info);
    if (!info)
        return pl_model_missing(request->models, request->model, err);
    *ret_prepared = NULL;
    enum pl_status status =
        request->prefill.len ? pl_model_continues(request->models, request->model, err) : PL_OK;
    if (status != PL_OK)
        return status;
    return provider ? PL_OK : pl_vendor_model_prepare(request, ret_prepared, err);
}

enum pl_status pl_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                              const struct pl_model_ops *ops, void *ctx,
                              struct pl_model_call **ret_call, struct pl_error *err)
{
    const struct pl_model_info *info;
    const struct pl_provider *provider = player_of(request, &info);
    if (info && !provider)
        return pl_vendor_model_start(loop, request, ops, ctx, ret_call, err);
    pl_model_prepared_destroy(request->prepared);
    return info ? provider->start(loop, request, info, ops, ctx, ret_call, err)
                : pl_model_missing(request->models, request->model, err);
}

void pl_model_pace(struct pl_model_call *call, double speed, bool is_paused)
{
    if (call && call->pace)
        call->pace(call, speed, is_paused);
}

void pl_model_cancel(struct pl_model_call *call)
{
    if (call)
        call->cancel(call);
}

const char *pl_model_failure_code(const struct pl_model_failure *failure)
{
    static const struct {
        int from, to;
        const char *code;
    } codes[] = {
        {401, 401, "upstream_unauthorized"}, {402, 402, "upstream_quota"},
        {403, 403, "upstream_forbidden"},    {404, 404, "upstream_not_found"},
        {408, 408, "upstream_timeout"},      {429, 429, "rate_limited"},
        {400, 499, "upstream_refused"},      {503, 503, "upstream_overloaded"},
        {529, 529, "upstream_overloaded"},   {500, 599, "upstream_error"},
    };
    if (failure->is_overflow)
        return "context_length_exceeded";
    if (failure->code)
        return failure->code;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (failure->vendor_status >= codes[i].from && failure->vendor_status <= codes[i].to)
            return codes[i].code;
    return "model_failed";
}

bool pl_model_failure_is_retryable(const struct pl_model_failure *failure)
{
    int status = failure->vendor_status;
    if (failure->is_overflow)
        return false;
    return failure->retry_after_ms || status == 408 || status == 429 || status >= 500 ||
           (failure->code && strncmp(failure->code, "upstream_", 9) == 0);
}
