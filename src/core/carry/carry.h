/* The carry: a file beside a target, from which the source can be rebuilt.
 *
 *     {"parley_carry":[3,"openai-chat","anthropic","mQ…"],"source":"{M[{R(,C'~xK…'}]}"}
 *
 * The list says how it was converted: version, format of the source, format of the target, hash of
 * the target's bytes, then kind, mode and profile. Trailing entries are left out if they are the
 * defaults "request", "convert" and none.
 *
 * `source` is the JSON text of the source in a short spelling that needs no escapes:
 *
 *     outside strings   a character that JSON does not have there is a word (words.h): M is
 *                       "messages":   ^ before a character: that character itself
 *     'text'            a string, "text"
 *     '…~xK…'           a reference: a long string of the target, by the hash of its bytes as JSON
 *                       spells them with the fewest escapes; ~~ and ~' are ~ and '
 *     "text"            a string that holds ' or ~, as the source has it
 *
 * So long strings are only in the target. A reference has no position: the string is found wherever
 * it is, also in a target that another program rewrote. Everything that the target lacks is
 * readable in the carry.
 *
 * A carry is untrusted input: it is checked before anything in it is used. */
#ifndef PL_CARRY_CARRY_H
#define PL_CARRY_CARRY_H

#include "base/hash.h"
#include "format/way_home.h"

enum { PL_CARRY_VERSION = 3 };

/* The value of pl_convert_opts.way_home for a conversion that writes a carry, or uses one to
 * restore the source: pl_carry_write, and pl_home_go of home.h. */
extern const struct pl_way_home pl_carry_way;

/* Appends the carry of a finished conversion. The writer has kept PL_LINKS_LONG; `source` is the
 * original text, `target` the output. */
enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              struct pl_str target, const struct pl_conversion *conversion);

/* A carry that was read. */
struct pl_carry {
    struct pl_conversion conversion; /* from the source's format to the target's */
    bool is_untouched;               /* the bytes of the target are unchanged */
    struct pl_str source;            /* with pl_carry_missing() for lost texts */
    bool has_missing;                /* the source has such a text */
};

/* Appends the source to `to`, and carry->source is that part of it. The references are resolved in
 * `target`. PL_SYNTAX or PL_LIMIT: not JSON, or too large. PL_INVALID: not a carry; the message says
 * what is wrong, where in it, and what to do. */
enum pl_status pl_carry_read(struct pl_carry *carry, struct pl_buf *to, struct pl_arena *arena,
                             struct pl_str text, const struct pl_json_doc *target,
                             struct pl_error *err);

/* Replaces a text that is no longer in the target. No other program writes it. */
struct pl_str pl_carry_missing(void);

/* Appends the content of a string, `raw` without quotes, in the usual spelling: with the fewest
 * escapes. Half of a surrogate pair keeps its escape, in lower case. */
void pl_carry_spell(struct pl_buf *to, struct pl_str raw);

/* The hash of a text. */
static inline uint64_t pl_carry_hash(struct pl_str bytes)
{
    return pl_hash_quick(bytes);
}

/* The hash of a whole target; some of its bytes are hashed already. */
struct pl_carry_hasher {
    struct pl_str text; /* borrowed */
    size_t end;         /* bytes before it are in the hash */
    uint64_t hash;
};
/* The bytes [at, at + len) have this hash. Call it in the order of `at`; overlapping ranges are
 * ignored. */
void pl_carry_hash_known(struct pl_carry_hasher *hasher, size_t at, size_t len, uint64_t hash);
uint64_t pl_carry_hash_end(struct pl_carry_hasher *hasher);

#endif
