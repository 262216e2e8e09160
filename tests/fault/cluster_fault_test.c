/* Letters between nodes with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/node_link.h"
#include "fault/fault.h"
#include "unit/cluster/seal.h"

static uint64_t secret[2] = {1, 2};
static const struct pl_node_seal seal = {seal_make, secret};
static const struct pl_node_id me = {{1}}, you = {{2}};

static enum pl_status writes_a_beat(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf body, letters;
    pl_buf_init(&body, 0);
    pl_buf_init(&letters, 0);
    for (uint64_t i = 0; i < 100; i++)
        pl_node_beat_add(&body, &you, i);
    if (body.status != PL_OK)
        return body.status;
    struct pl_node_letter letter = {PL_NODE_LETTER_BEAT, me, .body = pl_buf_str(&body)};
    enum pl_status status = pl_node_letter_write(&letter, &seal, &you, &letters);
    if (status != PL_OK) {
        assert_int_equal(letters.len, 0);
        return status;
    }
    struct pl_node_letter got = {0};
    assert_int_equal(pl_node_letter_read(pl_buf_str(&letters), &seal, &you, &got),
                     PL_NODE_LETTER_IS_GOOD);
    uint64_t last = 0;
    status = pl_node_beat_find(got.body, &you, &last);
    assert_int_equal(last, 99);
    return status;
}

static void a_letter_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(writes_a_beat, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
