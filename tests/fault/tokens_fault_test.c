/* tokens/ survives running out of memory: the status says so, outputs stay unchanged, nothing
 * leaks. */
#include "fault/fault.h"
#include "tokens/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct pl_tokens *vocabulary;

/* A word too long for the buffer on the stack, between short ones. */
static char long_text[5000];

static int make_vocabulary(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = i < 500 ? "some words "[i % 11] : "qxzjvk"[i * i % 6];
    return pl_tokens_create(PL_ENCODING_CL100K_BASE, &vocabulary) != PL_OK;
}

static int drop_vocabulary(void **state)
{
    (void)state;
    pl_tokens_destroy(vocabulary);
    return 0;
}

static enum pl_status create(void *ctx)
{
    struct pl_tokens *made = NULL;
    enum pl_status status = pl_tokens_create(*(enum pl_encoding *)ctx, &made);
    assert_int_equal(made != NULL, status == PL_OK);
    pl_tokens_destroy(made);
    return status;
}

static enum pl_status count(void *ctx)
{
    (void)ctx;
    size_t n = SIZE_MAX;
    struct pl_str text = {long_text, sizeof long_text};
    enum pl_status status = pl_tokens_count(vocabulary, text, PL_SPECIAL_AS_TEXT, &n);
    assert_int_equal(n != SIZE_MAX, status == PL_OK);
    return status;
}

static enum pl_status encode_twice_and_decode(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_TOKEN_IDS struct pl_token_ids ids = {0};
    PL_CLEANUP_BUF struct pl_buf back;
    pl_buf_init(&back, 0);
    struct pl_str text = {long_text, sizeof long_text};
    enum pl_status status =
        pl_tokens_encode(vocabulary, PL_STR("hello world"), PL_SPECIAL_AS_TEXT, &ids);
    assert_int_equal(ids.len, status == PL_OK ? 2 : 0);
    if (status != PL_OK)
        return status;
    status = pl_tokens_encode(vocabulary, text, PL_SPECIAL_AS_TOKEN, &ids);
    if (status != PL_OK) {
        assert_int_equal(ids.len, 2);
        return status;
    }
    status = pl_tokens_decode(vocabulary, ids.ptr, ids.len, &back);
    assert_int_equal(back.len, status == PL_OK ? 11 + sizeof long_text : 0);
    return status;
}

static void making_a_vocabulary(void **state)
{
    (void)state;
    enum pl_encoding encoding = PL_ENCODING_O200K_BASE;
    assert_true(pl_fault_each(create, &encoding) > 5);
}

static void counting_a_long_word(void **state)
{
    (void)state;
    assert_true(pl_fault_each(count, NULL) > 1);
}

static void encoding_and_decoding(void **state)
{
    (void)state;
    assert_true(pl_fault_each(encode_twice_and_decode, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making_a_vocabulary),
        cmocka_unit_test(counting_a_long_word),
        cmocka_unit_test(encoding_and_decoding),
    };
    return cmocka_run_group_tests_name("fault/tokens", tests, make_vocabulary, drop_vocabulary);
}
