/* Frames, registrations, manifests, redaction and calls with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "extproto/calls.h"
#include "extproto/path_scope.h"
#include "extproto/redact.h"
#include "extproto/registration.h"
#include "fault/fault.h"

static enum pl_status read_frame(struct pl_arena *arena, struct pl_str line,
                                 struct pl_ext_frame *ret, struct pl_ext_fault *fault)
{
    struct pl_ext_codec *codec = NULL;
    enum pl_status status = pl_ext_codec_create(&codec, NULL);
    if (status == PL_OK)
        status = pl_ext_frame_read(codec, arena, line, PL_EXT_FROM_CHILD, ret, fault);
    pl_ext_codec_destroy(codec);
    return status;
}

static const char registering[] =
    "{\"id\":\"\\u0061\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{\"name\":"
    "\"d\\u0065mo\","
    "\"version\":\"1\",\"api_version\":\"1.0\",\"capability_manifest\":{\"schema\":\"pi.ext.cap."
    "v1\","
    "\"capabilities\":[{\"capability\":\"re\\u0061d\",\"methods\":[\"\\u0066s\"],\"scope\":{"
    "\"paths\":"
    "[\"\\u0061\"],\"hosts\":[\"*.ex\\u0061mple\"],\"env\":[\"\\u0041\"]}},{\"capability\":\"log\"}"
    "]},"
    "\"tools\":[{\"name\":"
    "\"t\","
    "\"description\":\"\\u0078\",\"parameters\":{\"type\":\"object\"},\"output_schema\":{}},"
    "{\"name\":\"u\"}],"
    "\"slash_commands\":[{\"name\":\"\\u0068i\"}],\"event_hooks\":[\"\\u0063ontext\"]}}";

static enum pl_status registers(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    struct pl_ext_registration r;
    enum pl_ext_reason reason;
    struct pl_str url = PL_STR("https://a.example/"), path = PL_STR("./a"), clean;
    pl_arena_init(&arena, 0);
    enum pl_status status = read_frame(&arena, pl_str_of(ctx), &frame, &fault);
    if (status == PL_OK)
        status = pl_ext_registration_read(&arena, &frame.doc, frame.payload, &r, NULL);
    if (status == PL_OK)
        status = pl_ext_path_clean(&arena, path, &clean);
    if (status == PL_OK)
        status = pl_ext_manifest_judge(
            &arena, &r.manifest,
            &(struct pl_ext_wish){PL_EXT_CAP_READ, PL_STR("fs"), .path = &clean, .url = &url},
            &reason);
    if (status == PL_OK)
        assert_int_equal(reason, PL_EXT_REASON_COUNT);
    return status;
}

static enum pl_status redacts_and_hashes(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_json_doc doc;
    char hash[PL_EXT_HASH_SIZE];
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    enum pl_status status = pl_json_parse(&arena, pl_str_of(ctx), NULL, &doc, NULL);
    if (status == PL_OK)
        status = pl_ext_redact_json(&arena, &out, &doc, doc.root, NULL);
    if (status == PL_OK)
        status = pl_ext_params_hash(PL_STR("fs"), &doc, doc.root, hash);
    return status;
}

static enum pl_status explains_a_bad_frame(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    pl_arena_init(&arena, 0);
    return read_frame(&arena, pl_str_of(ctx), &frame, &fault);
}

static enum pl_status calls(void *ctx)
{
    struct pl_ext_calls calls = {0};
    enum pl_status status = pl_ext_calls_add(&calls, pl_str_of(ctx), NULL);
    if (status == PL_OK)
        pl_ext_calls_end(&calls, pl_ext_calls_next(&calls));
    pl_ext_calls_deinit(&calls);
    return status;
}

static void a_register_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each_tolerant(registers, (void *)registering, PL_OK) > 10);
}

static void a_bad_frame_without_memory(void **state)
{
    (void)state;
    assert_true(
        pl_fault_each_tolerant(
            explains_a_bad_frame,
            "{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"error\",\"payload\":{\"code\":5}}",
            PL_INVALID) > 2);
}

/* A long text with escapes is decoded for inspection. */
static void a_long_text_without_memory(void **state)
{
    static char line[100000];
    size_t n = (size_t)snprintf(
        line, sizeof line,
        "{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"log\",\"payload\":{\"ts\":\"");
    (void)state;
    for (size_t i = 0; i < 12000; i++)
        n += (size_t)snprintf(line + n, sizeof line - n, "\\u0061");
    snprintf(line + n, sizeof line - n, "\"}}");
    assert_true(pl_fault_each_tolerant(explains_a_bad_frame, line, PL_INVALID) > 2);
}

