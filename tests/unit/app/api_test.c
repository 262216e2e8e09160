/* How the commands handle a server's answers and words that become part of a path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "app/frame/api.h"
#include "app/table/columns.h"
#include "app/server/local_store.h"

#include <stdio.h>

static struct pl_error problem_of(int http_status, const char *body)
{
    struct pl_texts texts = {0};
    struct pl_error err = {0};
    pl_arena_init(&texts.arena, 0);
    pl_api_problem_read(&texts, http_status, pl_str_of(body), &err);
    pl_arena_deinit(&texts.arena);
    return err;
}

static void a_problem_is_told_by_its_detail_and_its_first_pointer(void **state)
{
    (void)state;
    struct pl_error err = problem_of(
        400, "{\"title\":\"t\",\"detail\":\"The name is empty.\",\"code\":\"invalid_request\","
             "\"errors\":[{\"pointer\":\"/name\",\"detail\":\"d\"},{\"pointer\":\"/x\"}]}");
    assert_string_equal(err.message, "The name is empty.");
    assert_string_equal(err.pointer, "/name");
    assert_int_equal(err.status, PL_INVALID);
}

static void a_problem_without_errors_has_no_pointer(void **state)
{
    (void)state;
    struct pl_error err = problem_of(404, "{\"detail\":\"gone\",\"errors\":[]}");
    assert_string_equal(err.message, "gone");
    assert_string_equal(err.pointer, "");
}

static void a_pointer_that_is_too_long_is_left_out(void **state)
{
    (void)state;
    char body[600];
    char pointer[400];
    memset(pointer, 'a', sizeof pointer - 1);
    pointer[sizeof pointer - 1] = '\0';
    snprintf(body, sizeof body, "{\"detail\":\"x\",\"errors\":[{\"pointer\":\"/%s\"}]}", pointer);
    assert_string_equal(problem_of(400, body).pointer, "");
}

static void an_answer_of_somebody_else_is_told_by_its_status(void **state)
{
    (void)state;
    assert_non_null(strstr(problem_of(502, "<html>Bad gateway</html>").message, "502"));
    assert_non_null(strstr(problem_of(404, "").message, "404"));
    assert_non_null(strstr(problem_of(418, "{\"detail\":7}").message, "418"));
}

static void a_refusal_is_no_and_a_failing_service_is_a_failure(void **state)
{
    (void)state;
    static const struct {
        int http_status;
        enum pl_status status;
    } cases[] = {
        {301, PL_INVALID}, {400, PL_INVALID}, {401, PL_INVALID}, {404, PL_INVALID},
        {409, PL_INVALID}, {408, PL_IO},      {429, PL_IO},      {500, PL_IO},
        {503, PL_IO},      {507, PL_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(problem_of(cases[i].http_status, "{\"detail\":\"x\"}").status,
                         cases[i].status);
}

static void words_in_a_path_are_escaped(void **state)
{
    (void)state;
    struct pl_api api = {0};
    pl_arena_init(&api.texts.arena, 0);
    assert_string_equal(
        pl_api_path(&api, "/api/sessions/%/turns/%", "sess_1", "a/../b?c%d é", NULL),
        "/api/sessions/sess_1/turns/a%2F..%2Fb%3Fc%25d%20%C3%A9");
    pl_arena_deinit(&api.texts.arena);
}

static void members_of_another_kind_are_not_there(void **state)
{
    (void)state;
    struct pl_texts texts = {0};
    struct pl_json_doc doc;
    pl_arena_init(&texts.arena, 0);
    assert_int_equal(pl_json_parse(&texts.arena,
                                   PL_STR("{\"a\":\"x\\ny\",\"n\":12,\"f\":1.5,\"z\":null}"), NULL,
                                   &doc, NULL),
                     PL_OK);
    assert_int_equal(pl_api_text(&texts, &doc, doc.root, "a").len, 3);
    assert_int_equal(pl_api_text(&texts, &doc, doc.root, "n").len, 0);
    assert_int_equal(pl_api_text(&texts, &doc, NULL, "a").len, 0);
    assert_int_equal(pl_api_int(&doc, doc.root, "n", -1), 12);
    assert_int_equal(pl_api_int(&doc, doc.root, "f", -1), -1);
    assert_int_equal(pl_api_int(&doc, doc.root, "z", -1), -1);
    assert_null(pl_json_member(&doc, doc.root, "z", PL_JSON_STRING));
    pl_arena_deinit(&texts.arena);
}

static void a_long_text_is_one_line_cut_between_characters(void **state)
{
    (void)state;
    struct pl_texts texts = {0};
    pl_arena_init(&texts.arena, 0);
    struct pl_str line = pl_line_of(&texts, PL_STR("a\nb\té语z"), 5);
    assert_true(pl_str_eq(line, PL_STR("a b é…")));
    line = pl_line_of(&texts, PL_STR("short"), 5);
    assert_true(pl_str_eq(line, PL_STR("short")));
    setenv("TZ", "UTC", 1);
    tzset();
    assert_true(pl_str_eq(pl_time_of(&texts, PL_STR("2026-01-02T03:04:05.678Z")),
                          PL_STR("2026-01-02 03:04:05 UTC")));
    assert_true(pl_str_eq(pl_time_of(&texts, PL_STR("")), PL_STR("-")));
    pl_arena_deinit(&texts.arena);
}

static void only_a_sqlite_store_is_a_file(void **state)
{
    (void)state;
    assert_string_equal(pl_local_store_path("sqlite:/a/b.db"), "/a/b.db");
    assert_null(pl_local_store_path("memory:"));
    assert_null(pl_local_store_path("postgres://host/db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_told_by_its_detail_and_its_first_pointer),
        cmocka_unit_test(a_problem_without_errors_has_no_pointer),
        cmocka_unit_test(a_pointer_that_is_too_long_is_left_out),
        cmocka_unit_test(an_answer_of_somebody_else_is_told_by_its_status),
        cmocka_unit_test(a_refusal_is_no_and_a_failing_service_is_a_failure),
        cmocka_unit_test(words_in_a_path_are_escaped),
        cmocka_unit_test(members_of_another_kind_are_not_there),
        cmocka_unit_test(a_long_text_is_one_line_cut_between_characters),
        cmocka_unit_test(only_a_sqlite_store_is_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
