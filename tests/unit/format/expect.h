/* For the tests of the project's own formats: the expected output and report of a conversion. */
#ifndef PL_TESTS_UNIT_FORMAT_EXPECT_H
#define PL_TESTS_UNIT_FORMAT_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/carry/around.h"
#include "unit/format/through.h"

/* The output must be exactly this. */
static inline void expect_output(const char *from, const char *to, const char *text,
                                 const char *wanted)
{
    struct pl_converted c = pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    if (!pl_str_eq(pl_buf_str(&c.out), pl_str_of(wanted)))
        fail_msg("%s -> %s gives\n%.*s\ninstead of\n%s", from, to, PL_STR_ARG(pl_buf_str(&c.out)),
                 wanted);
    pl_converted_deinit(&c);
    pl_test_round_trip(from, to, text);
}

/* The report must have (or must not have) a loss with that code at that pointer. */
static inline void expect_loss(const char *from, const char *to, const char *text, const char *code,
                               const char *pointer, bool is_there)
{
    struct pl_converted c = pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    if (pl_test_has_loss(&c, code, pointer) != is_there)
        fail_msg("%s %s at %s in\n%.*s", is_there ? "no" : "unwanted", code, pointer,
                 PL_STR_ARG(pl_buf_str(&c.report)));
    pl_converted_deinit(&c);
}

/* The conversion must be refused as PL_INVALID, with a message that contains `words`. */
static inline void expect_refusal(const char *from, const char *to, const char *text,
                                  const char *words)
{
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(from)),
                                   .to = pl_format_find(pl_str_of(to))};
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    assert_int_equal(pl_convert(pl_str_of(text), &opts, &made, &err), PL_INVALID);
    if (!strstr(err.message, words))
        fail_msg("the message does not say \"%s\": %s", words, err.message);
    pl_converted_deinit(&made);
}

/* The detected format; NULL: none. */
static inline void expect_detected(const char *text, const char *name)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    const struct pl_format *format = pl_format_detect(&doc);
    if (!name)
        assert_null(format);
    else if (!format || strcmp(format->name, name) != 0)
        fail_msg("taken for %s instead of %s: %s", format ? format->name : "nothing", name, text);
}

#endif
