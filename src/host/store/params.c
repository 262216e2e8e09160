/* Parameters of statements. Ids are packed into 16 bytes: a third of their text, in both databases
 * and in every index. */
#include "store/store_int.h"
#include "base/uuid.h"

static void add(struct pl_params *params, struct pl_value value)
{
    params->values[params->n++] = value;
}

static void refuse(struct pl_params *params, const char *why, struct pl_str what)
{
    add(params, (struct pl_value){PL_VALUE_NULL});
    if (params->status != PL_OK)
        return;
    what.len = what.len > 60 ? 60 : what.len;
    params->status = pl_fail(params->err, PL_INVALID, "\"%.*s\" %s", PL_STR_ARG(what), why);
}

void pl_params_int(struct pl_params *params, int64_t number)
{
    add(params, (struct pl_value){PL_VALUE_INT, .number = number});
}

void pl_params_text(struct pl_params *params, struct pl_str text)
{
    if (!text.ptr)
        add(params, (struct pl_value){PL_VALUE_NULL});
    else if (memchr(text.ptr, 0, text.len))
        refuse(params, "holds U+0000, which cannot be stored", PL_STR("the text"));
    else
        add(params, (struct pl_value){PL_VALUE_TEXT, .bytes = text});
}

void pl_params_bytes(struct pl_params *params, struct pl_str bytes)
{
    add(params, (struct pl_value){bytes.ptr ? PL_VALUE_BYTES : PL_VALUE_NULL, .bytes = bytes});
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Only the spelling we write is an id: a capital letter would be a second name for the same row. */
static bool pack(struct pl_str id, const char *prefix, char ret_bytes[PL_UUID_BYTES])
{
    size_t at = strlen(prefix);
    if (!pl_id_is(id, prefix))
        return false;
    for (size_t i = 0; i < PL_UUID_BYTES; i++, at += 2) {
        at += id.ptr[at] == '-';
        int high = digit_of(id.ptr[at]), low = digit_of(id.ptr[at + 1]);
        if (high < 0 || low < 0)
            return false;
        ret_bytes[i] = (char)(high << 4 | low);
    }
    return true;
}

void pl_params_id(struct pl_params *params, struct pl_str id, const char *prefix)
{
    char *to = params->ids[params->n_ids];
    if (!id.ptr) {
        add(params, (struct pl_value){PL_VALUE_NULL});
    } else if (!pack(id, prefix, to)) {
        refuse(params, "is no id of this kind: a prefix and a UUID in small letters", id);
    } else {
        add(params, (struct pl_value){PL_VALUE_BYTES, .bytes = {to, PL_UUID_BYTES}});
        params->n_ids++;
    }
}

void pl_params_loop(struct pl_params *params, struct pl_str loop_id)
{
    if (pl_str_eq(loop_id, PL_STR("root")))
        add(params, (struct pl_value){PL_VALUE_BYTES, .bytes = PL_STR("")});
    else
        pl_params_id(params, loop_id, "loop_");
}
