/* Any JSON as the params of a host call, for every method and its capability. The resources that
 * the call uses are read from the params and checked against manifests, scopes and a policy that
 * allows nothing. Each call has exactly one answer, a frame that the schema allows. Nothing
 * runs. */
#include "ext/run/ext_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MANIFEST                                                                                   \
    "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\",\"capability_manifest\":{"          \
    "\"schema\":\"pi.ext.cap.v1\",\"capabilities\":["                                              \
    "{\"capability\":\"read\",\"scope\":{\"paths\":[\"docs/**\",\"*.md\"]}},"                      \
    "{\"capability\":\"write\"},{\"capability\":\"exec\"},{\"capability\":\"ui\"},"                \
    "{\"capability\":\"http\",\"scope\":{\"hosts\":[\"*.example.com\",\"http://a:81\"]}},"         \
    "{\"capability\":\"env\",\"scope\":{\"env\":[\"A\"]}},{\"capability\":\"events\"},"            \
    "{\"capability\":\"session\"},{\"capability\":\"tool\"},{\"capability\":\"log\"}]}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void no_line(void *ctx, struct pl_str line)
{
    (void)ctx;
    (void)line;
}

static void no_fault(void *ctx, enum pl_ext_channel_fault fault)
{
    (void)ctx;
    (void)fault;
    abort();
}

/* Created once: the loop, the two pipes, and the registration. */
static struct world {
    struct pl_server server;
    struct pl_shard shard;
    struct pl_ext_server ext;
    struct pl_ext_shard exts;
    struct pl_ext_place *place;
    struct pl_ext_known known;
    struct pl_ext_codec *reader; /* for the answers */
    struct pl_ext_instance instance;
    int from_host;
} world;

static void open_world(void)
{
    static const struct pl_ext_channel_ops ops = {.on_line = no_line, .on_fault = no_fault};
    struct pl_ext_instance *i = &world.instance;
    struct pl_ext_registered *r = NULL;
    int in[2], out[2];
    must(pl_loop_create(&world.shard.loop, NULL) == PL_OK);
    world.shard.server = &world.server;
    pthread_mutex_init(&world.ext.lock, NULL);
    world.exts =
        (struct pl_ext_shard){.shard = &world.shard, .host = &world.ext, .loop = world.shard.loop};
    world.place = pl_ext_place_get(&world.exts, PL_STR("d"), PL_STR("user_1"));
    must(world.place &&
         pl_ext_registered_create(PL_STR(MANIFEST), PL_STR("art"), NULL, 0, &r, NULL) == PL_OK);
    world.known = (struct pl_ext_known){
        .n_refs = 1, .package = {.id = PL_STR("d"), .manifest = r->said.manifest}};
    world.known.package.policy =
        (struct pl_ext_policy){.mode = PL_EXT_MODE_STRICT, .deny = UINT32_MAX};
    *i = (struct pl_ext_instance){.place = world.place,
                                  .exts = &world.exts,
                                  .known = &world.known,
                                  .life = PL_EXT_LIFE_READY,
                                  .registered = r,
                                  .first = r};
    pl_arena_init(&i->arena, 0);
    must(pl_ext_codec_create(&i->codec, NULL) == PL_OK &&
         pl_ext_codec_create(&world.reader, NULL) == PL_OK);
    must(pipe(in) == 0 && pipe(out) == 0);
    must(fcntl(in[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(in[1], F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(out[0], F_SETFL, O_NONBLOCK) == 0);
    i->channel = pl_ext_channel_open_pipes(world.shard.loop, in[1], out[0], -1, &ops, NULL);
    must(i->channel);
    world.from_host = in[0];
}

/* Reads one line with our call_id: an error, because nothing is allowed. */
static void read_answer(void)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    static char answer[64 << 10];
    struct pl_ext_frame frame;
    struct pl_ext_fault fault = {0};
    pl_arena_init(&arena, 0);
    (void)pl_loop_settle(world.shard.loop);
    ssize_t n = read(world.from_host, answer, sizeof answer);
    must(n > 1 && memchr(answer, '\n', (size_t)n) == answer + n - 1);
    must(pl_ext_frame_read(world.reader, &arena, (struct pl_str){answer, (size_t)n - 1},
                           PL_EXT_TO_CHILD, &frame, &fault) == PL_OK);
    if (frame.type == PL_EXT_TYPE_ERROR) /* the params are not an object */
        return;
    must(frame.type == PL_EXT_TYPE_HOST_RESULT);
    must(pl_json_is(pl_json_get(&frame.doc, frame.payload, PL_STR("is_error")), PL_JSON_TRUE));
}

static void call(struct pl_str params, const char *capability, const char *method)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_instance *i = &world.instance;
    static unsigned n_calls;
    pl_buf_init(&line, 0);
    pl_buf_addf(&line,
                "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
                "\"c%u\",\"capability\":\"%s\",\"method\":\"%s\",\"params\":",
                n_calls++, capability, method);
    pl_buf_add(&line, params);
    pl_buf_adds(&line, "}}");
    must(line.status == PL_OK);
    i->bad_lines = (struct pl_ext_strikes){0};
    for (int quota = 0; quota < PL_EXT_QUOTA_COUNT; quota++)
        i->buckets[quota] =
            pl_ext_bucket_make((enum pl_ext_quota)quota, pl_loop_now_ms(world.shard.loop));
    pl_ext_hear_line(i, pl_buf_str(&line));
    read_answer();
    must(!i->hostcalls);
    pl_ext_audit_write(&world.exts);
    pl_timer_stop(world.shard.loop, &world.exts.gather);
    pl_batch_destroy(world.exts.gathered);
    pl_buf_deinit(&world.exts.spare);
    world.exts.gathered = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const calls[][2] = {
        {"read", "fs"},   {"write", "fs"},  {"read", "tool"},     {"write", "tool"},
        {"exec", "tool"}, {"tool", "tool"}, {"exec", "exec"},     {"http", "http"},
        {"env", "env"},   {"ui", "ui"},     {"events", "events"}, {"session", "session"},
        {"log", "log"},
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_str text = {(const char *)data, size};
    pl_arena_init(&arena, 0);
    /* A line feed ends a line, so the params have none; a long line goes to a worker. */
    if (size > 16 << 10 || (size && memchr(data, '\n', size)) ||
        pl_json_parse(&arena, text, NULL, &doc, NULL) != PL_OK)
        return 0;
    if (!world.shard.loop)
        open_world();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        call(text, calls[i][0], calls[i][1]);
    return 0;
}
