#define _GNU_SOURCE
#include "conv/lint/lint.h"

#include "unit/conv/talk.h"

static const struct pl_lint_opts plain = {.wants_results_adjacent = true};

/* Lints `text` and compares "code pointer" of every finding, one per line. */
static void check(const struct pl_lint_opts *opts, const char *text, const char *expected)
{
    struct talk t;
    talk_read(&t, text);
    PL_CLEANUP_FINDINGS struct pl_findings found = {0};
    assert_int_equal(pl_conv_lint(&t.conv, opts, &found), PL_OK);
    pl_buf_clear(&t.told);
    for (size_t i = 0; i < found.list.len; i++) {
        pl_buf_addf(&t.told, "%s ", found.list.ptr[i].code);
        pl_json_pointer_of(&t.told, &t.doc, found.list.ptr[i].node);
        pl_buf_addc(&t.told, '\n');
        assert_true(found.list.ptr[i].message.len > 0);
    }
    pl_buf_addc(&t.told, '\0');
    assert_string_equal(t.told.ptr, expected);
    talk_deinit(&t);
}

static void a_good_conversation_has_no_findings(void **state)
{
    (void)state;
    check(&plain,
          "[{\"user\":[\"q\"]},{\"assistant\":[{\"call\":\"a\",\"name\":\"f\",\"args\":\"{}\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"r\"]}]},{\"assistant\":[\"done\"]}]",
          "");
}

static void pairing_is_checked(void **state)
{
    (void)state;
    check(&plain,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"g\"}]},"
          "{\"user\":[\"hm\"]},{\"tool\":[{\"result\":\"a\"}]},{\"tool\":[{\"result\":\"a\"}]},"
          "{\"tool\":[{\"result\":\"zzz\"}]}]",
          "tool.missing /0/assistant/1\ntool.late /2/tool/0\ntool.duplicate /3/tool/0\n"
          "tool.orphan /4/tool/0\n");
}

static void arguments_are_checked(void **state)
{
    (void)state;
    struct pl_lint_opts opts = plain;
    opts.has_argument_strings = true;
    check(&opts,
          "{\"tools\":[{\"name\":\"f\",\"schema\":{\"type\":\"object\",\"required\":[\"x\"],"
          "\"properties\":{\"x\":{\"type\":\"integer\"}}}}],\"messages\":["
          "{\"assistant\":[{\"call\":\"a\",\"name\":\"f\",\"args\":{\"x\":1}},"
          "{\"call\":\"b\",\"name\":\"f\",\"args\":\"{oops\"},"
          "{\"call\":\"c\",\"name\":\"f\",\"args\":\"{\\\"x\\\":\\\"one\\\"}\"},"
          "{\"call\":\"d\",\"name\":\"f\",\"args\":\"[1]\"},"
          "{\"call\":\"e\",\"name\":\"other\",\"args\":\"{}\"},"
          "{\"call\":\"g\",\"name\":\"f\",\"args\":\"{\\\"x\\\":1}\"}]},"
          "{\"user\":[{\"result\":\"a\"},{\"result\":\"b\"},{\"result\":\"c\"},{\"result\":\"d\"},"
          "{\"result\":\"e\"},{\"result\":\"g\"}]}]}",
          "tool.arguments_not_string /messages/0/assistant/0/args\n"
          "tool.arguments_not_json /messages/0/assistant/1/args\n"
          "tool.arguments_invalid /messages/0/assistant/2/args\n"
          "tool.arguments_not_object /messages/0/assistant/3/args\n"
          "tool.unknown /messages/0/assistant/4\n");
}

static void a_failure_is_told_in_json(void **state)
{
    (void)state;
    struct pl_lint_opts opts = plain;
    opts.has_json_errors = true;
    check(&opts,
          "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
          "{\"tool\":[{\"result\":\"a\",\"content\":[\"Error: no such file\"]}]},"
          "{\"tool\":[{\"result\":\"b\",\"content\":[\"{\\\"status\\\":\\\"error\\\"}\"],"
          "\"is_error\":true}]}]",
          "tool.error_not_json /1/tool/0/content/0\n"
          "tool.error_incomplete /2/tool/0/content/0\n"
          "tool.error_incomplete /2/tool/0/content/0\n");
}

