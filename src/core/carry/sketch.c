/* A word is a run of letters; word pairs tell more than words. */
#include "carry/sketch.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "carry/carry.h"
#include "json/text.h"

enum { N_WORDS = 24, MOST_BYTES = 64 << 10 };
struct pl_sketch {
    uint64_t hashes[N_WORDS]; /* sorted */
    uint32_t n;
};

static uint64_t mix(uint64_t hash, uint64_t more)
{
    return pl_hash_folded(hash ^ PL_HASH_ODD_0, more ^ PL_HASH_ODD_1);
}

static void add_word(struct pl_sketch *sketch, uint64_t hash)
{
    if (sketch->n == N_WORDS && hash >= sketch->hashes[N_WORDS - 1])
        return;
    uint32_t at = 0;
    while (at < sketch->n && sketch->hashes[at] < hash)
        at++;
    if (at < sketch->n && sketch->hashes[at] == hash)
        return;
    if (sketch->n < N_WORDS)
        sketch->n++;
    memmove(&sketch->hashes[at + 1], &sketch->hashes[at],
            (sketch->n - at - 1) * sizeof *sketch->hashes);
    sketch->hashes[at] = hash;
}

/* A word is a run of letters, or one character beyond ASCII: not every script has spaces. */
static size_t word_length(struct pl_str text, size_t at)
{
    size_t end = at;
    while (end < text.len && pl_ascii_is_alnum((unsigned char)text.ptr[end]))
        end++;
    if (end > at)
        return end - at;
    end++;
    while (end < text.len && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end++;
    return end - at;
}

static void add_words(struct pl_sketch *sketch, struct pl_str text)
{
    uint64_t before = 0;
    for (size_t at = 0; at < text.len;) {
        unsigned char c = (unsigned char)text.ptr[at];
        if (!pl_ascii_is_alnum(c) && c < 0x80) {
            at++;
            continue;
        }
        size_t n = word_length(text, at);
        uint64_t own = pl_hash_quick((struct pl_str){text.ptr + at, n});
        add_word(sketch, mix(1, own));
        if (before)
            add_word(sketch, mix(before, own));
        before = own;
        at += n;
    }
}

/* Whether a string says something: it is no word of the grammar, no id, and not a text that is
 * missing, of which nothing is known. */
static bool has_words(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    static const char *const others[] = {"role",    "type",    "kind",         "status",
                                         "id",      "turn_id", "loop_id",      "call_id",
                                         "channel", "end",     "tool_call_id", "tool_use_id"};
    const struct pl_json_node *key = string > doc->root ? string - 1 : NULL;
    for (size_t i = 0; key && key->tag & PL_JSON_KEY && i < sizeof others / sizeof *others; i++)
        if (pl_json_text_is(doc, key, pl_str_of(others[i])))
            return false;
    return pl_str_find(pl_json_raw(doc, string), pl_carry_missing()) == SIZE_MAX;
}

const struct pl_sketch *pl_sketch_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                                     const struct pl_json_node *n)
{
    struct pl_sketch *sketch = pl_arena_zalloc(arena, 1, sizeof *sketch);
    size_t left = MOST_BYTES;
    for (const struct pl_json_node *k = n; sketch && k < pl_json_next(n); k++) {
        struct pl_str text;
        if (pl_json_kind(k) != PL_JSON_STRING || k->tag & PL_JSON_KEY || !has_words(doc, k))
            continue;
        if (pl_json_text(arena, doc, k, &text) != PL_OK)
            return NULL;
        add_words(sketch, pl_str_slice(text, 0, left));
        left -= text.len < left ? text.len : left;
    }
    return sketch;
}

uint32_t pl_sketch_common(const struct pl_sketch *a, const struct pl_sketch *b, uint32_t whole)
{
    uint32_t i = 0, j = 0, n_seen = 0, n_common = 0;
    while (n_seen < N_WORDS && (i < a->n || j < b->n)) {
        bool is_common = i < a->n && j < b->n && a->hashes[i] == b->hashes[j];
        bool is_first = j >= b->n || (i < a->n && a->hashes[i] < b->hashes[j]);
        n_common += is_common;
        i += is_common || is_first;
        j += is_common || !is_first;
        n_seen++;
    }
    return n_seen ? n_common * whole / n_seen : 0;
}
