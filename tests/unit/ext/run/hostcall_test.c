/* A host call from its line to its one answer, without a child process: the loop is real, and the
 * channel is two pipes; the test holds the other ends. Wrong types anywhere, repeated ids, early
 * calls, manifests, scopes and policies, and quotas one step over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "ext/run/ext_int.h"
#include "shard/setup.h"

#define MANIFEST                                                                                   \
    "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\",\"capability_manifest\":{"          \
    "\"schema\":\"pi.ext.cap.v1\",\"capabilities\":["                                              \
    "{\"capability\":\"read\",\"scope\":{\"paths\":[\"docs/**\"]}},"                               \
    "{\"capability\":\"write\",\"methods\":[\"fs\"]},"                                             \
    "{\"capability\":\"http\",\"scope\":{\"hosts\":[\"api.example.com\"]}},"                       \
    "{\"capability\":\"env\",\"scope\":{\"env\":[\"PLAIN\"]}},"                                    \
    "{\"capability\":\"session\"},{\"capability\":\"tool\"},{\"capability\":\"log\"}]}}"

static const char *const variables[] = {"PLAIN=value", "OTHER=hidden", NULL};
static struct pl_server server;
static struct pl_setup setup;

struct host {
    struct pl_shard shard;
    struct pl_ext_server ext;
    struct pl_ext_shard exts;
    struct pl_ext_place *place; /* owned */
    struct pl_ext_known known;
    struct pl_ext_registered *registered; /* held */
    struct pl_ext_instance instance;
    int to_host, from_host; /* our ends */
    unsigned n_said;
    char heard[16 << 10]; /* lines of the last answer */
};

static void no_line(void *ctx, struct pl_str line)
{
    (void)ctx;
    (void)line;
}

static void no_fault(void *ctx, enum pl_ext_channel_fault fault)
{
    (void)ctx;
    (void)fault;
}

static const struct pl_ext_channel_ops ops = {.on_line = no_line, .on_fault = no_fault};

static struct host *host_of(const char *profile)
{
    static struct host host;
    struct host *h = &host;
    int in[2], out[2];
    *h = (struct host){0};
    setup.config.ext_env = variables;
    h->shard = (struct pl_shard){.server = &server, .setup = &setup};
    assert_int_equal(pl_loop_create(&h->shard.loop, NULL), PL_OK);
    pthread_mutex_init(&h->ext.lock, NULL);
    h->exts = (struct pl_ext_shard){.shard = &h->shard, .host = &h->ext, .loop = h->shard.loop};
    h->place = pl_ext_place_get(&h->exts, PL_STR("d"), PL_STR("user_1"));
    assert_non_null(h->place);
    assert_int_equal(
        pl_ext_registered_create(PL_STR(MANIFEST), PL_STR("art"), NULL, 0, &h->registered, NULL),
        PL_OK);
    h->known = (struct pl_ext_known){
        .n_refs = 1, .package = {.id = PL_STR("d"), .manifest = h->registered->said.manifest}};
    assert_true(pl_ext_policy_of_profile(pl_str_of(profile), &h->known.package.policy));
    struct pl_ext_instance *i = &h->instance;
    *i = (struct pl_ext_instance){.place = h->place,
                                  .exts = &h->exts,
                                  .known = &h->known,
                                  .life = PL_EXT_LIFE_READY,
                                  .registered = h->registered,
                                  .first = h->registered};
    pl_arena_init(&i->arena, 0);
    for (int quota = 0; quota < PL_EXT_QUOTA_COUNT; quota++)
        i->buckets[quota] =
            pl_ext_bucket_make((enum pl_ext_quota)quota, pl_loop_now_ms(h->shard.loop));
    assert_int_equal(pl_ext_codec_create(&i->codec, NULL), PL_OK);
    assert_true(pipe(in) == 0 && pipe(out) == 0);
    for (int end = 0; end < 2; end++) {
        assert_int_equal(fcntl(in[end], F_SETFL, O_NONBLOCK), 0);
        assert_int_equal(fcntl(out[end], F_SETFL, O_NONBLOCK), 0);
    }
    i->channel = pl_ext_channel_open_pipes(h->shard.loop, in[1], out[0], -1, &ops, h);
    assert_non_null(i->channel);
    h->from_host = in[0];
    h->to_host = out[1];
    return h;
}

