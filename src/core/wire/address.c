/* Parses and writes IPv4 and IPv6 addresses, and finds the special-purpose block of an address in a
 * table. */
#include "wire/address.h"

#include "base/ascii.h"

/* --- text ------------------------------------------------------------------------------------ */

/* Four numbers from 0 to 255 without leading zeros, which some readers take as octal. */
static bool parse_v4(struct pl_str text, uint8_t ret_bytes[4])
{
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        unsigned number = 0;
        if (i > 0 && (at == text.len || text.ptr[at++] != '.'))
            return false;
        size_t start = at;
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++) {
            number = number * 10 + (unsigned)(text.ptr[at] - '0');
            if (number > 255 || (at > start && text.ptr[start] == '0'))
                return false;
        }
        if (at == start)
            return false;
        ret_bytes[i] = (uint8_t)number;
    }
    return at == text.len;
}

/* Reads the pieces before and after "::" in order. */
struct v6_reading {
    struct pl_str text;
    size_t at;
    uint8_t bytes[16];
    size_t n_bytes;
    size_t gap; /* bytes before "::"; SIZE_MAX: no "::" */
};

static bool take_piece(struct v6_reading *r)
{
    unsigned piece = 0;
    size_t start = r->at;
    int digit;
    for (; r->at < r->text.len && r->at - start < 4; r->at++) {
        if ((digit = pl_ascii_hex(r->text.ptr[r->at])) < 0)
            break;
        piece = piece << 4 | (unsigned)digit;
    }
    /* The last four bytes may be written as dotted IPv4. */
    if (r->at < r->text.len && r->text.ptr[r->at] == '.') {
        if (r->n_bytes > 12 ||
            !parse_v4(pl_str_slice(r->text, start, r->text.len), r->bytes + r->n_bytes))
            return false;
        r->n_bytes += 4;
        r->at = r->text.len;
        return true;
    }
    if (r->at == start || r->n_bytes == 16)
        return false;
    r->bytes[r->n_bytes++] = (uint8_t)(piece >> 8);
    r->bytes[r->n_bytes++] = (uint8_t)piece;
    return true;
}

/* Takes ":" or "::" in front of a piece, or "::" at the end. */
static bool take_colons(struct v6_reading *r)
{
    bool is_first = r->at == 0;
    struct pl_str rest = pl_str_slice(r->text, r->at, r->text.len);
    if (pl_str_starts(rest, PL_STR("::"))) {
        if (r->gap != SIZE_MAX || r->n_bytes > 14)
            return false;
        r->gap = r->n_bytes;
        r->at += 2;
        return true;
    }
    if (is_first)
        return true;
    r->at++;
    return rest.ptr[0] == ':' && rest.len > 1;
}

static bool parse_v6(struct pl_str text, uint8_t ret_bytes[16])
{
    struct v6_reading r = {.text = text, .gap = SIZE_MAX};
    while (r.at < text.len) {
        if (!take_colons(&r))
            return false;
        if (r.at < text.len && !take_piece(&r))
            return false;
    }
    if (r.gap == SIZE_MAX) {
        if (r.n_bytes != 16)
            return false;
        r.gap = 16;
    }
    size_t n_after = r.n_bytes - r.gap;
    if (r.n_bytes > (r.gap == 16 ? 16 : 14))
        return false;
    memset(ret_bytes, 0, 16);
    memcpy(ret_bytes, r.bytes, r.gap);
    memcpy(ret_bytes + 16 - n_after, r.bytes + r.gap, n_after);
    return true;
}

bool pl_address_parse(struct pl_str text, struct pl_address *ret_address)
{
    struct pl_address address = {0};
    if (!text.len)
        return false;
    address.is_v6 = memchr(text.ptr, ':', text.len) != NULL;
    if (!(address.is_v6 ? parse_v6(text, address.bytes) : parse_v4(text, address.bytes)))
        return false;
    *ret_address = address;
    return true;
}

/* RFC 5952, 4: the first of the longest runs of two or more zero pieces becomes "::". An embedded
 * IPv4 address is written in hexadecimal, as in URLs. */
