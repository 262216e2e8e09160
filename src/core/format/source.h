/* Opens a document to look at it or change it in its own format: parses it, detects the format, and
 * reads it into a conversation. */
#ifndef PL_FORMAT_SOURCE_H
#define PL_FORMAT_SOURCE_H

#include "format/format.h"

struct pl_source {
    struct pl_str text;             /* the JSON text; for gpt-oss the document that stands for it */
    const struct pl_format *format; /* that was read */
    struct pl_arena arena;          /* owned */
    struct pl_json_doc doc;         /* memory of the arena */
    struct pl_conv conv;            /* owned */
    struct pl_buf inner;            /* owned; text when the source itself is not JSON */
};

/* Parses strictly first, then as people write JSON by hand. `as` NULL: the format is detected.
 * max_items: messages, parts and tools it may have; 0: PL_CONV_MAX_ITEMS. PL_SYNTAX or PL_LIMIT:
 * not JSON, or too many items; PL_INVALID: not this format, or no known one; PL_NOMEM. Close it
 * whatever this returns; `text` must outlive the source. */
enum pl_status pl_source_open(struct pl_source *source, struct pl_str text,
                              const struct pl_format *as, size_t max_items, struct pl_error *err);
/* The same for a document that Parley made: it may be deeper than untrusted input. */
enum pl_status pl_source_open_own(struct pl_source *source, struct pl_str text,
                                  const struct pl_format *as, struct pl_error *err);
void pl_source_close(struct pl_source *source);
#define PL_CLEANUP_SOURCE __attribute__((cleanup(pl_source_close)))

/* Its steps, for those who bring memory of their own. */

/* gpt-oss is text. Internally a JSON document stands for it, which is written to `inner` and
 * becomes *text. *format NULL: not known yet; this may set it to gpt-oss. */
enum pl_status pl_source_unwrap(struct pl_str *text, const struct pl_format **format,
                                struct pl_buf *inner, struct pl_error *err);
/* Strictly first, then leniently. Either way offsets are those of the text. */
enum pl_status pl_source_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err);
/* RFC 8259 only. A duplicate key is refused too, because readers disagree about which of the two
 * counts. The error says what to fix. */
enum pl_status pl_source_parse_strict(struct pl_arena *arena, struct pl_str text,
                                      struct pl_json_doc *ret_doc, struct pl_error *err);
/* Finds the format by the content where *format is NULL; `option` is how a person names it. */
enum pl_status pl_source_detect(const struct pl_json_doc *doc, const char *option,
                                const struct pl_format **format, struct pl_error *err);

#endif
