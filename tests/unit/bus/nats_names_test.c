/* Server addresses and subjects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bus/nats_names.h"

static const struct pl_node_id a = {{0xab, 0x01}}, b = {{2}}, everybody;

#define A "ab010000000000000000000000000000"
#define B "02000000000000000000000000000000"

static void an_address_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        bool is_secure;
    } right[] = {
        {"nats://localhost", "localhost", false},
        {"nats://localhost:4222", "localhost", false},
        {"tls://bus-1.example.org:443", "bus-1.example.org", true},
        {"nats://user:pa@ss@10.0.0.1:1", "10.0.0.1", false},
        {"tls://[::1]:4222", "::1", true},
        {"nats://[fe80::1]", "fe80::1", false},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct pl_nats_address address;
        assert_true(pl_nats_read_address(pl_str_of(right[i].text), &address));
        assert_true(pl_str_eq(address.host, pl_str_of(right[i].host)));
        assert_int_equal(address.is_secure, right[i].is_secure);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "nats",
                                        "nats:",
                                        "nats:/a",
                                        "NATS://a",
                                        "http://a",
                                        "nats://",
                                        "nats://:4222",
                                        "nats://a:",
                                        "nats://a:0",
                                        "nats://a:x",
                                        "nats://a:+1",
                                        "nats://a:65536",
                                        "nats://a/b",
                                        "nats://a:1/b",
                                        "nats://[a",
                                        "nats://[]:1",
                                        "nats://[::1]4222",
                                        "nats://user@",
                                        "nats://a\n:1",
                                        "nats://a:000000001",
                                        "nats://a:1:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_nats_address address;
        if (pl_nats_read_address(pl_str_of(wrong[i]), &address))
            fail_msg("%s", wrong[i]);
    }
}

static enum pl_status check(const char *list, size_t *ret_n)
{
    return pl_nats_check_addresses(pl_str_of(list), ret_n, NULL);
}

static void a_list_has_addresses_of_one_kind(void **state)
{
    (void)state;
    size_t n = 0;
    assert_int_equal(check("nats://a:1", &n), PL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(check("tls://a:1,tls://b,tls://c", &n), PL_OK);
    assert_int_equal(n, 3);
    assert_int_equal(check("nats://a:1,", &n), PL_INVALID);
    assert_int_equal(check(",nats://a:1", &n), PL_INVALID);
    assert_int_equal(check("nats://a,tls://b", &n), PL_INVALID);
    assert_int_equal(n, 3);
}

static void a_cluster_is_one_word(void **state)
{
    (void)state;
    char longest[PL_NATS_CLUSTER_MAX + 2];
    memset(longest, 'a', sizeof longest);
    assert_true(pl_nats_is_cluster(PL_STR("Main_2-x")));
    assert_true(pl_nats_is_cluster((struct pl_str){longest, PL_NATS_CLUSTER_MAX}));
    assert_false(pl_nats_is_cluster((struct pl_str){longest, PL_NATS_CLUSTER_MAX + 1}));
    static const char *const wrong[] = {"", "a.b", "*", ">", "a b", "a\t"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pl_nats_is_cluster(pl_str_of(wrong[i])));
}

static void subjects_say_who(void **state)
{
    (void)state;
    struct pl_str main = PL_STR("main");
    assert_string_equal(pl_nats_subject_to(main, &a).text, "parley.main.n." A);
    assert_string_equal(pl_nats_subject_to(main, &everybody).text, "parley.main.all");
    assert_string_equal(pl_nats_reply(main, &a, &b).text, "parley.main.r." A "." B);
    assert_string_equal(pl_nats_reply(main, &a, &everybody).text, "parley.main.r." A ".all");
    assert_string_equal(pl_nats_replies(main, &a).text, "parley.main.r." A ".*");
}

static void a_reply_subject_is_read(void **state)
{
    (void)state;
    struct pl_str main = PL_STR("main");
    struct pl_node_id from, to;
    assert_true(pl_nats_read_reply(main, "parley.main.r." A "." B, &from, &to));
    assert_true(pl_node_id_eq(&from, &a) && pl_node_id_eq(&to, &b));
    assert_true(pl_nats_read_reply(main, "parley.main.r." B ".all", &from, &to));
    assert_true(pl_node_id_eq(&from, &b) && pl_node_id_is_zero(&to));
    static const char *const wrong[] = {"",
                                        "parley.main.r.",
                                        "parley.main.r." A,
                                        "parley.main.r." A ".",
                                        "parley.main.r." A ".0",
                                        "parley.main.r." A "." B "0",
                                        "parley.main.r." A "x" B,
                                        "parley.main.r.x.all",
                                        "parley.other.r." A ".all",
                                        "parley.main.n." A,
                                        "_INBOX.a.b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pl_nats_read_reply(main, wrong[i], &from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_read),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(a_list_has_addresses_of_one_kind),
        cmocka_unit_test(a_cluster_is_one_word),
        cmocka_unit_test(subjects_say_who),
        cmocka_unit_test(a_reply_subject_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
