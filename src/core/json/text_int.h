/* What the ways to decode and to quote have in common: json/text.c, text_avx2.c and
 * text_avx512.c. */
#ifndef PL_JSON_TEXT_INT_H
#define PL_JSON_TEXT_INT_H

#include "json/text.h"

/* Decodes the valid escape at *at (a backslash), moves *at past it, writes at most 4 bytes (never
 * more than spell it). */
size_t pl_json_decode_escape(const char **at, const char *end, char *to);

/* AVX2 only: decodes whole blocks as long as there are any, which takes them off `raw`; returns how
 * many bytes were written. */
size_t pl_json_decode_avx2(char *to, struct pl_str *raw);

/* AVX-512 with VBMI2 only. The contracts are those of pl_json_decode(), and of escaping all bytes
 * from p to end after `at`, where there is room for them and PL_JSON_SLACK more; that returns
 * where it ends. */
size_t pl_json_decode_avx512(char *to, struct pl_str raw);
char *pl_json_escape_avx512(char *at, const char *p, const char *end);

#endif
