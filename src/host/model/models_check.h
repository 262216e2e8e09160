/* Whether the names of a configuration lead to models: aliases and the default model. A mistake is
 * found at the start and not by the first user. */
#ifndef PL_MODEL_MODELS_CHECK_H
#define PL_MODEL_MODELS_CHECK_H

#include "model/vendor/vendors.h"

/* `models` is made of `config`. PL_INVALID: an alias or the default model (NULL: none; set at
 * model_place, may be NULL) goes in a circle or to nowhere, with a suggestion. is_probing: a name that is unknown so far may be that of
 * a model on this machine. Then those servers are asked first (blocks, at most about a second), and
 * a name that is still unknown but resembles no other is only a warning: the server of the model may
 * start later. It is the last such one; empty: none. */
enum pl_status pl_models_check(struct pl_models *models, const struct pl_models_config *config,
                               const char *default_model, const char *model_place, bool is_probing,
                               char warning[512], struct pl_error *err);

#endif
