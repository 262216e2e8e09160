/* Letters between nodes: sealed, read, truncated, changed, of another version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/cluster/seal.h"

static uint64_t secret[2] = {11, 12}, other_secret[2] = {11, 13};
static const struct pl_node_seal seal = {seal_make, secret};
static const struct pl_node_id me = {{1}}, you = {{2}}, third = {{3}};

static struct pl_buf written(unsigned char kind, struct pl_str body)
{
    struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    struct pl_node_letter letter = {kind, me, .number = 0x0102030405060708, .body = body};
    assert_int_equal(pl_node_letter_write(&letter, &seal, &you, &bytes), PL_OK);
    return bytes;
}

static enum pl_node_letter_fate read_of(struct pl_str bytes)
{
    struct pl_node_letter letter;
    return pl_node_letter_read(bytes, &seal, &you, &letter);
}

static void a_letter_comes_as_it_was_written(void **state)
{
    (void)state;
    static const struct pl_str bodies[] = {{"", 0}, {NULL, 0}, {"a\0b", 3}};
    for (unsigned char kind = PL_NODE_LETTER_ASK; kind <= PL_NODE_LETTER_UNKNOWN; kind++)
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            PL_CLEANUP_BUF struct pl_buf bytes = written(kind, bodies[i]);
            struct pl_node_letter letter;
            assert_int_equal(pl_node_letter_read(pl_buf_str(&bytes), &seal, &you, &letter),
                             PL_NODE_LETTER_IS_GOOD);
            assert_int_equal(letter.kind, kind);
            assert_true(pl_node_id_eq(&letter.sender, &me));
            assert_true(letter.number == 0x0102030405060708);
            assert_true(pl_str_eq(letter.body, bodies[i]));
        }
}

static void its_bytes_are_those_of_the_contract(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_BELL, PL_STR("xy"));
    assert_int_equal(bytes.len, 1 + 1 + 16 + 8 + 2 + 16);
    assert_memory_equal(bytes.ptr, "\x01\x05\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    assert_memory_equal(bytes.ptr + 18, "\x01\x02\x03\x04\x05\x06\x07\x08xy", 10);
}

static void a_letter_is_appended_to_what_is_there(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    pl_buf_adds(&bytes, "before");
    struct pl_node_letter letter = {PL_NODE_LETTER_BELL, me, .body = PL_STR("b")};
    assert_int_equal(pl_node_letter_write(&letter, &seal, &you, &bytes), PL_OK);
    assert_memory_equal(bytes.ptr, "before\x01", 7);
    assert_int_equal(read_of(pl_str_slice(pl_buf_str(&bytes), 6, bytes.len)),
                     PL_NODE_LETTER_IS_GOOD);
}

static void every_changed_bit_is_found(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_ASK, PL_STR("delete it"));
    for (size_t i = 0; i < bytes.len * 8; i++) {
        bytes.ptr[i / 8] = (char)(bytes.ptr[i / 8] ^ (1 << i % 8));
        assert_int_equal(read_of(pl_buf_str(&bytes)), PL_NODE_LETTER_IS_FORGED);
        bytes.ptr[i / 8] = (char)(bytes.ptr[i / 8] ^ (1 << i % 8));
    }
    assert_int_equal(read_of(pl_buf_str(&bytes)), PL_NODE_LETTER_IS_GOOD);
}

static void a_letter_cut_anywhere_is_not_taken(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_ASK, PL_STR("delete it"));
    for (size_t n = 0; n < bytes.len; n++) {
        enum pl_node_letter_fate fate = read_of((struct pl_str){bytes.ptr, n});
        assert_int_equal(fate, n < PL_NODE_LETTER_HEAD + PL_NODE_LETTER_SEAL
                                   ? PL_NODE_LETTER_IS_CUT
                                   : PL_NODE_LETTER_IS_FORGED);
    }
    assert_int_equal(read_of((struct pl_str){NULL, 0}), PL_NODE_LETTER_IS_CUT);
}

static void a_letter_with_another_secret_is_forged(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_ASK, PL_STR("delete it"));
    struct pl_node_seal other = {seal_make, other_secret};
    struct pl_node_letter letter;
    assert_int_equal(pl_node_letter_read(pl_buf_str(&bytes), &other, &you, &letter),
                     PL_NODE_LETTER_IS_FORGED);
}

static void a_letter_sent_on_to_another_is_forged(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_ASK, PL_STR("delete it"));
    struct pl_node_letter letter;
    assert_int_equal(pl_node_letter_read(pl_buf_str(&bytes), &seal, &third, &letter),
                     PL_NODE_LETTER_IS_FORGED);
}

/* Seals the current bytes. */
static void seal_again(struct pl_buf *bytes)
{
    size_t n = bytes->len - PL_NODE_LETTER_SEAL;
    seal_make(secret, &you, (struct pl_str){bytes->ptr, n}, (unsigned char *)bytes->ptr + n);
}

