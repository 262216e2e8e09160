/* The grammar of JSON with an explicit stack, a byte at a time outside strings. It gives up where
 * the parser would have to check more closely: \u escapes, keys with escapes or equal hashes, long
 * numbers, depth. */
#include "json/parse/surely.h"

#include "base/ascii.h"
#include "json/key_hash.h"
#include "json/scan16.h"

enum { MAX_TEXT = 64 << 10, MAX_LEVELS = 16, MAX_KEYS = 64, MAX_NUMBER = 32 };

/* The keys of all open objects, those of the innermost last. */
struct keys {
    uint32_t hashes[MAX_KEYS];
    unsigned n;
};

/* An open container. */
struct level {
    uint64_t seen; /* filter over the hashes of its keys */
    unsigned first_key;
};

/* Bytes in a string that need a check. */
static inline bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

static inline const char *find_special(const char *p, const char *end)
{
    for (; end - p >= PL_SCAN16; p += PL_SCAN16) {
        uint32_t specials = pl_scan16_specials(p);
        if (specials)
            return p + __builtin_ctz(specials);
    }
    while (p < end && !is_special(*p))
        p++;
    return p;
}

static const bool is_escape[256] = {['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
                                    ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true};

/* Checks the sixteen bytes at *at and moves past them; one byte further if an escape begins with
 * the last one. True: stops at *at, the end of the string or a byte that needs a check. */
static inline bool pass_block(const char **at)
{
    const char *p = *at;
    uint32_t specials = pl_scan16_specials(p), k = 0;
    while (specials) {
        k = (uint32_t)__builtin_ctz(specials);
        if (p[k] != '\\' || !is_escape[(unsigned char)p[k + 1]]) {
            *at = p + k;
            return true;
        }
        specials &= ~(3u << k);
        k += 2;
    }
    *at = p + (k > PL_SCAN16 ? k : PL_SCAN16);
    return false;
}

/* p is after the opening quote: returns the byte after the closing one; NULL: not sure. */
static const char *string_end(const char *p, const char *end)
{
    bool is_found = false;
    while (!is_found && end - p > PL_SCAN16)
        is_found = pass_block(&p);
    while (!is_found && p < end) {
        is_found = is_special(*p) && !(*p == '\\' && end - p > 1 && is_escape[(unsigned char)p[1]]);
        p += is_found ? 0 : *p == '\\' ? 2 : 1;
    }
    return is_found && *p == '"' ? p + 1 : NULL;
}

static const char *digits_end(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && pl_ascii_is_digit(*p))
        p++;
    return p > from ? p : NULL;
}

static const char *number_end(const char *p, const char *end)
{
    const char *from = p;
    p += *p == '-';
    if (p < end && *p == '0')
        p++;
    else
        p = digits_end(p, end);
    if (p && end - p > 1 && *p == '.')
        p = digits_end(p + 1, end);
    if (p && end - p > 2 && (*p | 0x20) == 'e')
        p = digits_end(p + 1 + (p[1] == '-' || p[1] == '+'), end);
    return p && p - from <= MAX_NUMBER ? p : NULL;
}

static const char *literal_end(const char *p, const char *end)
{
    struct pl_str rest = {p, (size_t)(end - p)};
    if (pl_str_starts(rest, PL_STR("true")) || pl_str_starts(rest, PL_STR("null")))
        return p + 4;
    return pl_str_starts(rest, PL_STR("false")) ? p + 5 : NULL;
}

static const char *scalar_end(const char *p, const char *end)
{
    if (*p == '"')
        return string_end(p + 1, end);
    return *p == '-' || pl_ascii_is_digit(*p) ? number_end(p, end) : literal_end(p, end);
}

static inline const char *skip_white(const char *p, const char *end)
{
    while (p < end && pl_ascii_is_white(*p))
        p++;
    return p;
}

static uint32_t hash_of(const char *key, size_t len, const char *end)
{
    return end - key >= 8 ? pl_json_key_hash_padded(key, len) : pl_json_key_hash_bytes(key, len);
}

/* False: the object may have this key already, or too many keys. */
static bool add_key(struct keys *keys, struct level *level, uint32_t hash)
{
    uint64_t bit = 1ull << (hash & 63);
    if (keys->n == MAX_KEYS)
        return false;
    for (unsigned i = level->first_key; level->seen & bit && i < keys->n; i++)
        if (keys->hashes[i] == hash)
            return false;
    level->seen |= bit;
    keys->hashes[keys->n++] = hash;
    return true;
}

/* The start of the value of the member whose key begins at p; NULL: not sure. */
static const char *key_end(const char *p, const char *end, struct keys *keys, struct level *level)
{
    if (p == end || *p != '"')
        return NULL;
    const char *key = p + 1, *quote = find_special(key, end);
    if (quote == end || *quote != '"')
        return NULL;
    p = skip_white(quote + 1, end);
    if (p == end || *p != ':' || !add_key(keys, level, hash_of(key, (size_t)(quote - key), end)))
        return NULL;
    return skip_white(p + 1, end);
}

bool pl_json_is_surely_object(struct pl_str text)
{
    const char *p = text.ptr, *end = p + text.len;
    __attribute__((uninitialized)) struct keys keys;
    __attribute__((uninitialized)) struct level levels[MAX_LEVELS + 1];
    uint32_t objects = 0; /* a bit for each open container, the innermost lowest */
    unsigned depth = 0;
    keys.n = 0;
    if (!text.len || *p != '{' || text.len > MAX_TEXT)
        return false;
    for (;;) {
        /* A value begins at p. */
        bool is_object = *p == '{';
        if (is_object || *p == '[') {
            if (depth == MAX_LEVELS)
                return false;
            objects = objects << 1 | is_object;
            levels[++depth] = (struct level){.first_key = keys.n};
            p = skip_white(p + 1, end);
            if (p < end && *p != (is_object ? '}' : ']')) {
                p = is_object ? key_end(p, end, &keys, &levels[depth]) : p;
                if (!p || p == end)
                    return false;
                continue;
            }
        } else {
            p = scalar_end(p, end);
            p = p ? skip_white(p, end) : NULL;
        }
        /* A value has ended before p, or the innermost container is empty. */
        while (p && p < end && *p == (objects & 1 ? '}' : ']')) {
            objects >>= 1;
            keys.n = levels[depth].first_key;
            p = skip_white(p + 1, end);
            if (--depth == 0)
                return p == end;
        }
        if (!p || p == end || *p != ',')
            return false;
        p = skip_white(p + 1, end);
        if (objects & 1)
            p = key_end(p, end, &keys, &levels[depth]);
        if (!p || p == end)
            return false;
    }
}
