/* ID tokens: the examples of RFC 7515 (A.2, A.3) with their keys, and with each of their bytes
 * changed. */
#include "access/oidc/attempt.h"
#include "access/oidc/id_token.h"
#include "access/oidc/provider.h"
#include "http/reply/base64url.h"
#include "io/tls/signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PAYLOAD                                                                                    \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "f"                                                                                            \
    "Q"
#define N                                                                                          \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4" \
    "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re" \
    "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX" \
    "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define RSA_TOKEN                                                                                  \
    "eyJhbGciOiJSUzI1NiJ9." PAYLOAD                                                                \
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp" \
    "5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHl" \
    "b1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9Q" \
    "OYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
#define EC_TOKEN                                                                                   \
    "eyJhbGciOiJFUzI1NiJ9." PAYLOAD                                                                \
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
#define X          "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y          "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define RSA        "{\"kty\":\"RSA\",\"n\":\"" N "\",\"e\":\"AQAB\"}"
#define EC         "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}"
#define KEYS(list) "{\"keys\":[" list "]}"

static enum pl_status check(const char *keys, struct pl_str token, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc claims;
    const struct pl_id_token_rules rules = {.keys = pl_str_of(keys),
                                            .issuer = PL_STR("joe"),
                                            .client_id = PL_STR("us"),
                                            .nonce = PL_STR("n")};
    return pl_id_token_check(&arena, token, &rules, &claims, err);
}

/* After a valid signature the claims are checked; these are for another client. */
static void right_signatures_are_seen(void **state)
{
    (void)state;
    const char *const tokens[] = {RSA_TOKEN, EC_TOKEN};
    const char *const sets[] = {KEYS(RSA "," EC), KEYS("5,{}," EC "," RSA),
                                KEYS("{\"kty\":\"oct\",\"k\":\"AQ\"}," RSA "," EC)};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            struct pl_error err = {0};
            assert_int_equal(check(sets[k], pl_str_of(tokens[i]), &err), PL_INVALID);
            assert_non_null(strstr(err.message, "another client"));
        }
}

static void a_key_that_is_not_there_may_be_new(void **state)
{
    (void)state;
    struct pl_error err = {0};
    assert_int_equal(check(KEYS(EC), pl_str_of(RSA_TOKEN), &err), PL_NOT_FOUND);
    assert_int_equal(check(KEYS(RSA), pl_str_of(EC_TOKEN), &err), PL_NOT_FOUND);
    assert_int_equal(check(KEYS(""), pl_str_of(RSA_TOKEN), &err), PL_NOT_FOUND);
    const char *const wrong[] = {"", "[]", "{}", "{\"keys\":{}}", "{\"keys\":5}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(check(wrong[i], pl_str_of(RSA_TOKEN), &err), PL_INVALID);
}

static void no_changed_byte_passes(void **state)
{
    (void)state;
    const char *const tokens[] = {RSA_TOKEN, EC_TOKEN};
    char text[1024];
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(tokens[i]);
        for (size_t at = 0; at < n; at++) {
            struct pl_error err = {0};
            memcpy(text, tokens[i], n);
            text[at] = text[at] == 'A' ? 'B' : 'A';
            enum pl_status status = check(KEYS(RSA "," EC), (struct pl_str){text, n}, &err);
            assert_true(status == PL_INVALID || status == PL_NOT_FOUND);
            assert_null(strstr(err.message, "another client"));
            status = check(KEYS(RSA "," EC), (struct pl_str){tokens[i], at}, &err);
            assert_true(status == PL_INVALID || status == PL_NOT_FOUND);
        }
    }
}

static struct pl_str decoded(struct pl_arena *arena, const char *text)
{
    struct pl_str bytes = {0};
    assert_true(pl_base64url_decode(arena, pl_str_of(text), &bytes));
    return bytes;
}

