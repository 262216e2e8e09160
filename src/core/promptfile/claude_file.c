/* Prompts as files of Claude Code: a command (.claude/commands/NAME.md) and a skill
 * (.claude/skills/NAME/SKILL.md). Both are Markdown below a front matter in YAML.
 *
 * A command has arguments: $ARGUMENTS is all of them, $1 and $2 are single ones. If a prompt has
 * one variable, it becomes $ARGUMENTS; several become $1, $2 … in order. A skill has no
 * arguments: its variables stay, and the text explains them. */
#include "base/ascii.h"
#include "base/vec.h"
#include "json/text.h"
#include "promptfile/export_int.h"

enum { MAX_DESCRIPTION = 1024, MAX_FIRST_LINE = 200 };

/* --- variables ------------------------------------------------------------------------------- */

struct variables {
    PL_VEC(struct pl_str) names; /* owned; views of the text, in order of appearance */
    bool has_defaults;
};

struct found {
    struct pl_str name;
    size_t from, to; /* "{{name:default}}" in the text */
    bool has_default;
};

static bool is_name_char(char c)
{
    return pl_ascii_is_alnum((unsigned char)c) || c == '_' || c == '.' || c == '-' ||
           (unsigned char)c >= 0x80;
}

static bool is_at(struct pl_str text, size_t at, const char *word)
{
    return at <= text.len && pl_str_begins(pl_str_slice(text, at, text.len), word);
}

/* Whether a variable begins at `at`, spelled as in prompt/render.h. */
static bool read_variable(struct pl_str text, size_t at, struct found *ret_found)
{
    size_t from = at + 2, to;
    if (!is_at(text, at, "{{") || (at && text.ptr[at - 1] == '\\'))
        return false;
    while (from < text.len && text.ptr[from] == ' ')
        from++;
    for (to = from; to < text.len && is_name_char(text.ptr[to]);)
        to++;
    size_t end = to;
    while (end < text.len && text.ptr[end] == ' ')
        end++;
    bool has_default = to < text.len && text.ptr[to] == ':';
    while (has_default && end < text.len && !is_at(text, end, "}}"))
        end++;
    if (to == from || !is_at(text, end, "}}"))
        return false;
    *ret_found = (struct found){pl_str_slice(text, from, to), at, end + 2, has_default};
    return true;
}

static size_t place_of(const struct variables *variables, struct pl_str name)
{
    size_t i = 0;
    while (i < variables->names.len && !pl_str_eq(variables->names.ptr[i], name))
        i++;
    return i;
}

static enum pl_status list_variables(struct variables *variables, struct pl_str text)
{
    struct found found;
    for (size_t at = 0; at < text.len; at++) {
        if (!read_variable(text, at, &found))
            continue;
        variables->has_defaults |= found.has_default;
        if (place_of(variables, found.name) == variables->names.len &&
            !pl_vec_push(&variables->names, found.name))
            return PL_NOMEM;
        at = found.to - 1;
    }
    return PL_OK;
}

/* The text with its variables as arguments of a command. */
static void add_with_arguments(struct pl_buf *to, struct pl_str text,
                               const struct variables *variables)
{
    struct found found;
    for (size_t at = 0; at < text.len;) {
        if (!read_variable(text, at, &found)) {
            bool is_escape = text.ptr[at] == '\\' && is_at(text, at + 1, "{{");
            if (!is_escape)
                pl_buf_addc(to, text.ptr[at]);
            at++;
            continue;
        }
        if (variables->names.len == 1)
            pl_buf_adds(to, "$ARGUMENTS");
        else
            pl_buf_addf(to, "$%zu", place_of(variables, found.name) + 1);
        at = found.to;
    }
}

/* --- the front matter ------------------------------------------------------------------------ */

