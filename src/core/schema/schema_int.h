/* The compiled program of a schema, shared by the files of this directory.
 *
 *     documents --index--> resources, anchors           (resolve.c; compile time)
 *     subschema --compile--> plain ops                  (compile.c, emit.c)
 *     plain ops --optimise--> fast ops, tables, jumps   (optimise.c, table.c, discriminate.c)
 *     fast ops --fuse--> tests, notes, pointers         (fuse.c)
 *
 * There are two forms of every subschema. Plain ops are one per keyword, in the schema's order,
 * with the place of the keyword: schema/explain/explain.c walks them. Fast ops result from folding
 * keywords together and sorting them by the kind of instance they apply to: validate.c runs them.
 * Both use the same leaf assertions (assert.c), and the conformance suite runs both on every case.
 *
 * Everything is an index into an array of struct pl_schema. A program is immutable once compiled.
 */
#ifndef PL_SCHEMA_SCHEMA_INT_H
#define PL_SCHEMA_SCHEMA_INT_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "schema/format/format.h"
#include "schema/regex/regex.h"
#include "schema/schema.h"

#define PL_SCHEMA_NONE        UINT32_MAX
#define PL_SCHEMA_MAX_DEPTH   1000 /* frames of the interpreter */
#define PL_SCHEMA_MAX_UNITS   1000 /* of one report */
#define PL_SCHEMA_REGEX_STEPS 20   /* steps per search */
#define PL_SCHEMA_ALL_TYPES   0x7F /* one bit per pl_json_kind */
#define PL_SCHEMA_INTEGER     0x80 /* beside the number bit: only numbers without fraction */
#define PL_SCHEMA_MAX_NOTES   8    /* per object; note 0 is unused */
#define PL_SCHEMA_DECIDING    1    /* the note of a ladder's deciding member */

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum pl_status try_status_ = (expr);                                                       \
        if (try_status_ != PL_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

/* Classes of instances by the keywords that apply: literals only have a type. */
enum pl_class { PL_LITERAL, PL_NUMERIC, PL_TEXT, PL_LIST, PL_RECORD, PL_CLASS_COUNT };

static inline enum pl_class pl_class_of(const struct pl_json_node *n)
{
    static const uint8_t classes[16] = {PL_LITERAL, PL_LITERAL, PL_LITERAL, PL_NUMERIC,
                                        PL_TEXT,    PL_LIST,    PL_RECORD};
    return (enum pl_class)classes[n->tag & 15];
}

enum pl_vocab {
    PL_VOCAB_CORE = 1 << 0,
    PL_VOCAB_APPLICATOR = 1 << 1,
    PL_VOCAB_UNEVALUATED = 1 << 2,
    PL_VOCAB_VALIDATION = 1 << 3,
    PL_VOCAB_META_DATA = 1 << 4,
    PL_VOCAB_FORMAT_ANNOTATION = 1 << 5,
    PL_VOCAB_FORMAT_ASSERTION = 1 << 6,
    PL_VOCAB_CONTENT = 1 << 7,
    PL_VOCAB_FORMAT = PL_VOCAB_FORMAT_ANNOTATION | PL_VOCAB_FORMAT_ASSERTION,
    PL_VOCAB_DEFAULT = 0xFF & ~PL_VOCAB_FORMAT_ASSERTION,
};

/* The op of a keyword. Each comment lists its operands. */
enum pl_op_code {
    PL_OP_ANNOTATE,   /* a: bits of pl_class it applies to */
    PL_OP_TYPE,       /* a: types */
    PL_OP_CONST,      /* the value after key */
    PL_OP_ENUM,       /* the values after key; b: how many */
    PL_OP_MINIMUM,    /* a: limit */
    PL_OP_MAXIMUM,    /* a: limit */
    PL_OP_ABOVE,      /* a: limit (exclusiveMinimum) */
    PL_OP_BELOW,      /* a: limit (exclusiveMaximum) */
    PL_OP_MULTIPLE,   /* a: limit */
    PL_OP_MIN_LENGTH, /* a: count */
    PL_OP_MAX_LENGTH,
    PL_OP_PATTERN, /* a: regex */
    PL_OP_FORMAT,  /* a: format, asserted */
    PL_OP_MIN_ITEMS,
    PL_OP_MAX_ITEMS,
    PL_OP_UNIQUE,
    PL_OP_MIN_MEMBERS,
    PL_OP_MAX_MEMBERS,
    PL_OP_REQUIRED,        /* a: first name, b: how many */
    PL_OP_DEPENDENCIES,    /* a: first dep, b: how many (all three dependent keywords) */
    PL_OP_REF,             /* a: sub */
    PL_OP_DYNAMIC_REF,     /* a: sub without the dynamic scope, b: first of lists, by resource */
    PL_OP_ALL_OF,          /* a: first of lists, b: how many, c: switch of a ladder */
    PL_OP_ANY_OF,          /* a: first of lists, b: how many, c: switch */
    PL_OP_ONE_OF,          /* the same */
    PL_OP_NOT,             /* a: sub */
    PL_OP_IF,              /* a: if, b: then, c: else */
    PL_OP_PROPERTIES,      /* a: first prop, b: how many */
    PL_OP_PATTERN_MEMBERS, /* a: first pattern, b: how many */
    PL_OP_OTHER_MEMBERS,   /* a: sub (additionalProperties) */
    PL_OP_MEMBER_NAMES,    /* a: sub (propertyNames) */
    PL_OP_PREFIX_ITEMS,    /* a: first of lists, b: how many */
    PL_OP_ITEMS,           /* a: sub, b: items before it */
    PL_OP_CONTAINS,        /* a: sub, b: least, c: most */
    PL_OP_LEFT_MEMBERS,    /* a: sub (unevaluatedProperties) */
    PL_OP_LEFT_ITEMS,      /* a: sub (unevaluatedItems) */
    PL_OP_COUNT,
};

struct pl_op {
    uint8_t code;
    uint32_t a, b, c;
    const struct pl_json_node *key; /* the keyword in its document; its value is key + 1 */
};

/* Fast ops: folded forms beside the leaf assertions above, which keep their codes. */
enum pl_fast_code {
    PL_FAST_SET = PL_OP_COUNT, /* a: set that must contain the string */
    PL_FAST_VALUES,            /* a: first value, b: how many: equal to one of them */
    PL_FAST_LENGTH,            /* a: least, b: most */
    PL_FAST_COUNT,             /* a: least, b: most items */
    PL_FAST_OBJECT,            /* a: object; only members looked up by name */
    PL_FAST_OBJECT_FULL,       /* a: object; everything */
    PL_FAST_ARRAY,             /* a: first of lists, b: prefix items, c: sub of the others */
    PL_FAST_SWITCH,        /* a: switch, b: first of lists, c: how many: runs the selected branch */
    PL_FAST_LADDER,        /* a: switch: if/then/else on one member */
    PL_FAST_OBJECT_LADDER, /* a: object; then its ladder, with the values noted on the way */
    PL_FAST_ABSENT,        /* a: name: the member must not exist */
    PL_FAST_DEPENDENCY,    /* a: dep */
};

struct pl_fast {
    uint8_t code;
    uint32_t a, b, c;
};

/* How a value of an allowed type is checked. From PL_SHAPE_RANGE on, the check applies to one kind,
 * and every other kind passes. A general subschema is run op by op. */
enum pl_shape {
    PL_SHAPE_GENERAL,
    PL_SHAPE_TYPE,    /* `types` decides */
    PL_SHAPE_SET,     /* a string, one of a set */
    PL_SHAPE_INTEGER, /* `types`; a number must be whole */
    PL_SHAPE_RANGE,   /* a number between two limits */
    PL_SHAPE_LIST,    /* an array: its length, and one subschema for all items */
    PL_SHAPE_RECORD,  /* an object: only PL_FAST_OBJECT */
    PL_SHAPE_LADDER,  /* an object: only PL_FAST_OBJECT_LADDER */
    PL_SHAPE_SWITCH,  /* an object: only PL_FAST_SWITCH */
};

/* Everything needed to check an untracked value, stored where the value is found. */
struct pl_test {
    union {
        size_t index; /* while compiling; later replaced by the pointer */
        const struct pl_set *set;
        const struct pl_range *range;
        const struct pl_array *array;
        const struct pl_object *object; /* RECORD and LADDER */
        const struct pl_fast *op;       /* SWITCH */
    } to;
    uint32_t sub;   /* or none: then shape is TYPE */
    uint8_t types;  /* allowed types */
    uint8_t passes; /* types that pass without the shape */
    uint8_t shape;
};

enum pl_sub_flag {
    PL_SUB_TRACKS = 1 << 0, /* has an unevaluated keyword of its own */
    PL_SUB_ENTERS = 1 << 1, /* belongs to a resource that a $dynamicRef may search */
};

struct pl_sub {
    struct pl_test test;
    uint8_t types; /* types that `type`, `const` and `enum` allow; the test may be narrower */
    uint8_t flags;
    uint32_t resource;
    uint32_t fast[PL_CLASS_COUNT + 1]; /* ops of class c: fast[c] … fast[c + 1] */
};

/* The rarely used half: for compiling and explaining. */
struct pl_sub_info {
    uint32_t doc;
    uint32_t ops, n_ops; /* plain ops */
    uint32_t object;     /* its member table, or none */
    const struct pl_json_node *node;
};

struct pl_name {
    struct pl_str text; /* decoded; arena */
    uint32_t hash;
};

struct pl_prop {
    uint32_t name, sub;
};

struct pl_pattern {
    uint32_t regex, sub;
    const struct pl_json_node *key;
};

/* If the member exists, these names must exist too, or the subschema must hold. */
struct pl_dep {
    uint32_t name, names, n_names;
    uint32_t sub; /* or none */
    const struct pl_json_node *key;
};

struct pl_limit {
    struct pl_str span;
    int64_t value;
    bool is_small; /* value is exact */
};

/* The same for whole numbers, as machine integers. */
struct pl_range {
    int64_t least, most;
};

struct pl_array {
    uint32_t least, most; /* items */
    struct pl_test items;
};

struct pl_value {
    uint32_t doc;
    const struct pl_json_node *node;
};

/* Open addressing: starts at slot (hash * multiplier) >> shift, then tries the next ones, n_probe
 * in all. The builder searches for a multiplier with n_probe 1. */
struct pl_schema_table {
    uint32_t first, mask;
    uint32_t multiplier;
    uint32_t n_probe;
    uint8_t shift;
};

/* A string prepared for comparison with one spelled without escapes, quotes included. The first and
 * the last eight bytes (four or two of a shorter one) decide all but long ones. */
struct pl_spelling {
    const char *text; /* decoded, without quotes; arena; NULL: free */
    uint64_t head, tail;
    uint32_t n_quoted; /* bytes of text, and 2; 0: free */
    uint32_t tag;      /* tag of a key with this text; 0, which no key has, if free */
};

/* One cache line. */
struct pl_slot {
    struct pl_spelling name;
    struct pl_test test; /* of the value */
    uint64_t required;   /* bit in pl_object.required, or 0 */
    uint32_t prop;       /* index in props, or none: it is only required */
    uint8_t note;        /* note for the value, used by a ladder; or 0 */
};

struct pl_object {
    const struct pl_slot *slots;  /* the table's slots; set when the program is complete */
    struct pl_schema_table table; /* of slots */
    uint64_t required;            /* bits that must be seen */
    uint32_t least, most;         /* members */
    uint32_t other;               /* sub of members that match no name and no pattern, or none */
    uint32_t names;               /* sub for the member names, or none */
    uint32_t patterns, n_patterns;
    uint32_t ladder; /* switch of PL_FAST_OBJECT_LADDER */
};

/* How the strings of a set are hashed: the first method that separates them. */
enum pl_set_hash {
    PL_SET_ENDS,  /* by the ends of the spelling, which are loaded anyway */
    PL_SET_PLAIN, /* like the key of a member */
    PL_SET_KEYED, /* for a schema made to collide, or with very many strings */
    PL_SET_HASH_COUNT,
};

/* A set of strings; id is the index of the string in the original list. */
struct pl_set {
    const struct pl_set_slot *slots; /* the table's slots; set when the program is complete */
    struct pl_schema_table table;    /* of set_slots */
    struct pl_hash_key key;          /* PL_SET_KEYED */
    uint8_t hash;                    /* enum pl_set_hash */
};

struct pl_set_slot {
    struct pl_spelling name;
    uint32_t id;
};

/* The entries in `lists` for a rung of a ladder. LOOKS is none if THEN must be run. */
enum pl_rung {
    PL_RUNG_IF,
    PL_RUNG_THEN,
    PL_RUNG_ELSE,
    PL_RUNG_BRANCH,
    PL_RUNG_LOOKS, /* first of looks: they replace THEN for an object with noted members */
    PL_RUNG_N_LOOKS,
    PL_RUNG_SIZE
};

/* One member that a rung checks. */
struct pl_schema_look {
    struct pl_test test;
    uint8_t note;
    bool is_required;
};

/* The discriminator: a member selects the branch by a string or by being null, false or true. */
struct pl_switch {
    uint32_t name;
    uint32_t set;                       /* set of the strings of that member */
    uint32_t branches;                  /* first of lists: branch number of each string id */
    uint32_t literal[PL_JSON_TRUE + 1]; /* branch number by kind, or none */
    uint32_t rungs, n_rungs;            /* ladder: first of lists, n times pl_rung */
    bool has_else;                      /* ladder: on any rung */
};

struct pl_sdoc {
    struct pl_str uri; /* retrieval URI */
    struct pl_json_doc json;
    uint32_t root_resource;
    bool is_indexed;
    /* While compiling, one entry per node: */
    uint32_t *resource_of; /* owned; resource + 1 at a schema */
    uint32_t *sub_of;      /* owned; sub + 1 if it was requested */
};

struct pl_resource {
    struct pl_str uri;
    uint32_t doc;
    uint32_t vocabs;
    const struct pl_json_node *root;
};

struct pl_schema {
    struct pl_arena arena; /* documents, names, nodes */
    PL_VEC(struct pl_sdoc) docs;
    PL_VEC(struct pl_resource) resources;
    PL_VEC(struct pl_sub) subs;
    PL_VEC(struct pl_sub_info) infos;
    PL_VEC(struct pl_op) ops;
    PL_VEC(struct pl_fast) fast;
    PL_VEC(uint32_t) lists;
    PL_VEC(struct pl_name) names;
    PL_VEC(struct pl_prop) props;
    PL_VEC(struct pl_pattern) patterns;
    PL_VEC(struct pl_dep) deps;
    PL_VEC(struct pl_limit) limits;
    PL_VEC(struct pl_range) ranges;
    PL_VEC(struct pl_array) arrays;
    PL_VEC(struct pl_value) values;
    PL_VEC(struct pl_object) objects;
    PL_VEC(struct pl_slot) slots;
    PL_VEC(struct pl_set) sets;
    PL_VEC(struct pl_set_slot) set_slots;
    PL_VEC(struct pl_switch) switches;
    PL_VEC(struct pl_schema_look) looks;
    PL_VEC(struct pl_regex *) regexes; /* owned */
    PL_VEC(const struct pl_schema_format *) formats;
    uint32_t root;
    uint32_t max_steps;
    bool needs_scope; /* some $dynamicRef has more than one possible target */
    bool needs_bits;  /* some subschema tracks evaluated children */
};

/* Scratch memory of one thread. Steps, depth and status belong to the current validation. */
struct pl_schema_run {
    const struct pl_schema *schema; /* borrowed */
    const struct pl_json_doc *doc;  /* borrowed: the instance */
    uint32_t steps;                 /* steps left */
    uint32_t depth;
    enum pl_status status; /* sticky: PL_LIMIT or PL_NOMEM after a failure */
    uint32_t n_scope;
    uint32_t scope[PL_SCHEMA_MAX_DEPTH + 1]; /* resources entered, outermost first */
    uint64_t *bits;                          /* owned; stack of sets of evaluated children */
    uint32_t n_bits, cap_bits;               /* words; word 0 is never used */
    struct pl_regex_scratch *regex;          /* owned; NULL: no pattern was tried yet */
    struct pl_buf text;                      /* a decoded string */
};

/* Stops the run with a sticky status, unless it has one; returns false. */
bool pl_run_stop(struct pl_schema_run *run, enum pl_status status);

/* Takes n steps; false (and a sticky PL_LIMIT) if fewer are left. */
static inline bool pl_run_spend(struct pl_schema_run *run, uint32_t n)
{
    if (__builtin_expect(run->steps < n, 0))
        return pl_run_stop(run, PL_LIMIT);
    run->steps -= n;
    return true;
}

/* Prepares a run for one instance. */
void pl_run_begin(struct pl_schema_run *run, const struct pl_json_doc *doc);

/* Adds the resource of a subschema to the dynamic scope if it changes; the caller restores
 * run->n_scope. */
void pl_run_enter(struct pl_schema_run *run, const struct pl_sub *sub);

/* The target of a $dynamicRef: the outermost resource of the scope that has the anchor decides. */
uint32_t pl_run_dynamic(const struct pl_schema_run *run, uint32_t first, uint32_t otherwise);

#endif
