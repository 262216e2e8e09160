/* From ECMA-262 (section 22.2.1, u flag) to PCRE2, term by term.
 *
 * A first pass counts the capturing groups and collects their names, because \1 and \k<n> may refer
 * to later groups. Then every term is checked and rewritten. Names become numbers: PCRE2 allows
 * fewer characters in them. A group without references does not capture, which saves the engine
 * work.
 *
 * Known differences from ECMA-262, in back references only: a capture inside a repeated group keeps
 * its value in the next iteration, and captures in a lookbehind are made from left to right. */
#include "schema/regex/regex_int.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

#include <stdio.h>

enum pl_status pl_regex_refuse(struct pl_regex_scan *scan, enum pl_status status, size_t at,
                               const char *message)
{
    status = pl_fail(scan->err, status, "%s", message);
    pl_error_locate(scan->err, scan->pattern, at);
    return status;
}

void pl_regex_emit(struct pl_regex_scan *scan, struct pl_str text)
{
    scan->n_out += text.len;
    if (scan->to)
        pl_buf_add(scan->to, text);
}

static bool is_word(int c)
{
    return pl_ascii_is_alnum(c) || c == '_';
}

/* A literal code point, inside or outside a class. */
void pl_regex_emit_char(struct pl_regex_scan *scan, uint32_t code_point)
{
    char text[16];
    size_t n_text = 0;

    if (code_point >= 0xd800 && code_point <= 0xdfff) {
        /* A lone surrogate: no UTF-8 text contains one. */
        pl_regex_emit(scan, PL_STR("\\P{Any}"));
        return;
    }
    if (code_point < ' ' || code_point == 0x7f) {
        n_text = (size_t)snprintf(text, sizeof text, "\\x{%x}", code_point);
    } else {
        if (code_point < 0x80 && !is_word((int)code_point))
            text[n_text++] = '\\';
        n_text += pl_utf8_put(text + n_text, code_point);
    }
    pl_regex_emit(scan, (struct pl_str){text, n_text});
}

/* The next code point of a group name; -1 if the name is invalid. ECMA-262 requires ID_Start and
 * ID_Continue; here any character outside ASCII is accepted. */
static int32_t name_next(struct pl_str pattern, size_t *at, bool is_first)
{
    int32_t c;

    if (*at >= pattern.len)
        return -1;
    c = pl_utf8_next(pattern, at);
    if (c == '\\') {
        if (*at >= pattern.len || pattern.ptr[*at] != 'u')
            return -1;
        ++*at;
        c = pl_regex_unicode_escape(pattern, at);
    }
    if (is_first && pl_ascii_is_digit(c))
        return -1;
    return c >= 0x80 || c == '$' || is_word(c) ? c : -1;
}

/* Moves *at from the first character of a name past its `>`; false if it is not a name. */
static bool skip_name(struct pl_str pattern, size_t *at)
{
    bool is_first = true;

    while (*at < pattern.len && (is_first || pattern.ptr[*at] != '>')) {
        if (name_next(pattern, at, is_first) < 0)
            return false;
        is_first = false;
    }
    if (*at >= pattern.len)
        return false;
    ++*at;
    return true;
}

/* \u escapes allow two spellings of one name, so code points are compared. */
static bool is_same_name(struct pl_str pattern, size_t a, size_t a_end, size_t b, size_t b_end)
{
    while (a < a_end && b < b_end)
        if (name_next(pattern, &a, false) != name_next(pattern, &b, false))
            return false;
    return a == a_end && b == b_end;
}

int32_t pl_regex_find_name(const struct pl_regex_scan *scan, size_t *at)
{
    size_t start = *at;

    if (!skip_name(scan->pattern, at))
        return -1;
    for (uint32_t i = 0; i < scan->n_names; i++) {
        const struct pl_regex_name *name = &scan->names[i];
        if (is_same_name(scan->pattern, name->at, (size_t)name->at + name->len, start, *at - 1))
            return (int32_t)name->group;
    }
    return 0;
}

