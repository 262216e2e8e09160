/* The history summary replaces the messages that were left out of a conversation.
 *
 *     [history_summary: They chose 2D.
 *     earlier messages were left out to make room: 5 of the user, 4 of the assistant, …]
 *
 * The caller of the trim may give the words; without them there is only the count. A later trim
 * finds both: it keeps the words and adds up the counts. */
#include "conv/trim/trim_int.h"

#include "base/ascii.h"

#define HEAD  "[history_summary: "
#define COUNT "earlier messages were left out to make room: "
#define SHORT "earlier messages left out"

static bool is_marked(struct pl_str text)
{
    return pl_str_starts(text, PL_STR(HEAD)) && text.ptr[text.len - 1] == ']';
}

bool pl_trim_is_summary(struct pl_conv *conv, const struct pl_part *part)
{
    /* Fast path: most texts begin differently and need no decoding. */
    if (part->text.kind == PL_VAL_NODE && pl_json_is(part->text.node, PL_JSON_STRING)) {
        struct pl_str raw = pl_json_raw(conv->doc, part->text.node);
        if (!raw.len || (raw.ptr[0] != '[' && raw.ptr[0] != '\\'))
            return false;
    }
    return part->kind == PL_PART_TEXT && is_marked(pl_conv_text(conv, part->text));
}

static struct pl_str trimmed(struct pl_str s)
{
    while (s.len && pl_ascii_is_space(s.ptr[0]))
        s = pl_str_slice(s, 1, s.len);
    while (s.len && pl_ascii_is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Reads a number at the start of *text, and the words that must follow it. */
static bool take_number(struct pl_str *text, struct pl_str after, uint32_t *ret_n)
{
    uint32_t n = 0;
    size_t at = 0;
    for (; at < text->len && at < 9 && pl_ascii_is_digit(text->ptr[at]); at++)
        n = n * 10 + (uint32_t)(text->ptr[at] - '0');
    struct pl_str rest = pl_str_slice(*text, at, text->len);
    if (!at || !pl_str_starts(rest, after))
        return false;
    *text = pl_str_slice(rest, after.len, rest.len);
    *ret_n = n;
    return true;
}

/* The offset of the last occurrence of `words`, or the length of the text if there is none. */
static size_t find_last(struct pl_str text, struct pl_str words)
{
    for (size_t at = text.len; at + 1 > words.len; at--)
        if (pl_str_starts(pl_str_slice(text, at - words.len, text.len), words))
            return at - words.len;
    return text.len;
}

/* Adds the count at the end of an earlier summary, and returns the words before it. */
static struct pl_str take_count(struct pl_trim *t, struct pl_str text)
{
    size_t at = find_last(text, PL_STR(COUNT));
    struct pl_str rest = pl_str_slice(text, at, text.len);
    struct pl_trim_census more;
    if (pl_str_eq(text, PL_STR(SHORT)))
        return (struct pl_str){0};
    if (!rest.len)
        return text;
    rest = pl_str_slice(rest, sizeof COUNT - 1, rest.len);
    if (!take_number(&rest, PL_STR(" of the user, "), &more.n_users) ||
        !take_number(&rest, PL_STR(" of the assistant, "), &more.n_assistants) ||
        !take_number(&rest, PL_STR(" with tool results"), &more.n_results) || rest.len)
        return text;
    t->gone.n_users += more.n_users;
    t->gone.n_assistants += more.n_assistants;
    t->gone.n_results += more.n_results;
    return pl_str_slice(text, 0, at);
}

void pl_trim_keep_summary(struct pl_trim *t, const struct pl_part *part)
{
    if (!pl_trim_is_summary(t->conv, part))
        return;
    struct pl_str text = pl_conv_text(t->conv, part->text);
    struct pl_str words =
        trimmed(take_count(t, trimmed(pl_str_slice(text, sizeof HEAD - 1, text.len - 1))));
    if (!words.len)
        return;
    t->earlier = t->earlier.len ? pl_conv_printf(t->conv, "%.*s\n%.*s", PL_STR_ARG(t->earlier),
                                                 PL_STR_ARG(words))
                                : words;
}

struct pl_str pl_trim_write_summary(struct pl_trim *t, bool is_short)
{
    const struct pl_trim_census *gone = &t->gone;
    struct pl_str given = t->opts->summary, earlier = t->earlier;
    const char *gap = earlier.len ? "\n" : "";
    if (given.len && is_marked(given) && !earlier.len)
        return given;
    if (given.len)
        return pl_conv_printf(t->conv, HEAD "%.*s%s%.*s]", PL_STR_ARG(earlier), gap,
                              PL_STR_ARG(given));
    if (is_short && earlier.len)
        return pl_conv_printf(t->conv, HEAD "%.*s]", PL_STR_ARG(earlier));
    if (is_short)
        return PL_STR(HEAD SHORT "]");
    return pl_conv_printf(
        t->conv, HEAD "%.*s%s" COUNT "%u of the user, %u of the assistant, %u with tool results]",
        PL_STR_ARG(earlier), gap, gone->n_users, gone->n_assistants, gone->n_results);
}