static void signed_links_are_read_for_their_end(void **state)
{
    (void)state;
    struct pl_lint_opts opts = plain;
    opts.now_s = 1710928800; /* 2024-03-20T10:00:00Z */
    check(&opts,
          "[{\"user\":["
          "{\"image\":\"https://s.test/a?X-Amz-Date=20240320T094500Z&X-Amz-Expires=600\"},"
          "{\"image\":\"https://s.test/a?X-Amz-Date=20240320T095959Z&X-Amz-Expires=600\"},"
          "{\"image\":\"https://g.test/a?Expires=1710928799&Signature=abc\"},"
          "{\"image\":\"https://z.test/a?sv=1&se=2024-03-20T10%3A00%3A01Z&sig=abc\"},"
          "{\"image\":\"https://x.test/a?expires=never\"},{\"image\":\"https://x.test/a.png\"}]}]",
          "media.url_expired /0/user/0/image\nmedia.url_expires /0/user/1/image\n"
          "media.url_expired /0/user/2/image\nmedia.url_expires /0/user/3/image\n");
}

static void a_film_is_no_file_and_audio_needs_its_format(void **state)
{
    (void)state;
    struct pl_lint_opts opts = plain;
    opts.refuses_video = true;
    check(&opts,
          "[{\"user\":[{\"file\":\"https://x.test/f\",\"name\":\"clip.MP4\"},"
          "{\"audio\":\"\",\"data\":\"UklG\"},"
          "{\"audio\":\"\",\"data\":\"UklG\",\"mime\":\"audio/wav\"}]}]",
          "media.video_as_file /0/user/0\nmedia.audio_format /0/user/1\n");
}

static void secrets_are_found_and_never_repeated(void **state)
{
    (void)state;
    struct talk t;
    talk_read(&t, "[{\"user\":[\"my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123\","
                  "\"AKIAIOSFODNN7EXAMPLE\",\"a task-abcdefghijklmnopqrstuvwxyz0123\"]}]");
    PL_CLEANUP_FINDINGS struct pl_findings found = {0};
    assert_int_equal(pl_conv_lint(&t.conv, &plain, &found), PL_OK);
    assert_int_equal(found.list.len, 2);
    for (size_t i = 0; i < found.list.len; i++) {
        assert_string_equal(found.list.ptr[i].code, "text.secret");
        assert_null(memmem(found.list.ptr[i].message.ptr, found.list.ptr[i].message.len, "abc", 3));
    }
    talk_deinit(&t);
}

/* One over the limit: the list stops, counting continues, and an unlisted error counts. */
static void of_one_kind_only_so_many_are_listed(void **state)
{
    (void)state;
    enum { N = PL_FINDINGS_OF_A_CODE + 1 };
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "[{\"user\":[\"my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123\"]}");
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, ",{\"tool\":[{\"result\":\"r%d\"}]}", i);
    pl_buf_add(&text, PL_STR("]\0"));
    struct talk t;
    talk_read(&t, text.ptr);
    PL_CLEANUP_FINDINGS struct pl_findings found = {0};
    assert_int_equal(pl_conv_lint(&t.conv, &plain, &found), PL_OK);
    assert_int_equal(found.list.len, PL_FINDINGS_OF_A_CODE + 1);
    assert_string_equal(found.list.ptr[0].code, "text.secret");
    assert_int_equal(found.n_omitted, 1);
    assert_true(pl_findings_have_error(&found));
    pl_findings_cut(&found, 1);
    assert_int_equal(found.n_omitted, N);
    assert_true(pl_findings_close(&found, &t.arena, t.doc.root));
    assert_int_equal(found.list.len, 2);
    assert_string_equal(found.list.ptr[1].code, "tool.orphan");
    assert_int_equal(found.list.ptr[1].severity, PL_SEVERITY_ERROR);
    assert_memory_equal(found.list.ptr[1].message.ptr, "and 201 more", 12);
    talk_deinit(&t);
}

static void binary_in_a_text_is_found(void **state)
{
    (void)state;
    check(&plain,
          "[{\"user\":[\"a\\u0001b\",\"colour \\u001b[31m is fine\","
          "\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA\"]}]",
          "text.binary /0/user/0\ntext.binary /0/user/2\n");
}

static void anchors_and_their_map_agree(void **state)
{
    (void)state;
    check(&plain,
          "[{\"assistant\":[\"A <cite id=\\\"c1\\\"/> and <cite id=\\\"c9\\\"/>\"],\"metadata\":"
          "{\"citation_map\":{\"c1\":{\"location\":{\"page_number\":0}},"
          "\"c2\":{\"location\":{\"bbox\":[500,200,100,600]}}}}}]",
          "cite.unknown /0/assistant/0\n"
          "cite.page /0/metadata/citation_map/c1/location/page_number\n"
          "cite.unused /0/metadata/citation_map/c2\n"
          "cite.bbox /0/metadata/citation_map/c2/location/bbox\n");
}