/* Whether a `(` at `at` opens a named group: (?<name> but not (?<= or (?<!. */
static bool is_named_group(struct pl_str pattern, size_t at)
{
    return pl_str_starts(pl_str_slice(pattern, at, pattern.len), PL_STR("(?<")) &&
           at + 3 < pattern.len && pattern.ptr[at + 3] != '=' && pattern.ptr[at + 3] != '!';
}

static enum pl_status note_group(struct pl_regex_scan *scan, size_t at)
{
    bool is_named = is_named_group(scan->pattern, at);
    size_t start = at + 3, end = start;

    if (!is_named && at + 1 < scan->pattern.len && scan->pattern.ptr[at + 1] == '?')
        return PL_OK;
    ++scan->n_groups;
    if (!is_named || !skip_name(scan->pattern, &end))
        return PL_OK;
    if (scan->n_names == PL_REGEX_MAX_NAMES)
        return pl_regex_refuse(scan, PL_LIMIT, at,
                               "the pattern has more than 256 named groups; number some of them "
                               "instead");
    scan->names[scan->n_names++] = (struct pl_regex_name){
        .at = (uint16_t)start, .len = (uint16_t)(end - 1 - start), .group = scan->n_groups};
    return PL_OK;
}

/* The first pass. It must agree with the second one only on valid patterns. */
static enum pl_status survey(struct pl_regex_scan *scan)
{
    bool in_class = false;
    enum pl_status status = PL_OK;

    for (size_t at = 0; at < scan->pattern.len && status == PL_OK; at++) {
        char c = scan->pattern.ptr[at];
        if (c == '\\') {
            char next = ++at < scan->pattern.len ? scan->pattern.ptr[at] : 0;
            scan->has_backrefs |= !in_class && (next == 'k' || (next >= '1' && next <= '9'));
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
        } else if (c == '(') {
            status = note_group(scan, at);
        }
    }
    return status;
}

/* Groups with the same spelling in PCRE2. */
static const struct {
    struct pl_str text;
    bool can_repeat;
} group_kinds[] = {
    {{"(?:", 3}, true},   {{"(?=", 3}, true},   {{"(?!", 3}, true},
    {{"(?<=", 4}, false}, {{"(?<!", 4}, false},
};

static enum pl_status push_group(struct pl_regex_scan *scan, struct pl_regex_open open)
{
    if (scan->n_open == PL_REGEX_MAX_DEPTH)
        return pl_regex_refuse(scan, PL_LIMIT, open.at,
                               "groups are nested more than 200 levels deep; make the pattern "
                               "flatter");
    scan->open[scan->n_open++] = open;
    scan->can_repeat = false;
    return PL_OK;
}

static enum pl_status open_capture(struct pl_regex_scan *scan)
{
    size_t start = scan->at;

    ++scan->group;
    if (is_named_group(scan->pattern, start)) {
        int32_t group;
        scan->at += 3;
        group = pl_regex_find_name(scan, &scan->at);
        if (group < 0)
            return pl_regex_refuse(scan, PL_SYNTAX, start,
                                   "a group name must be written as (?<name> with letters, digits, "
                                   "_ or $");
        if ((uint32_t)group != scan->group)
            return pl_regex_refuse(scan, PL_SYNTAX, start, "two groups have the same name");
    } else {
        ++scan->at;
    }
    pl_regex_emit(scan, scan->has_backrefs ? PL_STR("(") : PL_STR("(?:"));
    return push_group(scan, (struct pl_regex_open){scan->group, start, true});
}

static enum pl_status open_group(struct pl_regex_scan *scan)
{
    struct pl_str rest = pl_str_slice(scan->pattern, scan->at, scan->pattern.len);

