/* Filling in the variables of a prompt (structured chat, seed 002 section 3.2).
 *
 *     {{name}}  {{ name }}  {{name:default}}      \{{ is a literal {{
 *
 * A name is letters of any script, digits, _ . and -. There is one pass: a value is never looked at
 * again, so a value can say {{other}} and mean just that. Variables occur in the system prompt and
 * in the texts of system, user and assistant; what a tool answered is data and stays as it is.
 *
 * Variables may be declared in "variables": [{name, type, required, default, options}]. A value for
 * a "number" must be one, a value for a "select" must be among its options, and a required variable
 * must be given, whether a text names it or not. A default in the text comes before a declared one.
 *
 * Only the bytes of the variables change: the rest of a text keeps its escapes, the rest of the
 * document its layout and, read leniently, its comments. */
#ifndef PL_PROMPT_RENDER_H
#define PL_PROMPT_RENDER_H

#include "base/buf.h"

struct pl_render_var {
    struct pl_str name, value; /* borrowed; valid UTF-8 */
};

/* A few bytes of text can name a long value a thousand times. */
#define PL_RENDER_MAX_BYTES ((size_t)256 << 20)

struct pl_render_opts {
    const struct pl_render_var *vars; /* borrowed; the last of two with one name counts */
    size_t n_vars;
    bool is_preview; /* a variable without a value stays as it is */
    bool is_command; /* problems speak of the option --var; otherwise of the member "variables" */
    bool refuses_unknown; /* a given variable that the document does not have is a problem */
    bool keeps_places;    /* adds "filled", the places of the values (format/structured_chat) */
    size_t max_bytes;     /* of the result; 0: PL_RENDER_MAX_BYTES */
};

/* The buffers are owned by the caller. */
struct pl_rendered {
    struct pl_buf out;
    struct pl_buf problems; /* when PL_INVALID: a line for each thing that is wrong; may be empty */
    struct pl_buf notes;    /* a line for each given variable that the document does not have */
};

void pl_rendered_init(struct pl_rendered *rendered);
void pl_rendered_deinit(struct pl_rendered *rendered);

/* Whether `name` can be the name of a variable. PL_OK, PL_INVALID or PL_NOMEM. */
enum pl_status pl_render_check_name(struct pl_str name);

/* PL_SYNTAX or PL_LIMIT: not JSON. PL_LIMIT also: the result would be longer than it may be; err
 * names the variable that made it so, and where. PL_INVALID: no structured chat, or variables that
 * are missing or have a value they cannot have; err and ret->problems say which. */
enum pl_status pl_render(struct pl_str text, const struct pl_render_opts *opts,
                         struct pl_rendered *ret, struct pl_error *err);

#endif
