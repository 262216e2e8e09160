/* Manual pages in mdoc(7), one for each command and one for all of them. All text passes through add_word, which escapes what roff would read
 * as its own. */
#include "app/manual/help.h"

#include "app/frame/verbs.h"
#include "base/ascii.h"

#include <stdio.h>

/* When this version came out; roff pages carry a date. */
#define RELEASE_DATE "November 15, 2026"

enum { WIDTH = 78 };

static void add_word(struct pl_buf *to, struct pl_str word)
{
    /* A period or quote that begins a line would be a request. */
    if (word.len > 0 && (word.ptr[0] == '.' || word.ptr[0] == '\''))
        pl_buf_adds(to, "\\&");
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c == '\\')
            pl_buf_adds(to, "\\e");
        else if (c == '"')
            pl_buf_adds(to, "\\(dq");
        else if (c == '-' && (i == 0 || word.ptr[i - 1] == '-'))
            pl_buf_adds(to, "\\-");
        else
            pl_buf_addc(to, c);
    }
}

/* One line for one argument of a macro. */
static void add_line(struct pl_buf *to, const char *text)
{
    add_word(to, pl_str_of(text));
}

/* Filled text: lines are kept short, and a new sentence starts on a new line, as mdoc wants. */
static void add_text(struct pl_buf *to, const char *text)
{
    struct pl_str rest = pl_str_of(text);
    size_t line_from = to->len;
    bool ends_sentence = false;
    while (rest.len > 0) {
        const char *space = memchr(rest.ptr, ' ', rest.len);
        size_t len = space ? (size_t)(space - rest.ptr) : rest.len;
        bool is_first = to->len == line_from;
        if (!is_first && (ends_sentence || to->len - line_from + len > WIDTH)) {
            pl_buf_addc(to, '\n');
            line_from = to->len;
        } else if (!is_first) {
            pl_buf_addc(to, ' ');
        }
        add_word(to, pl_str_slice(rest, 0, len));
        ends_sentence = rest.ptr[len - 1] == '.';
        rest = pl_str_slice(rest, len + 1, rest.len);
    }
}

