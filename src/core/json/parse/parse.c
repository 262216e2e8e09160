/* Stage two of parsing: from tokens to the tree (stage one is index.h).
 *
 * One loop over the tokens with an explicit stack of open containers, so depth costs no C stack. A
 * string is two tokens, its quotes; only its escapes are read. Duplicate keys: each open object has
 * a 64-bit filter over the hashes of its keys; if the bit of a key is already set, the key is
 * compared with the ones before it. An object with more than FEW_KEYS is checked once, when it
 * closes, with a keyed hash table, so no input makes it quadratic. */
#include "json/json.h"

#include "base/ascii.h"
#include "base/map.h"
#include "base/mem.h"
#include "json/parse/index.h"
#include "json/key_hash.h"
#include "json/parse/parse_error.h"
#include "json/text.h"

enum {
    DEFAULT_DEPTH = 64,
    DEFAULT_NODES = 2000000,
    DEFAULT_NUMBER = 128,
    MOST_NODES = (1 << 24) - 1, /* a count has 24 bits */
    FEW_KEYS = 24,
    KEY = PL_JSON_STRING | PL_JSON_KEY,
};

/* An open container. */
struct level {
    uint32_t node;  /* its index */
    uint32_t count; /* children finished so far */
    uint64_t seen;  /* filter over the hashes of an object's keys */
    bool is_object;
};

struct parser {
    struct pl_arena *arena;
    struct pl_json_opts opts;
    struct pl_str text;
    struct pl_error *err;
    struct pl_json_node *nodes; /* arena */
    uint32_t n_nodes, cap;      /* always has room for a node per token of the chunk */
    struct level *levels;       /* levels[1 … depth] are open; levels[0] holds the root */
    struct level *deepest;      /* levels + opts.max_depth */
    uint32_t depth;
    uint32_t pair_at; /* offset of a low surrogate that was read with its high one */
    const uint16_t *token, *token_end; /* relative to the chunk */
    uint32_t chunk;                    /* its offset */
    uint32_t taken_end, taken_tag;     /* results of take_string() and similar functions */
    struct pl_json_index *index;
};

#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum pl_status tried = (call);                                                             \
        if (__builtin_expect(tried != PL_OK, 0))                                                   \
            return tried;                                                                          \
    } while (0)

const struct pl_json_opts pl_json_own = {.max_depth = 2 * DEFAULT_DEPTH, .max_nodes = MOST_NODES};
const struct pl_json_opts pl_json_any = {.allows_duplicate_keys = true,
                                         .allows_lone_surrogates = true};
const struct pl_json_opts pl_json_made = {
    .allows_duplicate_keys = true, .allows_lone_surrogates = true, .max_nodes = MOST_NODES};

static struct pl_json_opts with_defaults(const struct pl_json_opts *given)
{
    struct pl_json_opts opts = given ? *given : (struct pl_json_opts){0};
    if (!opts.max_depth)
        opts.max_depth = DEFAULT_DEPTH;
    if (!opts.max_nodes)
        opts.max_nodes = DEFAULT_NODES;
    if (opts.max_nodes > MOST_NODES)
        opts.max_nodes = MOST_NODES;
    if (!opts.max_number)
        opts.max_number = DEFAULT_NUMBER;
    if (!opts.has_cpu)
        opts.cpu = pl_cpu_best();
    return opts;
}

/* The pointer of the current place: keys and indexes of the open containers. Between two children
 * it is that of the container; `last`, if given, is the key of the last step. */
static void point_at(const struct parser *p, struct pl_json_path *path, bool is_between,
                     const struct pl_json_node *last)
{
    struct pl_json_doc doc = {.text = p->text};
    uint32_t n_steps = p->depth && (is_between || last) ? p->depth - 1 : p->depth;
    for (uint32_t d = 1; d <= n_steps; d++) {
        const struct level *level = &p->levels[d];
        if (!level->is_object) {
            pl_json_path_add_index(path, level->count);
            continue;
        }
        /* The key of the open value comes after the finished members. */
        const struct pl_json_node *key = &p->nodes[level->node + 1];
        for (uint32_t n = 0; n < level->count; n++)
            key = pl_json_next_member(key);
        if (key < p->nodes + p->n_nodes)
            pl_json_path_add_key(path, &doc, key);
    }
    if (last)
        pl_json_path_add_key(path, &doc, last);
}

