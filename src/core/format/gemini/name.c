/* gemini: names of functions. They begin with a letter or _, and have no other characters than
 * letters, digits, _ . : and -. Google refuses a request with any other name. */
#include "format/gemini/gemini_int.h"

#include "format/pieces/tool_name.h"

enum { NAME_MAX_LEN = 128 };

static bool is_first(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_accepted(struct pl_str name)
{
    if (!name.len || name.len > NAME_MAX_LEN || !is_first(name.ptr[0]))
        return false;
    for (size_t i = 1; i < name.len; i++) {
        char c = name.ptr[i];
        if (!is_first(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != ':')
            return false;
    }
    return true;
}

struct pl_str pl_gemini_name(struct pl_conv *conv, struct pl_val name)
{
    struct pl_str given = pl_conv_text(conv, name);
    if (is_accepted(given))
        return given;
    struct pl_str made = pl_tool_name_made(conv, given, NAME_MAX_LEN - 1);
    return !made.len || is_first(made.ptr[0]) ? made
                                              : pl_conv_printf(conv, "_%.*s", PL_STR_ARG(made));
}

void pl_gemini_write_name(struct pl_writer *w, struct pl_val name)
{
    struct pl_str given = pl_conv_text(w->conv, name), made = pl_gemini_name(w->conv, name);
    if (pl_str_eq(made, given)) {
        pl_w_string(w, name);
        return;
    }
    pl_w_string(w, pl_val_text(made));
    pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, name.node,
                 "Gemini accepts only 1 to %d letters, digits and _-.: in the name of a function, "
                 "after a letter or _; it is %.*s here",
                 NAME_MAX_LEN, PL_STR_ARG(made));
}
