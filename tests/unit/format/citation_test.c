/* Citations there and back, with any value in place of a citation. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/pieces/citation.h"
#include "unit/format/through.h"

#include <string.h>

static bool has(const struct pl_buf *buf, const char *text)
{
    return memmem(buf->ptr, buf->len, text, strlen(text)) != NULL;
}

/* A conversion that must succeed and write valid JSON. */
static struct pl_converted go(const char *from, const char *to, const char *text)
{
    struct pl_converted c = pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&c.out), &pl_json_any, &doc, NULL), PL_OK);
    return c;
}

static void ids_count_from_one(void **state)
{
    (void)state;
    char id[PL_CITE_ID_SIZE];
    pl_cite_id(id, 0);
    assert_string_equal(id, "cit_1");
    pl_cite_id(id, SIZE_MAX - 1);
    assert_true(strlen(id) < sizeof id);
}

static const char *const wrong_values[] = {"null",
                                           "5",
                                           "\"x\"",
                                           "true",
                                           "{}",
                                           "[5]",
                                           "[[]]",
                                           "[null]",
                                           "[{}]",
                                           "[\"x\"]",
                                           "[{\"type\":5}]",
                                           "[{\"type\":\"url_citation\"}]",
                                           "[{\"type\":\"char_location\",\"cited_text\":5}]"};

static void wrong_citations_of_vendors_never_stop_a_conversion(void **state)
{
    (void)state;
    static const char *const shapes[][2] = {
        {"anthropic", "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                      "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"b\","
                      "\"citations\":%s}]}]}"},
        {"openai-chat", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":"
                        "\"assistant\",\"content\":\"b\",\"annotations\":%s}]}"},
        {"openai-responses",
         "{\"input\":[{\"role\":\"user\",\"content\":\"a\"},{\"type\":\"message\",\"role\":"
         "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"b\",\"annotations\":%s}]}"
         "]}"},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < sizeof wrong_values / sizeof *wrong_values; i++) {
            PL_CLEANUP_BUF struct pl_buf text;
            pl_buf_init(&text, 0);
            const char *hole = strstr(shapes[s][1], "%s");
            pl_buf_add(&text, (struct pl_str){shapes[s][1], (size_t)(hole - shapes[s][1])});
            pl_buf_adds(&text, wrong_values[i]);
            pl_buf_adds(&text, hole + 2);
            pl_buf_addc(&text, '\0');
            static const char *const targets[] = {"harmony", "turns", "gemini"};
            for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
                struct pl_converted c = go(shapes[s][0], targets[t], text.ptr);
                pl_converted_deinit(&c);
            }
        }
}

static const char *const wrong_entries[] = {
    "{}",
    "{\"cit_1\":5}",
    "{\"cit_1\":null}",
    "{\"cit_1\":{}}",
    "{\"cit_1\":{\"url\":5}}",
    "{\"cit_1\":{\"origin\":5}}",
    "{\"cit_1\":{\"origin\":{\"anthropic\":5}}}",
    "{\"cit_1\":{\"origin\":{\"format\":\"anthropic\"}}}",
    "{\"cit_1\":{\"url\":\"\",\"location\":[]}}",
    "{\"\":{\"url\":\"https://x.test\"}}",
    "[]",
    "5",
    "\"cit_1\"",
};

static void wrong_maps_leave_the_anchor_in_the_text(void **state)
{
    (void)state;
    static const char *const targets[] = {"anthropic", "openai-responses", "openai-chat", "gemini"};
    for (size_t i = 0; i < sizeof wrong_entries / sizeof *wrong_entries; i++)
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            PL_CLEANUP_BUF struct pl_buf text;
            pl_buf_init(&text, 0);
            pl_buf_adds(&text, "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
                               "\"content\":\"a <cite id=\\\"cit_1\\\"/> b\",\"metadata\":{"
                               "\"citation_map\":");
            pl_buf_adds(&text, wrong_entries[i]);
            pl_buf_adds(&text, "}}]");
            pl_buf_addc(&text, '\0');
            struct pl_converted c = go("harmony", targets[t], text.ptr);
            assert_true(has(&c.out, "<cite id="));
            pl_converted_deinit(&c);
        }
}

static void an_address_leaves_the_text_for_responses_alone(void **state)
{
    (void)state;
    static const char text[] =
        "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"a<cite "
        "id=\\\"c\\\"/><cite id=\\\"none\\\"/>\",\"metadata\":{\"citation_map\":{\"c\":{"
        "\"source_type\":\"web_search\",\"url\":\"https://x.test\",\"source_name\":\"X\"}}}}]";
    struct pl_converted c = go("harmony", "openai-responses", text);
    assert_true(has(&c.out, "\"url_citation\""));
    assert_false(has(&c.out, "<cite id=\\\"c\\\"/>"));
    assert_true(has(&c.out, "<cite id=\\\"none\\\"/>"));
    pl_converted_deinit(&c);
    c = go("harmony", "gemini", text);
    assert_true(has(&c.out, "<cite id=\\\"c\\\"/>"));
    pl_converted_deinit(&c);
}

static void many_anchors_are_told_in_their_order(void **state)
{
    (void)state;
    enum { N = 2000 };
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text,
                "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"");
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, "w<cite id=\\\"c%d\\\"/>", i);
    pl_buf_adds(&text, "\",\"metadata\":{\"citation_map\":{");
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, "%s\"c%d\":{\"url\":\"https://x.test/%d\"}", i ? "," : "", i, i);
    pl_buf_adds(&text, "}}}]");
    pl_buf_addc(&text, '\0');
    struct pl_converted c = go("harmony", "openai-responses", text.ptr);
    assert_true(has(&c.out, "https://x.test/1999"));
    assert_false(has(&c.out, "<cite"));
    pl_converted_deinit(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_count_from_one),
        cmocka_unit_test(wrong_citations_of_vendors_never_stop_a_conversion),
        cmocka_unit_test(wrong_maps_leave_the_anchor_in_the_text),
        cmocka_unit_test(an_address_leaves_the_text_for_responses_alone),
        cmocka_unit_test(many_anchors_are_told_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
