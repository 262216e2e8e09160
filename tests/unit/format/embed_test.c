/* Embeddings: requests read and written in other shapes, answers converted to OpenAI's shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/bookkeeping.h"
#include "format/embed/embed.h"

static void parse(struct pl_arena *arena, const char *text, struct pl_json_doc *ret)
{
    assert_int_equal(pl_json_parse(arena, pl_str_of(text), &pl_json_any, ret, NULL), PL_OK);
}

static void assert_text(const struct pl_buf *buf, const char *text)
{
    assert_int_equal(buf->status, PL_OK);
    assert_int_equal(buf->len, strlen(text));
    assert_memory_equal(buf->ptr, text, buf->len);
}

static void a_request_is_read_or_refused_with_its_reason(void **state)
{
    static const struct {
        const char *text;
        size_t n_inputs; /* 0: refused */
        int64_t n_tokens;
        bool wants_base64;
    } cases[] = {
        {"{\"input\":\"a\"}", 1, 0, false},
        {"{\"input\":[\"a\",\"b\"],\"encoding_format\":\"base64\"}", 2, 0, true},
        {"{\"input\":[1,2,3],\"encoding_format\":\"float\"}", 1, 3, false},
        {"{\"input\":[[1,2],[3]],\"dimensions\":null}", 2, 3, false},
        {"{}", 0, 0, false},
        {"{\"input\":null}", 0, 0, false},
        {"{\"input\":\"\"}", 0, 0, false},
        {"{\"input\":[]}", 0, 0, false},
        {"{\"input\":[[]]}", 0, 0, false},
        {"{\"input\":[\"a\",\"\"]}", 0, 0, false},
        {"{\"input\":[\"a\",1]}", 0, 0, false},
        {"{\"input\":[1,\"a\"]}", 0, 0, false},
        {"{\"input\":[-1]}", 0, 0, false},
        {"{\"input\":[1.5]}", 0, 0, false},
        {"{\"input\":[[1],\"a\"]}", 0, 0, false},
        {"{\"input\":true}", 0, 0, false},
        {"{\"input\":{}}", 0, 0, false},
        {"{\"input\":\"a\",\"dimensions\":0}", 0, 0, false},
        {"{\"input\":\"a\",\"dimensions\":1048577}", 0, 0, false},
        {"{\"input\":\"a\",\"dimensions\":\"8\"}", 0, 0, false},
        {"{\"input\":\"a\",\"encoding_format\":\"hex\"}", 0, 0, false},
        {"{\"input\":\"a\",\"encoding_format\":[]}", 0, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        struct pl_embed_request request;
        struct pl_error err = {0};
        parse(&arena, cases[i].text, &doc);
        enum pl_status status = pl_embed_read(&doc, &request, &err);
        assert_int_equal(status, cases[i].n_inputs ? PL_OK : PL_INVALID);
        assert_true(status == PL_OK || err.message[0]);
        if (status != PL_OK)
            continue;
        assert_int_equal(request.n_inputs, cases[i].n_inputs);
        assert_int_equal(request.n_tokens, cases[i].n_tokens);
        assert_int_equal(request.wants_base64, cases[i].wants_base64);
    }
}

static void a_request_is_said_in_other_shapes_and_what_is_lost_is_told(void **state)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out, report;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    pl_buf_init(&report, 0);
    struct pl_json_doc doc;
    struct pl_embed_request request;
    struct pl_error err = {0};
    (void)state;
    parse(&arena,
          "{\"model\":\"x\",\"input\":[\"a\",\"\\u0062\"],\"dimensions\":2,\"user\":\"u\",\"odd\":"
          "null}",
          &doc);
    assert_int_equal(pl_embed_read(&doc, &request, &err), PL_OK);
    assert_int_equal(pl_embed_write(&request, PL_EMBED_GEMINI, PL_STR("m"), &out, &report, &err),
                     PL_OK);
    assert_text(&out,
                "{\"requests\":[{\"model\":\"models/m\",\"content\":{\"parts\":[{\"text\":\"a\"}]},"
                "\"outputDimensionality\":2},{\"model\":\"models/m\",\"content\":{\"parts\":[{"
                "\"text\":\"\\u0062\"}]},\"outputDimensionality\":2}]}");
    assert_text(&report,
                "{\"losses\":[{\"code\":\"dropped\",\"pointer\":\"/user\"}],\"lossless\":false}");
    pl_buf_clear(&out);
    pl_buf_clear(&report);
    assert_int_equal(pl_embed_write(&request, PL_EMBED_OLLAMA, PL_STR("m"), &out, &report, &err),
                     PL_OK);
    assert_text(&out, "{\"model\":\"m\",\"input\":[\"a\",\"\\u0062\"],\"dimensions\":2}");
    parse(&arena, "{\"input\":[1,2]}", &doc);
    assert_int_equal(pl_embed_read(&doc, &request, &err), PL_OK);
    assert_int_equal(pl_embed_write(&request, PL_EMBED_OLLAMA, PL_STR("m"), &out, &report, &err),
                     PL_INVALID);
}