static void destroy(struct host *h)
{
    struct pl_ext_instance *i = &h->instance;
    i->is_over = true;
    pl_ext_hostcalls_end(i, NULL);
    pl_ext_channel_close(i->channel);
    (void)pl_loop_settle(h->shard.loop);
    pl_ext_calls_deinit(&i->in);
    pl_ext_calls_deinit(&i->out);
    pl_ext_codec_destroy(i->codec);
    pl_arena_deinit(&i->arena);
    pl_ext_registered_release(h->registered);
    pl_ext_place_destroy(h->place);
    pl_table_deinit(&h->exts.places);
    pl_ext_audit_write(&h->exts);
    pl_timer_stop(h->shard.loop, &h->exts.gather);
    pl_batch_destroy(h->exts.gathered);
    pl_buf_deinit(&h->exts.spare);
    pl_ext_logs_deinit(&h->ext);
    pthread_mutex_destroy(&h->ext.lock);
    pl_loop_destroy(h->shard.loop);
    close(h->to_host);
    close(h->from_host);
}

/* Rows of the audit. */
static size_t n_rows(struct host *h)
{
    pl_ext_audit_write(&h->exts);
    return pl_batch_n_writes(h->exts.gathered) - 1; /* the lock of the audit is one write, too */
}

/* The lines of the host's answer. */
static const char *hear(struct host *h)
{
    (void)pl_loop_settle(h->shard.loop);
    ssize_t n = read(h->from_host, h->heard, sizeof h->heard - 1);
    h->heard[n > 0 ? n : 0] = '\0';
    return h->heard;
}

static const char *say_line(struct host *h, const char *line)
{
    pl_ext_hear_line(&h->instance, pl_str_of(line));
    return hear(h);
}

/* Sends a host call with a new id. */
static const char *say(struct host *h, const char *capability, const char *method,
                       const char *params)
{
    char line[2048];
    snprintf(line, sizeof line,
             "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
             "\"c%u\",\"capability\":\"%s\",\"method\":\"%s\",\"params\":%s}}",
             h->n_said++, capability, method, params);
    return say_line(h, line);
}

static bool has(const char *text, const char *part)
{
    bool is = strstr(text, part);
    if (!is)
        print_message("%s is not in %s\n", part, text);
    return is;
}

