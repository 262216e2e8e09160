/* A name that a vendor refuses is cut, its other characters become _, and a hash of the given name
 * is appended. */
#include "format/pieces/tool_name.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A letter, a digit, _ or -. */
static const unsigned char is_plain[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['_'] = 1, ['-'] = 1,
};

#ifdef __SSE2__
/* All ones for bytes from first to last. Bytes beyond ASCII are negative, so they are below
 * both. */
static inline __m128i between(__m128i bytes, char first, char last)
{
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8((char)(last + 1))));
}

static inline bool are_plain(const char *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    __m128i letters = between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
    __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    __m128i plain = _mm_or_si128(_mm_or_si128(letters, marks), between(bytes, '0', '9'));
    return _mm_movemask_epi8(plain) == 0xFFFF;
}
#else
static inline bool are_plain(const char *p)
{
    unsigned char is_all_plain = 1;
    for (size_t i = 0; i < 16; i++)
        is_all_plain &= is_plain[(unsigned char)p[i]];
    return is_all_plain;
}
#endif

/* Ids are long: checks sixteen letters at a time; the last block may overlap. Nearly every name is
 * plain, so there is no branch for each letter. */
bool pl_tool_name_is_accepted(struct pl_str name, size_t max_len)
{
    if (!name.len || name.len > max_len)
        return false;
    if (name.len >= 16) {
        for (size_t at = 0; at + 16 < name.len; at += 16)
            if (!are_plain(name.ptr + at))
                return false;
        return are_plain(name.ptr + name.len - 16);
    }
    unsigned char is_all_plain = 1;
    for (size_t i = 0; i < name.len; i++)
        is_all_plain &= is_plain[(unsigned char)name.ptr[i]];
    return is_all_plain;
}

/* FNV-1a, 32 bits: enough to keep the few tools of one request apart. */
static uint32_t number_of(struct pl_str name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash;
}

#define NUMBER_LEN 9 /* "_%08x" */

struct pl_str pl_tool_name_made(struct pl_conv *conv, struct pl_str given, size_t max_len)
{
    size_t n = given.len < max_len - NUMBER_LEN ? given.len : max_len - NUMBER_LEN;
    struct pl_str made =
        pl_conv_printf(conv, "%.*s_%08x", (int)n, n ? given.ptr : "", (unsigned)number_of(given));
    char *text = made.len ? pl_arena_alloc(conv->arena, made.len, 1) : NULL;
    if (!text) {
        conv->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    for (size_t i = 0; i < made.len; i++)
        text[i] = is_plain[(unsigned char)made.ptr[i]] ? made.ptr[i] : '_';
    return (struct pl_str){text, made.len};
}

struct pl_str pl_tool_name_of(struct pl_conv *conv, struct pl_str given, size_t max_len)
{
    return pl_tool_name_is_accepted(given, max_len) ? given
                                                    : pl_tool_name_made(conv, given, max_len);
}

struct pl_str pl_tool_name(struct pl_conv *conv, struct pl_val name, size_t max_len)
{
    return pl_tool_name_of(conv, pl_conv_text(conv, name), max_len);
}

void pl_tool_name_write(struct pl_writer *w, struct pl_val name, size_t max_len)
{
    struct pl_str given = pl_conv_text(w->conv, name);
    if (pl_tool_name_is_accepted(given, max_len)) {
        pl_w_string(w, name);
        return;
    }
    struct pl_str made = pl_tool_name_of(w->conv, given, max_len);
    pl_w_string(w, pl_val_text(made));
    pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, name.node,
                 "the target accepts only 1 to %zu letters, digits, _ and - in the name of a tool; "
                 "it is %.*s here",
                 max_len, PL_STR_ARG(made));
}
