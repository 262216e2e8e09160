/* Any bytes as answers: they may be refused. */
#include "fuzz/cut.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum pl_status status = tell_cut(told_answers, data, size);
    must(status == PL_OK || status == PL_SYNTAX || status == PL_LIMIT);
    return 0;
}
