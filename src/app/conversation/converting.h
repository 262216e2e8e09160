/* One source converted: a document, or NDJSON with a document on each line. */
#ifndef PL_APP_CONVERTING_H
#define PL_APP_CONVERTING_H

#include "app/frame/commands.h"

#include "format/convert.h"
#include "promptfile/export.h"

/* How to convert: the same for all sources of a run. */
struct pl_converting {
    struct pl_console *console; /* borrowed */
    struct pl_convert_opts opts;
    const struct pl_export *import, *export; /* NULL: a format like the others */
    struct pl_export_how export_how;
    const char *model; /* of the export; NULL: the prompt's */
};

/* What to read and where to write, all borrowed. */
struct pl_converting_at {
    const char *in;         /* "-" is standard input */
    const char *out;        /* NULL: standard output */
    const char *report;     /* NULL: not asked for; so are the two below */
    const char *carry;      /* where the carry goes */
    const char *with_carry; /* where the carry of the way there is */
    bool is_ndjson;
};

/* Says what went wrong, and returns the exit code of this source. When there is an `out`,
 * missing directories above the files to write are made. */
enum pl_exit pl_converting_run(const struct pl_converting *how, const struct pl_converting_at *at);

/* Whether a source is NDJSON: --ndjson says so, or its name. */
bool pl_converting_is_ndjson(const struct pl_args *args, const char *path);
/* A usage error when the formats are such that `name` cannot be NDJSON. */
enum pl_exit pl_converting_check_ndjson(const struct pl_converting *how, const char *name);

/* Several sources, or directories of them, into the directory of --out. */
enum pl_exit pl_convert_many(const struct pl_converting *how, const struct pl_args *args);

#endif
