/* A page of a list that is iterated under a lock. */
#ifndef PL_SERVICE_ADMIN_LISTING_H
#define PL_SERVICE_ADMIN_LISTING_H

#include "http/exchange.h"

struct pl_listing {
    struct pl_exchange *x;
    struct pl_page_args args;
    int64_t n_all, n_written;
};

/* Counts one more item. True: it is on the page, and the caller appends its JSON to x->reply. */
bool pl_listing_next(struct pl_listing *listing);
void pl_listing_end(const struct pl_listing *listing);

#endif
