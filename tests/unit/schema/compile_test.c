#include "unit/schema/schema_test.h"

#include "base/buf.h"
#include "schema/uri.h"

struct refusal {
    const char *schema;
    enum pl_status status;
    const char *pointer;
};

static void assert_refused(struct pl_str schema, const struct pl_schema_opts *opts,
                           enum pl_status status, const char *pointer)
{
    struct pl_schema *compiled = NULL;
    struct pl_error err = {0};
    enum pl_status result = pl_schema_compile(schema, opts, &compiled, &err);
    if (result != status)
        fail_msg("%.200s: %s %s", schema.ptr, pl_status_info(result)->name, err.message);
    assert_null(compiled);
    assert_int_equal(err.status, status);
    assert_true(err.message[0]);
    if (pointer)
        assert_string_equal(err.pointer, pointer);
}

static void refuses_keywords_of_the_wrong_shape_and_says_where(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"[]", PL_INVALID, ""},
        {"{\"type\":\"text\"}", PL_INVALID, "/type"},
        {"{\"type\":[]}", PL_INVALID, "/type"},
        {"{\"type\":[\"string\",\"string\"]}", PL_INVALID, "/type"},
        {"{\"properties\":[]}", PL_INVALID, "/properties"},
        {"{\"properties\":{\"a\":5}}", PL_INVALID, "/properties/a"},
        {"{\"items\":[{}]}", PL_INVALID, "/items"},
        {"{\"allOf\":[]}", PL_INVALID, "/allOf"},
        {"{\"allOf\":[true,\"x\"]}", PL_INVALID, "/allOf/1"},
        {"{\"minimum\":\"1\"}", PL_INVALID, "/minimum"},
        {"{\"multipleOf\":0}", PL_INVALID, "/multipleOf"},
        {"{\"minLength\":-1}", PL_INVALID, "/minLength"},
        {"{\"maxItems\":1.5}", PL_INVALID, "/maxItems"},
        {"{\"required\":\"a\"}", PL_INVALID, "/required"},
        {"{\"required\":[\"a\",\"a\"]}", PL_INVALID, "/required"},
        {"{\"dependentRequired\":{\"a\":[1]}}", PL_INVALID, "/dependentRequired"},
        {"{\"uniqueItems\":1}", PL_INVALID, "/uniqueItems"},
        {"{\"enum\":\"a\"}", PL_INVALID, "/enum"},
        {"{\"pattern\":\"(\"}", PL_INVALID, "/pattern"},
        {"{\"patternProperties\":{\"[\":true}}", PL_INVALID, NULL},
        {"{\"$anchor\":\"1a\"}", PL_INVALID, "/$anchor"},
        {"{\"$id\":\"http://x/#a\"}", PL_INVALID, "/$id"},
        {"{\"$defs\":{\"a\":{\"not\":[]}}}", PL_INVALID, "/$defs/a/not"},
        {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}", PL_INVALID, NULL},
        {"{\"$vocabulary\":{\"http://x\":1}}", PL_INVALID, "/$vocabulary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(pl_str_of(cases[i].schema), NULL, cases[i].status, cases[i].pointer);
}

static void refuses_references_to_nothing(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {"{\"$ref\":\"#/$defs/a\"}", PL_NOT_FOUND, "/$ref"},
        {"{\"$ref\":\"#a\"}", PL_NOT_FOUND, "/$ref"},
        {"{\"$ref\":\"http://example.com/a\"}", PL_NOT_FOUND, "/$ref"},
        {"{\"$defs\":{\"unused\":{\"$ref\":\"#/x\"}}}", PL_NOT_FOUND, "/$defs/unused/$ref"},
        {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}", PL_NOT_FOUND, "/$schema"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(pl_str_of(cases[i].schema), NULL, cases[i].status, cases[i].pointer);
}

static void refuses_text_that_is_not_json(void **state)
{
    (void)state;
    assert_refused(PL_STR("{\"type\":"), NULL, PL_SYNTAX, NULL);
}

static void refuses_a_dialect_that_requires_an_unknown_vocabulary(void **state)
{
    (void)state;
    struct pl_schema_source meta = {PL_STR("http://x/meta"),
                                    PL_STR("{\"$vocabulary\":{\"http://x/vocab/units\":true}}")};
    struct pl_schema_opts opts = {.sources = &meta, .n_sources = 1};
    assert_refused(PL_STR("{\"$schema\":\"http://x/meta\"}"), &opts, PL_INVALID, NULL);
}

