/* Frames into messages: events, the close code of each error, each limit one over, and that the
 * splits of the bytes do not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/wire/told.h"
#include "wire/websocket.h"

#include <stdio.h>

enum { N_RANDOM_CUTS = 20, TEXT = 0x81, BINARY = 0x82, CLOSE = 0x88, PING = 0x89, PONG = 0x8A };
enum { TEXT_BEGIN = 1, BINARY_BEGIN = 2, MIDDLE = 0, END = 0x80 };

static const char mask[4] = {'\x37', '\xfa', '\x21', '\x3d'};

struct frame {
    uint8_t first;
    struct pl_str payload;
};
#define FRAME(first, text)                                                                         \
    {                                                                                              \
        first,                                                                                     \
        {                                                                                          \
            text, sizeof(text) - 1                                                                 \
        }                                                                                          \
    }

static void expect_of(struct pl_str bytes, const char *wanted)
{
    for (uint32_t i = 0; i <= N_RANDOM_CUTS + 1; i++) {
        PL_CLEANUP_BUF struct pl_buf told;
        pl_buf_init(&told, 0);
        struct cut cut = i == 0 ? CUT_WHOLE : i == 1 ? CUT_BYTES : (struct cut){0, i};
        (void)!told_ws(bytes, cut, &told);
        pl_buf_addc(&told, '\0');
        if (strcmp(told.ptr, wanted) != 0)
            print_error("cut %u\n", i);
        assert_string_equal(told.ptr, wanted);
    }
}

#define expect(wanted, ...)                                                                        \
    expect_frames((const struct frame[]){__VA_ARGS__, {0}},                                        \
                  sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame), wanted)

static void expect_frames(const struct frame *frames, size_t n, const char *wanted)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    for (size_t i = 0; i < n; i++)
        told_frame(&bytes, frames[i].first, frames[i].payload, mask);
    expect_of(pl_buf_str(&bytes), wanted);
}

/* RFC 6455, 5.7. */
static void the_published_examples_are_read(void **state)
{
    (void)state;
    expect_of(PL_STR("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "1 payload[5] Hello\n");
    expect("10 payload[5] Hello\n", FRAME(PONG, "Hello"));
}

static void messages_follow_each_other(void **state)
{
    (void)state;
    expect("1 payload[1] a\n2 payload[0] \n1 payload[0] \n9 payload[0] \n2 payload[2] \xff\xfe\n",
           FRAME(TEXT, "a"), FRAME(BINARY, ""), FRAME(TEXT, ""), FRAME(PING, ""),
           FRAME(BINARY, "\xff\xfe"));
}

static void a_message_in_pieces_is_given_whole(void **state)
{
    (void)state;
    expect("1 payload[5] Hello\n2 payload[3] abc\n", FRAME(TEXT_BEGIN, "Hel"), FRAME(END, "lo"),
           FRAME(BINARY_BEGIN, ""), FRAME(MIDDLE, "a"), FRAME(MIDDLE, "bc"), FRAME(END, ""));
}

static void control_frames_come_between_the_pieces_of_a_message(void **state)
{
    (void)state;
    expect("9 payload[4] ping\n10 payload[1] p\n1 payload[6] Hello!\n", FRAME(TEXT_BEGIN, "Hel"),
           FRAME(PING, "ping"), FRAME(MIDDLE, "lo"), FRAME(PONG, "p"), FRAME(END, "!"));
}

static void text_may_be_cut_within_a_character(void **state)
{
    (void)state;
    expect("9 payload[2] \xff\xff\n1 payload[5] \u00e9\u20ac\n", FRAME(TEXT_BEGIN, "\xC3"),
           FRAME(PING, "\xff\xff"), FRAME(MIDDLE, "\xA9\xE2"), FRAME(MIDDLE, ""),
           FRAME(END, "\x82\xAC"));
}

static void text_that_is_not_utf8_closes_with_1007(void **state)
{
    (void)state;
    expect("INVALID 1007\n", FRAME(TEXT, "a\xff"));
    expect("INVALID 1007\n", FRAME(TEXT, "\xED\xA0\x80"));
    expect("INVALID 1007\n", FRAME(TEXT, "\xE2\x82"));
    expect("INVALID 1007\n", FRAME(TEXT_BEGIN, "\xE2"), FRAME(END, "\x82"));
    /* Detected at once, before the message ends. */
    expect("INVALID 1007\n", FRAME(TEXT_BEGIN, "\xF4\x90"));
    expect("INVALID 1007\n", FRAME(TEXT_BEGIN, "\xE2"), FRAME(MIDDLE, "a"));
    expect("2 payload[1] \xff\n", FRAME(BINARY, "\xff"));
}

static void what_is_against_the_protocol_closes_with_1002(void **state)
{
    (void)state;
    expect("SYNTAX 1002\n", FRAME(0xC1, "a"));
    expect("SYNTAX 1002\n", FRAME(0xA1, "a"));
    expect("SYNTAX 1002\n", FRAME(0x91, "a"));
    for (uint8_t opcode = 3; opcode < 16; opcode++)
        if (opcode < 8 || opcode > 10)
            expect("SYNTAX 1002\n", FRAME((uint8_t)(0x80 | opcode), ""));
    expect("SYNTAX 1002\n", FRAME(0x09, "ping in pieces"));
    expect("SYNTAX 1002\n", FRAME(END, "nothing to continue"));
    expect("SYNTAX 1002\n", FRAME(MIDDLE, ""));
    expect("SYNTAX 1002\n", FRAME(TEXT_BEGIN, "a"), FRAME(TEXT, "b"));
    expect("1 payload[1] a\nSYNTAX 1002\n", FRAME(TEXT, "a"), FRAME(END, "b"));
    expect_of(PL_STR("\x81\x01"
                     "a"),
              "SYNTAX 1002\n");
    /* Lengths that could be shorter, or have the top bit set. */
    expect_of(PL_STR("\x82\xFE\x00\x7D"
                     "mask"),
              "SYNTAX 1002\n");
    expect_of(PL_STR("\x82\xFF\0\0\0\0\0\0\xFF\xFF"
                     "mask"),
              "SYNTAX 1002\n");
    expect_of(PL_STR("\x82\xFF\x80\0\0\0\0\1\0\0"
                     "mask"),
              "SYNTAX 1002\n");
}

static void closing_gives_code_and_reason(void **state)
{
    (void)state;
    expect("8 1005 payload[0] \n", FRAME(CLOSE, ""));
    expect("8 1000 payload[3] bye\n", FRAME(CLOSE, "\x03\xE8"
                                                   "bye"));
    /* The bytes after it are ignored. */
    expect("8 4999 payload[0] \n", FRAME(CLOSE, "\x13\x87"), FRAME(TEXT, "a"), FRAME(0xFF, ""));
    expect("8 1001 payload[0] \n", FRAME(TEXT_BEGIN, "a"), FRAME(CLOSE, "\x03\xE9"));
}

static void close_codes_that_may_not_be_sent_close_with_1002(void **state)
{
    (void)state;
    static const uint16_t bad[] = {0,    999,  1004, 1005, 1006, 1015,
                                   1016, 1100, 2000, 2999, 5000, 65535};
    static const uint16_t good[] = {1000, 1001, 1002, 1003, 1007, 1008, 1009,
                                    1010, 1011, 1012, 1013, 1014, 3000, 4999};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char code[3] = {(char)(bad[i] >> 8), (char)bad[i]};
        expect("SYNTAX 1002\n", {CLOSE, {code, 2}});
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char code[3] = {(char)(good[i] >> 8), (char)good[i]}, wanted[32];
        snprintf(wanted, sizeof wanted, "8 %d payload[0] \n", good[i]);
        expect(wanted, {CLOSE, {code, 2}});
    }
    expect("SYNTAX 1002\n", FRAME(CLOSE, "\x03"));
    expect("INVALID 1007\n", FRAME(CLOSE, "\x03\xE8\xff"));
}

static void a_control_frame_one_over_closes_with_1002(void **state)
{
    (void)state;
    char text[126];
    memset(text, 'p', sizeof text);
    PL_CLEANUP_BUF struct pl_buf wanted;
    pl_buf_init(&wanted, 0);
    pl_buf_adds(&wanted, "9 payload[125] ");
    pl_buf_add(&wanted, (struct pl_str){text, 125});
    pl_buf_addc(&wanted, '\n');
    pl_buf_addc(&wanted, '\0');
    expect(wanted.ptr, {PING, {text, 125}});
    expect("SYNTAX 1002\n", {PING, {text, 126}});
}

/* Reads the frames in one piece up to the first message that is not a PING, or a failure. Each has
 * n bytes; a PING and the last one have n_last. */
static enum pl_status read_frames(const uint8_t *firsts, size_t n_frames, size_t n, size_t n_last,
                                  struct pl_ws *ws)
{
    struct pl_ws_message message;
    PL_CLEANUP_BUF struct pl_buf bytes, payload;
    pl_buf_init(&bytes, 0);
    pl_buf_init(&payload, 0);
    pl_buf_fill(&payload, 'a', n > n_last ? n : n_last);
    for (size_t i = 0; i < n_frames; i++) {
        bool is_short = firsts[i] == PING || i == n_frames - 1;
        told_frame(&bytes, firsts[i], pl_str_slice(pl_buf_str(&payload), 0, is_short ? n_last : n),
                   mask);
    }
    pl_ws_init(ws);
    pl_ws_feed(ws, bytes.ptr, bytes.len);
    enum pl_status status;
    while ((status = pl_ws_next(ws, &message, NULL)) == PL_OK && message.opcode == PL_WS_PING)
        continue;
    pl_ws_deinit(ws);
    return status;
}

static void a_message_in_one_frame_one_over_closes_with_1009(void **state)
{
    (void)state;
    struct pl_ws ws;
    uint8_t frame[] = {TEXT};
    assert_int_equal(read_frames(frame, 1, 0, PL_WS_MAX_MESSAGE, &ws), PL_OK);
    assert_int_equal(read_frames(frame, 1, 0, PL_WS_MAX_MESSAGE + 1, &ws), PL_LIMIT);
    assert_int_equal(ws.close_code, PL_WS_CLOSE_TOO_BIG);
}

static void a_message_one_over_closes_with_1009(void **state)
{
    (void)state;
    struct pl_ws ws;
    uint8_t frames[] = {BINARY_BEGIN, MIDDLE, PING, MIDDLE, MIDDLE, END};
    size_t quarter = PL_WS_MAX_MESSAGE / 4;
    assert_int_equal(read_frames(frames, 6, quarter, 0, &ws), PL_OK);
    assert_int_equal(read_frames(frames, 6, quarter, 1, &ws), PL_LIMIT);
    assert_int_equal(ws.close_code, PL_WS_CLOSE_TOO_BIG);
}

static void a_message_that_lies_whole_in_what_was_fed_is_not_copied(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    told_frame(&bytes, TEXT, PL_STR("a message of some length"), mask);
    struct pl_ws ws;
    struct pl_ws_message message;
    pl_ws_init(&ws);
    pl_ws_feed(&ws, bytes.ptr, bytes.len);
    assert_int_equal(pl_ws_next(&ws, &message, NULL), PL_OK);
    assert_ptr_equal(message.payload.ptr, bytes.ptr + 6);
    assert_true(pl_str_eq(message.payload, PL_STR("a message of some length")));
    assert_null(ws.message.ptr);
    pl_ws_deinit(&ws);
}

static void a_gathered_message_gives_its_memory_back(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    told_frame(&bytes, TEXT, PL_STR("hello"), mask);
    struct pl_ws ws;
    struct pl_ws_message message;
    pl_ws_init(&ws);
    pl_ws_feed(&ws, bytes.ptr, 8);
    assert_int_equal(pl_ws_next(&ws, &message, NULL), PL_NOT_FOUND);
    pl_ws_feed(&ws, bytes.ptr + 8, bytes.len - 8);
    assert_int_equal(pl_ws_next(&ws, &message, NULL), PL_OK);
    assert_true(pl_str_eq(message.payload, PL_STR("hello")));
    assert_int_equal(pl_ws_next(&ws, &message, NULL), PL_NOT_FOUND);
    assert_null(ws.message.ptr);
    assert_true(sizeof ws <= 128);
    pl_ws_deinit(&ws);
}

static void heads_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    static const struct {
        size_t n_payload;
        struct pl_str head;
    } cases[] = {
        {0, {"\x81\x00", 2}},
        {125, {"\x81\x7D", 2}},
        {126, {"\x81\x7E\x00\x7E", 4}},
        {65535, {"\x81\x7E\xFF\xFF", 4}},
        {65536, {"\x81\x7F\0\0\0\0\0\1\0\0", 10}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t head[PL_WS_MAX_HEAD];
        size_t n = pl_ws_head_write(head, PL_WS_TEXT, cases[i].n_payload);
        assert_int_equal(n, cases[i].head.len);
        assert_memory_equal(head, cases[i].head.ptr, n);
    }
}

static void frames_and_closes_are_written_whole(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    pl_ws_frame_write(&bytes, PL_WS_PONG, PL_STR("p"));
    pl_ws_close_write(&bytes, PL_WS_CLOSE_RATE, PL_STR("slow"));
    assert_true(pl_str_eq(pl_buf_str(&bytes), PL_STR("\x8A\x01p\x88\x06\x11\x4Dslow")));
}

static void a_long_reason_is_cut_between_characters(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf bytes, reason;
    pl_buf_init(&bytes, 0);
    pl_buf_init(&reason, 0);
    pl_buf_fill(&reason, 'r', 122);
    pl_buf_adds(&reason, "\u00e9");
    pl_ws_close_write(&bytes, 1000, pl_buf_str(&reason));
    assert_int_equal(bytes.len, 2 + 2 + 122);
    assert_int_equal(bytes.ptr[bytes.len - 1], 'r');
}

static void the_handshake_is_answered(void **state)
{
    (void)state;
    char accept[PL_WS_ACCEPT_SIZE + 1] = {0};
    assert_true(pl_ws_accept(PL_STR("dGhlIHNhbXBsZSBub25jZQ=="), accept));
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(pl_ws_accept(PL_STR(""), accept));
    assert_false(pl_ws_accept(PL_STR("dGhlIHNhbXBsZSBub25jZQ="), accept));
    assert_false(pl_ws_accept(PL_STR("dGhlIHNhbXBsZSBub25j"), accept));
    assert_false(pl_ws_accept(PL_STR("dGhlIHNhbXBsZSBub25jZWQ="), accept));
    assert_false(pl_ws_accept(PL_STR("!!!!!!!!!!!!!!!!!!!!!!=="), accept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_examples_are_read),
        cmocka_unit_test(messages_follow_each_other),
        cmocka_unit_test(a_message_in_pieces_is_given_whole),
        cmocka_unit_test(control_frames_come_between_the_pieces_of_a_message),
        cmocka_unit_test(text_may_be_cut_within_a_character),
        cmocka_unit_test(text_that_is_not_utf8_closes_with_1007),
        cmocka_unit_test(what_is_against_the_protocol_closes_with_1002),
        cmocka_unit_test(closing_gives_code_and_reason),
        cmocka_unit_test(close_codes_that_may_not_be_sent_close_with_1002),
        cmocka_unit_test(a_control_frame_one_over_closes_with_1002),
        cmocka_unit_test(a_message_in_one_frame_one_over_closes_with_1009),
        cmocka_unit_test(a_message_one_over_closes_with_1009),
        cmocka_unit_test(a_message_that_lies_whole_in_what_was_fed_is_not_copied),
        cmocka_unit_test(a_gathered_message_gives_its_memory_back),
        cmocka_unit_test(heads_are_written_in_their_shortest_form),
        cmocka_unit_test(frames_and_closes_are_written_whole),
        cmocka_unit_test(a_long_reason_is_cut_between_characters),
        cmocka_unit_test(the_handshake_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
