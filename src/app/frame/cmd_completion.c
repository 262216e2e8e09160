/* parley completion bash|zsh|fish: scripts made from the table of commands, so a new option needs
 * no change here. */
#include "app/frame/verbs.h"

/* In single quotes, for all three shells; zsh also reads brackets and colons in option specs. */
static void add_quoted(struct pl_buf *to, const char *text, bool is_zsh_spec)
{
    for (; *text; text++) {
        if (*text == '\'')
            pl_buf_adds(to, "'\\''");
        else if (is_zsh_spec && strchr("[]:\\", *text))
            pl_buf_addf(to, "\\%c", *text);
        else
            pl_buf_addc(to, *text);
    }
}

static void add_choices(struct pl_buf *to, pl_choice_fn *choice)
{
    for (size_t i = 0; choice(i); i++)
        pl_buf_addf(to, "%s%s", i ? " " : "", choice(i));
}

static void add_verbs(struct pl_buf *to, const struct pl_verb *verbs)
{
    for (const struct pl_verb *verb = verbs; verb->name; verb++)
        pl_buf_addf(to, "%s%s", verb == verbs ? "" : " ", verb->name);
}

static size_t n_values(const struct pl_option *option)
{
    return (option->args[0] != NULL) + (option->args[1] != NULL);
}

/* ---- bash: one function; `case` on the word before the cursor, then on the command ---- */