/* Adds the position to an error that has a message. */
static enum pl_status locate(struct parser *p, size_t off, enum pl_status status, bool is_between,
                             const struct pl_json_node *last)
{
    if (!p->err)
        return status;
    pl_error_locate(p->err, p->text, off);
    struct pl_json_path path = pl_json_path(p->err->pointer, sizeof p->err->pointer);
    point_at(p, &path, is_between, last);
    return status;
}

#define FAIL(p, off, status, ...)                                                                  \
    locate(p, off, pl_fail((p)->err, status, __VA_ARGS__), false, NULL)

static enum pl_status fail_unexpected(struct parser *p, size_t off, enum pl_json_expect expect)
{
    enum pl_status status = pl_json_fail_unexpected(p->err, p->text, off, expect);
    return locate(p, off, status, pl_json_expect_is_between(expect), NULL);
}

/* Stage one found a byte that is never valid, or the text has ended. */
static enum pl_status fail_end(struct parser *p, enum pl_json_expect expect)
{
    size_t at = p->index->bad_at;
    switch (p->index->bad) {
    case PL_JSON_BAD_UTF8:
        return FAIL(p, at, PL_SYNTAX, "invalid UTF-8: unexpected byte 0x%02X",
                    (unsigned char)p->text.ptr[at]);
    case PL_JSON_BAD_CONTROL:
        return FAIL(p, at, PL_SYNTAX, "control character 0x%02X in a string; write it as \\u%04x",
                    (unsigned char)p->text.ptr[at], (unsigned char)p->text.ptr[at]);
    default:
        return fail_unexpected(p, p->text.len, expect);
    }
}

/* Room for a node per token of the chunk, so that the loop need not check. */
static enum pl_status reserve_nodes(struct parser *p, uint32_t n_tokens)
{
    size_t off = p->n_nodes ? p->nodes[p->n_nodes - 1].off : 0;
    if (p->n_nodes > p->opts.max_nodes)
        return FAIL(p, off, PL_LIMIT, "more than %u values; split the document", p->opts.max_nodes);
    if (p->cap - p->n_nodes >= n_tokens)
        return PL_OK;
    uint32_t cap = p->cap * 2 > p->n_nodes + n_tokens ? p->cap * 2 : p->n_nodes + n_tokens;
    struct pl_json_node *nodes =
        pl_arena_grow(p->arena, p->nodes, p->cap * sizeof *nodes, cap * sizeof *nodes);
    if (!nodes)
        return FAIL(p, off, PL_NOMEM, "out of memory at %u values", p->n_nodes);
    p->nodes = nodes;
    p->cap = cap;
    return PL_OK;
}

/* Gets the tokens of the next chunk that has any; none at the end of the text. */
static enum pl_status refill(struct parser *p)
{
    while (p->token == p->token_end && pl_json_index_more(p->index)) {
        p->chunk = (uint32_t)p->index->chunk_at;
        p->token = p->index->tokens;
        p->token_end = p->token + p->index->n_tokens;
    }
    return reserve_nodes(p, (uint32_t)(p->token_end - p->token));
}

static enum pl_status refill_or_fail(struct parser *p, enum pl_json_expect expect)
{
    enum pl_status status = refill(p);
    return status == PL_OK && p->token == p->token_end ? fail_end(p, expect) : status;
}

/* Flags that an escape sets on its string, by its letter; 0 for an unknown escape. */
static const uint8_t escape_flags[256] = {
    ['"'] = PL_JSON_ESCAPED, ['\\'] = PL_JSON_ESCAPED, ['/'] = PL_JSON_ESCAPED | PL_JSON_ODD,
    ['b'] = PL_JSON_ESCAPED, ['f'] = PL_JSON_ESCAPED,  ['n'] = PL_JSON_ESCAPED,
    ['r'] = PL_JSON_ESCAPED, ['t'] = PL_JSON_ESCAPED,
};

