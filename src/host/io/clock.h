/* Time as the machine has it. Core never asks: time arrives there as an argument. */
#ifndef PL_IO_CLOCK_H
#define PL_IO_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of a clock that only goes forward; good for measuring how long something took. */
int64_t pl_clock_ms(void);
/* The time on that clock in so many milliseconds, for pthread_cond_timedwait. */
struct timespec pl_clock_in_ms(int64_t ms);

/* Seconds since 1970, as the machine is set. */
int64_t pl_clock_unix_s(void);
/* The same in milliseconds, and in microseconds. */
int64_t pl_clock_unix_ms(void);
int64_t pl_clock_unix_us(void);

#endif
