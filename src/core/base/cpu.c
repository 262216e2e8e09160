#include "base/cpu.h"

static const char *const names[PL_CPU_COUNT] = {"scalar", "avx2", "avx512"};

bool pl_cpu_has(enum pl_cpu cpu)
{
    switch (cpu) {
#if defined(__x86_64__)
    case PL_CPU_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    case PL_CPU_AVX512:
        return pl_cpu_has(PL_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
#endif
    default:
        return cpu == PL_CPU_SCALAR;
    }
}

enum pl_cpu pl_cpu_best(void)
{
    return pl_cpu_has(PL_CPU_AVX512) ? PL_CPU_AVX512
           : pl_cpu_has(PL_CPU_AVX2) ? PL_CPU_AVX2
                                     : PL_CPU_SCALAR;
}

const char *pl_cpu_name(enum pl_cpu cpu)
{
    return names[cpu];
}
