/* Converts one source: a document, or NDJSON with a document on each line. */
#ifndef PL_APP_CONVERTING_H
#define PL_APP_CONVERTING_H

#include "app/frame/commands.h"

#include "format/convert.h"
#include "promptfile/export.h"

/* Settings for all sources of a run. */
struct pl_converting {
    struct pl_console *console; /* borrowed */
    struct pl_convert_opts opts;
    const struct pl_export *import, *export; /* NULL: a regular format */
    struct pl_export_how export_how;
    const char *model; /* for the export; NULL: the prompt's */
};

/* Paths of input and output; all borrowed. */
struct pl_converting_at {
    const char *in;         /* "-": standard input */
    const char *out;        /* NULL: standard output */
    const char *report;     /* NULL: not requested; likewise the two below */
    const char *carry;      /* output path of the carry */
    const char *with_carry; /* path of the carry to restore from */
    bool is_ndjson;
};

/* Prints errors, and returns the exit code of this source. Creates missing directories if `out` is
 * given. */
enum pl_exit pl_converting_run(const struct pl_converting *how, const struct pl_converting_at *at);

/* Whether a source is NDJSON: by --ndjson, or by its name. */
bool pl_converting_is_ndjson(const struct pl_args *args, const char *path);
/* A usage error if the formats do not support NDJSON. */
enum pl_exit pl_converting_check_ndjson(const struct pl_converting *how, const char *name);

/* Converts several sources, or directories of them, into the directory of --out. */
enum pl_exit pl_convert_many(const struct pl_converting *how, const struct pl_args *args);

#endif
