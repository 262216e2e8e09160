/* Output is read back the same in every dialect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream/hear.h"
#include "stream/speak.h"

#include <string.h>

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    pl_buf_addf(ctx, "%s(%.*s)", is_thinking ? "think" : "text", PL_STR_ARG(text));
}

static void on_proof(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof)
{
    (void)ctx, (void)kind, (void)proof;
}

static void on_refusal(void *ctx, struct pl_str text)
{
    pl_buf_addf(ctx, "refused(%.*s)", PL_STR_ARG(text));
}

static void on_call(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                    const struct pl_heard_proof *proof)
{
    (void)id, (void)proof;
    pl_buf_addf(ctx, "call(%.*s %.*s)", PL_STR_ARG(name), PL_STR_ARG(arguments));
}

static void on_citation(void *ctx, struct pl_str json)
{
    (void)ctx, (void)json;
}

static void on_end(void *ctx, const struct pl_heard_end *end)
{
    pl_buf_addf(ctx, "end(%.*s %lld %lld)", PL_STR_ARG(end->model), (long long)end->counts.input,
                (long long)end->counts.output);
}

static void on_error(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message)
{
    (void)type, (void)code;
    pl_buf_addf(ctx, "error(%.*s)", PL_STR_ARG(message));
}

static const struct pl_hear_ops ops = {on_text,     on_proof, on_refusal, on_call,
                                       on_citation, on_end,   on_error};

static void assert_heard(struct pl_speaker *speaker, const char *expected)
{
    struct pl_hearing *hearing;
    PL_CLEANUP_BUF struct pl_buf heard;
    pl_buf_init(&heard, 0);
    assert_int_equal(pl_speaker_status(speaker), PL_OK);
    assert_int_equal(pl_hearing_create(speaker->stream->to, &ops, &heard, &hearing), PL_OK);
    assert_int_equal(pl_hearing_feed(hearing, pl_buf_str(&speaker->stream->out)), PL_OK);
    assert_int_equal(pl_hearing_finish(hearing), PL_OK);
    pl_hearing_destroy(hearing);
    pl_buf_addc(&heard, '\0');
    assert_int_equal(heard.status, PL_OK);
    assert_string_equal(heard.ptr, expected);
}

static const struct pl_counts counts = {5, 7, 12, -1, -1, -1, -1};

/* patches is for sessions and has no model name. */
static bool is_vendor(const struct pl_dialect *dialect)
{
    return dialect != &pl_dialect_patches;
}

/* In every vendor's dialect. */
static void assert_all_hear(const char *model, void (*say)(struct pl_speaker *), const char *heard)
{
    for (size_t i = 0; pl_dialects[i]; i++) {
        struct pl_speaker speaker;
        if (!is_vendor(pl_dialects[i]))
            continue;
        assert_int_equal(pl_speaker_init(&speaker, pl_dialects[i]), PL_OK);
        pl_speak_start(&speaker, PL_STR("resp_1"), pl_str_of(model), 1790000000);
        say(&speaker);
        assert_heard(&speaker, heard);
        pl_speaker_deinit(&speaker);
    }
}

static void say_all(struct pl_speaker *speaker)
{
    pl_speak_text(speaker, true, PL_STR("Hm.\n"));
    pl_speak_text(speaker, false, PL_STR("He said \"\xc3\xa9\"\\"));
    pl_speak_call(speaker, PL_STR("call_1"), PL_STR("clock"), PL_STR("{\"zone\":\"UTC\"}"));
    pl_speak_end(speaker, &counts);
}

static void every_dialect_says_text_thinking_and_calls(void **state)
{
    (void)state;
    assert_all_hear("demo/echo", say_all,
                    "think(Hm.\n)text(He said \"\xc3\xa9\"\\)call(clock "
                    "{\"zone\":\"UTC\"})end(demo/echo 5 7)");
}

static void say_nothing(struct pl_speaker *speaker)
{
    pl_speak_end(speaker, &counts);
}

static void an_answer_of_nothing_has_an_end(void **state)
{
    (void)state;
    assert_all_hear("m", say_nothing, "end(m 5 7)");
}

static void say_half(struct pl_speaker *speaker)
{
    pl_speak_text(speaker, false, PL_STR("Half"));
    pl_speak_error(speaker, PL_STR("it broke"));
}

static void an_error_ends_the_answer(void **state)
{
    (void)state;
    assert_all_hear("m", say_half, "text(Half)error(it broke)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_says_text_thinking_and_calls),
        cmocka_unit_test(an_answer_of_nothing_has_an_end),
        cmocka_unit_test(an_error_ends_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
