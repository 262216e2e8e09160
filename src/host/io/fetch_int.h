/* What the files behind fetch.h share: a URL that may be fetched, with the addresses that were
 * looked at. */
#ifndef PL_IO_FETCH_INT_H
#define PL_IO_FETCH_INT_H

#include "io/fetch.h"
#include "wire/url.h"

#define PL_FETCH_MAX_ADDRESSES 32

struct pl_fetch_place {
    struct pl_url url;  /* arena */
    struct pl_str host; /* of url, without a dot at its end */
    int32_t port;
    struct pl_address addresses[PL_FETCH_MAX_ADDRESSES]; /* connections go there and nowhere else */
    size_t n_addresses;
};

/* Reads `text` (relative to base, which may be NULL), applies the rules and resolves the name,
 * once. Fails as pl_fetch_check does. */
enum pl_status pl_fetch_admit(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                              const struct pl_fetch_rules *rules, struct pl_fetch_place *ret_place,
                              struct pl_error *err);

#endif
