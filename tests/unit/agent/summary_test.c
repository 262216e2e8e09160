#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/summary/summary.h"
#include "json/json.h"
#include "json/text.h"

#include <string.h>

struct asked {
    struct pl_arena arena;
    struct pl_buf text;
    struct pl_str system, user;
};

static struct pl_str said_by(struct asked *a, const struct pl_json_doc *doc,
                             const struct pl_json_node *turn, const char *role)
{
    struct pl_str text;
    const struct pl_json_node *node = pl_json_get(doc, turn, PL_STR("role"));
    assert_true(pl_json_text_is(doc, node, pl_str_of(role)));
    const struct pl_json_node *blocks = pl_json_get(doc, turn, PL_STR("blocks"));
    node = pl_json_get(doc, pl_json_first(blocks), PL_STR("content"));
    assert_int_equal(pl_json_text(&a->arena, doc, node, &text), PL_OK);
    return text;
}

static void ask(struct asked *a, const char *context, size_t max_bytes)
{
    struct pl_json_doc doc;
    pl_arena_init(&a->arena, 0);
    pl_buf_init(&a->text, 0);
    assert_int_equal(pl_summary_ask(&a->arena, pl_str_of(context), max_bytes, &a->text, NULL),
                     PL_OK);
    assert_int_equal(pl_json_parse(&a->arena, pl_buf_str(&a->text), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_json_count(doc.root), 2);
    const struct pl_json_node *first = pl_json_first(doc.root);
    a->system = said_by(a, &doc, first, "system");
    a->user = said_by(a, &doc, pl_json_next(first), "user");
}

static void done(struct asked *a)
{
    pl_buf_deinit(&a->text);
    pl_arena_deinit(&a->arena);
}

static bool has(const struct asked *a, const char *text)
{
    return memmem(a->user.ptr, a->user.len, text, strlen(text)) != NULL;
}

#define TEXT(text) "\"blocks\":[{\"type\":\"text\",\"content\":\"" text "\"}]"

static void the_request_tells_words_calls_results_and_failures(void **state)
{
    (void)state;
    struct asked a;
    ask(&a,
        "[{\"role\":\"system\",\"kind\":\"compaction\"," TEXT(
            "it began with a house") "},"
                                     "{\"role\":\"user\"," TEXT(
                                         "paint it") "},"
                                                     "{\"role\":\"assistant\",\"blocks\":[{"
                                                     "\"type\":\"thinking\",\"content\":\"secret\"}"
                                                     ","
                                                     "{\"type\":\"text\",\"content\":\"I "
                                                     "look\"}],\"tool_calls\":[{\"tool_name\":"
                                                     "\"look\","
                                                     "\"arguments\":\"{\\\"at\\\":1}\",\"status\":"
                                                     "\"done\",\"result\":{\"colour\":\"red\"}}]},"
                                                     "{\"role\":\"assistant\",\"blocks\":[],"
                                                     "\"error\":\"too long\"}]",
        10000);
    assert_true(has(&a, "## summary of what came before\nit began with a house\n"));
    assert_true(has(&a, "## user\npaint it\n"));
    assert_true(has(&a, "I look\n[tool look was called with {\"at\":1}; done: "
                        "{\"colour\":\"red\"}]\n"));
    assert_true(has(&a, "[this failed: too long]"));
    assert_false(has(&a, "secret"));
    assert_true(has(&a, "Write the summary now"));
    assert_true(a.system.len > 0);
    done(&a);
}

static void what_does_not_fit_is_left_out_in_the_middle(void **state)
{
    (void)state;
    struct asked a;
    struct pl_buf context PL_CLEANUP_BUF;
    pl_buf_init(&context, 0);
    pl_buf_adds(&context, "[{\"role\":\"user\"," TEXT("the task") "}");
    for (int i = 0; i < 100; i++)
        pl_buf_addf(&context, ",{\"role\":\"assistant\"," TEXT("step number %03d of many") "}", i);
    pl_buf_adds(&context, "]");
    pl_buf_addc(&context, '\0');
    ask(&a, context.ptr, 1000);
    assert_true(has(&a, "the task"));
    assert_true(has(&a, "step number 099"));
    assert_false(has(&a, "step number 000"));
    assert_false(has(&a, "step number 050"));
    assert_true(has(&a, "turns are left out here"));
    size_t n_own = strlen("Here is the conversation so far.");
    assert_true(a.user.len > n_own && a.user.len < 1000 + 1200);
    done(&a);
}

static void one_turn_that_is_too_long_is_cut_at_a_character(void **state)
{
    (void)state;
    struct asked a;
    struct pl_buf context PL_CLEANUP_BUF;
    pl_buf_init(&context, 0);
    pl_buf_adds(&context, "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"");
    for (int i = 0; i < 5000; i++)
        pl_buf_adds(&context, "\xE4\xB8\x96");
    pl_buf_adds(&context, "\"}]}]");
    pl_buf_addc(&context, '\0');
    ask(&a, context.ptr, 2000);
    assert_true(a.user.len < 2000 + 1200);
    assert_true(has(&a, "\xE4\xB8\x96\n[\xE2\x80\xA6 0 turns are left out"));
    done(&a);
}

static void a_long_result_is_told_by_its_beginning(void **state)
{
    (void)state;
    struct asked a;
    struct pl_buf context PL_CLEANUP_BUF;
    pl_buf_init(&context, 0);
    pl_buf_adds(&context, "[{\"role\":\"assistant\",\"blocks\":[],\"tool_calls\":[{\"tool_name\":"
                          "\"t\",\"arguments\":\"{}\",\"status\":\"done\",\"result\":\"");
    for (int i = 0; i < 5000; i++)
        pl_buf_adds(&context, "x");
    pl_buf_adds(&context, "\"}]}]");
    pl_buf_addc(&context, '\0');
    ask(&a, context.ptr, 100000);
    assert_true(has(&a, "(5000 bytes in all)"));
    assert_true(a.user.len < 4000 + 1200);
    done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_tells_words_calls_results_and_failures),
        cmocka_unit_test(what_does_not_fit_is_left_out_in_the_middle),
        cmocka_unit_test(one_turn_that_is_too_long_is_cut_at_a_character),
        cmocka_unit_test(a_long_result_is_told_by_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
