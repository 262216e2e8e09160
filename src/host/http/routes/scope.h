/* The scope of a key. Every route names the scopes that may call it besides `all` (route.h). */
#ifndef PL_HTTP_SCOPE_H
#define PL_HTTP_SCOPE_H

#include "base/str.h"

#include <stdbool.h>

enum pl_scope {
    PL_SCOPE_ALL,
    PL_SCOPE_SESSIONS,  /* sessions and everything a session needs */
    PL_SCOPE_GATEWAY,   /* only the vendors' paths */
    PL_SCOPE_READ,      /* everything that changes nothing and calls no model */
    PL_SCOPE_EXTENSION, /* "extension:ID": only the socket of this extension */
    PL_SCOPE_COUNT,
};

/* For the column of the table of routes. */
#define PL_FOR_ALL       0u
#define PL_FOR_SESSIONS  (1u << PL_SCOPE_SESSIONS)
#define PL_FOR_GATEWAY   (1u << PL_SCOPE_GATEWAY)
#define PL_FOR_READ      (1u << PL_SCOPE_READ)
#define PL_FOR_EXTENSION (1u << PL_SCOPE_EXTENSION)
#define PL_FOR_ANYBODY   (PL_FOR_SESSIONS | PL_FOR_GATEWAY | PL_FOR_READ)

const char *pl_scope_word(enum pl_scope scope);
/* Parses the stored word; "extension:ID" names the extension. False: unknown scope. */
bool pl_scope_find(struct pl_str word, enum pl_scope *ret_scope);
/* The ID of "extension:ID", a view of the word; empty for other scopes. */
struct pl_str pl_scope_extension(struct pl_str word);
#define PL_SCOPE_WORD_MAX 80 /* including its NUL */
bool pl_scope_reaches(enum pl_scope scope, unsigned scopes);

#endif
