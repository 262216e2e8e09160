#include "app/manual/wording.h"

#include "words/words.h"

#include <stdio.h>

const char *pl_wording(bool is_chinese, const char *english)
{
    return is_chinese ? pl_words_of(english) : english;
}

/* Writes "new, edit" as "new、edit". */
static size_t put_verbs(const char *verbs, char *to, size_t size)
{
    size_t len = 0;
    for (const char *at = verbs; *at && len < size;) {
        size_t n = strcspn(at, ",");
        len +=
            (size_t)snprintf(to + len, size - len, "%s%.*s", at == verbs ? "" : "、", (int)n, at);
        at += n;
        at += strspn(at, ", ");
    }
    return len < size ? len : size - 1;
}

const char *pl_wording_of_option(bool is_chinese, const struct pl_option *option, char *to,
                                 size_t size)
{
    const char *help = pl_wording(is_chinese, option->help);
    size_t n = is_chinese && option->verbs ? put_verbs(option->verbs, to, size) : 0;
    if (is_chinese)
        snprintf(to + n, size - n, "%s%s", n ? "：" : "", help);
    else
        snprintf(to, size, "%s%s%s", option->verbs ? option->verbs : "", option->verbs ? ": " : "",
                 help);
    return to;
}

bool pl_wording_of_choices(bool is_chinese, pl_choice_fn *choice, char *to, size_t size)
{
    size_t len = 0;
    if (!is_chinese)
        return pl_choice_list(choice, to, size);
    to[0] = '\0';
    for (size_t i = 0; choice(i) && len < size; i++)
        len += (size_t)snprintf(to + len, size - len, "%s%s",
                                i == 0          ? ""
                                : choice(i + 1) ? "、"
                                                : " 或 ",
                                choice(i));
    return len < size;
}
