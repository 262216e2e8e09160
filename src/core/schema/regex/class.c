/* Escapes and character classes of ECMA-262 (22.2.1: AtomEscape, CharacterClass).
 *
 * \d and \w are ASCII in both dialects as long as PCRE2_UCP stays off; \s is wider in ECMA-262 and
 * is spelt out. Inside a class \S is spelt out as well, because a class cannot hold a negation. */
#include "schema/regex/regex_int.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

#include <stdio.h>

#define SPACES                                                                                     \
    "\\x{9}-\\x{d} \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"        \
    "\\x{3000}\\x{feff}"
#define NOT_SPACES                                                                                 \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"  \
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"                 \
    "\\x{ff00}-\\x{10ffff}"

static const struct {
    char letter;
    const char *outside, *inside;
} sets[] = {
    {'d', "\\d", "\\d"},           {'D', "\\D", "\\D"},
    {'s', "[" SPACES "]", SPACES}, {'S', "[^" SPACES "]", NOT_SPACES},
    {'w', "\\w", "\\w"},           {'W', "\\W", "\\W"},
};

static const struct {
    char letter;
    uint8_t code_point;
} controls[] = {{'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};

/* Exactly `n` hexadecimal digits, or -1. */
static int32_t read_hex(struct pl_str pattern, size_t *at, size_t n)
{
    int32_t value = 0;

    if (pattern.len - *at < n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int digit = pl_ascii_hex((unsigned char)pattern.ptr[*at + i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    *at += n;
    return value;
}

/* {1F432}, the part after `\u`. */
static int32_t read_braced_hex(struct pl_str pattern, size_t *at)
{
    int32_t value = 0;
    size_t i = *at + 1;

    for (; i < pattern.len && pattern.ptr[i] != '}'; i++) {
        int digit = pl_ascii_hex((unsigned char)pattern.ptr[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
        if (value > 0x10ffff)
            return -1;
    }
    if (i >= pattern.len || i == *at + 1)
        return -1;
    *at = i + 1;
    return value;
}

int32_t pl_regex_unicode_escape(struct pl_str pattern, size_t *at)
{
    int32_t lead, trail;
    size_t next;

    if (*at < pattern.len && pattern.ptr[*at] == '{')
        return read_braced_hex(pattern, at);
    lead = read_hex(pattern, at, 4);
    next = *at + 2;
    if (lead < 0xd800 || lead > 0xdbff ||
        !pl_str_starts(pl_str_slice(pattern, *at, pattern.len), PL_STR("\\u")))
        return lead;
    trail = read_hex(pattern, &next, 4);
    if (trail < 0xdc00 || trail > 0xdfff)
        return lead;
    *at = next;
    return 0x10000 + ((lead - 0xd800) << 10) + (trail - 0xdc00);
}

static enum pl_status refuse_letter(struct pl_regex_scan *scan)
{
    char message[160];
    int c = pl_regex_peek(scan, 1);

    if (c < 0)
        return pl_regex_refuse(scan, PL_SYNTAX, scan->at,
                               "the pattern ends with a single "
                               "backslash");
    (void)snprintf(message, sizeof message,
                   "\\%c has no meaning in ECMA-262; write %c without the backslash, or check "
                   "whether it belongs to another dialect",
                   c, c);
    return pl_regex_refuse(scan, PL_SYNTAX, scan->at, message);
}

/* Reads the rest of an escape after a backslash and x, u or c. */
static enum pl_status coded_char(struct pl_regex_scan *scan, int32_t *ret_code_point)
{
    size_t start = scan->at;
    int kind = pl_regex_peek(scan, 1), next = pl_regex_peek(scan, 2);

    scan->at += 2;
    if (kind == 'c') {
        ++scan->at;
        *ret_code_point = pl_ascii_is_letter(next) ? next & 31 : -1;
    } else {
        *ret_code_point = kind == 'x' ? read_hex(scan->pattern, &scan->at, 2)
                                      : pl_regex_unicode_escape(scan->pattern, &scan->at);
    }
    if (*ret_code_point >= 0)
        return PL_OK;
    return pl_regex_refuse(scan, PL_SYNTAX, start,
                           kind == 'c'   ? "\\c must be followed by a letter, as in \\cJ"
                           : kind == 'x' ? "\\x must be followed by two hexadecimal digits"
                                         : "\\u must be followed by four hexadecimal digits, or by "
                                           "braces around a code point up to 10FFFF");
}

/* An escape for one character; starts at the backslash. */
static enum pl_status char_escape(struct pl_regex_scan *scan, int32_t *ret_code_point)
{
    int c = pl_regex_peek(scan, 1);

    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (c == controls[i].letter) {
            scan->at += 2;
            *ret_code_point = controls[i].code_point;
            return PL_OK;
        }
    if (c == 'x' || c == 'u' || c == 'c')
        return coded_char(scan, ret_code_point);
    if (c == '0' && !pl_ascii_is_digit(pl_regex_peek(scan, 2))) {
        scan->at += 2;
        *ret_code_point = 0;
        return PL_OK;
    }
    if (pl_ascii_is_digit(c))
        return pl_regex_refuse(scan, PL_SYNTAX, scan->at,
                               "there is no group with this number, and octal escapes are not "
                               "allowed; write \\xHH for a character");
    if (c < 0 || pl_ascii_is_letter(c))
        return refuse_letter(scan);
    ++scan->at;
    *ret_code_point = pl_utf8_next(scan->pattern, &scan->at);
    return PL_OK;
}

/* \d \D \s \S \w \W \p{…} \P{…}; *ret_is_set is whether there was one. */
static enum pl_status set_escape(struct pl_regex_scan *scan, bool in_class, bool *ret_is_set)
{
    int c = pl_regex_peek(scan, 1);

    *ret_is_set = true;
    if (c == 'p' || c == 'P') {
        ++scan->at;
        return pl_regex_property(scan);
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (c == sets[i].letter) {
            scan->at += 2;
            pl_regex_emit(scan, pl_str_of(in_class ? sets[i].inside : sets[i].outside));
            return PL_OK;
        }
    *ret_is_set = false;
    return PL_OK;
}

/* An open group has matched nothing yet, so a reference to it matches the empty string. */
static void emit_reference(struct pl_regex_scan *scan, uint32_t group)
{
    char text[16];

    for (uint32_t i = 0; i < scan->n_open; i++)
        if (scan->open[i].group == group) {
            pl_regex_emit(scan, PL_STR("(?:)"));
            return;
        }
    (void)snprintf(text, sizeof text, "\\g{%u}", group);
    pl_regex_emit(scan, pl_str_of(text));
}

static enum pl_status named_reference(struct pl_regex_scan *scan)
{
    size_t start = scan->at;
    int32_t group = -1;

    if (pl_regex_peek(scan, 2) == '<') {
        scan->at += 3;
        group = pl_regex_find_name(scan, &scan->at);
    }
    if (group < 0)
        return pl_regex_refuse(scan, PL_SYNTAX, start,
                               "\\k must be followed by the name of a group, as in \\k<name>");
    if (group == 0)
        return pl_regex_refuse(scan, PL_SYNTAX, start, "there is no group with this name");
    emit_reference(scan, (uint32_t)group);
    return PL_OK;
}

static bool numbered_reference(struct pl_regex_scan *scan)
{
    uint32_t group = 0;
    size_t n = 1;

    for (int c; (c = pl_regex_peek(scan, n), pl_ascii_is_digit(c)) && group <= scan->n_groups; n++)
        group = group * 10 + (uint32_t)(c - '0');
    if (group == 0 || group > scan->n_groups)
        return false;
    scan->at += n;
    emit_reference(scan, group);
    return true;
}

enum pl_status pl_regex_escape(struct pl_regex_scan *scan)
{
    int c = pl_regex_peek(scan, 1);
    int32_t code_point;
    bool is_set;
    enum pl_status status;

    if (c == 'b' || c == 'B') {
        pl_regex_emit(scan, pl_str_slice(scan->pattern, scan->at, scan->at + 2));
        scan->at += 2;
        scan->can_repeat = false;
        return PL_OK;
    }
    if (c == 'k')
        return named_reference(scan);
    if (c >= '1' && c <= '9' && numbered_reference(scan))
        return PL_OK;
    status = set_escape(scan, false, &is_set);
    if (status != PL_OK || is_set)
        return status;
    status = char_escape(scan, &code_point);
    if (status == PL_OK)
        pl_regex_emit_char(scan, (uint32_t)code_point);
    return status;
}

/* [:alpha:] and the like do not mean here what their author expects. */
static bool is_posix_class(const struct pl_regex_scan *scan)
{
    int kind = pl_regex_peek(scan, 1);
    size_t n = 2;

    if (pl_regex_peek(scan, 0) != '[' || (kind != ':' && kind != '.' && kind != '='))
        return false;
    while (pl_ascii_is_letter(pl_regex_peek(scan, n)) || pl_regex_peek(scan, n) == '^')
        n++;
    return n > 2 && pl_regex_peek(scan, n) == kind && pl_regex_peek(scan, n + 1) == ']';
}

/* One member of a class: *ret_code_point is -1 for a set, which is then already written. */
static enum pl_status class_atom(struct pl_regex_scan *scan, int32_t *ret_code_point)
{
    bool is_set;
    enum pl_status status;

    if (is_posix_class(scan))
        return pl_regex_refuse(
            scan, PL_SYNTAX, scan->at,
            "ECMA-262 has no POSIX classes; write \\p{Alphabetic}, \\d or a range");
    if (pl_regex_peek(scan, 0) != '\\') {
        *ret_code_point = pl_utf8_next(scan->pattern, &scan->at);
        return PL_OK;
    }
    if (pl_regex_peek(scan, 1) == 'b') {
        scan->at += 2;
        *ret_code_point = '\b';
        return PL_OK;
    }
    status = set_escape(scan, true, &is_set);
    if (status != PL_OK || !is_set)
        return status == PL_OK ? char_escape(scan, ret_code_point) : status;
    *ret_code_point = -1;
    return PL_OK;
}

/* Cuts surrogates off the ends of a range: neither PCRE2 nor UTF-8 has them. */
static void emit_range(struct pl_regex_scan *scan, int32_t from, int32_t to)
{
    if (from >= 0xd800 && from <= 0xdfff)
        from = 0xe000;
    if (to >= 0xd800 && to <= 0xdfff)
        to = 0xd7ff;
    if (from > to) {
        pl_regex_emit_char(scan, 0xd800);
        return;
    }
    pl_regex_emit_char(scan, (uint32_t)from);
    if (from == to)
        return;
    pl_regex_emit(scan, PL_STR("-"));
    pl_regex_emit_char(scan, (uint32_t)to);
}

/* A single member or a range. */
static enum pl_status class_member(struct pl_regex_scan *scan)
{
    size_t start = scan->at;
    int32_t from, to;
    enum pl_status status = class_atom(scan, &from);

    if (status != PL_OK)
        return status;
    if (pl_regex_peek(scan, 0) != '-' || pl_regex_peek(scan, 1) == ']' ||
        pl_regex_peek(scan, 1) < 0) {
        if (from >= 0)
            pl_regex_emit_char(scan, (uint32_t)from);
        return PL_OK;
    }
    ++scan->at;
    status = class_atom(scan, &to);
    if (status != PL_OK)
        return status;
    if (from >= 0 && to >= 0) {
        if (from > to)
            return pl_regex_refuse(scan, PL_SYNTAX, start,
                                   "the ends of this range are out of order; escape the hyphen if "
                                   "it is a literal character");
        emit_range(scan, from, to);
        return PL_OK;
    }
    /* One end is a set: the hyphen is literal. */
    pl_regex_emit_char(scan, '-');
    if (from >= 0 || to >= 0)
        pl_regex_emit_char(scan, (uint32_t)(from >= 0 ? from : to));
    return PL_OK;
}

enum pl_status pl_regex_class(struct pl_regex_scan *scan)
{
    size_t start = scan->at;
    bool is_negated = pl_regex_peek(scan, 1) == '^';

    scan->at += is_negated ? 2 : 1;
    if (pl_regex_peek(scan, 0) == ']') {
        ++scan->at;
        pl_regex_emit(scan, is_negated ? PL_STR("\\p{Any}") : PL_STR("\\P{Any}"));
        return PL_OK;
    }
    pl_regex_emit(scan, is_negated ? PL_STR("[^") : PL_STR("["));
    for (;;) {
        enum pl_status status;
        if (pl_regex_peek(scan, 0) < 0)
            return pl_regex_refuse(scan, PL_SYNTAX, start,
                                   "this class is not closed; write \\[ for the character itself");
        if (pl_regex_peek(scan, 0) == ']')
            break;
        status = class_member(scan);
        if (status != PL_OK)
            return status;
    }
    ++scan->at;
    pl_regex_emit(scan, PL_STR("]"));
    return PL_OK;
}
