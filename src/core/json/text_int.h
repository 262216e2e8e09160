/* Shared by the decoders and encoders: json/text.c, text_avx2.c and text_avx512.c. */
#ifndef PL_JSON_TEXT_INT_H
#define PL_JSON_TEXT_INT_H

#include "json/text.h"

/* Decodes the valid escape at *at (a backslash) and moves *at past it. Writes at most 4 bytes,
 * never more than it reads. */
size_t pl_json_decode_escape(const char **at, const char *end, char *to);

/* AVX2 only: decodes whole blocks and takes them off `raw`; returns the number of bytes written. */
size_t pl_json_decode_avx2(char *to, struct pl_str *raw);

/* AVX-512 with VBMI2 only. The first is like pl_json_decode(). The second escapes all bytes from p
 * to end into `at`, which has room for them and PL_JSON_SLACK more; returns the end. */
size_t pl_json_decode_avx512(char *to, struct pl_str raw);
char *pl_json_escape_avx512(char *at, const char *p, const char *end);

#endif
