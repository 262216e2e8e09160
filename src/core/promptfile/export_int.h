/* Shared by the exports that turn a chat into one text: command lines, and files of Claude Code. */
#ifndef PL_PROMPTFILE_EXPORT_INT_H
#define PL_PROMPTFILE_EXPORT_INT_H

#include "format/loss_report.h"
#include "promptfile/export.h"
#include "json/json.h"

struct pl_exported_chat {
    struct pl_arena arena; /* owned */
    struct pl_json_doc doc;
    const struct pl_json_node *messages; /* NULL: none */
    struct pl_str system, model;         /* empty: none; the vendor's own name */
    const struct pl_format *provider;    /* the prefix of the model name; NULL: none */
};

/* The caller initialises and frees the arena. */
enum pl_status pl_exported_chat_read(struct pl_exported_chat *c, struct pl_str text,
                                     struct pl_error *err);
/* Appends the messages as one text. A single message is copied; several are each put between tags
 * with their role. */
enum pl_status pl_exported_prompt_make(struct pl_exported_chat *c, struct pl_buf *to);

/* Adds a loss to the report, if one is wanted. */
void pl_export_lose(const struct pl_export_how *how, const struct pl_exported_chat *c,
                    enum pl_loss_code code, const struct pl_json_node *at, const char *detail);
/* The same for members of an object that are not in `said`. null and an empty list are no loss. */
void pl_export_lose_others(const struct pl_export_how *how, const struct pl_exported_chat *c,
                           const struct pl_json_node *object, const char *const *said,
                           const char *detail);

/* Whether the claude command has a model of this name. */
bool pl_export_is_claude_model(struct pl_str model);

#endif
