/* Strict: accepts only the spelling in the specification. The sender was configured to send this
 * header, so anything unusual is a mistake or an attack. */
#include "wire/proxy_header.h"

#include <string.h>

enum { LINE_MAX_BYTES = 107, FIXED_BYTES = 16, SIGNATURE_BYTES = 12 };

static const char signature[SIGNATURE_BYTES + 1] = "\r\n\r\n\0\r\nQUIT\n";

/* --- version 1 ------------------------------------------------------------------------------- */

/* The word before the next space, or the rest; false: empty. */
static bool take_word(struct pl_str *rest, struct pl_str *ret_word)
{
    const char *space = rest->len ? memchr(rest->ptr, ' ', rest->len) : NULL;
    size_t n = space ? (size_t)(space - rest->ptr) : rest->len;
    *ret_word = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, space ? n + 1 : n, rest->len);
    return n > 0;
}

static bool read_port(struct pl_str word, uint16_t *ret_port)
{
    unsigned port = 0;
    if (!word.len || word.len > 5 || (word.len > 1 && word.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] < '0' || word.ptr[i] > '9')
            return false;
        port = 10 * port + (unsigned)(word.ptr[i] - '0');
    }
    *ret_port = (uint16_t)port;
    return port <= UINT16_MAX;
}

static enum pl_proxy_result read_words(struct pl_str rest, struct pl_proxy_header *header)
{
    struct pl_str family, source, target, source_port, target_port;
    struct pl_address to;
    uint16_t port;
    if (!take_word(&rest, &family))
        return PL_PROXY_WRONG;
    if (pl_str_eq(family, PL_STR("UNKNOWN")))
        return PL_PROXY_WHOLE; /* the rest must be ignored */
    bool is_v6 = pl_str_eq(family, PL_STR("TCP6"));
    if (!is_v6 && !pl_str_eq(family, PL_STR("TCP4")))
        return PL_PROXY_WRONG;
    bool is_whole = take_word(&rest, &source) && take_word(&rest, &target) &&
                    take_word(&rest, &source_port) && take_word(&rest, &target_port) && !rest.len;
    /* A trailing space is not allowed. */
    if (!is_whole || target_port.ptr[target_port.len] == ' ' ||
        !pl_address_parse(source, &header->source) || !pl_address_parse(target, &to) ||
        header->source.is_v6 != is_v6 || to.is_v6 != is_v6 ||
        !read_port(source_port, &header->source_port) || !read_port(target_port, &port))
        return PL_PROXY_WRONG;
    header->has_source = true;
    return PL_PROXY_WHOLE;
}

static enum pl_proxy_result read_line(struct pl_str bytes, struct pl_proxy_header *header)
{
    struct pl_str prefix = PL_STR("PROXY ");
    size_t n = bytes.len < prefix.len ? bytes.len : prefix.len;
    if (memcmp(bytes.ptr, prefix.ptr, n) != 0)
        return PL_PROXY_WRONG;
    struct pl_str head = pl_str_slice(bytes, 0, LINE_MAX_BYTES);
    const char *end = memchr(head.ptr, '\r', head.len);
    if (!end)
        return bytes.len < LINE_MAX_BYTES ? PL_PROXY_MORE : PL_PROXY_WRONG;
    size_t n_line = (size_t)(end - head.ptr);
    if (n_line + 1 == head.len)
        return bytes.len < LINE_MAX_BYTES ? PL_PROXY_MORE : PL_PROXY_WRONG;
    if (end[1] != '\n' || n_line < prefix.len)
        return PL_PROXY_WRONG;
    header->n_bytes = n_line + 2;
    return read_words(pl_str_slice(head, prefix.len, n_line), header);
}

/* --- version 2 ------------------------------------------------------------------------------- */

/* Stream families; length of both addresses with their ports. */
static const struct family {
    uint8_t byte;
    size_t n_bytes;
} families[] = {{0x00, 0}, {0x11, 12}, {0x21, 36}, {0x31, 216}};

static enum pl_proxy_result read_ends(struct pl_str ends, uint8_t byte,
                                      struct pl_proxy_header *header)
{
    const struct family *family = NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].byte == byte)
            family = &families[i];
    if (!family || ends.len < family->n_bytes)
        return PL_PROXY_WRONG;
    bool is_v6 = byte == 0x21;
    size_t n = is_v6 ? 16 : 4;
    header->is_unix = byte == 0x31;
    header->has_source = byte != 0;
    if (byte == 0 || header->is_unix)
        return PL_PROXY_WHOLE;
    header->source.is_v6 = is_v6;
    memcpy(header->source.bytes, ends.ptr, n);
    const unsigned char *port = (const unsigned char *)ends.ptr + 2 * n;
    header->source_port = (uint16_t)(port[0] << 8 | port[1]);
    return PL_PROXY_WHOLE;
}

static enum pl_proxy_result read_binary(struct pl_str bytes, struct pl_proxy_header *header)
{
    if (bytes.len < FIXED_BYTES)
        return PL_PROXY_MORE;
    const unsigned char *at = (const unsigned char *)bytes.ptr + SIGNATURE_BYTES;
    size_t n = (size_t)(at[2] << 8 | at[3]);
    if ((at[0] != 0x20 && at[0] != 0x21) || FIXED_BYTES + n > PL_PROXY_HEADER_MAX)
        return PL_PROXY_WRONG;
    if (bytes.len < FIXED_BYTES + n)
        return PL_PROXY_MORE;
    header->n_bytes = FIXED_BYTES + n;
    if (at[0] == 0x20) /* LOCAL: the proxy itself; the rest is ignored */
        return PL_PROXY_WHOLE;
    return read_ends(pl_str_slice(bytes, FIXED_BYTES, FIXED_BYTES + n), at[1], header);
}

enum pl_proxy_result pl_proxy_header_read(struct pl_str bytes, struct pl_proxy_header *ret_header)
{
    struct pl_proxy_header header = {0};
    size_t n = bytes.len < SIGNATURE_BYTES ? bytes.len : SIGNATURE_BYTES;
    if (!bytes.len)
        return PL_PROXY_MORE;
    bool is_binary = memcmp(bytes.ptr, signature, n) == 0;
    enum pl_proxy_result result =
        is_binary ? read_binary(bytes, &header) : read_line(bytes, &header);
    if (result == PL_PROXY_WHOLE)
        *ret_header = header;
    return result;
}
