/* What a prompt can be besides a format of conversations: texts for people, repositories and
 * shells.
 *
 * An export is written from a structured chat, so any format reaches it in two steps. Those that
 * can be read give a structured chat back: all it says, not its bytes. */
#ifndef PL_PROMPTFILE_EXPORT_H
#define PL_PROMPTFILE_EXPORT_H

#include "base/buf.h"

struct pl_export {
    const char *name;
    const char *title; /* one line for help texts */
    /* Appends the export of a structured chat (JSON). PL_INVALID when it cannot be said so. */
    enum pl_status (*write)(struct pl_buf *to, struct pl_str chat, struct pl_error *err);
    /* Appends the structured chat (JSON) of such a text; NULL when it cannot be read. */
    enum pl_status (*read)(struct pl_buf *to, struct pl_str text, struct pl_error *err);
};

extern const struct pl_export pl_export_yaml, pl_export_markdown, pl_export_curl, pl_export_claude;

/* All of them, ended by NULL. */
extern const struct pl_export *const pl_exports[];
const struct pl_export *pl_export_find(struct pl_str name);

#endif