    for (size_t i = 0; i < sizeof group_kinds / sizeof *group_kinds; i++)
        if (pl_str_starts(rest, group_kinds[i].text)) {
            size_t start = scan->at;
            scan->at += group_kinds[i].text.len;
            pl_regex_emit(scan, group_kinds[i].text);
            return push_group(scan, (struct pl_regex_open){0, start, group_kinds[i].can_repeat});
        }
    if (pl_regex_peek(scan, 1) == '?' && !is_named_group(scan->pattern, scan->at))
        return pl_regex_refuse(
            scan, PL_SYNTAX, scan->at,
            "ECMA-262 has only (?: (?= (?! (?<= (?<! and (?<name>; flags, comments, conditions and "
            "atomic groups belong to other dialects");
    return open_capture(scan);
}

static enum pl_status close_group(struct pl_regex_scan *scan)
{
    if (scan->n_open == 0)
        return pl_regex_refuse(scan, PL_SYNTAX, scan->at,
                               "this ) closes no group; write \\) for the character itself");
    scan->can_repeat = scan->open[--scan->n_open].can_repeat;
    ++scan->at;
    pl_regex_emit(scan, PL_STR(")"));
    return PL_OK;
}

/* Reads digits into *ret; stops at a value too large for the engine. False without digits. */
static bool read_count(struct pl_str pattern, size_t *at, uint32_t *ret)
{
    size_t start = *at;
    uint32_t n = 0;

    for (; *at < pattern.len && pl_ascii_is_digit(pattern.ptr[*at]); ++*at)
        if (n <= PL_REGEX_MAX_REPEAT)
            n = n * 10 + (uint32_t)(pattern.ptr[*at] - '0');
    *ret = n;
    return *at > start;
}

/* {n}, {n,} or {n,m} at scan->at: its length, or 0 if the brace is literal. */
static size_t braces(const struct pl_regex_scan *scan, uint32_t *ret_min, uint32_t *ret_max)
{
    struct pl_str pattern = scan->pattern;
    size_t at = scan->at + 1;

    if (!read_count(pattern, &at, ret_min))
        return 0;
    *ret_max = *ret_min;
    if (at < pattern.len && pattern.ptr[at] == ',') {
        ++at;
        if (!read_count(pattern, &at, ret_max))
            *ret_max = UINT32_MAX;
    }
    return at < pattern.len && pattern.ptr[at] == '}' ? at + 1 - scan->at : 0;
}

/* * + ? {n,m} and their lazy forms, at scan->at; `len` bytes without the `?` of a lazy form. */
static enum pl_status quantifier(struct pl_regex_scan *scan, size_t len)
{
    if (!scan->can_repeat)
        return pl_regex_refuse(scan, PL_SYNTAX, scan->at,
                               "there is nothing to repeat here; escape the character with a "
                               "backslash if it is literal");
    scan->can_repeat = false;
    if (pl_regex_peek(scan, len) == '?')
        ++len;
    pl_regex_emit(scan, pl_str_slice(scan->pattern, scan->at, scan->at + len));
    scan->at += len;
    return PL_OK;
}

static enum pl_status literal(struct pl_regex_scan *scan)
{
    pl_regex_emit_char(scan, (uint32_t)pl_utf8_next(scan->pattern, &scan->at));
    scan->can_repeat = true;
    return PL_OK;
}

static enum pl_status open_brace(struct pl_regex_scan *scan)
{
    uint32_t min, max;
    size_t len = braces(scan, &min, &max);

    if (len == 0)
        return literal(scan);
    if (min > max)
        return pl_regex_refuse(scan, PL_SYNTAX, scan->at,
                               "the numbers of this repetition are out of order");
    if (scan->to && (min > PL_REGEX_MAX_REPEAT || (max > PL_REGEX_MAX_REPEAT && max < UINT32_MAX)))
        return pl_regex_refuse(scan, PL_LIMIT, scan->at,
                               "a repetition can be at most 65535; omit the upper bound or use "
                               "maxLength");
    return quantifier(scan, len);
}

/* An assertion or separator with the same spelling in both dialects. */
static enum pl_status mark(struct pl_regex_scan *scan)
{
    pl_regex_emit(scan, pl_str_slice(scan->pattern, scan->at, scan->at + 1));
    ++scan->at;
    scan->can_repeat = false;
    return PL_OK;
}

