/* The table of the commands of `parley`. Help, completion and the manual page are made from it. */
#ifndef PL_APP_COMMANDS_H
#define PL_APP_COMMANDS_H

#include "app/frame/console.h"
#include "app/frame/options.h"

struct pl_example {
    const char *line; /* without "parley "; NULL ends the table */
    const char *says; /* its effect: a sentence without a full stop */
};

struct pl_verb;

struct pl_command {
    const char *name;              /* NULL ends the table */
    const char *summary;           /* a few words, in the imperative */
    const char *usage;             /* the words after the name */
    const char *const *paragraphs; /* ended by NULL; plain text, no line breaks */
    const struct pl_option *options;
    const struct pl_example *examples;
    pl_choice_fn *operand_choice; /* the only words an operand may be; NULL: files */
    size_t min_operands, max_operands;
    const char *operand; /* name of an operand in messages: "a FILE" */
    enum pl_exit (*run)(struct pl_console *console, const struct pl_args *args);
    const struct pl_verb *verbs; /* named by the first operand (verbs.h), instead of `run` */
    const char *offers; /* completion: what its operand may be besides a file (manual/complete.c) */
    const char *columns; /* of its table, as --format names them; NULL: it prints no table */
};

extern const struct pl_command pl_commands[];

struct pl_exit_line {
    int code;
    const char *says;
};
/* Ended by a NULL text. */
extern const struct pl_exit_line pl_exit_lines[];

/* An environment variable or a file. It belongs to every command, to the named commands, or to the
 * commands that have the option. Ended by a NULL name. */
struct pl_place_line {
    const char *name, *says;
    const char *commands;     /* "serve, task"; NULL: not by name */
    enum pl_option_id option; /* PL_OPT_HELP: every command */
};
extern const struct pl_place_line pl_env_lines[];
extern const struct pl_place_line pl_file_lines[];

/* The one-line description of `parley`. */
extern const char pl_program_summary[];

const struct pl_command *pl_command_find(const char *name);
/* Runs the command, or the verb that its first operand names. The caller has checked the number of
 * operands. */
enum pl_exit pl_command_run(const struct pl_command *command, struct pl_console *console,
                            const struct pl_args *args);
/* Declares the texts of a command that are defined in another file than pl_commands. */
#define PL_COMMAND_TEXTS(name)                                                                     \
    extern const struct pl_option pl_##name##_options[];                                           \
    extern const char *const pl_##name##_paragraphs[];                                             \
    extern const struct pl_example pl_##name##_examples[]

/* pl_choice_fn over the names of all commands. */
const char *pl_command_choice(size_t i);
/* pl_choice_fn over the names of all formats, and the export forms that only prompts have. */
const char *pl_export_choice(size_t i);
/* pl_choice_fn over the names of all formats. */
const char *pl_format_choice(size_t i);

enum pl_exit pl_cmd_serve(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_chat(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_open(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_run(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_usage(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_backup(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_reload(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_restore(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_doctor(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_validate(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_convert(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_detect(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_lint(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_media(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_render(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_cite(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_json(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_stream(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_tokens(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_trim(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_version(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_completion(struct pl_console *console, const struct pl_args *args);
enum pl_exit pl_cmd_help(struct pl_console *console, const struct pl_args *args);

/* Prints an error of the command line, and a pointer to help. */
enum pl_exit pl_usage_fail(struct pl_console *console, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
