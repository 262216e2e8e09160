/* A state machine over sizes, extensions, data and trailers. Reads byte by byte, except for the
 * data. */
#include "wire/http1/http1_chunks.h"

#include "base/ascii.h"

enum state {
    SIZE_FIRST, /* before the first digit */
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER,
};

static enum pl_status read_size(struct pl_http1_chunks *chunks, char c)
{
    int value = pl_ascii_hex(c);
    if (value >= 0) {
        if (chunks->n_left >> 60)
            return PL_SYNTAX;
        chunks->n_left = chunks->n_left << 4 | (unsigned)value;
        chunks->state = SIZE;
        return PL_NOT_FOUND;
    }
    if (chunks->state == SIZE_FIRST || (c != ';' && c != '\r'))
        return PL_SYNTAX;
    chunks->ext = PL_CHUNK_EXT_NAME_START;
    chunks->state = c == ';' ? EXTENSION : SIZE_LF;
    return PL_NOT_FOUND;
}

static enum pl_status expect(struct pl_http1_chunks *chunks, char c, char wanted, enum state next)
{
    chunks->state = (uint8_t)next;
    return c == wanted ? PL_NOT_FOUND : PL_SYNTAX;
}

/* One byte outside the data. */
static enum pl_status step(struct pl_http1_chunks *chunks, char c)
{
    if (++chunks->n_line > PL_HTTP1_MAX_LINE)
        return PL_LIMIT;
    switch ((enum state)chunks->state) {
    case SIZE_FIRST:
    case SIZE:
        return read_size(chunks, c);
    case EXTENSION:
        chunks->ext = (uint8_t)pl_http1_ext_step(chunks->ext, c);
        if (chunks->ext == PL_CHUNK_EXT_NONE)
            chunks->state = SIZE_LF;
        return chunks->ext == PL_CHUNK_EXT_BAD ? PL_SYNTAX : PL_NOT_FOUND;
    case SIZE_LF:
        chunks->n_line = 0;
        return expect(chunks, c, '\n', chunks->n_left ? DATA : TRAILER);
    case DATA_CR:
        return expect(chunks, c, '\r', DATA_LF);
    case DATA_LF:
        chunks->n_line = 0;
        return expect(chunks, c, '\n', SIZE_FIRST);
    case DATA:
    case TRAILER:
        break;
    }
    return PL_SYNTAX;
}

static enum pl_status read_trailer(struct pl_http1_chunks *chunks, struct pl_str in, size_t *ret_n)
{
    switch (pl_http1_lines_read(&chunks->trailer, in, PL_HTTP1_MAX_HEADERS, ret_n)) {
    case PL_LINES_END:
        return PL_OK;
    case PL_LINES_OPEN:
        return PL_NOT_FOUND;
    case PL_LINES_BREAK:
    case PL_LINES_NAMELESS:
        return PL_SYNTAX;
    case PL_LINES_LONG:
    case PL_LINES_ALL:
    case PL_LINES_MANY:
        break;
    }
    return PL_LIMIT;
}

static struct pl_str read_data(struct pl_http1_chunks *chunks, struct pl_str in)
{
    size_t n = chunks->n_left < in.len ? (size_t)chunks->n_left : in.len;
    chunks->n_left -= n;
    chunks->state = chunks->n_left ? DATA : DATA_CR;
    return pl_str_slice(in, 0, n);
}

enum pl_status pl_http1_chunks_read(struct pl_http1_chunks *chunks, struct pl_str in, size_t *ret_n,
                                    struct pl_str *ret_data)
{
    enum pl_status status = PL_NOT_FOUND;
    struct pl_str data = {0};
    size_t at = 0;
    while (at < in.len && status == PL_NOT_FOUND && !data.len) {
        struct pl_str rest = pl_str_slice(in, at, in.len);
        size_t n = 1;
        if (chunks->state == DATA) {
            data = read_data(chunks, rest);
            n = data.len;
        } else if (chunks->state == TRAILER) {
            status = read_trailer(chunks, rest, &n);
        } else {
            status = step(chunks, in.ptr[at]);
        }
        at += n;
    }
    *ret_n = at;
    *ret_data = data;
    return status;
}
