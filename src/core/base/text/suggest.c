/* Distance by optimal string alignment (insert, delete, replace, swap neighbours), for words of at
 * most 31 bytes: names of options and commands. Needs only three rows of a fixed table. */
#include "base/text/suggest.h"

enum { MAX_WORD = 31, TOO_FAR = 1000 };

struct pl_suggest pl_suggest(struct pl_str typed)
{
    return (struct pl_suggest){.typed = typed, .distance = TOO_FAR};
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(struct pl_str a, struct pl_str b)
{
    unsigned rows[3][MAX_WORD + 1];
    for (unsigned j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned replaced = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

void pl_suggest_offer(struct pl_suggest *suggest, const char *word)
{
    struct pl_str known = pl_str_of(word), typed = suggest->typed;
    if (typed.len == 0 || typed.len > MAX_WORD || known.len > MAX_WORD)
        return;
    /* A correct prefix is nearer than a whole word with a typo; of several words, the shortest
     * wins. */
    bool is_begun = pl_str_starts(known, typed);
    unsigned d = is_begun ? 1 : distance(typed, known);
    unsigned allowed = known.len < 5 ? 1 : known.len < 9 ? 2 : 3;
    bool is_nearer = d < suggest->distance ||
                     (is_begun && d == suggest->distance && known.len < strlen(suggest->best));
    if (d <= allowed && is_nearer) {
        suggest->distance = d;
        suggest->best = word;
    }
}
