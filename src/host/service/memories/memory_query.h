/* Reads a query for memories: the parameters of a list, or the members of a search. On a worker
 * or on the shard. */
#ifndef PL_SERVICE_MEMORIES_MEMORY_QUERY_H
#define PL_SERVICE_MEMORIES_MEMORY_QUERY_H

#include "http/exchange.h"
#include "store/library.h"

/* Both: false after making a problem. Terms are in the exchange's arena; a query of punctuation
 * only has none. */
bool pl_memory_query_params(struct pl_exchange *x, const struct pl_page_args *args,
                            struct pl_memory_query *ret_query);
bool pl_memory_query_body(struct pl_exchange *x, struct pl_page_args *ret_args,
                          struct pl_memory_query *ret_query);

/* The cursor of the page after this one, which has walk->n rows; "" if there is none. */
enum { PL_MEMORY_CURSOR_SIZE = 48 };
void pl_memory_query_cursor(const struct pl_memory_query *query, const struct pl_memory_page *page,
                            const struct pl_list_walk *walk,
                            char ret_cursor[PL_MEMORY_CURSOR_SIZE]);

#endif
