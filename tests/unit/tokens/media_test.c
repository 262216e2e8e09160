/* Sizes and lengths from headers, and their cost. */
#include "base/text/base64.h"
#include "tokens/media.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(literal)                                                                             \
    {                                                                                              \
        {(literal), sizeof(literal) - 1}, false                                                    \
    }

#define PNG_4000_3000                                                                              \
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x0f\xa0\0\0\x0b\xb8\x08\x06\0\0\0\xf5\xb5\x47\xe7"
#define GIF_300_200 "GIF89a\x2c\x01\xc8\x00\xf7\x00\x00"
#define JPEG_640_480                                                                               \
    "\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xff\xfe\x00\x04hi"               \
    "\xff\xc4\x00\x03x\xff\xc2\x00\x11\x08\x01\xe0\x02\x80\x03"
#define WEBP_LOSSY    "RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0\x30\x01\0\x9d\x01\x2a\x90\x01\x2c\x81"
#define WEBP_LOSSLESS "RIFF\x24\0\0\0WEBPVP8L\x18\0\0\0\x2f\x8f\x01\x4b\x00\x00"
#define WEBP_EXTENDED "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x8f\x01\0\x2b\x01\0"

static const struct {
    struct pl_media media;
    uint32_t width, height;
} images[] = {
    {BYTES(PNG_4000_3000), 4000, 3000}, {BYTES(GIF_300_200), 300, 200},
    {BYTES(JPEG_640_480), 640, 480},    {BYTES(WEBP_LOSSY), 400, 300},
    {BYTES(WEBP_LOSSLESS), 400, 301},   {BYTES(WEBP_EXTENDED), 400, 300},
};
enum { N_IMAGES = sizeof images / sizeof *images };

static void the_size_of_a_picture_stands_in_its_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_IMAGES; i++) {
        struct pl_image_size size = {0};
        assert_true(pl_image_size_read(&images[i].media, &size));
        assert_int_equal(size.width, images[i].width);
        assert_int_equal(size.height, images[i].height);
    }
}

static void base64_is_read_without_decoding_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_IMAGES; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_base64_encode(&text, images[i].media.text);
        pl_buf_adds(&text, "??? not base64 any more, but nobody looks here");
        struct pl_media media = {pl_buf_str(&text), true};
        struct pl_image_size size = {0};
        /* Even without the padding, the header is complete. */
        char *pad = memchr(text.ptr, '=', text.len);
        if (pad)
            media.text.len = (size_t)(pad - text.ptr);
        assert_true(pl_image_size_read(&media, &size));
        assert_int_equal(size.width, images[i].width);
        assert_int_equal(size.height, images[i].height);
    }
}

static void a_header_cut_short_has_no_size(void **state)
{
    (void)state;
    static const size_t n_needed[N_IMAGES] = {24, 10, 41, 30, 25, 30};
    for (size_t i = 0; i < N_IMAGES; i++)
        for (size_t n = 0; n < images[i].media.text.len; n++) {
            struct pl_media media = {pl_str_slice(images[i].media.text, 0, n), false};
            struct pl_image_size size = {77, 77};
            bool is_read = pl_image_size_read(&media, &size);
            assert_int_equal(is_read, n >= n_needed[i]);
            assert_int_equal(size.width, is_read ? images[i].width : 77);
        }
}

static void what_is_no_picture_has_no_size(void **state)
{
    (void)state;
    static const struct pl_media others[] = {
        BYTES(""),
        BYTES("plain text"),
        BYTES("\xff\xd8\xff\xda\x00\x08 the picture before its size"),
        BYTES("\xff\xd8\xff\xc0\x00\x11\x08\x00\x00\x02\x80\x03"),
        BYTES("\x89PNG\r\n\x1a\n\0\0\0\rCgBI\0\0\x0f\xa0\0\0\x0b\xb8"),
        BYTES("RIFF\x24\0\0\0WEBPVP9 \x18\0\0\0\x30\x01\0\x9d\x01\x2a\x90\x01\x2c\x81"),
        {PL_STR("iVBORw0K GgoAAAANSUhEUgAAD6AAAAu4"), true},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct pl_image_size size;
        assert_false(pl_image_size_read(&others[i], &size));
    }
}

static void a_picture_costs_by_its_tiles(void **state)
{
    (void)state;
    static const struct {
        struct pl_image_size size;
        uint64_t n_tokens;
    } cases[] = {
        {{1, 1}, 255},       {{300, 200}, 255},      {{512, 512}, 255},
        {{513, 512}, 425},   {{1024, 1024}, 765},    {{2048, 4096}, 1105},
        {{4000, 3000}, 765}, {{1920, 1080}, 1105},   {{4096, 1}, 765},
        {{2048, 768}, 1445}, {{1, UINT32_MAX}, 765}, {{UINT32_MAX, UINT32_MAX}, 765},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_image_size turned = {cases[i].size.height, cases[i].size.width};
        assert_int_equal(pl_image_tokens(PL_IMAGE_HIGH, &cases[i].size), cases[i].n_tokens);
        assert_int_equal(pl_image_tokens(PL_IMAGE_HIGH, &turned), cases[i].n_tokens);
        assert_int_equal(pl_image_tokens(PL_IMAGE_LOW, &cases[i].size), 85);
    }
    assert_int_equal(pl_image_tokens(PL_IMAGE_HIGH, NULL), 765);
    assert_int_equal(pl_image_tokens(PL_IMAGE_LOW, NULL), 85);
}

