#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/carry/around.h"

#include "carry/carry.h"

struct pl_converted pl_test_convert_kept(const char *from, const char *to, enum pl_format_kind kind,
                                         enum pl_mode mode, const char *text)
{
    return pl_test_convert_by(&pl_carry_way, from, to, kind, mode, text);
}

void pl_test_round_trip(const char *from, const char *to, const char *text)
{
    struct pl_converted there =
        pl_test_convert_kept(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(to)),
        .to = pl_format_find(pl_str_of(from)),
        .way_home = &pl_carry_way,
        .carry = pl_buf_str(&there.carry),
    };
    struct pl_converted back;
    pl_converted_init(&back);
    struct pl_error err = {0};
    if (pl_convert(pl_buf_str(&there.out), &opts, &back, &err) != PL_OK)
        fail_msg("%s -> %s -> %s: %s", from, to, from, err.message);
    if (!pl_str_eq(pl_buf_str(&back.out), pl_str_of(text)))
        fail_msg("%s -> %s -> %s gives\n%.*s\ninstead of\n%s", from, to, from,
                 PL_STR_ARG(pl_buf_str(&back.out)), text);
    pl_converted_deinit(&there);
    pl_converted_deinit(&back);
}
