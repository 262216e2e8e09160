/* Every instruction set gives the same result as the scalar version, and the scalar version the
 * same as the decoder. */
#include "base/text/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t decoded_prefix(struct pl_str s, size_t *ret_count)
{
    size_t at = 0, count = 0;
    while (at < s.len) {
        size_t next = at;
        if (pl_utf8_next(s, &next) < 0)
            break;
        at = next;
        count++;
    }
    *ret_count = count;
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str s = {(const char *)data, size};
    size_t count, expected = decoded_prefix(s, &count);
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++)
        if (pl_cpu_has((enum pl_cpu)cpu) &&
            pl_utf8_valid_prefix_with((enum pl_cpu)cpu, s) != expected)
            abort();
    if (pl_utf8_count(pl_str_slice(s, 0, expected)) != count)
        abort();
    return 0;
}
