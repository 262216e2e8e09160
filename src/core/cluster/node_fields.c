/* Typed fields. The input is not trusted: every length is checked against the remaining bytes. */
#include "cluster/node_fields.h"

enum { TYPE_NUMBER = 'n', TYPE_BYTES = 'b', N_NUMBER = 8, N_LENGTH = 4 };

static void put_big_endian(struct pl_buf *to, uint64_t number, size_t n)
{
    for (size_t i = n; i-- > 0;)
        pl_buf_addc(to, (char)(number >> (8 * i)));
}

void pl_node_fields_put_number(struct pl_buf *to, int64_t number)
{
    pl_buf_addc(to, TYPE_NUMBER);
    put_big_endian(to, (uint64_t)number, N_NUMBER);
}

void pl_node_fields_put_bytes(struct pl_buf *to, struct pl_str bytes)
{
    if (bytes.len > UINT32_MAX) {
        to->status = to->status == PL_OK ? PL_LIMIT : to->status;
        return;
    }
    pl_buf_addc(to, TYPE_BYTES);
    put_big_endian(to, bytes.len, N_LENGTH);
    pl_buf_add(to, bytes);
}

void pl_node_fields_put_id(struct pl_buf *to, const struct pl_node_id *id)
{
    pl_node_fields_put_bytes(to, (struct pl_str){(const char *)id->bytes, sizeof id->bytes});
}

struct pl_node_fields pl_node_fields_of(struct pl_str body)
{
    return (struct pl_node_fields){.left = body, .status = PL_OK};
}

bool pl_node_fields_has_more(const struct pl_node_fields *fields)
{
    return fields->status == PL_OK && fields->left.len > 0;
}

static struct pl_str take(struct pl_node_fields *fields, uint64_t n)
{
    struct pl_str taken = {NULL, 0};
    if (fields->status != PL_OK || n > fields->left.len) {
        fields->status = PL_SYNTAX;
        return taken;
    }
    taken = pl_str_slice(fields->left, 0, n);
    fields->left = pl_str_slice(fields->left, n, fields->left.len);
    return taken;
}

static uint64_t take_big_endian(struct pl_node_fields *fields, size_t n)
{
    uint64_t number = 0;
    struct pl_str taken = take(fields, n);
    for (size_t i = 0; i < taken.len; i++)
        number = number << 8 | (unsigned char)taken.ptr[i];
    return number;
}

static void take_type(struct pl_node_fields *fields, char type)
{
    struct pl_str taken = take(fields, 1);
    if (taken.len && taken.ptr[0] != type)
        fields->status = PL_SYNTAX;
}

int64_t pl_node_fields_number(struct pl_node_fields *fields)
{
    take_type(fields, TYPE_NUMBER);
    return (int64_t)take_big_endian(fields, N_NUMBER);
}

struct pl_str pl_node_fields_bytes(struct pl_node_fields *fields)
{
    take_type(fields, TYPE_BYTES);
    uint64_t n = take_big_endian(fields, N_LENGTH);
    return take(fields, n);
}

struct pl_node_id pl_node_fields_id(struct pl_node_fields *fields)
{
    struct pl_node_id id = {0};
    struct pl_str bytes = pl_node_fields_bytes(fields);
    if (bytes.len == sizeof id.bytes)
        memcpy(id.bytes, bytes.ptr, sizeof id.bytes);
    else
        fields->status = PL_SYNTAX;
    return id;
}
