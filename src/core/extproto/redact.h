/* Removes secrets from data that is logged, audited or shown: by the name of a member, by the form
 * of a text, and by known secret values. */
#ifndef PL_EXTPROTO_REDACT_H
#define PL_EXTPROTO_REDACT_H

#include "base/buf.h"
#include "json/json.h"

/* Secret values, such as vendor keys. Values under 8 bytes are ignored, because they occur in other
 * text. */
struct pl_ext_secrets {
    const struct pl_str *values; /* borrowed */
    size_t n;
};

/* Whether a member with this name is secret whatever its value. */
bool pl_ext_is_secret_name(struct pl_str name);

/* Appends the text with "[REDACTED]" in place of secrets. The user, query and fragment of URLs are
 * left out. */
void pl_ext_redact_text(struct pl_buf *to, struct pl_str text,
                        const struct pl_ext_secrets *secrets);

/* Appends the value as JSON, redacted at every depth. PL_NOMEM is also in the buffer's status. */
enum pl_status pl_ext_redact_json(struct pl_arena *arena, struct pl_buf *to,
                                  const struct pl_json_doc *doc, const struct pl_json_node *n,
                                  const struct pl_ext_secrets *secrets);

#endif
