/* URIs (RFC 3986, appendix A), IRIs (RFC 3987, section 2.2) and URI templates (RFC 6570, section
 * 2). A reference is split into its five parts by the delimiters (RFC 3986, appendix B); then the
 * characters of each part are looked up in one table. */
#include "schema/format/format_int.h"

#include "base/text/utf8.h"

/* The parts where an ASCII character is allowed unescaped. */
enum {
    IN_SCHEME = 1,
    IN_USER = 2,      /* user information: unreserved, sub-delims and : */
    IN_HOST = 4,      /* unreserved and sub-delims; also in IPvFuture, with : */
    IN_PATH = 8,      /* pchar and / */
    IN_QUERY = 16,    /* also for a fragment: pchar, / and ? */
    IN_TEMPLATE = 32, /* a literal of a template */
    IN_VARIABLE = 64, /* the name of a variable in a template */
    IN_TEXT = IN_USER | IN_HOST | IN_PATH | IN_QUERY | IN_TEMPLATE,
};

static const unsigned char allowed[128] = {
    ['a' ... 'z'] = IN_TEXT | IN_SCHEME | IN_VARIABLE,
    ['A' ... 'Z'] = IN_TEXT | IN_SCHEME | IN_VARIABLE,
    ['0' ... '9'] = IN_TEXT | IN_SCHEME | IN_VARIABLE,
    ['-'] = IN_TEXT | IN_SCHEME,
    ['.'] = IN_TEXT | IN_SCHEME,
    ['+'] = IN_TEXT | IN_SCHEME,
    ['_'] = IN_TEXT | IN_VARIABLE,
    ['~'] = IN_TEXT,
    ['!'] = IN_TEXT,
    ['$'] = IN_TEXT,
    ['&'] = IN_TEXT,
    ['\''] = IN_TEXT, /* in a template by erratum 6937 to RFC 6570 */
    ['('] = IN_TEXT,
    [')'] = IN_TEXT,
    ['*'] = IN_TEXT,
    [','] = IN_TEXT,
    [';'] = IN_TEXT,
    ['='] = IN_TEXT,
    [':'] = IN_USER | IN_PATH | IN_QUERY | IN_TEMPLATE,
    ['@'] = IN_PATH | IN_QUERY | IN_TEMPLATE,
    ['/'] = IN_PATH | IN_QUERY | IN_TEMPLATE,
    ['?'] = IN_QUERY | IN_TEMPLATE,
    ['#'] = IN_TEMPLATE,
    ['['] = IN_TEMPLATE,
    [']'] = IN_TEMPLATE,
};

/* Code points outside ASCII that are allowed unescaped. */
enum breadth { URI, IRI, IRI_AND_PRIVATE };

static bool is_ucschar(int32_t c)
{
    if (c < 0x10000)
        return (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf) ||
               (c >= 0xfdf0 && c <= 0xffef);
    return c < 0xf0000 && (c & 0xffff) < 0xfffe && (c < 0xe0000 || c >= 0xe1000);
}

static bool is_private(int32_t c)
{
    return (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xf0000 && (c & 0xffff) < 0xfffe);
}

static bool is_pct_encoded(struct pl_str text, size_t at)
{
    return at + 2 < text.len && text.ptr[at] == '%' && pl_ascii_is_hex(text.ptr[at + 1]) &&
           pl_ascii_is_hex(text.ptr[at + 2]);
}

/* Whether every character of `text` is allowed in `place` or percent-encoded. */
static bool is_made_of(struct pl_str text, int place, enum breadth breadth)
{
    for (size_t at = 0; at < text.len;) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (c >= 0x80) {
            int32_t wide = pl_utf8_next(text, &at);
            if (breadth == URI ||
                !(is_ucschar(wide) || (breadth == IRI_AND_PRIVATE && is_private(wide))))
                return false;
        } else if (c == '%') {
            if (!is_pct_encoded(text, at))
                return false;
            at += 3;
        } else if (allowed[c] & place) {
            at++;
        } else {
            return false;
        }
    }
    return true;
}

/* The first of `delimiters` in `text`, or its length. */
static size_t find_any(struct pl_str text, const char *delimiters)
{
    size_t at = 0;

    while (at < text.len && (text.ptr[at] == 0 || !strchr(delimiters, text.ptr[at])))
        at++;
    return at;
}

/* "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ) */
static bool is_ip_future(struct pl_str text)
{
    size_t at = 1;

    if (text.len == 0 || (text.ptr[0] | 0x20) != 'v')
        return false;
    while (at < text.len && pl_ascii_is_hex(text.ptr[at]))
        at++;
    if (at == 1 || at + 1 >= text.len || text.ptr[at] != '.')
        return false;
    for (at++; at < text.len; at++) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (c >= 0x80 || !(allowed[c] & IN_USER))
            return false;
    }
    return true;
}

static bool is_port(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!pl_ascii_is_digit(text.ptr[i]))
            return false;
    return true;
}

