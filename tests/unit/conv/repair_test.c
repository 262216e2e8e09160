#include "conv/repair/repair.h"

#include "unit/conv/talk.h"

/* Every call is answered right after it, as most targets require. */
static const struct pl_repair_rules adjacent = {.pairs_calls = true,
                                                .wants_results_adjacent = true};
/* … in one message of the user. */
static const struct pl_repair_rules together = {.pairs_calls = true,
                                                .wants_results_adjacent = true,
                                                .wants_results_together = true,
                                                .joins_assistants = true};

#define MISSING                                                                                    \
    "{\"status\":\"error\",\"error_type\":\"MissingResult\","                                      \
    "\"message\":\"This call was never answered.\"}"

/* Repairs `text` and compares the resulting conversation and the report. */
static void check(const struct pl_repair_rules *rules, const char *text, const char *told,
                  const char *losses)
{
    struct talk t;
    talk_read(&t, text);
    assert_int_equal(pl_conv_repair(&t.conv, rules), PL_OK);
    assert_string_equal(talk_tell(&t), told);
    assert_string_equal(talk_losses(&t), losses);
    talk_deinit(&t);
}

static void a_legal_conversation_is_not_touched(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t,
              "[{\"user\":[\"q\"]},"
              "{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
              "{\"tool\":[{\"result\":\"b\",\"content\":[\"2\"]}]},"
              "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]},{\"assistant\":[\"x\"]}]");
    const struct pl_part *parts = t.conv.parts.ptr;
    struct pl_repair_rules rules = adjacent;
    rules.drops_blank = rules.wants_user_first = rules.wants_unique_ids = true;
    rules.system_place = PL_SYSTEM_AFTER_USER;
    rules.max_cache_markers = 4;
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_ptr_equal(t.conv.parts.ptr, parts);
    assert_false(t.conv.is_repaired || t.conv.settings.is_changed);
    assert_string_equal(talk_losses(&t), "");
    talk_deinit(&t);
}

static void a_call_without_a_result_gets_one_that_says_so(void **state)
{
    (void)state;
    check(&adjacent,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"g\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]},{\"user\":[\"never mind\"]}]",
          "assistant call(a) call(b)\ntool result(a \"1\")\n*tool result(b \"" MISSING "\")\n"
          "user \"never mind\"\n",
          "synthesised /0/assistant/1\n");
}

static void a_missing_result_joins_the_others_in_the_users_message(void **state)
{
    (void)state;
    check(&together,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"g\"}]},"
          "{\"user\":[{\"result\":\"a\",\"content\":[\"1\"]},\"never mind\"]}]",
          "assistant call(a) call(b)\n"
          "*user result(a \"1\") result(b \"" MISSING "\") \"never mind\"\n",
          "synthesised /0/assistant/1\n");
}

static void calls_at_the_very_end_are_answered_too(void **state)
{
    (void)state;
    check(&adjacent, "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]}]",
          "assistant call(a)\n*tool result(a \"" MISSING "\")\n", "synthesised /0/assistant/0\n");
}

static void an_orphan_becomes_words_of_the_user(void **state)
{
    (void)state;
    check(&adjacent,
          "[{\"user\":[\"q\"]},{\"tool\":[{\"result\":\"gone\",\"content\":[\"words\"]}]}]",
          "user \"q\"\n*user \"[Result of tool call gone, which is not in this conversation]\" "
          "\"words\"\n",
          "approximated /1/tool/0\n");
}

static void an_orphan_stays_where_the_history_may_begin_earlier(void **state)
{
    (void)state;
    static const char *const keys[] = {"previous", NULL};
    struct pl_repair_rules rules = {.pairs_calls = true, .open_history = keys};
    check(&rules, "{\"previous\":\"x\",\"messages\":[{\"tool\":[{\"result\":\"gone\"}]}]}",
          "tool result(gone)\n", "");
}

static void a_late_result_moves_behind_its_call(void **state)
{
    (void)state;
    check(&adjacent,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},{\"system\":[\"s\"]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]}]",
          "assistant call(a)\n*tool result(a \"1\")\nsystem \"s\"\n", "moved /2/tool/0\n");
}