void pl_export_claude_name(struct pl_str name, char to[PL_CLAUDE_NAME_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < PL_CLAUDE_NAME_MAX; i++) {
        char c = pl_ascii_lower(name.ptr[i]);
        if (pl_ascii_is_alnum((unsigned char)c))
            to[n++] = c;
        else if (n && to[n - 1] != '-')
            to[n++] = '-';
    }
    while (n && to[n - 1] == '-')
        n--;
    memcpy(to + n, "", 1);
    if (!n)
        memcpy(to, "prompt", sizeof "prompt");
}

/* The purpose of the file: the prompt's description, or else its first line. */
static struct pl_str description_of(const struct pl_export_how *how, struct pl_str text)
{
    struct pl_str line = how->description;
    size_t most = MAX_DESCRIPTION;
    if (!line.len) {
        while (text.len && (text.ptr[0] == '\n' || text.ptr[0] == ' '))
            text = pl_str_slice(text, 1, text.len);
        const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
        line = end ? pl_str_slice(text, 0, (size_t)(end - text.ptr)) : text;
        most = MAX_FIRST_LINE;
    }
    if (line.len <= most)
        return line;
    line.len = most;
    while (line.len && ((unsigned char)line.ptr[line.len] & 0xC0) == 0x80)
        line.len--;
    return line;
}

/* A double-quoted scalar: a JSON string is one (YAML 1.2). */
static void add_member(struct pl_buf *to, const char *key, struct pl_str value)
{
    pl_buf_addf(to, "%s: ", key);
    pl_json_quote(to, value);
    pl_buf_addc(to, '\n');
}

static void add_hint(struct pl_buf *to, const struct variables *variables)
{
    if (!variables->names.len)
        return;
    pl_buf_adds(to, "argument-hint: \"");
    for (size_t i = 0; i < variables->names.len; i++)
        pl_buf_addf(to, "%s[%.*s]", i ? " " : "", PL_STR_ARG(variables->names.ptr[i]));
    pl_buf_adds(to, "\"\n");
}

/* --- losses ---------------------------------------------------------------------------------- */

static void lose(const struct pl_export_how *how, const struct pl_exported_chat *c,
                 const struct variables *variables, struct pl_str text, bool is_command)
{
    static const char *const chat_says[] = {"protocol", "system_prompt", "messages",
                                            "config",   "variables",     NULL};
    static const char *const message_says[] = {"id", "role", "content", NULL};
    static const char *const config_says[] = {"model", NULL};
    const struct pl_json_node *config =
        pl_json_member(&c->doc, c->doc.root, "config", PL_JSON_OBJECT);
    const struct pl_json_node *root = c->doc.root;
    if (c->system.len)
        pl_export_lose(how, c, PL_LOSS_MOVED,
                       pl_json_member(&c->doc, root, "system_prompt", PL_JSON_STRING),
                       "stands at the beginning of the file, which has no system prompt");
    if (pl_json_count(c->messages) > 1)
        pl_export_lose(how, c, PL_LOSS_APPROXIMATED, c->messages,
                       "the file is one text; the messages stand in it between tags with their "
                       "roles");
    if (is_command && variables->has_defaults)
        pl_export_lose(how, c, PL_LOSS_DROPPED, root, "an argument of a command has no default");
    if (is_command && (pl_str_find(text, PL_STR("$ARGUMENTS")) != SIZE_MAX ||
                       pl_str_find(text, PL_STR("!`")) != SIZE_MAX))
        pl_export_lose(how, c, PL_LOSS_APPROXIMATED, root,
                       "the text has $ARGUMENTS or !`…`, which mean something in a command");
    for (const struct pl_json_node *n = pl_json_first(c->messages); n < pl_json_end(c->messages);
         n = pl_json_next(n))
        pl_export_lose_others(how, c, n, message_says, "the file is a text");
    if (c->model.len && (!is_command || !pl_export_is_claude_model(c->model)))
        pl_export_lose(how, c, PL_LOSS_DROPPED,
                       pl_json_member(&c->doc, config, "model", PL_JSON_STRING),
                       is_command ? "a command has models of its own vendor only"
                                  : "a skill is used by whichever model runs");
    pl_export_lose_others(how, c, config, config_says, "the front matter has no member for it");
    pl_export_lose_others(how, c, root, chat_says, "the file has no place for it");
}

