/* A text is "" for {NULL, 0}, else a '+' and its bytes. Words are searched linearly: the longest
 * table has about thirty. */
#include "live/wire/wire_fields.h"

#define THERE '+'

enum pl_status pl_wire_fail_syntax(struct pl_error *err)
{
    return pl_fail(err, PL_SYNTAX,
                   "A message from another server is incomplete or has another format; run the "
                   "same version on all servers of the cluster.");
}

static enum pl_status fail_value(const char *name, struct pl_error *err)
{
    return pl_fail(err, PL_INVALID,
                   "A message from another server has an unknown value of %s; run the same version "
                   "on all servers of the cluster.",
                   name);
}

/* --- single values --------------------------------------------------------------------------- */

/* The length of a field is filled in after its bytes are written. */
enum { N_HEAD = 1 + 4 };

size_t pl_wire_open(struct pl_buf *to)
{
    size_t at = to->len;
    pl_node_fields_put_bytes(to, PL_STR(""));
    return at;
}

void pl_wire_close(struct pl_buf *to, size_t at)
{
    if (to->status != PL_OK)
        return;
    size_t n = to->len - at - N_HEAD;
    if (n > UINT32_MAX) {
        to->status = PL_LIMIT;
        return;
    }
    for (size_t i = 1; i < N_HEAD; i++)
        to->ptr[at + i] = (char)(n >> (8 * (N_HEAD - 1 - i)));
}

void pl_wire_put_text(struct pl_buf *to, struct pl_str text)
{
    size_t at = pl_wire_open(to);
    if (text.ptr)
        pl_buf_addc(to, THERE);
    pl_buf_add(to, text);
    pl_wire_close(to, at);
}

struct pl_str pl_wire_take_text(struct pl_node_fields *fields)
{
    struct pl_str bytes = pl_node_fields_bytes(fields);
    if (!bytes.len)
        return (struct pl_str){NULL, 0};
    if (bytes.ptr[0] != THERE)
        fields->status = PL_SYNTAX;
    return fields->status == PL_OK ? pl_str_slice(bytes, 1, bytes.len) : (struct pl_str){NULL, 0};
}

enum pl_status pl_wire_put_word(struct pl_buf *to, const struct pl_wire_words *words,
                                unsigned value, const char *name, struct pl_error *err)
{
    if (value >= words->n || !words->words[value])
        return pl_fail(err, PL_INVALID, "This value of %s does not travel to another server.",
                       name);
    pl_node_fields_put_bytes(to, pl_str_of(words->words[value]));
    return PL_OK;
}

enum pl_status pl_wire_take_word(struct pl_node_fields *fields, const struct pl_wire_words *words,
                                 unsigned *ret_value, const char *name, struct pl_error *err)
{
    struct pl_str word = pl_node_fields_bytes(fields);
    if (fields->status != PL_OK)
        return fields->status;
    for (size_t i = 0; i < words->n; i++) {
        if (words->words[i] && pl_str_eq(word, pl_str_of(words->words[i]))) {
            *ret_value = (unsigned)i;
            return PL_OK;
        }
    }
    return fail_value(name, err);
}

bool pl_wire_take_flag(struct pl_node_fields *fields)
{
    int64_t number = pl_node_fields_number(fields);
    if (number != 0 && number != 1)
        fields->status = PL_SYNTAX;
    return fields->status == PL_OK && number == 1;
}

/* --- members --------------------------------------------------------------------------------- */

static uint64_t load(const char *at, size_t size)
{
    uint64_t value = 0;
    uint32_t half = 0;
    if (size == sizeof half) {
        memcpy(&half, at, sizeof half);
        return half;
    }
    memcpy(&value, at, sizeof value);
    return value;
}

static void save(char *at, size_t size, uint64_t value)
{
    uint32_t half = (uint32_t)value;
    if (size == sizeof half)
        memcpy(at, &half, sizeof half);
    else
        memcpy(at, &value, sizeof value);
}

