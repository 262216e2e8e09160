/* Variables, citations, packets, exports, comparisons and files of prompts survive running out of
 * memory: the status says so, nothing leaks, no output is half written. */
#include "fault/fault.h"

#include "conv/cite.h"
#include "prompt/diff.h"
#include "handoff/handoff.h"
#include "prompt/render.h"
#include "promptfile/export.h"
#include "format/format.h"
#include "promptfile/promptfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char chat[] =
    "{\"protocol\":\"structured-chat\",\"system_prompt\":\"{{a}}\\n{{имя:1}}\",\"messages\":["
    "{\"id\":\"1\",\"role\":\"user\",\"content\":\"it's {{a}}\\u00e9 \\u0001\"},{\"id\":\"2\","
    "\"role\":\"assistant\",\"content\":\"## user\"}],\"config\":{\"top_p\":1,\"model\":\"m\"},"
    "\"variables\":[{\"name\":\"a\",\"type\":\"number\",\"required\":true}]}";

/* Without names that need Unicode. */
static const char plain_chat[] = "{\"system_prompt\":\"\\u00e9{{a}}\\n{{b:1}}\",\"variables\":[{"
                                 "\"name\":\"a\",\"type\":\"number\"},"
                                 "{\"name\":\"b\",\"default\":2}]}";

static enum pl_status render(void *ctx)
{
    struct pl_render_var var = {PL_STR("a"), PL_STR("12")};
    struct pl_render_opts opts = {.vars = &var, .n_vars = 1, .keeps_places = true};
    struct pl_rendered made;
    pl_rendered_init(&made);
    enum pl_status status = pl_render(pl_str_of(ctx), &opts, &made, NULL);
    pl_rendered_deinit(&made);
    return status;
}

static enum pl_status export(void *ctx) {
    const struct pl_export *way = ctx; PL_CLEANUP_BUF struct pl_buf text, back, losses;
    pl_buf_init(&text, 0);
    pl_buf_init(&back, 0);
    pl_buf_init(&losses, 0);
    struct pl_export_how how = {.losses = &losses};
    enum pl_status status = way->write(&text, pl_str_of(chat), &how, NULL);
    if (status == PL_OK) status = losses.status;
    if (status == PL_OK && way->read) status = way->read(&back, pl_buf_str(&text), NULL);
    return status;
}

static const char talk[] =
    "[{\"role\":\"system\",\"content\":\"Be \\u0062rief.\"},{\"role\":\"user\",\"content\":[{"
    "\"type\":\"text\",\"text\":\"Go\"},{\"type\":\"image_url\",\"image_url\":{\"url\":"
    "\"https://x/y\"}}]},{\"role\":\"assistant\",\"content\":\"So <cite id=\\\"c\\\"/>\","
    "\"metadata\":{\"citation_map\":{\"c\":{\"source_id\":\"d\",\"location\":{\"text_snippet\":"
    "\"aab\"}}}}}]";

static enum pl_status with_talk(enum pl_status (*use)(struct pl_conv *conv))
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&arena, pl_str_of(talk), NULL, &doc, NULL);
    if (status != PL_OK)
        return status;
    struct pl_conv conv = {0};
    status = pl_conv_init(&conv, &arena, &doc);
    if (status == PL_OK)
        status = pl_format_harmony.read(&conv, PL_KIND_REQUEST, NULL);
    if (status == PL_OK)
        status = conv.status;
    if (status == PL_OK)
        status = use(&conv);
    pl_conv_deinit(&conv);
    return status;
}

static enum pl_status use_cites(struct pl_conv *conv)
{
    struct pl_cite_source source = {PL_STR("d"), PL_STR("a aab")};
    struct pl_cites cites = {0};
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    enum pl_status status = pl_cites_find(conv, &source, 1, &cites);
    if (status == PL_OK) {
        pl_cites_write(&out, conv, &cites);
        status = out.status;
    }
    pl_cites_deinit(&cites);
    return status;
}

static enum pl_status cite(void *ctx)
{
    (void)ctx;
    return with_talk(use_cites);
}

