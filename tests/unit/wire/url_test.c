/* Parsing URLs; conformance/url_test.c has the web platform's own cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/url.h"

#include <stdlib.h>

static int setup(void **state)
{
    struct pl_arena *arena = malloc(sizeof *arena);
    if (!arena)
        return 1;
    pl_arena_init(arena, 0);
    *state = arena;
    return 0;
}

static int teardown(void **state)
{
    pl_arena_deinit(*state);
    free(*state);
    return 0;
}

static struct pl_url parse(struct pl_arena *arena, const char *text)
{
    struct pl_url url;
    struct pl_error err = {0};
    if (pl_url_parse(arena, pl_str_of(text), NULL, &url, &err) != PL_OK)
        fail_msg("%s: %s", text, err.message);
    return url;
}

#define assert_str(str, literal) assert_true(pl_str_eq(str, PL_STR(literal)))

static void a_url_has_its_parts(void **state)
{
    struct pl_url url = parse(*state, " HTTPS://Ann:p%40ss@EXAMPLE.org:8443/a/../b c?q='x'#f g\n");
    assert_str(url.scheme, "https");
    assert_str(url.username, "Ann");
    assert_str(url.password, "p%40ss");
    assert_int_equal(url.host_kind, PL_URL_HOST_DOMAIN);
    assert_str(url.host, "example.org");
    assert_int_equal(url.port, 8443);
    assert_str(url.path, "/b%20c");
    assert_false(url.has_opaque_path);
    assert_str(url.query, "q=%27x%27");
    assert_str(url.fragment, "f%20g");
}

static void what_is_not_there_is_null(void **state)
{
    struct pl_url url = parse(*state, "https://example.org:443");
    assert_int_equal(url.username.len, 0);
    assert_int_equal(url.port, -1);
    assert_str(url.path, "/");
    assert_null(url.query.ptr);
    assert_null(url.fragment.ptr);
    url = parse(*state, "https://example.org/?#");
    assert_non_null(url.query.ptr);
    assert_int_equal(url.query.len, 0);
    assert_non_null(url.fragment.ptr);
}

static void every_spelling_of_an_address_is_that_address(void **state)
{
    static const char *const loopback[] = {
        "http://127.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7F.1/",
        "http://017700000001",
        "http://0177.0.0.01/",
        "http://127.0.0.1./",
        "http://%31%32%37.1/",
        "http://\uFF11\uFF12\uFF17.1/",
        "http://127\u30021/",
        "http://\u2460\u2461\u2466.0.0.1/",
        "http://user@127.1:80/",
    };
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
        struct pl_url url = parse(*state, loopback[i]);
        assert_int_equal(url.host_kind, PL_URL_HOST_ADDRESS);
        assert_str(url.host, "127.0.0.1");
        assert_false(url.address.is_v6);
        assert_memory_equal(url.address.bytes, "\x7F\0\0\1", 4);
    }
    struct pl_url url = parse(*state, "http://[::FFFF:127.0.0.1]:8080/");
    assert_str(url.host, "[::ffff:7f00:1]");
    assert_true(url.address.is_v6);
    assert_string_equal(pl_address_special(&url.address), "loopback");
}

static void the_host_is_what_stands_behind_the_last_at_sign(void **state)
{
    struct pl_url url = parse(*state, "http://good.example@127.0.0.1/");
    assert_str(url.host, "127.0.0.1");
    assert_str(url.username, "good.example");
    url = parse(*state, "http://a@b@c:80/");
    assert_str(url.host, "c");
    assert_str(url.username, "a%40b");
    url = parse(*state, "http://127.0.0.1#@good.example/");
    assert_str(url.host, "127.0.0.1");
    url = parse(*state, "http://127.0.0.1\\@good.example/");
    assert_str(url.host, "127.0.0.1");
    assert_str(url.path, "/@good.example/");
    url = parse(*state, "http:\\\\127.0.0.1");
    assert_str(url.host, "127.0.0.1");
}

static void names_of_the_world_become_ascii(void **state)
{
    assert_str(parse(*state, "https://B\u00FCcher.example").host, "xn--bcher-kva.example");
    assert_str(parse(*state, "https://fa\u00DF.de").host, "xn--fa-hia.de");
    assert_str(parse(*state, "https://FA\u1E9E.de").host, "xn--fa-hia.de");
    assert_str(parse(*state, "https://\u2603.net").host, "xn--n3h.net");
    assert_str(parse(*state, "https://ex\u00ADample.org").host, "example.org");
    assert_str(parse(*state, "https://XN--FA-HIA.de").host, "xn--fa-hia.de");
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"", "no scheme"},
        {"/path", "no scheme"},
        {"https://", "no host"},
        {"https://user@/", "no host"},
        {"https://:80/", "no host"},
        {"https://a:b/", "not a number"},
        {"https://a:65536/", "65535"},
        {"https://[::1/", "IPv6"},
        {"https://[1.2.3.4]/", "IPv6"},
        {"https://1.2.3.4.5/", "IPv4"},
        {"https://256.1/", "IPv4"},
        {"https://a.0x100000000", "IPv4"},
        {"https://a b/", "character"},
        {"https://a%00b/", "not text"},
        {"https://a%ffb/", "not text"},
        {"https://\u00AD/", "empty"},
        {"https://\uFFFD/", "international"},
        {"\xFF", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_url url;
        struct pl_error err = {0};
        assert_int_equal(pl_url_parse(*state, pl_str_of(cases[i].text), NULL, &url, &err),
                         PL_SYNTAX);
        if (!strstr(err.message, cases[i].word))
            fail_msg("\"%s\": %s", cases[i].text, err.message);
    }
}

static void a_relative_url_follows_its_base(void **state)
{
    static const struct {
        const char *text, *href;
    } cases[] = {
        {"", "https://u:p@h:1/a/b?q"},   {"#f", "https://u:p@h:1/a/b?q#f"},
        {"?r", "https://u:p@h:1/a/b?r"}, {"c", "https://u:p@h:1/a/c"},
        {"../c", "https://u:p@h:1/c"},   {"/c", "https://u:p@h:1/c"},
        {"//x/c", "https://x/c"},        {"\\\\x\\c", "https://x/c"},
        {"http://x/", "http://x/"},      {"https:c", "https://u:p@h:1/a/c"},
        {"data:,x", "data:,x"},
    };
    struct pl_url base = parse(*state, "https://u:p@h:1/a/b?q#old");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_url url;
        PL_CLEANUP_BUF struct pl_buf href;
        pl_buf_init(&href, 0);
        assert_int_equal(pl_url_parse(*state, pl_str_of(cases[i].text), &base, &url, NULL), PL_OK);
        pl_url_write(&url, &href);
        pl_buf_addc(&href, '\0');
        assert_string_equal(href.ptr, cases[i].href);
    }
}

static void schemes_have_their_ports(void **state)
{
    (void)state;
    assert_int_equal(pl_url_default_port(PL_STR("http")), 80);
    assert_int_equal(pl_url_default_port(PL_STR("https")), 443);
    assert_int_equal(pl_url_default_port(PL_STR("ftp")), 21);
    assert_int_equal(pl_url_default_port(PL_STR("file")), -1);
    assert_int_equal(pl_url_default_port(PL_STR("gopher")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_url_has_its_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_null, setup, teardown),
        cmocka_unit_test_setup_teardown(every_spelling_of_an_address_is_that_address, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_host_is_what_stands_behind_the_last_at_sign, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(names_of_the_world_become_ascii, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(a_relative_url_follows_its_base, setup, teardown),
        cmocka_unit_test(schemes_have_their_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
