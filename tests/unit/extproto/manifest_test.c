/* Manifests: refusals, what they allow, and which covers which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/manifest.h"

static struct pl_arena arena;

static enum pl_status read(const char *text, struct pl_ext_manifest *ret, struct pl_error *err)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    return pl_ext_manifest_read(&arena, &doc, doc.root, ret, err);
}

#define SCOPED(list)                                                                               \
    "{\"capability_manifest\":{\"schema\":\"pi.ext.cap.v1\",\"capabilities\":[" list "]}}"

static struct pl_ext_manifest manifest(const char *text)
{
    struct pl_ext_manifest made;
    struct pl_error err = {0};
    assert_int_equal(read(text, &made, &err), PL_OK);
    return made;
}

static enum pl_ext_reason judge(const struct pl_ext_manifest *m, struct pl_ext_wish wish)
{
    enum pl_ext_reason reason;
    assert_int_equal(pl_ext_manifest_judge(&arena, m, &wish, &reason), PL_OK);
    return reason;
}

static const struct pl_str in_src = {"src/a.c", 7}, elsewhere = {"doc/a", 5};
static const struct pl_str url = {"https://api.example/x", 21}, home = {"HOME", 4};

static void without_a_manifest_only_log_is_allowed(void **state)
{
    struct pl_ext_manifest m = manifest("{}");
    (void)state;
    assert_int_equal(pl_ext_manifest_capabilities(&m), PL_EXT_CAP_BIT(PL_EXT_CAP_LOG));
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_LOG, PL_STR("log")}),
                     PL_EXT_REASON_COUNT);
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs")}),
                     PL_EXT_REASON_NOT_DECLARED);
}

static void flat_capabilities_have_the_workspace_but_no_host_and_no_variable(void **state)
{
    struct pl_ext_manifest m = manifest("{\"capabilities\":[\"READ\",\"http\",\"env\"]}");
    (void)state;
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &elsewhere}),
        PL_EXT_REASON_COUNT);
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_HTTP, PL_STR("http"), .url = &url}),
                     PL_EXT_REASON_SCOPE);
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_ENV, PL_STR("env"), .env = &home}),
                     PL_EXT_REASON_SCOPE);
}

static void a_scope_allows_what_it_names(void **state)
{
    struct pl_ext_manifest m = manifest(
        SCOPED("{\"capability\":\"read\",\"methods\":[\"fs\"],\"scope\":{\"paths\":[\"src/**\"]}},"
               "{\"capability\":\"http\",\"scope\":{\"hosts\":[\"api.example\"]}},"
               "{\"capability\":\"env\",\"scope\":{\"env\":[\"HOME\"]}},"
               "{\"capability\":\"write\",\"scope\":{\"paths\":[]}}"));
    struct pl_str private = PL_STR("https://127.0.0.1/");
    (void)state;
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &in_src}),
        PL_EXT_REASON_COUNT);
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &elsewhere}),
        PL_EXT_REASON_SCOPE);
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("tool"), .path = &in_src}),
        PL_EXT_REASON_METHOD_NOT_DECLARED);
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_HTTP, PL_STR("http"), .url = &url}),
                     PL_EXT_REASON_COUNT);
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_HTTP, PL_STR("http"), .url = &private}),
        PL_EXT_REASON_PRIVATE_ADDRESS);
    assert_int_equal(judge(&m, (struct pl_ext_wish){PL_EXT_CAP_ENV, PL_STR("env"), .env = &home}),
                     PL_EXT_REASON_COUNT);
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_WRITE, PL_STR("fs"), .path = &in_src}),
        PL_EXT_REASON_SCOPE);
}

/* The reason is that of the closest requirement, in any order. */
static void several_requirements_of_one_capability_add_up(void **state)
{
    struct pl_ext_manifest m = manifest(
        SCOPED("{\"capability\":\"read\",\"scope\":{\"paths\":[\"x\"]}},"
               "{\"capability\":\"read\",\"methods\":[\"tool\"]},"
               "{\"capability\":\"read\",\"methods\":[\"fs\"],\"scope\":{\"paths\":[\"src/*\"]}}"));
    (void)state;
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &in_src}),
        PL_EXT_REASON_COUNT);
    assert_int_equal(
        judge(&m, (struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &elsewhere}),
        PL_EXT_REASON_SCOPE);
}

