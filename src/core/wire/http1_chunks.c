#include "wire/http1_chunks.h"

enum state {
    SIZE_FIRST, /* before the first digit */
    SIZE,
    SIZE_PAD, /* blanks behind it, which some servers write */
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER,
};

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* What may follow the size, or blanks behind it. */
static enum pl_status leave_size(struct pl_http1_chunks *chunks, char c)
{
    switch (c) {
    case ' ':
    case '\t':
        chunks->state = SIZE_PAD;
        return PL_NOT_FOUND;
    case ';':
        chunks->state = EXTENSION;
        chunks->ext = PL_EXT_NAME_START;
        return PL_NOT_FOUND;
    case '\r':
        chunks->state = SIZE_LF;
        return PL_NOT_FOUND;
    default:
        return PL_SYNTAX;
    }
}

static enum pl_status read_size(struct pl_http1_chunks *chunks, char c)
{
    int value = digit(c);
    if (value < 0)
        return chunks->state == SIZE_FIRST ? PL_SYNTAX : leave_size(chunks, c);
    if (chunks->n_left >> 60)
        return PL_LIMIT;
    chunks->n_left = chunks->n_left << 4 | (unsigned)value;
    chunks->state = SIZE;
    return PL_NOT_FOUND;
}

static enum pl_status expect(struct pl_http1_chunks *chunks, char c, char wanted, enum state next)
{
    chunks->state = (uint8_t)next;
    return c == wanted ? PL_NOT_FOUND : PL_SYNTAX;
}

/* One byte of what stands around the data. */
static enum pl_status step(struct pl_http1_chunks *chunks, char c)
{
    if (++chunks->n_line > PL_HTTP1_MAX_LINE)
        return PL_LIMIT;
    switch ((enum state)chunks->state) {
    case SIZE_FIRST:
    case SIZE:
        return read_size(chunks, c);
    case SIZE_PAD:
        return leave_size(chunks, c);
    case EXTENSION:
        chunks->ext = (uint8_t)pl_http1_ext_step(chunks->ext, c);
        if (chunks->ext == PL_EXT_NONE)
            chunks->state = SIZE_LF;
        return chunks->ext == PL_EXT_BAD ? PL_SYNTAX : PL_NOT_FOUND;
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

enum pl_status pl_http1_chunks_read(struct pl_http1_chunks *chunks, char *bytes, size_t *n_bytes,
                                    size_t *ret_n_data)
{
    enum pl_status status = PL_NOT_FOUND;
    size_t at = 0, n_data = 0;
    while (at < *n_bytes && status == PL_NOT_FOUND) {
        size_t n = *n_bytes - at;
        if (chunks->state == DATA) {
            n = chunks->n_left < n ? (size_t)chunks->n_left : n;
            if (n_data != at)
                memmove(bytes + n_data, bytes + at, n);
            n_data += n;
            chunks->n_left -= n;
            chunks->state = chunks->n_left ? DATA : DATA_CR;
        } else if (chunks->state == TRAILER) {
            status = read_trailer(chunks, (struct pl_str){bytes + at, n}, &n);
        } else {
            n = 1;
            status = step(chunks, bytes[at]);
        }
        at += n;
    }
    *n_bytes = at;
    *ret_n_data = n_data;
    return status;
}
