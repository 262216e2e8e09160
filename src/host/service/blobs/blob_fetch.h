/* Fetches a URL and stores it as a blob, by the rules of io/fetch/fetch.h and the operator's
 * --allow-fetch. The bytes go into the store piece by piece, so a fetch needs the memory of one
 * piece; an incomplete fetch is dropped. On the shard: nothing blocks. */
#ifndef PL_SERVICE_BLOBS_BLOB_FETCH_H
#define PL_SERVICE_BLOBS_BLOB_FETCH_H

#include "http/exchange.h"
#include "store/work.h"

struct pl_blob_fetch; /* its own: goes when `done` was called */

struct pl_blob_fetch_options {
    const struct pl_server_config *config; /* borrowed until `done` */
    struct pl_str user_id, url;
    struct pl_str name; /* empty: the last part of the URL's path, where that is a name */
    bool is_servers;    /* as in pl_blob_row */
};

struct pl_blob_fetched {
    enum pl_status status; /* PL_OK: blob; else as pl_fetch says, or as a commit fails */
    bool is_stores_fault;  /* it was the store that failed */
    bool is_late;          /* the host was too slow */
    struct pl_error err;
    struct pl_blob_row blob; /* lasts as long as the call */
};

typedef void pl_blob_fetch_fn(void *ctx, const struct pl_blob_fetched *fetched);

/* `done` is called once, on the shard, not before this has returned; also when the server ends. The
 * strings of the options are copied. False when out of memory. */
bool pl_blob_fetch_start(struct pl_shard *shard, const struct pl_blob_fetch_options *options,
                         pl_blob_fetch_fn *done, void *ctx);
/* Ends those of a shard that ends. */
void pl_blob_fetch_end_all(struct pl_shard *shard);

/* Takes one of the slots for fetching; false after making a problem if none is free (429, 503).
 * Release it with pl_exchange_end_fetching. */
bool pl_exchange_begin_fetching(struct pl_exchange *x);
void pl_exchange_end_fetching(struct pl_exchange *x);

#endif
