/* The basic URL parser of the WHATWG URL Standard (4.4) as a table of its states. Every delimiter
 * is ASCII, so it works on UTF-8 bytes; each state consumes its whole part at once. */
#include "wire/url_int.h"

#include "base/text/utf8.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    struct pl_str scheme;
    int32_t port;
} special_schemes[] = {
    {{"http", 4}, 80}, {{"https", 5}, 443}, {{"ws", 2}, 80},
    {{"wss", 3}, 443}, {{"ftp", 3}, 21},    {{"file", 4}, -1},
};

static size_t special_index(struct pl_str scheme)
{
    size_t i = 0;
    while (i < sizeof special_schemes / sizeof *special_schemes &&
           !pl_str_eq(scheme, special_schemes[i].scheme))
        i++;
    return i;
}

static bool is_special(struct pl_str scheme)
{
    return special_index(scheme) < sizeof special_schemes / sizeof *special_schemes;
}

int32_t pl_url_default_port(struct pl_str scheme)
{
    return is_special(scheme) ? special_schemes[special_index(scheme)].port : -1;
}

enum pl_url_state pl_url_refuse(struct pl_url_parser *p, const char *format, ...)
{
    char message[sizeof p->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->status = pl_fail(p->err, PL_SYNTAX, "%s", message);
    return PL_URL_DONE;
}

enum pl_url_state pl_url_no_memory(struct pl_url_parser *p)
{
    p->status = pl_fail(p->err, PL_NOMEM, "out of memory while reading a URL");
    return PL_URL_DONE;
}

/* --- from the base --------------------------------------------------------------------------- */

static struct pl_str copy(struct pl_url_parser *p, struct pl_str text)
{
    struct pl_str copied = text.len ? pl_arena_dup(p->arena, text) : text;
    if (text.len && !copied.ptr)
        (void)pl_url_no_memory(p);
    return copied;
}

static void copy_host(struct pl_url_parser *p)
{
    p->url.host_kind = p->base->host_kind;
    p->url.host = copy(p, p->base->host);
    p->url.address = p->base->address;
}

static void copy_authority(struct pl_url_parser *p)
{
    p->url.username = copy(p, p->base->username);
    p->url.password = copy(p, p->base->password);
    p->url.port = p->base->port;
    copy_host(p);
}

static void copy_query(struct pl_url_parser *p)
{
    p->url.query = copy(p, p->base->query);
}

/* The base, followed by '?', '#', or a path that replaces its last segment. */
static enum pl_url_state follow_base(struct pl_url_parser *p, bool keeps_path)
{
    pl_buf_add(&p->path, p->base->path);
    switch (pl_url_peek(p)) {
    case '?':
        p->at++;
        return PL_URL_QUERY;
    case '#':
        copy_query(p);
        p->at++;
        return PL_URL_FRAGMENT;
    case -1:
        copy_query(p);
        return PL_URL_DONE;
    default:
        if (keeps_path)
            pl_url_shorten(p);
        else
            pl_buf_clear(&p->path);
        return PL_URL_PATH;
    }
}

/* --- states ---------------------------------------------------------------------------------- */

static bool is_scheme(int c)
{
    return pl_ascii_is_letter(c) || pl_ascii_is_digit(c) || c == '+' || c == '-' || c == '.';
}

static enum pl_url_state after_scheme(struct pl_url_parser *p)
{
    if (pl_str_eq(p->url.scheme, PL_STR("file")))
        return PL_URL_FILE;
    if (p->is_special && p->base && pl_str_eq(p->base->scheme, p->url.scheme))
        return PL_URL_SPECIAL_RELATIVE_OR_AUTHORITY;
    if (p->is_special)
        return PL_URL_SPECIAL_AUTHORITY_SLASHES;
    if (pl_url_peek(p) != '/')
        return PL_URL_OPAQUE_PATH;
    p->at++;
    return PL_URL_PATH_OR_AUTHORITY;
}

/* Scheme start and scheme. */
static enum pl_url_state scheme_start(struct pl_url_parser *p)
{
    size_t n = 0;
    if (p->in.len && pl_ascii_is_letter((unsigned char)p->in.ptr[0]))
        while (n < p->in.len && is_scheme((unsigned char)p->in.ptr[n]))
            n++;
    if (n == 0 || n == p->in.len || p->in.ptr[n] != ':')
        return PL_URL_NO_SCHEME;
    for (size_t i = 0; i < n; i++)
        pl_buf_addc(&p->out, pl_ascii_lower(p->in.ptr[i]));
    p->url.scheme = pl_url_take(p);
    p->is_special = is_special(p->url.scheme);
    p->at = n + 1;
    return p->status == PL_OK ? after_scheme(p) : PL_URL_DONE;
}

static enum pl_url_state no_scheme(struct pl_url_parser *p)
{
    if (!p->base)
        return pl_url_refuse(p, "the URL has no scheme, such as \"https:\", and no base URL");
    if (p->base->has_opaque_path && pl_url_peek(p) != '#')
        return pl_url_refuse(p,
                             "only a fragment can be relative to a \"%.*s:\" URL without a "
                             "hierarchy",
                             (int)(p->base->scheme.len < 40 ? p->base->scheme.len : 40),
                             p->base->scheme.ptr);
    p->url.scheme = copy(p, p->base->scheme);
    p->is_special = is_special(p->url.scheme);
    if (p->base->has_opaque_path) {
        p->url.has_opaque_path = true;
        return follow_base(p, true);
    }
    return pl_str_eq(p->url.scheme, PL_STR("file")) ? PL_URL_FILE : PL_URL_RELATIVE;
}

static enum pl_url_state special_relative_or_authority(struct pl_url_parser *p)
{
    if (!pl_str_starts(pl_url_rest(p), PL_STR("//")))
        return PL_URL_RELATIVE;
    p->at += 2;
    return PL_URL_SPECIAL_AUTHORITY_IGNORE_SLASHES;
}

static enum pl_url_state path_or_authority(struct pl_url_parser *p)
{
    if (pl_url_peek(p) != '/') {
        /* The slash before is the first of the path. */
        p->at--;
        return PL_URL_PATH_START;
    }
    p->at++;
    return PL_URL_AUTHORITY;
}

static enum pl_url_state relative(struct pl_url_parser *p)
{
    if (pl_url_is_slash(p, pl_url_peek(p))) {
        p->at++;
        return PL_URL_RELATIVE_SLASH;
    }
    copy_authority(p);
    return p->status == PL_OK ? follow_base(p, true) : PL_URL_DONE;
}

static enum pl_url_state relative_slash(struct pl_url_parser *p)
{
    if (pl_url_is_slash(p, pl_url_peek(p))) {
        p->at++;
        return p->is_special ? PL_URL_SPECIAL_AUTHORITY_IGNORE_SLASHES : PL_URL_AUTHORITY;
    }
    copy_authority(p);
    return PL_URL_PATH;
}

static enum pl_url_state special_authority_slashes(struct pl_url_parser *p)
{
    if (pl_str_starts(pl_url_rest(p), PL_STR("//")))
        p->at += 2;
    return PL_URL_SPECIAL_AUTHORITY_IGNORE_SLASHES;
}

static enum pl_url_state special_authority_ignore_slashes(struct pl_url_parser *p)
{
    while (pl_url_peek(p) == '/' || pl_url_peek(p) == '\\')
        p->at++;
    return PL_URL_AUTHORITY;
}

/* Everything up to the path, the query or the fragment. */
static struct pl_str take_authority(struct pl_url_parser *p)
{
    size_t start = p->at;
    for (int c; (c = pl_url_peek(p)) != -1 && !pl_url_is_slash(p, c) && c != '?' && c != '#';)
        p->at++;
    return pl_str_slice(p->in, start, p->at);
}

static void read_userinfo(struct pl_url_parser *p, struct pl_str userinfo)
{
    const char *colon = userinfo.len ? memchr(userinfo.ptr, ':', userinfo.len) : NULL;
    size_t n_name = colon ? (size_t)(colon - userinfo.ptr) : userinfo.len;
    pl_url_encode(&p->out, pl_str_slice(userinfo, 0, n_name), PL_URL_SET_USERINFO);
    p->url.username = pl_url_take(p);
    pl_url_encode(&p->out, pl_str_slice(userinfo, n_name + 1, userinfo.len), PL_URL_SET_USERINFO);
    p->url.password = pl_url_take(p);
}

static bool read_port(struct pl_url_parser *p, struct pl_str digits)
{
    int32_t port = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!pl_ascii_is_digit((unsigned char)digits.ptr[i])) {
            (void)pl_url_refuse(p, "the port of the URL is not a number");
            return false;
        }
        port = port * 10 + (digits.ptr[i] - '0');
        if (port > 65535) {
            (void)pl_url_refuse(p, "the port of the URL is greater than 65535");
            return false;
        }
    }
    if (digits.len && port != pl_url_default_port(p->url.scheme))
        p->url.port = port;
    return true;
}

