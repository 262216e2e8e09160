/* The first level of an object, for a program that forwards a document unchanged and looks at a few
 * of its members.
 *
 * The tree has the root, its keys and their values; arrays and objects among the values are nodes
 * without children, used for their spans. Only their end is found (skip.h); the receiver of the
 * document checks the rest. So a survey accepts documents that pl_json_parse refuses, and takes a
 * fraction of its time. */
#ifndef PL_JSON_SURVEY_H
#define PL_JSON_SURVEY_H

#include "json/json.h"

struct pl_json_survey {
    struct pl_json_doc doc; /* arena; n_space is 0 */
    size_t n_text;          /* bytes of strings at all levels, keys included … */
    size_t n_long; /* … except strings of about 64 KiB and more, which are counted here */
};

/* False: not an object, broken, too many members that are containers, or out of memory;
 * pl_json_parse tells which. The default depth limit applies, and opts applies to the first
 * level. */
bool pl_json_survey(struct pl_arena *arena, struct pl_str text, const struct pl_json_opts *opts,
                    struct pl_json_survey *ret_survey);

#endif
