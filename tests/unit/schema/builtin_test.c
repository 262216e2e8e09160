#include "unit/schema/schema_test.h"

#include "schema/builtin.h"

static void finds_the_embedded_schemas_by_name(void **state)
{
    (void)state;
    assert_non_null(pl_schema_builtin_find(PL_STR("envelope")));
    assert_non_null(pl_schema_builtin_find(PL_STR("pi")));
    assert_null(pl_schema_builtin_find(PL_STR("pie")));
    assert_null(pl_schema_builtin_find(PL_STR("schema"))); /* a meta-schema is not an --as name */
}

static void takes_titles_from_the_schemas(void **state)
{
    (void)state;
    assert_string_equal(pl_schema_builtin_find(PL_STR("envelope"))->title,
                        "Prompt Envelope Protocol");
    assert_string_equal(pl_schema_builtin_find(PL_STR("pi"))->title, "Pi Extension Protocol");
}

static void keeps_the_bytes_of_the_files(void **state)
{
    (void)state;
    struct pl_str text = pl_schema_builtin_find(PL_STR("envelope"))->text;
    assert_true(pl_str_starts(text, PL_STR("{\n")));
    assert_int_equal(text.len, 8574);
}

static void compiles_every_embedded_schema(void **state)
{
    (void)state;
    for (const struct pl_schema_builtin *s = pl_schema_builtins; s->name; s++) {
        struct bench b;
        bench_open(&b, s->text, NULL);
        bench_close(&b);
    }
}

#define SEGMENT(members)                                                                           \
    "{\"version\":\"1.0\",\"messages\":[{\"id\":\"a\",\"role\":\"user\",\"timestamp\":1,"          \
    "\"segments\":[{" members "}]}]}"

static void accepts_each_kind_of_segment(void **state)
{
    (void)state;
    static const char *const valid[] = {
        SEGMENT("\"kind\":\"text\",\"content\":\"\""),
        SEGMENT("\"kind\":\"static_var\",\"name\":\"n\",\"value\":\"v\""),
        SEGMENT("\"kind\":\"system_prompt\",\"content\":\"c\",\"collapsed\":true"),
        SEGMENT("\"kind\":\"memory\",\"items\":[{\"title\":\"t\",\"content\":\"c\"}],"
                "\"collapsed\":true"),
        SEGMENT("\"kind\":\"skills\",\"items\":[{\"name\":\"n\",\"description\":\"d\"}],"
                "\"collapsed\":true"),
        SEGMENT("\"kind\":\"tool_overview\",\"items\":[{\"name\":\"n\",\"description\":\"d\","
                "\"parameters\":\"p\"}],\"collapsed\":true"),
        SEGMENT("\"kind\":\"tool_call_request\",\"toolName\":\"t\",\"arguments\":{},"
                "\"collapsed\":true"),
        SEGMENT("\"kind\":\"tool_call_result\",\"toolName\":\"t\",\"result\":\"r\","
                "\"success\":true,\"collapsed\":true"),
        SEGMENT("\"kind\":\"document\",\"fileName\":\"f\",\"mimeType\":\"m\",\"snippet\":\"s\","
                "\"sizeBytes\":1"),
        SEGMENT("\"kind\":\"long_text\",\"content\":\"c\",\"charCount\":1,\"collapsed\":true"),
        SEGMENT("\"kind\":\"media\",\"mediaType\":\"image\",\"url\":\"u\""),
    };
    struct bench b;
    bench_open(&b, pl_schema_builtin_find(PL_STR("envelope"))->text, NULL);
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (!bench_accepts(&b, valid[i]))
            fail_msg("%s", valid[i]);
    assert_false(bench_accepts(&b, SEGMENT("\"kind\":\"video\",\"url\":\"u\"")));
    assert_false(bench_accepts(&b, SEGMENT("\"kind\":\"media\",\"mediaType\":\"image\"")));
    bench_close(&b);
}

static void a_frame_must_have_the_payload_of_its_type(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, pl_schema_builtin_find(PL_STR("pi"))->text, NULL);
    assert_true(bench_accepts(&b, "{\"id\":\"1\",\"version\":\"1.0\",\"type\":\"tool_call\","
                                  "\"payload\":{\"call_id\":\"c\",\"name\":\"n\",\"input\":{}}}"));
    assert_false(bench_accepts(&b, "{\"id\":\"1\",\"version\":\"1.0\",\"type\":\"tool_result\","
                                   "\"payload\":{\"call_id\":\"c\",\"name\":\"n\",\"input\":{}}}"));
    assert_false(bench_accepts(&b, "{\"id\":\"1\",\"version\":\"1.0\",\"payload\":{}}"));
    bench_close(&b);
}

#define PATCH(type, data)                                                                          \
    "{\"session_id\":\"s\",\"sequence\":1,\"turn_id\":\"t\",\"loop_id\":\"root\","                 \
    "\"patch_type\":\"" type "\",\"data\":{" data "}}"

static void a_patch_must_have_the_data_of_its_type(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, pl_schema_builtin_find(PL_STR("patch"))->text, NULL);
    assert_true(bench_accepts(&b, PATCH("set_status", "\"status\":\"completed\"")));
    assert_false(bench_accepts(&b, PATCH("set_status", "\"status\":\"done\"")));
    assert_false(bench_accepts(&b, PATCH("set_tool_status", "\"status\":\"done\"")));
    assert_false(bench_accepts(&b, PATCH("remove_content", "")));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_embedded_schemas_by_name),
        cmocka_unit_test(takes_titles_from_the_schemas),
        cmocka_unit_test(keeps_the_bytes_of_the_files),
        cmocka_unit_test(compiles_every_embedded_schema),
        cmocka_unit_test(accepts_each_kind_of_segment),
        cmocka_unit_test(a_frame_must_have_the_payload_of_its_type),
        cmocka_unit_test(a_patch_must_have_the_data_of_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
