/* Compares counts and ids with those of the npm package tiktoken, for more than ten thousand texts
 * of tokens_samples.mjs, and for every assigned code point. */
#include "conformance/corpora.h"
#include "tokens/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKAGE PL_SOURCE_ROOT "/tools/vocab/node_modules/tiktoken"
#define SAMPLES PL_SOURCE_ROOT "/tests/conformance/tokens_samples.mjs"

enum { MAX_TEXT = 1 << 20, MIN_SAMPLES = 10000 };

/* In the order of tokens_samples.mjs. */
static const char *const kinds[] = {
    "prose",
    "code",
    "Chinese",
    "emoji",
    "JSON",
    "any bytes",
    "many scripts",
    "white space",
    "contractions",
    "tokens in a row",
    "long words",
    "runs of one character",
    "every assigned code point",
    "all kinds together, with repetitions",
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static size_t n_samples[N_KINDS], n_wrong[N_KINDS];
static char text[MAX_TEXT];
static uint32_t expected[MAX_TEXT];

static bool read_all(FILE *from, void *to, size_t n_bytes)
{
    return fread(to, 1, n_bytes, from) == n_bytes;
}

/* Reads a number; false if it is greater than `max`. */
static bool read_number(FILE *from, uint32_t max, uint32_t *ret_number)
{
    unsigned char bytes[4];
    if (!read_all(from, bytes, sizeof bytes))
        return false;
    *ret_number =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return *ret_number <= max;
}

static bool is_equal(const struct pl_tokens *vocabulary, struct pl_str sample, uint32_t n_expected)
{
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    PL_CLEANUP_BUF struct pl_buf back;
    pl_buf_init(&back, 0);
    size_t n = 0;
    return pl_tokens_encode(vocabulary, sample, PL_SPECIAL_AS_TEXT, &ids) == PL_OK &&
           pl_tokens_count(vocabulary, sample, PL_SPECIAL_AS_TEXT, &n) == PL_OK && n == ids.len &&
           n == n_expected && (n == 0 || memcmp(ids.ptr, expected, n * sizeof *expected) == 0) &&
           pl_tokens_decode(vocabulary, ids.ptr, ids.len, &back) == PL_OK &&
           pl_str_eq(pl_buf_str(&back), sample);
}

/* True if there was another sample. */
static bool compare_next(FILE *from, struct pl_tokens *const *vocabularies)
{
    uint32_t kind, n_bytes;
    if (!read_number(from, N_KINDS - 1, &kind) || !read_number(from, MAX_TEXT, &n_bytes) ||
        !read_all(from, text, n_bytes))
        return false;
    n_samples[kind]++;
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        uint32_t n_expected;
        if (!read_number(from, MAX_TEXT, &n_expected) ||
            !read_all(from, expected, n_expected * sizeof *expected))
            return false;
        if (is_equal(vocabularies[i], (struct pl_str){text, n_bytes}, n_expected))
            continue;
        if (n_wrong[kind]++ < 3)
            tap_note("%s, %s: %.*s", pl_encoding_name((enum pl_encoding)i), kinds[kind],
                     (int)n_bytes, text);
    }
    return true;
}

int main(void)
{
    if (access(PACKAGE "/package.json", R_OK) != 0)
        return tap_skip_all("no npm package tiktoken: run npm ci in tools/vocab");
    struct pl_tokens *vocabularies[PL_ENCODING_COUNT] = {0};
    for (int i = 0; i < PL_ENCODING_COUNT; i++)
        if (pl_tokens_create((enum pl_encoding)i, &vocabularies[i]) != PL_OK)
            return 1;
    FILE *samples = popen("node '" SAMPLES "' '" PACKAGE "'", "r");
    if (!samples)
        return tap_skip_all("node cannot be run");
    while (compare_next(samples, vocabularies))
        ;
    tap_point(pclose(samples) == 0, "the samples were made");
    size_t n = 0;
    for (int i = 0; i < N_KINDS; i++) {
        n += n_samples[i];
        tap_point(n_samples[i] && !n_wrong[i], "%zu texts of %s are encoded as tiktoken does",
                  n_samples[i], kinds[i]);
    }
    tap_point(n >= MIN_SAMPLES, "%zu texts were compared", n);
    for (int i = 0; i < PL_ENCODING_COUNT; i++)
        pl_tokens_destroy(vocabularies[i]);
    return tap_end();
}
