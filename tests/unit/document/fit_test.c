/* Settings that a model's profile changes, and settings that it leaves unchanged. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "document/lint.h"
#include "format/profile.h"
#include "json/pointer.h"
#include "unit/format/through.h"

#define ANTHROPIC(members)                                                                         \
    "{\"model\":\"m\",\"max_tokens\":9000,\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]"    \
    ",\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]," members "}"
#define CHAT(members)                                                                              \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[{\"type\":"  \
    "\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\"}}}]," members   \
    "}"
#define PLAIN(members)                                                                             \
    "{\"model\":\"m\",\"max_tokens\":9000,\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]"    \
    "," members "}"
#define GEMINI(config)                                                                             \
    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]}],\"generationConfig\":"       \
    "{\"thinkingConfig\":" config "}}"

/* A setting, a profile, and the result: words of the output (after "!": absent words) and a loss,
 * CODE POINTER; NULL: no relevant loss. */
struct meeting {
    const char *from, *profile, *text;
    const char *words[3];
    const char *code, *pointer;
};

static struct pl_converted meet(const struct meeting *m, enum pl_mode mode)
{
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(m->from)),
                                   .mode = mode,
                                   .profile = pl_profile_find(pl_str_of(m->profile))};
    assert_non_null(opts.profile);
    opts.to = pl_format_find(pl_str_of(opts.profile->format));
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    if (pl_convert(pl_str_of(m->text), &opts, &made, &err) != PL_OK)
        fail_msg("%s: %s", m->profile, err.message);
    return made;
}

static bool says(const struct pl_buf *buf, const char *words)
{
    return memmem(buf->ptr, buf->len, words, strlen(words)) != NULL;
}

static void check(const struct meeting *meetings, size_t n)
{
    for (const struct meeting *m = meetings; m < meetings + n; m++) {
        struct pl_converted made = meet(m, PL_MODE_GATEWAY);
        for (size_t i = 0; i < 3 && m->words[i]; i++) {
            bool is_wanted = m->words[i][0] != '!';
            if (says(&made.out, m->words[i] + !is_wanted) != is_wanted)
                fail_msg("%s: %s in\n%.*s", m->profile, m->words[i],
                         PL_STR_ARG(pl_buf_str(&made.out)));
        }
        bool is_right = m->code ? pl_test_has_loss(&made, m->code, m->pointer)
                                : says(&made.report, "\"lossless\":true");
        if (!is_right)
            fail_msg("%s: no %s %s in\n%.*s", m->profile, m->code, m->pointer,
                     PL_STR_ARG(pl_buf_str(&made.report)));
        pl_converted_deinit(&made);
    }
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const struct meeting meetings[] = {__VA_ARGS__};                                    \
        check(meetings, sizeof meetings / sizeof *meetings);                                       \
    } while (0)

static void a_model_that_chooses_its_tools_is_not_forced(void **state)
{
    (void)state;
    static const char any[] = CHAT("\"tool_choice\":\"required\",\"max_tokens\":9");
    CHECK(
        {"openai-chat",
         "anthropic@claude-opus-5-5",
         any,
         {"\"tool_choice\":{\"type\":\"auto\"}"},
         "approximated",
         "/tool_choice"},
        {"openai-chat", "anthropic@claude-haiku-5-5", any, {"\"tool_choice\":{\"type\":\"any\"}"}},
        {"openai-chat", "anthropic@claude-sonnet-5", any, {"\"tool_choice\":{\"type\":\"any\"}"}});
    static const char one[] =
        ANTHROPIC("\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\",\"disable_parallel_tool_use\""
                  ":true}");
    CHECK({"anthropic",
           "anthropic@claude-sonnet-5-5",
           one,
           {"\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true}"},
           "approximated",
           "/tool_choice/type"},
          {"anthropic", "anthropic@claude-opus-5", one, {"\"type\":\"tool\",\"name\":\"f\""}});
    CHECK({"openai-chat",
           "anthropic@claude-opus-5-5",
           CHAT("\"tool_choice\":\"none\",\"max_tokens\":9"),
           {"\"tool_choice\":{\"type\":\"none\"}"}});
}

