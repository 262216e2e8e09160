/* A page of a list that is walked under a lock, item by item. */
#ifndef PL_SERVICE_ADMIN_LISTING_H
#define PL_SERVICE_ADMIN_LISTING_H

#include "http/exchange.h"

struct pl_listing {
    struct pl_exchange *x;
    struct pl_page_args args;
    int64_t n_all, n_written;
};

/* One more item: whether it is on the page, where its JSON then goes into x->reply. */
bool pl_listing_next(struct pl_listing *listing);
void pl_listing_end(const struct pl_listing *listing);

#endif
