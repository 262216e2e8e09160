/* How a value of one document spells a piece of another: the way back for one link of the carry.
 *
 * A piece of the source (a string with its quotes, a number, an object, or bytes from inside a
 * string) stands in the target in some form. A spelling names the function from the target's value
 * to the exact bytes of the source. Spellings that go through the decoded text come first, so that
 * a target that somebody parsed and wrote again still leads home. */
#ifndef PL_FORMAT_SPELL_H
#define PL_FORMAT_SPELL_H

#include "base/buf.h"
#include "json/json.h"

enum pl_spell {
    PL_SPELL_TEXT,        /* the text, in quotes, with the fewest escapes */
    PL_SPELL_TEXT_ASCII,  /* … with everything beyond ASCII escaped */
    PL_SPELL_TEXT_SLASH,  /* … with \/ */
    PL_SPELL_RAW,         /* the value as it stands */
    PL_SPELL_INNER,       /* what stands between its quotes */
    PL_SPELL_DATA,        /* what stands behind the comma of a data URL */
    PL_SPELL_DATA_QUOTED, /* … in quotes */
    PL_SPELL_JSON,        /* its JSON text as a string, with the fewest escapes */
    PL_SPELL_JSON_ASCII,
    PL_SPELL_JSON_SLASH,
    PL_SPELL_PARSED, /* the text of the string, which is JSON */
    PL_SPELL_COUNT,
};

/* Short names, as the carry has them. */
struct pl_str pl_spell_name(enum pl_spell spell);
bool pl_spell_by_name(struct pl_str name, enum pl_spell *ret_spell);

/* Appends what `spell` makes of a value; false when it does not fit the value. */
bool pl_spell_put(struct pl_buf *to, const struct pl_json_doc *doc, const struct pl_json_node *n,
                  enum pl_spell spell);

/* Appends JSON text as the string that one of the JSON spellings makes of it. */
void pl_spell_put_text(struct pl_buf *to, struct pl_str json, enum pl_spell spell);

/* The first spelling that gives exactly `piece`; false when there is none, or when out of memory
 * (scratch->status tells). `scratch` is overwritten. */
bool pl_spell_find(struct pl_buf *scratch, const struct pl_json_doc *doc,
                   const struct pl_json_node *n, struct pl_str piece, enum pl_spell *ret_spell);

#endif
