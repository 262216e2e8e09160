/* Queued letters: their order, their counts, and which share a parcel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/queue.h"

static const struct pl_node_id a = {{1}}, b = {{2}}, all;

static struct pl_bus_queue made(void)
{
    struct pl_bus_queue queue;
    pl_bus_queue_init(&queue);
    return queue;
}

/* Each letter has one byte. */
static void push(struct pl_bus_queue *queue, const struct pl_node_id *to, const char *letters)
{
    if (!queue->first)
        queue->end = &queue->first;
    for (; *letters; letters++)
        assert_int_equal(
            pl_bus_queue_push(queue, to, pl_node_id_is_zero(to), (struct pl_str){letters, 1}, 7),
            PL_OK);
}

static const char *spelled(const struct pl_bus_item *items)
{
    static char text[64];
    size_t n = 0;
    for (; items; items = items->next)
        text[n++] = pl_bus_item_letter(items).ptr[0];
    text[n] = '\0';
    return text;
}

enum { EACH = PL_PARCEL_HEAD + 1 };

static void letters_leave_in_the_order_they_came(void **state)
{
    (void)state;
    struct pl_bus_queue queue = made();
    push(&queue, &a, "12");
    push(&queue, &b, "3");
    push(&queue, &a, "4");
    struct pl_bus_item *first = pl_bus_queue_take(&queue, 3 * EACH);
    assert_string_equal(spelled(first), "123");
    assert_int_equal(first->at_ms, 7);
    push(&queue, &b, "5");
    struct pl_bus_item *rest = pl_bus_queue_take(&queue, 1000);
    assert_string_equal(spelled(rest), "45");
    assert_null(pl_bus_queue_take(&queue, 1000));
    push(&queue, &b, "6");
    pl_bus_queue_settle(&queue, first);
    pl_bus_queue_settle(&queue, rest);
    first = pl_bus_queue_take(&queue, 0);
    assert_string_equal(spelled(first), "6");
    pl_bus_queue_settle(&queue, first);
    assert_int_equal(queue.n_bytes, 0);
    pl_bus_queue_deinit(&queue);
}

static void what_is_in_hand_still_counts(void **state)
{
    (void)state;
    struct pl_bus_queue queue = made();
    push(&queue, &a, "12");
    push(&queue, &all, "3");
    struct pl_bus_item *items = pl_bus_queue_take(&queue, 1000);
    assert_int_equal(pl_bus_queue_waiting(&queue, &a), 2 * EACH);
    assert_int_equal(pl_bus_queue_waiting(&queue, &all), EACH);
    assert_int_equal(pl_bus_queue_waiting(&queue, &b), 0);
    assert_int_equal(queue.n_bytes, 3 * EACH);
    pl_bus_queue_settle(&queue, items);
    assert_int_equal(pl_bus_queue_waiting(&queue, &a), 0);
    assert_int_equal(queue.n_bytes, 0);
    assert_int_equal(queue.counts.len, 0);
    pl_bus_queue_deinit(&queue);
}

static void what_is_moved_counts_elsewhere(void **state)
{
    (void)state;
    struct pl_bus_queue from = made(), to = made();
    push(&to, &a, "1");
    push(&from, &a, "2");
    push(&from, &b, "34");
    pl_bus_queue_move(&from, pl_bus_queue_take(&from, 2 * EACH), &to);
    assert_int_equal(from.n_bytes, EACH);
    assert_int_equal(pl_bus_queue_waiting(&to, &a), 2 * EACH);
    assert_int_equal(pl_bus_queue_waiting(&to, &b), EACH);
    struct pl_bus_item *items = pl_bus_queue_take(&to, 1000);
    assert_string_equal(spelled(items), "123");
    pl_bus_queue_settle(&to, items);
    pl_bus_queue_deinit(&from);
    pl_bus_queue_deinit(&to);
}

static void assert_gathers(struct pl_bus_queue *queue, struct pl_bus_item **items, size_t max,
                           const char *expected)
{
    struct pl_bus_item *together = pl_bus_items_gather(items, max);
    assert_string_equal(spelled(together), expected);
    pl_bus_queue_settle(queue, together);
}

static void letters_to_one_receiver_go_together(void **state)
{
    (void)state;
    struct pl_bus_queue queue = made();
    push(&queue, &a, "1");
    push(&queue, &b, "2");
    push(&queue, &a, "34");
    push(&queue, &b, "5");
    struct pl_bus_item *items = pl_bus_queue_take(&queue, 1000);
    assert_gathers(&queue, &items, 1000, "134");
    assert_gathers(&queue, &items, 1000, "25");
    assert_gathers(&queue, &items, 1000, "");
    pl_bus_queue_deinit(&queue);
}

/* If a letter is too large for this parcel, no later one passes it. */
static void a_full_parcel_ends(void **state)
{
    (void)state;
    struct pl_bus_queue queue = made();
    push(&queue, &a, "1");
    assert_int_equal(pl_bus_queue_push(&queue, &a, false, PL_STR("2 is long"), 7), PL_OK);
    push(&queue, &a, "3");
    struct pl_bus_item *items = pl_bus_queue_take(&queue, 1000);
    assert_gathers(&queue, &items, 2 * EACH, "1");
    assert_gathers(&queue, &items, 2 * EACH, "2");
    assert_gathers(&queue, &items, 2 * EACH, "3");
    pl_bus_queue_deinit(&queue);
}

static void nothing_passes_a_letter_to_all(void **state)
{
    (void)state;
    struct pl_bus_queue queue = made();
    push(&queue, &a, "1");
    push(&queue, &b, "2");
    push(&queue, &all, "34");
    push(&queue, &a, "5");
    push(&queue, &all, "6");
    struct pl_bus_item *items = pl_bus_queue_take(&queue, 1000);
    static const char *const expected[] = {"1", "2", "34", "5", "6"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_gathers(&queue, &items, 1000, expected[i]);
    assert_null(items);
    pl_bus_queue_deinit(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_leave_in_the_order_they_came),
        cmocka_unit_test(what_is_in_hand_still_counts),
        cmocka_unit_test(what_is_moved_counts_elsewhere),
        cmocka_unit_test(letters_to_one_receiver_go_together),
        cmocka_unit_test(a_full_parcel_ends),
        cmocka_unit_test(nothing_passes_a_letter_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