static void a_model_that_always_thinks_is_given_little_effort_instead(void **state)
{
    (void)state;
    static const char off[] = ANTHROPIC("\"thinking\":{\"type\":\"disabled\"}");
    CHECK({"anthropic",
           "anthropic@claude-opus-5-5",
           off,
           {"!thinking", "\"output_config\":{\"effort\":\"low\"}"},
           "approximated",
           "/thinking/type"},
          {"anthropic",
           "anthropic@claude-fable-5",
           off,
           {"!thinking", "\"output_config\":{\"effort\":\"low\"}"},
           "approximated",
           "/thinking/type"},
          {"anthropic", "anthropic@claude-haiku-5-5", off, {"{\"type\":\"disabled\"}"}},
          {"anthropic", "anthropic@claude-opus-4-8", off, {"{\"type\":\"disabled\"}"}},
          {"openai-chat",
           "anthropic@claude-opus-5-5",
           PLAIN("\"reasoning_effort\":\"none\""),
           {"!thinking", "\"output_config\":{\"effort\":\"low\"}"},
           "approximated",
           "/reasoning_effort"},
          {"gemini",
           "anthropic@claude-opus-5-5",
           GEMINI("{\"thinkingBudget\":0}"),
           {"!\"thinking\"", "\"output_config\":{\"effort\":\"low\"}"},
           "approximated",
           "/generationConfig/thinkingConfig/thinkingBudget"});
    /* An existing effort stays. */
    CHECK({"anthropic",
           "anthropic@claude-opus-5-5",
           ANTHROPIC("\"thinking\":{\"type\":\"disabled\"},\"output_config\":{\"effort\":\"max\"}"),
           {"!thinking", "\"output_config\":{\"effort\":\"max\"}"},
           "approximated",
           "/thinking/type"});
}

static void the_word_for_no_thinking_is_the_models_own(void **state)
{
    (void)state;
    CHECK({"anthropic",
           "anthropic@claude-sonnet-5-5",
           ANTHROPIC("\"thinking\":{\"type\":\"disabled\"}"),
           {"\"thinking\":{\"type\":\"between_tools\"}", "!disabled"},
           "approximated",
           "/thinking/type"},
          {"openai-chat",
           "anthropic@claude-sonnet-5-5",
           PLAIN("\"reasoning_effort\":\"none\""),
           {"\"thinking\":{\"type\":\"between_tools\"}", "!effort"},
           "approximated",
           "/reasoning_effort"},
          {"anthropic",
           "anthropic@claude-sonnet-5-5",
           ANTHROPIC("\"thinking\":{\"type\":\"between_tools\"}"),
           {"\"thinking\":{\"type\":\"between_tools\"}"}});
}

static void without_thinking_the_effort_is_high_at_most(void **state)
{
    (void)state;
    static const char both[] =
        ANTHROPIC("\"thinking\":{\"type\":\"disabled\"},\"output_config\":{\"effort\":\"xhigh\","
                  "\"task_budget\":{\"type\":\"tokens\",\"total\":9}}");
    CHECK({"anthropic",
           "anthropic@claude-opus-5",
           both,
           {"\"output_config\":{\"effort\":\"high\",\"task_budget\":{\"type\":\"tokens\",\"total\":"
            "9}}",
            "{\"type\":\"disabled\"}"},
           "approximated",
           "/output_config/effort"},
          {"anthropic",
           "anthropic@claude-haiku-5-5",
           both,
           {"\"effort\":\"high\""},
           "approximated",
           "/output_config/effort"},
          {"anthropic", "anthropic@claude-opus-4-8", both, {"\"effort\":\"xhigh\""}},
          {"anthropic",
           "anthropic@claude-opus-5",
           ANTHROPIC("\"output_config\":{\"effort\":\"xhigh\"}"),
           {"\"effort\":\"xhigh\""}});
}

