/* An ask there and back, to an extension that the test simulates: durable rows first, wrong types
 * in an answer, cancels that cross an answer, queues one over their limit, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "unit/ext/run/ext_world.h"

static const char *const payloads[] = {
    "{\"name\":\"d\",\"version\":\"1\",\"api_version\":\"1.0\",\"capabilities\":[\"session\"],"
    "\"event_hooks\":[\"turn_end\"],\"tools\":[{\"name\":\"t\",\"description\":\"d\","
    "\"parameters\":{\"type\":\"object\"}}]}"};

struct asked {
    struct pl_ext_ask *ask; /* of this test */
    unsigned n_done, n_updates;
    bool is_failed, is_error;
    enum pl_tool_error error;
    char message[256], reply[512], update[512];
};

static unsigned n_left; /* done without a waiting asker */

static void on_done(struct pl_ext_ask *ask)
{
    struct asked *asked = ask->ctx;
    if (!asked) {
        n_left++;
        return;
    }
    asked->n_done++;
    asked->is_failed = ask->is_failed;
    asked->is_error = ask->is_error;
    asked->error = ask->error;
    memcpy(asked->message, ask->message, sizeof asked->message);
    snprintf(asked->reply, sizeof asked->reply, "%.*s", (int)ask->reply.len,
             ask->reply.ptr ? ask->reply.ptr : "");
}

static void on_update(struct pl_ext_ask *ask, struct pl_str content)
{
    struct asked *asked = ask->ctx;
    asked->n_updates++;
    snprintf(asked->update, sizeof asked->update, "%.*s", PL_STR_ARG(content));
}

static struct ext_world *open_world(void)
{
    struct ext_world *world = ext_world_open("permissive", payloads, 1);
    assert_non_null(world);
    n_left = 0;
    return world;
}

static void make(struct ext_world *world, enum pl_ext_ask_kind kind, const char *name,
                 struct asked *ret_asked)
{
    struct pl_ext_ask *ask = pl_ext_ask_create(&world->shard, kind);
    assert_non_null(ask);
    *ret_asked = (struct asked){.ask = ask};
    ask->extension_id = PL_STR("a");
    ask->user_id = PL_STR("user_1");
    ask->session_id = PL_STR("sess_1");
    ask->name = pl_str_of(name);
    ask->input = PL_STR("{\"n\":1}");
    ask->done = on_done;
    ask->update = on_update;
    ask->ctx = ret_asked;
}

static void send_ask(struct ext_world *world, enum pl_ext_ask_kind kind, const char *name,
                     struct asked *ret_asked)
{
    make(world, kind, name, ret_asked);
    pl_ext_ask_send(ret_asked->ask);
}

static bool has(const char *text, const char *part)
{
    bool is = strstr(text, part);
    if (!is)
        print_message("%s is not in %s\n", part, text);
    return is;
}

static size_t n_frames(const char *heard)
{
    size_t n = 0;
    for (; (heard = strchr(heard, '\n')); heard++)
        n++;
    return n;
}

static void answer(struct ext_world *world, const char *id, const char *more)
{
    char line[1024];
    snprintf(line, sizeof line,
             "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"tool_result\",\"payload\":{\"call_id\":"
             "\"%s\",%s}}",
             id, id, more);
    ext_world_say(world, 0, line);
}

#define FINE "\"output\":{\"text\":\"x\"},\"is_error\":false"

static void a_tool_runs_when_its_row_is_durable(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    char id[64];
    (void)state;
    size_t n_before = world->n_rows;
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    const char *heard = ext_world_hear(world, 0);
    assert_int_equal(world->n_rows, n_before + 1);
    assert_true(has(heard, "\"type\":\"tool_call\"") && has(heard, "\"name\":\"t\"") &&
                has(heard, "\"input\":{\"n\":1}") && has(heard, "\"session_id\":\"sess_1\"") &&
                has(heard, "\"has_person\":false"));
    assert_int_equal(n_frames(heard), 1);
    answer(world, ext_world_id(world, 0, id, sizeof id), FINE);
    assert_int_equal(asked.n_done, 1);
    assert_false(asked.is_failed);
    assert_string_equal(asked.reply, "{\"text\":\"x\"}");
    assert_int_equal(world->n_rows, n_before + 2);
    /* A repeated answer is dropped; an answer to an unknown call is reported. */
    answer(world, id, FINE);
    assert_string_equal(ext_world_hear(world, 0), "");
    answer(world, "call_none", FINE);
    assert_true(has(ext_world_hear(world, 0), "unknown_call"));
    assert_int_equal(asked.n_done, 1);
    ext_world_close(world);
}

