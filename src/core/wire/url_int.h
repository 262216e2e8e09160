/* Shared by the files that implement url.h: the state of the parser. */
#ifndef PL_WIRE_URL_INT_H
#define PL_WIRE_URL_INT_H

#include "wire/url.h"

#include "base/ascii.h"

/* The states of the standard's basic URL parser (4.4), with the names used there. The host and port
 * states are part of AUTHORITY. */
enum pl_url_state {
    PL_URL_SCHEME_START,
    PL_URL_NO_SCHEME,
    PL_URL_SPECIAL_RELATIVE_OR_AUTHORITY,
    PL_URL_PATH_OR_AUTHORITY,
    PL_URL_RELATIVE,
    PL_URL_RELATIVE_SLASH,
    PL_URL_SPECIAL_AUTHORITY_SLASHES,
    PL_URL_SPECIAL_AUTHORITY_IGNORE_SLASHES,
    PL_URL_AUTHORITY,
    PL_URL_FILE,
    PL_URL_FILE_SLASH,
    PL_URL_FILE_HOST,
    PL_URL_PATH_START,
    PL_URL_PATH,
    PL_URL_OPAQUE_PATH,
    PL_URL_QUERY,
    PL_URL_FRAGMENT,
    PL_URL_DONE, /* or failed: see status */
};

struct pl_url_parser {
    struct pl_arena *arena;    /* borrowed */
    struct pl_str in;          /* input without white space at the ends, tabs and line breaks */
    size_t at;                 /* index of the next byte */
    const struct pl_url *base; /* borrowed; NULL: none */
    struct pl_url url;         /* the result so far; its path is in `path` until the end */
    struct pl_buf path;        /* owned; "/a/b", each segment with its slash */
    struct pl_buf out;         /* owned; one part at a time */
    bool is_special;           /* the scheme is special: an internet scheme with a host, or file */
    enum pl_status status;
    struct pl_error *err; /* borrowed; may be NULL */
};

/* The next byte, -1 at the end. */
static inline int pl_url_peek(const struct pl_url_parser *p)
{
    return p->at < p->in.len ? (unsigned char)p->in.ptr[p->at] : -1;
}

/* A slash, or a backslash if the scheme is special. */
static inline bool pl_url_is_slash(const struct pl_url_parser *p, int c)
{
    return c == '/' || (c == '\\' && p->is_special);
}

static inline struct pl_str pl_url_rest(const struct pl_url_parser *p)
{
    return pl_str_slice(p->in, p->at, p->in.len);
}

/* The value of a hexadecimal digit; 16 for anything else. */
static inline int pl_url_digit(char c)
{
    int value = pl_ascii_hex(c);
    return value < 0 ? 16 : value;
}

/* The last position of c; SIZE_MAX: not found. */
static inline size_t pl_url_last(struct pl_str text, char c)
{
    for (size_t i = text.len; i-- > 0;)
        if (text.ptr[i] == c)
            return i;
    return SIZE_MAX;
}

/* Fails with PL_SYNTAX and this message, or PL_NOMEM; returns the next state. */
enum pl_url_state pl_url_refuse(struct pl_url_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum pl_url_state pl_url_no_memory(struct pl_url_parser *p);

/* --- url_path.c ------------------------------------------------------------------------------ */

/* Percent-encode sets (1.3); each includes the one before. */
enum pl_url_set {
    PL_URL_SET_C0,
    PL_URL_SET_FRAGMENT,
    PL_URL_SET_QUERY,
    PL_URL_SET_SPECIAL_QUERY,
    PL_URL_SET_PATH,
    PL_URL_SET_USERINFO,
};
void pl_url_encode(struct pl_buf *to, struct pl_str text, enum pl_url_set set);

/* The contents of `out` as arena memory; empties `out`. NULL only on failure. */
struct pl_str pl_url_take(struct pl_url_parser *p);

bool pl_url_is_drive(struct pl_str text);          /* "C:" or "C|" */
bool pl_url_starts_with_drive(struct pl_str text); /* … followed by the end, a slash, '?' or '#' */
void pl_url_shorten(struct pl_url_parser *p);

enum pl_url_state pl_url_path_start(struct pl_url_parser *p);
enum pl_url_state pl_url_path(struct pl_url_parser *p);
enum pl_url_state pl_url_opaque_path(struct pl_url_parser *p);
enum pl_url_state pl_url_query(struct pl_url_parser *p);
enum pl_url_state pl_url_fragment(struct pl_url_parser *p);

/* --- url_host.c ------------------------------------------------------------------------------ */

/* Sets host_kind, host and address (3.5); false on failure. */
bool pl_url_host(struct pl_url_parser *p, struct pl_str text);

/* --- url_idna.c ------------------------------------------------------------------------------ */

/* Appends the ASCII form of a domain in UTF-8 without NUL (3.3, not strict). PL_SYNTAX: it has
 * none. */
enum pl_status pl_url_domain_to_ascii(struct pl_str domain, struct pl_buf *to);

#endif