/* [ userinfo "@" ] host [ ":" port ] */
static bool is_authority(struct pl_str text, enum breadth breadth)
{
    size_t n = find_any(text, "@");

    if (n < text.len) {
        if (!is_made_of(pl_str_slice(text, 0, n), IN_USER, breadth))
            return false;
        text = pl_str_slice(text, n + 1, text.len);
    }
    if (text.len > 0 && text.ptr[0] == '[') {
        struct pl_str address;
        n = find_any(text, "]");
        address = pl_str_slice(text, 1, n);
        if (n == text.len || !(pl_format_is_ipv6(address) || is_ip_future(address)))
            return false;
        n++;
    } else {
        n = find_any(text, ":");
        if (!is_made_of(pl_str_slice(text, 0, n), IN_HOST, breadth))
            return false;
    }
    return n == text.len || (text.ptr[n] == ':' && is_port(pl_str_slice(text, n + 1, text.len)));
}

/* The length of the scheme at the start of `text`; 0 if there is none. */
static size_t scheme_len(struct pl_str text)
{
    size_t at = 0;

    if (text.len == 0 || !pl_ascii_is_letter(text.ptr[0]))
        return 0;
    while (at < text.len && (unsigned char)text.ptr[at] < 0x80 &&
           (allowed[(unsigned char)text.ptr[at]] & IN_SCHEME))
        at++;
    return at < text.len && text.ptr[at] == ':' ? at : 0;
}

/* Everything after the scheme. */
static bool is_hierarchy(struct pl_str text, bool has_scheme, enum breadth breadth)
{
    enum breadth query_breadth = breadth == URI ? URI : IRI_AND_PRIVATE;
    size_t n = find_any(text, "#");
    struct pl_str path;

    if (n < text.len && !is_made_of(pl_str_slice(text, n + 1, text.len), IN_QUERY, breadth))
        return false;
    text = pl_str_slice(text, 0, n);
    n = find_any(text, "?");
    if (n < text.len && !is_made_of(pl_str_slice(text, n + 1, text.len), IN_QUERY, query_breadth))
        return false;
    path = pl_str_slice(text, 0, n);
    if (pl_str_starts(path, PL_STR("//"))) {
        path = pl_str_slice(path, 2, path.len);
        n = find_any(path, "/");
        if (!is_authority(pl_str_slice(path, 0, n), breadth))
            return false;
        path = pl_str_slice(path, n, path.len);
    } else if (!has_scheme) {
        /* In the first segment a colon would end a scheme. */
        n = find_any(path, "/:");
        if (n < path.len && path.ptr[n] == ':')
            return false;
    }
    return is_made_of(path, IN_PATH, breadth);
}

static bool is_reference(struct pl_str text, bool needs_scheme, enum breadth breadth)
{
    size_t n = scheme_len(text);

    if (n == 0)
        return !needs_scheme && is_hierarchy(text, false, breadth);
    return is_hierarchy(pl_str_slice(text, n + 1, text.len), true, breadth);
}

bool pl_format_is_uri(struct pl_str text)
{
    return is_reference(text, true, URI);
}

bool pl_format_is_uri_reference(struct pl_str text)
{
    return is_reference(text, false, URI);
}

bool pl_format_is_iri(struct pl_str text)
{
    return is_reference(text, true, IRI);
}

bool pl_format_is_iri_reference(struct pl_str text)
{
    return is_reference(text, false, IRI);
}

/* varname = varchar *( ["."] varchar ); the length of the one at `at`, 0 if there is none. */
static size_t variable_len(struct pl_str text, size_t at)
{
    size_t start = at, end = at;

    for (;;) {
        if (is_pct_encoded(text, at))
            at += 3;
        else if (at < text.len && (unsigned char)text.ptr[at] < 0x80 &&
                 (allowed[(unsigned char)text.ptr[at]] & IN_VARIABLE))
            at++;
        else
            return end - start;
        end = at;
        if (at < text.len && text.ptr[at] == '.')
            at++;
    }
}

/* ":" max-length (1 to 9999) or "*"; the length of the one at `at`, 0 if there is none. */
static size_t modifier_len(struct pl_str text, size_t at)
{
    size_t n = 1;

    if (at < text.len && text.ptr[at] == '*')
        return 1;
    if (at + 1 >= text.len || text.ptr[at] != ':' || text.ptr[at + 1] == '0')
        return 0;
    while (n <= 4 && at + n < text.len && pl_ascii_is_digit(text.ptr[at + n]))
        n++;
    return n > 1 ? n : 0;
}

/* The text between braces: [ operator ] varspec *( "," varspec ) */
static bool is_expression(struct pl_str text)
{
    size_t at = 0;

    if (text.len > 0 && text.ptr[0] != 0 && strchr("+#./;?&=,!@|", text.ptr[0]))
        at = 1;
    for (;;) {
        size_t n = variable_len(text, at);
        if (n == 0)
            return false;
        at += n;
        at += modifier_len(text, at);
        if (at == text.len)
            return true;
        if (text.ptr[at++] != ',')
            return false;
    }
}

bool pl_format_is_uri_template(struct pl_str text)
{
    while (text.len > 0) {
        size_t n = find_any(text, "{");
        if (!is_made_of(pl_str_slice(text, 0, n), IN_TEMPLATE, IRI_AND_PRIVATE))
            return false;
        if (n == text.len)
            return true;
        text = pl_str_slice(text, n + 1, text.len);
        n = find_any(text, "}");
        if (n == text.len || !is_expression(pl_str_slice(text, 0, n)))
            return false;
        text = pl_str_slice(text, n + 1, text.len);
    }
    return true;
}