static void what_cannot_be_audited_is_not_sent(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    (void)state;
    (void)ext_world_hear(world, 0);
    world->store_status = PL_LIMIT;
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    assert_string_equal(ext_world_hear(world, 0), "");
    assert_true(asked.n_done == 1 && asked.is_failed && asked.error == PL_TOOL_ERROR_NOT_AVAILABLE);
    assert_true(has(asked.message, "cannot be audited: the disk is full"));
    ext_world_close(world);
}

static void a_cancel_finds_it_wherever_it_is(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    char id[64];
    (void)state;
    /* Before its row is durable. */
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    pl_ext_ask_cancel(asked.ask);
    assert_string_equal(ext_world_hear(world, 0), "");
    assert_int_equal(n_left, 1);
    /* While it runs: the extension is told, and a late answer is dropped. */
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    (void)ext_world_hear(world, 0);
    ext_world_id(world, 0, id, sizeof id);
    pl_ext_ask_cancel(asked.ask);
    assert_true(has(ext_world_hear(world, 0), "\"event\":\"cancel\""));
    assert_int_equal(n_left, 2);
    answer(world, id, FINE);
    assert_string_equal(ext_world_hear(world, 0), "");
    /* Its answer is already on the way. */
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    (void)ext_world_hear(world, 0);
    ext_world_id(world, 0, id, sizeof id);
    pl_ext_ask_answer(pl_ext_ask_find(ext_world_instance(world, 0), pl_str_of(id)), PL_STR("{}"),
                      false);
    pl_ext_ask_cancel(asked.ask);
    ext_world_settle(world);
    assert_int_equal(n_left, 3);
    assert_int_equal(asked.n_done, 0);
    pl_ext_ask_cancel(NULL);
    ext_world_close(world);
}

static void wrong_types_are_no_answer(void **state)
{
    static const char *const wrong[] = {
        "\"output\":[],\"is_error\":false", "\"output\":\"x\",\"is_error\":false",
        "\"output\":{},\"is_error\":\"no\"", "\"output\":{},\"is_error\":1", "\"is_error\":false"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ext_world *world = open_world();
        struct asked asked;
        char id[64];
        send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
        (void)ext_world_hear(world, 0);
        answer(world, ext_world_id(world, 0, id, sizeof id), wrong[i]);
        assert_true(has(ext_world_hear(world, 0), "schema_violation"));
        assert_int_equal(asked.n_done, 0);
        answer(world, id, "\"output\":{},\"is_error\":true");
        assert_true(asked.n_done == 1 && asked.is_error && !asked.is_failed);
        ext_world_close(world);
    }
}

static void progress_comes_before_the_answer(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    char id[64], line[512];
    (void)state;
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    (void)ext_world_hear(world, 0);
    ext_world_id(world, 0, id, sizeof id);
    snprintf(line, sizeof line,
             "{\"id\":\"u\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
             "\"tool_execution_update\",\"data\":{\"call_id\":\"%s\",\"content\":[1]}}}",
             id);
    ext_world_say(world, 0, line);
    assert_true(asked.n_updates == 1 && !asked.n_done);
    assert_string_equal(asked.update, "[1]");
    answer(world, id, FINE);
    ext_world_say(world, 0, line);
    assert_string_equal(ext_world_hear(world, 0), "");
    assert_int_equal(asked.n_updates, 1);
    ext_world_close(world);
}

