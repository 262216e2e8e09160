/* Fetches a URL and stores it as a blob, by the rules of io/fetch/fetch.h and the operator's
 * --allow-fetch. The bytes go into the store piece by piece, so a fetch needs the memory of one
 * piece; an incomplete fetch is dropped. On the shard: nothing blocks. */
#ifndef PL_SERVICE_BLOBS_BLOB_FETCH_H
#define PL_SERVICE_BLOBS_BLOB_FETCH_H

#include "http/exchange.h"
#include "store/work.h"

struct pl_blob_fetch; /* owns itself: freed after `done` */

struct pl_blob_fetch_options {
    const struct pl_server_config *config; /* borrowed until `done` */
    struct pl_str user_id, url;
    struct pl_str name; /* empty: the last part of the URL's path, if it is a valid name */
    bool is_servers;    /* as in pl_blob_row */
};

struct pl_blob_fetched {
    enum pl_status status; /* PL_OK: blob; otherwise as from pl_fetch, or as a commit fails */
    bool is_stores_fault;  /* the store failed */
    bool is_late;          /* the host was too slow */
    struct pl_error err;
    struct pl_blob_row blob; /* valid during the call */
};

typedef void pl_blob_fetch_fn(void *ctx, const struct pl_blob_fetched *fetched);

/* Calls `done` once, on the shard, after this function has returned; also if the server ends.
 * The strings of the options are copied. False if out of memory. */
bool pl_blob_fetch_start(struct pl_shard *shard, const struct pl_blob_fetch_options *options,
                         pl_blob_fetch_fn *done, void *ctx);
/* Ends the fetches of a shard that ends. */
void pl_blob_fetch_end_all(struct pl_shard *shard);

/* Takes one of the slots for fetching; false after making a problem if none is free (429, 503).
 * Release it with pl_exchange_end_fetching. */
bool pl_exchange_begin_fetching(struct pl_exchange *x);
void pl_exchange_end_fetching(struct pl_exchange *x);

#endif
