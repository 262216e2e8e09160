#include "format/tool_name.h"

/* A letter, a digit, _ or -. */
static const unsigned char is_plain[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['_'] = 1, ['-'] = 1,
};

/* Nearly every name is, so it is looked at whole, without a branch for each letter. */
static bool is_accepted(struct pl_str name, size_t max_len)
{
    if (!name.len || name.len > max_len)
        return false;
    unsigned char is_all_plain = 1;
    for (size_t i = 0; i < name.len; i++)
        is_all_plain &= is_plain[(unsigned char)name.ptr[i]];
    return is_all_plain;
}

/* FNV-1a, 32 bits: enough to keep the few tools of one request apart. */
static uint32_t number_of(struct pl_str name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash;
}

#define NUMBER_LEN 9 /* "_%08x" */

struct pl_str pl_tool_name_of(struct pl_conv *conv, struct pl_str given, size_t max_len)
{
    if (is_accepted(given, max_len))
        return given;
    size_t n = given.len < max_len - NUMBER_LEN ? given.len : max_len - NUMBER_LEN;
    struct pl_str made =
        pl_conv_printf(conv, "%.*s_%08x", (int)n, n ? given.ptr : "", (unsigned)number_of(given));
    char *text = made.len ? pl_arena_alloc(conv->arena, made.len, 1) : NULL;
    if (!text) {
        conv->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    for (size_t i = 0; i < made.len; i++)
        text[i] = is_plain[(unsigned char)made.ptr[i]] ? made.ptr[i] : '_';
    return (struct pl_str){text, made.len};
}

struct pl_str pl_tool_name(struct pl_conv *conv, struct pl_val name, size_t max_len)
{
    return pl_tool_name_of(conv, pl_conv_text(conv, name), max_len);
}

void pl_tool_name_write(struct pl_writer *w, struct pl_val name, size_t max_len)
{
    struct pl_str given = pl_conv_text(w->conv, name);
    if (is_accepted(given, max_len)) {
        pl_w_string(w, name);
        if (name.kind == PL_VAL_TEXT && name.node)
            pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, name.node,
                         "another tool has this name; here it is %.*s", PL_STR_ARG(given));
        return;
    }
    struct pl_str made = pl_tool_name_of(w->conv, given, max_len);
    pl_w_string(w, pl_val_text(made));
    pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, name.node,
                 "the target accepts only 1 to %zu letters, digits, _ and - in the name of a tool; "
                 "here it is %.*s",
                 max_len, PL_STR_ARG(made));
}
