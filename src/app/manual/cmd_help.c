/* parley help [COMMAND [ACTION]]. --man prints manual pages, for the build. */
#include "app/manual/help.h"
#include "app/frame/verbs.h"

enum pl_exit pl_cmd_help(struct pl_console *console, const struct pl_args *args)
{
    const char *const *words = args->operands.ptr;
    const struct pl_command *command = args->operands.len ? pl_command_find(words[0]) : NULL;
    const char *verb = args->operands.len > 1 ? words[1] : NULL;
    if (verb && !command->verbs)
        return pl_usage_fail(console, "help",
                             "\"parley %s\" has no separate help for actions; use: parley help %s",
                             command->name, command->name);
    if (verb && !pl_verb_find(command, verb))
        return pl_verb_fail_unknown(console, command, verb);
    if (verb && pl_args_has(args, PL_OPT_MAN))
        return pl_usage_fail(console, "help",
                             "there are manual pages for commands, not for actions");
    if (pl_args_has(args, PL_OPT_MAN))
        pl_man_write(pl_console_out(console), command, console->is_chinese);
    else
        pl_help_write(console, command, verb);
    return PL_EXIT_OK;
}