/* The colon before the port: the first outside brackets. */
static size_t find_port(struct pl_str text)
{
    bool is_inside = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ':' && !is_inside)
            return i;
        if (text.ptr[i] == '[')
            is_inside = true;
        else if (text.ptr[i] == ']')
            is_inside = false;
    }
    return text.len;
}

/* Authority, host and port. */
static enum pl_url_state authority(struct pl_url_parser *p)
{
    struct pl_str text = take_authority(p), host = text;
    size_t n_userinfo = pl_url_last(text, '@');
    bool has_userinfo = n_userinfo != SIZE_MAX;
    if (has_userinfo) {
        read_userinfo(p, pl_str_slice(text, 0, n_userinfo));
        host = pl_str_slice(text, n_userinfo + 1, text.len);
    }
    size_t n_host = find_port(host);
    if (n_host == 0 && (has_userinfo || p->is_special || host.len))
        return pl_url_refuse(p, "the URL has no host");
    if (p->status != PL_OK || !pl_url_host(p, pl_str_slice(host, 0, n_host)) ||
        !read_port(p, pl_str_slice(host, n_host + 1, host.len)))
        return PL_URL_DONE;
    return PL_URL_PATH_START;
}

static enum pl_url_state file(struct pl_url_parser *p)
{
    p->url.host_kind = PL_URL_HOST_EMPTY;
    int c = pl_url_peek(p);
    if (c == '/' || c == '\\') {
        p->at++;
        return PL_URL_FILE_SLASH;
    }
    if (!p->base || !pl_str_eq(p->base->scheme, PL_STR("file")))
        return PL_URL_PATH;
    copy_host(p);
    return p->status == PL_OK ? follow_base(p, !pl_url_starts_with_drive(pl_url_rest(p)))
                              : PL_URL_DONE;
}

