#include "http/routes/scope.h"

#include "base/ascii.h"

#include <string.h>

static const char *const words[PL_SCOPE_COUNT] = {
    [PL_SCOPE_ALL] = "all",   [PL_SCOPE_SESSIONS] = "sessions",   [PL_SCOPE_GATEWAY] = "gateway",
    [PL_SCOPE_READ] = "read", [PL_SCOPE_EXTENSION] = "extension",
};

const char *pl_scope_word(enum pl_scope scope)
{
    return words[scope];
}

static bool is_word(char c)
{
    return pl_ascii_is_digit(c) || (c >= 'a' && c <= 'z');
}

/* The rules of extension.json. */
static bool is_id(struct pl_str id)
{
    enum { MAX_ID = 64 };
    if (!id.len || id.len > MAX_ID || !is_word(id.ptr[0]))
        return false;
    for (size_t i = 0; i < id.len; i++)
        if (!is_word(id.ptr[i]) && !memchr("._-", id.ptr[i], 3))
            return false;
    return true;
}

struct pl_str pl_scope_extension(struct pl_str word)
{
    struct pl_str head = PL_STR("extension:");
    struct pl_str id = pl_str_slice(word, head.len, word.len);
    bool is_one = word.len > head.len && pl_str_eq(pl_str_slice(word, 0, head.len), head);
    return is_one && is_id(id) ? id : (struct pl_str){0};
}

bool pl_scope_find(struct pl_str word, enum pl_scope *ret_scope)
{
    if (pl_scope_extension(word).len) {
        *ret_scope = PL_SCOPE_EXTENSION;
        return true;
    }
    for (int i = 0; i < PL_SCOPE_EXTENSION; i++)
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