/* --- the files ------------------------------------------------------------------------------- */

static void add_command(struct pl_buf *to, const struct pl_exported_chat *c,
                        const struct pl_export_how *how, struct pl_str text,
                        const struct variables *variables)
{
    pl_buf_adds(to, "---\n");
    add_member(to, "description", description_of(how, text));
    add_hint(to, variables);
    if (pl_export_is_claude_model(c->model))
        add_member(to, "model", c->model);
    pl_buf_adds(to, "---\n\n");
    add_with_arguments(to, text, variables);
    pl_buf_adds(to, text.len && text.ptr[text.len - 1] == '\n' ? "" : "\n");
}

static void add_skill(struct pl_buf *to, const struct pl_export_how *how, struct pl_str text,
                      const struct variables *variables)
{
    char name[PL_CLAUDE_NAME_MAX + 1];
    pl_export_claude_name(how->name, name);
    pl_buf_adds(to, "---\n");
    add_member(to, "name", pl_str_of(name));
    add_member(to, "description", description_of(how, text));
    pl_buf_adds(to, "---\n\n");
    if (variables->names.len)
        pl_buf_adds(to, "Fill in what stands in double braces; what follows a colon there is the "
                        "default:");
    for (size_t i = 0; i < variables->names.len; i++)
        pl_buf_addf(to, "%s `{{%.*s}}`", i ? "," : "", PL_STR_ARG(variables->names.ptr[i]));
    pl_buf_adds(to, variables->names.len ? ".\n\n" : "");
    pl_buf_add(to, text);
    pl_buf_adds(to, text.len && text.ptr[text.len - 1] == '\n' ? "" : "\n");
}

static enum pl_status write_file(struct pl_buf *to, struct pl_str chat,
                                 const struct pl_export_how *how, bool is_command,
                                 struct pl_error *err)
{
    struct pl_exported_chat c = {0};
    struct variables variables = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_arena_init(&c.arena, 0);
    enum pl_status status = pl_exported_chat_read(&c, chat, err);
    if (status == PL_OK && (!c.messages || !pl_json_count(c.messages)))
        status = pl_fail(err, PL_INVALID, "there is no message to write");
    if (status == PL_OK && c.system.len) {
        pl_buf_add(&text, c.system);
        pl_buf_adds(&text, "\n\n");
    }
    if (status == PL_OK)
        status = pl_exported_prompt_make(&c, &text);
    if (status == PL_OK)
        status = list_variables(&variables, pl_buf_str(&text));
    if (status == PL_OK && is_command)
        add_command(to, &c, how, pl_buf_str(&text), &variables);
    else if (status == PL_OK)
        add_skill(to, how, pl_buf_str(&text), &variables);
    if (status == PL_OK)
        lose(how, &c, &variables, pl_buf_str(&text), is_command);
    pl_vec_deinit(&variables.names);
    pl_arena_deinit(&c.arena);
    return status == PL_OK ? to->status : status;
}

static enum pl_status write_command(struct pl_buf *to, struct pl_str chat,
                                    const struct pl_export_how *how, struct pl_error *err)
{
    return write_file(to, chat, how, true, err);
}

static enum pl_status write_skill(struct pl_buf *to, struct pl_str chat,
                                  const struct pl_export_how *how, struct pl_error *err)
{
    return write_file(to, chat, how, false, err);
}

const struct pl_export pl_export_claude_command = {
    .name = "claude-command",
    .title = "a command of Claude Code, for .claude/commands",
    .write = write_command,
};

const struct pl_export pl_export_claude_skill = {
    .name = "claude-skill",
    .title = "a skill of Claude Code, for .claude/skills",
    .write = write_skill,
};
