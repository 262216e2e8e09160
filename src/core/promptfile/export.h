/* Exports of prompts that are not conversation formats: texts for people, repositories and shells.
 *
 * An export is written from a structured chat, so any format reaches it in two steps. Reading an
 * export gives a structured chat back: the same content, not the same bytes. */
#ifndef PL_PROMPTFILE_EXPORT_H
#define PL_PROMPTFILE_EXPORT_H

#include "base/buf.h"

struct pl_export {
    const char *name;
    const char *title; /* one line for help texts */
    /* Appends the export of a structured chat (JSON). PL_INVALID when there is no such export of
     * it. */
    enum pl_status (*write)(struct pl_buf *to, struct pl_str chat, struct pl_error *err);
    /* Appends the structured chat (JSON) of such a text; NULL when it cannot be read. */
    enum pl_status (*read)(struct pl_buf *to, struct pl_str text, struct pl_error *err);
};

extern const struct pl_export pl_export_yaml, pl_export_markdown, pl_export_curl, pl_export_claude;

/* All of them, ended by NULL. */
extern const struct pl_export *const pl_exports[];
const struct pl_export *pl_export_find(struct pl_str name);

#endif
