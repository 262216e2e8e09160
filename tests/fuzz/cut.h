/* Any bytes as a connection: the output must not depend on how they are split. The first byte picks
 * the size of the pieces; the rest is the connection. */
#ifndef PL_TESTS_FUZZ_CUT_H
#define PL_TESTS_FUZZ_CUT_H

#include "unit/wire/told.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* Returns the status of all pieces. */
static inline enum pl_status tell_cut(told_fn *tell, const uint8_t *data, size_t size)
{
    if (size < 2)
        return PL_OK;
    struct pl_str bytes = {(const char *)data + 1, size - 1};
    /* Even: pieces of one size; odd: pieces of random sizes. */
    struct cut cut = {data[0] % 2 ? 0 : 1 + data[0] / 2, data[0]};
    PL_CLEANUP_BUF struct pl_buf whole;
    PL_CLEANUP_BUF struct pl_buf pieces;
    pl_buf_init(&whole, 0);
    pl_buf_init(&pieces, 0);
    enum pl_status status = tell(bytes, CUT_WHOLE, &whole);
    must(tell(bytes, cut, &pieces) == status);
    must(pl_str_eq(pl_buf_str(&whole), pl_buf_str(&pieces)));
    return status;
}

#endif