static void add_bash_values(struct pl_buf *to, const struct pl_command *command)
{
    for (const struct pl_option *option = command->options; option->name; option++) {
        if (n_values(option) == 0 || option->is_hidden)
            continue;
        pl_buf_addf(to, "    %s:--%s) ", command->name, option->name);
        if (option->choice) {
            pl_buf_adds(to, "COMPREPLY=($(compgen -W '");
            add_choices(to, option->choice);
            pl_buf_adds(to, "' -- \"$cur\")); return ;;\n");
        } else if (option->takes_file) {
            pl_buf_adds(to, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n");
        } else {
            pl_buf_adds(to, "return ;;\n");
        }
    }
}

static void add_bash_words(struct pl_buf *to, const struct pl_command *command)
{
    pl_buf_addf(to, "    %s) words='", command->name);
    for (const struct pl_option *option = command->options; option->name; option++)
        if (!option->is_hidden)
            pl_buf_addf(to, "--%s ", option->name);
    pl_buf_adds(to, "' operands='");
    if (command->operand_choice)
        add_choices(to, command->operand_choice);
    pl_buf_adds(to, "' verbs='");
    if (command->verbs)
        add_verbs(to, command->verbs);
    pl_buf_addf(to, "' files=%d ;;\n", !command->operand_choice && command->max_operands > 0);
}

static void add_bash(struct pl_buf *to)
{
    pl_buf_adds(to, "# bash completion for parley, made by \"parley completion bash\"\n"
                    "_parley()\n{\n"
                    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    local cmd=${COMP_WORDS[1]} words='' operands='' verbs='' files=0\n"
                    "    COMPREPLY=()\n"
                    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                    "        COMPREPLY=($(compgen -W '");
    add_choices(to, pl_command_choice);
    pl_buf_adds(to, " --help --version' -- \"$cur\"))\n        return\n    fi\n"
                    "    case $cmd:$prev in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_bash_values(to, command);
    pl_buf_adds(to, "    esac\n    case $cmd in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_bash_words(to, command);
    pl_buf_adds(to, "    esac\n"
                    "    case $cur in\n"
                    "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                    "    *)\n"
                    "        if [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$verbs\" ]; then\n"
                    "            COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))\n"
                    "        elif [ \"$files\" -eq 1 ]; then\n"
                    "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                    "        else\n"
                    "            COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
                    "        fi ;;\n"
                    "    esac\n}\n"
                    "complete -o filenames -F _parley parley\n");
}

/* ---- zsh: _arguments per command ---- */

static void add_zsh_option(struct pl_buf *to, const struct pl_option *option)
{
    const char *star = option->is_repeatable ? "*" : "";
    pl_buf_addf(to, "        '%s--%s[", star, option->name);
    char help[PL_OPTION_HELP_MAX];
    add_quoted(to, pl_option_help(option, help, sizeof help), true);
    pl_buf_addc(to, ']');
    for (size_t i = 0; i < n_values(option); i++) {
        pl_buf_addf(to, ":%s:", option->args[i]);
        if (option->choice) {
            pl_buf_addc(to, '(');
            add_choices(to, option->choice);
            pl_buf_addc(to, ')');
        } else {
            pl_buf_adds(to, option->takes_file ? "_files" : " ");
        }
    }
    pl_buf_adds(to, "' \\\n");
}

static void add_zsh_command(struct pl_buf *to, const struct pl_command *command)
{
    pl_buf_addf(to, "    %s)\n        _arguments \\\n", command->name);
    for (const struct pl_option *option = command->options; option->name; option++)
        if (!option->is_hidden)
            add_zsh_option(to, option);
    if (command->operand_choice) {
        pl_buf_adds(to, "        '1:word:(");
        add_choices(to, command->operand_choice);
        pl_buf_adds(to, ")'");
    } else if (command->verbs) {
        pl_buf_adds(to, "        '1:what to do:((");
        for (const struct pl_verb *verb = command->verbs; verb->name; verb++) {
            pl_buf_addf(to, "%s%s\\:\"", verb == command->verbs ? "" : " ", verb->name);
            add_quoted(to, verb->says, true);
            pl_buf_addc(to, '"');
        }
        pl_buf_adds(to, "))' \\\n        '*:file:_files'");
    } else {
        pl_buf_adds(to, command->max_operands == 0   ? "        '*: : '"
                        : command->max_operands == 1 ? "        '1:file:_files'"
                                                     : "        '*:file:_files'");
    }
    pl_buf_adds(to, "\n        ;;\n");
}

static void add_zsh(struct pl_buf *to)
{
    pl_buf_adds(to, "#compdef parley\n"
                    "# zsh completion for parley, made by \"parley completion zsh\"\n"
                    "_parley() {\n"
                    "    local -a commands=(\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, "        '%s:", command->name);
        add_quoted(to, command->summary, true);
        pl_buf_adds(to, "'\n");
    }
    pl_buf_adds(to, "    )\n"
                    "    if (( CURRENT == 2 )); then\n"
                    "        _describe command commands\n"
                    "        return\n"
                    "    fi\n"
                    "    shift words\n"
                    "    (( CURRENT-- ))\n"
                    "    case $words[1] in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_zsh_command(to, command);
    pl_buf_adds(to, "    esac\n}\n"
                    "if [[ $funcstack[1] == _parley ]]; then\n    _parley \"$@\"\n"
                    "else\n    compdef _parley parley\nfi\n");
}

/* ---- fish: one `complete` line per word ---- */

static void add_fish_option(struct pl_buf *to, const char *command, const struct pl_option *option)
{
    pl_buf_addf(to, "complete -c parley -n '__fish_seen_subcommand_from %s' -l %s", command,
                option->name);
    if (option->letter)
        pl_buf_addf(to, " -s %c", option->letter);
    if (option->choice) {
        pl_buf_adds(to, " -x -a '");
        add_choices(to, option->choice);
        pl_buf_addc(to, '\'');
    } else if (n_values(option) > 0) {
        pl_buf_adds(to, option->takes_file ? " -r -F" : " -x");
    }
    pl_buf_adds(to, " -d '");
    char help[PL_OPTION_HELP_MAX];
    add_quoted(to, pl_option_help(option, help, sizeof help), false);
    pl_buf_adds(to, "'\n");
}

static void add_fish(struct pl_buf *to)
{
    pl_buf_adds(to, "# fish completion for parley, made by \"parley completion fish\"\n"
                    "complete -c parley -n __fish_use_subcommand -f\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, "complete -c parley -n __fish_use_subcommand -a %s -d '", command->name);
        add_quoted(to, command->summary, false);
        pl_buf_adds(to, "'\n");
    }
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        if (command->operand_choice || command->max_operands == 0) {
            pl_buf_addf(to, "complete -c parley -n '__fish_seen_subcommand_from %s' -f",
                        command->name);
            if (command->operand_choice) {
                pl_buf_adds(to, " -a '");
                add_choices(to, command->operand_choice);
                pl_buf_addc(to, '\'');
            }
            pl_buf_addc(to, '\n');
        }
        for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++) {
            pl_buf_addf(to,
                        "complete -c parley -n '__fish_seen_subcommand_from %s; and test (count "
                        "(commandline -opc)) -eq 2' -f -a %s -d '",
                        command->name, verb->name);
            add_quoted(to, verb->says, false);
            pl_buf_adds(to, "'\n");
        }
        for (const struct pl_option *option = command->options; option->name; option++)
            if (!option->is_hidden)
                add_fish_option(to, command->name, option);
    }
}

enum pl_exit pl_cmd_completion(struct pl_console *console, const struct pl_args *args)
{
    static const struct {
        const char *shell;
        void (*add)(struct pl_buf *to);
    } shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].shell, args->operands.ptr[0]) == 0)
            shells[i].add(pl_console_out(console));
    return PL_EXIT_OK;
}
