/* Media behind links as text, for formats that have no place for media. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/convert.h"

static void convert(const char *from, const char *text, bool says_links, struct pl_converted *ret)
{
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(from)), .to = &pl_format_turns, .says_links = says_links};
    struct pl_error err = {0};
    pl_converted_init(ret);
    if (pl_convert(pl_str_of(text), &opts, ret, &err) != PL_OK)
        fail_msg("%s", err.message);
    pl_buf_addc(&ret->out, '\0');
    pl_buf_addc(&ret->report, '\0');
}

#define CHAT(parts) "{\"messages\":[{\"role\":\"user\",\"content\":[" parts "]}]}"

static void a_picture_becomes_its_link(void **state)
{
    (void)state;
    struct pl_converted made;
    const char *text =
        CHAT("{\"type\":\"text\",\"text\":\"look\"},"
             "{\"type\":\"image_url\",\"image_url\":{\"url\":\"/api/blobs/blob_1\"}}");
    convert("openai-chat", text, true, &made);
    assert_non_null(strstr(made.out.ptr,
                           "{\"type\":\"text\",\"content\":\"look\"},"
                           "{\"type\":\"text\",\"content\":\"![image](/api/blobs/blob_1)\"}"));
    assert_non_null(strstr(made.report.ptr, "approximated"));
    assert_null(strstr(made.report.ptr, "dropped"));
    pl_converted_deinit(&made);
    convert("openai-chat", text, false, &made);
    assert_null(strstr(made.out.ptr, "blob_1"));
    assert_non_null(strstr(made.report.ptr, "dropped"));
    pl_converted_deinit(&made);
}

static void files_have_their_names_and_odd_links_are_wrapped_or_left(void **state)
{
    (void)state;
    struct pl_converted made;
    convert(
        "anthropic",
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"document\",\"title\":\"Plan\",\"source\":{\"type\":\"url\",\"url\":\"https://"
        "h/a(1).pdf\"}},"
        "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://h/a b.png\"}},"
        "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://h/><script>\"}}]}]}",
        true, &made);
    assert_non_null(strstr(made.out.ptr, "\"[Plan](<https://h/a(1).pdf>)\""));
    assert_null(strstr(made.out.ptr, "a b.png"));
    assert_null(strstr(made.out.ptr, "script"));
    pl_converted_deinit(&made);
}

static void pictures_of_tool_results_are_said_in_them(void **state)
{
    (void)state;
    struct pl_converted made;
    convert(
        "anthropic",
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"
        "\"see\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
        "\"content\":"
        "[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://h/x.png\"}}]}]}]}",
        true, &made);
    assert_non_null(strstr(made.out.ptr, "\"result\":\"![image](https://h/x.png)\""));
    pl_converted_deinit(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_becomes_its_link),
        cmocka_unit_test(files_have_their_names_and_odd_links_are_wrapped_or_left),
        cmocka_unit_test(pictures_of_tool_results_are_said_in_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
