/* Reads JSON as people write it. Comments, trailing commas, a byte-order mark, duplicate keys and
 * lone surrogates are tolerated and reported. Everything else stays strict.
 *
 * Text that is not JSON is blanked out in a private copy of the same length, which is then parsed
 * strictly. So every offset in the tree is an offset in the given text. */
#ifndef PL_JSON_LENIENT_H
#define PL_JSON_LENIENT_H

#include "json/json.h"

enum pl_json_note_kind {
    PL_JSON_NOTE_BOM,
    PL_JSON_NOTE_LINE_COMMENT,
    PL_JSON_NOTE_BLOCK_COMMENT,
    PL_JSON_NOTE_TRAILING_COMMA,
    PL_JSON_NOTE_DUPLICATE_KEY,
    PL_JSON_NOTE_LONE_SURROGATE,
    PL_JSON_NOTE_COUNT,
};

/* One tolerated fault: its bytes in the given text. */
struct pl_json_note {
    enum pl_json_note_kind kind;
    uint32_t off, len;
};

struct pl_json_notes {
    struct pl_json_note *items; /* arena; in order of offset */
    uint32_t len;
};

/* Like pl_json_parse, but doc->text is an arena copy (same length, same offsets). */
enum pl_status pl_json_parse_lenient(struct pl_arena *arena, struct pl_str text,
                                     const struct pl_json_opts *opts, struct pl_json_doc *ret_doc,
                                     struct pl_json_notes *ret_notes, struct pl_error *err);

/* The duplicate keys of a document that was parsed with allows_duplicate_keys: all but the first of
 * that name in an object. */
enum pl_status pl_json_find_duplicates(struct pl_arena *arena, const struct pl_json_doc *doc,
                                       struct pl_json_notes *ret_notes, struct pl_error *err);

/* "comment", "trailing comma", …: for messages. */
const char *pl_json_note_name(enum pl_json_note_kind kind);

#endif
