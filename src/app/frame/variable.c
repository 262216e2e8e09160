#include "app/frame/variable.h"

#include "base/text/utf8.h"

enum pl_exit pl_variable_read(struct pl_console *console, const char *command, const char *text,
                              struct pl_render_var *ret_var)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return pl_usage_fail(console, command, "--var must be NAME=VALUE, not \"%s\"", text);
    struct pl_render_var var = {{text, (size_t)(equals - text)}, pl_str_of(equals + 1)};
    enum pl_status status = pl_render_check_name(var.name);
    if (status == PL_INVALID)
        return pl_usage_fail(console, command,
                             "\"%.*s\" is not a variable name; a name has letters, digits, \"_\", "
                             "\".\" and \"-\"",
                             PL_STR_ARG(var.name));
    if (status != PL_OK)
        return pl_console_fail(console, NULL, &(struct pl_error){.status = status});
    if (!pl_utf8_is_valid(var.value))
        return pl_usage_fail(console, command, "the value of \"%.*s\" is not UTF-8",
                             PL_STR_ARG(var.name));
    *ret_var = var;
    return PL_EXIT_OK;
}

void pl_variables_say(struct pl_console *console, const char *name, const char *before,
                      const struct pl_buf *lines)
{
    PL_CLEANUP_BUF struct pl_buf message;
    pl_buf_init(&message, 0);
    const char *end = lines->ptr + lines->len;
    for (const char *line = lines->ptr; line && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        message.len = 0;
        pl_buf_adds(&message, before);
        pl_buf_add(&message, (struct pl_str){line, (size_t)(stop - line)});
        pl_console_say_about(console, pl_str_of(name), pl_buf_str(&message));
        line = stop + 1;
    }
}