static size_t n_lines(const char *text)
{
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

static void a_call_has_one_answer(void **state)
{
    struct host *h = host_of("permissive");
    (void)state;
    const char *answer = say(h, "env", "env", "{\"name\":\"PLAIN\"}");
    assert_true(has(answer, "\"values\":{\"PLAIN\":\"value\"}") && n_lines(answer) == 1);
    /* Capabilities are trimmed and case-insensitive. */
    assert_true(has(say(h, " ENV ", "env", "{\"names\":[\"PLAIN\"]}"), "\"PLAIN\":\"value\""));
    assert_true(
        has(say(h, "log", "log", "{\"message\":\"m\",\"level\":\"warn\"}"), "\"output\":{}"));
    assert_string_equal(hear(h), "");
    assert_null(h->instance.hostcalls);
    assert_int_equal(n_rows(h), 2); /* a log entry is not audited */
    destroy(h);
}

static void wrong_types_are_told(void **state)
{
    static const struct {
        const char *capability, *method, *params, *says;
    } wrong[] = {
        {"env", "env", "{\"name\":1}", "name must be a string"},
        {"env", "env", "{\"name\":{}}", "name must be a string"},
        {"env", "env", "{\"name\":\"PLAIN\",\"stream\":true}", "env has no streams"},
        {"env", "env", "{\"name\":\"PLAIN\",\"stream\":\"yes\"}", "stream is true, false or"},
        {"env", "env", "{\"name\":\"PLAIN\",\"stream\":{\"credits\":-1}}", "stream is true, false"},
        {"env", "env", "{\"name\":\"PLAIN\",\"stream\":{\"credits\":1025}}", "stream is true, fal"},
        {"read", "env", "{\"name\":\"PLAIN\"}", "declared capability is not the one"},
        {"none", "env", "{}", "declared capability is not the one"},
        {"env", "envy", "{}", "there is no such method"},
        {"read", "fs", "{\"path\":\"docs/a\"}", "lacks its op or name"},
        {"read", "fs", "{\"op\":[],\"path\":\"docs/a\"}", "lacks its op or name"},
        {"read", "fs", "{\"op\":\"read\",\"path\":[\"docs/a\"]}", "path must be a string"},
        {"tool", "tool", "{\"name\":7}", "lacks its op or name"},
        {"http", "http", "{}", "http needs a url"},
        {"http", "http", "{\"url\":false}", "url must be a string"},
        {"http", "http", "{\"url\":\"http://[\"}", "this is no URL"},
        {"log", "log", "{\"message\":[]}", "message must be a string"},
        {"log", "log", "{\"message\":\"m\",\"level\":\"loud\"}", "a level of debug"},
        {"log", "log", "{}", "log needs a message"},
        {"session", "session", "{\"op\":\"get_state\"}", "no session is at hand"},
    };
    struct host *h = host_of("permissive");
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *answer = say(h, wrong[i].capability, wrong[i].method, wrong[i].params);
        assert_true(has(answer, "\"is_error\":true") && has(answer, "\"invalid_request\"") &&
                    has(answer, wrong[i].says));
        assert_int_equal(n_lines(answer), 1);
        assert_null(h->instance.hostcalls);
    }
    /* The schema refuses two; a third in a row would end the instance. */
    assert_true(has(say(h, "env", "env", "[]"), "schema_violation"));
    assert_true(has(say(h, "env", "env", "null"), "schema_violation"));
    assert_true(has(say(h, "env", "env", "{\"name\":\"PLAIN\"}"), "\"is_error\":false"));
    destroy(h);
}

static void ids_count_once(void **state)
{
    static const char call[] =
        "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":\"one\","
        "\"capability\":\"log\",\"method\":\"log\",\"params\":{\"message\":\"m\"}}}";
    struct host *h = host_of("permissive");
    char line[2048];
    (void)state;
    assert_true(has(say_line(h, call), "\"is_error\":false"));
    assert_true(has(say_line(h, call), "this call_id is missing, in use, or was used recently"));
    /* The longest id, and one byte more. */
    for (int more = 0; more < 2; more++) {
        char id[PL_EXT_CALL_ID_BYTES + 2];
        memset(id, 'a', sizeof id);
        id[PL_EXT_CALL_ID_BYTES + more] = '\0';
        snprintf(
            line, sizeof line,
            "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"host_call\",\"payload\":{\"call_id\":"
            "\"%s\",\"capability\":\"log\",\"method\":\"log\",\"params\":{\"message\":\"m\"}}}",
            id);
        assert_true(has(say_line(h, line), more ? "invalid_request" : "\"is_error\":false"));
    }
    /* An answer without an ask, a cancel and credits for an unknown call: nothing runs. */
    assert_true(has(say_line(h, "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"tool_result\","
                                "\"payload\":{\"call_id\":\"none\",\"output\":{},\"is_error\":"
                                "false}}"),
                    "unknown_call"));
    assert_string_equal(say_line(h, "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"event_hook\","
                                    "\"payload\":{\"event\":\"cancel\",\"data\":{\"call_id\":"
                                    "\"none\"}}}"),
                        "");
    assert_true(has(say_line(h, "{\"id\":\"f\",\"version\":\"1.0\",\"type\":\"event_hook\","
                                "\"payload\":{\"event\":\"stream.credit\",\"data\":{\"call_id\":"
                                "\"none\",\"credits\":\"many\"}}}"),
                    "credits, a whole number from 1"));
    /* Before the register is accepted. */
    h->instance.life = PL_EXT_LIFE_AWAITING_REGISTER;
    assert_true(has(say(h, "log", "log", "{\"message\":\"m\"}"), "has not registered"));
    destroy(h);
}

