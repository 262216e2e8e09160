/* Exports of prompts that are not conversation formats: texts for people, repositories and shells.
 *
 * An export is written from a structured chat, so any format reaches it in two steps. Reading an
 * export gives a structured chat back: the same content, not the same bytes. */
#ifndef PL_PROMPTFILE_EXPORT_H
#define PL_PROMPTFILE_EXPORT_H

#include "format/convert.h"

/* How an export is written, and what it cannot say. */
struct pl_export_how {
    bool appends_system; /* the system prompt is added to the one that the program has */
    struct pl_str name, description; /* of the prompt; empty: not known */
    const char *model_option; /* how a model is given where the prompt names none; NULL: there */
    /* What of the chat the export does not say, as objects of a loss report with commas between
     * them; pointers are into the chat. NULL: nobody asks. */
    struct pl_buf *losses;
};

struct pl_export {
    const char *name;
    const char *title; /* one line for help texts */
    bool may_append;   /* appends_system means something to it */
    /* Appends the export of a structured chat (JSON). PL_INVALID when there is no such export of
     * it. */
    enum pl_status (*write)(struct pl_buf *to, struct pl_str chat, const struct pl_export_how *how,
                            struct pl_error *err);
    /* Appends the structured chat (JSON) of such a text; NULL when it cannot be read. */
    enum pl_status (*read)(struct pl_buf *to, struct pl_str text, struct pl_error *err);
};

extern const struct pl_export pl_export_yaml, pl_export_markdown, pl_export_curl, pl_export_claude,
    pl_export_claude_command, pl_export_claude_skill;

/* "summarize-text" of "Summarize text!": a name for a file of Claude Code, as `to`; never empty. */
enum { PL_CLAUDE_NAME_MAX = 64 };
void pl_export_claude_name(struct pl_str name, char to[PL_CLAUDE_NAME_MAX + 1]);

/* All of them, ended by NULL. */
extern const struct pl_export *const pl_exports[];
const struct pl_export *pl_export_find(struct pl_str name);

/* Appends to `to` the export of what was converted into a structured chat, and makes the report of
 * the conversion that of the export; `how` but for its losses. PL_INVALID also when something is lost and `is_strict`; the
 * report says what. */
enum pl_status pl_export_converted(const struct pl_export *export, const struct pl_export_how *how,
                                   bool is_strict, struct pl_converted *made, struct pl_buf *to,
                                   struct pl_error *err);

/* Appends the chat (JSON) with another model in its config. */
enum pl_status pl_export_set_model(struct pl_str chat, struct pl_str model, struct pl_buf *to,
                                   struct pl_error *err);

#endif