static void what_only_looks_like_an_anchor_is_none(void **state)
{
    (void)state;
    check(&plain, "[{\"assistant\":[\"<cited id=\\\"c1\\\"/> <cite sid=\\\"c2\\\"/> <cite>\"]}]",
          "");
}

static void ids_names_and_emptiness_are_checked(void **state)
{
    (void)state;
    check(&plain,
          "[{\"user\":[\"a\"],\"id\":\"m1\"},{\"assistant\":[\"b\"],\"id\":\"m1\",\"name\":\"X\"},"
          "{\"assistant\":[\"c\"],\"name\":\"Y\"},{\"assistant\":[\"d\"]},{\"user\":[\" \"]}]",
          "id.duplicate /1/id\nagent.name_missing /3\ncontent.empty /4\n");
}

/* A target that refuses empty messages may allow an empty last one: a warning, without a fix. */
static void an_assistant_that_says_nothing_is_found_also_at_the_end(void **state)
{
    (void)state;
    struct pl_lint_opts strict = {.refuses_empty = true};
    static const char *const texts[] = {
        "[{\"user\":[\"q\"]},{\"assistant\":[]}]",
        "[{\"user\":[\"q\"]},{\"assistant\":[\" \\n\"]}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct talk t;
        talk_read(&t, texts[i]);
        PL_CLEANUP_FINDINGS struct pl_findings found = {0};
        assert_int_equal(pl_conv_lint(&t.conv, &strict, &found), PL_OK);
        assert_int_equal(found.list.len, 1);
        assert_string_equal(found.list.ptr[0].code, "content.empty");
        assert_int_equal(found.list.ptr[0].severity, PL_SEVERITY_WARNING);
        assert_false(found.list.ptr[0].has_fix);
        talk_deinit(&t);
    }
    /* A call counts as content, even without an answer. */
    check(&strict, "[{\"user\":[\"q\"]},{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]}]",
          "tool.missing /1/assistant/0\n");
    check(&strict, "[{\"assistant\":[\"\"]},{\"user\":[\"q\"]},{\"assistant\":[]}]",
          "content.empty /0\ncontent.empty /2\n");
}

static void turns_are_checked_for_a_target(void **state)
{
    (void)state;
    struct pl_lint_opts opts = {.wants_alternation = true,
                                .wants_user_first = true,
                                .refuses_prefill = true,
                                .target = "there"};
    check(&opts,
          "[{\"system\":[\"s\"]},{\"assistant\":[\"a\"]},{\"user\":[\"b\"]},{\"user\":[\"c\"]},"
          "{\"assistant\":[\"d\"]}]",
          "turn.first /1\nturn.alternation /3\nturn.prefill /4\n");
    check(&opts, "[{\"system\":[\"s\"]},{\"system\":[\"t\"]}]", "turn.first /1\n");
}

static void a_conversation_too_long_for_its_model_is_told(void **state)
{
    (void)state;
    struct pl_lint_opts opts = {.max_tokens = 3};
    check(&opts, "[{\"user\":[\"sixteen letters!\"]}]", "context.exceeded \n");
    opts.max_tokens = 4;
    check(&opts, "[{\"user\":[\"sixteen letters!\"]}]", "");
    opts.n_tokens = 5;
    check(&opts, "[{\"user\":[\"sixteen letters!\"]}]", "context.exceeded \n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_conversation_has_no_findings),
        cmocka_unit_test(pairing_is_checked),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(a_failure_is_told_in_json),
        cmocka_unit_test(signed_links_are_read_for_their_end),
        cmocka_unit_test(a_film_is_no_file_and_audio_needs_its_format),
        cmocka_unit_test(secrets_are_found_and_never_repeated),
        cmocka_unit_test(of_one_kind_only_so_many_are_listed),
        cmocka_unit_test(binary_in_a_text_is_found),
        cmocka_unit_test(anchors_and_their_map_agree),
        cmocka_unit_test(what_only_looks_like_an_anchor_is_none),
        cmocka_unit_test(ids_names_and_emptiness_are_checked),
        cmocka_unit_test(an_assistant_that_says_nothing_is_found_also_at_the_end),
        cmocka_unit_test(turns_are_checked_for_a_target),
        cmocka_unit_test(a_conversation_too_long_for_its_model_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
