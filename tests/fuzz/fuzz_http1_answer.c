/* Any bytes as answers: they may be refused, and how they were cut must not show in what is told.
 *
 * The first byte picks the size of the pieces; the rest is the connection. */
#include "unit/wire/told.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct pl_str bytes = {(const char *)data + 1, size - 1};
    struct cut cut = {data[0] % 2 ? 0 : 1 + data[0] / 2, data[0]};
    PL_CLEANUP_BUF struct pl_buf whole;
    PL_CLEANUP_BUF struct pl_buf pieces;
    pl_buf_init(&whole, 0);
    pl_buf_init(&pieces, 0);
    enum pl_status status = told_answers(bytes, CUT_WHOLE, &whole);
    must(status == PL_OK || status == PL_SYNTAX || status == PL_LIMIT);
    must(told_answers(bytes, cut, &pieces) == status);
    must(pl_str_eq(pl_buf_str(&whole), pl_buf_str(&pieces)));
    return 0;
}
