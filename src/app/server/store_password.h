/* The password of a database: where it may come from, and that it is shown nowhere. */
#ifndef PL_APP_STORE_PASSWORD_H
#define PL_APP_STORE_PASSWORD_H

#include "base/arena.h"
#include "base/status.h"

/* The URL without its password, and the password ({NULL} where it has none). Strings of the arena.
 * PL_NOMEM. */
enum pl_status pl_store_url_split(struct pl_arena *arena, const char *url, const char **ret_url,
                                  const char **ret_password);
/* The URL with "***" in the place of its password; NULL when out of memory. */
const char *pl_store_url_redact(struct pl_arena *arena, const char *url);
/* Overwrites the password in place, so that a list of processes does not show it. */
void pl_store_url_scrub(char *url);
/* The first line of a file. */
enum pl_status pl_store_password_read(struct pl_arena *arena, const char *path,
                                      const char **ret_password, struct pl_error *err);

#endif
