#include "server/setup.h"

#include "access/host_origin.h"
#include "base/mem.h"
#include "model/models_check.h"
#include "model/vendor/vendor_stats.h"

struct pl_setup *pl_setup_create(void)
{
    struct pl_setup *setup = pl_mem_alloc(1, sizeof *setup);
    if (!setup)
        return NULL;
    *setup = (struct pl_setup){0};
    pl_arena_init(&setup->arena, 0);
    return setup;
}

void pl_setup_destroy(struct pl_setup *setup)
{
    if (!setup)
        return;
    pl_models_destroy(setup->models);
    pl_tls_unref(setup->tls);
    pl_arena_deinit(&setup->arena);
    pl_mem_free(setup);
}

enum pl_status pl_setup_complete(struct pl_setup *setup, const struct pl_setup *before,
                                 struct pl_error *err)
{
    const struct pl_server_config *config = &setup->config;
    enum pl_status status = pl_access_check_config(config, err);
    if (status == PL_OK)
        status = pl_models_create(config->models, &setup->models, err);
    if (status == PL_OK)
        status = pl_models_check(setup->models, config->models, config->default_model,
                                 config->model_place, config->is_probing, setup->warning, err);
    if (status == PL_OK && before && before->models)
        pl_vendor_stats_inherit(setup->models, before->models);
    if (status == PL_OK && config->tls_cert)
        status = pl_tls_create(config->tls_cert, config->tls_key, &setup->tls, err);
    if (status == PL_OK && before && pl_tls_is_same(setup->tls, before->tls)) {
        pl_tls_unref(setup->tls);
        setup->tls = pl_tls_ref(before->tls);
    }
    if (status == PL_OK && before && before->models)
        pl_gates_inherit(setup->models, before->models);
    return status;
}