static void write_v6(const uint8_t bytes[16], struct pl_buf *to)
{
    unsigned pieces[8];
    size_t gap = 8, n_gap = 1;
    for (size_t i = 0; i < 8; i++)
        pieces[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
    for (size_t i = 0, run = 0; i < 8; i++) {
        run = pieces[i] ? 0 : run + 1;
        if (run > n_gap) {
            n_gap = run;
            gap = i + 1 - run;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        if (i == gap) {
            pl_buf_adds(to, "::");
            i += n_gap - 1;
            continue;
        }
        pl_buf_addf(to, i && i != gap + n_gap ? ":%x" : "%x", pieces[i]);
    }
}

void pl_address_write(const struct pl_address *address, struct pl_buf *to)
{
    const uint8_t *b = address->bytes;
    if (address->is_v6)
        write_v6(b, to);
    else
        pl_buf_addf(to, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
}

/* --- special purpose ------------------------------------------------------------------------- */

struct block {
    uint8_t prefix[16];
    uint8_t n_bits;
    const char *word; /* NULL: global */
    /* Offset of an embedded IPv4 address that is checked too; 0: none. */
    uint8_t v4_at, v4_too_at;
};

/* The first match counts, so narrower blocks come before wider ones. Globally reachable blocks are
 * listed only inside blocks that are not. */
static const struct block v4_blocks[] = {
    {{0}, 8, "unspecified", 0, 0},
    {{10}, 8, "private", 0, 0},
    {{100, 64}, 10, "shared", 0, 0},
    {{127}, 8, "loopback", 0, 0},
    {{169, 254}, 16, "link-local", 0, 0},
    {{172, 16}, 12, "private", 0, 0},
    {{192, 0, 0, 9}, 32, NULL, 0, 0},  /* Port Control Protocol anycast */
    {{192, 0, 0, 10}, 32, NULL, 0, 0}, /* TURN anycast */
    {{192, 0, 0}, 24, "reserved", 0, 0},
    {{192, 0, 2}, 24, "documentation", 0, 0},
    {{192, 88, 99}, 24, "reserved", 0, 0}, /* 6to4 relays, deprecated */
    {{192, 168}, 16, "private", 0, 0},
    {{198, 18}, 15, "benchmarking", 0, 0},
    {{198, 51, 100}, 24, "documentation", 0, 0},
    {{203, 0, 113}, 24, "documentation", 0, 0},
    {{224}, 4, "multicast", 0, 0},
    {{255, 255, 255, 255}, 32, "broadcast", 0, 0},
    {{240}, 4, "reserved", 0, 0},
};

/* Addresses outside 2000::/3 are not global unicast (RFC 4291, 2.4), except NAT64. */
static const struct block v6_blocks[] = {
    {{[15] = 0}, 128, "unspecified", 0, 0},
    {{[15] = 1}, 128, "loopback", 0, 0},
    {{[10] = 0xFF, 0xFF}, 96, "mapped", 12, 0},
    {{[10] = 0}, 96, "reserved", 12, 0},                /* IPv4-compatible, deprecated */
    {{[8] = 0xFF, 0xFF}, 96, "reserved", 12, 0},        /* IPv4-translated, RFC 2765 */
    {{0, 0x64, 0xFF, 0x9B}, 96, NULL, 12, 0},           /* NAT64, RFC 6052 */
    {{0, 0x64, 0xFF, 0x9B, 0, 1}, 48, "private", 0, 0}, /* local-use NAT64 */
    {{1}, 64, "discard", 0, 0},
    {{0x20, 0x01}, 32, NULL, 4, 12},                 /* Teredo: server, client */
    {{0x20, 0x01, 0, 1, [15] = 1}, 128, NULL, 0, 0}, /* anycast, three of them */
    {{0x20, 0x01, 0, 1, [15] = 2}, 128, NULL, 0, 0},
    {{0x20, 0x01, 0, 1, [15] = 3}, 128, NULL, 0, 0},
    {{0x20, 0x01, 0, 2}, 48, "benchmarking", 0, 0},
    {{0x20, 0x01, 0, 3}, 32, NULL, 0, 0},             /* AMT */
    {{0x20, 0x01, 0, 4, 0x01, 0x12}, 48, NULL, 0, 0}, /* AS112 */
    {{0x20, 0x01, 0, 0x20}, 28, NULL, 0, 0},          /* ORCHIDv2 */
    {{0x20, 0x01, 0, 0x30}, 28, NULL, 0, 0},          /* drones */
    {{0x20, 0x01}, 23, "reserved", 0, 0},
    {{0x20, 0x01, 0x0D, 0xB8}, 32, "documentation", 0, 0},
    {{0x20, 0x02}, 16, NULL, 2, 0}, /* 6to4 */
    {{0x3F, 0xFF}, 20, "documentation", 0, 0},
    {{0x20}, 3, NULL, 0, 0},
    {{0xFC}, 7, "private", 0, 0},
    {{0xFE, 0x80}, 10, "link-local", 0, 0},
    {{0xFE, 0xC0}, 10, "private", 0, 0}, /* site-local, deprecated */
    {{0xFF}, 8, "multicast", 0, 0},
    {{0}, 0, "reserved", 0, 0},
};

static bool is_in(const uint8_t *bytes, const struct block *block)
{
    size_t n_whole = block->n_bits / 8, n_rest = block->n_bits % 8;
    return memcmp(bytes, block->prefix, n_whole) == 0 &&
           (n_rest == 0 || (bytes[n_whole] ^ block->prefix[n_whole]) >> (8 - n_rest) == 0);
}

static const struct block *find_block(const uint8_t *bytes, const struct block *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_in(bytes, &blocks[i]))
            return &blocks[i];
    return NULL;
}

static const char *special_v4(const uint8_t *bytes)
{
    const struct block *block = find_block(bytes, v4_blocks, sizeof v4_blocks / sizeof *v4_blocks);
    return block ? block->word : NULL;
}

const char *pl_address_special(const struct pl_address *address)
{
    const uint8_t *bytes = address->bytes;
    if (!address->is_v6)
        return special_v4(bytes);
    const struct block *block = find_block(bytes, v6_blocks, sizeof v6_blocks / sizeof *v6_blocks);
    const char *word = block->v4_at ? special_v4(bytes + block->v4_at) : NULL;
    if (!word && block->v4_too_at) {
        uint8_t client[4]; /* its bits are inverted (RFC 4380, 4) */
        for (size_t i = 0; i < 4; i++)
            client[i] = (uint8_t)~bytes[block->v4_too_at + i];
        word = special_v4(client);
    }
    return word ? word : block->word;
}
