/* The times and files of a video; e2e/media tests ffmpeg. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/media/image.h"
#include "io/media/video.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void a_frame_has_its_number_in_the_video(void **state)
{
    (void)state;
    static const struct {
        uint64_t rate, rate_of, time_ms, index;
    } cases[] = {
        {24, 1, 12500, 300},      {10, 1, 0, 0},     {30000, 1001, 1001, 30},
        {1, 10, 9999, 0},         {1, 10, 10000, 1}, {0, 0, 5000, 0},
        {0, 1, 5000, 0},          {5, 0, 5000, 0},   {UINT64_MAX, 1, UINT64_MAX, 0},
        {1, UINT64_MAX, 5000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_video video = {.rate = cases[i].rate, .rate_of = cases[i].rate_of};
        assert_int_equal(pl_video_frame_index(&video, cases[i].time_ms), cases[i].index);
    }
}

static void a_frame_that_is_not_there_has_no_path(void **state)
{
    (void)state;
    char path[PATH_MAX], *dir = malloc(2 * PATH_MAX);
    assert_non_null(dir);
    memset(dir, 'd', 2 * PATH_MAX - 1);
    dir[2 * PATH_MAX - 1] = '\0';
    struct pl_video video = {.dir = "/nowhere", .max = 5};
    assert_false(pl_video_frame_path(&video, 0, path));
    assert_false(pl_video_frame_path(&video, 5, path));
    assert_false(pl_video_frame_path(&video, UINT64_MAX, path));
    video.dir = dir;
    assert_false(pl_video_frame_path(&video, 0, path));
    free(dir);
}

static void without_the_program_the_error_says_so(void **state)
{
    (void)state;
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    struct pl_video video = {.path = "video.mp4", .dir = "/nowhere", .every_ms = 1000, .max = 1};
    struct pl_error err = {0};
    assert_int_equal(pl_video_probe(&video, &err), PL_IO);
    assert_non_null(strstr(err.message, "ff"));
    assert_int_equal(video.rate_of, 0);
    assert_int_equal(pl_video_take_frames(&video, &err), PL_IO);
    assert_int_equal(pl_video_take_sound(&video, "/nowhere/a.wav", &err), PL_IO);
    PL_CLEANUP_BUF struct pl_buf turned;
    const char *mime = NULL;
    pl_buf_init(&turned, 0);
    assert_int_equal(
        pl_image_turn(PL_STR("x"), PL_STR("image/png"), 90, 1000, &turned, &mime, &err), PL_IO);
    assert_int_equal(
        pl_image_turn(PL_STR("x"), PL_STR("image/tiff"), 90, 1000, &turned, &mime, &err),
        PL_INVALID);
    assert_int_equal(turned.len, 0);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char *path = malloc(2 * PATH_MAX);
    assert_non_null(path);
    memset(path, 'p', 2 * PATH_MAX - 1);
    path[2 * PATH_MAX - 1] = '\0';
    struct pl_video video = {.path = path, .dir = path, .every_ms = 1000, .max = 1};
    struct pl_error err = {0};
    assert_int_not_equal(pl_video_probe(&video, &err), PL_OK);
    assert_int_not_equal(pl_video_take_frames(&video, &err), PL_OK);
    assert_int_not_equal(pl_video_take_sound(&video, path, &err), PL_OK);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_its_number_in_the_video),
        cmocka_unit_test(a_frame_that_is_not_there_has_no_path),
        cmocka_unit_test(without_the_program_the_error_says_so),
        cmocka_unit_test(a_path_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
