/* JSON Pointers (RFC 6901, relative ones by draft-bhutton-relative-json-pointer), UUIDs
 * (RFC 4122, section 3) and regular expressions (ECMA-262). */
#include "schema/format/format_int.h"

#include "schema/regex/regex_int.h"

bool pl_format_is_json_pointer(struct pl_str text)
{
    if (text.len > 0 && text.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '~' &&
            (i + 1 == text.len || (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1')))
            return false;
    return true;
}

bool pl_format_is_relative_json_pointer(struct pl_str text)
{
    size_t at = 0;

    while (at < text.len && pl_ascii_is_digit(text.ptr[at]))
        at++;
    if (at == 0 || (at > 1 && text.ptr[0] == '0'))
        return false;
    return pl_str_eq(pl_str_slice(text, at, text.len), PL_STR("#")) ||
           pl_format_is_json_pointer(pl_str_slice(text, at, text.len));
}

bool pl_format_is_uuid(struct pl_str text)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    if (text.len != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (shape[i] == 'x' ? !pl_ascii_is_hex(text.ptr[i]) : text.ptr[i] != shape[i])
            return false;
    return true;
}

/* Checks only the grammar: a pattern that this engine cannot run (a lookbehind of varying length)
 * is still a regular expression. */
bool pl_format_is_regex(struct pl_str text)
{
    return pl_regex_translate(text, false, NULL, NULL, NULL) == PL_OK;
}
