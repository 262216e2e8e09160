/* Redaction: names, patterns, known values, and text that stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/redact.h"

static void assert_redacted(const char *text, const char *wanted,
                            const struct pl_ext_secrets *secrets)
{
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    pl_ext_redact_text(&out, pl_str_of(text), secrets);
    assert_int_equal(out.status, PL_OK);
    if (!pl_str_eq(pl_buf_str(&out), pl_str_of(wanted)))
        fail_msg("%s became %.*s, not %s", text, (int)out.len, out.ptr, wanted);
}

static void names_are_secret_by_their_words(void **state)
{
    static const char *const secret[] = {"accessToken", "refresh_token", "X-API-KEY",
                                         "dbPassword",  "Set-Cookie",    "aws_secret_access_key",
                                         "bearer"};
    static const char *const plain[] = {"tokens", "max_tokens", "tokenizer", "mytoken",
                                        "aB",     "zZ",         "A1",        "1A",
                                        "key",    "author",     "session_id"};
    char longest[201];
    (void)state;
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        assert_true(pl_ext_is_secret_name(pl_str_of(secret[i])));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(pl_ext_is_secret_name(pl_str_of(plain[i])));
    assert_false(pl_ext_is_secret_name(PL_STR("")));
    assert_false(pl_ext_is_secret_name(PL_STR("a~Key~~b"))); /* no camel case */
    memset(longest, 'a', sizeof longest);
    assert_false(pl_ext_is_secret_name((struct pl_str){longest, 200}));
    assert_true(pl_ext_is_secret_name((struct pl_str){longest, 201}));
}

static void secrets_are_found_by_their_look(void **state)
{
    (void)state;
    assert_redacted("a sk-0123456789abcdef b", "a [REDACTED] b", NULL);
    assert_redacted("a sk-0123456789abcde b", "a sk-0123456789abcde b", NULL);
    assert_redacted("task-0123456789abcdefgh", "task-0123456789abcdefgh", NULL);
    assert_redacted("bearer ", "bearer ", NULL);
    assert_redacted("BEARER a.b=", "BEARER [REDACTED]", NULL);
    assert_redacted("bearer a!b", "bearer [REDACTED]!b", NULL);
    assert_redacted("bear", "bear", NULL);
    assert_redacted("forbearer abc", "forbearer abc", NULL);
    assert_redacted("eyJa.b", "eyJa.b", NULL);
    assert_redacted("eyJa!b.c", "eyJa!b.c", NULL);
    assert_redacted("eyJa..c", "eyJa..c", NULL);
    assert_redacted("eyJa.b.", "eyJa.b.", NULL);
    assert_redacted("eyJa.b.c!", "[REDACTED]!", NULL);
    assert_redacted("xeyJa.b.c", "xeyJa.b.c", NULL);
    assert_redacted("-----BEGIN X----- cut", "[REDACTED]", NULL);
    assert_redacted("-----BEGIN X----- a -----END X", "[REDACTED]", NULL);
    assert_redacted("-----BEGIN X----- a -----END X----- b", "[REDACTED] b", NULL);
}

static void an_address_keeps_its_host_and_path(void **state)
{
    (void)state;
    assert_redacted("see http://h/p?q=1 and HTTPS://u@h#f.", "see http://h/p and HTTPS://h", NULL);
    assert_redacted("https://h?token=1", "https://h", NULL);
    assert_redacted("https://a@b@h/x@y", "https://h/x@y", NULL);
    assert_redacted("\"https://h/?a\"", "\"https://h/\"", NULL);
    assert_redacted("http://", "http://", NULL);
    assert_redacted("https://h/sk-0123456789abcdef/x", "https://h/[REDACTED]/x", NULL);
}

static void known_values_are_found_anywhere(void **state)
{
    struct pl_str values[] = {PL_STR("hunter2hunter2"), PL_STR("short")};
    struct pl_ext_secrets secrets = {values, 2};
    (void)state;
    assert_redacted("xhunter2hunter2y", "x[REDACTED]y", &secrets);
    assert_redacted("short", "short", &secrets);
    assert_redacted("https://h/hunter2hunter2?x", "https://h/[REDACTED]", &secrets);
}

static void a_document_stays_json(void **state)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_json_doc doc;
    (void)state;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    assert_int_equal(
        pl_json_parse(
            &arena, PL_STR("{\"a\\u0022\":[1.50,null,true,{\"pass\\u0077ord\":[]}],\"b\":\"\\n\"}"),
            NULL, &doc, NULL),
        PL_OK);
    assert_int_equal(pl_ext_redact_json(&arena, &out, &doc, doc.root, NULL), PL_OK);
    assert_true(pl_str_eq(
        pl_buf_str(&out),
        PL_STR("{\"a\\\"\":[1.50,null,true,{\"password\":\"[REDACTED]\"}],\"b\":\"\\n\"}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_secret_by_their_words),
        cmocka_unit_test(secrets_are_found_by_their_look),
        cmocka_unit_test(an_address_keeps_its_host_and_path),
        cmocka_unit_test(known_values_are_found_anywhere),
        cmocka_unit_test(a_document_stays_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
