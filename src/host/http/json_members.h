/* Members of the objects that requests and answers are made of. */
#ifndef PL_HTTP_JSON_MEMBERS_H
#define PL_HTTP_JSON_MEMBERS_H

#include "base/arena.h"
#include "json/json.h"
#include "json/write.h"

/* A member as text; {NULL, 0} when it is absent or no string. PL_NOMEM. */
enum pl_status pl_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *name,
                              struct pl_str *ret_text);

/* Members of an answer, each with its name. A missing value is null: {NULL, 0} as in the store and,
 * where it says so, 0. */
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
