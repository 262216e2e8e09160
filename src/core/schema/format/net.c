/* Names and addresses of hosts and mailboxes: RFC 1123 (host names), RFC 5890 (internationalised
 * ones), RFC 2673 section 3.2 (IPv4), RFC 4291 section 2.2 (IPv6), RFC 5321 section 4.1.2 and
 * RFC 6531 section 3.3 (mail). */
#include "schema/format/format_int.h"

enum {
    MAX_NAME = 253, /* bytes of a host name in ASCII form, without a final dot */
    MAX_LOCAL = 64, /* bytes before the @ of a mail address (RFC 5321, 4.5.3.1.1) */
    IPV6_GROUPS = 8,
};

/* Length of the label separator at `at`; 0 if there is none. IDNA has three more dots (RFC 3490,
 * 3.1): U+3002, U+FF0E and U+FF61. */
static size_t separator_len(struct pl_str text, size_t at, enum pl_idn_kind kind)
{
    struct pl_str rest = pl_str_slice(text, at, text.len);

    if (rest.ptr[0] == '.')
        return 1;
    if (kind != PL_IDN_ASCII &&
        (pl_str_starts(rest, PL_STR("\u3002")) || pl_str_starts(rest, PL_STR("\uff0e")) ||
         pl_str_starts(rest, PL_STR("\uff61"))))
        return 3;
    return 0;
}

static bool is_name(struct pl_str text, enum pl_idn_kind kind)
{
    size_t start = 0, n_ascii = 0;
    bool is_right_to_left = false, suits = true;

    for (;;) {
        size_t end = start, n_separator = 0;
        struct pl_idn_label label;
        while (end < text.len && (n_separator = separator_len(text, end, kind)) == 0)
            end++;
        if (!pl_idn_label_check(pl_str_slice(text, start, end), kind, &label))
            return false;
        n_ascii += label.n_ascii + (start > 0);
        if (n_ascii > MAX_NAME)
            return false;
        is_right_to_left |= label.is_right_to_left;
        suits &= label.suits_right_to_left;
        if (end == text.len)
            return suits || !is_right_to_left;
        start = end + n_separator;
    }
}

bool pl_format_is_hostname(struct pl_str text)
{
    return is_name(text, PL_IDN_ASCII);
}

bool pl_format_is_idn_hostname(struct pl_str text)
{
    return is_name(text, PL_IDN_U);
}

bool pl_format_is_ipv4(struct pl_str text)
{
    int n_parts = 0;
    size_t at = 0;

    for (;;) {
        size_t start = at;
        int value = 0;
        while (at < text.len && at - start < 3 && pl_ascii_is_digit(text.ptr[at]))
            value = value * 10 + (text.ptr[at++] - '0');
        /* Some readers take a leading zero as octal, others as decimal. */
        if (at == start || value > 255 || (at - start > 1 && text.ptr[start] == '0'))
            return false;
        if (++n_parts == 4)
            return at == text.len;
        if (at == text.len || text.ptr[at++] != '.')
            return false;
    }
}

/* The length of the hexadecimal group at `at`, 0 to 4. */
static size_t group_len(struct pl_str text, size_t at)
{
    size_t n = 0;

    while (n < 4 && at + n < text.len && pl_ascii_is_hex(text.ptr[at + n]))
        n++;
    return n;
}

bool pl_format_is_ipv6(struct pl_str text)
{
    int n_groups = 0;
    bool has_gap = false;
    size_t at = 0;

    if (pl_str_starts(text, PL_STR("::"))) {
        has_gap = true;
        at = 2;
    }
    while (at < text.len) {
        size_t n = group_len(text, at);
        if (n_groups <= IPV6_GROUPS - 2 && at + n < text.len && text.ptr[at + n] == '.') {
            n_groups += 2;
            if (!pl_format_is_ipv4(pl_str_slice(text, at, text.len)))
                return false;
            break;
        }
        if (n == 0 || ++n_groups > IPV6_GROUPS)
            return false;
        at += n;
        if (at == text.len)
            break;
        if (text.ptr[at++] != ':' || at == text.len)
            return false;
        if (text.ptr[at] == ':') {
            if (has_gap)
                return false;
            has_gap = true;
            at++;
        }
    }
    /* A gap stands for at least one group. */
    return has_gap ? n_groups < IPV6_GROUPS : n_groups == IPV6_GROUPS;
}

static bool is_atom_char(unsigned char c, bool is_international)
{
    if (c >= 0x80)
        return is_international;
    return pl_ascii_is_letter(c) || pl_ascii_is_digit(c) ||
           (c != 0 && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* Dot-string: atoms separated by single dots. */
static bool is_dot_string(struct pl_str text, bool is_international)
{
    bool had_dot = true;

    for (size_t i = 0; i < text.len; i++) {
        bool is_dot = text.ptr[i] == '.';
        if (is_dot ? had_dot : !is_atom_char((unsigned char)text.ptr[i], is_international))
            return false;
        had_dot = is_dot;
    }
    return !had_dot;
}

/* The length of the Quoted-string at the start of `text`, quotes included; 0 if there is none. */
static size_t quoted_len(struct pl_str text, bool is_international)
{
    for (size_t i = 1; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '"')
            return i + 1;
        if (c == '\\' && ++i < text.len)
            c = (unsigned char)text.ptr[i];
        if (c < ' ' || c == 0x7f || (c >= 0x80 && !is_international))
            return 0;
    }
    return 0;
}

/* The part after the @: a host name, or an address in brackets. */
static bool is_mail_domain(struct pl_str text, bool is_international)
{
    struct pl_str literal;

    if (text.len == 0 || text.ptr[0] != '[')
        return is_name(text, is_international ? PL_IDN_MAIL : PL_IDN_ASCII);
    if (text.ptr[text.len - 1] != ']')
        return false;
    literal = pl_str_slice(text, 1, text.len - 1);
    if (pl_str_starts(literal, PL_STR("IPv6:")))
        return pl_format_is_ipv6(pl_str_slice(literal, 5, literal.len));
    return pl_format_is_ipv4(literal);
}

static bool is_mailbox(struct pl_str text, bool is_international)
{
    size_t n_local = 0;

    if (text.len > 0 && text.ptr[0] == '"') {
        n_local = quoted_len(text, is_international);
    } else {
        const char *at_sign = text.len > 0 ? memchr(text.ptr, '@', text.len) : NULL;
        if (at_sign)
            n_local = (size_t)(at_sign - text.ptr);
        if (!is_dot_string(pl_str_slice(text, 0, n_local), is_international))
            return false;
    }
    return n_local > 0 && n_local <= MAX_LOCAL && n_local < text.len && text.ptr[n_local] == '@' &&
           is_mail_domain(pl_str_slice(text, n_local + 1, text.len), is_international);
}

bool pl_format_is_email(struct pl_str text)
{
    return is_mailbox(text, false);
}

bool pl_format_is_idn_email(struct pl_str text)
{
    return is_mailbox(text, true);
}
