/* Names are compared in a small buffer: trimmed, in lower case, and truncated if longer than every
 * name of the tables. A truncated name equals none of them. */
#include "extproto/capability.h"

#include "base/ascii.h"
#include "json/text.h"

enum { MAX_WORD = 16 };

struct word {
    char text[MAX_WORD]; /* lower case */
    size_t len;          /* MAX_WORD: longer than any known name */
};

static const char *const names[] = {
    [PL_EXT_CAP_READ] = "read",     [PL_EXT_CAP_WRITE] = "write",     [PL_EXT_CAP_HTTP] = "http",
    [PL_EXT_CAP_EVENTS] = "events", [PL_EXT_CAP_SESSION] = "session", [PL_EXT_CAP_UI] = "ui",
    [PL_EXT_CAP_EXEC] = "exec",     [PL_EXT_CAP_ENV] = "env",         [PL_EXT_CAP_TOOL] = "tool",
    [PL_EXT_CAP_LOG] = "log",
};

struct derived {
    const char *word;
    enum pl_ext_capability capability;
};

/* Tools that the host runs itself; every other tool runs in the extension that owns it. */
static const struct derived tools[] = {
    {"read", PL_EXT_CAP_READ}, {"grep", PL_EXT_CAP_READ},   {"find", PL_EXT_CAP_READ},
    {"ls", PL_EXT_CAP_READ},   {"write", PL_EXT_CAP_WRITE}, {"edit", PL_EXT_CAP_WRITE},
    {"bash", PL_EXT_CAP_EXEC}, {NULL, PL_EXT_CAP_TOOL},
};

static const struct derived operations[] = {
    {"read", PL_EXT_CAP_READ},    {"list", PL_EXT_CAP_READ},    {"readdir", PL_EXT_CAP_READ},
    {"stat", PL_EXT_CAP_READ},    {"write", PL_EXT_CAP_WRITE},  {"mkdir", PL_EXT_CAP_WRITE},
    {"delete", PL_EXT_CAP_WRITE}, {"remove", PL_EXT_CAP_WRITE}, {"rm", PL_EXT_CAP_WRITE},
    {NULL, PL_EXT_CAP_NONE},
};

/* Methods that need the capability of their own name. */
static const struct derived methods[] = {
    {"exec", PL_EXT_CAP_EXEC}, {"http", PL_EXT_CAP_HTTP},     {"session", PL_EXT_CAP_SESSION},
    {"ui", PL_EXT_CAP_UI},     {"events", PL_EXT_CAP_EVENTS}, {"env", PL_EXT_CAP_ENV},
    {"log", PL_EXT_CAP_LOG},   {NULL, PL_EXT_CAP_NONE},
};

static void add_byte(struct word *word, size_t *n_blanks, char c)
{
    if (pl_ascii_is_space(c)) {
        *n_blanks += word->len > 0;
        return;
    }
    /* Blanks inside a name are part of it. */
    for (; *n_blanks && word->len < MAX_WORD; --*n_blanks)
        word->text[word->len++] = ' ';
    if (word->len < MAX_WORD)
        word->text[word->len++] = pl_ascii_lower(c);
}

static struct word word_of(struct pl_str text)
{
    struct word word = {0};
    size_t n_blanks = 0;
    for (size_t i = 0; i < text.len && word.len < MAX_WORD; i++)
        add_byte(&word, &n_blanks, text.ptr[i]);
    return word;
}

/* Empty for a member that is not a string. */
static struct word member_word(const struct pl_json_doc *doc, const struct pl_json_node *object,
                               const char *key)
{
    struct word word = {0};
    size_t n_blanks = 0;
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    if (!n)
        return word;
    struct pl_json_walk walk = pl_json_walk(doc, n);
    for (int c; word.len < MAX_WORD && (c = pl_json_walk_next(&walk)) >= 0;)
        add_byte(&word, &n_blanks, (char)c);
    return word;
}

static bool is_word(const struct word *word, const char *name)
{
    return pl_str_eq((struct pl_str){word->text, word->len}, pl_str_of(name));
}

/* Returns the capability of the word, or of the table's last row. */
static enum pl_ext_capability find(const struct derived *table, const struct word *word)
{
    while (table->word && !is_word(word, table->word))
        table++;
    return table->capability;
}

const char *pl_ext_capability_name(enum pl_ext_capability capability)
{
    return capability < PL_EXT_CAP_NONE ? names[capability] : "";
}

enum pl_ext_capability pl_ext_capability_find(struct pl_str name)
{
    struct word word = word_of(name);
    unsigned capability = 0;
    while (capability < PL_EXT_CAP_NONE && !is_word(&word, names[capability]))
        capability++;
    return (enum pl_ext_capability)capability;
}

enum pl_ext_capability pl_ext_capability_derive(struct pl_str method, const struct pl_json_doc *doc,
                                                const struct pl_json_node *params)
{
    struct word word = word_of(method);
    if (is_word(&word, "tool")) {
        struct word tool = member_word(doc, params, "name");
        return tool.len ? find(tools, &tool) : PL_EXT_CAP_NONE;
    }
    if (is_word(&word, "fs")) {
        struct word operation = member_word(doc, params, "op");
        return find(operations, &operation);
    }
    return find(methods, &word);
}
