/* Members of JSON objects in requests and answers. */
#ifndef PL_HTTP_JSON_MEMBERS_H
#define PL_HTTP_JSON_MEMBERS_H

#include "base/arena.h"
#include "json/json.h"
#include "json/write.h"

/* A member as text; {NULL, 0} if it is absent or not a string. PL_NOMEM. */
enum pl_status pl_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *name,
                              struct pl_str *ret_text);

/* Writes a member of an answer. A missing value becomes null: {NULL, 0}, as in the store, and 0
 * where stated. */
void pl_put_text(struct pl_json_out *out, const char *name, struct pl_str text);
/* Copies JSON. */
void pl_put_raw(struct pl_json_out *out, const char *name, struct pl_str json);
void pl_put_bool(struct pl_json_out *out, const char *name, bool value);
void pl_put_int(struct pl_json_out *out, const char *name, int64_t value);
/* A number, where 0 means absent: it becomes null. */
void pl_put_number(struct pl_json_out *out, const char *name, int64_t number);
/* 0 and INT64_MAX are null: not yet, and never. */
void pl_put_time(struct pl_json_out *out, const char *name, int64_t unix_ms);

#endif
