/* Looks up the words of a table by their English text. */
#include "app/table/local.h"
#include "base/str.h"

#include <stdio.h>

/* Headings of columns with values that are words of the program. */
static const char *const of_words[] = {"STATUS", "STATE",  "ROLE", "RESULT",
                                       "PINNED", "SHARED", "ASKS"};

struct pl_str pl_table_word(const struct pl_console *console, struct pl_str english)
{
    char text[64];
    if (!console->is_chinese || english.len >= sizeof text)
        return english;
    snprintf(text, sizeof text, "%.*s", PL_STR_ARG(english));
    const char *word = pl_console_word(console, text);
    return word == text ? english : pl_str_of(word);
}

struct pl_str pl_table_value(const struct pl_console *console, struct pl_str heading,
                             struct pl_str value)
{
    for (size_t i = 0; i < sizeof of_words / sizeof *of_words; i++)
        if (pl_str_eq(heading, pl_str_of(of_words[i])))
            return pl_table_word(console, value);
    return value;
}
