/* Bytes survive encoding and decoding. A text that decodes is the only encoding of its bytes. */
#include "base/text/base64.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str input = {(const char *)data, size};
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&text, 0);
    pl_buf_init(&bytes, 0);

    pl_base64_encode(&text, input);
    require(text.status == PL_OK);
    require(pl_base64_decode(&bytes, pl_buf_str(&text)) == PL_OK);
    require(pl_str_eq(pl_buf_str(&bytes), input));

    size_t n_bytes = 0;
    bool is_base64 = pl_base64_size(input, &n_bytes);
    pl_buf_clear(&bytes);
    pl_buf_clear(&text);
    require((pl_base64_decode(&bytes, input) == PL_OK) == is_base64);
    require(bytes.len == (is_base64 ? n_bytes : 0));
    if (is_base64) {
        pl_base64_encode(&text, pl_buf_str(&bytes));
        require(pl_str_eq(pl_buf_str(&text), input));
    }
    return 0;
}
