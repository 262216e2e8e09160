/* Shared by the files of this directory: the translator from ECMA-262 to PCRE2.
 *
 * The translator also checks the grammar (ECMA-262 2024, u flag): PCRE2 only sees text that the
 * translator wrote, so syntax that only PCRE2 understands is refused.
 *
 * Many patterns are written without the u flag in mind. Four things that only Annex B of ECMA-262
 * allows are therefore accepted, because they are unambiguous:
 *     ] { }    unescaped, where no class or repetition begins or ends
 *     \- \"    a backslash before any character that is no ASCII letter or digit
 *     [\w-.]   a hyphen next to a set, taken as itself
 *     (?=a)*   a repeated lookahead
 */
#ifndef PL_SCHEMA_REGEX_INT_H
#define PL_SCHEMA_REGEX_INT_H

#include "base/buf.h"
#include "schema/regex/regex.h"

#include <stdint.h>

enum {
    PL_REGEX_MAX_PATTERN = 8192,   /* bytes of a pattern */
    PL_REGEX_MAX_DEPTH = 200,      /* nested groups */
    PL_REGEX_MAX_NAMES = 256,      /* named groups */
    PL_REGEX_MAX_REPEAT = 65535,   /* in {n,m}; the most PCRE2 can count */
    PL_REGEX_CALLOUT_EVERY = 16,   /* plain characters between two callouts of a metered pattern */
    PL_REGEX_FAST_BYTES = 256,     /* texts up to this length are first tried without a meter */
    PL_REGEX_FAST_LIMIT = 10000,   /* backtracks per starting point of such a try */
    PL_REGEX_DEPTH_LIMIT = 500000, /* of PCRE2's interpreter: nested backtracking points */
    PL_REGEX_HEAP_LIMIT = 65536,   /* of PCRE2's interpreter, in KiB */
};

/* Metered work: the characters moved over, and this much for each callout. A search may take
 * PL_REGEX_MAX_STEPS plus PL_REGEX_STEPS_PER_BYTE for each byte of the text. */
#define PL_REGEX_STEPS_PER_CALLOUT UINT64_C(8)
#define PL_REGEX_STEPS_PER_BYTE    UINT64_C(32)
#define PL_REGEX_MAX_STEPS         UINT64_C(32000000)

struct pl_regex_name {
    uint16_t at, len; /* in the pattern, between < and > */
    uint32_t group;
};

struct pl_regex_open {
    uint32_t group;  /* its number; 0 if it does not capture */
    size_t at;       /* offset of its parenthesis in the pattern */
    bool can_repeat; /* a quantifier may follow its end */
};

/* One pass over a pattern. Lives on the stack of pl_regex_translate and allocates nothing. */
struct pl_regex_scan {
    struct pl_str pattern; /* borrowed from the caller */
    size_t at;             /* next byte of the pattern */
    struct pl_buf *to;     /* borrowed; NULL: only check the grammar */
    size_t n_out;          /* bytes written, or that would be written */
    struct pl_error *err;

    uint32_t n_groups; /* capturing groups in all */
    uint32_t group;    /* number of the last opened group */
    bool has_backrefs; /* without them no group needs to capture */
    bool can_repeat;   /* a quantifier is allowed here */

    bool is_metered;     /* with callouts */
    uint32_t n_literals; /* plain characters since the last callout */

    uint32_t n_open, n_names;
    struct pl_regex_open open[PL_REGEX_MAX_DEPTH];
    struct pl_regex_name names[PL_REGEX_MAX_NAMES];
};

/* Appends the translated pattern to `to`, which may be NULL to only check the grammar. If
 * `is_metered`, adds callouts wherever there is work to count. PL_SYNTAX: not ECMA-262. PL_LIMIT:
 * too large, or more than the engine can do. *ret_has_backrefs may be NULL. Allocates only through
 * `to`. */
enum pl_status pl_regex_translate(struct pl_str pattern, bool is_metered, struct pl_buf *to,
                                  bool *ret_has_backrefs, struct pl_error *err);

/* The offset in the pattern that was translated to the byte at `offset`. */
size_t pl_regex_source_offset(struct pl_str pattern, bool is_metered, size_t offset);

/* As pl_regex_compile; without JIT when `wants_jit` is false. */
enum pl_status pl_regex_compile_with(struct pl_str pattern, bool wants_jit,
                                     struct pl_regex **ret_regex, struct pl_error *err);

/* As pl_regex_search, with the meter on from the start. */
enum pl_status pl_regex_search_metered(const struct pl_regex *regex,
                                       struct pl_regex_scratch *scratch, struct pl_str text);

/* Parts of the translator. Each reads at scan->at and moves it. */
enum pl_status pl_regex_escape(struct pl_regex_scan *scan); /* outside a class, at the backslash */
enum pl_status pl_regex_class(struct pl_regex_scan *scan);  /* at the opening bracket */
enum pl_status pl_regex_property(struct pl_regex_scan *scan); /* at the p or P of \p{…} */

/* The code point after `\u` (a surrogate pair is one); -1 if invalid. */
int32_t pl_regex_unicode_escape(struct pl_str pattern, size_t *at);

/* The number of the group whose name is at *at; moves past its `>`. 0: no such group; -1: not a
 * name. */
int32_t pl_regex_find_name(const struct pl_regex_scan *scan, size_t *at);

void pl_regex_emit(struct pl_regex_scan *scan, struct pl_str text);
void pl_regex_emit_char(struct pl_regex_scan *scan, uint32_t code_point);

/* Reports `message` at byte `at` of the pattern and returns `status`. */
enum pl_status pl_regex_refuse(struct pl_regex_scan *scan, enum pl_status status, size_t at,
                               const char *message);

static inline int pl_regex_peek(const struct pl_regex_scan *scan, size_t ahead)
{
    size_t left = scan->pattern.len - scan->at;
    return ahead < left ? (unsigned char)scan->pattern.ptr[scan->at + ahead] : -1;
}

#endif