static void words_before_a_result_move_behind_it(void **state)
{
    (void)state;
    check(&together,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
          "{\"user\":[\"also X\",{\"result\":\"a\",\"content\":[\"1\"]}]}]",
          "assistant call(a)\n*user result(a \"1\") \"also X\"\n", "moved /1/user/1\n");
}

static void results_in_two_messages_come_together(void **state)
{
    (void)state;
    check(&together,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
          "{\"user\":[{\"result\":\"a\"}]},{\"user\":[{\"result\":\"b\"},\"so\"]}]",
          "assistant call(a) call(b)\n*user result(a) result(b)\n*user \"so\"\n", "");
}

static void results_take_the_order_of_their_calls_where_asked(void **state)
{
    (void)state;
    struct pl_repair_rules rules = together;
    rules.wants_call_order = true;
    check(&rules,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"b\"}]},{\"tool\":[{\"result\":\"a\"}]}]",
          "assistant call(a) call(b)\ntool result(a)\n*tool result(b)\n", "reordered /1/tool/0\n");
}

static void a_second_result_becomes_words(void **state)
{
    (void)state;
    check(&adjacent,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"2\"]}]}]",
          "assistant call(a)\ntool result(a \"1\")\n"
          "*user \"[Result of tool call a, which is not in this conversation]\" \"2\"\n",
          "approximated /2/tool/0\n");
}

static void blank_texts_and_what_they_leave_empty_are_left_out(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.drops_blank = true};
    check(&rules,
          "[{\"system\":[\"\",\"S\"]},{\"user\":[\"hi\"]},{\"assistant\":[\" \\n\"]},"
          "{\"user\":[\"go\"]}]",
          "*system \"S\"\nuser \"hi\"\nuser \"go\"\n",
          "dropped /0/system/0\ndropped /2/assistant/0\n");
}

static void a_blank_text_with_a_signature_stays(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.drops_blank = true, .keeps_signatures = true};
    const char *text = "[{\"assistant\":[\"a\",{\"text\":\"\",\"signature\":\"S\"}]}]";
    check(&rules, text, "assistant \"a\" \"\"\n", "");
    rules.keeps_signatures = false; /* another vendor gets no signatures */
    check(&rules, text, "*assistant \"a\"\n", "dropped /0/assistant/1\n");
}

static void a_message_of_foreign_thoughts_only_is_left_out(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.drops_blank = true, .system_place = PL_SYSTEM_AFTER_USER};
    const char *text = "[{\"user\":[\"A\"]},{\"system\":[\"S\"]},"
                       "{\"assistant\":[{\"thinking\":\"t\",\"signature\":\"x\"}]},"
                       "{\"user\":[\"B\"]}]";
    check(&rules, text, "user \"A\"\nuser \"B\"\n*system \"S\"\n",
          "dropped /2/assistant/0\nmoved /1\n");
    rules.keeps_signatures = true;
    check(&rules, text, "user \"A\"\nsystem \"S\"\nassistant thinking\nuser \"B\"\n", "");
}

static void an_image_in_a_result_moves_behind_all_results(void **state)
{
    (void)state;
    struct pl_repair_rules rules = adjacent;
    rules.refused_in_results = PL_PART_BIT(PL_PART_IMAGE);
    check(&rules,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[{\"image\":\"u\"}]}]},"
          "{\"tool\":[{\"result\":\"b\",\"content\":[\"2\"]}]},{\"user\":[\"thanks\"]}]",
          "assistant call(a) call(b)\n*tool result(a \"[see the next user message]\")\n"
          "tool result(b \"2\")\n*user \"[image from tool call a]\" image\nuser \"thanks\"\n",
          "moved /1/tool/0/content/0\n");
}

static void an_image_of_the_assistant_goes_to_the_next_user_message(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.refused_from_assistant = PL_PART_BIT(PL_PART_IMAGE)};
    check(&rules,
          "[{\"user\":[\"draw\"]},{\"assistant\":[{\"image\":\"u\"},\"done\"]},"
          "{\"user\":[\"now blue\"]}]",
          "user \"draw\"\n*assistant \"done\"\n"
          "*user \"[image from the assistant's turn above]\" image \"now blue\"\n",
          "moved /1/assistant/0\n");
}

static void an_image_of_the_assistant_that_nobody_follows_is_dropped(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.refused_from_assistant = PL_PART_BIT(PL_PART_IMAGE)};
    check(&rules, "[{\"user\":[\"draw\"]},{\"assistant\":[{\"image\":\"u\"},\"done\"]}]",
          "user \"draw\"\n*assistant \"done\"\n", "dropped /1/assistant/0\n");
}

