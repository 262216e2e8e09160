/* Any bytes as a text to translate to Chinese. Unknown text is unchanged, and the output is not
 * many times as long. */
#include "words/words.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str english = {(const char *)data, size};
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    bool is_known = pl_words_add(&said, english);
    bool is_same = pl_str_eq(pl_buf_str(&said), english);
    if (said.status == PL_OK && ((!is_known && !is_same) || said.len > 16 * size + 4096))
        abort();
    return 0;
}
