/* URI references (RFC 3986): split by the regular expression of appendix B, resolved by the
 * algorithm of section 5.2, dot segments removed as in 5.2.4. Nothing else is normalised: two
 * identifiers are the same if their bytes are. */
#include "schema/uri.h"

#include "base/ascii.h"

struct uri {
    struct pl_str scheme, authority, path, query, fragment;
    bool has_scheme, has_authority, has_query;
};

static bool is_scheme_char(char c, bool is_first)
{
    return pl_ascii_is_letter(c) ||
           (!is_first && (pl_ascii_is_digit(c) || c == '+' || c == '-' || c == '.'));
}

/* Bytes before the first of `stops`, or all of them. */
static size_t span_until(struct pl_str s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && !(s.ptr[n] && strchr(stops, s.ptr[n])))
        n++;
    return n;
}

static struct pl_str take(struct pl_str *s, size_t n)
{
    struct pl_str head = pl_str_slice(*s, 0, n);
    *s = pl_str_slice(*s, n, s->len);
    return head;
}

static struct uri split(struct pl_str text)
{
    struct uri u = {0};
    size_t n = 0;
    while (n < text.len && is_scheme_char(text.ptr[n], n == 0))
        n++;
    if (n > 0 && n < text.len && text.ptr[n] == ':') {
        u.has_scheme = true;
        u.scheme = take(&text, n);
        take(&text, 1);
    }
    if (pl_str_starts(text, PL_STR("//"))) {
        u.has_authority = true;
        take(&text, 2);
        u.authority = take(&text, span_until(text, "/?#"));
    }
    u.path = take(&text, span_until(text, "?#"));
    if (text.len && text.ptr[0] == '?') {
        u.has_query = true;
        take(&text, 1);
        u.query = take(&text, span_until(text, "#"));
    }
    if (text.len)
        u.fragment = pl_str_slice(text, 1, text.len);
    return u;
}

/* Appends `path` to out without its dot segments. */
static void add_without_dots(struct pl_buf *out, struct pl_str path)
{
    size_t floor = out->len;
    while (path.len) {
        bool has_slash = path.ptr[0] == '/';
        struct pl_str rest = pl_str_slice(path, has_slash, path.len);
        size_t n = span_until(rest, "/");
        struct pl_str segment = pl_str_slice(rest, 0, n);
        bool is_last = n == rest.len;
        if (pl_str_eq(segment, PL_STR(".")) || pl_str_eq(segment, PL_STR(".."))) {
            if (segment.len == 2) {
                while (out->len > floor && out->ptr[out->len - 1] != '/')
                    out->len--;
                if (out->len > floor)
                    out->len--;
            }
            if (is_last && (has_slash || out->len > floor))
                pl_buf_addc(out, '/');
        } else {
            pl_buf_add(out, pl_str_slice(path, 0, has_slash + n));
        }
        path = pl_str_slice(path, has_slash + n, path.len);
    }
}

/* Section 5.2.3: the base's path up to its last slash, then the reference. */
static void add_merged(struct pl_buf *out, const struct uri *base, struct pl_str path)
{
    PL_CLEANUP_BUF struct pl_buf merged;
    pl_buf_init(&merged, 0);
    size_t n = base->path.len;
    while (n && base->path.ptr[n - 1] != '/')
        n--;
    if (base->has_authority && !base->path.len)
        pl_buf_addc(&merged, '/');
    pl_buf_add(&merged, pl_str_slice(base->path, 0, n));
    pl_buf_add(&merged, path);
    if (merged.status != PL_OK)
        out->status = merged.status;
    add_without_dots(out, pl_buf_str(&merged));
}

static void add_resolved(struct pl_buf *out, const struct uri *base, const struct uri *ref)
{
    const struct uri *prefix = ref->has_scheme ? ref : base;
    const struct uri *authority = ref->has_scheme || ref->has_authority ? ref : base;
    if (prefix->has_scheme) {
        pl_buf_add(out, prefix->scheme);
        pl_buf_addc(out, ':');
    }
    if (authority->has_authority) {
        pl_buf_adds(out, "//");
        pl_buf_add(out, authority->authority);
    }
    const struct uri *query = ref;
    if (ref->has_scheme || ref->has_authority) {
        add_without_dots(out, ref->path);
    } else if (!ref->path.len) {
        pl_buf_add(out, base->path);
        query = ref->has_query ? ref : base;
    } else if (ref->path.ptr[0] == '/') {
        add_without_dots(out, ref->path);
    } else {
        add_merged(out, base, ref->path);
    }
    if (query->has_query) {
        pl_buf_addc(out, '?');
        pl_buf_add(out, query->query);
    }
}

enum pl_status pl_uri_resolve(struct pl_arena *arena, struct pl_str base, struct pl_str ref,
                              struct pl_str *ret_uri, struct pl_str *ret_fragment)
{
    struct uri b = split(base), r = split(ref);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    add_resolved(&out, &b, &r);
    if (out.status != PL_OK)
        return out.status;
    struct pl_str uri = pl_arena_dup(arena, pl_buf_str(&out));
    if (out.len && !uri.ptr)
        return PL_NOMEM;
    *ret_uri = uri;
    *ret_fragment = r.fragment;
    return PL_OK;
}

enum pl_status pl_uri_decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_text)
{
    if (!text.len || !memchr(text.ptr, '%', text.len)) {
        *ret_text = text;
        return PL_OK;
    }
    char *to = pl_arena_alloc(arena, text.len, 1);
    if (!to)
        return PL_NOMEM;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool has_digits = text.ptr[i] == '%' && i + 2 < text.len;
        int high = has_digits ? pl_ascii_hex(text.ptr[i + 1]) : -1;
        int low = has_digits ? pl_ascii_hex(text.ptr[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            to[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            to[n++] = text.ptr[i];
        }
    }
    *ret_text = (struct pl_str){to, n};
    return PL_OK;
}

void pl_uri_add_fragment(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (pl_ascii_is_alnum(c) || (c && strchr("-._~!$&'()*+,;=:@/?", c)))
            pl_buf_addc(to, (char)c);
        else
            pl_buf_addf(to, "%%%02X", c);
    }
}