static enum pl_status use_handoff(struct pl_conv *conv)
{
    struct pl_handoff_opts opts = {.target = PL_STR("b"),
                                   .timestamp = PL_STR("2026-01-01T00:00:00Z")};
    PL_CLEANUP_BUF struct pl_buf packet;
    pl_buf_init(&packet, 0);
    return pl_handoff_make(&packet, conv, &opts, NULL);
}

static enum pl_status handoff(void *ctx)
{
    (void)ctx;
    return with_talk(use_handoff);
}

static const char packet_text[] =
    "{\"protocol\":\"harmony_handoff_v1\",\"meta\":{\"source_agent\":\"\\u0061\",\"target_agent\":"
    "\"\\u0062\",\"timestamp\":\"2024-03-20T10:00:00Z\"},\"context\":{\"primary_objective\":"
    "\"\\u0078\","
    "\"status\":\"s\"},\"hop_count\":2,\"visited\":[\"\\u0061\"],\"trace_id\":\"\\u0074\"}";
static const char previous_text[] =
    "{\"context\":{\"primary_objective\":\"\\u0079\"},\"hop_count\":2,\"visited\":[\"\\u0063\"],"
    "\"trace_id\":\"\\u0073\"}";

static enum pl_status check(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc packet, previous;
    struct pl_handoff_reasons reasons = {0};
    enum pl_status status = pl_json_parse(&arena, pl_str_of(packet_text), NULL, &packet, NULL);
    if (status == PL_OK)
        status = pl_json_parse(&arena, pl_str_of(previous_text), NULL, &previous, NULL);
    if (status == PL_OK)
        status = pl_handoff_check(&arena, &packet, &previous, PL_STR("b"), &reasons, NULL);
    if (status == PL_OK)
        assert_int_equal(reasons.list.len, 6);
    else
        assert_int_equal(reasons.list.len, 0);
    pl_handoff_reasons_deinit(&reasons);
    return status;
}

static const char older[] =
    "{\"system_prompt\":\"be \\u0062rief\",\"messages\":[{\"id\":\"\\u0061\",\"role\":\"user\","
    "\"content\":[{\"text\":\"one\"},{\"text\":\"two\"},{\"url\":\"x\"}]},{\"role\":\"user\","
    "\"content\":\"some words that stay\"},{\"role\":\"user\",\"content\":\"same\"}],\"config\":{"
    "\"a\":1,\"b\":[1,2]}}";
static const char newer[] =
    "{\"system_prompt\":\"be very brief\",\"messages\":[{\"role\":\"user\",\"content\":\"same\"},{"
    "\"role\":\"user\",\"content\":\"some words that went\"},{\"id\":\"a\",\"role\":\"user\","
    "\"content\":[{\"text\":\"one\"},{\"url\":\"y\"}]}],\"config\":{\"b\":[1,3],\"c\":{}}}";

static enum pl_status compare(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    struct pl_prompt_text from = {true, pl_str_of(older)}, to = {true, pl_str_of(newer)};
    enum pl_status status = pl_prompt_diff(&arena, &from, &to, &out, NULL);
    assert_true(status == PL_OK || out.len == 0);
    return status;
}

static enum pl_status list_variables(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    struct pl_prompt_text prompt = {ctx != NULL, ctx ? pl_str_of(ctx) : PL_STR("{{a}} {{b:\t}}")};
    enum pl_status status = pl_prompt_variables(&arena, &prompt, &out, NULL);
    assert_true(status == PL_OK || out.len == 0);
    return status;
}

