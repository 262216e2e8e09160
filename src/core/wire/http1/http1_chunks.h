/* Reads a chunked body (RFC 9112, 7.1) piece by piece. llhttp 8 takes a second extension of a chunk
 * for more of its size, so it is not used for this. */
#ifndef PL_WIRE_HTTP1_CHUNKS_H
#define PL_WIRE_HTTP1_CHUNKS_H

#include "wire/http1/http1_int.h"

/* A zero-initialised state is before the first chunk. Reads `in` up to the end of some data, of the
 * body or of `in`. *ret_n: bytes read. *ret_data: the data among them, may be empty. PL_OK: the
 * body has ended; PL_NOT_FOUND: it continues; PL_SYNTAX, PL_LIMIT: it is malformed. */
enum pl_status pl_http1_chunks_read(struct pl_http1_chunks *chunks, struct pl_str in, size_t *ret_n,
                                    struct pl_str *ret_data);

#endif
