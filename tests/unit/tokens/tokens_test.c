/* Counting, encoding and decoding. conformance/tokens_test.c checks that all of it equals
 * tiktoken. */
#include "tokens/tokens.h"
#include "tokens/bpe_int.h"
#include "tokens/split_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct pl_tokens *vocabularies[PL_ENCODING_COUNT];

static int make_vocabularies(void **state)
{
    (void)state;
    for (int i = 0; i < PL_ENCODING_COUNT; i++)
        if (pl_tokens_create((enum pl_encoding)i, &vocabularies[i]) != PL_OK)
            return 1;
    return 0;
}

static int drop_vocabularies(void **state)
{
    (void)state;
    for (int i = 0; i < PL_ENCODING_COUNT; i++)
        pl_tokens_destroy(vocabularies[i]);
    return 0;
}

static size_t count(enum pl_encoding encoding, struct pl_str text)
{
    size_t n = SIZE_MAX;
    assert_int_equal(pl_tokens_count(vocabularies[encoding], text, PL_SPECIAL_AS_TEXT, &n), PL_OK);
    return n;
}

static void counts_are_those_the_vendor_gives(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n_o200k, n_cl100k;
    } cases[] = {
        {"", 0, 0},
        {"a", 1, 1},
        {"Hello, world! This is a test of the tokenizer.", 12, 12},
        {"def f(x):\n    return {\"a\": [1, 2, 3], \"b\": x ** 2}\n", 26, 26},
        {"don't DON'T we'll ñandú Straße ΑΒΓ", 10, 18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_str text = pl_str_of(cases[i].text);
        assert_int_equal(count(PL_ENCODING_O200K_BASE, text), cases[i].n_o200k);
        assert_int_equal(count(PL_ENCODING_CL100K_BASE, text), cases[i].n_cl100k);
    }
}

static void ids_are_appended_in_order(void **state)
{
    (void)state;
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    const struct pl_tokens *o200k = vocabularies[PL_ENCODING_O200K_BASE];
    const struct pl_tokens *cl100k = vocabularies[PL_ENCODING_CL100K_BASE];
    struct pl_str text = PL_STR("hello world");
    assert_int_equal(pl_tokens_encode(o200k, text, PL_SPECIAL_AS_TEXT, &ids), PL_OK);
    assert_int_equal(pl_tokens_encode(cl100k, text, PL_SPECIAL_AS_TEXT, &ids), PL_OK);
    static const uint32_t expected[] = {24912, 2375, 15339, 1917};
    assert_int_equal(ids.len, 4);
    assert_memory_equal(ids.ptr, expected, sizeof expected);
}

static void special_tokens_are_text_unless_asked_for(void **state)
{
    (void)state;
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    struct pl_tokens *cl100k = vocabularies[PL_ENCODING_CL100K_BASE];
    struct pl_str text = PL_STR("a <|endoftext|><|fim_prefix|>< |<|end|>");
    assert_int_equal(pl_tokens_encode(cl100k, text, PL_SPECIAL_AS_TEXT, &ids), PL_OK);
    for (size_t i = 0; i < ids.len; i++)
        assert_true(ids.ptr[i] < 100256);
    ids.len = 0;
    assert_int_equal(pl_tokens_encode(cl100k, text, PL_SPECIAL_AS_TOKEN, &ids), PL_OK);
    assert_int_equal(ids.ptr[0], 64);  /* a */
    assert_int_equal(ids.ptr[1], 220); /* the space: the special token ends the text before it */
    assert_int_equal(ids.ptr[2], 100257);
    assert_int_equal(ids.ptr[3], 100258);
    size_t n = 0;
    assert_int_equal(pl_tokens_count(cl100k, text, PL_SPECIAL_AS_TOKEN, &n), PL_OK);
    assert_int_equal(n, ids.len);
    PL_CLEANUP_BUF struct pl_buf back;
    pl_buf_init(&back, 0);
    assert_int_equal(pl_tokens_decode(cl100k, ids.ptr, ids.len, &back), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&back), text));
}

static void bytes_that_are_not_utf8_survive(void **state)
{
    (void)state;
    char text[600];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7 + i / 256);
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
        PL_CLEANUP_BUF struct pl_buf back;
        pl_buf_init(&back, 0);
        struct pl_str all = {text, sizeof text};
        assert_int_equal(pl_tokens_encode(vocabularies[i], all, PL_SPECIAL_AS_TEXT, &ids), PL_OK);
        assert_int_equal(pl_tokens_decode(vocabularies[i], ids.ptr, ids.len, &back), PL_OK);
        assert_true(pl_str_eq(pl_buf_str(&back), all));
    }
}

