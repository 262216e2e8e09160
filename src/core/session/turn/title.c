/* The title of a session without one: the first words of its first message. */
#include "session/rows.h"

#include "base/arena.h"
#include "base/ascii.h"
#include "base/text/utf8.h"
#include "json/json.h"
#include "json/text.h"

enum { TITLE_CHARACTERS = 80 };

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/* The first line that has words. */
static struct pl_str first_line(struct pl_str text)
{
    size_t at = 0, end;
    while (at < text.len && is_space(text.ptr[at]))
        at++;
    for (end = at; end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r';)
        end++;
    while (end > at && is_space(text.ptr[end - 1]))
        end--;
    return pl_str_slice(text, at, end);
}

void pl_title_write(struct pl_str text, struct pl_buf *to)
{
    struct pl_str line = first_line(text);
    size_t at = 0, n = 0, n_words = to->len; /* n_words: end of the last whole word */
    size_t begin = to->len;
    while (at < line.len && n < TITLE_CHARACTERS) {
        size_t from = at;
        if (is_space(line.ptr[at])) {
            n_words = to->len;
            while (is_space(line.ptr[at])) /* a line never ends with a space */
                at++;
            pl_buf_addc(to, ' ');
        } else {
            (void)pl_utf8_next(line, &at);
            pl_buf_add(to, pl_str_slice(line, from, at));
        }
        n++;
    }
    if (at == line.len)
        return;
    /* Cut at the end of a word, unless less than half would remain: some languages have no
     * spaces. */
    if (to->status == PL_OK && n_words - begin > (to->len - begin) / 2)
        to->len = n_words;
    pl_buf_adds(to, "…");
}

static const struct pl_json_node *text_of(const struct pl_json_doc *doc,
                                          const struct pl_json_node *part)
{
    if (pl_json_kind(part) == PL_JSON_STRING)
        return part;
    const struct pl_json_node *type =
        pl_json_kind(part) == PL_JSON_OBJECT ? pl_json_get(doc, part, PL_STR("type")) : NULL;
    if (!pl_json_is(type, PL_JSON_STRING) || !pl_json_text_is(doc, type, PL_STR("text")))
        return NULL;
    const struct pl_json_node *content = pl_json_get(doc, part, PL_STR("content"));
    content = content ? content : pl_json_get(doc, part, PL_STR("text"));
    return pl_json_is(content, PL_JSON_STRING) ? content : NULL;
}

enum pl_status pl_message_title(const struct pl_json_doc *doc, const struct pl_json_node *message,
                                struct pl_buf *to)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    bool is_list = pl_json_kind(message) == PL_JSON_ARRAY;
    const struct pl_json_node *part = is_list ? pl_json_first(message) : message;
    const struct pl_json_node *end = is_list ? pl_json_end(message) : message + 1;
    size_t begin = to->len;
    for (; part < end && to->len == begin; part = is_list ? pl_json_next(part) : end) {
        const struct pl_json_node *said = text_of(doc, part);
        struct pl_str text = {0};
        enum pl_status status = said ? pl_json_text(&arena, doc, said, &text) : PL_OK;
        if (status != PL_OK)
            return status;
        pl_title_write(text, to);
    }
    return to->status;
}
