/* The section `oidc:` of the configuration file (access/oidc/oidc_config.h). The client secret is
 * read from the environment or from a file that only its owner may read, and is never shown. */
#ifndef PL_APP_SERVE_OIDC_H
#define PL_APP_SERVE_OIDC_H

#include "access/oidc/oidc_config.h"
#include "app/server/serve_models.h"

/* *ret_config is NULL if the file has no such section. PL_INVALID with a message that has the
 * position. */
enum pl_status pl_serve_oidc_read(const struct pl_serve_models_source *source,
                                  const struct pl_oidc_config **ret_config, struct pl_error *err);

bool pl_serve_oidc_is_same(const struct pl_oidc_config *a, const struct pl_oidc_config *b);

/* Prints the section for people; _write adds it as a member to an open object. If config is NULL,
 * prints nothing, and writes null. */
void pl_serve_oidc_print(struct pl_console *console, const struct pl_oidc_config *config);
void pl_serve_oidc_write(struct pl_json_out *out, const struct pl_oidc_config *config);

#endif