/* Value of the \uXXXX at `off`; -1 if it is malformed. */
static int32_t unicode_escape(struct pl_str text, size_t off)
{
    if (text.len - off < 6 || text.ptr[off] != '\\' || text.ptr[off + 1] != 'u')
        return -1;
    int32_t value = 0;
    for (int i = 2; i < 6; i++) {
        int digit = pl_ascii_hex(text.ptr[off + i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static enum pl_status check_unicode_escape(struct parser *p, uint32_t off)
{
    int32_t unit = unicode_escape(p->text, off);
    if (unit < 0)
        return FAIL(p, off, PL_SYNTAX, "\\u must be followed by four hexadecimal digits");
    if (unit == 0 && p->opts.refuses_nul)
        return FAIL(p, off, PL_SYNTAX, "\\u0000 is not accepted here");
    if ((unit & 0xF800) != 0xD800)
        return PL_OK;
    bool is_high = unit < 0xDC00;
    if (is_high && (unicode_escape(p->text, off + 6) & 0xFC00) == 0xDC00) {
        p->pair_at = off + 6;
        return PL_OK;
    }
    if (p->opts.allows_lone_surrogates)
        return PL_OK;
    return FAIL(p, off, PL_SYNTAX, "\\u%04x is half of a surrogate pair; the %s half is missing",
                (unsigned)unit, is_high ? "second" : "first");
}

/* Checks an escape that is \u or unknown. */
static enum pl_status check_escape(struct parser *p, uint32_t off)
{
    if (off == p->pair_at)
        return PL_OK;
    if (off + 1 < p->text.len && p->text.ptr[off + 1] == 'u')
        return check_unicode_escape(p, off);
    return FAIL(p, off, PL_SYNTAX,
                "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
}

/* Skips the usual escapes of a string; stops at the first token that needs a check: its closing
 * quote, another escape, or the end of the chunk. */
static uint32_t take_usual_escapes(struct parser *p)
{
    const char *base = p->text.ptr + p->chunk, *last = p->text.ptr + p->text.len - 1;
    const uint16_t *token = p->token, *end = p->token_end;
    uint32_t flags = 0;
    for (; token < end && base[*token] == '\\' && base + *token < last; token++) {
        uint32_t own = escape_flags[(unsigned char)base[*token + 1]];
        if (!own)
            break;
        flags |= own;
    }
    p->token = token;
    return flags;
}

/* A string with escapes, or one that ends in a later chunk; its opening quote was just taken. */
static enum pl_status take_long_string(struct parser *p, uint32_t start)
{
    for (uint32_t flags = 0;;) {
        flags |= take_usual_escapes(p);
        if (p->token == p->token_end) {
            enum pl_status status = refill(p);
            if (status != PL_OK)
                return status;
            if (p->token == p->token_end)
                return p->index->bad ? fail_end(p, PL_JSON_EXPECT_NOTHING)
                                     : FAIL(p, start, PL_SYNTAX,
                                            "this string is not closed; add the missing quote");
            continue;
        }
        uint32_t off = p->chunk + *p->token++;
        if (p->text.ptr[off] == '"') {
            p->taken_end = off + 1;
            p->taken_tag = PL_JSON_STRING | flags;
            return PL_OK;
        }
        enum pl_status status = check_escape(p, off);
        if (status != PL_OK)
            return status;
        flags |= PL_JSON_ESCAPED | PL_JSON_ODD;
    }
}

/* Bytes that may follow a number or literal. */
static const uint8_t ends_scalar[256] = {
    [' '] = 1, ['\t'] = 1, ['\n'] = 1, ['\r'] = 1, [','] = 1, [']'] = 1,
    ['}'] = 1, [':'] = 1,  ['['] = 1,  ['{'] = 1,  ['"'] = 1,
};

static inline const char *skip_digits(const char *p, const char *end)
{
    while (p < end && (unsigned)(*p - '0') < 10)
        p++;
    return p;
}

/* The end of the longest prefix that is a number; NULL if none. */
static const char *scan_number(const char *p, const char *end, bool *ret_is_integer)
{
    bool is_integer = true;
    if (p < end && *p == '-')
        p++;
    const char *digits = p;
    p = skip_digits(p, end);
    if (p == digits || (*digits == '0' && p - digits > 1))
        return NULL;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end);
        if (p == fraction)
            return NULL;
        is_integer = false;
    }
    if (p < end && (*p | 0x20) == 'e') {
        const char *exponent = p + 1;
        if (exponent < end && (*exponent == '+' || *exponent == '-'))
            exponent++;
        p = skip_digits(exponent, end);
        if (p == exponent)
            return NULL;
        is_integer = false;
    }
    *ret_is_integer = is_integer;
    return p;
}

static enum pl_status take_number(struct parser *p, uint32_t off)
{
    const char *start = p->text.ptr + off, *end = p->text.ptr + p->text.len;
    /* One byte above the limit proves that the number is too long. */
    const char *stop =
        (size_t)(end - start) > p->opts.max_number ? start + p->opts.max_number + 1 : end;
    bool is_integer;
    const char *after = scan_number(start, stop, &is_integer);
    if (after && (size_t)(after - start) > p->opts.max_number)
        return FAIL(p, off, PL_LIMIT, "a number has more than %u characters", p->opts.max_number);
    if (!after || (after < end && !ends_scalar[(unsigned char)*after]))
        return fail_unexpected(p, off, PL_JSON_EXPECT_NUMBER);
    p->taken_end = off + (uint32_t)(after - start);
    p->taken_tag = PL_JSON_NUMBER | (is_integer ? PL_JSON_INTEGER : 0);
    return PL_OK;
}

static enum pl_status take_literal(struct parser *p, uint32_t off)
{
    static const struct {
        const char *word;
        uint32_t len, kind;
    } literals[] = {
        {"null", 4, PL_JSON_NULL}, {"true", 4, PL_JSON_TRUE}, {"false", 5, PL_JSON_FALSE}};
    const char *at = p->text.ptr + off;
    size_t left = p->text.len - off;
    int i = *at == 'n' ? 0 : *at == 't' ? 1 : 2;
    uint32_t len = literals[i].len;
    if (left < len || memcmp(at, literals[i].word, len) != 0 ||
        (left > len && !ends_scalar[(unsigned char)at[len]]))
        return fail_unexpected(p, off, PL_JSON_EXPECT_VALUE);
    p->taken_end = off + len;
    p->taken_tag = literals[i].kind;
    return PL_OK;
}

/* The hash of pl_json_key_hash() for the decoded key, without decoding it into memory. */
static uint32_t hash_escaped_key(struct pl_str text, const struct pl_json_node *key)
{
    struct pl_json_doc doc = {.text = text};
    struct pl_json_walk walk = pl_json_walk(&doc, key);
    uint64_t last = 0;
    size_t len = 0;
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0; len++)
        last = last >> 8 | (uint64_t)byte << 56;
    if (len && len < 8)
        last >>= 8 * (8 - len);
    return pl_json_key_hash_fold(last, len);
}

static enum pl_status fail_duplicate(struct parser *p, const struct pl_json_node *key)
{
    enum pl_status status = pl_fail(p->err, PL_SYNTAX, "duplicate key %.*s in this object",
                                    key->len < 80 ? (int)key->len : 80, p->text.ptr + key->off);
    return locate(p, key->off, status, false, key);
}

/* Whether one of the few keys before `now` has the same text. */
static bool is_duplicate(const struct parser *p, const struct pl_json_node *first_key,
                         const struct pl_json_node *now)
{
    struct pl_json_doc doc = {.text = p->text};
    for (const struct pl_json_node *k = first_key; k < now; k = pl_json_next_member(k))
        if (pl_json_key_hash_of(k) == pl_json_key_hash_of(now) &&
            pl_json_text_same(&doc, k, &doc, now))
            return true;
    return false;
}

static enum pl_status check_many_keys(struct parser *p, uint32_t object)
{
    struct pl_json_doc doc = {.text = p->text};
    struct pl_map seen = {0};
    PL_CLEANUP_ARENA struct pl_arena decoded;
    pl_arena_init(&decoded, 0);
    enum pl_status status = PL_OK;
    const struct pl_json_node *end = p->nodes + p->n_nodes;
    for (const struct pl_json_node *k = &p->nodes[object + 1]; k < end && status == PL_OK;
         k = pl_json_next_member(k)) {
        struct pl_str name;
        bool is_new = true;
        status = pl_json_text(&decoded, &doc, k, &name);
        if (status == PL_OK && !pl_map_put(&seen, name, &is_new))
            status = PL_NOMEM;
        if (status == PL_NOMEM)
            status = FAIL(p, k->off, PL_NOMEM, "out of memory while checking for duplicate keys");
        else if (!is_new)
            status = fail_duplicate(p, k);
    }
    pl_map_deinit(&seen);
    return status;
}

/* The tag of the key with this span, hash included. */
static uint32_t tag_of_key(const struct parser *p, uint32_t off, uint32_t end, uint32_t tag)
{
    struct pl_json_node key = {.off = off, .len = end - off, .tag = PL_JSON_STRING};
    uint32_t hash = tag & PL_JSON_ESCAPED
                        ? hash_escaped_key(p->text, &key)
                        : pl_json_key_hash_bytes(p->text.ptr + off + 1, key.len - 2);
    return tag | PL_JSON_KEY | hash << 8;
}

/* Reads any key and its colon, even if chunks cut them, and adds the key's node. The loop handles
 * the common case itself. */
static enum pl_status take_key(struct parser *p)
{
    TRY(refill_or_fail(p, PL_JSON_EXPECT_KEY));
    uint32_t off = p->chunk + *p->token;
    if (p->text.ptr[off] != '"')
        return fail_unexpected(p, off, PL_JSON_EXPECT_KEY);
    p->token++;
    TRY(take_long_string(p, off));
    p->nodes[p->n_nodes++] = (struct pl_json_node){off, p->taken_end - off, 1,
                                                   tag_of_key(p, off, p->taken_end, p->taken_tag)};
    TRY(refill_or_fail(p, PL_JSON_EXPECT_COLON));
    uint32_t colon = p->chunk + *p->token;
    if (p->text.ptr[colon] != ':')
        return fail_unexpected(p, colon, PL_JSON_EXPECT_COLON);
    p->token++;
    return PL_OK;
}

/* The loop keeps its cursors in locals whose address is never taken, so that they stay in
 * registers. The slow paths write them back first and read them again afterwards. */
#define SAVE()                                                                                     \
    (p->token = token, p->n_nodes = (uint32_t)(node - p->nodes), level->count = count,             \
     p->depth = (uint32_t)(level - p->levels))
#define LOAD()                                                                                     \
    (token = p->token, token_end = p->token_end, chunk = p->chunk, base = p->text.ptr + chunk,     \
     node = p->nodes + p->n_nodes)
#define SLOW(call)                                                                                 \
    do {                                                                                           \
        SAVE();                                                                                    \
        TRY(call);                                                                                 \
        LOAD();                                                                                    \
    } while (0)
#define FAIL_WITH(call)                                                                            \
    do {                                                                                           \
        SAVE();                                                                                    \
        return (call);                                                                             \
    } while (0)

/* Takes the next token: its offset into `at`, its byte into `c`. */
#define NEXT_TOKEN(expect)                                                                         \
    do {                                                                                           \
        if (__builtin_expect(token == token_end, 0))                                               \
            SLOW(refill_or_fail(p, expect));                                                       \
        at = *token++;                                                                             \
        c = base[at];                                                                              \
    } while (0)

/* The whole grammar. The labels are its states: value expected, key expected, value ended. A string
 * without escapes has two tokens, its quotes. */
static enum pl_status parse_tokens(struct parser *p)
{
    const char *base; /* first byte of the chunk */
    const char *last_word = p->text.ptr + (p->text.len < 8 ? 0 : p->text.len - 8);
    struct level *level = p->levels;
    const uint16_t *token, *token_end;
    struct pl_json_node *node;
    uint32_t chunk, at, count = 0;
    uint64_t seen = 0;
    char c;

    TRY(refill_or_fail(p, PL_JSON_EXPECT_VALUE));
    LOAD();
    NEXT_TOKEN(PL_JSON_EXPECT_VALUE);
value:
    if (c == '"') {
        if (__builtin_expect(token != token_end && base[*token] == '"', 1)) {
            *node++ = (struct pl_json_node){chunk + at, *token++ - at + 1, 1, PL_JSON_STRING};
            goto value_done;
        }
        /* Only usual escapes: they have one token in all. */
        if (token_end - token >= 2 && base[token[1]] == '"' &&
            escape_flags[(unsigned char)base[token[0] + 1]] == PL_JSON_ESCAPED) {
            *node++ = (struct pl_json_node){chunk + at, token[1] - at + 1, 1,
                                            PL_JSON_STRING | PL_JSON_ESCAPED};
            token += 2;
            goto value_done;
        }
        at += chunk;
        SLOW(take_long_string(p, at));
        *node++ = (struct pl_json_node){at, p->taken_end - at, 1, p->taken_tag};
        goto value_done;
    }
    if (c == '{' || c == '[')
        goto open;
    at += chunk;
    switch (c) {
    case 't':
    case 'f':
    case 'n':
        SLOW(take_literal(p, at));
        break;
    case '-':
    case '0' ... '9':
        SLOW(take_number(p, at));
        break;
    default:
        FAIL_WITH(fail_unexpected(p, at, PL_JSON_EXPECT_VALUE));
    }
    *node++ = (struct pl_json_node){at, p->taken_end - at, 1, p->taken_tag};

value_done:
    count++;
    if (level->is_object) {
        NEXT_TOKEN(PL_JSON_EXPECT_MEMBER_END);
        if (__builtin_expect(c == ',', 1))
            goto key;
        if (c != '}')
            FAIL_WITH(fail_unexpected(p, chunk + at, PL_JSON_EXPECT_MEMBER_END));
    } else if (__builtin_expect(level == p->levels, 0)) {
        SAVE();
        return PL_OK;
    } else {
        NEXT_TOKEN(PL_JSON_EXPECT_ELEMENT_END);
        if (c == ',') {
            NEXT_TOKEN(PL_JSON_EXPECT_VALUE);
            goto value;
        }
        if (c != ']')
            FAIL_WITH(fail_unexpected(p, chunk + at, PL_JSON_EXPECT_ELEMENT_END));
    }

close : {
    struct pl_json_node *container = p->nodes + level->node;
    container->len = chunk + at + 1 - container->off;
    container->skip = (uint32_t)(node - container);
    container->tag |= count << 8;
    if (__builtin_expect(count > FEW_KEYS, 0) && level->is_object && !p->opts.allows_duplicate_keys)
        SLOW(check_many_keys(p, level->node));
    level--;
    count = level->count;
    seen = level->seen;
    goto value_done;
}

open:
    if (__builtin_expect(level == p->deepest, 0))
        FAIL_WITH(FAIL(p, chunk + at, PL_LIMIT, "nested deeper than %u levels", p->opts.max_depth));
    level->count = count;
    level->seen = seen;
    level++;
    count = 0;
    seen = 0;
    *level = (struct level){.node = (uint32_t)(node - p->nodes), .is_object = c == '{'};
    *node++ = (struct pl_json_node){chunk + at, 0, 0, c == '{' ? PL_JSON_OBJECT : PL_JSON_ARRAY};
    NEXT_TOKEN(level->is_object ? PL_JSON_EXPECT_KEY_OR_END : PL_JSON_EXPECT_VALUE_OR_END);
    if (!level->is_object) {
        if (c == ']')
            goto close;
        goto value;
    }
    if (c == '}')
        goto close;
    token--;

key:
    /* Quote, quote, colon, and the value's first token. */
    if (__builtin_expect(token_end - token >= 4 && base[token[0]] == '"' && base[token[1]] == '"' &&
                             base[token[2]] == ':' && base + token[0] < last_word,
                         1)) {
        uint32_t len = token[1] - token[0] - 1u;
        uint32_t hash = pl_json_key_hash_padded(base + token[0] + 1, len);
        *node++ = (struct pl_json_node){chunk + token[0], len + 2, 1, KEY | hash << 8};
        at = token[3];
        c = base[at];
        token += 4;
    } else {
        SLOW(take_key(p));
        NEXT_TOKEN(PL_JSON_EXPECT_VALUE);
    }
    if (p->opts.allows_duplicate_keys)
        goto value;
    uint32_t bit = pl_json_key_hash_of(node - 1) & 63;
    if (__builtin_expect(seen >> bit & 1, 0) && count < FEW_KEYS &&
        is_duplicate(p, p->nodes + level->node + 1, node - 1))
        FAIL_WITH(fail_duplicate(p, node - 1));
    seen |= 1ull << bit;
    goto value;
}

/* Nothing but white space may follow the value. */
static enum pl_status expect_end(struct parser *p)
{
    TRY(refill(p));
    if (p->token != p->token_end)
        return fail_unexpected(p, p->chunk + *p->token, PL_JSON_EXPECT_NOTHING);
    return p->index->bad ? fail_end(p, PL_JSON_EXPECT_NOTHING) : PL_OK;
}

static enum pl_status parse_with(struct parser *p, struct pl_json_doc *ret_doc)
{
    TRY(parse_tokens(p));
    TRY(expect_end(p));
    pl_arena_shrink(p->arena, p->nodes, p->cap * sizeof *p->nodes, p->n_nodes * sizeof *p->nodes);
    *ret_doc = (struct pl_json_doc){
        .text = p->text,
        .root = p->nodes,
        .n_nodes = p->n_nodes,
        .n_space = (uint32_t)p->index->masks.n_space,
    };
    return PL_OK;
}

enum pl_status pl_json_parse(struct pl_arena *arena, struct pl_str text,
                             const struct pl_json_opts *opts, struct pl_json_doc *ret_doc,
                             struct pl_error *err)
{
    if (text.len > PL_JSON_MAX_BYTES)
        return pl_fail(err, PL_LIMIT, "the JSON text has %zu bytes; the maximum is %u", text.len,
                       PL_JSON_MAX_BYTES);
    /* Large and overwritten before it is read: clearing it would cost more than a small parse. */
    __attribute__((uninitialized)) struct pl_json_index index;
    __attribute__((uninitialized)) struct level few_levels[DEFAULT_DEPTH + 1];
    /* Field by field, too: the compiler's code for an initializer is slow. */
    __attribute__((uninitialized)) struct parser p;
    p.arena = arena;
    p.opts = with_defaults(opts);
    p.text = text.ptr ? text : PL_STR("");
    p.err = err;
    p.nodes = NULL;
    p.n_nodes = p.cap = 0;
    p.levels = few_levels;
    p.depth = 0;
    p.pair_at = UINT32_MAX;
    p.token = p.token_end = NULL;
    p.chunk = 0;
    p.taken_end = p.taken_tag = 0;
    p.index = &index;
    few_levels[0] = (struct level){0};
    pl_json_index_init(&index, p.text, p.opts.cpu);
    struct level *many_levels = NULL;
    if (p.opts.max_depth > DEFAULT_DEPTH) {
        many_levels = pl_mem_alloc((size_t)p.opts.max_depth + 1, sizeof *many_levels);
        if (!many_levels)
            return FAIL(&p, 0, PL_NOMEM, "out of memory");
        many_levels[0] = (struct level){0};
        p.levels = many_levels;
    }
    p.deepest = p.levels + p.opts.max_depth;
    enum pl_status status = parse_with(&p, ret_doc);
    pl_mem_free(many_levels);
    return status;
}

const struct pl_json_node *pl_json_get_hashed(const struct pl_json_doc *doc,
                                              const struct pl_json_node *object, struct pl_str key,
                                              uint32_t hash)
{
    const struct pl_json_node *found = NULL, *end = pl_json_end(object);
    for (const struct pl_json_node *k = pl_json_first(object); k < end; k = pl_json_next_member(k))
        if (pl_json_key_hash_of(k) == hash && pl_json_key_is(doc, k, key))
            found = k + 1;
    return found;
}

const struct pl_json_node *pl_json_get(const struct pl_json_doc *doc,
                                       const struct pl_json_node *object, struct pl_str key)
{
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return NULL;
    return pl_json_get_hashed(doc, object, key, pl_json_key_hash_bytes(key.ptr, key.len));
}

const char *pl_json_kind_name(enum pl_json_kind kind)
{
    static const char *const names[] = {"null",   "boolean", "boolean", "number",
                                        "string", "array",   "object"};
    return names[kind];
}