static void a_budget_becomes_an_effort_where_there_is_none(void **state)
{
    (void)state;
    static const char budget[] =
        ANTHROPIC("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5000,\"display\":"
                  "\"summarized\"}");
    CHECK({"anthropic",
           "anthropic@claude-opus-4-8",
           budget,
           {"\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}",
            "\"output_config\":{\"effort\":\"medium\"}"},
           "approximated",
           "/thinking/budget_tokens"},
          {"anthropic", "anthropic@claude-opus-4-6", budget, {"\"budget_tokens\":5000"}},
          {"gemini",
           "anthropic@claude-sonnet-5",
           GEMINI("{\"thinkingBudget\":900}"),
           {"\"thinking\":{\"type\":\"adaptive\"}", "\"effort\":\"low\""},
           "approximated",
           "/generationConfig/thinkingConfig/thinkingBudget"});
    /* Beside other members in the place of the effort. */
    CHECK({"anthropic",
           "anthropic@claude-opus-5",
           ANTHROPIC("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9000},"
                     "\"output_config\":{\"task_budget\":{\"total\":9}}"),
           {"\"output_config\":{\"effort\":\"high\",\"task_budget\":{\"total\":9}}"},
           "synthesised",
           "/output_config"});
}

static void an_older_model_knows_neither_adaptive_thinking_nor_effort(void **state)
{
    (void)state;
    static const char adaptive[] = ANTHROPIC("\"thinking\":{\"type\":\"adaptive\"}");
    static const char effort[] = PLAIN("\"reasoning_effort\":\"high\"");
    CHECK({"anthropic",
           "anthropic@claude-haiku-4-5",
           adaptive,
           {"!thinking"},
           "dropped",
           "/thinking/type"},
          {"anthropic", "anthropic@claude-opus-4-6", adaptive, {"{\"type\":\"adaptive\"}"}},
          {"openai-chat",
           "anthropic@claude-sonnet-4-5",
           effort,
           {"!effort"},
           "dropped",
           "/reasoning_effort"},
          {"openai-chat", "anthropic@claude-opus-4-5", effort, {"\"effort\":\"high\""}});
}

static void an_effort_is_the_nearest_the_model_knows(void **state)
{
    (void)state;
    static const char none[] = PLAIN("\"thinking\":{\"type\":\"disabled\"}");
    static const char most[] = PLAIN("\"output_config\":{\"effort\":\"max\"}");
    CHECK({"anthropic",
           "openai-chat@gpt-5",
           none,
           {"\"reasoning_effort\":\"minimal\""},
           "approximated",
           "/thinking/type"},
          {"anthropic", "openai-chat@gpt-5.1", none, {"\"reasoning_effort\":\"none\""}},
          {"anthropic",
           "openai-responses@o3",
           none,
           {"\"effort\":\"low\""},
           "approximated",
           "/thinking/type"},
          {"anthropic",
           "openai-responses@gpt-5.2",
           most,
           {"\"effort\":\"xhigh\""},
           "approximated",
           "/output_config/effort"},
          {"anthropic", "openai-responses@gpt-6", most, {"\"effort\":\"max\""}},
          {"anthropic",
           "openai-chat@gpt-5-chat",
           most,
           {"!effort"},
           "dropped",
           "/output_config/effort"},
          {"anthropic",
           "anthropic@claude-opus-4-6",
           PLAIN("\"output_config\":{\"effort\":\"xhigh\"}"),
           {"\"effort\":\"high\""},
           "approximated",
           "/output_config/effort"});
    /* A number of tokens maps to a word. */
    static const char few[] = PLAIN("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}");
    CHECK({"anthropic",
           "openai-chat@gpt-5.1",
           few,
           {"\"reasoning_effort\":\"low\""},
           "approximated",
           "/thinking/budget_tokens"},
          {"anthropic",
           "openai-chat@gpt-5",
           few,
           {"\"reasoning_effort\":\"minimal\""},
           "approximated",
           "/thinking/budget_tokens"});
}

