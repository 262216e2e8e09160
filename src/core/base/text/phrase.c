/* Finds the row of a table that matches a sentence, and translates it. */
#include "base/text/phrase.h"

enum { MAX_WORDS = 4, MAX_DEPTH = 2 };

static size_t find(struct pl_str text, struct pl_str words)
{
    for (size_t at = 0; at + words.len <= text.len; at++)
        if (!memcmp(text.ptr + at, words.ptr, words.len))
            return at;
    return text.len + 1;
}

/* The words before the next * of a pattern. */
static struct pl_str take_words(const char **pattern)
{
    size_t n = strcspn(*pattern, "*");
    struct pl_str words = {*pattern, n};
    *pattern += n + ((*pattern)[n] == '*');
    return words;
}

static bool fits(const char *pattern, struct pl_str text, struct pl_str ret_words[MAX_WORDS])
{
    size_t n = 0;
    struct pl_str words = take_words(&pattern);
    bool is_open = words.ptr[words.len] == '*';
    if (!pl_str_starts(text, words))
        return false;
    text = pl_str_slice(text, words.len, text.len);
    while (is_open && n < MAX_WORDS) {
        words = take_words(&pattern);
        is_open = words.ptr[words.len] == '*';
        size_t at = words.len ? find(text, words) : text.len;
        if (at > text.len)
            return false;
        ret_words[n++] = pl_str_slice(text, 0, at);
        text = pl_str_slice(text, at + words.len, text.len);
    }
    return !text.len;
}

static bool translate(const struct pl_phrase *table, struct pl_str text, int depth,
                      struct pl_buf *to)
{
    struct pl_str words[MAX_WORDS] = {0};
    const struct pl_phrase *phrase = table;
    while (phrase->english && !fits(phrase->english, text, words))
        phrase++;
    if (!phrase->english || depth > MAX_DEPTH)
        return false;
    for (const char *at = phrase->chinese; *at; at++) {
        if (*at != '$') {
            pl_buf_addc(to, *at);
            continue;
        }
        struct pl_str part = words[*++at - '1'];
        if (!translate(table, part, depth + 1, to))
            pl_buf_add(to, part);
    }
    return true;
}

bool pl_phrase_translate(const struct pl_phrase *table, struct pl_str text, struct pl_buf *to)
{
    return translate(table, text, 0, to);
}