static void calls_come_last(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_calls_last = true};
    check(&rules,
          "[{\"assistant\":[\"x\",{\"call\":\"a\",\"name\":\"f\"},{\"server\":1}]},"
          "{\"assistant\":[{\"call\":\"b\",\"name\":\"f\"},\"text may follow\"]}]",
          "*assistant \"x\" other call(a)\nassistant call(b) \"text may follow\"\n",
          "reordered /0/assistant/1\n");
}

static void a_system_message_waits_for_the_end_of_the_users_turn(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.system_place = PL_SYSTEM_AFTER_USER};
    check(&rules, "[{\"user\":[\"A\"]},{\"system\":[\"S\"]},{\"user\":[\"B\"]}]",
          "user \"A\"\nuser \"B\"\n*system \"S\"\n", "moved /1\n");
}

static void a_system_message_in_a_legal_place_stays(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.system_place = PL_SYSTEM_AFTER_USER};
    check(&rules,
          "[{\"system\":[\"first\"]},{\"user\":[\"A\"]},{\"system\":[\"S\"]},"
          "{\"assistant\":[\"B\"]},{\"user\":[\"C\"]},{\"system\":[\"T\"]}]",
          "system \"first\"\nuser \"A\"\nsystem \"S\"\nassistant \"B\"\nuser \"C\"\nsystem \"T\"\n",
          "");
}

static void two_system_messages_in_one_place_are_merged(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.system_place = PL_SYSTEM_AFTER_USER};
    check(&rules, "[{\"user\":[\"A\"]},{\"system\":[\"S\"]},{\"system\":[\"T\"]}]",
          "user \"A\"\n*system \"S\" \"T\"\n", "merged /2\n");
}

static void a_system_message_without_a_legal_place_is_said_by_the_user(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.system_place = PL_SYSTEM_AFTER_USER};
    check(&rules, "[{\"user\":[\"A\"]},{\"assistant\":[\"B\"]},{\"system\":[\"S\"]}]",
          "user \"A\"\nassistant \"B\"\n*user \"System instruction:\" \"S\"\n",
          "approximated /2\n");
}

static void system_messages_inside_become_the_users_where_none_is_taken(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.system_place = PL_SYSTEM_FIRST_ONLY};
    check(&rules, "[{\"system\":[\"first\"]},{\"user\":[\"A\"]},{\"system\":[\"S\"]}]",
          "system \"first\"\nuser \"A\"\n*user \"System instruction:\" \"S\"\n",
          "approximated /2\n");
}

static void the_user_speaks_first(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_user_first = true};
    check(&rules, "[{\"system\":[\"s\"]},{\"assistant\":[\"hello\"]}]",
          "system \"s\"\n*user \"(start of the conversation)\"\nassistant \"hello\"\n",
          "synthesised /1\n");
}

static void the_last_instruction_is_the_users_where_only_the_system_speaks(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_user_first = true};
    check(&rules, "[{\"system\":[\"s\"]},{\"system\":[\"t\",\"u\"]}]",
          "system \"s\"\n*user \"t\" \"u\"\n", "approximated /1\n");
    check(&rules, "[{\"system\":[\"s\"]},{\"system\":[]}]", "*user \"s\"\nsystem\n",
          "approximated /0\n");
    check(&rules, "[]", "", "");
}

static void turns_alternate_where_asked(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_alternation = true};
    check(&rules, "[{\"user\":[\"A\"]},{\"user\":[\"B\"]},{\"assistant\":[\"C\"]}]",
          "*user \"A\" \"B\"\nassistant \"C\"\n", "merged /1\n");
}

static void the_assistant_does_not_speak_last_where_that_is_refused(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.refuses_prefill = true};
    check(&rules, "[{\"user\":[\"A\"]},{\"assistant\":[\"{\"]}]",
          "user \"A\"\nassistant \"{\"\n*user \"Continue exactly where your last message ends.\"\n",
          "approximated /1\nsynthesised /1\n");
}