static void keys_of_a_wrong_size_are_no_keys(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str n = decoded(&arena, N), e = decoded(&arena, "AQAB");
    struct pl_str x = decoded(&arena, X), y = decoded(&arena, Y), zeros = {"\0\0\0\0\0\0\0\0", 8};
    struct pl_str signature = {x.ptr, 32};
    const struct pl_public_key wrong[] = {
        {.kind = PL_SIGNATURE_RS256, .n = pl_str_slice(n, 0, 255), .e = e},
        {.kind = PL_SIGNATURE_RS256, .n = n},
        {.kind = PL_SIGNATURE_RS256, .e = e},
        {.kind = PL_SIGNATURE_RS256, .n = n, .e = {n.ptr, 9}},
        {.kind = PL_SIGNATURE_ES256, .x = x, .y = pl_str_slice(y, 1, 32)},
        {.kind = PL_SIGNATURE_ES256, .x = x},
        {.kind = PL_SIGNATURE_ES256, .n = n, .e = e},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pl_signature_check(&wrong[i], PL_STR("m"), signature, NULL),
                         PL_UNREADABLE);
    char both[64] = {1};
    struct pl_public_key off = {.kind = PL_SIGNATURE_ES256, .x = x, .y = x};
    assert_int_equal(pl_signature_check(&off, PL_STR("m"), (struct pl_str){both, 64}, NULL),
                     PL_UNREADABLE);
    struct pl_public_key good = {.kind = PL_SIGNATURE_ES256, .x = x, .y = y};
    assert_int_equal(pl_signature_check(&good, PL_STR("m"), (struct pl_str){both, 63}, NULL),
                     PL_INVALID);
    assert_int_equal(pl_signature_check(&good, PL_STR("m"), (struct pl_str){both, 64}, NULL),
                     PL_INVALID);
    struct pl_public_key rsa = {.kind = PL_SIGNATURE_RS256, .n = n, .e = e};
    assert_int_equal(pl_signature_check(&rsa, PL_STR("m"), zeros, NULL), PL_INVALID);
}

static void an_attempt_is_its_cookie(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf one, two;
    pl_buf_init(&one, 0);
    pl_buf_init(&two, 0);
    struct pl_oidc_attempt a, b;
    assert_true(pl_oidc_attempt_make(5, PL_STR("/x?y"), &one));
    assert_true(pl_oidc_attempt_make(5, PL_STR("/x?y"), &two));
    assert_true(pl_oidc_attempt_read(&arena, pl_buf_str(&one), &a));
    assert_true(pl_oidc_attempt_read(&arena, pl_buf_str(&one), &b));
    assert_string_equal(a.state, b.state);
    assert_string_equal(a.challenge, b.challenge);
    assert_true(pl_str_eq(a.return_to, PL_STR("/x?y")) && a.begun_ms == 5);
    assert_true(pl_oidc_attempt_read(&arena, pl_buf_str(&two), &b));
    assert_string_not_equal(a.state, b.state);
    assert_string_not_equal(a.nonce, b.nonce);
    assert_string_not_equal(a.verifier, b.verifier);
}

static void urls_that_may_be_asked(void **state)
{
    (void)state;
    const char *const good[] = {"https://a.example", "https://a.example/x?y=1",
                                "http://127.0.0.1:5/x", "http://localhost/", "http://[::1]:80/"};
    const char *const bad[] = {"",
                               "x",
                               "http://a.example",
                               "http://10.0.0.1",
                               "https://u@a.example",
                               "https://u:p@a.example",
                               "https://a.example#x",
                               "https://a.example/ x",
                               "https://a.example/\r\nX: y",
                               "ftp://127.0.0.1",

                               "file:///etc/passwd"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(pl_oidc_url_is_good(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pl_oidc_url_is_good(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_signatures_are_seen),
        cmocka_unit_test(a_key_that_is_not_there_may_be_new),
        cmocka_unit_test(no_changed_byte_passes),
        cmocka_unit_test(keys_of_a_wrong_size_are_no_keys),
        cmocka_unit_test(an_attempt_is_its_cookie),
        cmocka_unit_test(urls_that_may_be_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
