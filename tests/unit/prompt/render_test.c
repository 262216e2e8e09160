/* Variables of a prompt: what is filled in, left unchanged, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "prompt/render.h"

enum { MAX_VARS = 8 };

/* "a=1" …, NULL-terminated. */
struct given {
    const char *vars[MAX_VARS];
    bool is_preview;
};

static enum pl_status render(const char *document, const struct given *given,
                             struct pl_rendered *made)
{
    struct pl_render_var vars[MAX_VARS];
    size_t n = 0;
    for (; n < MAX_VARS && given->vars[n]; n++) {
        const char *equals = strchr(given->vars[n], '=');
        vars[n] = (struct pl_render_var){{given->vars[n], (size_t)(equals - given->vars[n])},
                                         pl_str_of(equals + 1)};
    }
    struct pl_render_opts opts = {vars, n, given->is_preview};
    struct pl_error err = {0};
    enum pl_status status = pl_render(pl_str_of(document), &opts, made, &err);
    if (status != PL_OK)
        assert_true(err.message[0]);
    return status;
}

/* A text in its own document, given as the inside of a JSON string. */
static void expect_text(const char *text, const struct given *given, const char *wanted)
{
    char document[512], expected[512];
    snprintf(document, sizeof document, "{ \"system_prompt\":\"%s\" , \"messages\":[] }\n", text);
    snprintf(expected, sizeof expected, "{ \"system_prompt\":\"%s\" , \"messages\":[] }\n", wanted);
    struct pl_rendered made;
    pl_rendered_init(&made);
    assert_int_equal(render(document, given, &made), PL_OK);
    assert_int_equal(made.out.len, strlen(expected));
    assert_memory_equal(made.out.ptr, expected, made.out.len);
    pl_rendered_deinit(&made);
}
#define TEXT(text, wanted, ...) expect_text(text, &(struct given){{__VA_ARGS__}}, wanted)

static void expect_problem(const char *document, const struct given *given, const char *words)
{
    struct pl_rendered made;
    pl_rendered_init(&made);
    assert_int_equal(render(document, given, &made), PL_INVALID);
    assert_int_equal(made.out.len, 0);
    pl_buf_addc(&made.problems, '\0');
    if (!strstr(made.problems.ptr, words))
        fail_msg("the problems are not about %s:\n%s", words, made.problems.ptr);
    pl_rendered_deinit(&made);
}
#define PROBLEM(document, words, ...)                                                              \
    expect_problem(document, &(struct given){{__VA_ARGS__}}, words)

static void test_a_variable_is_filled_in_with_and_without_spaces(void **state)
{
    (void)state;
    TEXT("Hi {{name}}, {{ name }}!", "Hi Ann, Ann!", "name=Ann");
    TEXT("{{a}}{{b}}", "12", "a=1", "b=2");
    TEXT("{{{a}}}", "{1}", "a=1");
}

static void test_a_default_is_used_when_no_value_is_given(void **state)
{
    (void)state;
    TEXT("{{who:nobody}} and {{ what:some thing }}", "nobody and tea", "what=tea");
    TEXT("{{ what:some thing }}", "some thing", NULL);
    TEXT("[{{a:}}]", "[]", NULL);
    TEXT("{{when:10:30}}", "10:30", NULL);
}

static void test_a_value_is_never_expanded_again(void **state)
{
    (void)state;
    TEXT("{{a}} {{b}}", "{{b}} two", "a={{b}}", "b=two");
    TEXT("{{a}}b}}", "{{b}}", "a={{", "b=two");
}

static void test_a_backslash_makes_braces_literal(void **state)
{
    (void)state;
    TEXT("\\\\{{name}} {{name}}", "{{name}} Ann", "name=Ann");
    TEXT("C:\\\\{ {{name}}", "C:\\\\{ Ann", "name=Ann");
}

static void test_what_is_no_variable_stays(void **state)
{
    (void)state;
    TEXT("{{}} {{ }} {{a b}} {{a", "{{}} {{ }} {{a b}} {{a", NULL);
    TEXT("{{#if x}} {{a!}} {a} {{", "{{#if x}} {{a!}} {a} {{", NULL);
}

