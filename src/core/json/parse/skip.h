/* Skips a value without parsing it: from an opening bracket to its closing one.
 *
 * It only finds the strings and counts the brackets outside them. Blocks of 64 bytes, as in
 * index.h. */
#ifndef PL_JSON_SKIP_H
#define PL_JSON_SKIP_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string of this many bytes, or a block or two less, counts as long. */
enum { PL_JSON_SKIP_LONG = 64 << 10 };

struct pl_json_skip {
    uint64_t in_string;  /* all ones while a string is open at the block's end, else 0 */
    uint64_t is_escaped; /* 1 if the next block's first byte is escaped */
    size_t depth;        /* open brackets; 0: the value has ended */
    size_t n_run;        /* whole blocks of the open string so far */
    size_t n_text;       /* bytes in strings that are not long, including one quote of each */
    size_t n_long;       /* number of long strings */
};

/* Continues at p. Returns the number of bytes up to the end of the value; n_bytes if it does not
 * end there. One function per instruction set. */
typedef size_t pl_json_skip_fn(struct pl_json_skip *skip, const char *p, size_t n_bytes);
pl_json_skip_fn pl_json_skip_scalar, pl_json_skip_avx2, pl_json_skip_avx512;

/* Length of the value whose opening bracket is at p; 0: not closed. Adds to n_text and n_long. */
size_t pl_json_skip_value(struct pl_json_skip *skip, enum pl_cpu cpu, const char *p,
                          size_t n_bytes);

#endif
