/* Describes an unexpected byte and the path to it for the message. */
#include "json/parse/parse_error.h"

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "json/text.h"

#include <stdio.h>

static const struct {
    const char *text;
    bool is_between;
} expects[] = {
    [PL_JSON_EXPECT_VALUE] = {"a value", false},
    [PL_JSON_EXPECT_VALUE_OR_END] = {"a value or ']'", false},
    [PL_JSON_EXPECT_NUMBER] = {"a number", false},
    [PL_JSON_EXPECT_KEY] = {"a key in double quotes", true},
    [PL_JSON_EXPECT_KEY_OR_END] = {"a key in double quotes or '}'", true},
    [PL_JSON_EXPECT_COLON] = {"':' after the key", false},
    [PL_JSON_EXPECT_MEMBER_END] = {"',' or '}'", true},
    [PL_JSON_EXPECT_ELEMENT_END] = {"',' or ']'", true},
    [PL_JSON_EXPECT_NOTHING] = {"the end of the text", true},
};

/* Advice by the text found there; the first matching row wins. */
static const struct {
    const char *found;
    unsigned expects; /* bit set of pl_json_expect; 0 means any */
    const char *advice;
} advices[] = {
    {"//", 0, "JSON has no comments; remove it or read the text leniently"},
    {"/*", 0, "JSON has no comments; remove it or read the text leniently"},
    {"]", 1 << PL_JSON_EXPECT_VALUE, "remove the trailing comma or read the text leniently"},
    {"}", 1 << PL_JSON_EXPECT_KEY, "remove the trailing comma or read the text leniently"},
    {"'", 0, "strings need double quotes"},
    {"NaN", 0, "JSON has no NaN; use null"},
    {"Infinity", 0, "JSON has no infinity"},
    {"-Infinity", 0, "JSON has no infinity"},
    {"True", 0, "write true in lower case"},
    {"False", 0, "write false in lower case"},
    {"None", 0, "write null"},
    {"undefined", 0, "JSON has no undefined; use null"},
    {"\xEF\xBB\xBF", 0, "remove the byte-order mark or read the text leniently"},
    {"+", 1 << PL_JSON_EXPECT_VALUE, "numbers have no plus sign"},
    {".", 1 << PL_JSON_EXPECT_VALUE, "write a digit before the decimal point"},
    {"0", 1 << PL_JSON_EXPECT_NUMBER, "numbers have no leading zeros"},
    {"-0", 1 << PL_JSON_EXPECT_NUMBER, "numbers have no leading zeros"},
};

static const char *advice_for(struct pl_str rest, enum pl_json_expect expect)
{
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if ((!advices[i].expects || advices[i].expects >> expect & 1) &&
            pl_str_starts(rest, pl_str_of(advices[i].found)))
            return advices[i].advice;
    return NULL;
}

static bool is_word_byte(char c)
{
    return pl_ascii_is_alnum(c) || (c && strchr("+-._", c));
}

/* "'x'", "the end of the text", "'truth'": a whole word, or a single character. */
static void describe(struct pl_str rest, char *to, size_t size)
{
    size_t n_word = 0, at = 0;
    while (n_word < rest.len && n_word < 24 && is_word_byte(rest.ptr[n_word]))
        n_word++;
    if (rest.len == 0)
        snprintf(to, size, "the end of the text");
    else if (n_word)
        snprintf(to, size, "'%.*s'", (int)n_word, rest.ptr);
    else if (pl_utf8_next(rest, &at) >= ' ' && rest.ptr[0] != 0x7F)
        snprintf(to, size, "'%.*s'", (int)at, rest.ptr);
    else
        snprintf(to, size, "byte 0x%02X", (unsigned char)rest.ptr[0]);
}

bool pl_json_expect_is_between(enum pl_json_expect expect)
{
    return expects[expect].is_between;
}

enum pl_status pl_json_fail_unexpected(struct pl_error *err, struct pl_str text, size_t off,
                                       enum pl_json_expect expect)
{
    struct pl_str rest = pl_str_slice(text, off, text.len);
    char found[64];
    describe(rest, found, sizeof found);
    const char *advice = advice_for(rest, expect);
    return pl_fail(err, PL_SYNTAX, "expected %s, but found %s%s%s", expects[expect].text, found,
                   advice ? "; " : "", advice ? advice : "");
}

struct pl_json_path pl_json_path(char *to, size_t size)
{
    to[0] = 0;
    return (struct pl_json_path){.to = to, .size = size};
}

/* Whole steps only: half a key would name something else. */
static void add_step(struct pl_json_path *path, const char *step, size_t len)
{
    static const char dots[] = "/…";
    if (path->is_cut)
        return;
    path->is_cut = path->len + len + sizeof dots > path->size;
    if (path->is_cut) {
        step = dots;
        len = sizeof dots - 1;
    }
    memcpy(path->to + path->len, step, len);
    path->len += len;
    path->to[path->len] = 0;
}

void pl_json_path_add_index(struct pl_json_path *path, uint32_t index)
{
    char step[16];
    add_step(path, step, (size_t)snprintf(step, sizeof step, "/%u", index));
}

void pl_json_path_add_key(struct pl_json_path *path, const struct pl_json_doc *doc,
                          const struct pl_json_node *key)
{
    char step[256];
    size_t len = 0;
    step[len++] = '/';
    struct pl_json_walk walk = pl_json_walk(doc, key);
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0 && len + 2 < sizeof step;) {
        bool is_special = byte == '~' || byte == '/';
        step[len++] = is_special ? '~' : (char)byte;
        if (is_special)
            step[len++] = byte == '~' ? '0' : '1';
    }
    add_step(path, step, len);
}
