/* Any bytes are encoded and decode to themselves. The count is the number of ids. Headers of images
 * and audio are read without reading past the end. */
#include "tokens/media.h"
#include "tokens/tokens.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static const struct pl_tokens *vocabulary(enum pl_encoding encoding)
{
    static struct pl_tokens *made[PL_ENCODING_COUNT];
    if (!made[encoding])
        require(pl_tokens_create(encoding, &made[encoding]) == PL_OK);
    return made[encoding];
}

static void check_encoding(const struct pl_tokens *tokens, struct pl_str text,
                           enum pl_special special)
{
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    PL_CLEANUP_BUF struct pl_buf back;
    pl_buf_init(&back, 0);
    size_t n = 0;
    require(pl_tokens_encode(tokens, text, special, &ids) == PL_OK);
    require(pl_tokens_count(tokens, text, special, &n) == PL_OK && n == ids.len);
    require(n <= text.len);
    require(pl_tokens_decode(tokens, ids.ptr, ids.len, &back) == PL_OK);
    require(pl_str_eq(pl_buf_str(&back), text));
}

/* Long texts are encoded with memos of pieces. In a repeated text every piece is found again. */
static void check_repeated(const struct pl_tokens *tokens, struct pl_str text)
{
    enum { LONG = 5000 };
    PL_CLEANUP_BUF struct pl_buf repeated;
    pl_buf_init(&repeated, 0);
    while (text.len && repeated.len < LONG)
        pl_buf_add(&repeated, text);
    require(repeated.status == PL_OK);
    check_encoding(tokens, pl_buf_str(&repeated), PL_SPECIAL_AS_TEXT);
}

static void check_media(struct pl_str bytes)
{
    for (int is_base64 = 0; is_base64 < 2; is_base64++) {
        struct pl_media media = {bytes, is_base64};
        struct pl_image_size size;
        bool is_read = pl_image_size_read(&media, &size);
        require(!is_read || (size.width && size.height));
        require(pl_image_tokens(PL_IMAGE_HIGH, is_read ? &size : NULL) <= 85 + 170 * 8);
        pl_audio_tokens(pl_audio_length_read(&media, PL_STR("mp3")).duration_ms);
    }
    struct pl_media media;
    if (pl_media_of_data_url(bytes, &media))
        require(media.is_base64 && media.text.len < bytes.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str text = {(const char *)data, size};
    for (int i = 0; i < PL_ENCODING_COUNT; i++) {
        check_encoding(vocabulary((enum pl_encoding)i), text, PL_SPECIAL_AS_TEXT);
        check_encoding(vocabulary((enum pl_encoding)i), text, PL_SPECIAL_AS_TOKEN);
        check_repeated(vocabulary((enum pl_encoding)i), text);
    }
    check_media(text);
    return 0;
}