/* Whether a quantifier is at scan->at. */
static bool is_quantifier(const struct pl_regex_scan *scan)
{
    int c = pl_regex_peek(scan, 0);
    uint32_t min, max;

    return c == '*' || c == '+' || c == '?' || (c == '{' && braces(scan, &min, &max) > 0);
}

/* Adds callouts where work is done: after each repetition, before each term that is not a plain
 * character, and at intervals among plain characters. (A callout before every character, as PCRE2
 * can insert by itself, makes long patterns too large to compile.) */
static void emit_callout(struct pl_regex_scan *scan)
{
    int c = pl_regex_peek(scan, 0);

    if (!scan->is_metered)
        return;
    if (is_quantifier(scan)) {
        scan->n_literals = PL_REGEX_CALLOUT_EVERY;
        return;
    }
    if (!strchr("^$|().[\\", c) && scan->n_literals < PL_REGEX_CALLOUT_EVERY) {
        ++scan->n_literals;
        return;
    }
    scan->n_literals = 0;
    pl_regex_emit(scan, PL_STR("(?C)"));
}

static enum pl_status term(struct pl_regex_scan *scan)
{
    emit_callout(scan);
    switch (pl_regex_peek(scan, 0)) {
    case '^':
    case '$':
    case '|':
        return mark(scan);
    case '(':
        return open_group(scan);
    case ')':
        return close_group(scan);
    case '*':
    case '+':
    case '?':
        return quantifier(scan, 1);
    case '{':
        return open_brace(scan);
    case '[':
        scan->can_repeat = true;
        return pl_regex_class(scan);
    case '\\':
        scan->can_repeat = true;
        return pl_regex_escape(scan);
    case '.':
        ++scan->at;
        scan->can_repeat = true;
        pl_regex_emit(scan, PL_STR("[^\\n\\r\\x{2028}\\x{2029}]"));
        return PL_OK;
    default:
        return literal(scan);
    }
}

enum pl_status pl_regex_translate(struct pl_str pattern, bool is_metered, struct pl_buf *to,
                                  bool *ret_has_backrefs, struct pl_error *err)
{
    struct pl_regex_scan scan = {.pattern = pattern,
                                 .is_metered = is_metered,
                                 .n_literals = PL_REGEX_CALLOUT_EVERY,
                                 .to = to,
                                 .err = err};
    size_t n_valid;
    enum pl_status status;

    if (pattern.len > PL_REGEX_MAX_PATTERN)
        return pl_fail(err, PL_LIMIT, "the pattern has %zu bytes; at most %d are allowed",
                       pattern.len, PL_REGEX_MAX_PATTERN);
    n_valid = pl_utf8_valid_prefix(pattern);
    if (n_valid < pattern.len)
        return pl_regex_refuse(&scan, PL_SYNTAX, n_valid, "the pattern is not valid UTF-8");
    status = survey(&scan);
    while (status == PL_OK && scan.at < pattern.len)
        status = term(&scan);
    if (status == PL_OK && scan.n_open > 0)
        status = pl_regex_refuse(&scan, PL_SYNTAX, scan.open[scan.n_open - 1].at,
                                 "this group is not closed; write \\( for the character itself");
    if (is_metered)
        pl_regex_emit(&scan, PL_STR("(?C)"));
    if (status == PL_OK && to)
        status = to->status;
    if (status == PL_OK && ret_has_backrefs)
        *ret_has_backrefs = scan.has_backrefs;
    return status;
}

size_t pl_regex_source_offset(struct pl_str pattern, bool is_metered, size_t offset)
{
    struct pl_regex_scan scan = {
        .pattern = pattern, .is_metered = is_metered, .n_literals = PL_REGEX_CALLOUT_EVERY};
    size_t last = 0;

    if (survey(&scan) != PL_OK)
        return 0;
    while (scan.at < pattern.len && scan.n_out <= offset) {
        last = scan.at;
        if (term(&scan) != PL_OK)
            break;
    }
    return scan.n_out <= offset ? pattern.len : last;
}
