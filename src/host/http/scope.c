#include "http/scope.h"

static const char *const words[PL_SCOPE_COUNT] = {
    [PL_SCOPE_ALL] = "all",
    [PL_SCOPE_SESSIONS] = "sessions",
    [PL_SCOPE_GATEWAY] = "gateway",
    [PL_SCOPE_READ] = "read",
};

const char *pl_scope_word(enum pl_scope scope)
{
    return words[scope];
}

bool pl_scope_find(struct pl_str word, enum pl_scope *ret_scope)
{
    for (int i = 0; i < PL_SCOPE_COUNT; i++)
        if (pl_str_eq(word, pl_str_of(words[i]))) {
            *ret_scope = (enum pl_scope)i;
            return true;
        }
    return false;
}

bool pl_scope_reaches(enum pl_scope scope, unsigned scopes)
{
    return scope == PL_SCOPE_ALL || (scopes >> scope & 1);
}
