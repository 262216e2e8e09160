/* parley help [COMMAND]. `parley help --man` prints the manual page; the build runs it. */
#include "app/frame/help.h"

enum pl_exit pl_cmd_help(struct pl_console *console, const struct pl_args *args)
{
    if (pl_args_has(args, PL_OPT_MAN))
        pl_man_write(pl_console_out(console));
    else
        pl_help_write(console, args->operands.len ? pl_command_find(args->operands.ptr[0]) : NULL,
                      NULL);
    return PL_EXIT_OK;
}
