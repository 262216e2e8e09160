/* JSON Schema 2020-12: compile once, validate many.
 *
 *     text --pl_schema_compile--> pl_schema (immutable, shared by threads)
 *                                    |
 *                           pl_schema_run (scratch of one thread)
 *                                    |
 *          pl_schema_check: yes or no, at full speed, allocating nothing
 *          pl_schema_explain: every error (or annotation) with its place and a sentence
 */
#ifndef PL_SCHEMA_SCHEMA_H
#define PL_SCHEMA_SCHEMA_H

#include "json/json.h"

struct pl_schema;     /* owned by its compiler */
struct pl_schema_run; /* owned; one thread at a time; borrows its pl_schema */

/* Another schema document for $ref. Schemas are never fetched. */
struct pl_schema_source {
    struct pl_str uri;  /* absolute retrieval URI */
    struct pl_str text; /* its JSON; borrowed during compilation only */
};

struct pl_schema_opts {
    bool asserts_format;                    /* `format` is an assertion, not only an annotation */
    struct pl_str base_uri;                 /* base URI of the main document; may be empty */
    const struct pl_schema_source *sources; /* the dialect's own meta-schemas are always known */
    size_t n_sources;
    uint32_t max_bytes;      /* limit of one schema document; 0: 256 KiB */
    uint32_t max_subschemas; /* in all documents used; 0: 5,000 */
    uint32_t max_steps;      /* limit of one validation; 0: 1,000,000 */
};

/* opts may be NULL. PL_SYNTAX: not JSON. PL_INVALID: JSON but not a schema; err->pointer points
 * into the schema. PL_NOT_FOUND: a $ref to an unknown schema. PL_LIMIT: too large. */
enum pl_status pl_schema_compile(struct pl_str text, const struct pl_schema_opts *opts,
                                 struct pl_schema **ret_schema, struct pl_error *err);
void pl_schema_destroy(struct pl_schema *schema);

enum pl_status pl_schema_run_create(const struct pl_schema *schema, struct pl_schema_run **ret_run);
/* For one instance. The memory for patterns (64 MiB of address space, among others) is allocated
 * when the first pattern is tried: most instances have no value that a pattern applies to. */
enum pl_status pl_schema_run_create_brief(const struct pl_schema *schema,
                                          struct pl_schema_run **ret_run);
void pl_schema_run_destroy(struct pl_schema_run *run);

/* Whether the value is valid. Allocates nothing (documented exceptions: uniqueItems over many
 * items, objects or arrays of thousands under unevaluated*, long escaped strings under pattern,
 * format or enum, const and enum of large objects). If the parser allowed duplicate keys, every
 * value of such a member must be valid. PL_LIMIT when steps, depth or a regular expression's match
 * limit ran out. */
enum pl_status pl_schema_check(struct pl_schema_run *run, const struct pl_json_doc *doc,
                               const struct pl_json_node *node, bool *ret_is_valid);

/* Steps of the last check or explanation: lets a caller limit many of them together. */
uint32_t pl_schema_run_steps(const struct pl_schema_run *run);

enum pl_schema_lang { PL_SCHEMA_EN, PL_SCHEMA_ZH };

/* One line of "basic" output. */
struct pl_schema_unit {
    struct pl_str instance_location;         /* JSON Pointer into the instance */
    struct pl_str keyword_location;          /* JSON Pointer, through $ref */
    struct pl_str absolute_keyword_location; /* URI with fragment; empty without a base */
    struct pl_str message;                   /* of an error, in the chosen language */
    struct pl_str annotation;                /* JSON text; of an annotation */
    uint32_t offset;                         /* of the invalid value in the instance text */
};

struct pl_schema_report {
    bool is_valid;
    bool is_cut;                        /* there were more than max_units */
    const struct pl_schema_unit *units; /* arena; errors, or annotations when valid */
    uint32_t n_units;
};

/* Every error; every annotation if the instance is valid. A discriminated oneOf reports only the
 * errors of the selected branch. At most 1,000 units. */
enum pl_status pl_schema_explain(struct pl_schema_run *run, struct pl_arena *arena,
                                 const struct pl_json_doc *doc, const struct pl_json_node *node,
                                 enum pl_schema_lang lang, struct pl_schema_report *ret_report);

#endif
