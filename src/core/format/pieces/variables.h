/* Variables in a rendered text: the places of their values.
 *
 *     {"content": "Hello Ada!", "variables": [{"name": "user", "from": 6, "to": 9}]}
 *
 * `from` and `to` count code points. The list is in order without overlaps; a list that does not
 * fit its text is ignored, and so reported. */
#ifndef PL_FORMAT_VARIABLES_H
#define PL_FORMAT_VARIABLES_H

#include "base/map.h"
#include "format/writer.h"

/* The string `node` with the variables of `list` (may be NULL), which it marks as known. */
struct pl_val pl_variables_read(struct pl_conv *conv, const struct pl_json_node *node,
                                const struct pl_json_node *list);
/* Writes the member "variables" of a text that was written whole; nothing if it has none. A text of
 * pieces from several strings gets none: editing one piece would move the others, and the edit must
 * return to its own string. */
void pl_variables_write(struct pl_writer *w, struct pl_val text);

/* Replaces values by {{name}}, for a format with such variables; the values go into a list of
 * declarations.
 *
 *     struct pl_variables vars = {.conv = conv};
 *     pl_variables_name(&vars);           every text of the conversation
 *     pl_variables_declare(w, &vars);     "variables":[{"name","default","label"}], if there are any
 */
struct pl_variables {
    struct pl_conv *conv;                   /* borrowed */
    PL_VEC(const struct pl_piece *) pieces; /* owned; the first of each name, in order */
    struct pl_map by_name;                  /* owned; place in pieces + 1 */
};
void pl_variables_name(struct pl_variables *vars);
void pl_variables_declare(struct pl_writer *w, const struct pl_variables *vars);
void pl_variables_deinit(struct pl_variables *vars);

#endif
