/* Decides which terms of a query find rows, and which only rank them.
 *
 * A term that is in most of a user's rows would make a search read them all, and says little. So
 * the rarest terms find rows: as many terms as together do not find too many rows. All terms rank
 * the rows that were found (memories.c). If there are too few, the newest rows with any of the
 * terms are added. A search reads a few thousand rows at most, however many there are. */
#include "store/store_int.h"
#include "base/text/terms.h"

enum { MAX_ASKED = 64 };

struct asked {
    struct pl_str term;
    int64_t n_rows; /* rows with this term; PL_RARE_MAX + 1: or more */
};

static size_t split(struct pl_str terms, struct asked asked[MAX_ASKED])
{
    size_t n = 0, at = 0;
    while (n < MAX_ASKED && pl_terms_next(terms, &at, &asked[n].term))
        n++;
    return n;
}

/* The rarest term not taken yet. */
static struct asked *rarest(struct asked *asked, size_t n)
{
    struct asked *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (asked[i].term.len && (!best || asked[i].n_rows < best->n_rows))
            best = &asked[i];
    return best;
}

size_t pl_read_rare_terms(struct pl_read *read, enum pl_sql sql, struct pl_str user_id,
                          struct pl_str terms, struct pl_buf *to)
{
    struct asked asked[MAX_ASKED];
    size_t n = split(terms, asked), n_read = 0, n_left = n;
    struct pl_params params = {.err = read->err};
    pl_params_id(&params, user_id, "user_");
    pl_params_text(&params, terms);
    pl_params_int(&params, PL_RARE_MAX + 1);
    pl_read_query(read, sql, &params);
    while (n_read < n && pl_read_next(read))
        asked[n_read++].n_rows = pl_read_int(read, 0);
    int64_t n_rows = 0;
    for (struct asked *next; (next = rarest(asked, n_read)); next->term.len = 0) {
        n_rows += next->n_rows;
        if (n_rows > PL_RARE_MAX)
            break;
        pl_buf_adds(to, to->len ? " " : "");
        pl_buf_add(to, next->term);
        n_left--;
    }
    if (to->status != PL_OK && read->status == PL_OK)
        read->status = pl_fail(read->err, to->status, "out of memory while reading terms");
    return n_left;
}