static void white_space_at_the_end_of_a_prefill_is_trimmed(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.trims_prefill = true};
    check(&rules, "[{\"user\":[\"A\"]},{\"assistant\":[\"end \\\\n \\n\\t \"]}]",
          "user \"A\"\n*assistant \"end \\n\"\n", "approximated /1/assistant/0\n");
}

static void ids_become_nine_letters_and_digits_on_both_sides(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.id_length = 9};
    struct talk t;
    talk_read(&t, "[{\"assistant\":[{\"call\":\"call_1\",\"name\":\"f\"},"
                  "{\"call\":\"abcDEF123\",\"name\":\"f\"}]},"
                  "{\"tool\":[{\"result\":\"call_1\"}]},{\"tool\":[{\"result\":\"abcDEF123\"}]}]");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    struct pl_str made = pl_conv_text(&t.conv, t.conv.parts.ptr[0].id);
    struct pl_str kept = pl_conv_text(&t.conv, t.conv.parts.ptr[1].id);
    assert_int_equal(made.len, 9);
    for (size_t i = 0; i < 9; i++)
        assert_non_null(
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", made.ptr[i]));
    assert_true(pl_str_eq(kept, PL_STR("abcDEF123")));
    assert_true(pl_str_eq(pl_conv_text(&t.conv, t.conv.parts.ptr[2].id), made));
    assert_true(t.conv.messages.ptr[1].is_changed);
    assert_false(t.conv.messages.ptr[2].is_changed);
    talk_deinit(&t);
}

static void an_id_twice_in_one_turn_is_told_apart(void **state)
{
    (void)state;
    struct pl_repair_rules rules = adjacent;
    rules.wants_unique_ids = true;
    check(&rules,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"a\",\"name\":\"g\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"2\"]}]}]",
          "*assistant call(a) call(a_2)\ntool result(a \"1\")\n*tool result(a_2 \"2\")\n",
          "approximated /0/assistant/1/call\napproximated /2/tool/0/result\n");
}

static void ids_are_left_out_where_they_are_refused(void **state)
{
    (void)state;
    struct pl_repair_rules rules = adjacent;
    rules.refuses_call_ids = rules.wants_result_names = true;
    struct talk t;
    talk_read(&t, "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
                  "{\"tool\":[{\"result\":\"a\",\"content\":[\"1\"]}]}]");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_string_equal(talk_tell(&t), "*assistant call()\n*tool result( \"1\")\n");
    assert_true(pl_str_eq(pl_conv_text(&t.conv, t.conv.parts.ptr[1].name), PL_STR("f")));
    talk_deinit(&t);
}

static void only_the_last_cache_markers_are_kept(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.max_cache_markers = 2};
    struct talk t;
    talk_read(&t, "{\"tools\":[{\"name\":\"f\",\"cache\":1}],\"messages\":["
                  "{\"user\":[{\"text\":\"a\",\"cache\":2},{\"text\":\"b\",\"cache\":3}]},"
                  "{\"user\":[{\"text\":\"c\",\"cache\":4}]}]}");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_string_equal(talk_losses(&t),
                        "dropped /tools/0/cache\ndropped /messages/0/user/0/cache\n");
    assert_true(t.conv.tools.ptr[0].is_changed && t.conv.settings.is_changed);
    assert_true(t.conv.messages.ptr[0].is_changed);
    assert_false(t.conv.messages.ptr[1].is_changed);
    assert_true(pl_val_is_set(t.conv.parts.ptr[1].cache));
    talk_deinit(&t);
}

static void thinking_is_off_when_the_tool_turn_has_none(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.needs_thinking_history = true, .keeps_signatures = true};
    const char *bare = "{\"thinking\":{\"type\":\"enabled\"},\"messages\":["
                       "{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
                       "{\"tool\":[{\"result\":\"a\"}]}]}";
    const char *with = "{\"thinking\":{\"type\":\"enabled\"},\"messages\":["
                       "{\"assistant\":[{\"thinking\":\"t\",\"signature\":\"S\"},"
                       "{\"call\":\"a\",\"name\":\"f\"}]},{\"tool\":[{\"result\":\"a\"}]}]}";
    struct talk t;
    talk_read(&t, bare);
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_false(pl_val_is_set(t.conv.settings.thinking));
    assert_true(t.conv.settings.is_changed);
    assert_string_equal(talk_losses(&t), "dropped /thinking\n");
    talk_deinit(&t);
    talk_read(&t, with);
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_true(pl_val_is_set(t.conv.settings.thinking));
    talk_deinit(&t);
}