static void a_sealed_letter_of_another_version_is_no_forgery(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes = written(PL_NODE_LETTER_ASK, PL_STR("delete it"));
    for (int version = 0; version < 256; version++) {
        bytes.ptr[0] = (char)version;
        seal_again(&bytes);
        assert_int_equal(read_of(pl_buf_str(&bytes)), version == PL_NODE_LETTER_VERSION
                                                          ? PL_NODE_LETTER_IS_GOOD
                                                          : PL_NODE_LETTER_IS_VERSION);
    }
}

static void a_sealed_letter_of_an_unknown_kind_is_given_to_be_answered(void **state)
{
    (void)state;
    for (int kind = 0; kind < 256; kind++) {
        PL_CLEANUP_BUF struct pl_buf bytes = written((unsigned char)kind, PL_STR("b"));
        struct pl_node_letter letter = {0};
        bool is_known = kind >= PL_NODE_LETTER_ASK && kind <= PL_NODE_LETTER_UNKNOWN;
        assert_int_equal(pl_node_letter_read(pl_buf_str(&bytes), &seal, &you, &letter),
                         is_known ? PL_NODE_LETTER_IS_GOOD : PL_NODE_LETTER_IS_STRANGE);
        assert_int_equal(letter.kind, kind);
        assert_true(pl_node_id_eq(&letter.sender, &me));
    }
}

static char large[PL_NODE_LETTER_MAX + 1];

static void a_letter_has_at_most_512_KiB(void **state)
{
    (void)state;
    enum { MOST = PL_NODE_LETTER_MAX - PL_NODE_LETTER_HEAD - PL_NODE_LETTER_SEAL };
    PL_CLEANUP_BUF struct pl_buf bytes =
        written(PL_NODE_LETTER_FRAMES, (struct pl_str){large, MOST});
    assert_int_equal(bytes.len, PL_NODE_LETTER_MAX);
    assert_int_equal(read_of(pl_buf_str(&bytes)), PL_NODE_LETTER_IS_GOOD);
    struct pl_node_letter letter = {PL_NODE_LETTER_FRAMES, me, .body = {large, MOST + 1}};
    assert_int_equal(pl_node_letter_write(&letter, &seal, &you, &bytes), PL_LIMIT);
    assert_int_equal(bytes.len, PL_NODE_LETTER_MAX);
    assert_int_equal(read_of((struct pl_str){large, sizeof large}), PL_NODE_LETTER_IS_HUGE);
}

static void a_buffer_that_is_full_takes_nothing(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, PL_NODE_LETTER_HEAD + PL_NODE_LETTER_SEAL);
    struct pl_node_letter letter = {PL_NODE_LETTER_BELL, me, .body = PL_STR("b")};
    assert_int_equal(pl_node_letter_write(&letter, &seal, &you, &bytes), PL_LIMIT);
    assert_int_equal(bytes.len, 0);
}

static void only_frames_and_leaving_may_be_dropped(void **state)
{
    (void)state;
    for (int kind = 0; kind < 256; kind++)
        assert_int_equal(pl_node_letter_may_be_dropped((unsigned char)kind),
                         kind == PL_NODE_LETTER_FRAMES || kind == PL_NODE_LETTER_LEAVE);
}

static void every_fate_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PL_NODE_LETTER_FATE_COUNT; i++)
        assert_true(pl_node_letter_fate_text((enum pl_node_letter_fate)i)[0] != '\0');
}

static void nodes_speak_the_least_that_all_understand(void **state)
{
    (void)state;
    assert_int_equal(pl_node_letter_least(3, 2), 2);
    assert_int_equal(pl_node_letter_least(3, 3), 3);
    assert_int_equal(pl_node_letter_least(3, 4), 3);
    assert_int_equal(pl_node_letter_least(3, INT64_MAX), 3);
    /* A row without a useful value. */
    assert_int_equal(pl_node_letter_least(3, 0), 3);
    assert_int_equal(pl_node_letter_least(3, -1), 3);
}

static void a_name_has_letters_digits_and_three_signs(void **state)
{
    (void)state;
    for (const char *at = "azAZ09._-"; *at; at++)
        assert_true(pl_node_name_has(*at));
    for (const char *at = " \n\"/:@\x7f\xc3{`["; *at; at++)
        assert_false(pl_node_name_has(*at));
    assert_false(pl_node_name_has('\0'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_comes_as_it_was_written),
        cmocka_unit_test(its_bytes_are_those_of_the_contract),
        cmocka_unit_test(a_letter_is_appended_to_what_is_there),
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(a_letter_cut_anywhere_is_not_taken),
        cmocka_unit_test(a_letter_with_another_secret_is_forged),
        cmocka_unit_test(a_letter_sent_on_to_another_is_forged),
        cmocka_unit_test(a_sealed_letter_of_another_version_is_no_forgery),
        cmocka_unit_test(a_sealed_letter_of_an_unknown_kind_is_given_to_be_answered),
        cmocka_unit_test(a_letter_has_at_most_512_KiB),
        cmocka_unit_test(a_buffer_that_is_full_takes_nothing),
        cmocka_unit_test(only_frames_and_leaving_may_be_dropped),
        cmocka_unit_test(every_fate_has_a_name),
        cmocka_unit_test(nodes_speak_the_least_that_all_understand),
        cmocka_unit_test(a_name_has_letters_digits_and_three_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
