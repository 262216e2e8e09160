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
    struct pl_str value;                   /* given, or the declared default */
    const struct pl_json_node *declared;   /* in variables[]; NULL: not declared */
    const struct pl_json_node *missing_at; /* the first text that needs its value and has none */
    struct pl_str preset;                  /* the first default in a text */
    bool has_value, is_given, is_used, has_preset;
    bool has_listed_options; /* they are in `options` of the run */
};

struct pl_render_run {
    const struct pl_render_opts *opts;
    struct pl_rendered *made;
    struct pl_arena arena;
    struct pl_json_doc doc; /* its text is the original one, with comments */
    struct pl_json_edit edit;
    struct pl_map names;   /* to an index of variables */
    struct pl_map options; /* a variable's index and an option it may have; keys in the arena */
    size_t n_problems;     /* reported, or only counted */
    PL_VEC(struct pl_render_variable) variables;
    struct pl_regex *name_regex; /* NULL until a name needs it */
    struct pl_regex_scratch *name_scratch;
    struct pl_buf raw, scratch;
    size_t n_left;        /* bytes that values may still use */
    struct pl_buf filled; /* JSON, the content of "filled", without brackets */
    struct {
        struct pl_str name;
        const struct pl_json_node *at; /* the text; NULL: everything fitted */
    } too_much;                        /* the variable that did not fit */
    enum pl_status status;             /* sticky: PL_NOMEM and the like */
};

/* Initialise and release a run. */
void pl_render_begin(struct pl_render_run *r, const struct pl_render_opts *opts,
                     struct pl_rendered *made);
void pl_render_end(struct pl_render_run *r);

/* Searches a document: afterwards r->variables has the declared, the given and the found variables,
 * in that order, and r->edit has the changes. */
enum pl_status pl_render_search(struct pl_render_run *r, struct pl_str text, struct pl_error *err);

/* Parses a structured chat, strictly or leniently (hand-written JSON); then its text is a copy
 * without comments. PL_SYNTAX, PL_LIMIT, PL_NOMEM; PL_INVALID: it has neither messages nor a system
 * prompt. */
enum pl_status pl_render_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err);

/* Keeps the first failure. */
void pl_render_note(struct pl_render_run *r, enum pl_status status);

/* A string decoded, anything else as spelled. */
struct pl_str pl_render_text_of(struct pl_render_run *r, const struct pl_json_node *n);

bool pl_render_is_name(struct pl_render_run *r, struct pl_str name);

/* Reads variables[], then the values from the caller. */
void pl_render_declare(struct pl_render_run *r);

/* The value of a variable in the text `node`. `preset` is the default in the text, or NULL. False
 * if it has no value and stays unchanged. */
bool pl_render_value(struct pl_render_run *r, struct pl_str name, const struct pl_str *preset,
                     const struct pl_json_node *node, struct pl_str *ret_value);

/* Reports variables without a value, with an invalid value, and given ones that the document lacks.
 * Call it after all texts were searched. */
void pl_render_review(struct pl_render_run *r);

#endif
