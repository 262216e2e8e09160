/* Addresses as text, and which of them are not public. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/address.h"

#include <stdio.h>

static void addresses_are_read_and_written_in_one_way(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"0.0.0.0", "0.0.0.0"},
        {"127.0.0.1", "127.0.0.1"},
        {"255.255.255.255", "255.255.255.255"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:DB8::00a1", "2001:db8::a1"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
        {"1:0:0:2:0:0:3:4", "1::2:0:0:3:4"}, /* the first of two runs */
        {"0:0:0:0:0:0:0:0", "::"},
        {"::ffff:127.0.0.1", "::ffff:7f00:1"},
        {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
        {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        struct pl_address address;
        pl_buf_init(&text, 0);
        assert_true(pl_address_parse(pl_str_of(cases[i].text), &address));
        pl_address_write(&address, &text);
        pl_buf_addc(&text, '\0');
        assert_string_equal(text.ptr, cases[i].written);
    }
}

static void what_is_no_address_is_told(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "1.2.3.04",
        "0x7f.0.0.1",
        "1.2.3.",
        ".1.2.3",
        "1..2.3",
        "1.2.3.4 ",
        " 1.2.3.4",
        "2130706433",
        ":",
        ":::",
        "1:",
        ":1",
        "1::2::3",
        "12345::",
        "1:2:3:4:5:6:7",
        "::g",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "fe80::1%lo",
        "[::1]",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::1.2.3",
        "::1.2.3.4:5",
        "::01.2.3.4",
        "1.2.3.4::",
        "::ffff:1.2.3.256",
    };
    struct pl_address address;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pl_address_parse(pl_str_of(cases[i]), &address))
            fail_msg("\"%s\" is taken for an address", cases[i]);
}

static void special_addresses_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"0.0.0.0", "unspecified"},
        {"0.1.2.3", "unspecified"},
        {"9.255.255.255", NULL},
        {"10.0.0.0", "private"},
        {"10.255.255.255", "private"},
        {"11.0.0.0", NULL},
        {"100.63.255.255", NULL},
        {"100.64.0.0", "shared"},
        {"100.127.255.255", "shared"},
        {"100.128.0.0", NULL},
        {"127.0.0.1", "loopback"},
        {"127.255.255.255", "loopback"},
        {"169.254.169.254", "link-local"},
        {"172.15.255.255", NULL},
        {"172.16.0.0", "private"},
        {"172.31.255.255", "private"},
        {"172.32.0.0", NULL},
        {"192.0.0.1", "reserved"},
        {"192.0.0.9", NULL},
        {"192.0.2.1", "documentation"},
        {"192.88.99.1", "reserved"},
        {"192.168.0.1", "private"},
        {"192.169.0.1", NULL},
        {"198.17.255.255", NULL},
        {"198.18.0.0", "benchmarking"},
        {"198.19.255.255", "benchmarking"},
        {"198.51.100.7", "documentation"},
        {"203.0.113.7", "documentation"},
        {"223.255.255.255", NULL},
        {"224.0.0.1", "multicast"},
        {"239.255.255.255", "multicast"},
        {"240.0.0.1", "reserved"},
        {"255.255.255.255", "broadcast"},
        {"8.8.8.8", NULL},
        {"::", "unspecified"},
        {"::1", "loopback"},
        {"::2", "unspecified"}, /* 0.0.0.2 inside */
        {"::127.0.0.1", "loopback"},
        {"::8.8.8.8", "reserved"},
        {"::ffff:127.0.0.1", "loopback"},
        {"::ffff:10.1.2.3", "private"},
        {"::ffff:8.8.8.8", "mapped"},
        {"::ffff:0:127.0.0.1", "loopback"},
        {"64:ff9b::127.0.0.1", "loopback"},
        {"64:ff9b::169.254.169.254", "link-local"},
        {"64:ff9b::8.8.8.8", NULL},
        {"64:ff9b:1::8.8.8.8", "private"},
        {"100::1", "discard"},
        {"2001::1", "unspecified"},                   /* Teredo server 0.0.0.0 */
        {"2001:0:808:808:0:0:f7f7:f7f7", NULL},       /* 8.8.8.8 and 8.8.8.8 */
        {"2001:0:808:808:0:0:80ff:fffe", "loopback"}, /* 127.0.0.1, inverted */
        {"2001:0:7f00:1:0:0:f7f7:f7f7", "loopback"},
        {"2001:1::1", NULL},
        {"2001:1::4", "reserved"},
        {"2001:2::1", "benchmarking"},
        {"2001:10::1", "reserved"},
        {"2001:20::1", NULL},
        {"2001:200::1", NULL},
        {"2001:db8::1", "documentation"},
        {"2001:4860:4860::8888", NULL},
        {"2002:7f00:1::1", "loopback"},
        {"2002:c0a8:101::1", "private"},
        {"2002:808:808::1", NULL},
        {"2606:4700::1111", NULL},
        {"3fff::1", "documentation"},
        {"4000::1", "reserved"},
        {"5f00::1", "reserved"},
        {"fc00::1", "private"},
        {"fdff::1", "private"},
        {"fe80::1", "link-local"},
        {"febf::1", "link-local"},
        {"fec0::1", "private"},
        {"ff02::1", "multicast"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_address address;
        assert_true(pl_address_parse(pl_str_of(cases[i].text), &address));
        const char *word = pl_address_special(&address);
        const char *is = word ? word : "global",
                   *expected = cases[i].word ? cases[i].word : "global";
        if (strcmp(is, expected) != 0)
            fail_msg("%s is %s, not %s", cases[i].text, expected, is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read_and_written_in_one_way),
        cmocka_unit_test(what_is_no_address_is_told),
        cmocka_unit_test(special_addresses_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