static void add_options(struct pl_buf *to, const struct pl_option *options)
{
    pl_buf_adds(to, ".Bl -tag -width Ds\n");
    for (const struct pl_option *option = options; option->name; option++) {
        if (option->is_hidden)
            continue;
        pl_buf_adds(to, ".It ");
        if (option->letter)
            pl_buf_addf(to, "Fl %c , ", option->letter);
        pl_buf_addf(to, "Fl \\-%s", option->name);
        for (size_t i = 0; i < 2 && option->args[i]; i++)
            pl_buf_addf(to, " Ar %s", option->args[i]);
        pl_buf_addc(to, '\n');
        char help[PL_OPTION_HELP_MAX];
        add_text(to, pl_option_help(option, help, sizeof help));
        if (option->choice) {
            char words[PL_CHOICES_MAX];
            (void)pl_choice_list(option->choice, words, sizeof words);
            pl_buf_addf(to, ":\n%s", words);
        }
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n");
}

static void add_verbs(struct pl_buf *to, const struct pl_verb *verbs)
{
    pl_buf_adds(to, ".Bl -tag -width Ds\n");
    for (const struct pl_verb *verb = verbs; verb->name; verb++) {
        pl_buf_addf(to, ".It Cm %s ", verb->name);
        add_line(to, verb->words);
        pl_buf_addc(to, '\n');
        add_text(to, verb->says);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n");
}

static bool is_named(const char *commands, const char *name)
{
    struct pl_option named = {.verbs = commands};
    return pl_option_has_verb(&named, name);
}

static bool has_option(const struct pl_command *command, enum pl_option_id id)
{
    const struct pl_option *option = command->options;
    while (option->name && option->id != id)
        option++;
    return option->name != NULL;
}

/* `command` NULL: whatever concerns any of them. */
static bool concerns(const struct pl_place_line *line, const struct pl_command *command)
{
    if (!command)
        return true;
    return line->commands ? is_named(line->commands, command->name)
                          : has_option(command, line->option);
}

static void add_places(struct pl_buf *to, const char *heading, const char *macro,
                       const struct pl_place_line *lines, const struct pl_command *command)
{
    bool has_any = false;
    for (const struct pl_place_line *line = lines; line->name; line++) {
        if (!concerns(line, command))
            continue;
        if (!has_any)
            pl_buf_addf(to, ".Sh %s\n.Bl -tag -width Ds\n", heading);
        has_any = true;
        pl_buf_addf(to, ".It %s ", macro);
        add_line(to, line->name);
        pl_buf_addc(to, '\n');
        add_text(to, line->says);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, has_any ? ".El\n" : "");
}

static void add_exits(struct pl_buf *to)
{
    pl_buf_adds(to, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (const struct pl_exit_line *line = pl_exit_lines; line->says; line++) {
        pl_buf_addf(to, ".It %d\n", line->code);
        add_text(to, line->says);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n");
}

static void add_example(struct pl_buf *to, const struct pl_example *example, bool is_first)
{
    pl_buf_adds(to, is_first ? "" : ".Pp\n");
    add_text(to, example->says);
    pl_buf_adds(to, ":\n.Dl $ parley ");
    add_line(to, example->line);
    pl_buf_addc(to, '\n');
}

static void add_head(struct pl_buf *to, const char *title, const char *name, const char *summary)
{
    pl_buf_adds(to, ".Dd " RELEASE_DATE "\n.Dt ");
    for (const char *c = title; *c; c++)
        pl_buf_addc(to, pl_ascii_upper(*c));
    pl_buf_addf(to, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", name);
    add_line(to, summary);
    pl_buf_addc(to, '\n');
}

/* --- one command ----------------------------------------------------------------------------- */

static void add_synopsis(struct pl_buf *to, const struct pl_command *command)
{
    pl_buf_adds(to, ".Sh SYNOPSIS\n");
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++) {
        pl_buf_addf(to, ".Nm parley %s\n.Cm %s\n.Op Ar option ...\n", command->name, verb->name);
        if (*verb->words) {
            add_line(to, verb->words);
            pl_buf_addc(to, '\n');
        }
    }
    if (command->verbs)
        return;
    pl_buf_addf(to, ".Nm parley %s\n", command->name);
    add_line(to, command->usage);
    pl_buf_addc(to, '\n');
}

/* Commands that share the family of this one: those that go by the same name, and the program. */
static void add_see_also(struct pl_buf *to, const struct pl_command *command)
{
    const char *last = NULL;
    pl_buf_adds(to, ".Sh SEE ALSO\n.Xr parley 1");
    for (const struct pl_command *other = pl_commands; other->name; other++) {
        char name[64];
        snprintf(name, sizeof name, "parley %s", other->name);
        bool is_named_in_text = false;
        for (const char *const *text = command->paragraphs; *text && !is_named_in_text; text++) {
            const char *at = strstr(*text, name);
            is_named_in_text = at && !pl_ascii_is_alnum((unsigned char)at[strlen(name)]);
        }
        if (other == command || !is_named_in_text)
            continue;
        pl_buf_addf(to, " ,\n.Xr parley-%s 1", other->name);
        last = other->name;
    }
    pl_buf_adds(to, !last && strcmp(command->name, "help") != 0 ? " ,\n.Xr parley-help 1\n" : "\n");
}

static void add_command_page(struct pl_buf *to, const struct pl_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "parley-%s", command->name);
    add_head(to, name, name, command->summary);
    add_synopsis(to, command);
    pl_buf_adds(to, ".Sh DESCRIPTION\n");
    for (const char *const *text = command->paragraphs; *text; text++) {
        pl_buf_adds(to, text == command->paragraphs ? "" : ".Pp\n");
        add_text(to, *text);
        pl_buf_addc(to, '\n');
    }
    if (command->verbs) {
        pl_buf_adds(to, ".Ss Actions\n");
        add_verbs(to, command->verbs);
    }
    pl_buf_adds(to, ".Sh OPTIONS\n");
    add_options(to, command->options);
    add_places(to, "ENVIRONMENT", "Ev", pl_env_lines, command);
    add_places(to, "FILES", "Pa", pl_file_lines, command);
    add_exits(to);
    pl_buf_adds(to, ".Sh EXAMPLES\n");
    for (const struct pl_example *example = command->examples; example->line; example++)
        add_example(to, example, example == command->examples);
    add_see_also(to, command);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void add_program_page(struct pl_buf *to)
{
    add_head(to, "parley", "parley", pl_program_summary);
    pl_buf_adds(
        to, ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Ar file ...\n"
            ".Sh DESCRIPTION\n"
            ".Nm\nconverts, checks and serves conversations with language models, and formats,\n"
            "edits and validates JSON (RFC 8259, JSON Schema 2020-12).\n"
            "Results go to standard output and messages to standard error.\n"
            "A file named\n.Sq \\-\nis standard input.\n"
            ".Pp\nEvery command has a page of its own, which\n.Ic parley help Ar command\n"
            "shows too:\n.Bl -tag -width parley-completion(1)\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, ".It Xr parley-%s 1\n", command->name);
        add_text(to, command->summary);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n");
    add_places(to, "ENVIRONMENT", "Ev", pl_env_lines, NULL);
    add_places(to, "FILES", "Pa", pl_file_lines, NULL);
    add_exits(to);
    pl_buf_adds(to, ".Sh EXAMPLES\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_example(to, command->examples, command == pl_commands);
    pl_buf_adds(to, ".Sh SEE ALSO\n.Xr parley-help 1\n");
}

void pl_man_write(struct pl_buf *to, const struct pl_command *command)
{
    if (command)
        add_command_page(to, command);
    else
        add_program_page(to);
}