static void one_byte_over_the_limit_is_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "{\"$comment\":\"");
    pl_buf_fill(&text, 'x', 256 * 1024 - 15);
    pl_buf_adds(&text, "\"}");
    assert_int_equal(text.len, 256 * 1024);
    struct bench b;
    bench_open(&b, pl_buf_str(&text), NULL);
    bench_close(&b);
    pl_buf_addc(&text, ' ');
    assert_refused(pl_buf_str(&text), NULL, PL_LIMIT, NULL);
}

static void one_subschema_over_the_limit_is_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "{\"allOf\":[");
    for (int i = 0; i < 4998; i++)
        pl_buf_adds(&text, "true,");
    size_t len = text.len;
    pl_buf_adds(&text, "true]}"); /* with the root: 5,000 */
    struct bench b;
    bench_open(&b, pl_buf_str(&text), NULL);
    bench_close(&b);
    text.len = len;
    pl_buf_adds(&text, "true,true]}");
    assert_refused(pl_buf_str(&text), NULL, PL_LIMIT, "/allOf/4999");
}

static void nesting_beyond_the_parsers_depth_is_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (int i = 0; i < 100; i++)
        pl_buf_adds(&text, "{\"not\":");
    pl_buf_adds(&text, "true");
    pl_buf_fill(&text, '}', 100);
    assert_refused(pl_buf_str(&text), NULL, PL_LIMIT, NULL);
}

static void finds_other_documents_by_their_uri_or_their_id(void **state)
{
    (void)state;
    struct pl_schema_source sources[] = {
        {PL_STR("http://x/dir/number.json"), PL_STR("{\"type\":\"number\"}")},
        {PL_STR("http://x/elsewhere"),
         PL_STR("{\"$id\":\"http://y/list\",\"items\":{\"$ref\":\"http://x/dir/number.json\"}}")},
    };
    struct pl_schema_opts opts = {
        .base_uri = PL_STR("http://x/dir/main.json"), .sources = sources, .n_sources = 2};
    struct bench b;
    bench_open(&b,
               PL_STR("{\"properties\":{\"n\":{\"$ref\":\"number.json\"},"
                      "\"l\":{\"$ref\":\"http://y/list\"}}}"),
               &opts);
    assert_true(bench_accepts(&b, "{\"n\":1,\"l\":[1,2]}"));
    assert_false(bench_accepts(&b, "{\"n\":\"1\"}"));
    assert_false(bench_accepts(&b, "{\"l\":[\"1\"]}"));
    bench_close(&b);
}

static void the_meta_schema_is_known_and_judges_schemas(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, PL_STR("{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}"), NULL);
    assert_true(
        bench_accepts(&b, "{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":1}}}"));
    assert_false(bench_accepts(&b, "{\"properties\":{\"a\":{\"minLength\":-1}}}"));
    assert_false(bench_accepts(&b, "{\"properties\":{\"a\":{\"allOf\":[]}}}"));
    bench_close(&b);
}

/* RFC 3986, section 5.4. */
static void resolves_references_as_the_rfc_shows(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g#s", "http://a/b/c/g"},
    };
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_str uri, fragment;
        assert_int_equal(pl_uri_resolve(&arena, PL_STR("http://a/b/c/d;p?q"),
                                        pl_str_of(cases[i][0]), &uri, &fragment),
                         PL_OK);
        assert_text(uri, cases[i][1]);
    }
    pl_arena_deinit(&arena);
}

static void decodes_and_encodes_fragments(void **state)
{
    (void)state;
    struct pl_arena arena;
    struct pl_str text;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    assert_int_equal(pl_uri_decode(&arena, PL_STR("/a%25b%22%2"), &text), PL_OK);
    assert_text(text, "/a%b\"%2");
    pl_uri_add_fragment(&buf, PL_STR("/a%b\"/~1"));
    assert_text(pl_buf_str(&buf), "/a%25b%22/~1");
    pl_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_keywords_of_the_wrong_shape_and_says_where),
        cmocka_unit_test(refuses_references_to_nothing),
        cmocka_unit_test(refuses_text_that_is_not_json),
        cmocka_unit_test(refuses_a_dialect_that_requires_an_unknown_vocabulary),
        cmocka_unit_test(one_byte_over_the_limit_is_refused),
        cmocka_unit_test(one_subschema_over_the_limit_is_refused),
        cmocka_unit_test(nesting_beyond_the_parsers_depth_is_refused),
        cmocka_unit_test(finds_other_documents_by_their_uri_or_their_id),
        cmocka_unit_test(the_meta_schema_is_known_and_judges_schemas),
        cmocka_unit_test(resolves_references_as_the_rfc_shows),
        cmocka_unit_test(decodes_and_encodes_fragments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
