/* The portable version, which the vector versions must agree with. */
#include <stdint.h>

static inline uint64_t prefix_xor(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift <<= 1)
        bits ^= bits << shift;
    return bits;
}

#include "json/parse/skip_block.h"

static inline uint64_t find_byte(const char *p, char byte)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < SKIP_BLOCK; i++)
        bits |= (uint64_t)(p[i] == byte) << i;
    return bits;
}

static inline uint64_t quotes(const char *p)
{
    return find_byte(p, '"');
}

static inline uint64_t backslashes(const char *p)
{
    return find_byte(p, '\\');
}

static inline uint64_t opens(const char *p)
{
    return find_byte(p, '[') | find_byte(p, '{');
}

static inline uint64_t brackets(const char *p)
{
    return opens(p) | find_byte(p, ']') | find_byte(p, '}');
}

size_t pl_json_skip_scalar(struct pl_json_skip *skip, const char *p, size_t n_bytes)
{
    SKIP_BLOCKS;
}

static pl_json_skip_fn *const by_cpu[PL_CPU_COUNT] = {
    [PL_CPU_SCALAR] = pl_json_skip_scalar,
    [PL_CPU_AVX2] = pl_json_skip_avx2,
    [PL_CPU_AVX512] = pl_json_skip_avx512,
};

size_t pl_json_skip_value(struct pl_json_skip *skip, enum pl_cpu cpu, const char *p, size_t n_bytes)
{
    skip->in_string = skip->is_escaped = 0;
    skip->depth = 0;
    skip->n_run = 0;
    size_t n = by_cpu[cpu](skip, p, n_bytes);
    return skip->depth ? 0 : n;
}
