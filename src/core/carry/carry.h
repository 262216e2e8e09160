/* The carry: what makes the source again from a target, kept beside the target.
 *
 *     {"parley_carry":[3,"openai-chat","anthropic","mQ…"],"source":"{M[{R(,C'~xK…'}]}"}
 *
 * The list says how it was converted: version, format of the source, format of the target, hash of
 * the target's bytes, then kind, mode and profile, of which the last ones are left out where they
 * are "request", "convert" and none.
 *
 * `source` is the text of the source, which is JSON, spelled so that it becomes short and need not
 * be escaped:
 *
 *     outside strings   a character that JSON does not have there is a word (words.h): M is
 *                       "messages":   ^ before a character: that character itself
 *     'text'            a string, "text"
 *     '…~xK…'           a reference: a long string of the target, by the hash of its bytes as JSON
 *                       spells them with the fewest escapes; ~~ and ~' are ~ and '
 *     "text"            a string that holds ' or ~, as the source has it
 *
 * So what is long stands only in the target. A reference holds no place: the string is found
 * wherever it stands, also in a target that another program wrote again. What the target does not
 * say can be read in the carry as it is.
 *
 * A carry comes from outside: it is checked before anything of it is used. */
#ifndef PL_CARRY_CARRY_H
#define PL_CARRY_CARRY_H

#include "format/way_home.h"

enum { PL_CARRY_VERSION = 3 };

/* What a conversion is given (pl_convert_opts.way_home) that shall write a carry, or go home with
 * one: pl_carry_write, and pl_home_go of home.h. */
extern const struct pl_way_home pl_carry_way;

/* Appends the carry of a conversion that is done. The writer has kept PL_LINKS_LONG; `source` is
 * the text as it was given, `target` what was written. */
enum pl_status pl_carry_write(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                              struct pl_str target, const struct pl_format_task *task);

/* A carry that was read. */
struct pl_carry {
    struct pl_format_task task; /* as it was converted: from the source's format to the target's */
    bool is_untouched;          /* the target has the bytes it was given */
    struct pl_str source;       /* arena; the source. What the target does not say any more is */
    bool has_missing;           /* … the word pl_carry_missing() */
};

/* `target` is what the references lead into. PL_SYNTAX or PL_LIMIT: not JSON. PL_INVALID: it is not
 * a carry; the message says what is wrong, where in it, and what to do. */
enum pl_status pl_carry_read(struct pl_carry *carry, struct pl_arena *arena, struct pl_str text,
                             const struct pl_json_doc *target, struct pl_error *err);

/* Stands for a text that was in the target and is not there any more. Nobody else writes it. */
struct pl_str pl_carry_missing(void);

/* Appends what stands between the quotes of a string, `raw`, in the usual spelling: the one with
 * the fewest escapes. Half of a surrogate pair keeps its escape, in lower case. */
void pl_carry_spell(struct pl_buf *to, struct pl_str raw);

/* The hash of a text. */
uint64_t pl_carry_hash(struct pl_str bytes);

/* The hash of a whole target, some of whose bytes are hashed already. */
struct pl_carry_hasher {
    struct pl_str text; /* borrowed */
    size_t end;         /* bytes before it are in the hash */
    uint64_t hash;
};
/* The bytes [at, at + len) have this hash. Places are given in order; one before the end of the
 * last is passed over. */
void pl_carry_hash_known(struct pl_carry_hasher *hasher, size_t at, size_t len, uint64_t hash);
uint64_t pl_carry_hash_end(struct pl_carry_hasher *hasher);

#endif
