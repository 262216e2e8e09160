/* Inside lint: one file per subject, each with one function that looks at the whole conversation.
 */
#ifndef PL_CONV_LINT_INT_H
#define PL_CONV_LINT_INT_H

#include "conv/lint/lint.h"

struct pl_lint {
    struct pl_conv *conv;            /* borrowed */
    const struct pl_lint_opts *opts; /* borrowed */
    struct pl_findings *found;       /* borrowed */
};

/* Adds a finding; its message is printf-like. A NULL node stands for the document. */
void pl_lint_add(struct pl_lint *lint, const char *code, enum pl_severity severity,
                 const struct pl_json_node *node, const char *message, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, for a problem that pl_conv_repair() fixes. */
void pl_lint_add_fixable(struct pl_lint *lint, const char *code, enum pl_severity severity,
                         const struct pl_json_node *node, const char *message, ...)
    __attribute__((format(printf, 5, 6)));

/* The node of a part: its own, that of its text, or that of its message. */
const struct pl_json_node *pl_lint_node(const struct pl_message *message,
                                        const struct pl_part *part);
/* An id, name and the like, shortened for a message. */
struct pl_str pl_lint_label(struct pl_lint *lint, struct pl_val val);

/* Calls `look` for every part, including the parts inside results. */
void pl_lint_each_part(struct pl_lint *lint,
                       void (*look)(struct pl_lint *lint, const struct pl_message *message,
                                    const struct pl_part *part));

void pl_lint_tools(struct pl_lint *lint);
void pl_lint_media(struct pl_lint *lint);
void pl_lint_text(struct pl_lint *lint);
void pl_lint_cites(struct pl_lint *lint);
void pl_lint_turns(struct pl_lint *lint);

#endif
