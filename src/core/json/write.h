/* Writing JSON: a tree back to text by copying spans, or a new text piece by piece. */
#ifndef PL_JSON_WRITE_H
#define PL_JSON_WRITE_H

#include "base/buf.h"
#include "json/json.h"

/* Without white space; strings and numbers keep their spelling. */
void pl_json_write_min(struct pl_buf *to, const struct pl_json_doc *doc,
                       const struct pl_json_node *n);

/* Two spaces of indentation; empty containers on one line; no newline at the end. */
void pl_json_write_pretty(struct pl_buf *to, const struct pl_json_doc *doc,
                          const struct pl_json_node *n);

/* One spelling per value: no white space, keys sorted by bytes, strings with the fewest escapes,
 * numbers as plain digits where short and exact (see canonical.c). Needs memory to sort.
 * A duplicate key keeps its last value. */
enum pl_status pl_json_write_canonical(struct pl_buf *to, const struct pl_json_doc *doc,
                                       const struct pl_json_node *n);

/* A text written piece by piece: commas and colons are added automatically. Failures stick to the
 * buffer. Nesting beyond 64 sets its status to PL_LIMIT. */
struct pl_json_out {
    struct pl_buf *buf;  /* borrowed */
    uint64_t has_member; /* bit d: depth d has a member already */
    uint32_t depth;
    bool is_after_key;
};

struct pl_json_out pl_json_out(struct pl_buf *to);
void pl_json_out_open(struct pl_json_out *out, char bracket);   /* '{' or '[' */
void pl_json_out_close(struct pl_json_out *out, char bracket);  /* '}' or ']' */
void pl_json_out_key(struct pl_json_out *out, const char *key); /* escaped if need be */
void pl_json_out_key_str(struct pl_json_out *out, struct pl_str key);
void pl_json_out_text(struct pl_json_out *out, struct pl_str text); /* UTF-8, gets quoted */
void pl_json_out_raw(struct pl_json_out *out, struct pl_str json);  /* one value, copied */
void pl_json_out_int(struct pl_json_out *out, int64_t value);
void pl_json_out_bool(struct pl_json_out *out, bool value);
void pl_json_out_null(struct pl_json_out *out);

#endif
