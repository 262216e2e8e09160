/* Filling in the variables of a prompt (structured chat, seed 002 section 3.2).
 *
 *     {{name}}  {{ name }}  {{name:default}}      \{{ is a literal {{
 *
 * A name is letters of any script, digits, _ . and -. There is one pass: values are not scanned
 * again, so {{other}} in a value is plain text. Variables occur in the system prompt and in the
 * texts of system, user and assistant; tool results are data and stay unchanged.
 *
 * Variables may be declared in "variables": [{name, type, required, default, options}]. A value for
 * a "number" must be one, a value for a "select" must be among its options, and a required variable
 * must be given, even if no text names it. A default in the text comes before a declared one.
 *
 * Only the bytes of the variables change: the rest of a text keeps its escapes, the rest of the
 * document its layout and, if read leniently, its comments. */
#ifndef PL_PROMPT_RENDER_H
#define PL_PROMPT_RENDER_H

#include "base/buf.h"

struct pl_render_var {
    struct pl_str name, value; /* borrowed; valid UTF-8 */
};

/* A short text can name a long value a thousand times. */
#define PL_RENDER_MAX_BYTES ((size_t)256 << 20)

struct pl_render_opts {
    const struct pl_render_var *vars; /* borrowed; of duplicates the last one counts */
    size_t n_vars;
    bool is_preview;      /* a variable without a value stays as it is */
    bool is_command;      /* problems mention the option --var instead of the member "variables" */
    bool refuses_unknown; /* a given variable that the document lacks is a problem */
    bool keeps_places;    /* adds "filled", the places of the values (format/structured_chat) */
    size_t max_bytes;     /* of the result; 0: PL_RENDER_MAX_BYTES */
};

/* The buffers are owned by the caller. */
struct pl_rendered {
    struct pl_buf out;
    struct pl_buf problems; /* after PL_INVALID: a line for each problem; may be empty */
    struct pl_buf notes;    /* a line for each given variable that the document lacks */
};

void pl_rendered_init(struct pl_rendered *rendered);
void pl_rendered_deinit(struct pl_rendered *rendered);

/* Whether `name` is a valid variable name. PL_OK, PL_INVALID or PL_NOMEM. */
enum pl_status pl_render_check_name(struct pl_str name);

/* PL_SYNTAX or PL_LIMIT: not JSON. PL_LIMIT also: the result would be too long; err names the
 * variable that exceeds the limit, and its place. PL_INVALID: not a structured chat, or variables
 * are missing or have an invalid value; err and ret->problems say which. */
enum pl_status pl_render(struct pl_str text, const struct pl_render_opts *opts,
                         struct pl_rendered *ret, struct pl_error *err);

#endif
