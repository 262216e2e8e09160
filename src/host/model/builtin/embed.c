/* Embeddings without network, for a first look and for tests. Each word of a text, and each
 * sequence of three letters in it, adds to one element of the vector. The element is chosen by a
 * hash that is the same on every machine. So texts that share words are close to each other. */
#include "base/hash.h"
#include "model/model.h"

#include <math.h>

enum { GRAM = 3, MAX_WORD = 256 };

static const struct pl_model_info info = {
    .name = "demo/embed",
    .about = "Makes embeddings by hashing words; the same for the same text",
    .is_embedding = true,
};
const struct pl_model_info *const pl_embedding_model = &info;

/* ASCII letters and digits, and every byte that is not ASCII. */
static bool is_word(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
}

static void add(float *vector, size_t n, struct pl_str feature, float weight)
{
    uint64_t hash = pl_hash_quick(feature);
    vector[(hash >> 1) % n] += hash & 1 ? weight : -weight;
}

static void add_word(float *vector, size_t n, struct pl_str word)
{
    char lower[MAX_WORD];
    size_t len = word.len < MAX_WORD ? word.len : MAX_WORD;
    for (size_t i = 0; i < len; i++)
        lower[i] =
            word.ptr[i] >= 'A' && word.ptr[i] <= 'Z' ? (char)(word.ptr[i] + 32) : word.ptr[i];
    add(vector, n, (struct pl_str){lower, len}, 1.0f);
    for (size_t i = 0; i + GRAM < len; i++)
        add(vector, n, (struct pl_str){lower + i, GRAM}, 0.25f);
}

static void make_unit(float *vector, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)vector[i] * (double)vector[i];
    if (sum == 0) { /* no words, or all of them cancel out */
        vector[0] = 1;
        return;
    }
    double length = sqrt(sum);
    for (size_t i = 0; i < n; i++)
        vector[i] = (float)((double)vector[i] / length);
}

void pl_embedding_make(struct pl_str text, float *ret_vector, size_t n, int64_t *ret_n_words)
{
    int64_t n_words = 0;
    memset(ret_vector, 0, n * sizeof *ret_vector);
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && is_word(text.ptr[end]))
            end++;
        if (end > at) {
            add_word(ret_vector, n, pl_str_slice(text, at, end));
            n_words++;
        }
        at = end + 1;
    }
    make_unit(ret_vector, n);
    *ret_n_words = n_words;
}
