/* parley COMMAND: finds the command in the table, parses its options, runs it. */
#include "app/manual/complete.h"
#include "app/manual/help.h"
#include "base/text/suggest.h"
#include "base/hash.h"
#include "ext/cell/inside/cell_main.h"
#include "io/entropy.h"
#include "io/file/file.h"

#include <signal.h>
#include <stdio.h>

static enum pl_exit fail_unknown_command(struct pl_console *console, const char *name)
{
    struct pl_suggest suggest = pl_suggest(pl_str_of(name));
    for (const struct pl_command *command = pl_commands; command->name; command++)
        pl_suggest_offer(&suggest, command->name);
    if (name[0] == '-') {
        pl_suggest_offer(&suggest, "--version");
        pl_suggest_offer(&suggest, "--help");
    }
    const char *kind = name[0] == '-' ? "option" : "command";
    if (suggest.best)
        return pl_usage_fail(console, NULL, "unknown %s \"%s\"; did you mean \"%s\"?", kind, name,
                             suggest.best);
    return pl_usage_fail(console, NULL, "unknown %s \"%s\"", kind, name);
}

static enum pl_exit check_operand(struct pl_console *console, const struct pl_command *command,
                                  const char *word)
{
    struct pl_suggest suggest = pl_suggest(pl_str_of(word));
    for (size_t i = 0; command->operand_choice(i); i++) {
        if (strcmp(command->operand_choice(i), word) == 0)
            return PL_EXIT_OK;
        pl_suggest_offer(&suggest, command->operand_choice(i));
    }
    char words[PL_CHOICES_MAX];
    (void)pl_choice_list(command->operand_choice, words, sizeof words);
    const char *best = suggest.best;
    return pl_usage_fail(console, command->name, "\"parley %s\" takes %s, not \"%s\"%s%s%s",
                         command->name, words, word, best ? "; did you mean \"" : "",
                         best ? best : "", best ? "\"?" : "");
}

static enum pl_exit check_operands(struct pl_console *console, const struct pl_command *command,
                                   const struct pl_args *args)
{
    size_t n = args->operands.len;
    if (n < command->min_operands || n > command->max_operands)
        return pl_usage_fail(console, command->name, "\"parley %s\" takes %s", command->name,
                             command->operand);
    return command->operand_choice && n ? check_operand(console, command, args->operands.ptr[0])
                                        : PL_EXIT_OK;
}

static enum pl_exit run_command(struct pl_console *console, const struct pl_command *command,
                                int argc, char *const *argv)
{
    __attribute__((cleanup(pl_args_deinit))) struct pl_args args;
    struct pl_error err = {0};
    enum pl_status status = pl_args_parse(&args, command->options, argc, argv, &err);
    if (status == PL_USAGE)
        return pl_usage_fail(console, command->name, "%s", err.message);
    if (status != PL_OK)
        return pl_console_fail(console, NULL, &err);
    if (pl_args_has(&args, PL_OPT_HELP)) {
        pl_help_write(console, command, args.operands.len ? args.operands.ptr[0] : NULL);
        return PL_EXIT_OK;
    }
    enum pl_exit code = check_operands(console, command, &args);
    return code == PL_EXIT_OK ? pl_command_run(command, console, &args) : code;
}

/* `parley --lang zh COMMAND`: takes --lang before the command. */
static enum pl_exit take_lang(struct pl_console *console, int *argc, char *const **argv)
{
    static const struct pl_option options[] = {PL_OPTIONS_SHARED, {0}};
    const char *word = *argc > 1 ? (*argv)[1] : "", *lang = pl_lang_asked(*argc, *argv);
    bool is_apart = strcmp(word, "--lang") == 0;
    if (!is_apart && strncmp(word, "--lang=", strlen("--lang=")) != 0)
        return PL_EXIT_OK;
    if (!lang)
        return pl_usage_fail(console, NULL, "--%s needs %s: --%s %s", options[0].name, "a value",
                             options[0].name, options[0].args[0]);
    struct pl_error err = {0};
    const struct pl_option_use use = {&options[0], {lang}};
    if (pl_option_check_choice(&use, &err) != PL_OK)
        return pl_usage_fail(console, NULL, "%s", err.message);
    *argc -= 1 + is_apart;
    *argv += 1 + is_apart;
    return PL_EXIT_OK;
}

static enum pl_exit run(struct pl_console *console, int argc, char *const *argv)
{
    enum pl_exit code = take_lang(console, &argc, &argv);
    if (code != PL_EXIT_OK)
        return code;
    const char *name = argc > 1 ? argv[1] : "help";
    /* Common spellings that are not commands. */
    static const char *const aliases[][2] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}};
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(name, aliases[i][0]) == 0)
            name = aliases[i][1];
    const struct pl_command *command = pl_command_find(name);
    if (strcmp(name, "cell") == 0)
        return pl_usage_fail(console, NULL,
                             "\"parley cell\" is for the server, which runs "
                             "extensions with it; nothing else can call it");
    if (strcmp(name, "__complete") == 0)
        return pl_complete(console, argc - 2, argv + 2);
    if (!command)
        return fail_unknown_command(console, name);
    return run_command(console, command, argc > 2 ? argc - 2 : 0, argv + 2);
}

int main(int argc, char **argv)
{
    static char err_lines[4096];
    setvbuf(stderr, err_lines, _IOLBF, sizeof err_lines);
    pl_fd_guard_standard();
    signal(SIGPIPE, SIG_IGN);
    /* Not a command: the server starts this program so, with descriptors that only it can pass. */
    if (argc > 1 && strcmp(argv[1], "cell") == 0 && pl_cell_main_is_called())
        pl_cell_main(argc > 2 && strcmp(argv[2], "inner") == 0);
    struct pl_hash_key key;
    if (pl_entropy_fill(&key, sizeof key))
        pl_hash_set_key(key);
    struct pl_console console;
    pl_console_init(&console);
    console.is_chinese = pl_lang_is_chinese(pl_lang_asked(argc, argv));
    enum pl_exit code = pl_console_finish(&console, run(&console, argc, argv));
    pl_console_deinit(&console);
    return code;
}