static const struct pl_prompt_file sources[] = {
    {PL_STR("a.txt"), PL_STR("Be kind.\n")},
    {PL_STR("a.json"), PL_STR("{\"messages\":[{\"role\":\"user\",\"content\":\"H\\u0069\"}],"
                              "\"model\":\"m\",\"x\":1}")},
    {PL_STR("b.json"), PL_STR("{\"protocol\":\"structured-chat\",\"messages\":[],} // so")},
    {PL_STR("c.yml"), PL_STR("- messages: [{role: user, content: a}]\n  tags: [a]\n- 7\n")},
    {PL_STR("d.md"), PL_STR("---\ndescription: d\n---\nAbout\n## user\n\nHi\n")},
    {PL_STR("e.md"), PL_STR("---\nmodel: m\n---\nHi\n")},
    {PL_STR("f.json"),
     PL_STR("{\"data\":[{\"name\":\"a/b\",\"type\":\"chat\",\"prompt\":[{\"type\":\"placeholder\","
            "\"name\":\"h\"},{\"role\":\"user\",\"content\":\"x\"}],\"labels\":[\"p\"],\"tags\":["
            "\"t\"]},{\"name\":\"a\"}],\"meta\":{}}")},
    {PL_STR("x/P/prompt.yaml"),
     PL_STR("name: \"P\\t\"\nlabels: {a: 1}\nversions:\n- {file: 1.md, type: "
            "text}\n- {file: 2.yaml}\n- {file: no.md}\n")},
    {PL_STR("x/P/1.md"), PL_STR("Words\n")},
    {PL_STR("x/P/2.yaml"), PL_STR("messages: []\n")},
    {PL_STR("none.json"), PL_STR("{}")},
};

static enum pl_status read_files(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_filed filed;
    pl_filed_init(&filed);
    enum pl_status status = pl_prompt_files_read(&arena, sources, sizeof sources / sizeof *sources,
                                                 PL_STR(""), &filed, NULL);
    if (status == PL_OK)
        assert_int_equal(filed.prompts.len, 8);
    else
        assert_true(filed.prompts.len == 0 && filed.problems.len == 0);
    pl_filed_deinit(&filed);
    return status;
}

static bool is_first_taken(void *ctx, struct pl_str directory)
{
    (void)directory;
    return (*(int *)ctx)++ == 0;
}

static enum pl_status write_files(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_filed_version versions[] = {
        {.version = 1, .content = PL_STR("a\r\nb"), .note = PL_STR("n\n")},
        {.version = 2, .content = PL_STR("a\rb"), .created_ms = 1},
        {.version = 3, .is_structured = true, .content = PL_STR("{\"messages\":[\"\\n\"]}")},
        {.version = 4, .is_structured = true, .content = PL_STR("{ \"messages\":[]}")},
    };
    struct pl_filed_prompt prompt = {.id = PL_STR("prompt_1"),
                                     .name = PL_STR("a:b"),
                                     .folder = PL_STR("x/.."),
                                     .tags = PL_STR("[\"a\"]"),
                                     .versions = versions,
                                     .n_versions = 4};
    struct pl_prompt_files files = {0};
    int n_asked = 0;
    enum pl_status status =
        pl_prompt_files_write(&arena, &prompt, is_first_taken, &n_asked, &files, NULL);
    assert_int_equal(files.list.len, status == PL_OK ? 5 : 0);
    pl_vec_deinit(&files.list);
    return status;
}

static void test_comparing(void **state)
{
    (void)state;
    assert_true(pl_fault_each(compare, NULL) > 0);
}

static void test_variables(void **state)
{
    (void)state;
    assert_true(pl_fault_each(list_variables, NULL) > 0);
    assert_true(pl_fault_each(list_variables, (void *)plain_chat) > 0);
}

static void test_files(void **state)
{
    (void)state;
    assert_true(pl_fault_each(read_files, NULL) > 0);
    assert_true(pl_fault_each(write_files, NULL) > 0);
}

static void test_rendering(void **state)
{
    (void)state;
    /* A regular expression also works without just-in-time compilation. */
    assert_true(pl_fault_each_tolerant(render, (void *)chat, PL_OK) > 0);
    assert_true(pl_fault_each(render, (void *)plain_chat) > 0);
}

static void test_exports(void **state)
{
    (void)state;
    for (const struct pl_export *const *way = pl_exports; *way; way++)
        assert_true(pl_fault_each(export, (void *)*way) > 0);
}

static void test_citations(void **state)
{
    (void)state;
    assert_true(pl_fault_each(cite, NULL) > 0);
}

static void test_packets(void **state)
{
    (void)state;
    assert_true(pl_fault_each(handoff, NULL) > 0);
    assert_true(pl_fault_each_tolerant(check, NULL, PL_OK) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rendering), cmocka_unit_test(test_exports),
        cmocka_unit_test(test_citations), cmocka_unit_test(test_packets),
        cmocka_unit_test(test_comparing), cmocka_unit_test(test_variables),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