static void reasoning_stands_on_all_messages_behind_the_first(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_thinking_on_all = true};
    check(&rules,
          "[{\"assistant\":[\"a\"]},{\"assistant\":[{\"thinking\":\"t\"},\"b\"]},"
          "{\"assistant\":[\"c\"]}]",
          "assistant \"a\"\nassistant thinking \"b\"\n*assistant thinking \"c\"\n",
          "synthesised /2\n");
}

static void reasoning_that_nothing_follows_is_dropped(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.needs_thinking_follower = true};
    check(&rules,
          "[{\"assistant\":[{\"thinking\":\"t\"}]},{\"user\":[\"q\"]},"
          "{\"assistant\":[{\"thinking\":\"u\"},\"a\"]}]",
          "user \"q\"\nassistant thinking \"a\"\n", "dropped /0/assistant/0\n");
}

static void refused_settings_are_dropped_and_a_high_temperature_capped(void **state)
{
    (void)state;
    struct talk t;
    const char *text = "{\"temperature\":1.5,\"top_p\":0.9,\"messages\":[]}";
    talk_read(&t, text);
    struct pl_repair_rules rules = {.refuses_sampling = true};
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_string_equal(talk_losses(&t), "dropped /temperature\ndropped /top_p\n");
    talk_deinit(&t);
    talk_read(&t, text);
    rules = (struct pl_repair_rules){.max_temperature = "1"};
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_true(pl_str_eq(t.conv.settings.temperature.str, PL_STR("1")));
    talk_deinit(&t);
    talk_read(&t, "{\"temperature\":-0.5,\"messages\":[]}");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_true(pl_str_eq(t.conv.settings.temperature.str, PL_STR("0")));
    assert_string_equal(talk_losses(&t), "approximated /temperature\n");
    talk_deinit(&t);
}

static void an_id_of_one_over_the_limit_is_made_shorter_on_both_sides(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.max_id_length = 6};
    struct talk t;
    talk_read(&t, "[{\"assistant\":[{\"call\":\"call_1\",\"name\":\"f\"},"
                  "{\"call\":\"call_22\",\"name\":\"f\"}]},"
                  "{\"tool\":[{\"result\":\"call_1\"}]},{\"tool\":[{\"result\":\"call_22\"}]}]");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_true(pl_str_eq(pl_conv_text(&t.conv, t.conv.parts.ptr[0].id), PL_STR("call_1")));
    struct pl_str made = pl_conv_text(&t.conv, t.conv.parts.ptr[1].id);
    assert_int_equal(made.len, 6);
    assert_true(pl_str_eq(pl_conv_text(&t.conv, t.conv.parts.ptr[3].id), made));
    talk_deinit(&t);
}

static void a_history_with_calls_declares_its_tools_once_each(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_tools_for_calls = true};
    struct talk t;
    talk_read(&t,
              "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"g\"},"
              "{\"call\":\"c\",\"name\":\"f\"}]}]");
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_int_equal(t.conv.tools.len, 2);
    assert_true(pl_str_eq(t.conv.tools.ptr[1].name.str, PL_STR("g")));
    assert_string_equal(talk_losses(&t),
                        "synthesised /0/assistant/0\nsynthesised /0/assistant/1\n");
    talk_deinit(&t);
}

static void arguments_that_are_no_string_have_their_message_written_anew(void **state)
{
    (void)state;
    struct pl_repair_rules rules = {.wants_argument_strings = true};
    check(&rules,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\",\"args\":{\"x\":1}}]},"
          "{\"assistant\":[{\"call\":\"b\",\"name\":\"f\",\"args\":\"{}\"}]}]",
          "*assistant call(a)\nassistant call(b)\n", "moved /0/assistant/0/args\n");
}

static void a_message_that_loses_its_sibling_counts_as_changed(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"user\":[\"\"]},{\"user\":[\"b\"]}]");
    t.conv.messages.ptr[1].element = 0;
    struct pl_repair_rules rules = {.drops_blank = true};
    assert_int_equal(pl_conv_repair(&t.conv, &rules), PL_OK);
    assert_string_equal(talk_tell(&t), "*user \"b\"\n");
    assert_true(t.conv.is_repaired);
    talk_deinit(&t);
}

