#include "service/admin/listing.h"

bool pl_listing_next(struct pl_listing *listing)
{
    int64_t place = listing->n_all++;
    bool is_on = place >= listing->args.offset && listing->n_written < (int64_t)listing->args.limit;
    if (is_on && listing->n_written++)
        pl_buf_addc(&listing->x->reply, ',');
    return is_on;
}

void pl_listing_end(const struct pl_listing *listing)
{
    const struct pl_page_args *args = &listing->args;
    struct pl_list_walk walk = {
        .n = (size_t)listing->n_written,
        .has_more = listing->n_all - listing->n_written > args->offset,
    };
    pl_exchange_counted_end(listing->x, args, listing->n_all, &walk);
}
