/* SHA-256 against the examples of FIPS 180-4 and lengths around a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sha/sha256.h"

static void expect(struct pl_str bytes, const char *wanted)
{
    char hex[PL_SHA256_HEX + 1];
    pl_sha256_hex(bytes, hex);
    assert_string_equal(hex, wanted);
}

static void test_the_published_examples(void **state)
{
    (void)state;
    expect((struct pl_str){0}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(PL_STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(PL_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_lengths_around_a_block(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *hex;
    } cases[] = {
        {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
        {54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
        {200, "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5"},
    };
    char text[200];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect((struct pl_str){text, cases[i].len}, cases[i].hex);
}

static void test_pieces_of_any_length_give_the_digest_of_the_whole(void **state)
{
    (void)state;
    char text[400];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    for (size_t n_piece = 1; n_piece <= sizeof text; n_piece += n_piece < 140 ? 1 : 37)
        for (size_t len = 0; len <= sizeof text; len += 25) {
            struct pl_sha256_run run;
            unsigned char whole[PL_SHA256_BYTES], pieces[PL_SHA256_BYTES];
            pl_sha256_begin(&run);
            pl_sha256_add(&run, (struct pl_str){0});
            for (size_t at = 0; at < len; at += n_piece)
                pl_sha256_add(&run, pl_str_slice((struct pl_str){text, len}, at, at + n_piece));
            pl_sha256_end(&run, pieces);
            pl_sha256((struct pl_str){text, len}, whole);
            assert_memory_equal(pieces, whole, sizeof whole);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_examples),
        cmocka_unit_test(test_lengths_around_a_block),
        cmocka_unit_test(test_pieces_of_any_length_give_the_digest_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
