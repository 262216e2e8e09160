/* Paths, queries and fragments (WHATWG URL Standard, 4.4), and their percent-encoding (1.3). */
#include "wire/url_int.h"

#include <strings.h>

/* --- percent signs --------------------------------------------------------------------------- */

/* Members of each set besides C0 controls, DEL and everything outside ASCII. */
static const char *const set_chars[] = {
    [PL_URL_SET_C0] = "",
    [PL_URL_SET_FRAGMENT] = " \"<>`",
    [PL_URL_SET_QUERY] = " \"#<>",
    [PL_URL_SET_SPECIAL_QUERY] = " \"#<>'",
    [PL_URL_SET_PATH] = " \"#<>?^`{}",
    [PL_URL_SET_USERINFO] = " \"#<>?^`{}/:;=@[\\]|",
};

void pl_url_encode(struct pl_buf *to, struct pl_str text, enum pl_url_set set)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c > 0x1F && c < 0x7F && !strchr(set_chars[set], c)) {
            pl_buf_addc(to, (char)c);
            continue;
        }
        char escape[] = {'%', digits[c >> 4], digits[c & 15]};
        pl_buf_add(to, (struct pl_str){escape, sizeof escape});
    }
}

void pl_url_decode(struct pl_str text, struct pl_buf *to)
{
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len ? pl_url_digit(text.ptr[i + 1]) : 16;
        int low = i + 2 < text.len ? pl_url_digit(text.ptr[i + 2]) : 16;
        bool is_escape = text.ptr[i] == '%' && high < 16 && low < 16;
        pl_buf_addc(to, (char)(is_escape ? high << 4 | low : text.ptr[i]));
        i += is_escape ? 2 : 0;
    }
}

struct pl_str pl_url_take(struct pl_url_parser *p)
{
    struct pl_str text = p->out.len ? pl_arena_dup(p->arena, pl_buf_str(&p->out)) : PL_STR("");
    if (p->out.status != PL_OK || !text.ptr)
        (void)pl_url_no_memory(p);
    pl_buf_clear(&p->out);
    return text;
}

/* --- segments -------------------------------------------------------------------------------- */

bool pl_url_is_drive(struct pl_str text)
{
    return text.len == 2 && pl_ascii_is_letter((unsigned char)text.ptr[0]) &&
           (text.ptr[1] == ':' || text.ptr[1] == '|');
}

bool pl_url_starts_with_drive(struct pl_str text)
{
    return pl_url_is_drive(pl_str_slice(text, 0, 2)) &&
           (text.len == 2 || strchr("/\\?#", text.ptr[2]));
}

/* Removes the last segment, but not the drive of a file URL. */
void pl_url_shorten(struct pl_url_parser *p)
{
    struct pl_str path = pl_buf_str(&p->path);
    size_t slash = pl_url_last(path, '/');
    bool is_drive =
        path.len == 3 && path.ptr[2] == ':' && pl_ascii_is_letter((unsigned char)path.ptr[1]);
    if (slash != SIZE_MAX && !(is_drive && pl_str_eq(p->url.scheme, PL_STR("file"))))
        p->path.len = slash;
}

/* Number of dots in "." or "..", which may be spelled %2e; 0 for any other segment. */
static int n_dots(struct pl_str segment)
{
    int n = 0;
    for (; segment.len && n < 3; n++) {
        bool is_escaped = segment.len >= 3 && strncasecmp(segment.ptr, "%2e", 3) == 0;
        if (segment.ptr[0] != '.' && !is_escaped)
            return 0;
        segment = pl_str_slice(segment, is_escaped ? 3 : 1, segment.len);
    }
    return n < 3 ? n : 0;
}

static void add_segment(struct pl_url_parser *p, struct pl_str segment, bool is_last)
{
    int dots = n_dots(segment);
    if (dots == 2)
        pl_url_shorten(p);
    if (dots && is_last)
        pl_buf_addc(&p->path, '/');
    if (dots)
        return;
    bool is_drive =
        p->path.len == 0 && pl_str_eq(p->url.scheme, PL_STR("file")) && pl_url_is_drive(segment);
    pl_buf_addc(&p->path, '/');
    pl_url_encode(&p->path, segment, PL_URL_SET_PATH);
    if (is_drive && p->path.status == PL_OK)
        p->path.ptr[p->path.len - 1] = ':';
}

/* The state after a path or a query. */
static enum pl_url_state go_on(struct pl_url_parser *p)
{
    switch (pl_url_peek(p)) {
    case '?':
        p->at++;
        return PL_URL_QUERY;
    case '#':
        p->at++;
        return PL_URL_FRAGMENT;
    default:
        return PL_URL_DONE;
    }
}

/* --- states ---------------------------------------------------------------------------------- */

enum pl_url_state pl_url_path_start(struct pl_url_parser *p)
{
    int c = pl_url_peek(p);
    if (!p->is_special && (c == -1 || c == '?' || c == '#'))
        return go_on(p);
    if (pl_url_is_slash(p, c))
        p->at++;
    return PL_URL_PATH;
}

enum pl_url_state pl_url_path(struct pl_url_parser *p)
{
    for (;;) {
        size_t start = p->at;
        int c;
        while ((c = pl_url_peek(p)) != -1 && !pl_url_is_slash(p, c) && c != '?' && c != '#')
            p->at++;
        bool is_last = !pl_url_is_slash(p, c);
        add_segment(p, pl_str_slice(p->in, start, p->at), is_last);
        if (p->path.status != PL_OK)
            return pl_url_no_memory(p);
        if (is_last)
            return go_on(p);
        p->at++;
    }
}

/* A space just before '?' or '#' becomes %20, so that it is not lost at the end. */
enum pl_url_state pl_url_opaque_path(struct pl_url_parser *p)
{
    size_t start = p->at;
    p->url.has_opaque_path = true;
    for (int c; (c = pl_url_peek(p)) != -1 && c != '?' && c != '#';)
        p->at++;
    struct pl_str text = pl_str_slice(p->in, start, p->at);
    bool is_spelled = p->at < p->in.len && text.len && text.ptr[text.len - 1] == ' ';
    pl_url_encode(&p->path, pl_str_slice(text, 0, text.len - is_spelled), PL_URL_SET_C0);
    if (is_spelled)
        pl_buf_adds(&p->path, "%20");
    return p->path.status == PL_OK ? go_on(p) : pl_url_no_memory(p);
}

enum pl_url_state pl_url_query(struct pl_url_parser *p)
{
    struct pl_str rest = pl_url_rest(p);
    const char *hash = rest.len ? memchr(rest.ptr, '#', rest.len) : NULL;
    struct pl_str text = pl_str_slice(rest, 0, hash ? (size_t)(hash - rest.ptr) : rest.len);
    pl_url_encode(&p->out, text, p->is_special ? PL_URL_SET_SPECIAL_QUERY : PL_URL_SET_QUERY);
    p->url.query = pl_url_take(p);
    p->at += text.len;
    return go_on(p);
}

enum pl_url_state pl_url_fragment(struct pl_url_parser *p)
{
    pl_url_encode(&p->out, pl_url_rest(p), PL_URL_SET_FRAGMENT);
    p->url.fragment = pl_url_take(p);
    p->at = p->in.len;
    return PL_URL_DONE;
}
