/* Parameters of statements. Ids are packed into 16 bytes: a third of their text, in both databases
 * and in every index. */
#include "store/store_int.h"
#include "base/text/terms.h"

static void add(struct pl_params *params, struct pl_sql_value value)
{
    params->values[params->n++] = value;
}

static void refuse(struct pl_params *params, const char *why, struct pl_str what)
{
    add(params, (struct pl_sql_value){PL_SQL_VALUE_NULL});
    if (params->status != PL_OK)
        return;
    what.len = what.len > 60 ? 60 : what.len;
    params->status = pl_fail(params->err, PL_INVALID, "\"%.*s\" %s", PL_STR_ARG(what), why);
}

void pl_params_int(struct pl_params *params, int64_t number)
{
    add(params, (struct pl_sql_value){PL_SQL_VALUE_INT, .number = number});
}

void pl_params_text(struct pl_params *params, struct pl_str text)
{
    if (!text.ptr)
        add(params, (struct pl_sql_value){PL_SQL_VALUE_NULL});
    else if (memchr(text.ptr, 0, text.len))
        refuse(params, "contains U+0000, which cannot be stored", PL_STR("the text"));
    else
        add(params, (struct pl_sql_value){PL_SQL_VALUE_TEXT, .bytes = text});
}

void pl_params_bytes(struct pl_params *params, struct pl_str bytes)
{
    add(params,
        (struct pl_sql_value){bytes.ptr ? PL_SQL_VALUE_BYTES : PL_SQL_VALUE_NULL, .bytes = bytes});
}

/* The value of a digit plus one; 0: not a digit that we write. */
static const uint8_t digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Accepts only the spelling that we write: a capital letter would be a second name for the same
 * row. */
static bool pack(struct pl_str id, const char *prefix, char ret_bytes[PL_UUID_BYTES])
{
    /* Where the digits of each byte are in a UUID. */
    static const uint8_t places[PL_UUID_BYTES] = {0,  2,  4,  6,  9,  11, 14, 16,
                                                  19, 21, 24, 26, 28, 30, 32, 34};
    size_t n = strlen(prefix);
    if (id.len != n + PL_UUID_SIZE || !pl_str_begins(id, prefix))
        return false;
    const char *uuid = id.ptr + n;
    if (uuid[8] != '-' || uuid[13] != '-' || uuid[18] != '-' || uuid[23] != '-')
        return false;
    bool is_good = true;
    for (size_t i = 0; i < PL_UUID_BYTES; i++) {
        unsigned high = digits[(uint8_t)uuid[places[i]]],
                 low = digits[(uint8_t)uuid[places[i] + 1]];
        is_good = is_good && high && low;
        ret_bytes[i] = (char)((high - 1) << 4 | ((low - 1) & 15));
    }
    return is_good;
}

void pl_params_id(struct pl_params *params, struct pl_str id, const char *prefix)
{
    char *to = params->ids[params->n_ids];
    if (!id.ptr) {
        add(params, (struct pl_sql_value){PL_SQL_VALUE_NULL});
    } else if (!pack(id, prefix, to)) {
        refuse(params, "is not an id of this kind: a prefix and a UUID in lower case", id);
    } else {
        add(params, (struct pl_sql_value){PL_SQL_VALUE_BYTES, .bytes = {to, PL_UUID_BYTES}});
        params->n_ids++;
    }
}

void pl_params_id_bound(struct pl_params *params, struct pl_str id, const char *prefix)
{
    static const char last[PL_UUID_BYTES + 1] = "\xff\xff\xff\xff\xff\xff\xff\xff"
                                                "\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    if (id.len)
        pl_params_id(params, id, prefix);
    else
        add(params, (struct pl_sql_value){PL_SQL_VALUE_BYTES, .bytes = {last, sizeof last}});
}

void pl_params_loop(struct pl_params *params, struct pl_str loop_id)
{
    if (pl_str_eq(loop_id, PL_STR("root")))
        add(params, (struct pl_sql_value){PL_SQL_VALUE_BYTES, .bytes = PL_STR("")});
    else
        pl_params_id(params, loop_id, "loop_");
}

void pl_pattern_write(struct pl_str text, struct pl_buf *to)
{
    if (!text.len)
        return;
    pl_buf_addc(to, '%');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' || text.ptr[i] == '_' || text.ptr[i] == '!')
            pl_buf_addc(to, '!');
        pl_buf_addc(to, text.ptr[i]);
    }
    pl_buf_addc(to, '%');
}

static bool is_of_term(char c)
{
    return (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static void add_term(struct pl_str word, struct pl_buf *to)
{
    if (to->len + word.len + 1 > PL_TERMS_MAX)
        return;
    if (to->len)
        pl_buf_addc(to, ' ');
    pl_buf_add(to, word);
}

void pl_params_terms(struct pl_params *params, struct pl_str terms, struct pl_buf *to)
{
    for (size_t at = 0; at < terms.len;) {
        size_t end = at;
        while (end < terms.len && is_of_term(terms.ptr[end]))
            end++;
        /* The mark of a prefix term. */
        end += end > at && end < terms.len && terms.ptr[end] == '*';
        if (end > at && end - at <= PL_TERMS_MAX_WORD + 1)
            add_term(pl_str_slice(terms, at, end), to);
        at = end > at ? end : at + 1;
    }
    if (to->status != PL_OK && params->status == PL_OK)
        params->status = pl_fail(params->err, to->status, "out of memory while reading terms");
    pl_params_text(params, !terms.ptr ? terms : to->len ? pl_buf_str(to) : PL_STR(""));
}