static void manifests_bind_a_call(void **state)
{
    static const struct {
        const char *capability, *method, *params, *reason;
    } denied[] = {
        {"read", "fs", "{\"op\":\"read\",\"path\":\"src/a\"}", "scope"},
        {"read", "fs", "{\"op\":\"stat\",\"path\":\"docs/../../etc\"}", "path_escape"},
        {"read", "fs", "{\"op\":\"read\",\"path\":\"/etc/passwd\"}", "path_escape"},
        {"read", "tool", "{\"name\":\"read\",\"input\":{\"path\":\"src/a\"}}", "scope"},
        {"write", "fs", "{\"op\":\"write\",\"path\":\".git/hooks/x\"}", "protected_path"},
        {"write", "tool", "{\"name\":\"write\",\"input\":{\"path\":\"a\"}}", "method_not_declared"},
        {"http", "http", "{\"url\":\"https://example.com/\"}", "scope"},
        {"http", "http", "{\"url\":\"http://api.example.com/\"}", "scope"},
        {"http", "http", "{\"url\":\"https://api.example.com:8443/\"}", "scope"},
        {"env", "env", "{\"name\":\"OTHER\"}", "scope"},
        {"env", "env", "{\"names\":[\"PLAIN\",\"OTHER\"]}", "scope"},
        {"env", "env", "{\"names\":[\"PLAIN\",7]}", "scope"},
        {"exec", "exec", "{\"cmd\":\"ls\",\"args\":[]}", "not_declared"},
        {"ui", "ui", "{\"op\":\"notify\",\"session_id\":\"s\"}", "not_declared"},
    };
    struct host *h = host_of("permissive");
    (void)state;
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++) {
        char reason[64];
        const char *answer = say(h, denied[i].capability, denied[i].method, denied[i].params);
        snprintf(reason, sizeof reason, "\"reason\":\"%s\"", denied[i].reason);
        assert_true(has(answer, "\"denied\"") && has(answer, reason));
        assert_null(strstr(answer, "hidden"));
    }
    assert_int_equal(n_rows(h), sizeof denied / sizeof *denied);
    destroy(h);
}

static void a_policy_decides_the_rest(void **state)
{
    static const struct {
        const char *profile, *says;
    } ones[] = {
        {"safe", "\"reason\":\"deny_caps\""},
        {"balanced", "\"reason\":\"prompt_no_person\""}, /* it belongs to no session */
        {"permissive", "\"PLAIN\":\"value\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        struct host *h = host_of(ones[i].profile);
        assert_true(has(say(h, "env", "env", "{\"name\":\"PLAIN\"}"), ones[i].says));
        /* Over a socket there is no cell: calls that need one are denied, whatever the policy. */
        h->instance.is_remote = true;
        assert_true(has(say(h, "env", "env", "{\"name\":\"PLAIN\"}"), "\"reason\":\"remote\""));
        destroy(h);
    }
}

static void one_call_over_the_quota(void **state)
{
    enum { BURST = 200 };
    struct host *h = host_of("permissive");
    (void)state;
    for (size_t i = 0; i < BURST; i++)
        assert_true(has(say(h, "env", "env", "{\"name\":\"PLAIN\"}"), "\"is_error\":false"));
    const char *answer = say(h, "env", "env", "{\"name\":\"PLAIN\"}");
    assert_true(has(answer, "at most 50 calls a second") && has(answer, "\"quota\"") &&
                has(answer, "\"retryable\":true"));
    assert_int_equal(n_rows(h), BURST);
    destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_has_one_answer),
        cmocka_unit_test(wrong_types_are_told),
        cmocka_unit_test(ids_count_once),
        cmocka_unit_test(manifests_bind_a_call),
        cmocka_unit_test(a_policy_decides_the_rest),
        cmocka_unit_test(one_call_over_the_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