static void many_results_are_repaired_in_linear_time(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "[{\"assistant\":[");
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, "%s{\"call\":\"c%d\",\"name\":\"f\"}", i ? "," : "", i);
    pl_buf_adds(&text, "]}");
    for (int i = N - 1; i > 0; i--)
        pl_buf_addf(&text, ",{\"tool\":[{\"result\":\"c%d\"}]},{\"user\":[\"x\"]}", i);
    pl_buf_adds(&text, "]");
    pl_buf_addc(&text, '\0');
    struct talk t;
    talk_read(&t, text.ptr);
    assert_int_equal(pl_conv_repair(&t.conv, &together), PL_OK);
    /* The turn, all results, all texts. */
    assert_int_equal(t.conv.messages.len, 1 + N + N - 1);
    assert_int_equal(t.conv.messages.ptr[N].role, PL_ROLE_TOOL);
    assert_int_equal(t.conv.messages.ptr[N + 1].role, PL_ROLE_USER);
    talk_deinit(&t);
    pl_buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_legal_conversation_is_not_touched),
        cmocka_unit_test(a_call_without_a_result_gets_one_that_says_so),
        cmocka_unit_test(a_missing_result_joins_the_others_in_the_users_message),
        cmocka_unit_test(calls_at_the_very_end_are_answered_too),
        cmocka_unit_test(an_orphan_becomes_words_of_the_user),
        cmocka_unit_test(an_orphan_stays_where_the_history_may_begin_earlier),
        cmocka_unit_test(a_late_result_moves_behind_its_call),
        cmocka_unit_test(words_before_a_result_move_behind_it),
        cmocka_unit_test(results_in_two_messages_come_together),
        cmocka_unit_test(results_take_the_order_of_their_calls_where_asked),
        cmocka_unit_test(a_second_result_becomes_words),
        cmocka_unit_test(blank_texts_and_what_they_leave_empty_are_left_out),
        cmocka_unit_test(a_blank_text_with_a_signature_stays),
        cmocka_unit_test(a_message_of_foreign_thoughts_only_is_left_out),
        cmocka_unit_test(an_image_in_a_result_moves_behind_all_results),
        cmocka_unit_test(an_image_of_the_assistant_goes_to_the_next_user_message),
        cmocka_unit_test(an_image_of_the_assistant_that_nobody_follows_is_dropped),
        cmocka_unit_test(calls_come_last),
        cmocka_unit_test(a_system_message_waits_for_the_end_of_the_users_turn),
        cmocka_unit_test(a_system_message_in_a_legal_place_stays),
        cmocka_unit_test(two_system_messages_in_one_place_are_merged),
        cmocka_unit_test(a_system_message_without_a_legal_place_is_said_by_the_user),
        cmocka_unit_test(system_messages_inside_become_the_users_where_none_is_taken),
        cmocka_unit_test(the_user_speaks_first),
        cmocka_unit_test(the_last_instruction_is_the_users_where_only_the_system_speaks),
        cmocka_unit_test(turns_alternate_where_asked),
        cmocka_unit_test(the_assistant_does_not_speak_last_where_that_is_refused),
        cmocka_unit_test(white_space_at_the_end_of_a_prefill_is_trimmed),
        cmocka_unit_test(ids_become_nine_letters_and_digits_on_both_sides),
        cmocka_unit_test(an_id_twice_in_one_turn_is_told_apart),
        cmocka_unit_test(ids_are_left_out_where_they_are_refused),
        cmocka_unit_test(only_the_last_cache_markers_are_kept),
        cmocka_unit_test(thinking_is_off_when_the_tool_turn_has_none),
        cmocka_unit_test(reasoning_stands_on_all_messages_behind_the_first),
        cmocka_unit_test(reasoning_that_nothing_follows_is_dropped),
        cmocka_unit_test(refused_settings_are_dropped_and_a_high_temperature_capped),
        cmocka_unit_test(an_id_of_one_over_the_limit_is_made_shorter_on_both_sides),
        cmocka_unit_test(a_history_with_calls_declares_its_tools_once_each),
        cmocka_unit_test(arguments_that_are_no_string_have_their_message_written_anew),
        cmocka_unit_test(a_message_that_loses_its_sibling_counts_as_changed),
        cmocka_unit_test(many_results_are_repaired_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
