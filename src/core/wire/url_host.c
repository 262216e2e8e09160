/* Hosts (WHATWG URL Standard, 3.5): domains, IPv4 in all its spellings, IPv6, and the opaque hosts
 * of other schemes. */
#include "wire/url_int.h"

#include "base/text/utf8.h"

static bool refuse(struct pl_url_parser *p, const char *why)
{
    (void)pl_url_refuse(p, "the host of the URL %s", why);
    return false;
}

/* The forbidden host code points (3.1) except NUL; in a domain also controls, '%' and DEL. */
static bool is_forbidden(unsigned char c, bool is_domain)
{
    if (c == 0 || (is_domain && (c < 0x20 || c == 0x7F || c == '%')))
        return true;
    return c < 0x80 && strchr("\t\n\r #/:<>?@[\\]^|", c);
}

static bool has_forbidden(struct pl_str text, bool is_domain)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_forbidden((unsigned char)text.ptr[i], is_domain))
            return true;
    return false;
}

/* --- IPv4 ------------------------------------------------------------------------------------ */

/* 3.5.1, "IPv4 number parser": decimal, 0x… or 0…; a value too large stays too large. */
static bool read_number(struct pl_str text, uint64_t *ret)
{
    unsigned radix = 10;
    uint64_t number = 0;
    if (!text.len)
        return false;
    if (text.len >= 2 && text.ptr[0] == '0') {
        radix = pl_ascii_lower(text.ptr[1]) == 'x' ? 16 : 8;
        text = pl_str_slice(text, radix == 16 ? 2 : 1, text.len);
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)pl_url_digit(text.ptr[i]);
        if (digit >= radix)
            return false;
        if (number <= UINT32_MAX)
            number = number * radix + digit;
    }
    *ret = number;
    return true;
}

/* Takes off the last part and the dot before it. */
static struct pl_str take_last(struct pl_str *text)
{
    size_t dot = pl_url_last(*text, '.');
    struct pl_str last = pl_str_slice(*text, dot == SIZE_MAX ? 0 : dot + 1, text->len);
    text->len = dot == SIZE_MAX ? 0 : dot;
    return last;
}

/* Whether the last part is a number: then the domain must be an address. */
static bool ends_in_number(struct pl_str text)
{
    if (text.len && text.ptr[text.len - 1] == '.')
        text.len--;
    struct pl_str last = take_last(&text);
    size_t n_digits = 0;
    uint64_t number;
    while (n_digits < last.len && pl_ascii_is_digit((unsigned char)last.ptr[n_digits]))
        n_digits++;
    return last.len && (n_digits == last.len || read_number(last, &number));
}

/* One to four parts; the last one stands for all remaining bytes. */
static bool read_v4(struct pl_str text, uint8_t ret_bytes[4])
{
    uint64_t parts[4], address = 0;
    size_t n = 1;
    if (text.len && text.ptr[text.len - 1] == '.')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '.';
    if (n > 4)
        return false;
    for (size_t i = n; i-- > 0;)
        if (!read_number(take_last(&text), &parts[i]))
            return false;
    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255)
            return false;
        address |= parts[i] << (24 - 8 * i);
    }
    if (parts[n - 1] >= UINT64_C(1) << (8 * (5 - n)))
        return false;
    address |= parts[n - 1];
    for (size_t i = 0; i < 4; i++)
        ret_bytes[i] = (uint8_t)(address >> (24 - 8 * i));
    return true;
}

/* --- kinds ----------------------------------------------------------------------------------- */

static bool put_address(struct pl_url_parser *p, const struct pl_address *address)
{
    p->url.address = *address;
    p->url.host_kind = PL_URL_HOST_ADDRESS;
    if (address->is_v6)
        pl_buf_addc(&p->out, '[');
    pl_address_write(address, &p->out);
    if (address->is_v6)
        pl_buf_addc(&p->out, ']');
    p->url.host = pl_url_take(p);
    return p->status == PL_OK;
}

static bool read_brackets(struct pl_url_parser *p, struct pl_str text)
{
    struct pl_address address;
    if (text.ptr[text.len - 1] != ']' ||
        !pl_address_parse(pl_str_slice(text, 1, text.len - 1), &address) || !address.is_v6)
        return refuse(p, "begins with a bracket but is not an IPv6 address");
    return put_address(p, &address);
}

static bool read_opaque(struct pl_url_parser *p, struct pl_str text)
{
    if (has_forbidden(text, false))
        return refuse(p, "has a character that is not allowed in a host");
    pl_url_encode(&p->out, text, PL_URL_SET_C0);
    p->url.host = pl_url_take(p);
    p->url.host_kind = text.len ? PL_URL_HOST_OPAQUE : PL_URL_HOST_EMPTY;
    return p->status == PL_OK;
}

/* Puts the ASCII form of a domain in `out`; false on failure. */
static bool read_domain(struct pl_url_parser *p, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf decoded;
    pl_buf_init(&decoded, 0);
    pl_url_decode(text, &decoded);
    struct pl_str domain = pl_buf_str(&decoded);
    enum pl_status status = decoded.status;
    if (status == PL_OK && (!pl_utf8_is_valid(domain) || memchr(domain.ptr, 0, domain.len)))
        return refuse(p, "has bytes that are not text");
    if (status == PL_OK)
        status = pl_url_domain_to_ascii(domain, &p->out);
    if (status == PL_OK)
        status = p->out.status;
    if (status == PL_NOMEM) {
        (void)pl_url_no_memory(p);
        return false;
    }
    if (status != PL_OK)
        return refuse(p, "is not a valid internationalised domain name");
    if (!p->out.len)
        return refuse(p, "is empty after removing ignored characters");
    if (has_forbidden(pl_buf_str(&p->out), true))
        return refuse(p, "has a character that is not allowed in a host");
    return true;
}

bool pl_url_host(struct pl_url_parser *p, struct pl_str text)
{
    struct pl_address address = {0};
    if (text.len && text.ptr[0] == '[')
        return read_brackets(p, text);
    if (!p->is_special)
        return read_opaque(p, text);
    if (!read_domain(p, text))
        return false;
    if (!ends_in_number(pl_buf_str(&p->out))) {
        p->url.host = pl_url_take(p);
        p->url.host_kind = PL_URL_HOST_DOMAIN;
        return p->status == PL_OK;
    }
    if (!read_v4(pl_buf_str(&p->out), address.bytes))
        return refuse(p, "ends with a number but is not an IPv4 address");
    pl_buf_clear(&p->out);
    return put_address(p, &address);
}
