/* Opens a document to inspect or change it in its own format: parses it, detects the format, and
 * reads it into a conversation. */
#ifndef PL_FORMAT_SOURCE_H
#define PL_FORMAT_SOURCE_H

#include "format/format.h"

struct pl_source {
    struct pl_str text;             /* the JSON text; for gpt-oss its JSON document */
    const struct pl_format *format; /* the format that was recognised */
    struct pl_arena arena;          /* owned */
    struct pl_json_doc doc;         /* memory of the arena */
    struct pl_conv conv;            /* owned */
    struct pl_buf inner;            /* owned; the JSON text if the source itself is not JSON */
};

/* Parses strictly first, then leniently (hand-written JSON). `as` NULL: detects the format.
 * max_items: limit of messages, parts and tools; 0: PL_CONV_MAX_ITEMS. PL_SYNTAX or PL_LIMIT: not
 * JSON, or too many items; PL_INVALID: not this format, or no known one; PL_NOMEM. Close it
 * whatever this returns; `text` must outlive the source. */
enum pl_status pl_source_open(struct pl_source *source, struct pl_str text,
                              const struct pl_format *as, size_t max_items, struct pl_error *err);
/* The same for a document that Parley made: it may nest deeper than untrusted input. */
enum pl_status pl_source_open_own(struct pl_source *source, struct pl_str text,
                                  const struct pl_format *as, struct pl_error *err);
void pl_source_close(struct pl_source *source);
#define PL_CLEANUP_SOURCE __attribute__((cleanup(pl_source_close)))

/* The single steps, for callers with their own memory. */

/* gpt-oss is text. Its internal JSON document is written to `inner` and becomes *text. *format
 * NULL: unknown; this may set it to gpt-oss. */
enum pl_status pl_source_unwrap(struct pl_str *text, const struct pl_format **format,
                                struct pl_buf *inner, struct pl_error *err);
/* Strictly first, then leniently. Either way offsets refer to the text. */
enum pl_status pl_source_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err);
/* RFC 8259 only. Also refuses a duplicate key, because readers disagree about which of the two
 * counts. The error says what to fix. */
enum pl_status pl_source_parse_strict(struct pl_arena *arena, struct pl_str text,
                                      struct pl_json_doc *ret_doc, struct pl_error *err);
/* Detects the format if *format is NULL; `option` is the option to name in the error. */
enum pl_status pl_source_detect(const struct pl_json_doc *doc, const char *option,
                                const struct pl_format **format, struct pl_error *err);

#endif
