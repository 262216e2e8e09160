/* Checks that every line ends in CR LF, that a header begins with its name, and that the limits
 * hold. llhttp 8 accepts some violations (a lone LF after the request line, folded values, a header
 * without a name). Steps through the extensions of a chunk too (see http1_chunks.h). */
#include "wire/http1/http1_int.h"

#include "base/ascii.h"

static enum pl_http1_verdict verdict_on_start(const struct pl_http1_lines *lines, char first,
                                              unsigned max_lines)
{
    if (first == ' ' || first == '\t' || first == ':')
        return PL_LINES_NAMELESS;
    return lines->n_lines == max_lines && first != '\r' ? PL_LINES_MANY : PL_LINES_OPEN;
}

/* Whether another byte is allowed. */
static enum pl_http1_verdict verdict_on_room(const struct pl_http1_lines *lines)
{
    if (lines->n_bytes == PL_HTTP1_MAX_HEAD)
        return PL_LINES_ALL;
    return lines->n_line == PL_HTTP1_MAX_LINE ? PL_LINES_LONG : PL_LINES_OPEN;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Continues the open line, to its end or that of `in`; *ret_n is 0 if the line is malformed. */
static enum pl_http1_verdict read_line(struct pl_http1_lines *lines, struct pl_str in,
                                       size_t *ret_n)
{
    size_t n =
        least(in.len, least(PL_HTTP1_MAX_LINE - lines->n_line, PL_HTTP1_MAX_HEAD - lines->n_bytes));
    const char *lf = memchr(in.ptr, '\n', n);
    n = lf ? (size_t)(lf - in.ptr) + 1 : n;
    const char *cr = memchr(in.ptr, '\r', n);
    /* Position of the CR that an LF must follow; the last piece may have ended in it. */
    ptrdiff_t none = -2, cr_at = lines->is_after_cr ? -1 : cr ? cr - in.ptr : none;
    *ret_n = 0;
    if (lf ? cr_at != lf - in.ptr - 1 : cr_at != none && cr_at != (ptrdiff_t)n - 1)
        return PL_LINES_BREAK;
    *ret_n = n;
    lines->n_bytes += (uint32_t)n;
    lines->n_line = (uint16_t)(lines->n_line + n);
    lines->is_after_cr = !lf && cr;
    if (!lf)
        return PL_LINES_OPEN;
    bool is_empty = lines->n_line == 2;
    lines->n_lines++;
    lines->n_line = 0;
    return is_empty ? PL_LINES_END : PL_LINES_OPEN;
}

enum pl_http1_verdict pl_http1_lines_read(struct pl_http1_lines *lines, struct pl_str in,
                                          unsigned max_lines, size_t *ret_n)
{
    enum pl_http1_verdict verdict = PL_LINES_OPEN;
    size_t at = 0;
    while (at < in.len && verdict == PL_LINES_OPEN) {
        size_t n = 0;
        verdict = verdict_on_room(lines);
        if (verdict == PL_LINES_OPEN && !lines->n_line)
            verdict = verdict_on_start(lines, in.ptr[at], max_lines);
        if (verdict == PL_LINES_OPEN)
            verdict = read_line(lines, pl_str_slice(in, at, in.len), &n);
        at += n;
    }
    *ret_n = at;
    return verdict;
}

/* RFC 9110, 5.6.2. */
static bool is_token_char(char c)
{
    return pl_ascii_is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_quotable(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7F);
}

enum pl_http1_ext pl_http1_ext_step(enum pl_http1_ext state, char c)
{
    bool is_start = state == PL_CHUNK_EXT_NAME_START || state == PL_CHUNK_EXT_VALUE_START;
    switch (state) {
    case PL_CHUNK_EXT_QUOTED:
        if (c == '"')
            return PL_CHUNK_EXT_QUOTED_END;
        return c == '\\'        ? PL_CHUNK_EXT_ESCAPED
               : is_quotable(c) ? PL_CHUNK_EXT_QUOTED
                                : PL_CHUNK_EXT_BAD;
    case PL_CHUNK_EXT_ESCAPED:
        return is_quotable(c) ? PL_CHUNK_EXT_QUOTED : PL_CHUNK_EXT_BAD;
    case PL_CHUNK_EXT_VALUE_START:
        if (c == '"')
            return PL_CHUNK_EXT_QUOTED;
        break;
    case PL_CHUNK_EXT_NAME:
        if (c == '=')
            return PL_CHUNK_EXT_VALUE_START;
        break;
    default:
        break;
    }
    if (state != PL_CHUNK_EXT_QUOTED_END && is_token_char(c))
        return is_start ? state + 1 : state;
    if (!is_start && (c == ';' || c == '\r'))
        return c == ';' ? PL_CHUNK_EXT_NAME_START : PL_CHUNK_EXT_NONE;
    return PL_CHUNK_EXT_BAD;
}
