/* Help for a terminal: 80 columns, words wrapped. */
#include "app/manual/help.h"

#include "app/frame/verbs.h"
#include "base/ascii.h"
#include "base/text/utf8.h"

#include <stdio.h>

enum { WIDTH = 80, OPTION_INDENT = 6, TEXT_INDENT = 2 };

/* Appends words of `text`, each line starting with `indent` spaces; `column` is where we are. */
static void wrap(struct pl_console *console, const char *text, size_t column, size_t indent)
{
    struct pl_buf *out = pl_console_out(console);
    struct pl_str rest = pl_str_of(text);
    bool is_first = true;
    while (rest.len > 0) {
        const char *space = memchr(rest.ptr, ' ', rest.len);
        size_t len = space ? (size_t)(space - rest.ptr) : rest.len;
        struct pl_str word = pl_str_slice(rest, 0, len);
        size_t width = pl_utf8_count(word);
        if (!is_first && column + 1 + width > WIDTH) {
            pl_buf_addc(out, '\n');
            column = 0;
        } else if (!is_first) {
            pl_buf_addc(out, ' ');
            column++;
        }
        if (column < indent) {
            pl_buf_fill(out, ' ', indent - column);
            column = indent;
        }
        pl_buf_add(out, word);
        column += width;
        rest = pl_str_slice(rest, len + 1, rest.len);
        is_first = false;
    }
    pl_buf_addc(out, '\n');
}

static void put_heading(struct pl_console *console, const char *heading)
{
    pl_console_puts(console, "\n");
    pl_console_put_styled(console, PL_STYLE_BOLD, heading);
    pl_console_puts(console, "\n");
}

/* After the option when they are few, else below it. */
static void put_choices(struct pl_console *console, pl_choice_fn *choice)
{
    char words[PL_CHOICES_MAX];
    if (pl_choice_list(choice, words, PL_FEW_CHOICES)) {
        pl_console_putf(console, "  (%s)\n", words);
    } else {
        (void)pl_choice_list(choice, words, sizeof words);
        pl_console_puts(console, "\n");
        wrap(console, words, 0, OPTION_INDENT);
    }
}

/* `verb` NULL: the help tells which verbs it goes with. */
static void put_option(struct pl_console *console, const struct pl_option *option,
                       const struct pl_verb *verb)
{
    pl_console_puts(console, "  ");
    if (option->letter)
        pl_console_putf(console, "-%c, ", option->letter);
    pl_console_putf(console, "--%s", option->name);
    for (size_t i = 0; i < 2 && option->args[i]; i++)
        pl_console_putf(console, " %s", option->args[i]);
    if (option->choice)
        put_choices(console, option->choice);
    else
        pl_console_puts(console, "\n");
    char help[PL_OPTION_HELP_MAX];
    if (verb) { /* what follows "VERB: " begins a sentence now */
        snprintf(help, sizeof help, "%s", option->help);
        help[0] = pl_ascii_upper(help[0]);
        wrap(console, help, 0, OPTION_INDENT);
    } else {
        wrap(console, pl_option_help(option, help, sizeof help), 0, OPTION_INDENT);
    }
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

/* Those that begin with `start`. */
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
        pl_console_putf(console, "  # %s\n  parley %s\n", example->says, example->line);
    }
}

static void put_verbs(struct pl_console *console, const struct pl_verb *verbs)
{
    put_heading(console, "Actions");
    for (const struct pl_verb *verb = verbs; verb->name; verb++) {
        pl_console_putf(console, "  %s%s%s\n", verb->name, *verb->words ? " " : "", verb->words);
        wrap(console, verb->says, 0, OPTION_INDENT);
    }
}

static void put_command(struct pl_console *console, const struct pl_command *command)
{
    pl_console_putf(console, "parley %s - %s\n", command->name, command->summary);
    put_heading(console, "Usage");
    pl_console_putf(console, "  parley %s %s\n", command->name, command->usage);
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
    char start[80];
    int n = snprintf(start, sizeof start, "%s %s ", command->name, verb->name);
    pl_console_putf(console, "parley %s %s - %s\n", command->name, verb->name, verb->says);
    put_heading(console, "Usage");
    pl_console_putf(console, "  parley %s %s [OPTION]...%s%s\n", command->name, verb->name,
                    *verb->words ? " " : "", verb->words);
    put_options(console, command, verb);
    put_examples(console, command->examples,
                 (struct pl_str){start, n > 0 && (size_t)n < sizeof start ? (size_t)n : 0});
    put_exits(console);
    pl_console_putf(console, "\n\"parley help %s\" describes the command and its other actions.\n",
                    command->name);
}

static void put_program(struct pl_console *console)
{
    pl_console_putf(console, "parley - %s\n", pl_program_summary);
    put_heading(console, "Usage");
    pl_console_puts(console, "  parley COMMAND [OPTION]... [FILE]...\n");
    put_heading(console, "Commands");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        pl_console_putf(console, "  %-11s %s\n", command->name, command->summary);
    put_heading(console, "Examples");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        if (command->max_operands > 0 && !command->operand_choice)
            pl_console_putf(console, "  parley %s\n", command->examples[0].line);
    pl_console_puts(console,
                    "\n\"parley help COMMAND\" describes a command; \"-\" as a FILE is standard "
                    "input.\n");
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
