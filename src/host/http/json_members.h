/* Members of the objects the API answers with, each with its name. What is not there is null, as
 * the store has it: {NULL, 0} and, where it says so, 0. */
#ifndef PL_SERVER_MEMBERS_H
#define PL_SERVER_MEMBERS_H

#include "json/write.h"

void pl_put_text(struct pl_json_out *out, const char *name, struct pl_str text);
/* JSON, copied. */
void pl_put_raw(struct pl_json_out *out, const char *name, struct pl_str json);
void pl_put_bool(struct pl_json_out *out, const char *name, bool value);
void pl_put_int(struct pl_json_out *out, const char *name, int64_t value);
/* The number of something that may not be there: 0 is null. */
void pl_put_number(struct pl_json_out *out, const char *name, int64_t number);
/* 0 and INT64_MAX are null: not yet, and never. */
void pl_put_time(struct pl_json_out *out, const char *name, int64_t unix_ms);

#endif
