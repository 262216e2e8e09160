/* Shared by the files that explain failures. */
#ifndef PL_SCHEMA_EXPLAIN_INT_H
#define PL_SCHEMA_EXPLAIN_INT_H

#include "schema/schema_int.h"

/* The kinds of failures; message.c has the sentences for them. */
enum pl_say {
    PL_SAY_TYPE,
    PL_SAY_CONST,
    PL_SAY_ENUM,
    PL_SAY_MINIMUM,
    PL_SAY_MAXIMUM,
    PL_SAY_ABOVE,
    PL_SAY_BELOW,
    PL_SAY_MULTIPLE,
    PL_SAY_MIN_LENGTH,
    PL_SAY_MAX_LENGTH,
    PL_SAY_PATTERN,
    PL_SAY_FORMAT,
    PL_SAY_MIN_ITEMS,
    PL_SAY_MAX_ITEMS,
    PL_SAY_UNIQUE,
    PL_SAY_MIN_MEMBERS,
    PL_SAY_MAX_MEMBERS,
    PL_SAY_REQUIRED,  /* extra: index of the first missing name */
    PL_SAY_DEPENDENT, /* extra: dep */
    PL_SAY_FALSE,
    PL_SAY_NOT,
    PL_SAY_NO_BRANCH,
    PL_SAY_NO_BRANCH_TYPE,
    PL_SAY_MANY_BRANCHES, /* extra: number of branches */
    PL_SAY_FEW_CONTAINED, /* extra: number of items */
    PL_SAY_MANY_CONTAINED,
    PL_SAY_UNEXPECTED_MEMBER, /* extra: the sub that has the known properties */
    PL_SAY_UNEXPECTED_ITEM,
    PL_SAY_SWITCH_TYPE,
    PL_SAY_SWITCH_MISSING, /* extra: switch */
    PL_SAY_SWITCH_VALUE,   /* extra: switch */
    PL_SAY_COUNT,
};

/* A unit before its texts are written. Most records are dropped again because their branch was not
 * needed. Offsets are into pl_explain.text. */
struct pl_record {
    uint8_t say;
    uint32_t instance, n_instance;
    uint32_t keyword, n_keyword;
    uint32_t annotation, n_annotation;
    uint32_t sub; /* the subschema of the keyword */
    uint32_t extra;
    const struct pl_op *op;          /* NULL: the subschema itself, which is `false` */
    const struct pl_json_node *key;  /* the keyword to report, or NULL */
    const struct pl_json_node *node; /* the value in the instance */
};

struct pl_explain {
    struct pl_schema_run *run;
    struct pl_arena *arena; /* of the report */
    enum pl_schema_lang lang;
    bool wants_annotations; /* annotations of a valid instance; otherwise errors */
    bool is_cut;
    struct pl_buf instance, keyword; /* current locations: JSON Pointers */
    struct pl_buf text;              /* texts of the records */
    struct pl_buf value;             /* the current annotation */
    PL_VEC(struct pl_record) records;
};

/* A state of the records to return to. */
struct pl_mark {
    size_t n_records, n_text;
    bool is_cut;
};

/* report.c */
struct pl_mark pl_explain_mark(const struct pl_explain *x);
void pl_explain_rewind(struct pl_explain *x, struct pl_mark mark);
/* Drops the records between `from` and `to`, keeps those after. */
void pl_explain_cut(struct pl_explain *x, struct pl_mark from, struct pl_mark to);
/* Adds an error at the current locations; returns false for the caller to return. */
bool pl_explain_error(struct pl_explain *x, enum pl_say say, uint32_t sub, const struct pl_op *op,
                      const struct pl_json_node *n, uint32_t extra);
/* Adds x->value as annotation of op. */
void pl_explain_annotate(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                         const struct pl_json_node *n);
/* Moves a location one step down; returns the length to restore. */
size_t pl_explain_push(struct pl_explain *x, struct pl_buf *place, uint32_t doc,
                       const struct pl_json_node *key);
size_t pl_explain_push_index(struct pl_buf *place, uint32_t index);
size_t pl_explain_push_member(struct pl_explain *x, const struct pl_json_node *key);
enum pl_status pl_explain_finish(struct pl_explain *x, bool is_valid,
                                 struct pl_schema_report *ret_report);

/* explain.c */
bool pl_explain_sub(struct pl_explain *x, uint32_t index, const struct pl_json_node *n,
                    uint32_t track);
/* apply.c: the keywords that apply subschemas. */
bool pl_explain_apply(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                      const struct pl_json_node *n, uint32_t track);

/* message.c: the sentence of a record. */
void pl_message_write(struct pl_buf *to, const struct pl_explain *x,
                      const struct pl_record *record);

#endif
