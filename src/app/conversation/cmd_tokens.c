/* parley tokens: counts the tokens of a conversation, by kind. */
#include "app/frame/commands.h"
#include "app/conversation/counting.h"
#include "app/frame/input.h"

#include <inttypes.h>

/* "1234 tokens (estimated): 1200 messages, 34 system" */
static void put_english(struct pl_console *console, const struct pl_counted *counted)
{
    pl_console_putf(console, "%" PRIu64 " token%s", counted->n_tokens,
                    counted->n_tokens == 1 ? "" : "s");
    if (counted->is_estimated)
        pl_console_puts(console, " (estimated)");
    const char *between = ": ";
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++) {
        if (!counted->by[i])
            continue;
        pl_console_putf(console, "%s%" PRIu64 " %s", between, counted->by[i],
                        pl_tally_name((enum pl_tally_kind)i));
        between = ", ";
    }
    pl_console_puts(console, "\n");
}

static void put_chinese(struct pl_console *console, const struct pl_counted *counted)
{
    static const char *const names[PL_TALLY_KIND_COUNT] = {
        [PL_TALLY_MESSAGES] = "消息", [PL_TALLY_TOOLS] = "工具", [PL_TALLY_SYSTEM] = "系统",
        [PL_TALLY_IMAGES] = "图片",   [PL_TALLY_AUDIO] = "音频",
    };
    pl_console_putf(console, "%" PRIu64 " 个 token%s", counted->n_tokens,
                    counted->is_estimated ? "（估算）" : "");
    const char *between = "：";
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++) {
        if (!counted->by[i])
            continue;
        pl_console_putf(console, "%s%s %" PRIu64, between, names[i], counted->by[i]);
        between = "，";
    }
    pl_console_puts(console, "\n");
}

enum pl_exit pl_cmd_tokens(struct pl_console *console, const struct pl_args *args)
{
    const struct pl_option_use *as = pl_args_find(args, PL_OPT_AS);
    const char *path = args->operands.ptr[0];
    struct pl_count_choice choice;
    struct pl_counted counted;
    struct pl_error err = {0};
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_exit code = pl_counting_read(console, "tokens", args, &choice);
    if (code != PL_EXIT_OK)
        return code;
    enum pl_status status = pl_input_read(path, &file, &err);
    if (status == PL_OK)
        status = pl_count_document(file.bytes, as ? pl_format_find(pl_str_of(as->values[0])) : NULL,
                                   &choice, &counted, &err);
    if (status != PL_OK) {
        err.status = status;
        return pl_console_fail(console, pl_input_name(path), &err);
    }
    if (pl_args_has(args, PL_OPT_JSON)) {
        pl_counted_write(pl_console_out(console), &counted);
        pl_console_puts(console, "\n");
    } else {
        (console->is_chinese ? put_chinese : put_english)(console, &counted);
    }
    return PL_EXIT_OK;
}