static void an_answer_comes_in_one_shape_whatever_it_was(void **state)
{
    static const char floats[] =
        "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[1,-0."
        "5]}],"
        "\"model\":\"m\",\"usage\":{\"prompt_tokens\":7,\"total_tokens\":7}}";
    static const char sealed[] =
        "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":"
        "\"AACAPwAAAL8=\"}],\"model\":\"m\",\"usage\":{\"prompt_tokens\":7,\"total_tokens\":7}}";
    static const struct {
        enum pl_embed_shape shape;
        const char *text;
        bool is_answer;
    } cases[] = {
        {PL_EMBED_OPENAI, "{\"data\":[{\"embedding\":[1,-0.5]}],\"usage\":{\"prompt_tokens\":7}}",
         true},
        {PL_EMBED_OPENAI, "{\"data\":[{\"embedding\":\"AACAPwAAAL8=\"}]}", true},
        {PL_EMBED_OLLAMA, "{\"embeddings\":[[1,-0.5]],\"prompt_eval_count\":7}", true},
        {PL_EMBED_GEMINI, "{\"embeddings\":[{\"values\":[1,-0.5]}]}", true},
        {PL_EMBED_OPENAI, "{\"data\":[]}", false},
        {PL_EMBED_OPENAI, "{\"data\":[{\"embedding\":[1]},{\"embedding\":[1]}]}", false},
        {PL_EMBED_OPENAI, "{\"data\":[{\"embedding\":7}]}", false},
        {PL_EMBED_OPENAI, "{\"data\":[7]}", false},
        {PL_EMBED_OPENAI, "{\"data\":{}}", false},
        {PL_EMBED_OPENAI, "[]", false},
        {PL_EMBED_OLLAMA, "{\"embeddings\":[7]}", false},
        {PL_EMBED_GEMINI, "{\"embeddings\":[[1]]}", false},
        {PL_EMBED_GEMINI, "{}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int wants_base64 = 0; wants_base64 < 2; wants_base64++) {
            PL_CLEANUP_ARENA struct pl_arena arena;
            PL_CLEANUP_BUF struct pl_buf out;
            pl_arena_init(&arena, 0);
            pl_buf_init(&out, 0);
            struct pl_json_doc doc;
            struct pl_error err = {0};
            struct pl_embed_asked asked = {cases[i].shape, PL_STR("m"), 1, wants_base64, 7};
            parse(&arena, cases[i].text, &doc);
            enum pl_status status = pl_embed_answer(&doc, &asked, &out, &err);
            assert_int_equal(status, cases[i].is_answer ? PL_OK : PL_INVALID);
            if (status == PL_OK)
                assert_text(&out, wants_base64 ? sealed : floats);
            else
                assert_true(err.message[0]);
        }
}

static void a_vector_that_cannot_be_read_is_refused(void **state)
{
    static const char *const bad[] = {
        "{\"data\":[{\"embedding\":\"AACAPw\"}]}",   /* no padding */
        "{\"data\":[{\"embedding\":\"AACA\"}]}",     /* three bytes */
        "{\"data\":[{\"embedding\":\"AACAfw==\"}]}", /* infinite */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf out;
        pl_arena_init(&arena, 0);
        pl_buf_init(&out, 0);
        struct pl_json_doc doc;
        struct pl_embed_asked asked = {PL_EMBED_OPENAI, PL_STR("m"), 1, false, 7};
        parse(&arena, bad[i], &doc);
        assert_false(pl_embed_fits(&doc, &asked));
        assert_int_equal(pl_embed_answer(&doc, &asked, &out, NULL), PL_INVALID);
    }
}

static void what_a_vendor_notes_for_itself_is_no_loss(void **state)
{
    (void)state;
    assert_true(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/store")));
    assert_true(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/text/format")));
    assert_true(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/output/12/id")));
    assert_false(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/output/12")));
    assert_false(
        pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/output/1/content")));
    assert_false(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("/storeroom")));
    assert_false(pl_answer_is_bookkeeping(&pl_format_openai_responses, PL_STR("")));
    assert_false(pl_answer_is_bookkeeping(&pl_format_openai_chat, PL_STR("/store")));
    assert_true(pl_answer_is_bookkeeping(&pl_format_openai_chat, PL_STR("/created")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read_or_refused_with_its_reason),
        cmocka_unit_test(a_request_is_said_in_other_shapes_and_what_is_lost_is_told),
        cmocka_unit_test(an_answer_comes_in_one_shape_whatever_it_was),
        cmocka_unit_test(a_vector_that_cannot_be_read_is_refused),
        cmocka_unit_test(what_a_vendor_notes_for_itself_is_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