static void redaction_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each(redacts_and_hashes,
                              "{\"\\u0061\":[\"\\u0062 https://h/?q\",{\"b\":1}],\"c\":\"x\"}") >
                3);
}

static enum pl_status use_register(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    struct pl_ext_registration r;
    return pl_ext_registration_read(arena, &frame->doc, frame->payload, &r, NULL);
}

static enum pl_status use_redaction(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    return pl_ext_redact_json(arena, &out, &frame->doc, frame->doc.root, NULL);
}

static enum pl_status use_manifest(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    PL_CLEANUP_ARENA struct pl_arena lasting;
    struct pl_ext_registration r;
    struct pl_str url = PL_STR("https://\xc3\xa4.example/"), path = PL_STR("a");
    struct pl_ext_wish wish = {PL_EXT_CAP_READ, PL_STR("fs"), .path = &path, .url = &url};
    enum pl_ext_reason reason;
    pl_arena_init(&lasting, 0);
    enum pl_status status =
        pl_ext_registration_read(&lasting, &frame->doc, frame->payload, &r, NULL);
    return status == PL_OK ? pl_ext_manifest_judge(arena, &r.manifest, &wish, &reason) : status;
}

static enum pl_status use_path(struct pl_arena *arena, const struct pl_ext_frame *frame)
{
    struct pl_str clean;
    return pl_ext_path_clean(arena, frame->id, &clean);
}

/* Arenas of increasing size, until one is large enough: each allocation from the arena fails once.
 * */
static void arenas_that_are_too_small(void **state)
{
    static char space[1 << 16];
    static const char *const payloads[] = {
        registering,
        "{\"id\":\"a\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{\"name\":\"demo\","
        "\"version\":"
        "\"1\",\"api_version\":\"\\u0031\",\"capabilities\":[\"re\\u0061d\"],\"\\u0078y\":1}}",
        "{\"id\":\"a\",\"version\":\"1.0\",\"type\":\"register\",\"payload\":{\"name\":\"demo\","
        "\"version\":"
        "\"\\u0031\",\"api_version\":\"1\",\"tools\":[{\"name\":\"\\u0061\",\"label\":\"\\u0061\"}]"
        ","
        "\"slash_commands\":[{\"name\":\"a\",\"description\":\"\\u0061\"}]}}",
    };
    static enum pl_status (*const uses[])(struct pl_arena *, const struct pl_ext_frame *) = {
        use_register, use_redaction, use_manifest, use_path};
    struct pl_ext_codec *codec = NULL;
    (void)state;
    assert_int_equal(pl_ext_codec_create(&codec, NULL), PL_OK);
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        PL_CLEANUP_ARENA struct pl_arena lasting;
        struct pl_ext_frame frame;
        struct pl_ext_fault fault;
        pl_arena_init(&lasting, 0);
        assert_int_equal(pl_ext_frame_read(codec, &lasting, pl_str_of(payloads[i]),
                                           PL_EXT_FROM_CHILD, &frame, &fault),
                         PL_OK);
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
            enum pl_status status = PL_NOMEM;
            for (size_t n = 0; status == PL_NOMEM && n < sizeof space; n += 16) {
                struct pl_arena arena;
                pl_arena_init_in(&arena, 1, space, n);
                status = uses[k](&arena, &frame);
                pl_arena_deinit(&arena);
            }
            assert_int_equal(status, PL_OK);
        }
    }
    pl_ext_codec_destroy(codec);
}

static void calls_without_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each(calls, "a") > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_register_without_memory),  cmocka_unit_test(a_bad_frame_without_memory),
        cmocka_unit_test(a_long_text_without_memory), cmocka_unit_test(redaction_without_memory),
        cmocka_unit_test(arenas_that_are_too_small),  cmocka_unit_test(calls_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
