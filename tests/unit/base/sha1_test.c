/* SHA-1 against the vectors of RFC 3174, section 7.3, and lengths around a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sha/sha1.h"

#include <stdio.h>

static void expect(struct pl_str bytes, const char *wanted)
{
    unsigned char digest[PL_SHA1_BYTES];
    char hex[2 * PL_SHA1_BYTES + 1];
    pl_sha1(bytes, digest);
    for (int i = 0; i < PL_SHA1_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

static void test_the_published_vectors(void **state)
{
    (void)state;
    static char text[1000000];
    expect((struct pl_str){0}, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    expect(PL_STR("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect(PL_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
           "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    memset(text, 'a', sizeof text);
    expect((struct pl_str){text, sizeof text}, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    for (size_t i = 0; i < 640; i++)
        text[i] = (char)('0' + i % 8);
    expect((struct pl_str){text, 640}, "dea356a2cddd90c7a7ecedc5ebb563934f460452");
}

static void test_lengths_around_a_block(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *hex;
    } cases[] = {
        {55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
        {56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
        {63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
        {64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
        {65, "11655326c708d70319be2610e8a57d9a5b959d3b"},
        {119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"},
        {120, "f34c1488385346a55709ba056ddd08280dd4c6d6"},
        {128, "ad5b3fdbcb526778c2839d2f151ea753995e26a0"},
    };
    char text[200];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect((struct pl_str){text, cases[i].len}, cases[i].hex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_vectors),
        cmocka_unit_test(test_lengths_around_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
