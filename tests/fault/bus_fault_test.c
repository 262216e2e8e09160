/* A bus of one process, and the queues of all buses, with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/bus.h"
#include "bus/queue.h"
#include "fault/fault.h"

static const struct pl_node_id me = {{1}}, you = {{2}};

static void ignore(void *ctx, struct pl_str bytes, bool is_to_all)
{
    (void)ctx;
    (void)bytes;
    (void)is_to_all;
}

static enum pl_status sends_a_letter_to_itself(void *ctx)
{
    (void)ctx;
    struct pl_bus *bus = NULL;
    struct pl_bus_config config = {.me = me, .on_letter = ignore};
    enum pl_status status = pl_bus_open(&config, &bus, NULL);
    if (status != PL_OK) {
        assert_null(bus);
        return status;
    }
    status = pl_bus_send(bus, &me, PL_STR("letter"), false);
    pl_bus_close(bus);
    return status;
}

static enum pl_status queues_letters(void *ctx)
{
    (void)ctx;
    struct pl_bus_queue queue;
    pl_bus_queue_init(&queue);
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < 20; i++) {
        size_t before = queue.n_bytes;
        status = pl_bus_queue_push(&queue, i % 2 ? &me : &you, false, PL_STR("letter"), 0);
        if (status != PL_OK)
            assert_int_equal(queue.n_bytes, before);
    }
    pl_bus_queue_deinit(&queue);
    return status;
}

/* A letter that the receiver cannot count is dropped, and nothing else. */
static enum pl_status moves_letters(void *ctx)
{
    (void)ctx;
    struct pl_bus_queue from, to;
    pl_bus_queue_init(&from);
    pl_bus_queue_init(&to);
    enum pl_status status = pl_bus_queue_push(&from, &me, false, PL_STR("letter"), 0);
    if (status == PL_OK)
        status = pl_bus_queue_push(&from, &you, false, PL_STR("letter"), 0);
    struct pl_bus_item *items = pl_bus_queue_take(&from, 1000);
    pl_bus_queue_move(&from, items, &to);
    assert_int_equal(from.n_bytes, 0);
    pl_bus_queue_settle(&to, pl_bus_queue_take(&to, 1000));
    assert_int_equal(to.n_bytes, 0);
    pl_bus_queue_deinit(&from);
    pl_bus_queue_deinit(&to);
    return status;
}

static void a_bus_survives(void **state)
{
    (void)state;
    assert_true(pl_fault_each(sends_a_letter_to_itself, NULL) > 2);
    assert_true(pl_fault_each(queues_letters, NULL) > 20);
    assert_true(pl_fault_each_tolerant(moves_letters, NULL, PL_OK) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bus_survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