static enum pl_url_state file_slash(struct pl_url_parser *p)
{
    int c = pl_url_peek(p);
    if (c == '/' || c == '\\') {
        p->at++;
        return PL_URL_FILE_HOST;
    }
    if (p->base && pl_str_eq(p->base->scheme, PL_STR("file"))) {
        struct pl_str drive = pl_str_slice(p->base->path, 0, 3); /* "/C:" */
        copy_host(p);
        if (!pl_url_starts_with_drive(pl_url_rest(p)) && drive.len == 3 && drive.ptr[2] == ':' &&
            pl_url_starts_with_drive(pl_str_slice(p->base->path, 1, p->base->path.len)))
            pl_buf_add(&p->path, drive);
    }
    return PL_URL_PATH;
}

static enum pl_url_state file_host(struct pl_url_parser *p)
{
    size_t start = p->at;
    struct pl_str text = take_authority(p);
    if (pl_url_is_drive(text)) {
        p->at = start; /* not a host but a path */
        return PL_URL_PATH;
    }
    if (text.len && !pl_url_host(p, text))
        return PL_URL_DONE;
    if (pl_str_eq(p->url.host, PL_STR("localhost"))) {
        p->url.host = (struct pl_str){0};
        p->url.host_kind = PL_URL_HOST_EMPTY;
    }
    return PL_URL_PATH_START;
}

