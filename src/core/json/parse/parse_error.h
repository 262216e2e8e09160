/* Messages for a text that is not JSON: what was expected, what was found instead, and advice for
 * the most common mistakes. Used only on failure. */
#ifndef PL_JSON_PARSE_ERROR_H
#define PL_JSON_PARSE_ERROR_H

#include "json/json.h"

enum pl_json_expect {
    PL_JSON_EXPECT_VALUE,
    PL_JSON_EXPECT_VALUE_OR_END,
    PL_JSON_EXPECT_NUMBER,
    PL_JSON_EXPECT_KEY,
    PL_JSON_EXPECT_KEY_OR_END,
    PL_JSON_EXPECT_COLON,
    PL_JSON_EXPECT_MEMBER_END,
    PL_JSON_EXPECT_ELEMENT_END,
    PL_JSON_EXPECT_NOTHING,
};

/* Whether the error is between the children of a container rather than in one of them. */
bool pl_json_expect_is_between(enum pl_json_expect expect);

/* Fills err->message for an unexpected byte (or the end) at `off`. */
enum pl_status pl_json_fail_unexpected(struct pl_error *err, struct pl_str text, size_t off,
                                       enum pl_json_expect expect);

/* A JSON Pointer in a fixed array; cut with "…" if it does not fit. */
struct pl_json_path {
    char *to;
    size_t len, size;
    bool is_cut;
};
struct pl_json_path pl_json_path(char *to, size_t size);
void pl_json_path_add_index(struct pl_json_path *path, uint32_t index);
void pl_json_path_add_key(struct pl_json_path *path, const struct pl_json_doc *doc,
                          const struct pl_json_node *key);

#endif
