/* Help for a terminal: wrapped at 80 columns. */
#include "app/manual/help.h"

#include "app/frame/verbs.h"
#include "app/manual/wording.h"
#include "base/ascii.h"
#include "terminal/wrap.h"

#include <stdio.h>

enum { WIDTH = 80, OPTION_INDENT = 6 };

/* Texts of the tables, in the language of the console. */
static const char *word(const struct pl_console *console, const char *english)
{
    return pl_wording(console->is_chinese, english);
}

static void wrap(struct pl_console *console, const char *text, size_t column, size_t indent)
{
    pl_wrap_add(pl_console_out(console), pl_str_of(pl_wording(console->is_chinese, text)),
                (struct pl_wrap){.column = column, .indent = indent, .width = WIDTH});
}

static void put_heading(struct pl_console *console, const char *heading)
{
    pl_console_puts(console, "\n");
    pl_console_put_styled(console, PL_STYLE_BOLD, word(console, heading));
    pl_console_puts(console, "\n");
}

/* On the line of the option if the choices are few, otherwise below it. */
static void put_choices(struct pl_console *console, pl_choice_fn *choice)
{
    char words[PL_CHOICES_MAX];
    if (pl_wording_of_choices(console->is_chinese, choice, words, PL_FEW_CHOICES)) {
        pl_console_putf(console, console->is_chinese ? "  （%s）\n" : "  (%s)\n", words);
    } else {
        (void)pl_wording_of_choices(console->is_chinese, choice, words, sizeof words);
        pl_console_puts(console, "\n");
        wrap(console, words, 0, OPTION_INDENT);
    }
}

/* `verb` NULL: also lists the verbs the option works with. */
static void put_option(struct pl_console *console, const struct pl_option *option,
                       const struct pl_verb *verb)
{
    pl_console_puts(console, "  ");
    if (option->letter)
        pl_console_putf(console, "-%c, ", option->letter);
    pl_console_putf(console, "--%s", option->name);
    for (size_t i = 0; i < 2 && option->args[i]; i++)
        pl_console_putf(console, " %s", word(console, option->args[i]));
    if (option->choice)
        put_choices(console, option->choice);
    else
        pl_console_puts(console, "\n");
    char help[PL_OPTION_HELP_MAX];
    if (verb) { /* the help after "VERB: " begins a sentence here */
        snprintf(help, sizeof help, "%s", word(console, option->help));
        help[0] = console->is_chinese ? help[0] : pl_ascii_upper(help[0]);
    } else {
        (void)pl_wording_of_option(console->is_chinese, option, help, sizeof help);
    }
    wrap(console, help, 0, OPTION_INDENT);
}

static void put_exits(struct pl_console *console)
{
    put_heading(console, "Exit codes");
    for (const struct pl_exit_line *line = pl_exit_lines; line->says; line++) {
        pl_console_putf(console, "  %d  ", line->code);
        wrap(console, line->says, 5, 5);
    }
}

static void put_options(struct pl_console *console, const struct pl_command *command,
                        const struct pl_verb *verb)
{
    put_heading(console, "Options");
    for (const struct pl_option *option = command->options; option->name; option++)
        if (!option->is_hidden && (!verb || pl_option_has_verb(option, verb->name)))
            put_option(console, option, verb);
}

/* Prints the examples that begin with `start`. */
static void put_examples(struct pl_console *console, const struct pl_example *examples,
                         struct pl_str start)
{
    bool is_first = true;
    for (const struct pl_example *example = examples; example->line; example++) {
        if (!pl_str_starts(pl_str_of(example->line), start))
            continue;
        if (is_first)
            put_heading(console, "Examples");
        is_first = false;
        pl_console_putf(console, "  # %s\n  parley %s\n", word(console, example->says),
                        example->line);
    }
}

static void put_verbs(struct pl_console *console, const struct pl_verb *verbs)
{
    put_heading(console, "Actions");
    for (const struct pl_verb *verb = verbs; verb->name; verb++) {
        pl_console_putf(console, "  %s%s%s\n", verb->name, *verb->words ? " " : "",
                        word(console, verb->words));
        wrap(console, verb->says, 0, OPTION_INDENT);
    }
}

/* "parley NAME - SUMMARY" */
static void put_title(struct pl_console *console, const char *name, const char *says)
{
    pl_console_putf(console, "%s - ", name);
    wrap(console, says, strlen(name) + strlen(" - "), OPTION_INDENT);
}

static void put_command(struct pl_console *console, const struct pl_command *command)
{
    char name[80];
    snprintf(name, sizeof name, "parley %s", command->name);
    put_title(console, name, command->summary);
    put_heading(console, "Usage");
    pl_console_putf(console, "  parley %s %s\n", command->name, word(console, command->usage));
    if (command->verbs)
        put_verbs(console, command->verbs);
    pl_console_puts(console, "\n");
    for (const char *const *text = command->paragraphs; *text; text++) {
        wrap(console, *text, 0, 0);
        if (text[1])
            pl_console_puts(console, "\n");
    }
    put_options(console, command, NULL);
    put_examples(console, command->examples, PL_STR(""));
    put_exits(console);
}

static void put_verb(struct pl_console *console, const struct pl_command *command,
                     const struct pl_verb *verb)
{
    char start[80], name[80];
    int n = snprintf(start, sizeof start, "%s %s ", command->name, verb->name);
    snprintf(name, sizeof name, "parley %s %s", command->name, verb->name);
    put_title(console, name, verb->says);
    put_heading(console, "Usage");
    pl_console_putf(console, "  parley %s %s %s%s%s\n", command->name, verb->name,
                    word(console, "[OPTION]..."), *verb->words ? " " : "",
                    word(console, verb->words));
    put_options(console, command, verb);
    put_examples(console, command->examples,
                 (struct pl_str){start, n > 0 && (size_t)n < sizeof start ? (size_t)n : 0});
    put_exits(console);
    pl_console_puts(console, "\n");
    pl_console_put_line(console, "\"parley help %s\" describes the command and its other actions.",
                        command->name);
}

static void put_program(struct pl_console *console)
{
    put_title(console, "parley", pl_program_summary);
    put_heading(console, "Usage");
    pl_console_putf(console, "  parley %s\n", word(console, "COMMAND [OPTION]... [FILE]..."));
    put_heading(console, "Commands");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        pl_console_putf(console, "  %-11s %s\n", command->name, word(console, command->summary));
    put_heading(console, "Examples");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        if (command->max_operands > 0 && !command->operand_choice)
            pl_console_putf(console, "  parley %s\n", command->examples[0].line);
    pl_console_putf(console, "\n%s\n",
                    word(console, "\"parley help COMMAND\" describes a command; \"-\" as a FILE is "
                                  "standard input."));
}

void pl_help_write(struct pl_console *console, const struct pl_command *command, const char *word)
{
    const struct pl_verb *verb = command && word ? pl_verb_find(command, word) : NULL;
    if (verb)
        put_verb(console, command, verb);
    else if (command)
        put_command(console, command);
    else
        put_program(console);
}