static enum pl_url_state (*const states[])(struct pl_url_parser *) = {
    [PL_URL_SCHEME_START] = scheme_start,
    [PL_URL_NO_SCHEME] = no_scheme,
    [PL_URL_SPECIAL_RELATIVE_OR_AUTHORITY] = special_relative_or_authority,
    [PL_URL_PATH_OR_AUTHORITY] = path_or_authority,
    [PL_URL_RELATIVE] = relative,
    [PL_URL_RELATIVE_SLASH] = relative_slash,
    [PL_URL_SPECIAL_AUTHORITY_SLASHES] = special_authority_slashes,
    [PL_URL_SPECIAL_AUTHORITY_IGNORE_SLASHES] = special_authority_ignore_slashes,
    [PL_URL_AUTHORITY] = authority,
    [PL_URL_FILE] = file,
    [PL_URL_FILE_SLASH] = file_slash,
    [PL_URL_FILE_HOST] = file_host,
    [PL_URL_PATH_START] = pl_url_path_start,
    [PL_URL_PATH] = pl_url_path,
    [PL_URL_OPAQUE_PATH] = pl_url_opaque_path,
    [PL_URL_QUERY] = pl_url_query,
    [PL_URL_FRAGMENT] = pl_url_fragment,
};

/* --- parsing --------------------------------------------------------------------------------- */

static bool is_break(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

/* Removes controls and spaces at both ends, and tabs and line breaks anywhere. */
static enum pl_status strip(struct pl_url_parser *p, struct pl_str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    size_t n = 0;
    while (n < text.len && !is_break(text.ptr[n]))
        n++;
    p->in = text;
    if (n == text.len)
        return PL_OK;
    char *copied = pl_arena_alloc(p->arena, text.len, 1);
    if (!copied)
        return PL_NOMEM;
    memcpy(copied, text.ptr, n);
    for (size_t i = n; i < text.len; i++)
        if (!is_break(text.ptr[i]))
            copied[n++] = text.ptr[i];
    p->in = (struct pl_str){copied, n};
    return PL_OK;
}

enum pl_status pl_url_parse(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                            struct pl_url *ret_url, struct pl_error *err)
{
    struct pl_url_parser p = {.arena = arena, .base = base, .url = {.port = -1}, .err = err};
    if (!pl_utf8_is_valid(text))
        return pl_fail(err, PL_SYNTAX, "the URL is not UTF-8");
    pl_buf_init(&p.path, 0);
    pl_buf_init(&p.out, 0);
    if (strip(&p, text) != PL_OK)
        (void)pl_url_no_memory(&p);
    enum pl_url_state state = PL_URL_SCHEME_START;
    while (state != PL_URL_DONE && p.status == PL_OK)
        state = states[state](&p);
    if (p.status == PL_OK) {
        struct pl_buf rest = p.out;
        p.out = p.path;
        p.path = rest;
        p.url.path = pl_url_take(&p);
    }
    pl_buf_deinit(&p.path);
    pl_buf_deinit(&p.out);
    if (p.status == PL_OK)
        *ret_url = p.url;
    return p.status;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_authority(const struct pl_url *url, struct pl_buf *to)
{
    pl_buf_adds(to, "//");
    pl_buf_add(to, url->username);
    if (url->password.len) {
        pl_buf_addc(to, ':');
        pl_buf_add(to, url->password);
    }
    if (url->username.len || url->password.len)
        pl_buf_addc(to, '@');
    pl_buf_add(to, url->host);
    if (url->port >= 0)
        pl_buf_addf(to, ":%d", (int)url->port);
}

void pl_url_write(const struct pl_url *url, struct pl_buf *to)
{
    pl_buf_add(to, url->scheme);
    pl_buf_addc(to, ':');
    if (url->host_kind != PL_URL_HOST_NONE)
        write_authority(url, to);
    else if (!url->has_opaque_path && pl_str_starts(url->path, PL_STR("//")))
        pl_buf_adds(to, "/."); /* otherwise the path would be read as a host */
    pl_buf_add(to, url->path);
    if (url->query.ptr) {
        pl_buf_addc(to, '?');
        pl_buf_add(to, url->query);
    }
    if (url->fragment.ptr) {
        pl_buf_addc(to, '#');
        pl_buf_add(to, url->fragment);
    }
}
