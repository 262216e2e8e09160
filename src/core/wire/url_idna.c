/* Domain to ASCII (WHATWG URL Standard, 3.3). A domain in ASCII is not checked, with or without
 * xn--. Other domains are mapped, checked and encoded with libidn2 by UTS 46, label by label, so
 * that its limit on the length of a whole name does not apply.
 *
 * libidn2 (2.3.3) differs from the standard. In a label with characters outside ASCII it refuses
 * hyphens at the ends or in the third and fourth place. It refuses a label of more than 63 bytes.
 * Its tables are older (the capital sharp s becomes "ss", letters that Unicode has changed are
 * refused). It checks directions label by label and not over the whole name. All but the last and
 * the sharp s refuse more than the standard does. tests/conformance/url_exceptions.txt has the
 * cases.
 *
 * libidn2 allocates a few bytes with the C library and not with base/mem.h. */
#include "wire/url_int.h"

#include "base/text/utf8.h"

#include <idn2.h>
#include <strings.h>

static bool is_ascii(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    return true;
}

/* Right-to-left characters, and the joiners and direction marks: UTS 46 has Bidi rules for
 * these. */
static bool has_direction(struct pl_str text)
{
    static const struct {
        int32_t from, to;
    } ranges[] = {{0x590, 0x8FF},     {0xFB1D, 0xFDFF},   {0xFE70, 0xFEFF},
                  {0x10800, 0x10FFF}, {0x1E800, 0x1EFFF}, {0x200C, 0x200F}};
    for (size_t at = 0; at < text.len;) {
        int32_t c = pl_utf8_next(text, &at);
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
            if (c >= ranges[i].from && c <= ranges[i].to)
                return true;
    }
    return false;
}

/* Symbols are valid by UTS 46 but not by IDNA 2008, and libidn2 accepts them only in transitional
 * mode. That mode treats four characters differently (sharp s, final sigma and the two joiners) and
 * does not check Bidi rules. Without any of these both modes agree. */
static bool may_be_transitional(struct pl_str label)
{
    for (size_t at = 0; at < label.len;) {
        int32_t c = pl_utf8_next(label, &at);
        if (c == 0xDF || c == 0x3C2)
            return false;
    }
    return !has_direction(label);
}

/* The end of the label that begins at `at`, and the length of its dot: '.', or one of the three
 * that are mapped to it. */
static size_t label_end(struct pl_str domain, size_t at, size_t *ret_n_dot)
{
    static const char *const dots[] = {"\u3002", "\uFF0E", "\uFF61"};
    for (; at < domain.len; at++) {
        *ret_n_dot = domain.ptr[at] == '.';
        for (size_t i = 0; i < 3 && !*ret_n_dot; i++)
            if (pl_str_starts(pl_str_slice(domain, at, domain.len), pl_str_of(dots[i])))
                *ret_n_dot = 3;
        if (*ret_n_dot)
            break;
    }
    return at;
}

static bool is_plain(struct pl_str label)
{
    return is_ascii(label) && (label.len < 4 || strncasecmp(label.ptr, "xn--", 4) != 0);
}

static void add_lower(struct pl_str text, struct pl_buf *to)
{
    for (size_t i = 0; i < text.len; i++)
        pl_buf_addc(to, pl_ascii_lower(text.ptr[i]));
}

/* Prepares a label for libidn2: NUL-terminated, and with the capital sharp s in lower case, which
 * libidn2 would turn into "ss". */
static void prepare(struct pl_str label, struct pl_buf *to)
{
    static const struct pl_str capital = {"\u1E9E", 3};
    for (size_t i = 0; i < label.len; i++) {
        bool is_capital = pl_str_starts(pl_str_slice(label, i, label.len), capital);
        pl_buf_add(to, is_capital ? PL_STR("\u00DF") : pl_str_slice(label, i, i + 1));
        i += is_capital ? 2 : 0;
    }
    pl_buf_addc(to, '\0');
}

static enum pl_status add_encoded(struct pl_str label, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf text;
    char *ascii = NULL;
    pl_buf_init(&text, 0);
    prepare(label, &text);
    if (text.status != PL_OK)
        return text.status;
    int code = idn2_to_ascii_8z(text.ptr, &ascii, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
    if (code == IDN2_DISALLOWED && may_be_transitional((struct pl_str){text.ptr, text.len - 1}))
        code = idn2_to_ascii_8z(text.ptr, &ascii, IDN2_TRANSITIONAL | IDN2_NFC_INPUT);
    if (code != IDN2_OK)
        return code == IDN2_MALLOC ? PL_NOMEM : PL_SYNTAX;
    pl_buf_adds(to, ascii);
    idn2_free(ascii);
    return PL_OK;
}

enum pl_status pl_url_domain_to_ascii(struct pl_str domain, struct pl_buf *to)
{
    enum pl_status status = PL_OK;
    size_t n_dot = 0;
    if (is_ascii(domain)) {
        add_lower(domain, to);
        return PL_OK;
    }
    for (size_t at = 0; at < domain.len && status == PL_OK; at += n_dot) {
        n_dot = 0;
        size_t end = label_end(domain, at, &n_dot);
        struct pl_str label = pl_str_slice(domain, at, end);
        if (is_plain(label))
            add_lower(label, to);
        else
            status = add_encoded(label, to);
        if (n_dot)
            pl_buf_addc(to, '.');
        at = end;
    }
    return status;
}
