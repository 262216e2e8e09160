#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/format/through.h"

#include <stdio.h>

struct pl_converted pl_test_convert(const char *from, const char *to, enum pl_format_kind kind,
                                    enum pl_mode mode, const char *text)
{
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(from)),
        .to = pl_format_find(pl_str_of(to)),
        .kind = kind,
        .mode = mode,
    };
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    if (pl_convert(pl_str_of(text), &opts, &made, &err) != PL_OK)
        fail_msg("%s -> %s: %s (at %s)", from, to, err.message, err.pointer);
    return made;
}

bool pl_test_has_loss(const struct pl_converted *c, const char *code, const char *pointer)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "{\"code\":\"%s\",\"pointer\":\"%s\",", code, pointer);
    return memmem(c->report.ptr, c->report.len, wanted, strlen(wanted)) != NULL;
}

void pl_test_round_trip(const char *from, const char *to, const char *text)
{
    struct pl_converted there = pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(to)),
        .to = pl_format_find(pl_str_of(from)),
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