static void gemini_has_the_levels_of_its_model(void **state)
{
    (void)state;
    static const char none[] = PLAIN("\"reasoning_effort\":\"none\"");
    static const char medium[] = PLAIN("\"reasoning_effort\":\"medium\"");
    static const char most[] = PLAIN("\"reasoning_effort\":\"max\"");
    CHECK({"openai-chat", "gemini@3", none, {"LOW"}, "approximated", "/reasoning_effort"},
          {"openai-chat", "gemini@3-flash", none, {"MINIMAL"}, "approximated", "/reasoning_effort"},
          {"openai-chat", "gemini@3", medium, {"MEDIUM"}},
          {"openai-chat", "gemini@3-pro", medium, {"LOW"}, "approximated", "/reasoning_effort"},
          {"openai-chat",
           "gemini@2.5",
           none,
           {"\"thinkingBudget\":0"},
           "approximated",
           "/reasoning_effort"},
          {"openai-chat",
           "gemini@2.5-pro",
           none,
           {"\"thinkingBudget\":1024"},
           "approximated",
           "/reasoning_effort"},
          {"openai-chat",
           "gemini@2.5",
           most,
           {"\"thinkingBudget\":24576"},
           "approximated",
           "/reasoning_effort"},
          {"openai-chat",
           "gemini@2.5-pro",
           most,
           {"\"thinkingBudget\":32768"},
           "approximated",
           "/reasoning_effort"});
    /* Documents of its own format stay unchanged. */
    CHECK({"gemini", "gemini@3", GEMINI("{\"thinkingBudget\":0}"), {"\"thinkingBudget\":0"}});
}

static void sampling_waits_until_the_model_does_not_think(void **state)
{
    (void)state;
    static const char warm[] = PLAIN("\"temperature\":0.5");
    static const char warm_and_off[] =
        PLAIN("\"temperature\":0.5,\"thinking\":{\"type\":\"disabled\"}");
    static const char warm_and_on[] =
        PLAIN("\"temperature\":0.5,\"output_config\":{\"effort\":\"low\"}");
    CHECK(
        {"anthropic", "openai-chat@gpt-5", warm, {"!temperature"}, "dropped", "/temperature"},
        {"anthropic",
         "openai-chat@gpt-5",
         warm_and_off,
         {"!temperature"},
         "dropped",
         "/temperature"},
        {"anthropic", "openai-chat@gpt-5.2", warm, {"\"temperature\":0.5"}},
        {"anthropic",
         "openai-responses@gpt-5.2",
         warm_and_on,
         {"!temperature"},
         "dropped",
         "/temperature"},
        {"anthropic", "openai-responses@gpt-6", warm, {"!temperature"}, "dropped", "/temperature"},
        {"anthropic", "openai-responses@gpt-6", warm_and_off, {"\"temperature\":0.5"}},
        {"anthropic",
         "openai-responses@gpt-6-astra",
         warm_and_off,
         {"!temperature"},
         "dropped",
         "/temperature"},
        {"anthropic", "openai-chat@gpt-5-chat", warm, {"\"temperature\":0.5"}});
    static const char tuned[] =
        PLAIN("\"presence_penalty\":1,\"logprobs\":true,\"top_logprobs\":2");
    CHECK({"openai-chat",
           "openai-chat@o3",
           tuned,
           {"!presence", "!logprobs"},
           "dropped",
           "/presence_penalty"},
          {"openai-chat", "openai-chat@o3", tuned, {"!logprobs"}, "dropped", "/top_logprobs"},
          {"openai-chat", "openai-chat@gpt-5.1", tuned, {"\"presence_penalty\":1", "logprobs"}});
}

static void temperature_and_top_p_are_one_too_many(void **state)
{
    (void)state;
    static const char both[] = PLAIN("\"temperature\":0.5,\"top_p\":0.5");
    static const char one[] = PLAIN("\"top_p\":0.5");
    CHECK({"openai-chat",
           "anthropic@claude-haiku-4-5",
           both,
           {"temperature", "!top_p"},
           "dropped",
           "/top_p"},
          {"openai-chat", "anthropic@claude-haiku-4-5", one, {"\"top_p\":0.5"}},
          {"openai-chat", "anthropic@claude-4", both, {"temperature", "top_p"}},
          {"openai-chat", "anthropic@claude-opus-5", one, {"!top_p"}, "dropped", "/top_p"});
}

