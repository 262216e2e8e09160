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

extern const struct pl_export pl_export_yaml, pl_export_markdown, pl_export_curl, pl_export_claude;

/* All of them, ended by NULL. */
extern const struct pl_export *const pl_exports[];
const struct pl_export *pl_export_find(struct pl_str name);

/* Appends to `to` the export of what was converted into a structured chat, and makes the report of
 * the conversion that of the export. PL_INVALID also when something is lost and `is_strict`; the
 * report says what. */
enum pl_status pl_export_converted(const struct pl_export *export, bool appends_system,
                                   bool is_strict, struct pl_converted *made, struct pl_buf *to,
                                   struct pl_error *err);

#endif
