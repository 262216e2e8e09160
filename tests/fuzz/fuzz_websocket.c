/* Any bytes as frames: they may close the connection. */
#include "fuzz/cut.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum pl_status status = tell_cut(told_ws, data, size);
    must(status == PL_OK || status == PL_SYNTAX || status == PL_LIMIT || status == PL_INVALID);
    return 0;
}
