/* Manual pages in mdoc(7), one for each command and one for all of them, in either language. All
 * text passes through roff.h, which escapes the special characters of roff. */
#include "app/manual/help.h"

#include "app/frame/verbs.h"
#include "app/manual/roff.h"
#include "app/manual/wording.h"
#include "base/ascii.h"

#include <stdio.h>

/* Date of this release; mdoc pages have a date. */
#define RELEASE_DATE "November 15, 2026"

struct page {
    struct pl_buf *to;
    bool is_chinese;
};

static const char *word(const struct page *page, const char *english)
{
    return pl_wording(page->is_chinese, english);
}

static void add_line(const struct page *page, const char *english)
{
    pl_roff_line(page->to, word(page, english));
}

/* Adds text that is already in the language of the page, and its end. */
static void add_said(const struct page *page, const char *text, const char *end,
                     const char *chinese_end)
{
    if (page->is_chinese)
        pl_roff_chinese(page->to, text);
    else
        pl_roff_text(page->to, text);
    pl_buf_adds(page->to, page->is_chinese ? chinese_end : end);
}

static void add_text(const struct page *page, const char *english)
{
    add_said(page, word(page, english), "", "");
}

static void add_sentence(const struct page *page, const char *english)
{
    add_said(page, word(page, english), ".\n", "。\n");
}

static void add_heading(const struct page *page, const char *heading)
{
    pl_buf_addf(page->to, ".Sh %s\n", word(page, heading));
}

static void add_options(const struct page *page, const struct pl_option *options)
{
    struct pl_buf *to = page->to;
    pl_buf_adds(to, ".Bl -tag -width Ds\n");
    for (const struct pl_option *option = options; option->name; option++) {
        if (option->is_hidden)
            continue;
        pl_buf_adds(to, ".It ");
        if (option->letter)
            pl_buf_addf(to, "Fl %c , ", option->letter);
        pl_buf_addf(to, "Fl \\-%s", option->name);
        for (size_t i = 0; i < 2 && option->args[i]; i++)
            pl_buf_addf(to, " Ar %s", word(page, option->args[i]));
        pl_buf_addc(to, '\n');
        char help[PL_OPTION_HELP_MAX];
        (void)pl_wording_of_option(page->is_chinese, option, help, sizeof help);
        add_said(page, help, option->choice ? ":\n" : "", option->choice ? "：\\*(zb\\c\n" : "");
        if (option->choice) {
            char words[PL_CHOICES_MAX];
            (void)pl_wording_of_choices(page->is_chinese, option->choice, words, sizeof words);
            pl_buf_adds(to, words);
        }
        pl_buf_adds(to, page->is_chinese ? "。\n" : ".\n");
    }
    pl_buf_adds(to, ".El\n");
}

