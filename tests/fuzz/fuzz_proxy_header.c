/* The PROXY header: whole or split anywhere, the result is the same. */
#include "wire/proxy_header.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_proxy_header all = {0}, cut = {0};
    /* Memory of exactly this size, so that reading beyond it is detected. */
    char *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    enum pl_proxy_result whole = pl_proxy_header_read((struct pl_str){copy, size}, &all);
    enum pl_proxy_result result = PL_PROXY_MORE;
    for (size_t n = 0; n <= size && result == PL_PROXY_MORE; n++)
        result = pl_proxy_header_read((struct pl_str){copy, n}, &cut);
    assert(result == whole);
    if (whole == PL_PROXY_WHOLE) {
        assert(all.n_bytes == cut.n_bytes && all.n_bytes <= size);
        assert(all.n_bytes <= PL_PROXY_HEADER_MAX && all.has_source == cut.has_source);
        assert(all.source_port == cut.source_port);
    }
    free(copy);
    return 0;
}
