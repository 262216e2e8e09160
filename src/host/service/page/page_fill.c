#include "access/sign_in.h"
#include "service/page/page_files.h"

#include <stdio.h>

/* One of the words, or NULL. A cookie may contain any text, and this goes into HTML. */
static const char *cookie_word(const struct pl_exchange *x, const char *name,
                               const char *const *words)
{
    struct pl_str value = pl_cookie_get(x, name);
    for (; *words; words++)
        if (pl_str_eq(value, pl_str_of(*words)))
            return *words;
    return NULL;
}

/* Appends the tag without the attribute of this name. */
static void add_without(struct pl_buf *to, struct pl_str tag, const char *name)
{
    char begin[32];
    int n = snprintf(begin, sizeof begin, " %s=\"", name);
    const char *at = n > 0 ? memmem(tag.ptr, tag.len, begin, (size_t)n) : NULL;
    const char *end = at ? memchr(at + n, '"', tag.len - (size_t)(at + n - tag.ptr)) : NULL;
    if (!end) {
        pl_buf_add(to, tag);
        return;
    }
    pl_buf_add(to, (struct pl_str){tag.ptr, (size_t)(at - tag.ptr)});
    pl_buf_add(to, (struct pl_str){end + 1, (size_t)(tag.ptr + tag.len - end - 1)});
}

const char *pl_page_language(const struct pl_exchange *x)
{
    static const char *const languages[] = {"en", "zh-CN", NULL};
    const char *language = cookie_word(x, "parley-lang", languages);
    if (language)
        return language;
    return pl_exchange_wants_chinese(x) ? "zh-CN" : "en";
}

void pl_page_fill(struct pl_exchange *x, struct pl_str html, struct pl_buf *to)
{
    static const char *const themes[] = {"light", "dark", "auto", NULL};
    const char *begin = html.len ? memmem(html.ptr, html.len, "<html", 5) : NULL;
    const char *end = begin ? memchr(begin, '>', html.len - (size_t)(begin - html.ptr)) : NULL;
    if (!end) {
        pl_buf_add(to, html);
        return;
    }
    const char *theme = cookie_word(x, "parley-theme", themes);
    PL_CLEANUP_BUF struct pl_buf tag;
    pl_buf_init(&tag, 0);
    add_without(&tag, (struct pl_str){begin, (size_t)(end - begin)}, "lang");
    pl_buf_add(to, (struct pl_str){html.ptr, (size_t)(begin - html.ptr)});
    if (theme)
        add_without(to, pl_buf_str(&tag), "data-theme");
    else
        pl_buf_add(to, pl_buf_str(&tag));
    pl_buf_addf(to, " lang=\"%s\"", pl_page_language(x));
    if (theme)
        pl_buf_addf(to, " data-theme=\"%s\"", theme);
    pl_buf_add(to, (struct pl_str){end, (size_t)(html.ptr + html.len - end)});
    if (tag.status != PL_OK && to->status == PL_OK)
        to->status = tag.status;
}