static void in_chat_some_models_call_tools_only_at_rest(void **state)
{
    (void)state;
    static const char bare[] = ANTHROPIC("\"stream\":true");
    static const char on[] = ANTHROPIC("\"output_config\":{\"effort\":\"high\"}");
    CHECK({"anthropic",
           "openai-chat@gpt-6",
           bare,
           {"\"reasoning_effort\":\"none\""},
           "synthesised",
           ""},
          {"anthropic", "openai-chat@gpt-5.4", bare, {"!reasoning_effort"}},
          {"anthropic",
           "openai-chat@gpt-5.4",
           on,
           {"\"reasoning_effort\":\"none\""},
           "approximated",
           "/output_config/effort"},
          {"anthropic", "openai-chat@gpt-5.2", on, {"\"reasoning_effort\":\"high\""}},
          {"anthropic", "openai-responses@gpt-6", on, {"\"effort\":\"high\""}},
          {"anthropic",
           "openai-chat@gpt-6",
           PLAIN("\"output_config\":{\"effort\":\"high\"}"),
           {"\"reasoning_effort\":\"high\""}},
          {"anthropic",
           "openai-chat@gpt-6",
           ANTHROPIC("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5000}"),
           {"\"reasoning_effort\":\"none\""},
           "approximated",
           "/thinking/budget_tokens"});
}

static void the_limit_has_the_name_the_model_knows(void **state)
{
    (void)state;
    static const char older[] = CHAT("\"max_tokens\":9");
    static const char newer[] = CHAT("\"max_completion_tokens\":9");
    CHECK({"openai-chat",
           "openai-chat@gpt-5",
           older,
           {"!\"max_tokens\"", "\"max_completion_tokens\":9"},
           "moved",
           "/max_tokens"},
          {"openai-chat", "openai-chat@gpt-5", newer, {"\"max_completion_tokens\":9"}},
          {"openai-chat",
           "openai-chat@gpt-5-chat",
           older,
           {"\"max_tokens\":9", "!max_completion_tokens"}},
          {"openai-chat",
           "openai-chat@mistral",
           newer,
           {"\"max_tokens\":9", "!max_completion_tokens"},
           "moved",
           "/max_completion_tokens"},
          {"openai-chat", "openai-chat@mistral", older, {"\"max_tokens\":9"}});
}

static void in_mode_convert_a_profile_changes_no_setting(void **state)
{
    (void)state;
    struct meeting m = {
        .from = "openai-chat",
        .profile = "anthropic@claude-opus-5-5",
        .text = CHAT("\"tool_choice\":\"required\",\"reasoning_effort\":\"none\",\"top_p\":0.5,"
                     "\"max_tokens\":9")};
    struct pl_converted made = meet(&m, PL_MODE_CONVERT);
    assert_true(says(&made.out, "\"tool_choice\":{\"type\":\"any\"}"));
    assert_true(says(&made.out, "\"thinking\":{\"type\":\"disabled\"}"));
    assert_true(says(&made.out, "\"top_p\":0.5"));
    pl_converted_deinit(&made);
    made = meet(&m, PL_MODE_REPAIR);
    assert_true(says(&made.out, "\"tool_choice\":{\"type\":\"auto\"}"));
    pl_converted_deinit(&made);
}

/* The findings as CODE POINTER, for a document of the profile's own format. */
static void check_findings(const char *profile, const char *text, const char *expected)
{
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf found;
    pl_buf_init(&found, 0);
    struct pl_lint_request request = {.profile = pl_profile_find(pl_str_of(profile))};
    assert_non_null(request.profile);
    request.target = pl_format_find(pl_str_of(request.profile->format));
    struct pl_linted linted;
    struct pl_error err = {0};
    if (pl_lint_document(&arena, pl_str_of(text), &request, &linted, &err) != PL_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < linted.findings.list.len; i++) {
        pl_buf_adds(&found, linted.findings.list.ptr[i].code);
        pl_buf_addc(&found, ' ');
        pl_json_pointer_of(&found, &linted.doc, linted.findings.list.ptr[i].node);
        pl_buf_addc(&found, '\n');
        assert_true(linted.findings.list.ptr[i].has_fix);
    }
    if (!pl_str_eq(pl_buf_str(&found), pl_str_of(expected)))
        fail_msg("%s:\n%.*s", profile, PL_STR_ARG(pl_buf_str(&found)));
    pl_linted_deinit(&linted);
    pl_arena_deinit(&arena);
}

