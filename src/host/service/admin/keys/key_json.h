/* ApiKey and User of seed 003, as the API and the command line write them. */
#ifndef PL_SERVICE_ADMIN_KEY_JSON_H
#define PL_SERVICE_ADMIN_KEY_JSON_H

#include "json/write.h"
#include "store/gateway.h"

/* `plain` is the key itself, shown once when it is created; otherwise NULL. `limits` NULL:
 * limits are not written. */
void pl_key_write(struct pl_json_out *out, const struct pl_key_row *key, const char *plain,
                  const struct pl_limits *limits);

/* The member "models", from a list with one model per line; null if it is empty: every model. */
void pl_key_write_models(struct pl_json_out *out, struct pl_str models);

/* Writes the members of a user into an open object. */
void pl_user_write(struct pl_json_out *out, const struct pl_user_row *user);

#endif
