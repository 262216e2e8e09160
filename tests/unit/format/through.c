#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/format/through.h"

#include <stdio.h>

struct pl_converted pl_test_convert_by(const struct pl_way_home *way_home, const char *from,
                                       const char *to, enum pl_format_kind kind, enum pl_mode mode,
                                       const char *text)
{
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(from)),
        .to = pl_format_find(pl_str_of(to)),
        .kind = kind,
        .mode = mode,
        .way_home = way_home,
    };
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    if (pl_convert(pl_str_of(text), &opts, &made, &err) != PL_OK)
        fail_msg("%s -> %s: %s (at %s)", from, to, err.message, err.pointer);
    return made;
}

struct pl_converted pl_test_convert(const char *from, const char *to, enum pl_format_kind kind,
                                    enum pl_mode mode, const char *text)
{
    return pl_test_convert_by(NULL, from, to, kind, mode, text);
}

bool pl_test_has_loss(const struct pl_converted *c, const char *code, const char *pointer)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "{\"code\":\"%s\",\"pointer\":\"%s\",", code, pointer);
    return memmem(c->report.ptr, c->report.len, wanted, strlen(wanted)) != NULL;
}
