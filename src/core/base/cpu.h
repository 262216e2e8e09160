/* Which instruction set to use. Chosen once from what the processor supports. Every fast path has a
 * scalar twin with the same results, and tests run them all. */
#ifndef PL_BASE_CPU_H
#define PL_BASE_CPU_H

#include <stdbool.h>

enum pl_cpu { PL_CPU_SCALAR, PL_CPU_AVX2, PL_CPU_AVX512, PL_CPU_COUNT };

/* The best instruction set that this machine supports. */
enum pl_cpu pl_cpu_best(void);
bool pl_cpu_has(enum pl_cpu cpu);
const char *pl_cpu_name(enum pl_cpu cpu);

#endif
