#include "base/status.h"
#include "base/text/utf8.h"

#include <stdio.h>

static const struct pl_status_info infos[PL_STATUS_COUNT] = {
#define X(name, exit, http, ext, retry, text) {#name, exit, http, ext, retry, text},
    PL_STATUS_TABLE(X)
#undef X
};

const struct pl_status_info *pl_status_info(enum pl_status status)
{
    return &infos[(unsigned)status < PL_STATUS_COUNT ? status : PL_INTERNAL];
}

/* vsnprintf cuts anywhere; step back to a character boundary and mark the cut. */
static void mark_cut(char *text, size_t size)
{
    static const char dots[] = "…";
    size_t end = size - sizeof dots;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, dots, sizeof dots);
}

enum pl_status pl_fail(struct pl_error *err, enum pl_status status, const char *format, ...)
{
    if (!err)
        return status;
    *err = (struct pl_error){.status = status};
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    if (n >= (int)sizeof err->message)
        mark_cut(err->message, sizeof err->message);
    return status;
}

void pl_error_point(struct pl_error *err, const char *format, ...)
{
    if (!err)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(err->pointer, sizeof err->pointer, format, args);
    va_end(args);
    err->has_position = true;
}

void pl_error_locate(struct pl_error *err, struct pl_str text, size_t offset)
{
    if (!err)
        return;
    if (offset > text.len)
        offset = text.len;
    size_t line = 1, line_start = 0;
    const char *newline;
    while (line_start < offset &&
           (newline = memchr(text.ptr + line_start, '\n', offset - line_start))) {
        line++;
        line_start = (size_t)(newline - text.ptr) + 1;
    }
    err->has_position = true;
    err->offset = offset;
    err->line = line;
    err->column = pl_utf8_count(pl_str_slice(text, line_start, offset)) + 1;
}
