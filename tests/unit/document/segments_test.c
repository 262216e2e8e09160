/* Tokens by kind; their sum equals the other counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "document/segments.h"

static struct pl_segments count(const char *format, const char *text,
                                struct pl_segment_known *known, size_t n_known)
{
    struct pl_segments segments;
    struct pl_counted counted;
    struct pl_error err = {0};
    const struct pl_format *as = pl_format_find(pl_str_of(format));
    assert_int_equal(pl_segments_count(pl_str_of(text), as, known, n_known, &segments, &err),
                     PL_OK);
    assert_int_equal(
        pl_count_document(pl_str_of(text), as, &(struct pl_count_choice){0}, &counted, &err),
        PL_OK);
    assert_int_equal(segments.counted.n_tokens, counted.n_tokens);
    uint64_t n_sum = 0;
    for (int i = 0; i < PL_SEGMENT_KIND_COUNT; i++)
        n_sum += segments.by[i];
    assert_int_equal(n_sum, counted.n_tokens);
    return segments;
}

static void each_part_has_its_kind(void **state)
{
    (void)state;
    static const char text[] =
        "{\"model\":\"gpt-4o\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"description\":\"does f\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":"
        "{\"type\":\"string\"}}}}}],\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Look\"},{\"type\":"
        "\"image_url\",\"image_url\":{\"url\":\"https://x.test/a.png\",\"detail\":\"low\"}}]},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"fine\"}]}";
    struct pl_segments s = count("openai-chat", text, NULL, 0);
    assert_true(s.by[PL_SEGMENT_SYSTEM_PROMPT] && s.by[PL_SEGMENT_TEXT] &&
                s.by[PL_SEGMENT_TOOL_OVERVIEW] && s.by[PL_SEGMENT_TOOL_CALL_REQUEST] &&
                s.by[PL_SEGMENT_TOOL_CALL_RESULT] && s.by[PL_SEGMENT_MEDIA] >= 85);
    assert_false(s.by[PL_SEGMENT_MEMORY] || s.by[PL_SEGMENT_STATIC_VAR] ||
                 s.by[PL_SEGMENT_SKILLS] || s.by[PL_SEGMENT_LONG_TEXT] ||
                 s.by[PL_SEGMENT_DOCUMENT]);
}

static void marks_and_known_words_are_told_apart(void **state)
{
    (void)state;
    static const char turns[] =
        "[{\"role\":\"system\",\"blocks\":[{\"type\":\"text\",\"content\":\"Notes: tea.\","
        "\"segment\":{\"kind\":\"memory\",\"items\":[{\"title\":\"a\",\"content\":\"tea\"}]}}]},"
        "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"Hello Ada Lovelace!\","
        "\"variables\":[{\"name\":\"who\",\"from\":6,\"to\":18}]}]}]";
    struct pl_segments s = count("turns", turns, NULL, 0);
    assert_true(s.by[PL_SEGMENT_MEMORY] && s.by[PL_SEGMENT_STATIC_VAR] && s.by[PL_SEGMENT_TEXT]);
    assert_int_equal(s.by[PL_SEGMENT_SYSTEM_PROMPT], 0);
    static const char chat[] =
        "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"system\",\"content\":\"Rules. Notes: "
        "tea.\"},{\"role\":\"user\",\"content\":\"Notes: tea. Hello Ada Ada\"}]}";
    struct pl_segment_known known[] = {
        {.words = PL_STR("Notes: tea."), .kind = PL_SEGMENT_MEMORY},
        {.words = PL_STR("Ada"), .kind = PL_SEGMENT_STATIC_VAR, .is_anybodys = true},
        {.words = PL_STR("nowhere"), .kind = PL_SEGMENT_SKILLS, .is_anybodys = true},
        {.kind = PL_SEGMENT_SKILLS, .is_anybodys = true},
    };
    s = count("openai-chat", chat, known, sizeof known / sizeof *known);
    assert_true(known[0].is_found && known[1].is_found && !known[2].is_found && !known[3].is_found);
    assert_true(s.by[PL_SEGMENT_MEMORY] && s.by[PL_SEGMENT_SYSTEM_PROMPT] && s.by[PL_SEGMENT_TEXT]);
    assert_int_equal(s.by[PL_SEGMENT_STATIC_VAR], 1);
}

static void kinds_have_the_names_of_the_seed(void **state)
{
    (void)state;
    assert_string_equal(pl_segment_name(PL_SEGMENT_SYSTEM_PROMPT), "system_prompt");
    assert_string_equal(pl_segment_name(PL_SEGMENT_TOOL_CALL_RESULT), "tool_call_result");
    assert_int_equal(PL_SEGMENT_KIND_COUNT, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_its_kind),
        cmocka_unit_test(marks_and_known_words_are_told_apart),
        cmocka_unit_test(kinds_have_the_names_of_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