static void add_verbs(const struct page *page, const struct pl_verb *verbs)
{
    struct pl_buf *to = page->to;
    pl_buf_adds(to, ".Bl -tag -width Ds\n");
    for (const struct pl_verb *verb = verbs; verb->name; verb++) {
        pl_buf_addf(to, ".It Cm %s ", verb->name);
        add_line(page, verb->words);
        pl_buf_addc(to, '\n');
        add_sentence(page, verb->says);
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

/* `command` NULL: true for every line. */
static bool concerns(const struct pl_place_line *line, const struct pl_command *command)
{
    if (!command)
        return true;
    return line->commands ? is_named(line->commands, command->name)
                          : has_option(command, line->option);
}

static void add_places(const struct page *page, const char *heading, const char *macro,
                       const struct pl_place_line *lines, const struct pl_command *command)
{
    struct pl_buf *to = page->to;
    bool has_any = false;
    for (const struct pl_place_line *line = lines; line->name; line++) {
        if (!concerns(line, command))
            continue;
        if (!has_any)
            pl_buf_addf(to, ".Sh %s\n.Bl -tag -width Ds\n", word(page, heading));
        has_any = true;
        pl_buf_addf(to, ".It %s ", macro);
        pl_roff_line(to, line->name);
        pl_buf_addc(to, '\n');
        add_sentence(page, line->says);
    }
    pl_buf_adds(to, has_any ? ".El\n" : "");
}

static void add_exits(const struct page *page)
{
    struct pl_buf *to = page->to;
    add_heading(page, "EXIT STATUS");
    pl_buf_adds(to, ".Bl -tag -width Ds\n");
    for (const struct pl_exit_line *line = pl_exit_lines; line->says; line++) {
        pl_buf_addf(to, ".It %d\n", line->code);
        add_sentence(page, line->says);
    }
    pl_buf_adds(to, ".El\n");
}

static void add_example(const struct page *page, const struct pl_example *example, bool is_first)
{
    struct pl_buf *to = page->to;
    pl_buf_adds(to, is_first ? "" : ".Pp\n");
    add_said(page, word(page, example->says), ":\n", "：\n");
    pl_buf_adds(to, ".Dl $ parley ");
    pl_roff_line(to, example->line);
    pl_buf_addc(to, '\n');
}

static void add_head(const struct page *page, const char *title, const char *name,
                     const char *summary)
{
    struct pl_buf *to = page->to;
    pl_buf_adds(to, ".Dd " RELEASE_DATE "\n.Dt ");
    for (const char *c = title; *c; c++)
        pl_buf_addc(to, pl_ascii_upper(*c));
    pl_buf_adds(to, " 1\n.Os\n");
    if (page->is_chinese)
        pl_roff_begin_chinese(to);
    add_heading(page, "NAME");
    pl_buf_addf(to, ".Nm %s\n.Nd ", name);
    add_line(page, summary);
    pl_buf_addc(to, '\n');
}

/* --- one command ----------------------------------------------------------------------------- */

/* mdoc breaks the line at each .Nm of a SYNOPSIS, but only if the section has its English name. */
static void add_synopsis(const struct page *page, const struct pl_command *command)
{
    struct pl_buf *to = page->to;
    add_heading(page, "SYNOPSIS");
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++) {
        pl_buf_adds(to, page->is_chinese && verb != command->verbs ? ".br\n" : "");
        pl_buf_addf(to, ".Nm parley %s\n.Cm %s\n.Op Ar %s ...\n", command->name, verb->name,
                    word(page, "option"));
        if (*verb->words) {
            add_line(page, verb->words);
            pl_buf_addc(to, '\n');
        }
    }
    if (command->verbs)
        return;
    pl_buf_addf(to, ".Nm parley %s\n", command->name);
    add_line(page, command->usage);
    pl_buf_addc(to, '\n');
}

/* Lists the commands that the description names, and parley(1). */
static void add_see_also(const struct page *page, const struct pl_command *command)
{
    struct pl_buf *to = page->to;
    const char *last = NULL;
    add_heading(page, "SEE ALSO");
    pl_buf_adds(to, ".Xr parley 1");
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

static void add_command_page(const struct page *page, const struct pl_command *command)
{
    struct pl_buf *to = page->to;
    char name[64];
    snprintf(name, sizeof name, "parley-%s", command->name);
    add_head(page, name, name, command->summary);
    add_synopsis(page, command);
    add_heading(page, "DESCRIPTION");
    for (const char *const *text = command->paragraphs; *text; text++) {
        pl_buf_adds(to, text == command->paragraphs ? "" : ".Pp\n");
        add_text(page, *text);
        pl_buf_addc(to, '\n');
    }
    if (command->verbs) {
        pl_buf_addf(to, ".Ss %s\n", word(page, "Actions"));
        add_verbs(page, command->verbs);
    }
    add_heading(page, "OPTIONS");
    add_options(page, command->options);
    add_places(page, "ENVIRONMENT", "Ev", pl_env_lines, command);
    add_places(page, "FILES", "Pa", pl_file_lines, command);
    add_exits(page);
    add_heading(page, "EXAMPLES");
    for (const struct pl_example *example = command->examples; example->line; example++)
        add_example(page, example, example == command->examples);
    add_see_also(page, command);
}

/* --- all of them ----------------------------------------------------------------------------- */

static void add_program_description(const struct page *page)
{
    struct pl_buf *to = page->to;
    if (!page->is_chinese) {
        pl_buf_adds(
            to,
            ".Nm\nconverts, checks and serves conversations with language models, and formats,\n"
            "edits and validates JSON (RFC 8259, JSON Schema 2020-12).\n"
            "Results go to standard output and messages to standard error.\n"
            "A file named\n.Sq \\-\nis standard input.\n"
            ".Pp\nEvery command has a page of its own, which\n.Ic parley help Ar command\n"
            "shows too:\n");
        return;
    }
    pl_buf_adds(to, ".Nm\n");
    add_text(page,
             "converts, checks and serves conversations with language models, and formats, edits "
             "and validates JSON (RFC 8259, JSON Schema 2020-12). Results go to standard output "
             "and messages to standard error. A file named - is standard input.");
    pl_buf_adds(to, "\n.Pp\n");
    add_text(page,
             "Every command has its own manual page; \"parley help COMMAND\" shows the same text:");
    pl_buf_addc(to, '\n');
}

static void add_program_page(const struct page *page)
{
    struct pl_buf *to = page->to;
    add_head(page, "parley", "parley", pl_program_summary);
    add_heading(page, "SYNOPSIS");
    pl_buf_addf(to, ".Nm\n.Ar %s\n.Op Ar %s ...\n.Op Ar %s ...\n", word(page, "command"),
                word(page, "option"), word(page, "file"));
    add_heading(page, "DESCRIPTION");
    add_program_description(page);
    pl_buf_adds(to, ".Bl -tag -width parley-completion(1)\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, ".It Xr parley-%s 1\n", command->name);
        add_sentence(page, command->summary);
    }
    pl_buf_adds(to, ".El\n");
    add_places(page, "ENVIRONMENT", "Ev", pl_env_lines, NULL);
    add_places(page, "FILES", "Pa", pl_file_lines, NULL);
    add_exits(page);
    add_heading(page, "EXAMPLES");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_example(page, command->examples, command == pl_commands);
    add_heading(page, "SEE ALSO");
    pl_buf_adds(to, ".Xr parley-help 1\n");
}

void pl_man_write(struct pl_buf *to, const struct pl_command *command, bool is_chinese)
{
    const struct page page = {to, is_chinese};
    if (command)
        add_command_page(&page, command);
    else
        add_program_page(&page);
}
