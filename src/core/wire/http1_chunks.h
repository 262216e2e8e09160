/* A chunked body (RFC 9112, 7.1), closed up: what stands between the data of two chunks is taken
 * out of the bytes themselves, so that many small chunks that came together are one piece. */
#ifndef PL_WIRE_HTTP1_CHUNKS_H
#define PL_WIRE_HTTP1_CHUNKS_H

#include "wire/http1_int.h"

struct pl_http1_chunks {
    uint64_t n_left; /* bytes of the chunk that are to come; its size while that is read */
    struct pl_http1_lines trailer;
    uint16_t n_line; /* bytes of the line with the size */
    uint8_t state, ext;
};

/* Zero-initialised is before the first chunk. Reads *n_bytes bytes, or to the end of the body:
 * *ret_n_data of data then stand at their beginning, and *n_bytes is how many were read. PL_OK: the
 * body has ended; PL_NOT_FOUND: it goes on; PL_SYNTAX, PL_LIMIT: it is malformed behind the data.
 */
enum pl_status pl_http1_chunks_read(struct pl_http1_chunks *chunks, char *bytes, size_t *n_bytes,
                                    size_t *ret_n_data);

#endif