static void an_id_that_is_no_token_is_refused_and_nothing_is_appended(void **state)
{
    (void)state;
    static const uint32_t bad[][2] = {{64, 100256}, {64, 100259 + 2}, {64, UINT32_MAX}};
    PL_CLEANUP_BUF struct pl_buf back;
    pl_buf_init(&back, 0);
    struct pl_tokens *cl100k = vocabularies[PL_ENCODING_CL100K_BASE];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pl_tokens_decode(cl100k, bad[i], 2, &back), PL_INVALID);
        assert_int_equal(back.len, 0);
    }
    assert_int_equal(pl_tokens_decode(cl100k, NULL, 0, &back), PL_OK);
}

static void every_token_is_its_own_encoding(void **state)
{
    (void)state;
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        const struct pl_tokens *v = vocabularies[i];
        PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
        for (uint32_t id = 0; id < v->source->n_tokens; id++) {
            struct token_sink sink = {.ids = &ids};
            const char *p = vocab_text(v, id);
            size_t n = vocab_len(v, id);
            ids.len = 0;
            assert_int_equal(pl_bpe_encode(v, p, n, n, &sink), PL_OK);
            assert_int_equal(ids.len, 1);
            assert_int_equal(ids.ptr[0], id);
        }
    }
}

/* The definition: repeatedly merges the two neighbours that form the token of the lowest rank, the
 * leftmost first. */
static size_t merge_by_rank(const struct pl_tokens *v, const char *p, size_t n, uint32_t *ids)
{
    size_t ends[256], n_parts = n;
    assert_true(n <= 256);
    for (size_t i = 0; i < n; i++)
        ends[i] = i + 1;
    for (;;) {
        uint32_t best = VOCAB_NONE;
        size_t best_at = 0;
        for (size_t i = 0; i + 1 < n_parts; i++) {
            size_t from = i ? ends[i - 1] : 0;
            uint32_t id = vocab_find(v, p + from, ends[i + 1] - from, n - from);
            if (id < best) {
                best = id;
                best_at = i;
            }
        }
        if (best == VOCAB_NONE)
            break;
        memmove(ends + best_at, ends + best_at + 1, (--n_parts - best_at) * sizeof *ends);
    }
    for (size_t i = 0; i < n_parts; i++) {
        size_t from = i ? ends[i - 1] : 0;
        ids[i] = vocab_find(v, p + from, ends[i] - from, n - from);
    }
    return n_parts;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Truncated tokens in a row: with borders that merging would not keep. */
static size_t make_soup(const struct pl_tokens *v, uint32_t *seed, char *to, size_t max)
{
    size_t n = 0, n_wanted = 2 + next_random(seed) % (max - 2);
    while (n < n_wanted) {
        uint32_t id = next_random(seed) % (next_random(seed) % 2 ? 2000 : v->source->n_tokens);
        size_t n_token = 1 + next_random(seed) % vocab_len(v, id);
        if (n_token > n_wanted - n)
            n_token = n_wanted - n;
        memcpy(to + n, vocab_text(v, id), n_token);
        n += n_token;
    }
    return n;
}

typedef size_t soup_fn(const struct pl_tokens *v, uint32_t *seed, char *to, size_t max);

static void expect_what_merging_ends_in(soup_fn *make, int n_rounds)
{
    enum { MAX = 60 };
    uint32_t seed = 7, expected[MAX];
    char text[MAX];
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
        for (int round = 0; round < n_rounds; round++) {
            size_t n = make(vocabularies[i], &seed, text, MAX);
            struct token_sink sink = {.ids = &ids};
            ids.len = 0;
            assert_int_equal(pl_bpe_encode(vocabularies[i], text, n, n, &sink), PL_OK);
            assert_int_equal(merge_by_rank(vocabularies[i], text, n, expected), ids.len);
            assert_memory_equal(ids.ptr, expected, ids.len * sizeof *expected);
        }
    }
}

static void backtracking_finds_what_merging_by_rank_ends_in(void **state)
{
    (void)state;
    expect_what_merging_ends_in(make_soup, 20000);
}

/* Characters of three bytes, after one byte or none: any, and those at the start of tokens. */
static size_t make_wide_soup(const struct pl_tokens *v, uint32_t *seed, char *to, size_t max)
{
    size_t n = 0, n_wanted = 6 + next_random(seed) % (max - 12);
    if (next_random(seed) % 4 == 0)
        to[n++] = ' ';
    while (n < n_wanted) {
        uint32_t id = next_random(seed) % v->source->n_tokens, code = next_random(seed) % 0x5200;
        size_t n_token = vocab_len(v, id);
        if (next_random(seed) % 4 == 0) {
            code += 0x4E00;
            to[n++] = (char)(0xE0 | code >> 12);
            to[n++] = (char)(0x80 | (code >> 6 & 0x3F));
            to[n++] = (char)(0x80 | (code & 0x3F));
        } else if (n_token >= 3 && n_token <= max - n && vocab_is_char(vocab_text(v, id))) {
            memcpy(to + n, vocab_text(v, id), n_token);
            n += n_token;
        }
    }
    return n;
}

