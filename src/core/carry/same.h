/* Whether two JSON values mean the same.
 *
 * In a message a bare string, a part {"type":"text","text":…} and a content with only this part are
 * the same text: every vendor treats them alike. Elsewhere they differ: in the arguments of a call,
 * in its result, in a schema, "Rome" and ["Rome"] are two values. So it depends on the place. */
#ifndef PL_CARRY_SAME_H
#define PL_CARRY_SAME_H

#include "base/status.h"
#include "json/json.h"

/* The place of a value in a document. */
enum pl_same_place {
    PL_SAME_DATA, /* any JSON: everything inside is data too */
    PL_SAME_ROAD, /* the document, a message, or another value that contains texts */
    PL_SAME_TEXT, /* a text, or a list of parts */
};

/* The place of the member `key` of `object`, which is at `place`. An element of a list has the
 * place of its list, and a document is at PL_SAME_ROAD. */
enum pl_same_place pl_same_inside(enum pl_same_place place, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object,
                                  const struct pl_json_node *key);

/* How many bytes the texts of two documents share at their beginning and at their end. An edited
 * document shares nearly all with the one it was: then most values are compared by their place. */
struct pl_same_bytes {
    size_t head, tail;
};
struct pl_same_bytes pl_same_bytes_of(const struct pl_json_doc *a, const struct pl_json_doc *b);

/* Whether both values mean the same; both are at `place`. NULL equals only NULL. `bytes` is that of
 * the documents, or NULL: unknown. PL_NOMEM is the only failure. */
enum pl_status pl_same_check(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             enum pl_same_place place, const struct pl_same_bytes *bytes,
                             bool *ret_is_same);

/* The string of a text: of a pure text part, of a list with only such a part, or a bare string.
 * NULL for anything else, and if the place is not PL_SAME_TEXT. */
const struct pl_json_node *pl_same_text(const struct pl_json_doc *doc, const struct pl_json_node *n,
                                        enum pl_same_place place);

/* Whether `type` is one of the types of a text part. */
bool pl_same_is_text_type(const struct pl_json_doc *doc, const struct pl_json_node *type);

#endif