static void test_a_name_is_letters_of_any_script(void **state)
{
    (void)state;
    TEXT("{{名前}} {{имя.1}} {{नाम-2}}", "a b c", "名前=a", "имя.1=b", "नाम-2=c");
    assert_int_equal(pl_render_check_name(PL_STR("a b")), PL_INVALID);
    assert_int_equal(pl_render_check_name(PL_STR("")), PL_INVALID);
    assert_int_equal(pl_render_check_name(PL_STR("→")), PL_INVALID);
    assert_int_equal(pl_render_check_name(PL_STR("\xff")), PL_INVALID);
    assert_int_equal(pl_render_check_name(PL_STR("größe_1.2-x")), PL_OK);
}

static void test_bytes_around_a_variable_keep_their_spelling(void **state)
{
    (void)state;
    TEXT("\\u00e9\\/{{a}}\\ud83d\\ude00\\u0041{{b}}\\n", "\\u00e9\\/1\\ud83d\\ude00\\u00412\\n",
         "a=1", "b=2");
    TEXT("\\u007b{x}}é", "yé", "x=y");
    TEXT("{{q}}", "say \\\"hi\\\"\\n", "q=say \"hi\"\n");
}

static void test_comments_and_layout_stay(void **state)
{
    (void)state;
    struct pl_rendered made;
    pl_rendered_init(&made);
    struct given given = {{"x=1"}};
    assert_int_equal(
        render("{ // a prompt\n \"messages\" : [ {\"role\":\"user\",\"content\":\"{{x}}\"}, ] }",
               &given, &made),
        PL_OK);
    pl_buf_addc(&made.out, '\0');
    assert_string_equal(
        made.out.ptr,
        "{ // a prompt\n \"messages\" : [ {\"role\":\"user\",\"content\":\"1\"}, ] }");
    pl_rendered_deinit(&made);
}

static void test_what_a_tool_answered_is_data(void **state)
{
    (void)state;
    struct pl_rendered made;
    pl_rendered_init(&made);
    struct given given = {{"x=1"}};
    const char *document = "{\"messages\":[{\"role\":\"tool\",\"content\":\"{{x}} {{y}}\"}]}";
    assert_int_equal(render(document, &given, &made), PL_OK);
    assert_int_equal(made.out.len, strlen(document));
    assert_memory_equal(made.out.ptr, document, made.out.len);
    assert_true(made.notes.len > 0);
    pl_rendered_deinit(&made);
}

static void test_all_missing_variables_are_named(void **state)
{
    (void)state;
    const char *document = "{\"system_prompt\":\"{{one}}\",\"messages\":[{\"role\":\"user\","
                           "\"content\":\"{{two}} {{one}} {{ok}} {{two:x}}\"}]}";
    PROBLEM(document, "\"one\" has no value", "ok=1");
    PROBLEM(document, "\"two\" has no value", "ok=1");
    PROBLEM(document, "(at /messages/0/content)", "ok=1");
}

static void test_a_preview_leaves_missing_variables(void **state)
{
    (void)state;
    expect_text("{{ one }} {{ok}}", &(struct given){{"ok=1"}, true}, "{{ one }} 1");
}

#define DECLARED                                                                                   \
    "{\"messages\":[],\"system_prompt\":\"{{n:0}} {{s:warm}}\",\"variables\":["                    \
    "{\"name\":\"n\",\"type\":\"number\"},{\"name\":\"r\",\"required\":true},"                     \
    "{\"name\":\"s\",\"type\":\"select\",\"options\":[\"warm\",{\"value\":\"cold\"}]}]}"

