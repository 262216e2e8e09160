/* parley detect: prints the name of a file's format. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "format/format.h"
#include "format/gpt_oss/gpt_oss.h"
#include "json/parse/lenient.h"

enum pl_exit pl_cmd_detect(struct pl_console *console, const struct pl_args *args)
{
    const char *path = args->operands.ptr[0];
    PL_CLEANUP_FILE struct pl_file file = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_error err = {0};
    struct pl_json_doc doc;
    struct pl_json_notes notes;
    enum pl_status status = pl_input_read(path, &file, &err);
    bool is_text = status == PL_OK && pl_gpt_oss_is_text(file.bytes);
    if (status == PL_OK && !is_text)
        status = pl_json_parse_lenient(&arena, file.bytes, NULL, &doc, &notes, &err);
    if (status != PL_OK) {
        err.status = status;
        return pl_console_fail(console, pl_input_name(path), &err);
    }
    const struct pl_format *format = is_text ? &pl_format_gpt_oss : pl_format_detect(&doc);
    if (pl_args_has(args, PL_OPT_JSON))
        pl_console_putf(console, format ? "{\"format\":\"%s\"}\n" : "{\"format\":null}\n",
                        format ? format->name : "");
    else if (format)
        pl_console_putf(console, "%s\n", format->name);
    else
        pl_console_say(console, "%s: unknown format", pl_input_name(path));
    return format ? PL_EXIT_OK : PL_EXIT_NO;
}