static void characters_of_three_bytes_are_what_merging_by_rank_ends_in(void **state)
{
    (void)state;
    expect_what_merging_ends_in(make_wide_soup, 20000);
}

static void a_character_that_is_no_token_is_told_by_its_bytes(void **state)
{
    (void)state;
    static const uint32_t expected[] = {54462, 246, 1616, 64838, 109, 11372, 1995, 3348, 122, 246};
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    assert_int_equal(pl_tokens_encode(vocabularies[PL_ENCODING_O200K_BASE],
                                      pl_str_of("龘的鬱中国人 龘"), PL_SPECIAL_AS_TEXT, &ids),
                     PL_OK);
    assert_int_equal(ids.len, sizeof expected / sizeof *expected);
    assert_memory_equal(ids.ptr, expected, sizeof expected);
}

/* A piece that was encoded before is not encoded again; the result must be the same. */
static void a_long_text_is_the_sum_of_its_pieces(void **state)
{
    (void)state;
    enum { N_BYTES = 60000, N_SOUP = 40 };
    char *text = malloc(N_BYTES + N_SOUP);
    assert_non_null(text);
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        const struct pl_tokens *v = vocabularies[i];
        PL_CLEANUP_TOKEN_IDS struct pl_token_ids expected = {0}, ids = {0};
        struct token_sink sink = {.ids = &expected};
        uint32_t seed = 0;
        size_t n = 0;
        while (n < N_BYTES) {
            seed = seed % 3000 * 7 + (uint32_t)n % 97; /* so that soups repeat */
            uint32_t at = seed;
            n += make_soup(v, &at, text + n, N_SOUP);
        }
        struct pl_str all = {text, n};
        for (size_t at = 0, end; at < n; at = end) {
            end = pl_split_fns[i](all, at);
            assert_int_equal(pl_bpe_encode(v, text + at, end - at, n - at, &sink), PL_OK);
        }
        assert_int_equal(pl_tokens_encode(v, all, PL_SPECIAL_AS_TEXT, &ids), PL_OK);
        assert_int_equal(ids.len, expected.len);
        assert_memory_equal(ids.ptr, expected.ptr, ids.len * sizeof *ids.ptr);
        assert_int_equal(count((enum pl_encoding)i, all), ids.len);
    }
    free(text);
}

static void a_million_times_one_letter_is_counted(void **state)
{
    (void)state;
    size_t n = 1 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'a', n);
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        size_t n_thousand = count((enum pl_encoding)i, (struct pl_str){text, 1024});
        size_t n_million = count((enum pl_encoding)i, (struct pl_str){text, n});
        assert_int_equal(n_million, 1024 * n_thousand);
    }
    free(text);
}

static void nothing_is_read_behind_the_text(void **state)
{
    (void)state;
    static const char all[] = " internationalisation of \xe4\xb8\xad\xe5\x9b\xbd words";
    for (size_t n = 1; n < sizeof all; n++) {
        char *text = malloc(n); /* exact size: the sanitizer detects a step too far */
        assert_non_null(text);
        memcpy(text, all, n);
        assert_true(count(PL_ENCODING_O200K_BASE, (struct pl_str){text, n}) > 0);
        assert_true(count(PL_ENCODING_CL100K_BASE, (struct pl_str){text, n}) > 0);
        free(text);
    }
}

static void encodings_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        enum pl_encoding found = PL_ENCODING_COUNT;
        assert_true(pl_encoding_find(pl_str_of(pl_encoding_name((enum pl_encoding)i)), &found));
        assert_int_equal(found, i);
    }
    enum pl_encoding untouched = PL_ENCODING_COUNT;
    assert_false(pl_encoding_find(PL_STR("p50k_base"), &untouched));
    assert_int_equal(untouched, PL_ENCODING_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_the_vendor_gives),
        cmocka_unit_test(ids_are_appended_in_order),
        cmocka_unit_test(special_tokens_are_text_unless_asked_for),
        cmocka_unit_test(bytes_that_are_not_utf8_survive),
        cmocka_unit_test(an_id_that_is_no_token_is_refused_and_nothing_is_appended),
        cmocka_unit_test(every_token_is_its_own_encoding),
        cmocka_unit_test(backtracking_finds_what_merging_by_rank_ends_in),
        cmocka_unit_test(characters_of_three_bytes_are_what_merging_by_rank_ends_in),
        cmocka_unit_test(a_character_that_is_no_token_is_told_by_its_bytes),
        cmocka_unit_test(a_long_text_is_the_sum_of_its_pieces),
        cmocka_unit_test(a_million_times_one_letter_is_counted),
        cmocka_unit_test(nothing_is_read_behind_the_text),
        cmocka_unit_test(encodings_are_found_by_name),
    };
    return cmocka_run_group_tests_name("tokens/tokens", tests, make_vocabularies,
                                       drop_vocabularies);
}
