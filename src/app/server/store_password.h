/* The password of a database URL: its sources, and hiding it. */
#ifndef PL_APP_STORE_PASSWORD_H
#define PL_APP_STORE_PASSWORD_H

#include "base/arena.h"
#include "base/status.h"

/* Splits a URL into the URL without its password, and the password (NULL if it has none). A changed
 * URL and the password belong to the arena. PL_NOMEM. */
enum pl_status pl_store_url_split(struct pl_arena *arena, const char *url, const char **ret_url,
                                  const char **ret_password);
/* The URL with "***" for its password; NULL if out of memory. */
const char *pl_store_url_redact(struct pl_arena *arena, const char *url);
/* Overwrites the password in place, so that no process list shows it. */
void pl_store_url_scrub(char *url);
/* Reads the password from the first line of a file. */
enum pl_status pl_store_password_read(struct pl_arena *arena, const char *path,
                                      const char **ret_password, struct pl_error *err);

#endif
