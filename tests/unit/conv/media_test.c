/* A video as a message, and times on the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conv/media/media.h"

static void test_durations_are_read_to_the_millisecond(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ms; /* 0: refused */
    } cases[] = {
        {"1s", 1000},    {"0.5s", 500},      {"500ms", 500}, {"2m", 120000},
        {"1.25s", 1250}, {"1.s", 1000},      {"0s", 0},      {"", 0},
        {"1", 0},        {"s", 0},           {".5s", 0},     {"1h", 0},
        {"-1s", 0},      {"1.2.3s", 0},      {"1441m", 0},   {"1 s", 0},
        {"0.1ms", 0},    {"9999999999s", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ms = 0;
        bool is_read = pl_media_duration_read(pl_str_of(cases[i].text), &ms);
        assert_int_equal(is_read, cases[i].ms != 0);
        assert_int_equal(ms, cases[i].ms);
    }
}

static void test_a_message_has_frames_with_times_and_then_the_sound(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    struct pl_media_message message;
    pl_media_open(&message, &to, PL_STR("v\"1"));
    pl_media_add_frame(&message, PL_STR("a"), 0, 0);
    pl_media_add_frame(&message, PL_STR("bc"), 10500, 1);
    pl_media_add_sound(&message, PL_STR("wav"), 16000);
    pl_media_close(&message);
    assert_int_equal(to.status, PL_OK);
    pl_buf_addc(&to, '\0');
    assert_string_equal(
        to.ptr,
        "{\"role\":\"user\",\"content\":["
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,YQ==\"},"
        "\"video_metadata\":{\"video_id\":\"v\\\"1\",\"timestamp_sec\":0,\"frame_index\":0}},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,YmM=\"},"
        "\"video_metadata\":{\"video_id\":\"v\\\"1\",\"timestamp_sec\":10.5,\"frame_index\":1}},"
        "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"d2F2\",\"format\":\"wav\","
        "\"sample_rate\":16000}}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_are_read_to_the_millisecond),
        cmocka_unit_test(test_a_message_has_frames_with_times_and_then_the_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
