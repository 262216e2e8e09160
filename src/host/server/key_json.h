/* ApiKey and User of seed 003, as the API and the command line both write them. */
#ifndef PL_SERVER_KEY_JSON_H
#define PL_SERVER_KEY_JSON_H

#include "json/write.h"
#include "store/store.h"

/* `plain` is the key itself, said once when it is made; NULL ever after. */
void pl_key_write(struct pl_json_out *out, const struct pl_key_row *key, const char *plain);

/* The members of a user, inside an object that is open. */
void pl_user_write(struct pl_json_out *out, const struct pl_user_row *user);

#endif
