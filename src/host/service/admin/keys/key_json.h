/* ApiKey and User of seed 003, as the API and the command line both write them. */
#ifndef PL_SERVICE_ADMIN_KEY_JSON_H
#define PL_SERVICE_ADMIN_KEY_JSON_H

#include "json/write.h"
#include "store/gateway.h"

/* `plain` is the key itself, which is shown once, when it is created; otherwise NULL. `limits`
 * NULL: no limits are written. */
void pl_key_write(struct pl_json_out *out, const struct pl_key_row *key, const char *plain,
                  const struct pl_limits *limits);

/* The member "models" of a list with a line for each model; null when it is empty: every model. */
void pl_key_write_models(struct pl_json_out *out, struct pl_str models);

/* The members of a user, inside an object that is open. */
void pl_user_write(struct pl_json_out *out, const struct pl_user_row *user);

#endif
