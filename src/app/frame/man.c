/* The manual page in mdoc(7). All text passes through add_word, which escapes what roff would read
 * as its own. */
#include "app/frame/help.h"

#include "app/frame/verbs.h"

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

static void add_command(struct pl_buf *to, const struct pl_command *command)
{
    pl_buf_addf(to, ".Ss parley %s\n", command->name);
    pl_buf_adds(to, ".Dl parley ");
    add_line(to, command->name);
    pl_buf_addc(to, ' ');
    add_line(to, command->usage);
    pl_buf_addc(to, '\n');
    for (const char *const *text = command->paragraphs; *text; text++) {
        pl_buf_adds(to, ".Pp\n");
        add_text(to, *text);
        pl_buf_addc(to, '\n');
    }
    if (command->verbs) {
        pl_buf_adds(to, ".Pp\nActions:\n");
        add_verbs(to, command->verbs);
    }
    pl_buf_adds(to, ".Pp\nOptions:\n");
    add_options(to, command->options);
}

static void add_tail(struct pl_buf *to)
{
    pl_buf_adds(to, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
    for (const struct pl_env_line *line = pl_env_lines; line->name; line++) {
        pl_buf_addf(to, ".It %s\n", line->name);
        add_text(to, line->says);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n.Sh EXIT STATUS\n.Bl -tag -width Ds\n");
    for (const struct pl_exit_line *line = pl_exit_lines; line->says; line++) {
        pl_buf_addf(to, ".It %d\n", line->code);
        add_text(to, line->says);
        pl_buf_adds(to, ".\n");
    }
    pl_buf_adds(to, ".El\n.Sh EXAMPLES\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        for (const struct pl_example *example = command->examples; example->line; example++) {
            bool is_first = command == pl_commands && example == command->examples;
            pl_buf_adds(to, is_first ? "" : ".Pp\n");
            add_text(to, example->says);
            pl_buf_adds(to, ":\n.Dl $ parley ");
            add_line(to, example->line);
            pl_buf_addc(to, '\n');
        }
}

void pl_man_write(struct pl_buf *to)
{
    pl_buf_addf(
        to,
        ".Dd " RELEASE_DATE "\n.Dt PARLEY 1\n.Os\n.Sh NAME\n.Nm parley\n.Nd %s\n"
        ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Ar file ...\n"
        ".Sh DESCRIPTION\n"
        ".Nm\nconverts, checks and serves conversations with language models, and formats,\n"
        "edits and validates JSON (RFC 8259, JSON Schema 2020-12).\n"
        "Results go to standard output and messages to standard error.\n"
        "A file named\n.Sq \\-\nis standard input.\n"
        "The commands are:\n",
        pl_program_summary);
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_command(to, command);
    add_tail(to);
}