static void lint_names_what_the_model_would_refuse(void **state)
{
    (void)state;
    static const char request[] =
        ANTHROPIC("\"tool_choice\":{\"type\":\"any\"},\"output_config\":{\"task_budget\":{}},"
                  "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5000},\"top_p\":0.5");
    check_findings("anthropic@claude-opus-5-5", request,
                   "setting.refused /tool_choice/type\n"
                   "setting.refused /thinking/budget_tokens\nsetting.refused /top_p\n");
    check_findings("anthropic@claude-opus-5", request,
                   "setting.refused /thinking/budget_tokens\nsetting.refused /top_p\n");
    check_findings("anthropic@claude-opus-4-6", request, "");
    check_findings("openai-chat@gpt-6", ANTHROPIC("\"stream\":true"), "setting.refused \n");
}

static void a_model_has_the_profile_with_the_longest_beginning(void **state)
{
    (void)state;
    static const struct {
        const char *format, *model, *profile;
    } known[] = {
        {"anthropic", "claude-opus-5-5", "anthropic@claude-opus-5-5"},
        {"anthropic", "anthropic/claude-fable-5-2", "anthropic@claude-opus-5-5"},
        {"anthropic", "claude-fable-5", "anthropic@claude-fable-5"},
        {"anthropic", "claude-opus-4-7", "anthropic@claude-sonnet-5"},
        {"anthropic", "claude-opus-4-20250514", "anthropic@claude-4"},
        {"anthropic", "claude-haiku-5-5", "anthropic@claude-haiku-5-5"},
        {"openai-chat", "gpt-5-mini", "openai-chat@gpt-5"},
        {"openai-responses", "gpt-5.4-mini", "openai-responses@gpt-5.4"},
        {"openai-responses", "gpt-6.1-sol", "openai-responses@gpt-6-astra"},
        {"openai-responses", "gpt-6.1-terra", "openai-responses@gpt-6"},
        {"gemini", "models/gemini-3.1-flash-lite", "gemini@3-flash"},
        {"gemini", "gemini-3.8-flash", "gemini@3"},
        {"gemini", "gemini-2.5-pro", "gemini@2.5-pro"},
        {"gemini", "gemma-4", "gemini@developer"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct pl_profile *profile =
            pl_profile_of_model(pl_str_of(known[i].format), pl_str_of(known[i].model));
        assert_non_null(profile);
        assert_string_equal(profile->name, known[i].profile);
    }
    assert_null(pl_profile_of_model(PL_STR("openai-chat"), PL_STR("gpt-4o")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_chooses_its_tools_is_not_forced),
        cmocka_unit_test(a_model_that_always_thinks_is_given_little_effort_instead),
        cmocka_unit_test(the_word_for_no_thinking_is_the_models_own),
        cmocka_unit_test(without_thinking_the_effort_is_high_at_most),
        cmocka_unit_test(a_budget_becomes_an_effort_where_there_is_none),
        cmocka_unit_test(an_older_model_knows_neither_adaptive_thinking_nor_effort),
        cmocka_unit_test(an_effort_is_the_nearest_the_model_knows),
        cmocka_unit_test(gemini_has_the_levels_of_its_model),
        cmocka_unit_test(sampling_waits_until_the_model_does_not_think),
        cmocka_unit_test(temperature_and_top_p_are_one_too_many),
        cmocka_unit_test(in_chat_some_models_call_tools_only_at_rest),
        cmocka_unit_test(the_limit_has_the_name_the_model_knows),
        cmocka_unit_test(in_mode_convert_a_profile_changes_no_setting),
        cmocka_unit_test(lint_names_what_the_model_would_refuse),
        cmocka_unit_test(a_model_has_the_profile_with_the_longest_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
