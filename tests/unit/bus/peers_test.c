/* The state of other nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/peers.h"

static const struct pl_node_id a = {{1}}, b = {{2}};

static void a_parcel_is_accepted_once_and_never_after_a_later_one(void **state)
{
    (void)state;
    struct pl_bus_peers peers = {0};
    assert_true(pl_bus_peers_accept(&peers, &a, 5));
    assert_false(pl_bus_peers_accept(&peers, &a, 5));
    assert_false(pl_bus_peers_accept(&peers, &a, 4));
    assert_true(pl_bus_peers_accept(&peers, &b, 4));
    assert_true(pl_bus_peers_accept(&peers, &a, 9));
    assert_false(pl_bus_peers_accept(&peers, &b, 0));
}

static void a_node_is_unheard_until_something_comes(void **state)
{
    (void)state;
    struct pl_bus_peers peers = {0};
    assert_null(pl_bus_peers_find(&peers, &a));
    pl_bus_peers_miss(&peers, &a);
    assert_int_equal(pl_bus_peers_find(&peers, &a)->state, PL_BUS_PEER_UNHEARD);
    /* Heard through the store: it is alive, but not on NATS. */
    assert_true(pl_bus_peers_accept(&peers, &a, 1));
    assert_int_equal(pl_bus_peers_find(&peers, &a)->state, PL_BUS_PEER_BY_STORE);
    assert_true(pl_bus_peer_is_off_nats(pl_bus_peers_find(&peers, &a)));
    pl_bus_peers_hear(&peers, &a);
    assert_int_equal(pl_bus_peers_find(&peers, &a)->state, PL_BUS_PEER_FINE);
    /* NATS reports again that nobody listens, after only a parcel came. */
    pl_bus_peers_miss(&peers, &a);
    assert_true(pl_bus_peers_accept(&peers, &a, 2));
    pl_bus_peers_miss(&peers, &a);
    pl_bus_peers_miss(&peers, &a);
    assert_int_equal(pl_bus_peers_find(&peers, &a)->state, PL_BUS_PEER_UNHEARD);
    pl_bus_peers_hear(&peers, &a);
    /* The number of its last parcel is still known. */
    assert_false(pl_bus_peers_accept(&peers, &a, 1));
    pl_bus_peers_miss(&peers, &a);
    pl_bus_peers_arrive(&peers);
    assert_false(pl_bus_peer_is_off_nats(pl_bus_peers_find(&peers, &a)));
    assert_int_equal(pl_bus_peers_find(&peers, &a)->state, PL_BUS_PEER_FINE);
    pl_bus_peers_forget(&peers, &a);
    assert_null(pl_bus_peers_find(&peers, &a));
    pl_bus_peers_forget(&peers, &a);
}

static void who_was_not_heard_of_for_longest_makes_room(void **state)
{
    (void)state;
    static struct pl_bus_peers peers;
    for (unsigned i = 0; i < PL_BUS_PEERS_MAX; i++) {
        struct pl_node_id node = {{1, (unsigned char)i}};
        pl_bus_peers_hear(&peers, &node);
    }
    struct pl_node_id first = {{1, 0}}, second = {{1, 1}};
    pl_bus_peers_hear(&peers, &first);
    pl_bus_peers_hear(&peers, &b);
    assert_int_equal(peers.n, PL_BUS_PEERS_MAX);
    assert_non_null(pl_bus_peers_find(&peers, &first));
    assert_non_null(pl_bus_peers_find(&peers, &b));
    assert_null(pl_bus_peers_find(&peers, &second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parcel_is_accepted_once_and_never_after_a_later_one),
        cmocka_unit_test(a_node_is_unheard_until_something_comes),
        cmocka_unit_test(who_was_not_heard_of_for_longest_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
