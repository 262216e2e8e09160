/* Exports of prompts that are not conversation formats: texts for people, repositories and shells.
 *
 * An export is written from a structured chat, so any format reaches it in two steps. Reading an
 * export gives a structured chat back: the same content, not the same bytes. */
#ifndef PL_PROMPTFILE_EXPORT_H
#define PL_PROMPTFILE_EXPORT_H

#include "format/convert.h"

/* Options of an export, and its losses. */
struct pl_export_how {
    bool appends_system;             /* the system prompt is added to that of the program */
    struct pl_str name, description; /* of the prompt; empty: unknown */
    const char *model_option; /* how to name a model if the prompt has none; NULL: in its config */
    /* The parts of the chat that the export loses, as objects of a loss report separated by commas;
     * pointers are into the chat. NULL: not wanted. */
    struct pl_buf *losses;
};

struct pl_export {
    const char *name;
    const char *title; /* one line for help texts */
    bool may_append;   /* supports appends_system */
    /* Appends the export of a structured chat (JSON). PL_INVALID if it cannot be exported. */
    enum pl_status (*write)(struct pl_buf *to, struct pl_str chat, const struct pl_export_how *how,
                            struct pl_error *err);
    /* Appends the structured chat (JSON) of such a text; NULL: cannot be read back. */
    enum pl_status (*read)(struct pl_buf *to, struct pl_str text, struct pl_error *err);
};

extern const struct pl_export pl_export_yaml, pl_export_markdown, pl_export_curl, pl_export_claude,
    pl_export_claude_command, pl_export_claude_skill;

/* Turns "Summarize text!" into "summarize-text", a file name for Claude Code; never empty. */
enum { PL_CLAUDE_NAME_MAX = 64 };
void pl_export_claude_name(struct pl_str name, char to[PL_CLAUDE_NAME_MAX + 1]);

/* All of them, ended by NULL. */
extern const struct pl_export *const pl_exports[];
const struct pl_export *pl_export_find(struct pl_str name);

/* Appends to `to` the export of a structured chat that was converted, and extends the report of the
 * conversion to the export. The losses of `how` are ignored. PL_INVALID also when something is lost
 * and `is_strict`; the report says what. */
enum pl_status pl_export_converted(const struct pl_export *export, const struct pl_export_how *how,
                                   bool is_strict, struct pl_converted *made, struct pl_buf *to,
                                   struct pl_error *err);

/* Appends the chat (JSON) with another model in its config. */
enum pl_status pl_export_set_model(struct pl_str chat, struct pl_str model, struct pl_buf *to,
                                   struct pl_error *err);

#endif
