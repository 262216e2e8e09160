/* What a key may reach. Every route names the scopes that may call it besides `all` (route.h). */
#ifndef PL_HTTP_SCOPE_H
#define PL_HTTP_SCOPE_H

#include "base/str.h"

#include <stdbool.h>

enum pl_scope {
    PL_SCOPE_ALL,
    PL_SCOPE_SESSIONS,  /* sessions and what a session needs */
    PL_SCOPE_GATEWAY,   /* the paths of vendors, and nothing else */
    PL_SCOPE_READ,      /* what changes nothing and calls no model */
    PL_SCOPE_EXTENSION, /* the socket of one extension: "extension:ID", and nothing else */
    PL_SCOPE_COUNT,
};

/* The column of the table of routes. */
#define PL_FOR_ALL       0u
#define PL_FOR_SESSIONS  (1u << PL_SCOPE_SESSIONS)
#define PL_FOR_GATEWAY   (1u << PL_SCOPE_GATEWAY)
#define PL_FOR_READ      (1u << PL_SCOPE_READ)
#define PL_FOR_EXTENSION (1u << PL_SCOPE_EXTENSION)
#define PL_FOR_ANYBODY   (PL_FOR_SESSIONS | PL_FOR_GATEWAY | PL_FOR_READ)

const char *pl_scope_word(enum pl_scope scope);
/* The word as it is stored: "extension:ID" names the extension. False: there is no such scope. */
bool pl_scope_find(struct pl_str word, enum pl_scope *ret_scope);
/* The extension of "extension:ID"; empty: of no scope like that. A view of the word. */
struct pl_str pl_scope_extension(struct pl_str word);
#define PL_SCOPE_WORD_MAX 80 /* with its NUL */
bool pl_scope_reaches(enum pl_scope scope, unsigned scopes);

#endif
