/* Types by the first bytes, and their aliases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/mime.h"

#include <stdlib.h>

#define BYTES(literal)                                                                             \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static const struct {
    struct pl_str bytes;
    const char *type;
} samples[] = {
    {BYTES("\0\0\1\0\1\0"), "image/x-icon"},
    {BYTES("\0\0\2\0\1\0"), "image/x-icon"},
    {BYTES("BM\x36\0\0\0"), "image/bmp"},
    {BYTES("GIF87a"), "image/gif"},
    {BYTES("GIF89a"), "image/gif"},
    {BYTES("RIFF\1\2\3\4WEBPVP8 "), "image/webp"},
    {BYTES("\x89PNG\r\n\x1A\n"), "image/png"},
    {BYTES("\xFF\xD8\xFF\xE0"), "image/jpeg"},
    {BYTES(".snd\0"), "audio/basic"},
    {BYTES("FORM\1\2\3\4AIFF"), "audio/aiff"},
    {BYTES("ID3\4"), "audio/mpeg"},
    {BYTES("OggS\0\2"), "application/ogg"},
    {BYTES("MThd\0\0\0\6"), "audio/midi"},
    {BYTES("RIFF\1\2\3\4AVI LIST"), "video/avi"},
    {BYTES("RIFF\1\2\3\4WAVEfmt "), "audio/wave"},
    {BYTES("%PDF-1.7"), "application/pdf"},
    {BYTES("\0\0\0\x0C"
           "ftypmp42"),
     "video/mp4"},
    {BYTES("\0\0\0\x18"
           "ftypisom\0\0\2\0isommp41"),
     "video/mp4"},
    {BYTES("\x1A\x45\xDF\xA3\x9F\x42\x86\x81\1\x42\x82\x84webm"), "video/webm"},
    {BYTES("\x1A\x45\xDF\xA3\x9F\x42\x82\x86\0\0webm"), "video/webm"},
    /* Near misses. */
    {BYTES(""), NULL},
    {BYTES("hello"), NULL},
    {BYTES("GIF88a"), NULL},
    {BYTES("\x89PNG\r\n\x1A"), NULL},
    {BYTES("RIFF\1\2\3\4WEBP"), NULL},
    {BYTES("RIFF\1\2\3\4XXXX"), NULL},
    {BYTES("\0\0\0\x18"
           "ftypqt  \0\0\2\0qt  qt  "),
     NULL},
    {BYTES("\0\0\0\x40"
           "ftypmp42"),
     NULL}, /* the box is longer than the file */
    {BYTES("\0\0\0\x0D"
           "ftypmp42x"),
     NULL},
    {BYTES("\x1A\x45\xDF\xA3\x9F\x42\x82\x88matroska"), NULL},
    {BYTES("\x1A\x45\xDF\xA3\x9F\x42\x82"), NULL},
    {BYTES("\x1A\x45\xDF\xA3\x9F\x42\x82\x84w"), NULL},
    {BYTES("<html>"), NULL},
};

/* Every sample in memory of exactly its size, so that a read beyond it is detected. */
static void the_beginning_tells_the_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        size_t n = samples[i].bytes.len;
        char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, samples[i].bytes.ptr, n);
        const char *type = pl_mime_sniff((struct pl_str){copy, n});
        if (samples[i].type)
            assert_string_equal(type ? type : "nothing", samples[i].type);
        else
            assert_null(type);
        for (size_t cut = 0; cut < n; cut++)
            (void)pl_mime_sniff((struct pl_str){copy + n - cut, cut});
        free(copy);
    }
}

/* MPEG-1 layer III, 128 kbit/s, 44100 Hz: frames of 417 bytes. MPEG-2 at 64 kbit/s and 22050 Hz:
 * 208. */
static void mp3_without_a_tag_is_known_by_two_frames(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        size_t n;
    } frames[] = {{"\xFF\xFB\x90\x00", 417}, {"\xFF\xF3\x80\x00", 208}};
    for (size_t i = 0; i < 2; i++) {
        char bytes[1024] = {0};
        memcpy(bytes, frames[i].head, 4);
        memcpy(bytes + frames[i].n, frames[i].head, 4);
        const char *type = pl_mime_sniff((struct pl_str){bytes, sizeof bytes});
        assert_string_equal(type ? type : "nothing", "audio/mpeg");
        bytes[frames[i].n] = 0;
        assert_null(pl_mime_sniff((struct pl_str){bytes, sizeof bytes}));
        assert_null(pl_mime_sniff((struct pl_str){bytes, 4}));
    }
}

static void only_the_first_bytes_are_looked_at(void **state)
{
    (void)state;
    static char bytes[4096] = "\0\0\x0C\0ftypisom";
    memset(bytes + 12, 'x', sizeof bytes - 12);
    memcpy(bytes + 2000, "mp42", 4);
    assert_null(pl_mime_sniff((struct pl_str){bytes, sizeof bytes}));
}

static void a_type_agrees_with_its_other_names(void **state)
{
    (void)state;
    assert_true(pl_mime_agrees(PL_STR("image/png"), "image/png"));
    assert_true(pl_mime_agrees(PL_STR(" Image/JPG ; q=1"), "image/jpeg"));
    assert_true(pl_mime_agrees(PL_STR("audio/wav"), "audio/wave"));
    assert_true(pl_mime_agrees(PL_STR("audio/ogg; codecs=opus"), "application/ogg"));
    assert_true(pl_mime_agrees(PL_STR("audio/mp4"), "video/mp4"));
    assert_false(pl_mime_agrees(PL_STR("image/png"), "image/jpeg"));
    assert_false(pl_mime_agrees(PL_STR("image/pn"), "image/png"));
    assert_false(pl_mime_agrees(PL_STR("image/pngx"), "image/png"));
    assert_false(pl_mime_agrees(PL_STR("audio/wav"), "audio/mpeg"));
    assert_false(pl_mime_agrees(PL_STR(""), "image/png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beginning_tells_the_type),
        cmocka_unit_test(mp3_without_a_tag_is_known_by_two_frames),
        cmocka_unit_test(only_the_first_bytes_are_looked_at),
        cmocka_unit_test(a_type_agrees_with_its_other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
