/* Structs as fields of a letter between nodes, by a table: one line per member, one field per line,
 * in the order of the table. Every struct is a field (bytes) of the letter, so that a later version
 * may add members at its end.
 *
 * Texts keep the difference between {NULL, 0} and an empty text. Enums are words, because another
 * build may have other numbers. All received bytes are checked. */
#ifndef PL_LIVE_WIRE_WIRE_FIELDS_H
#define PL_LIVE_WIRE_WIRE_FIELDS_H

#include "base/arena.h"
#include "cluster/node_fields.h"

enum pl_wire_kind {
    PL_WIRE_END,    /* after the last line of a table */
    PL_WIRE_TEXT,   /* struct pl_str */
    PL_WIRE_CHARS,  /* char[size], ends with NUL */
    PL_WIRE_FLAG,   /* bool */
    PL_WIRE_NUMBER, /* int64_t */
    PL_WIRE_COUNT,  /* size_t or uint32_t */
    PL_WIRE_WORD,   /* an enum; NULL among the words: a value that is not sent */
};

struct pl_wire_words {
    const char *const *words; /* by value */
    size_t n;
};

struct pl_wire_field {
    enum pl_wire_kind kind;
    const char *name; /* of the member */
    size_t offset, size;
    const struct pl_wire_words *words; /* WORD */
};

#define PL_WIRE(wire_kind, type, member)                                                           \
    {                                                                                              \
        PL_WIRE_##wire_kind, #member, offsetof(struct type, member),                               \
            sizeof(((struct type *)0)->member), NULL                                               \
    }
#define PL_WIRE_ENUM(type, member, table)                                                          \
    {                                                                                              \
        PL_WIRE_WORD, #member, offsetof(struct type, member), sizeof(((struct type *)0)->member),  \
            &(table)                                                                               \
    }
#define PL_WIRE_WORDS(array)                                                                       \
    {                                                                                              \
        (array), sizeof(array) / sizeof *(array)                                                   \
    }

/* Appends the members as one field. PL_INVALID: a value has no word, *err (may be NULL) says which
 * member, and `to` is unchanged. A lack of memory is in the status of `to`. */
enum pl_status pl_wire_put(struct pl_buf *to, const struct pl_wire_field *table, const void *from,
                           struct pl_error *err);
/* Reads such a field into the members. Texts are views of the bytes of `fields`. PL_SYNTAX:
 * truncated, or another type; PL_INVALID: a value that the member cannot have. On failure the
 * members are partly set. */
enum pl_status pl_wire_take(struct pl_node_fields *fields, const struct pl_wire_field *table,
                            void *to, struct pl_error *err);
/* Copies the members; texts stay views. */
void pl_wire_copy(const struct pl_wire_field *table, const void *from, void *to);

/* One word; PL_INVALID like pl_wire_put. */
enum pl_status pl_wire_put_word(struct pl_buf *to, const struct pl_wire_words *words,
                                unsigned value, const char *name, struct pl_error *err);
enum pl_status pl_wire_take_word(struct pl_node_fields *fields, const struct pl_wire_words *words,
                                 unsigned *ret_value, const char *name, struct pl_error *err);
/* One text that may be {NULL, 0}. */
void pl_wire_put_text(struct pl_buf *to, struct pl_str text);
struct pl_str pl_wire_take_text(struct pl_node_fields *fields);
/* A flag; false after a failure. */
bool pl_wire_take_flag(struct pl_node_fields *fields);

/* A field of bytes that is written in pieces; pl_wire_close needs the returned number. */
size_t pl_wire_open(struct pl_buf *to);
void pl_wire_close(struct pl_buf *to, size_t at);

/* Fails with PL_SYNTAX: bytes end too early, or have other types than expected. */
enum pl_status pl_wire_fail_syntax(struct pl_error *err);

#endif
