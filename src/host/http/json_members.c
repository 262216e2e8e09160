#include "http/json_members.h"

#include "base/text/utc.h"
#include "json/text.h"

enum pl_status pl_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *name,
                              struct pl_str *ret_text)
{
    const struct pl_json_node *node = object ? pl_json_get(doc, object, pl_str_of(name)) : NULL;
    *ret_text = (struct pl_str){0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(arena, doc, node, ret_text);
}

void pl_put_text(struct pl_json_out *out, const char *name, struct pl_str text)
{
    pl_json_out_key(out, name);
    if (text.ptr)
        pl_json_out_text(out, text);
    else
        pl_json_out_null(out);
}

void pl_put_raw(struct pl_json_out *out, const char *name, struct pl_str json)
{
    pl_json_out_key(out, name);
    if (json.ptr)
        pl_json_out_raw(out, json);
    else
        pl_json_out_null(out);
}

void pl_put_bool(struct pl_json_out *out, const char *name, bool value)
{
    pl_json_out_key(out, name);
    pl_json_out_bool(out, value);
}

void pl_put_int(struct pl_json_out *out, const char *name, int64_t value)
{
    pl_json_out_key(out, name);
    pl_json_out_int(out, value);
}

void pl_put_number(struct pl_json_out *out, const char *name, int64_t number)
{
    if (number)
        pl_put_int(out, name, number);
    else
        pl_put_raw(out, name, (struct pl_str){0});
}

void pl_put_time(struct pl_json_out *out, const char *name, int64_t unix_ms)
{
    char text[PL_UTC_SIZE];
    bool is_known = unix_ms != 0 && unix_ms != INT64_MAX;
    if (is_known)
        pl_utc_write(text, unix_ms);
    pl_put_text(out, name, is_known ? (struct pl_str){text, sizeof text} : (struct pl_str){0});
}
