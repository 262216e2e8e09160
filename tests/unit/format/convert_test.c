/* Facts that a caller of a conversion may know better than the document: its tree, its model, and
 * that nobody will convert it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/convert.h"

#include <stdio.h>

static const char chat[] = "{\"model\":\"mine/fast\",\"stream\":true,\"max_tokens\":9,"
                           "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

static struct pl_converted convert(struct pl_convert_opts opts, const char *text)
{
    struct pl_converted made;
    struct pl_error err = {0};
    opts.mode = PL_MODE_GATEWAY;
    pl_converted_init(&made);
    if (pl_convert(pl_str_of(text), &opts, &made, &err) != PL_OK)
        fail_msg("%s", err.message);
    pl_buf_addc(&made.out, '\0');
    pl_buf_addc(&made.report, '\0');
    return made;
}

static void the_target_may_call_the_model_otherwise(void **state)
{
    (void)state;
    struct pl_converted made = convert((struct pl_convert_opts){.from = &pl_format_openai_chat,
                                                                .to = &pl_format_anthropic,
                                                                .model = PL_STR("claude \"x\"")},
                                       chat);
    assert_non_null(strstr(made.out.ptr, "\"model\":\"claude \\\"x\\\"\""));
    assert_non_null(strstr(made.out.ptr, "\"stream\":true"));
    assert_null(strstr(made.out.ptr, "mine"));
    assert_non_null(strstr(made.report.ptr, "\"lossless\":true"));
    pl_converted_deinit(&made);
}

static void a_source_without_a_model_gets_one(void **state)
{
    (void)state;
    struct pl_converted made = convert(
        (struct pl_convert_opts){
            .from = &pl_format_gemini, .to = &pl_format_openai_chat, .model = PL_STR("m")},
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}]}");
    assert_non_null(strstr(made.out.ptr, "\"model\":\"m\""));
    pl_converted_deinit(&made);
}

static void an_address_says_the_model_and_the_stream(void **state)
{
    (void)state;
    struct pl_convert_opts opts = {.from = &pl_format_openai_chat, .to = &pl_format_gemini};
    struct pl_converted made = convert(opts, chat);
    assert_non_null(strstr(made.report.ptr, "/stream"));
    pl_converted_deinit(&made);
    opts.is_addressed = true;
    made = convert(opts, chat);
    assert_null(strstr(made.out.ptr, "model\":"));
    assert_null(strstr(made.out.ptr, "stream"));
    assert_non_null(strstr(made.report.ptr, "\"lossless\":true"));
    pl_converted_deinit(&made);
}

static void a_tree_that_is_there_is_not_made_again(void **state)
{
    (void)state;
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_convert_opts opts = {.from = &pl_format_openai_chat, .to = &pl_format_anthropic};
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, pl_str_of(chat), &pl_json_any, &doc, NULL), PL_OK);
    struct pl_converted without = convert(opts, chat);
    opts.doc = &doc;
    struct pl_converted with = convert(opts, chat);
    assert_string_equal(with.out.ptr, without.out.ptr);
    assert_string_equal(with.report.ptr, without.report.ptr);
    assert_int_equal(with.carry.len, 0);
    pl_converted_deinit(&with);
    pl_converted_deinit(&without);
    pl_arena_deinit(&arena);
}

/* A way home that writes a few words. */
static enum pl_status write_words(struct pl_buf *to, const struct pl_writer *w,
                                  struct pl_str source, struct pl_str target,
                                  const struct pl_conversion *conversion)
{
    (void)w;
    pl_buf_addf(to, "%s>%s %zu %d", conversion->from->name, conversion->to->name, source.len,
                target.len > 0);
    return to->status;
}

static enum pl_status go_nowhere(const struct pl_home *home, struct pl_buf *to,
                                 struct pl_error *err)
{
    (void)err;
    pl_buf_add(to, home->carry);
    return to->status;
}

static void only_who_brings_a_way_home_gets_a_carry_and_can_go_home(void **state)
{
    (void)state;
    const struct pl_way_home way = {.write = write_words, .go = go_nowhere};
    struct pl_convert_opts opts = {.from = &pl_format_openai_chat, .to = &pl_format_anthropic};
    struct pl_converted made = convert(opts, chat);
    assert_int_equal(made.carry.len, 0);
    pl_converted_deinit(&made);
    opts.way_home = &way;
    made = convert(opts, chat);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "openai-chat>anthropic %zu 1", sizeof chat - 1);
    assert_true(pl_str_eq(pl_buf_str(&made.carry), pl_str_of(wanted)));
    pl_converted_deinit(&made);
    opts.carry = PL_STR("home");
    made = convert(opts, chat);
    assert_string_equal(made.out.ptr, "home");
    pl_converted_deinit(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_target_may_call_the_model_otherwise),
        cmocka_unit_test(a_source_without_a_model_gets_one),
        cmocka_unit_test(an_address_says_the_model_and_the_stream),
        cmocka_unit_test(a_tree_that_is_there_is_not_made_again),
        cmocka_unit_test(only_who_brings_a_way_home_gets_a_carry_and_can_go_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
