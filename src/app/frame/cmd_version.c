/* parley version [--json]. */
#include "app/frame/commands.h"

#include "base/cpu.h"
#include "json/write.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum pl_exit pl_cmd_version(struct pl_console *console, const struct pl_args *args)
{
    char pcre2[64] = "unknown"; /* PCRE2 requires at least 24 bytes */
    pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    const char *cpu = pl_cpu_name(pl_cpu_best());
    if (!pl_args_has(args, PL_OPT_JSON)) {
        pl_console_putf(console, "parley %s\ncpu    %s\npcre2  %s\n", PARLEY_VERSION, cpu, pcre2);
        return PL_EXIT_OK;
    }
    struct pl_json_out out = pl_json_out(pl_console_out(console));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "version");
    pl_json_out_text(&out, PL_STR(PARLEY_VERSION));
    pl_json_out_key(&out, "cpu");
    pl_json_out_text(&out, pl_str_of(cpu));
    pl_json_out_key(&out, "pcre2");
    pl_json_out_text(&out, pl_str_of(pcre2));
    pl_json_out_close(&out, '}');
    pl_console_puts(console, "\n");
    return PL_EXIT_OK;
}
