/* Shared by the files of the public API. */
#ifndef PL_LIB_PARLEY_INT_H
#define PL_LIB_PARLEY_INT_H

#include "parley/parley.h"

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"
#include "json/parse/lenient.h"
#include "lib/decoded.h"

struct parley_json {
    struct pl_arena arena;  /* the copy of the text, the tree and the notes */
    struct pl_str text;     /* as given: arena, or borrowed from the caller with PARLEY_BORROW */
    struct pl_json_doc doc; /* its text is `text`, or a copy with tolerated parts blanked */
    struct pl_json_notes notes;
    struct pl_decoded *decoded; /* arena; its entries are owned; a pointer, because it grows while
                                 * the rest is const */
};

enum parley_status pl_export_status(enum pl_status status);

/* Fills *to (which may be NULL) if the status is not PL_OK. */
enum parley_status pl_export_error(enum pl_status status, const struct pl_error *from,
                                   struct parley_error *to);

/* Passes the buffer's memory to the caller, NUL-terminated. */
enum pl_status pl_export_text(struct pl_buf *buf, char **ret_text, size_t *ret_size);

struct pl_format;
struct pl_dialect;

/* Finds a format by its name; a NULL name is valid and means no format. */
enum pl_status pl_import_format(const char *name, const struct pl_format **ret_format,
                                struct pl_error *err);

enum pl_status pl_import_dialect(const char *name, const struct pl_dialect **ret_dialect,
                                 struct pl_error *err);

/* A parley_value is an opaque pl_json_node; NULL means the root. */
static inline const struct pl_json_node *pl_import_node(const struct parley_json *json,
                                                        const struct parley_value *value)
{
    return value ? (const struct pl_json_node *)value : json->doc.root;
}

static inline const struct parley_value *pl_export_node(const struct pl_json_node *node)
{
    return (const struct parley_value *)node;
}

#endif
