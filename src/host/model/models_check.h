/* Checks that the names in a configuration lead to models: aliases and the default model. So a
 * mistake is found at the start and not by the first user. */
#ifndef PL_MODEL_MODELS_CHECK_H
#define PL_MODEL_MODELS_CHECK_H

#include "model/vendor/vendors.h"

/* `models` was created from `config`. PL_INVALID with a suggestion if an alias or the default model
 * (may be NULL; set at model_place, may be NULL) forms a circle or leads nowhere. is_probing: an
 * unknown name may be a model on this machine. Then those servers are queried first (blocks, at
 * most about a second). A name that is still unknown but resembles no other is only a warning,
 * because its server may start later. `warning` holds the last such warning, or is empty. */
enum pl_status pl_models_check(struct pl_models *models, const struct pl_models_config *config,
                               const char *default_model, const char *model_place, bool is_probing,
                               char warning[512], struct pl_error *err);

#endif
