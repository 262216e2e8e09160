/* The expected values come from an independent implementation of SipHash-1-3: CPython 3.11's
 * importlib source hash (first key) and its bytes hash (second key, PYTHONHASHSEED=42). */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The input of length n is the bytes 0, 1 … n - 1. */
static const struct {
    struct pl_hash_key key;
    size_t len;
    uint64_t hash;
} vectors[] = {
    {{{0x0706050403020100, 0}}, 0, 0xf46d3bfe2ea281dc},
    {{{0x0706050403020100, 0}}, 1, 0x5bb2c195fe70a449},
    {{{0x0706050403020100, 0}}, 7, 0x3dd20bc6123b60e0},
    {{{0x0706050403020100, 0}}, 8, 0x5124317f8cfc24cb},
    {{{0x0706050403020100, 0}}, 9, 0x9d1f9dbb9125d122},
    {{{0x0706050403020100, 0}}, 15, 0x7f501f340ece0c62},
    {{{0x0706050403020100, 0}}, 16, 0xa07bf4038d638986},
    {{{0x0706050403020100, 0}}, 63, 0x9c56dbe0649233f3},
    {{{0x0706050403020100, 0}}, 64, 0xcea463ea3b564fbf},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 1, 0xce880c366bcf3489},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 7, 0xce280fabc397fbda},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 8, 0x60866c3c108c6afb},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 9, 0x68814005f7469e03},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 15, 0x94ace24d68c18cf8},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 16, 0x339176f3ac59ce05},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 63, 0x06e24d6f0d014c37},
    {{{0xdc504fd368cd90af, 0xb920bb9ffe99e9c1}}, 64, 0x91639ef7de8d52cb},
};

static void known_inputs_have_their_siphash(void **state)
{
    (void)state;
    char bytes[64];
    for (int i = 0; i < 64; i++)
        bytes[i] = (char)i;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct pl_str input = {bytes, vectors[i].len};
        assert_true(pl_hash_with(vectors[i].key, input) == vectors[i].hash);
    }
}

static void the_process_key_is_the_one_used(void **state)
{
    (void)state;
    struct pl_hash_key key = {{11, 12}};
    uint64_t unkeyed = pl_hash(PL_STR("text"));
    assert_true(unkeyed == pl_hash(PL_STR("text")));
    pl_hash_set_key(key);
    assert_true(pl_hash(PL_STR("text")) == pl_hash_with(key, PL_STR("text")));
    assert_true(pl_hash(PL_STR("text")) != unkeyed);
    pl_hash_set_key((struct pl_hash_key){{0}});
}

static void the_hash_does_not_depend_on_alignment(void **state)
{
    (void)state;
    char room[48];
    for (int shift = 0; shift < 16; shift++) {
        memcpy(room + shift, "the same twenty bytes", 21);
        assert_true(pl_hash((struct pl_str){room + shift, 21}) ==
                    pl_hash(PL_STR("the same twenty bytes")));
    }
}

/* For every length and place, a changed bit changes the hash. */
static void the_quick_hash_sees_every_bit(void **state)
{
    (void)state;
    char bytes[100];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 37);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        uint64_t hash = pl_hash_quick((struct pl_str){bytes, len});
        assert_true(len == 0 || hash != pl_hash_quick((struct pl_str){bytes, len - 1}));
        for (size_t bit = 0; bit < 8 * len; bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            assert_true(hash != pl_hash_quick((struct pl_str){bytes, len}));
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        assert_true(hash == pl_hash_quick((struct pl_str){bytes, len}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_quick_hash_sees_every_bit),
        cmocka_unit_test(known_inputs_have_their_siphash),
        cmocka_unit_test(the_process_key_is_the_one_used),
        cmocka_unit_test(the_hash_does_not_depend_on_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
