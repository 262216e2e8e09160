/* Shared by the two halves of rendering: the variables (render_vars.c), and the texts that contain
 * them (render.c). The comparison of prompts (diff.c) and the list of their variables use the same
 * parser. */
#ifndef PL_PROMPT_RENDER_INT_H
#define PL_PROMPT_RENDER_INT_H

#include "prompt/render.h"

#include "base/map.h"
#include "base/vec.h"
#include "json/edit/edit.h"
#include "schema/regex/regex.h"

struct pl_render_variable {
    struct pl_str name;
    struct pl_str value;                   /* given, or declared as default */
    const struct pl_json_node *declared;   /* in variables[]; NULL: nowhere */
    const struct pl_json_node *missing_at; /* the first text that needs a value it has not got */
    struct pl_str preset;                  /* the first default that stands in a text */
    bool has_value, is_given, is_used, has_preset;
    bool has_listed_options; /* they stand in `options` of the run */
};

struct pl_render_run {
    const struct pl_render_opts *opts;
    struct pl_rendered *made;
    struct pl_arena arena;
    struct pl_json_doc doc; /* its text is the one that was given, comments and all */
    struct pl_json_edit edit;
    struct pl_map names;   /* to an index of variables */
    struct pl_map options; /* place of a variable and an option it may have; keys in the arena */
    size_t n_problems;     /* said, or only counted */
    PL_VEC(struct pl_render_variable) variables;
    struct pl_regex *name_regex; /* NULL until a name needs it */
    struct pl_regex_scratch *name_scratch;
    struct pl_buf raw, scratch;
    size_t n_left;        /* bytes that values may still add */
    struct pl_buf filled; /* JSON, what "filled" will say, without its brackets */
    struct {
        struct pl_str name;
        const struct pl_json_node *at; /* the text; NULL: there was room for all */
    } too_much;                        /* the variable that did not fit */
    enum pl_status status;             /* sticky: PL_NOMEM and the like */
};

/* Everything from nothing, and everything given back. */
void pl_render_begin(struct pl_render_run *r, const struct pl_render_opts *opts,
                     struct pl_rendered *made);
void pl_render_end(struct pl_render_run *r);

/* Goes through a document: then r->variables are the declared ones, the given ones and those found
 * in the texts, in that order, and r->edit is what changes. */
enum pl_status pl_render_search(struct pl_render_run *r, struct pl_str text, struct pl_error *err);

/* Parses a structured chat, strictly or as people write JSON by hand; then its text is a copy
 * without the comments. PL_SYNTAX, PL_LIMIT, PL_NOMEM; PL_INVALID: it has neither messages nor a
 * system prompt. */
enum pl_status pl_render_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err);

/* Keeps the first failure. */
void pl_render_note(struct pl_render_run *r, enum pl_status status);

/* A string decoded, anything else as it is spelled. */
struct pl_str pl_render_text_of(struct pl_render_run *r, const struct pl_json_node *n);

bool pl_render_is_name(struct pl_render_run *r, struct pl_str name);

/* Reads variables[] and then what the caller gave. */
void pl_render_declare(struct pl_render_run *r);

/* What a variable says in the text `node`, which may have a value of its own for it (or NULL);
 * false when it has none and stays as it is. */
bool pl_render_value(struct pl_render_run *r, struct pl_str name, const struct pl_str *preset,
                     const struct pl_json_node *node, struct pl_str *ret_value);

/* Says what was missing, wrong or of no use, once every text has been seen. */
void pl_render_review(struct pl_render_run *r);

#endif
