/* Secrets out of what is logged, audited or shown: by the name of a member, by the look of a text, and by
 * values that are known to be secret. */
#ifndef PL_EXTPROTO_REDACT_H
#define PL_EXTPROTO_REDACT_H

#include "base/buf.h"
#include "json/json.h"

/* Values that never go out, such as the keys of vendors; those under 8 bytes are ignored, because they are
 * part of too much else. */
struct pl_ext_secrets {
    const struct pl_str *values; /* borrowed */
    size_t n;
};

/* Whether a member of this name is a secret whatever its value is. */
bool pl_ext_is_secret_name(struct pl_str name);

/* Appends the text with "[REDACTED]" in the place of secrets. Of an address of the web the user, the query
 * and the fragment are left out. */
void pl_ext_redact_text(struct pl_buf *to, struct pl_str text,
                        const struct pl_ext_secrets *secrets);

/* Appends the value as JSON, redacted at every depth. PL_NOMEM is in the status of the buffer too. */
enum pl_status pl_ext_redact_json(struct pl_arena *arena, struct pl_buf *to,
                                  const struct pl_json_doc *doc, const struct pl_json_node *n,
                                  const struct pl_ext_secrets *secrets);

#endif