static void test_declared_variables_are_checked(void **state)
{
    (void)state;
    PROBLEM(DECLARED, "\"r\" has no value", NULL);
    PROBLEM(DECLARED, "\"r\" is required", "r=");
    PROBLEM(DECLARED, "\"n\" must be a number, not \"many\"", "r=1", "n=many");
    PROBLEM(DECLARED, "\"n\" must be a number", "r=1", "n= 1");
    PROBLEM(DECLARED, "\"s\" cannot be \"hot\"; it must be one of \"warm\", \"cold\"", "r=1",
            "s=hot");
    struct pl_rendered made;
    pl_rendered_init(&made);
    struct given given = {{"r=1", "n=-1.5e3", "s=cold"}};
    assert_int_equal(render(DECLARED, &given, &made), PL_OK);
    assert_int_equal(made.notes.len, 0);
    pl_rendered_deinit(&made);
}

static void test_a_declared_default_is_a_value(void **state)
{
    (void)state;
    struct pl_rendered made;
    pl_rendered_init(&made);
    struct given given = {{NULL}};
    assert_int_equal(render("{\"messages\":[],\"variables\":[{\"name\":\"n\",\"default\":3,"
                            "\"required\":true}],\"system_prompt\":\"{{n}} {{n:4}}\"}",
                            &given, &made),
                     PL_OK);
    pl_buf_addc(&made.out, '\0');
    assert_non_null(strstr(made.out.ptr, "\"3 4\""));
    pl_rendered_deinit(&made);
}

static void test_another_document_is_refused(void **state)
{
    (void)state;
    struct pl_rendered made;
    pl_rendered_init(&made);
    struct given given = {{NULL}};
    assert_int_equal(render("[1]", &given, &made), PL_INVALID);
    assert_int_equal(render("{\"messages\":", &given, &made), PL_SYNTAX);
    assert_int_equal(made.out.len, 0);
    pl_rendered_deinit(&made);
}

static void the_places_of_values_are_remembered_when_asked_for(void **state)
{
    (void)state;
    static const char document[] =
        "{\"system_prompt\":\"{{a}}\",\"messages\":[{\"id\":\"m\",\"role\":\"user\",\"content\":"
        "\"\\u00e4\\n{{a}} \\\\{{x}} {{b:\xE4\xB8\xAD}}!\"},{\"id\":\"n\",\"role\":\"user\","
        "\"content\":\"none\"}]}";
    struct pl_render_var var = {PL_STR("a"), PL_STR("1\"2")};
    struct pl_render_opts opts = {.vars = &var, .n_vars = 1, .keeps_places = true};
    struct pl_rendered made;
    struct pl_error err = {0};
    pl_rendered_init(&made);
    assert_int_equal(pl_render(pl_str_of(document), &opts, &made, &err), PL_OK);
    pl_buf_addc(&made.out, '\0');
    assert_non_null(strstr(
        made.out.ptr,
        "\"filled\":[{\"at\":\"/system_prompt\",\"variables\":[{\"name\":\"a\",\"from\":0,\"to\":"
        "3}]},{\"at\":\"/messages/0/content\",\"variables\":[{\"name\":\"a\",\"from\":2,\"to\":5},"
        "{\"name\":\"b\",\"from\":12,\"to\":13}]}]"));
    pl_rendered_deinit(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_variable_is_filled_in_with_and_without_spaces),
        cmocka_unit_test(test_a_default_is_used_when_no_value_is_given),
        cmocka_unit_test(test_a_value_is_never_expanded_again),
        cmocka_unit_test(test_a_backslash_makes_braces_literal),
        cmocka_unit_test(test_what_is_no_variable_stays),
        cmocka_unit_test(test_a_name_is_letters_of_any_script),
        cmocka_unit_test(test_bytes_around_a_variable_keep_their_spelling),
        cmocka_unit_test(test_comments_and_layout_stay),
        cmocka_unit_test(test_what_a_tool_answered_is_data),
        cmocka_unit_test(test_all_missing_variables_are_named),
        cmocka_unit_test(test_a_preview_leaves_missing_variables),
        cmocka_unit_test(test_declared_variables_are_checked),
        cmocka_unit_test(test_a_declared_default_is_a_value),
        cmocka_unit_test(test_another_document_is_refused),
        cmocka_unit_test(the_places_of_values_are_remembered_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
