/* What a request looks for among the memories: parameters of a list, members of a search. On a
 * worker or on the shard. */
#ifndef PL_SERVER_MEMORY_QUERY_H
#define PL_SERVER_MEMORY_QUERY_H

#include "server/exchange.h"
#include "store/library.h"

/* Both: false after making a problem. Terms are of the exchange's arena; those of words that are
 * signs only are empty. */
bool pl_memory_query_params(struct pl_exchange *x, const struct pl_page_args *args,
                            struct pl_memory_query *ret_query);
bool pl_memory_query_body(struct pl_exchange *x, struct pl_memory_query *ret_query);

#endif
