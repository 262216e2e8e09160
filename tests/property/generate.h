/* Random valid conversations of a format, always the same for the same number.
 *
 * A format is a grammar: lines "name: template", several of one name being its alternatives. A
 * template is JSON with ' for ", and in it
 *     @name   one of that rule; @name* none to three, @name+ one to three, @name% one for each call
 *             that has no answer yet
 *     (…)     there or not
 *     $x      a value made up here: see the table in generate.c
 * Commas may be written too many: those without a neighbour are left out. White space, the spelling
 * of escapes and of numbers are drawn too. */
#ifndef PL_TESTS_PROPERTY_GENERATE_H
#define PL_TESTS_PROPERTY_GENERATE_H

#include "base/buf.h"

#include <stdint.h>

struct pl_grammar; /* a grammar, taken apart */

/* `rules` is borrowed. Ends the test on a mistake in the grammar. */
struct pl_grammar *pl_grammar_create(const char *rules);
void pl_grammar_destroy(struct pl_grammar *grammar);

/* Words that stand in exactly one message of a document, spelled without escapes: what an edit
 * changes. Not every document has them. */
#define PL_GENERATE_MARK "the words to change"

/* Appends document number `seed`. */
void pl_generate(const struct pl_grammar *grammar, uint64_t seed, struct pl_buf *to);

/* The grammar of a format, or NULL. */
const char *pl_grammar_of(const char *format);

#endif
