/* Failures while a cell is made: a message to the server, then the end. */
#include "ext/cell/inside/build_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noreturn)) static void end_with(struct pl_cell_message *message)
{
    (void)pl_cell_control_send(PL_CELL_FD_CONTROL, message, NULL, 0);
    _exit(1);
}

void pl_cell_unable(enum pl_cell_part part, const char *format, ...)
{
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_UNABLE, .value = (int32_t)part};
    va_list args;
    va_start(args, format);
    vsnprintf(message.text, sizeof message.text, format, args);
    va_end(args);
    end_with(&message);
}

void pl_cell_fail(enum pl_status status, const char *format, ...)
{
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_FAILED, .value = (int32_t)status};
    va_list args;
    va_start(args, format);
    vsnprintf(message.text, sizeof message.text, format, args);
    va_end(args);
    end_with(&message);
}

void pl_cell_fail_errno(const char *format, ...)
{
    int error = errno;
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_FAILED, .value = PL_IO};
    va_list args;
    va_start(args, format);
    vsnprintf(message.text, sizeof message.text, format, args);
    va_end(args);
    size_t n = strlen(message.text);
    snprintf(message.text + n, sizeof message.text - n, ": %s", strerror(error));
    end_with(&message);
}
