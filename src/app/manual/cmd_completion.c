/* parley completion bash|zsh|fish: prints scripts made from the table of commands, so a new
 * option needs no change here. Words that only a server knows come from "parley __complete"
 * (complete.h). */
#include "app/frame/verbs.h"
#include "app/manual/wording.h"

/* Escapes text for single quotes in all three shells; zsh also interprets brackets and colons in
 * option specs. */
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

/* The kind of the words after a verb; NULL: files. */
static const char *offers_of(const struct pl_verb *verb)
{
    return verb->takes_session ? "sessions" : verb->offers;
}

/* ---- bash: one function; `case` on the word before the cursor, then on the command ---- */

/* "CMD:VERB:--NAME|…": matches the word after an option. */
static void add_bash_pattern(struct pl_buf *to, const struct pl_command *command,
                             const struct pl_option *option)
{
    if (!option->verbs) {
        pl_buf_addf(to, "    %s:*:--%s) ", command->name, option->name);
        return;
    }
    const char *before = "    ";
    for (const struct pl_verb *verb = command->verbs; verb->name; verb++) {
        if (!pl_option_has_verb(option, verb->name))
            continue;
        pl_buf_addf(to, "%s%s:%s:--%s", before, command->name, verb->name, option->name);
        if (verb->is_default)
            pl_buf_addf(to, "|%s:-*:--%s", command->name, option->name);
        before = "|";
    }
    pl_buf_adds(to, ") ");
}

