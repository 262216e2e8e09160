/* Reads an option struct by the size in its first member. */
#include "lib/opts.h"

#include <stdalign.h>
#include <string.h>

/* An uninitialised struct may have any size: reading stops at this many extra bytes. */
enum { MOST_NEWER_BYTES = 1024 };

static enum pl_status refuse(const char *name, const char *why, struct pl_error *err)
{
    return pl_fail(err, PL_USAGE, "struct parley_%s %s", name, why);
}

enum pl_status pl_import_opts(const void *from, void *to, size_t size, const char *name,
                              struct pl_error *err)
{
    size_t said;
    memcpy(&said, from, sizeof said);
    /* The size of every version is a multiple of the alignment. */
    if (said <= sizeof said || said % alignof(size_t) || said > size + MOST_NEWER_BYTES)
        return refuse(
            name, "has a size that makes no sense; begin with its …_OPTS_INIT, which sets it", err);
    for (size_t i = size; i < said; i++)
        if (((const char *)from)[i])
            return refuse(
                name,
                "has options that this library does not know; it is older than the header "
                "the program was compiled with",
                err);
    memcpy(to, from, said < size ? said : size);
    return PL_OK;
}
