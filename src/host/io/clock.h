/* The machine's clocks. Core never asks for the time: it gets the time as an argument. */
#ifndef PL_IO_CLOCK_H
#define PL_IO_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of a monotonic clock; for measuring durations. */
int64_t pl_clock_ms(void);
/* The time on that clock `ms` milliseconds from now, for pthread_cond_timedwait. */
struct timespec pl_clock_in_ms(int64_t ms);

/* Seconds since 1970, by the machine's wall clock. */
int64_t pl_clock_unix_s(void);
/* The same in milliseconds, and in microseconds. */
int64_t pl_clock_unix_ms(void);
int64_t pl_clock_unix_us(void);

#endif