/* Progress goes to every client of the user: of a flood, the first is sent at once, then the
 * newest. */
static void of_much_progress_the_first_and_the_last_are_told(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    char id[64], line[512];
    (void)state;
    send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
    (void)ext_world_hear(world, 0);
    ext_world_id(world, 0, id, sizeof id);
    for (int i = 1; i <= 50; i++) {
        snprintf(line, sizeof line,
                 "{\"id\":\"u\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
                 "\"tool_execution_update\",\"data\":{\"call_id\":\"%s\",\"content\":[%d]}}}",
                 id, i);
        ext_world_say(world, 0, line);
        assert_int_equal(asked.n_updates, 1);
    }
    assert_string_equal(asked.update, "[1]");
    answer(world, id, FINE);
    assert_true(asked.n_updates == 2 && asked.n_done == 1);
    assert_string_equal(asked.update, "[50]");
    ext_world_close(world);
}

/* Frames that cost the sender nothing: one over the quota is reported, the third ends the
 * extension. */
static void frames_without_end_are_its_end(void **state)
{
    static const struct {
        const char *line, *says, *why;
        int most;
    } floods[] = {
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
         "\"cancel\","
         "\"data\":{\"call_id\":\"nobody\"}}}",
         "or 100 that mean nothing", "its quota of frames", 100},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"event_hook\",\"payload\":{\"event\":"
         "\"cancel\","
         "\"data\":{\"cancel_token\":\"t\"}}}",
         "at most 10,000 frames a second", "its quota of frames", 10000},
        {"{\"id\":\"x\",\"version\":\"1.0\",\"type\":\"log\",\"payload\":{\"schema\":"
         "\"pi.ext.log.v1\",\"ts\":\"2026-01-01T00:00:00Z\",\"level\":\"info\",\"event\":\"e\","
         "\"message\":\"m\",\"correlation\":{\"extension_id\":\"x\",\"scenario_id\":\"y\"}}}",
         "at most 100 log lines a second", "its quota of log lines", 100},
    };
    (void)state;
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        struct ext_world *world = open_world();
        for (int n = 0; n < floods[i].most; n++)
            ext_world_say(world, 0, floods[i].line);
        assert_string_equal(ext_world_hear(world, 0), "");
        for (int n = 0; n < 2; n++) {
            ext_world_say(world, 0, floods[i].line);
            assert_true(has(ext_world_hear(world, 0), floods[i].says));
        }
        struct asked asked;
        send_ask(world, PL_EXT_ASK_TOOL, "t", &asked);
        (void)ext_world_hear(world, 0);
        ext_world_say(world, 0, floods[i].line);
        assert_null(ext_world_instance(world, 0));
        assert_true(asked.is_failed && has(asked.message, floods[i].why));
        ext_world_close(world);
    }
}

static void one_over_the_queue_is_refused(void **state)
{
    enum { ALL = 16 + 256 + 1 };
    static struct asked asked[ALL];
    struct ext_world *world = open_world();
    (void)state;
    for (size_t i = 0; i < ALL; i++)
        send_ask(world, PL_EXT_ASK_COMMAND, "c", &asked[i]);
    assert_int_equal(n_frames(ext_world_hear(world, 0)), 16);
    for (size_t i = 0; i + 1 < ALL; i++)
        assert_int_equal(asked[i].n_done, 0);
    assert_true(asked[ALL - 1].is_failed && asked[ALL - 1].error == PL_TOOL_ERROR_LIMIT);
    /* Whatever ends it, each call fails once. */
    pl_ext_instance_end(ext_world_instance(world, 0), PL_EXT_LIFE_KILLED, "it was killed");
    ext_world_settle(world);
    for (size_t i = 0; i + 1 < ALL; i++)
        assert_true(asked[i].n_done == 1 && asked[i].error == PL_TOOL_ERROR_INTERRUPTED);
    assert_true(has(asked[0].message, "ended before it answered: it was killed"));
    ext_world_close(world);
}

