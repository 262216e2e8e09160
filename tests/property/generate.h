/* Random valid conversations of a format; the same number always gives the same document.
 *
 * A format is a grammar: lines "name: template"; lines with the same name are alternatives. A
 * template is JSON with ' for ", and with
 *     @name   one of that rule; @name* none to three, @name+ one to three, @name% one for each call
 *             that has no answer yet
 *     (…)     optional
 *     $x      a generated value: see the table in generate.c
 * Superfluous commas are omitted. White space and the spelling of escapes and numbers are random,
 * too. */
#ifndef PL_TESTS_PROPERTY_GENERATE_H
#define PL_TESTS_PROPERTY_GENERATE_H

#include "base/buf.h"

#include <stdint.h>

struct pl_grammar; /* a parsed grammar */

/* `rules` is borrowed. Ends the test if the grammar has an error. */
struct pl_grammar *pl_grammar_create(const char *rules);
void pl_grammar_destroy(struct pl_grammar *grammar);

/* Words that occur in at most one message of a document, without escapes. Edits change them. */
#define PL_GENERATE_MARK "the words to change"

/* Appends the document of this seed. */
void pl_generate(const struct pl_grammar *grammar, uint64_t seed, struct pl_buf *to);

/* The grammar of a format, or NULL. */
const char *pl_grammar_of(const char *format);

#endif
