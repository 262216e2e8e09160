/* words/ survives running out of memory: it returns an error, and nothing leaks. */
#include "fault/fault.h"
#include "words/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static enum pl_status say(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    (void)pl_words_add(&said,
                       PL_STR("standard output: unknown option \"--a\"; did you mean \"--b\"?"));
    return said.status;
}

static void saying(void **state)
{
    (void)state;
    assert_true(pl_fault_each(say, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(saying)};
    return cmocka_run_group_tests_name("fault/words", tests, NULL, NULL);
}