static void a_sequential_tool_runs_one_call_at_a_time(void **state)
{
    struct ext_world *world = open_world();
    struct asked first, second;
    char id[64];
    (void)state;
    make(world, PL_EXT_ASK_TOOL, "t", &first);
    make(world, PL_EXT_ASK_TOOL, "t", &second);
    first.ask->is_sequential = second.ask->is_sequential = true;
    pl_ext_ask_send(first.ask);
    pl_ext_ask_send(second.ask);
    assert_int_equal(n_frames(ext_world_hear(world, 0)), 1);
    answer(world, ext_world_id(world, 0, id, sizeof id), FINE);
    assert_int_equal(first.n_done, 1);
    assert_int_equal(n_frames(ext_world_hear(world, 0)), 1);
    answer(world, ext_world_id(world, 0, id, sizeof id), FINE);
    assert_int_equal(second.n_done, 1);
    ext_world_close(world);
}

static void each_kind_has_its_frame(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    char id[64], line[512];
    (void)state;
    send_ask(world, PL_EXT_ASK_COMMAND, "c", &asked);
    assert_true(has(ext_world_hear(world, 0), "\"type\":\"slash_command\"") &&
                has(world->ones[0].heard, "\"args\":[]"));
    snprintf(line, sizeof line,
             "{\"id\":\"%s\",\"version\":\"1.0\",\"type\":\"slash_result\",\"payload\":{\"output\":"
             "{\"text\":\"c\"},\"is_error\":false}}",
             ext_world_id(world, 0, id, sizeof id));
    ext_world_say(world, 0, line);
    assert_string_equal(asked.reply, "{\"text\":\"c\"}");
    make(world, PL_EXT_ASK_EVENT, "", &asked);
    asked.ask->hook = PL_EXT_HOOK_TURN_END;
    pl_ext_ask_send(asked.ask);
    assert_true(has(ext_world_hear(world, 0), "\"event\":\"turn_end\""));
    assert_true(asked.n_done == 1 && !asked.is_failed);
    send_ask(world, PL_EXT_ASK_WAKE, "", &asked);
    assert_string_equal(ext_world_hear(world, 0), "");
    assert_true(asked.n_done == 1 && !asked.is_failed);
    send_ask(world, PL_EXT_ASK_STOP, "", &asked);
    assert_true(has(ext_world_hear(world, 0), "\"event\":\"shutdown\""));
    assert_int_equal(asked.n_done, 1);
    ext_world_close(world);
}

static void what_is_not_there_says_so(void **state)
{
    struct ext_world *world = open_world();
    struct asked asked;
    (void)state;
    make(world, PL_EXT_ASK_TOOL, "t", &asked);
    asked.ask->extension_id = PL_STR("none");
    pl_ext_ask_send(asked.ask);
    ext_world_settle(world);
    assert_true(asked.n_done == 1 && asked.is_failed);
    assert_true(has(asked.message, "none does not run: it is not installed"));
    pl_ext_place_destroy(pl_ext_place_find(&world->exts, PL_STR("none"), PL_STR("user_1")));
    world->exts.is_stopping = true;
    world->exts.stop_hook.fn = NULL;
    send_ask(world, PL_EXT_ASK_COMMAND, "c", &asked);
    ext_world_settle(world);
    assert_true(asked.is_failed && has(asked.message, "The server ends"));
    ext_world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_runs_when_its_row_is_durable),
        cmocka_unit_test(what_cannot_be_audited_is_not_sent),
        cmocka_unit_test(a_cancel_finds_it_wherever_it_is),
        cmocka_unit_test(wrong_types_are_no_answer),
        cmocka_unit_test(progress_comes_before_the_answer),
        cmocka_unit_test(of_much_progress_the_first_and_the_last_are_told),
        cmocka_unit_test(frames_without_end_are_its_end),
        cmocka_unit_test(one_over_the_queue_is_refused),
        cmocka_unit_test(a_sequential_tool_runs_one_call_at_a_time),
        cmocka_unit_test(each_kind_has_its_frame),
        cmocka_unit_test(what_is_not_there_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
