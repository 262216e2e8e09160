/* Stage one of parsing: finds where tokens are, not what they mean.
 *
 * The text is cut into blocks of 64 bytes. For each block, bit masks say which bytes are quotes,
 * backslashes, brackets, white space; arithmetic on the masks finds which quotes are escaped and
 * which bytes are inside strings. The result is the offsets of tokens. In strings: both quotes, the
 * first escape, and each escape that is not a backslash and a plain letter. Outside strings:
 * brackets, colons, commas, and the first byte of anything else. Stage two (parse.c) never reads
 * the rest of a string.
 *
 * The text is indexed a chunk at a time, so that the offsets stay in the first-level cache and
 * memory does not grow with the text. UTF-8 and control characters in strings are checked here. */
#ifndef PL_JSON_INDEX_H
#define PL_JSON_INDEX_H

#include "base/cpu.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_JSON_BLOCK = 64,
    PL_JSON_CHUNK = 4096,
};

/* State carried from block to block, and the results of a chunk. */
struct pl_json_masks {
    uint64_t in_string;   /* all ones while a string is open at the block's end, else 0 */
    uint64_t is_escaped;  /* 1 if the next block's first byte is escaped */
    uint64_t is_plain;    /* 1 while a string is open that has had no escape yet */
    uint64_t in_scalar;   /* 1 if the block ended inside a number, literal or junk */
    uint64_t not_ascii;   /* non-zero if any byte of the chunk is not ASCII */
    uint64_t n_space;     /* total white space outside strings */
    uint32_t bad_control; /* first control character in a string, or UINT32_MAX */
    uint16_t *tokens;     /* where the next token is stored; 64 entries of slack after the last */
};

/* Indexes n_bytes at p, the start of a chunk; offsets are relative to p, so 16 bits are enough. A
 * partial last block is read together with the bytes before it, so 64 bytes must be readable before
 * p + n_bytes. One function per instruction set. */
typedef void pl_json_index_fn(struct pl_json_masks *m, const char *p, size_t n_bytes);
pl_json_index_fn pl_json_index_scalar, pl_json_index_avx2, pl_json_index_avx512;

enum pl_json_bad { PL_JSON_BAD_NONE, PL_JSON_BAD_UTF8, PL_JSON_BAD_CONTROL };

struct pl_json_index {
    struct pl_str text;
    enum pl_cpu cpu;
    pl_json_index_fn *fn;
    struct pl_json_masks masks;
    size_t chunk_at; /* first byte of the chunk that the buffers hold */
    size_t at;       /* next byte to index */
    size_t utf8_at;  /* the bytes before are valid UTF-8 */
    enum pl_json_bad bad;
    size_t bad_at;     /* nothing after this byte is indexed */
    uint32_t n_tokens; /* in the buffer now */
    uint16_t tokens[PL_JSON_CHUNK + PL_JSON_BLOCK];
};

void pl_json_index_init(struct pl_json_index *ix, struct pl_str text, enum pl_cpu cpu);

/* Replaces the buffer by the tokens of the next chunk (may be empty: call again). False at the end
 * of the text or when `bad` is set. */
bool pl_json_index_more(struct pl_json_index *ix);

#endif
