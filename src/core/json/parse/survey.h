/* The first level of an object, for a program that forwards a document unchanged and looks at a few
 * of its members.
 *
 * The tree has the root, its keys and their values; arrays and objects among those are nodes
 * without children, and their spans are what matters. Nothing in them is checked but where they
 * end (skip.h): whoever reads the document finds the rest. So a survey accepts documents that
 * pl_json_parse refuses, and takes a fraction of its time. */
#ifndef PL_JSON_SURVEY_H
#define PL_JSON_SURVEY_H

#include "json/json.h"

struct pl_json_survey {
    struct pl_json_doc doc; /* arena; n_space counts nothing */
    size_t n_text;          /* bytes of strings at all levels, keys among them … */
    size_t n_long;          /* … but for those of about 64 KiB and more, which are counted here */
};

/* False: it is no object, it is broken, it has many members that hold something, or memory ran out;
 * pl_json_parse tells which. Depth is limited as by default, and the first level is held to opts.
 */
bool pl_json_survey(struct pl_arena *arena, struct pl_str text, const struct pl_json_opts *opts,
                    struct pl_json_survey *ret_survey);

#endif
