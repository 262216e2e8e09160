/* The leaf assertions: keywords that check a value without applying a subschema. Used by checking
 * and explaining. */
#ifndef PL_SCHEMA_ASSERT_H
#define PL_SCHEMA_ASSERT_H

#include "schema/schema_int.h"

/* A number spelled as a short integer. */
static inline bool pl_small_integer(const struct pl_json_doc *doc, const struct pl_json_node *n,
                                    int64_t *ret_value)
{
    if (!(n->tag & PL_JSON_INTEGER) || n->len > 18)
        return false;
    const char *p = doc->text.ptr + n->off, *end = p + n->len;
    bool is_negative = *p == '-';
    int64_t value = 0;
    for (p += is_negative; p != end; p++)
        value = value * 10 + (*p - '0');
    *ret_value = is_negative ? -value : value;
    return true;
}

/* Whether the instance passes op `code` with operands a, b (as in enum pl_op_code). Passes if the
 * op does not apply to its class. False also when the run has failed. */
bool pl_assert_number(struct pl_schema_run *run, uint8_t code, uint32_t a,
                      const struct pl_json_node *n);
bool pl_assert_length(struct pl_schema_run *run, uint32_t least, uint32_t most,
                      const struct pl_json_node *n);
bool pl_assert_pattern(struct pl_schema_run *run, uint32_t regex, const struct pl_json_node *n);
bool pl_assert_format(struct pl_schema_run *run, uint32_t format, const struct pl_json_node *n);
bool pl_assert_unique(struct pl_schema_run *run, const struct pl_json_node *n);
bool pl_assert_types(struct pl_schema_run *run, uint32_t types, const struct pl_json_node *n);
/* Whether the instance equals `value` of schema document `doc`. */
bool pl_assert_equal(struct pl_schema_run *run, uint32_t doc, const struct pl_json_node *value,
                     const struct pl_json_node *n);
/* Whether all names of a dependency exist, if the dependency applies. */
bool pl_assert_names(struct pl_schema_run *run, const struct pl_dep *dep,
                     const struct pl_json_node *n);

#endif