static void add_bash_values(struct pl_buf *to, const struct pl_command *command)
{
    for (const struct pl_option *option = command->options; option->name; option++) {
        if (n_values(option) == 0 || option->is_hidden)
            continue;
        add_bash_pattern(to, command, option);
        if (option->choice) {
            pl_buf_adds(to, "COMPREPLY=($(compgen -W '");
            add_choices(to, option->choice);
            pl_buf_adds(to, "' -- \"$cur\")); return ;;\n");
        } else if (option->words) {
            pl_buf_addf(to, "_parley_words %s; return ;;\n", option->words);
        } else if (option->takes_file) {
            pl_buf_adds(to, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n");
        } else {
            pl_buf_adds(to, "return ;;\n");
        }
    }
}

static void add_bash_words(struct pl_buf *to, const struct pl_command *command)
{
    pl_buf_addf(to, "    %s) options='", command->name);
    for (const struct pl_option *option = command->options; option->name; option++)
        if (!option->is_hidden)
            pl_buf_addf(to, "--%s ", option->name);
    pl_buf_adds(to, "' operands='");
    if (command->operand_choice)
        add_choices(to, command->operand_choice);
    pl_buf_adds(to, "' verbs='");
    if (command->verbs)
        add_verbs(to, command->verbs);
    pl_buf_addf(to, "' files=%d kind=%s ;;\n",
                !command->operand_choice && command->max_operands > 0,
                command->offers ? command->offers : "''");
}

static void add_bash_offers(struct pl_buf *to, const struct pl_command *command)
{
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
        if (offers_of(verb))
            pl_buf_addf(to, "    %s:%s) kind=%s files=0 ;;\n", command->name, verb->name,
                        offers_of(verb));
}

/* bash splits words at colons, which model names contain. The script joins them again and cuts the
 * part before the last colon from each candidate. */
static const char bash_head[] =
    "# bash completion for parley, made by \"parley completion bash\"\n"
    "_parley_words()\n{\n"
    "    local word\n"
    "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(\n"
    "        \"${words[0]}\" __complete \"$1\" \"$cur\" -- \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "_parley()\n{\n"
    "    local -a words=()\n"
    "    local cur prev cmd verb='' options='' operands='' verbs='' files=0 kind='' i join=0\n"
    "    COMPREPLY=()\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        if [[ ${COMP_WORDS[i]} == :* ]] && ((i > 1)); then\n"
    "            words[-1]+=${COMP_WORDS[i]} join=1\n"
    "        elif ((join)); then\n"
    "            words[-1]+=${COMP_WORDS[i]} join=0\n"
    "        else\n"
    "            words+=(\"${COMP_WORDS[i]}\")\n"
    "        fi\n"
    "    done\n"
    "    cur=${words[-1]} prev=${words[-2]} cmd=${words[1]}\n"
    "    _parley_find\n"
    "    if [[ $cur == *:* ]]; then\n"
    "        local before=${cur%\"${cur##*:}\"}\n"
    "        for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$before\"}; done\n"
    "    fi\n"
    "}\n"
    "_parley_find()\n{\n"
    "    if ((${#words[@]} == 2)); then\n"
    "        COMPREPLY=($(compgen -W '";

static const char bash_tail[] =
    "    esac\n"
    "    case $cur in\n"
    "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
    "    *)\n"
    "        if ((${#words[@]} == 3)) && [ -n \"$verbs\" ]; then\n"
    "            COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))\n"
    "            return\n"
    "        fi\n"
    "        [ -z \"$kind\" ] || _parley_words \"$kind\"\n"
    "        if [ \"$files\" -eq 1 ]; then\n"
    "            while IFS= read -r i; do COMPREPLY+=(\"$i\"); done < <(compgen -f -- \"$cur\")\n"
    "        elif [ -n \"$operands\" ]; then\n"
    "            COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
    "        fi ;;\n"
    "    esac\n}\n"
    "complete -o filenames -F _parley parley\n";

/* bash shows no descriptions, so the script is the same in every language. */
static void add_bash(struct pl_buf *to, bool is_chinese)
{
    (void)is_chinese;
    pl_buf_adds(to, bash_head);
    add_choices(to, pl_command_choice);
    pl_buf_adds(to, " --help --version' -- \"$cur\"))\n        return\n    fi\n"
                    "    case $cmd:${words[2]}:$prev in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_bash_values(to, command);
    pl_buf_adds(to, "    esac\n    case $cmd in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_bash_words(to, command);
    pl_buf_adds(to, "    esac\n    case $cmd:${words[2]} in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++)
        add_bash_offers(to, command);
    pl_buf_adds(to, bash_tail);
}

/* ---- zsh: _arguments per command ---- */

static void add_zsh_option(struct pl_buf *to, const struct pl_option *option, bool is_chinese)
{
    const char *star = option->is_repeatable ? "*" : "";
    pl_buf_addf(to, "        '%s--%s[", star, option->name);
    char help[PL_OPTION_HELP_MAX];
    add_quoted(to, pl_wording_of_option(is_chinese, option, help, sizeof help), true);
    pl_buf_addc(to, ']');
    for (size_t i = 0; i < n_values(option); i++) {
        pl_buf_addc(to, ':');
        add_quoted(to, pl_wording(is_chinese, option->args[i]), true);
        pl_buf_addc(to, ':');
        if (option->choice) {
            pl_buf_addc(to, '(');
            add_choices(to, option->choice);
            pl_buf_addc(to, ')');
        } else if (option->words) {
            pl_buf_addf(to, "_parley_words %s", option->words);
        } else {
            pl_buf_adds(to, option->takes_file ? "_files" : " ");
        }
    }
    pl_buf_adds(to, "' \\\n");
}

/* Whether an earlier option has this name. An option may be listed once per verb; zsh accepts a
 * name once. */
static bool is_second(const struct pl_command *command, const struct pl_option *option)
{
    const struct pl_option *first = command->options;
    while (strcmp(first->name, option->name) != 0)
        first++;
    return first != option;
}

static void add_zsh_command(struct pl_buf *to, const struct pl_command *command, bool is_chinese)
{
    pl_buf_addf(to, "    %s)\n        _arguments \\\n", command->name);
    for (const struct pl_option *option = command->options; option->name; option++)
        if (!option->is_hidden && !is_second(command, option))
            add_zsh_option(to, option, is_chinese);
    if (command->operand_choice) {
        pl_buf_addf(to, "        '1:%s:(", pl_wording(is_chinese, "word"));
        add_choices(to, command->operand_choice);
        pl_buf_adds(to, ")'");
    } else if (command->verbs) {
        pl_buf_addf(to, "        '1:%s:((", pl_wording(is_chinese, "what to do"));
        for (const struct pl_verb *verb = command->verbs; verb->name; verb++) {
            pl_buf_addf(to, "%s%s\\:\"", verb == command->verbs ? "" : " ", verb->name);
            add_quoted(to, pl_wording(is_chinese, verb->says), true);
            pl_buf_addc(to, '"');
        }
        pl_buf_addf(to, "))' \\\n        '*:%s:_parley_operand'", pl_wording(is_chinese, "word"));
    } else if (command->offers) {
        pl_buf_addf(to, "        '*:%s:_parley_operand'", pl_wording(is_chinese, "word"));
    } else if (command->max_operands == 0) {
        pl_buf_adds(to, "        '*: : '");
    } else {
        pl_buf_addf(to, "        '%c:%s:_files'", command->max_operands == 1 ? '1' : '*',
                    pl_wording(is_chinese, "file"));
    }
    pl_buf_adds(to, "\n        ;;\n");
}

/* Adds the words that a server knows, and the kind of words of each verb. */
static void add_zsh_offers(struct pl_buf *to)
{
    pl_buf_adds(to, "_parley_words() {\n"
                    "    local -a found\n"
                    "    found=(\"${(@f)$($_parley_program __complete $1 \"${(Q)PREFIX}\" -- "
                    "\"${(@)words}\" 2>/dev/null)}\")\n"
                    "    compadd -Q -- \"${(@q)found}\"\n"
                    "}\n"
                    "_parley_operand() {\n"
                    "    case $words[1]:$words[2] in\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
            if (offers_of(verb))
                pl_buf_addf(to, "    %s:%s) _parley_words %s ;;\n", command->name, verb->name,
                            offers_of(verb));
        if (command->offers)
            pl_buf_addf(to, "    %s:*) _parley_words %s; _files ;;\n", command->name,
                        command->offers);
    }
    pl_buf_adds(to, "    *) _files ;;\n    esac\n}\n");
}

static void add_zsh(struct pl_buf *to, bool is_chinese)
{
    pl_buf_adds(to, "#compdef parley\n"
                    "# zsh completion for parley, made by \"parley completion zsh\"\n");
    add_zsh_offers(to);
    pl_buf_adds(to, "_parley() {\n"
                    "    local _parley_program=$words[1]\n"
                    "    local -a commands=(\n");
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, "        '%s:", command->name);
        add_quoted(to, pl_wording(is_chinese, command->summary), true);
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
        add_zsh_command(to, command, is_chinese);
    pl_buf_adds(to, "    esac\n}\n"
                    "if [[ $funcstack[1] == _parley ]]; then\n    _parley \"$@\"\n"
                    "else\n    compdef _parley parley\nfi\n");
}

/* ---- fish: one `complete` line per word ---- */

static const char fish_head[] =
    "# fish completion for parley, made by \"parley completion fish\"\n"
    "function __parley_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    $words[1] __complete $argv[1] \"$word\" -- $words[2..-1] 2>/dev/null\n"
    "end\n"
    "function __parley_is -d 'whether the command, and one of its actions, was typed'\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2]\" = $argv[1]; or return 1\n"
    "    test (count $argv) -eq 1; or contains -- \"$words[3]\" $argv[2..-1]\n"
    "end\n"
    "function __parley_needs_action\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2]\" = $argv[1]; and test (count $words) -eq 2\n"
    "end\n"
    "complete -c parley -n __fish_use_subcommand -f\n";

/* "-n '__parley_is CMD VERB …'": the verbs of an option, if it has any. */
static void add_fish_place(struct pl_buf *to, const struct pl_command *command,
                           const struct pl_option *option)
{
    pl_buf_addf(to, "complete -c parley -n '__parley_is %s", command->name);
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
        if (option->verbs && pl_option_has_verb(option, verb->name))
            pl_buf_addf(to, " %s%s", verb->name, verb->is_default ? " \"\"" : "");
    pl_buf_adds(to, "'");
}

static void add_fish_option(struct pl_buf *to, const struct pl_command *command,
                            const struct pl_option *option, bool is_chinese)
{
    add_fish_place(to, command, option);
    pl_buf_addf(to, " -l %s", option->name);
    if (option->letter)
        pl_buf_addf(to, " -s %c", option->letter);
    if (option->choice) {
        pl_buf_adds(to, " -x -a '");
        add_choices(to, option->choice);
        pl_buf_addc(to, '\'');
    } else if (option->words) {
        pl_buf_addf(to, " -x -a '(__parley_words %s)'", option->words);
    } else if (n_values(option) > 0) {
        pl_buf_adds(to, option->takes_file ? " -r -F" : " -x");
    }
    pl_buf_adds(to, " -d '");
    char help[PL_OPTION_HELP_MAX];
    add_quoted(to, pl_wording_of_option(is_chinese, option, help, sizeof help), false);
    pl_buf_adds(to, "'\n");
}

static void add_fish_verb(struct pl_buf *to, const struct pl_command *command,
                          const struct pl_verb *verb, bool is_chinese)
{
    pl_buf_addf(to, "complete -c parley -n '__parley_needs_action %s' -f -a %s -d '", command->name,
                verb->name);
    add_quoted(to, pl_wording(is_chinese, verb->says), false);
    pl_buf_adds(to, "'\n");
    if (offers_of(verb))
        pl_buf_addf(to, "complete -c parley -n '__parley_is %s %s' -f -a '(__parley_words %s)'\n",
                    command->name, verb->name, offers_of(verb));
}

static void add_fish_operands(struct pl_buf *to, const struct pl_command *command)
{
    if (command->operand_choice || command->max_operands == 0) {
        pl_buf_addf(to, "complete -c parley -n '__parley_is %s' -f", command->name);
        if (command->operand_choice) {
            pl_buf_adds(to, " -a '");
            add_choices(to, command->operand_choice);
            pl_buf_addc(to, '\'');
        }
        pl_buf_addc(to, '\n');
    }
    if (command->offers)
        pl_buf_addf(to, "complete -c parley -n '__parley_is %s' -a '(__parley_words %s)'\n",
                    command->name, command->offers);
}

static void add_fish(struct pl_buf *to, bool is_chinese)
{
    pl_buf_adds(to, fish_head);
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        pl_buf_addf(to, "complete -c parley -n __fish_use_subcommand -a %s -d '", command->name);
        add_quoted(to, pl_wording(is_chinese, command->summary), false);
        pl_buf_adds(to, "'\n");
    }
    for (const struct pl_command *command = pl_commands; command->name; command++) {
        add_fish_operands(to, command);
        for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
            add_fish_verb(to, command, verb, is_chinese);
        for (const struct pl_option *option = command->options; option->name; option++)
            if (!option->is_hidden)
                add_fish_option(to, command, option, is_chinese);
    }
}

enum pl_exit pl_cmd_completion(struct pl_console *console, const struct pl_args *args)
{
    static const struct {
        const char *shell;
        void (*add)(struct pl_buf *to, bool is_chinese);
    } shells[] = {{"bash", add_bash}, {"zsh", add_zsh}, {"fish", add_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].shell, args->operands.ptr[0]) == 0)
            shells[i].add(pl_console_out(console), console->is_chinese);
    return PL_EXIT_OK;
}