static void a_data_url_holds_base64(void **state)
{
    (void)state;
    struct pl_media media = {0};
    struct pl_image_size size;
    assert_true(pl_media_of_data_url(
        PL_STR("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAD6AAAAu4CAYAAAD1tUfn"), &media));
    assert_true(pl_image_size_read(&media, &size));
    assert_int_equal(size.width, 4000);
    assert_int_equal(size.height, 3000);
    assert_true(pl_media_of_data_url(PL_STR("data:;base64,"), &media));
    assert_int_equal(media.text.len, 0);
    static const char *const others[] = {"https://example.com/a.png", "data:text/plain,abc",
                                         "data:image/png;base64", "data:,", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(pl_media_of_data_url(pl_str_of(others[i]), &media));
}

static void the_size_of_a_file_is_known_from_its_base64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t n_bytes;
    } cases[] = {{"", 0}, {"Zg==", 1}, {"Zg", 1}, {"Zm8=", 2}, {"Zm9v", 3}, {"Zm9vYg==", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_media media = {pl_str_of(cases[i].text), true};
        assert_int_equal(pl_media_size(&media), cases[i].n_bytes);
    }
}

/* 24 kHz, 16 bits, one channel: 48,000 bytes a second. */
#define WAV_HEAD                                                                                   \
    "RIFF\xff\xff\xff\xff"                                                                         \
    "WAVEfmt \x10\0\0\0\1\0\1\0\xc0\x5d\0\0\x80\xbb\0\0\2\0\x10\0"

static void the_length_of_wav_stands_in_its_header(void **state)
{
    (void)state;
    static const struct {
        struct pl_media media;
        uint64_t duration_ms;
    } cases[] = {
        {BYTES(WAV_HEAD "data\x00\x77\x01\x00"), 2000},
        {BYTES(WAV_HEAD "LIST\3\0\0\0abc\0data\xc0\x5d\0\0"), 500},
        {BYTES(WAV_HEAD "data\xff\xff\xff\xff"
                        "123456789012345678901234567890123456789012345678"
                        "123456789012345678901234567890123456789012345678"),
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_audio_length length = pl_audio_length_read(&cases[i].media, PL_STR("wav"));
        assert_false(length.is_estimated);
        assert_int_equal(length.duration_ms, cases[i].duration_ms);
    }
}

static void other_sound_is_estimated_from_its_size(void **state)
{
    (void)state;
    char bytes[48000];
    memset(bytes, 0x55, sizeof bytes);
    struct pl_media media = {{bytes, sizeof bytes}, false};
    static const struct {
        struct pl_str format;
        uint64_t duration_ms;
    } cases[] = {{PL_STR("mp3"), 3000}, {PL_STR("MP3"), 3000}, {PL_STR("pcm16"), 1000},
                 {PL_STR("wav"), 1000}, {PL_STR(""), 3000},    {PL_STR("mp"), 3000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_audio_length length = pl_audio_length_read(&media, cases[i].format);
        assert_true(length.is_estimated);
        assert_int_equal(length.duration_ms, cases[i].duration_ms);
    }
    struct pl_media headless = BYTES("RIFF\x24\0\0\0WAVEdata\x00\x77\x01\x00");
    assert_true(pl_audio_length_read(&headless, PL_STR("wav")).is_estimated);
}

static void sound_costs_a_token_for_each_tenth_of_a_second_begun(void **state)
{
    (void)state;
    assert_int_equal(pl_audio_tokens(0), 0);
    assert_int_equal(pl_audio_tokens(1), 1);
    assert_int_equal(pl_audio_tokens(100), 1);
    assert_int_equal(pl_audio_tokens(2001), 21);
    assert_true(pl_audio_tokens(UINT64_MAX) > UINT64_MAX / 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_of_a_picture_stands_in_its_header),
        cmocka_unit_test(base64_is_read_without_decoding_it),
        cmocka_unit_test(a_header_cut_short_has_no_size),
        cmocka_unit_test(what_is_no_picture_has_no_size),
        cmocka_unit_test(a_picture_costs_by_its_tiles),
        cmocka_unit_test(a_data_url_holds_base64),
        cmocka_unit_test(the_size_of_a_file_is_known_from_its_base64),
        cmocka_unit_test(the_length_of_wav_stands_in_its_header),
        cmocka_unit_test(other_sound_is_estimated_from_its_size),
        cmocka_unit_test(sound_costs_a_token_for_each_tenth_of_a_second_begun),
    };
    return cmocka_run_group_tests_name("tokens/media", tests, NULL, NULL);
}