static void what_may_not_be_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"{\"capabilities\":[\"read\",\"fly\"]}", "/capabilities/1"},
        {"{\"capabilities\":[5]}", "/capabilities/0"},
        {SCOPED("{\"capability\":\"fly\"}"), "/capability_manifest/capabilities/0"},
        {SCOPED("{\"capability\":5}"), "/capability_manifest/capabilities/0/capability"},
        {SCOPED("{\"capability\":\"read\",\"scope\":{\"paths\":[\"a\",\"/etc\"]}}"),
         "/capability_manifest/capabilities/0/scope/paths/1"},
        {SCOPED("{\"capability\":\"http\",\"scope\":{\"hosts\":[\"*\"]}}"),
         "/capability_manifest/capabilities/0/scope/hosts/0"},
        {SCOPED("{\"capability\":\"http\",\"scope\":{\"hosts\":[\"*\",\"a.example\"]}},"
                "{\"capability\":\"log\"}"),
         "/capability_manifest/capabilities/0/scope/hosts/0"},
        {SCOPED("{\"capability\":\"env\",\"scope\":{\"env\":[\"A=B\"]}}"),
         "/capability_manifest/capabilities/0/scope/env/0"},
        {SCOPED("{\"capability\":\"env\",\"scope\":{\"env\":[\"\"]}}"),
         "/capability_manifest/capabilities/0/scope/env/0"},
        {SCOPED("{\"capability\":\"env\",\"scope\":{\"env\":[\"a\\u0000\"]}}"),
         "/capability_manifest/capabilities/0/scope/env/0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_manifest m;
        struct pl_error err = {0};
        assert_int_equal(read(cases[i].text, &m, &err), PL_INVALID);
        assert_string_equal(err.pointer, cases[i].pointer);
        assert_true(err.message[0]);
    }
}

static void a_manifest_is_within_another_or_asks_again(void **state)
{
#define ONE(text) SCOPED("{\"capability\":\"read\"" text "}")
    static const struct {
        const char *outer, *inner;
        bool covers;
    } cases[] = {
        {ONE(""), ONE(",\"methods\":[\"fs\"],\"scope\":{\"paths\":[\"a\"]}"), true},
        {ONE(",\"methods\":[\"fs\"]"), ONE(""), false},
        {ONE(",\"methods\":[\"fs\"]"), ONE(",\"methods\":[\"tool\"]"), false},
        {ONE(",\"methods\":[\"fs\"]"), ONE(",\"methods\":[\"fs\"]"), true},
        {ONE(",\"scope\":{\"paths\":[\"src/**\"]}"), ONE(""), false},
        {ONE(",\"scope\":{\"paths\":[\"x\",\"**\"]}"), ONE(""), true},
        {ONE(",\"scope\":{\"paths\":[\"src/**\"]}"), ONE(",\"scope\":{\"paths\":[\"src/a\"]}"),
         true},
        {ONE(",\"scope\":{\"paths\":[\"src/**\"]}"), ONE(",\"scope\":{\"paths\":[\"a\"]}"), false},
        {ONE(",\"scope\":{\"hosts\":[\"a.example\"]}"),
         ONE(",\"scope\":{\"hosts\":[\"a.example\"]}"), true},
        {ONE(",\"scope\":{\"hosts\":[\"a.example\"]}"),
         ONE(",\"scope\":{\"hosts\":[\"b.example\"]}"), false},
        {ONE(",\"scope\":{\"env\":[\"A\",\"B\"]}"), ONE(",\"scope\":{\"env\":[\"B\"]}"), true},
        {ONE(""), ONE(",\"scope\":{\"env\":[\"B\"]}"), false},
        {ONE(""), SCOPED("{\"capability\":\"exec\"}"), false},
        {ONE(""), SCOPED(""), true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_ext_manifest outer = manifest(cases[i].outer), inner = manifest(cases[i].inner);
        assert_int_equal(pl_ext_manifest_covers(&outer, &inner), cases[i].covers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_manifest_only_log_is_allowed),
        cmocka_unit_test(flat_capabilities_have_the_workspace_but_no_host_and_no_variable),
        cmocka_unit_test(a_scope_allows_what_it_names),
        cmocka_unit_test(several_requirements_of_one_capability_add_up),
        cmocka_unit_test(what_may_not_be_is_refused_with_its_place),
        cmocka_unit_test(a_manifest_is_within_another_or_asks_again),
    };
    pl_arena_init(&arena, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    return failed;
}
