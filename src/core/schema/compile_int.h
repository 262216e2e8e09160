/* Shared by the files that compile a schema. Nothing of this outlives pl_schema_compile(). */
#ifndef PL_SCHEMA_COMPILE_INT_H
#define PL_SCHEMA_COMPILE_INT_H

#include "schema/schema_int.h"

struct pl_anchor {
    struct pl_str name;
    uint32_t resource, doc;
    const struct pl_json_node *node;
    bool is_dynamic;
};

/* A $dynamicRef whose target depends on the path to it. */
struct pl_dynamic {
    struct pl_str name;
    uint32_t op;
};

struct pl_compiler {
    struct pl_schema *schema; /* being built; owned by pl_schema_compile() */
    const struct pl_schema_opts *opts;
    struct pl_error *err;     /* may be NULL */
    struct pl_map uris;       /* absolute URI -> resource + 1 */
    struct pl_map doc_uris;   /* retrieval URI -> doc + 1 */
    struct pl_map anchor_ids; /* "resource#name" -> anchor + 1 */
    struct pl_map regex_ids;  /* pattern -> regex + 1 */
    PL_VEC(struct pl_anchor) anchors;
    PL_VEC(struct pl_dynamic) dynamics;
    PL_VEC(struct pl_value) pending; /* schemas not indexed yet */
    uint32_t n_subschemas;
    uint32_t max_bytes, max_subschemas;
};

/* A keyword and its place. */
struct pl_site {
    uint32_t doc, resource, sub;
    const struct pl_json_node *object; /* the schema that contains it */
    const struct pl_json_node *key;    /* the value is key + 1 */
};

/* The required shape of a keyword's value, and where its subschemas are. */
enum pl_value_shape {
    PL_VALUE_ANY,
    PL_VALUE_BOOL,
    PL_VALUE_STRING,
    PL_VALUE_ID,     /* a URI reference without fragment */
    PL_VALUE_ANCHOR, /* a plain name */
    PL_VALUE_NUMBER,
    PL_VALUE_POSITIVE,
    PL_VALUE_COUNT,
    PL_VALUE_ARRAY,
    PL_VALUE_TYPES,
    PL_VALUE_NAMES,
    PL_VALUE_NAMES_MAP,
    PL_VALUE_VOCABULARY,
    PL_VALUE_SCHEMA,
    PL_VALUE_SCHEMAS,
    PL_VALUE_SCHEMA_MAP,
    PL_VALUE_DEPENDENCIES, /* a map of names or schemas */
};

struct pl_keyword {
    const char *name;
    uint8_t vocab;   /* the keyword is active if any of these bits is set */
    uint8_t shape;   /* pl_value_shape */
    uint8_t code;    /* pl_op_code of its op */
    uint8_t classes; /* bits of pl_class that an annotation applies to */
    enum pl_status (*emit)(struct pl_compiler *c, const struct pl_site *at,
                           const struct pl_keyword *keyword); /* NULL: structure only */
};

/* NULL if the dialect does not have the keyword. */
const struct pl_keyword *pl_keyword_find(struct pl_str name, uint32_t vocabs);
/* PL_INVALID, with the place, if the value after `key` does not fit the keyword. */
enum pl_status pl_keyword_check(struct pl_compiler *c, uint32_t doc,
                                const struct pl_keyword *keyword, const struct pl_json_node *key);
/* Any unknown keyword: an annotation. */
extern const struct pl_keyword pl_keyword_unknown;

/* emit.c: one function per form of op. */
#define PL_EMITTER(name)                                                                           \
    enum pl_status name(struct pl_compiler *c, const struct pl_site *at,                           \
                        const struct pl_keyword *keyword)
PL_EMITTER(pl_emit_annotation);
PL_EMITTER(pl_emit_type);
PL_EMITTER(pl_emit_values);
PL_EMITTER(pl_emit_limit);
PL_EMITTER(pl_emit_count);
PL_EMITTER(pl_emit_pattern);
PL_EMITTER(pl_emit_format);
PL_EMITTER(pl_emit_unique);
PL_EMITTER(pl_emit_required);
PL_EMITTER(pl_emit_dependencies);
PL_EMITTER(pl_emit_ref);
PL_EMITTER(pl_emit_dynamic_ref);
PL_EMITTER(pl_emit_schema);
PL_EMITTER(pl_emit_schemas);
PL_EMITTER(pl_emit_if);
PL_EMITTER(pl_emit_items);
PL_EMITTER(pl_emit_contains);
PL_EMITTER(pl_emit_properties);
PL_EMITTER(pl_emit_pattern_members);

enum pl_status pl_compile_nomem(struct pl_compiler *c);
/* Fills the error with the place of a node of a schema document, and returns status. */
enum pl_status pl_compile_fail(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                               enum pl_status status, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The first plain op of a subschema with this code; NULL: none. */
const struct pl_op *pl_compile_find_op(const struct pl_schema *s, uint32_t sub,
                                       enum pl_op_code code);
/* The subschema at a node; compiled later if it is new. */
enum pl_status pl_compile_sub(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                              uint32_t *ret_sub);
/* Decoded text of a string node, valid as long as the schema. */
enum pl_status pl_compile_text(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                               struct pl_str *ret_text);

/* resolve.c */
enum pl_status pl_resolve_add(struct pl_compiler *c, struct pl_str uri, struct pl_str text,
                              uint32_t *ret_doc);
enum pl_status pl_resolve_index(struct pl_compiler *c, uint32_t doc);
/* Resolves `ref` (a $ref or $dynamicRef, at key); *ret_anchor is the dynamic anchor on the way, or
 * NULL. */
enum pl_status pl_resolve_ref(struct pl_compiler *c, const struct pl_site *at,
                              struct pl_value *ret_target, const struct pl_anchor **ret_anchor);

/* optimise.c, table.c, discriminate.c, fuse.c */
enum pl_status pl_optimise(struct pl_compiler *c);
/* The kinds of each class, as types. */
extern const uint8_t pl_class_types[PL_CLASS_COUNT];
/* The subschema that is run for this one: a $ref without siblings is followed. */
uint32_t pl_optimise_alias(const struct pl_schema *s, uint32_t sub);
/* A spelling of text that lives as long as the schema; tag is 0 unless keys are compared with
 * it. */
struct pl_spelling pl_spelling_of(struct pl_str text, uint32_t tag);
/* Lays out n entries: slot_of[i] is the slot of hash i in a table of mask + 1 slots. The mask is 0
 * if no layout finds every entry within max_probe probes; max_probe n + 1 always succeeds. */
enum pl_status pl_schema_table_plan(const uint32_t *hashes, uint32_t n, uint32_t max_probe,
                                    struct pl_schema_table *ret_table, uint32_t *slot_of);
/* A set of the strings of `texts`; of two equal strings the first one counts. */
enum pl_status pl_set_build(struct pl_schema *s, const struct pl_str *texts, uint32_t n,
                            uint32_t *ret_set);
enum pl_status pl_discriminate(struct pl_compiler *c, uint32_t sub);
/* Optimises across subschemas, once each has its fast ops. Nothing may be appended to the program
 * afterwards. */
enum pl_status pl_fuse(struct pl_compiler *c);

#endif