static enum pl_status put_member(struct pl_buf *to, const struct pl_wire_field *field,
                                 const char *at, struct pl_error *err)
{
    struct pl_str text;
    switch (field->kind) {
    case PL_WIRE_TEXT:
        memcpy(&text, at, sizeof text);
        pl_wire_put_text(to, text);
        break;
    case PL_WIRE_CHARS:
        pl_node_fields_put_bytes(to, (struct pl_str){at, strnlen(at, field->size)});
        break;
    case PL_WIRE_FLAG:
        pl_node_fields_put_number(to, *(const bool *)at);
        break;
    case PL_WIRE_NUMBER:
    case PL_WIRE_COUNT:
        pl_node_fields_put_number(to, (int64_t)load(at, field->size));
        break;
    case PL_WIRE_WORD:
        return pl_wire_put_word(to, field->words, (unsigned)load(at, field->size), field->name,
                                err);
    case PL_WIRE_END:
        break;
    }
    return PL_OK;
}

enum pl_status pl_wire_put(struct pl_buf *to, const struct pl_wire_field *table, const void *from,
                           struct pl_error *err)
{
    size_t at = pl_wire_open(to);
    for (; table->kind != PL_WIRE_END; table++) {
        enum pl_status status = put_member(to, table, (const char *)from + table->offset, err);
        if (status != PL_OK) {
            to->len = at;
            return status;
        }
    }
    pl_wire_close(to, at);
    return PL_OK;
}

static enum pl_status take_chars(struct pl_node_fields *fields, const struct pl_wire_field *field,
                                 char *at, struct pl_error *err)
{
    struct pl_str text = pl_node_fields_bytes(fields);
    if (text.len >= field->size || (text.len && memchr(text.ptr, '\0', text.len)))
        return fail_value(field->name, err);
    if (text.len)
        memcpy(at, text.ptr, text.len);
    memset(at + text.len, 0, field->size - text.len);
    return PL_OK;
}

static enum pl_status take_count(struct pl_node_fields *fields, const struct pl_wire_field *field,
                                 char *at, struct pl_error *err)
{
    int64_t number = pl_node_fields_number(fields);
    if (number < 0 || (field->size == sizeof(uint32_t) && number > UINT32_MAX))
        return fail_value(field->name, err);
    save(at, field->size, (uint64_t)number);
    return PL_OK;
}

static enum pl_status take_member(struct pl_node_fields *fields, const struct pl_wire_field *field,
                                  char *at, struct pl_error *err)
{
    struct pl_str text;
    unsigned value = 0;
    enum pl_status status = PL_OK;
    switch (field->kind) {
    case PL_WIRE_TEXT:
        text = pl_wire_take_text(fields);
        memcpy(at, &text, sizeof text);
        break;
    case PL_WIRE_CHARS:
        status = take_chars(fields, field, at, err);
        break;
    case PL_WIRE_FLAG:
        *(bool *)at = pl_wire_take_flag(fields);
        break;
    case PL_WIRE_NUMBER:
        save(at, field->size, (uint64_t)pl_node_fields_number(fields));
        break;
    case PL_WIRE_COUNT:
        status = take_count(fields, field, at, err);
        break;
    case PL_WIRE_WORD:
        status = pl_wire_take_word(fields, field->words, &value, field->name, err);
        save(at, field->size, value);
        break;
    case PL_WIRE_END:
        break;
    }
    return status;
}

enum pl_status pl_wire_take(struct pl_node_fields *fields, const struct pl_wire_field *table,
                            void *to, struct pl_error *err)
{
    struct pl_node_fields members = pl_node_fields_of(pl_node_fields_bytes(fields));
    if (fields->status != PL_OK)
        return fields->status;
    for (; table->kind != PL_WIRE_END; table++) {
        enum pl_status status = take_member(&members, table, (char *)to + table->offset, err);
        if (status == PL_OK)
            status = members.status;
        if (status != PL_OK) {
            fields->status = status;
            return status;
        }
    }
    return PL_OK;
}

void pl_wire_copy(const struct pl_wire_field *table, const void *from, void *to)
{
    for (; table->kind != PL_WIRE_END; table++)
        memcpy((char *)to + table->offset, (const char *)from + table->offset, table->size);
}
