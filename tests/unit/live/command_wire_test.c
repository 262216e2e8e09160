/* Commands there and back: every kind, every member, and invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "live/listener.h"
#include "live/wire/command_wire.h"
#include "live/wire/event_wire.h"
#include "unit/live/commands.h"

/* --- members --------------------------------------------------------------------------------- */

/* A byte that is set and belongs to no line of the table is a forgotten member. */
static void all_is_in_table(const struct pl_wire_field *table, const void *full, size_t from,
                            size_t size)
{
    for (size_t i = from; i < size; i++) {
        bool is_known = !((const char *)full)[i];
        for (const struct pl_wire_field *f = table; f->kind != PL_WIRE_END; f++)
            is_known |= i >= f->offset && i < f->offset + f->size;
        if (!is_known)
            print_error("byte %zu of %zu does not travel\n", i, size);
        assert_true(is_known);
    }
}

static void members_are_equal(const struct pl_wire_field *table, const void *a, const void *b)
{
    for (; table->kind != PL_WIRE_END; table++) {
        const char *x = (const char *)a + table->offset, *y = (const char *)b + table->offset;
        if (table->kind == PL_WIRE_TEXT) {
            const struct pl_str *s = (const void *)x, *t = (const void *)y;
            assert_true(pl_str_eq(*s, *t));
            assert_int_equal(!s->ptr, !t->ptr);
        } else {
            assert_memory_equal(x, y, table->size);
        }
    }
}

static void no_member_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EVENTS; i++)
        all_is_in_table(pl_event_wire_fields(events[i].kind), &events[i],
                        offsetof(struct pl_session_event, chat), sizeof events[i]);
    all_is_in_table(pl_command_wire_span, &full_span, 0, sizeof full_span);
    all_is_in_table(pl_command_wire_writes, &full_writes, 0, sizeof full_writes);
    all_is_in_table(pl_command_wire_error, &full_error, 0, sizeof full_error);
}

static bool is_in(const struct pl_wire_field *table, size_t at)
{
    for (; table->kind != PL_WIRE_END; table++)
        if (at >= table->offset && at < table->offset + table->size)
            return true;
    return false;
}

/* A member of a command is sent with the ask, with the answer, separately, or not at all. */
static void no_member_of_a_command_is_forgotten(void **state)
{
    (void)state;
#define MEMBER(name)                                                                               \
    {                                                                                              \
        PL_WIRE_FLAG, #name, offsetof(struct pl_session_command, name),                            \
            sizeof(((struct pl_session_command *)0)->name), NULL                                   \
    }
    static const struct pl_wire_field others[] = {
        MEMBER(event),
        MEMBER(writes),
        MEMBER(by),
        MEMBER(err),
        MEMBER(reply), /* separate fields */
        MEMBER(letter),
        MEMBER(state),
        MEMBER(home),
        MEMBER(record),
        MEMBER(says),
        MEMBER(n_says),
        MEMBER(extend),
        MEMBER(done),
        MEMBER(asker),
        MEMBER(routed_ms),
        MEMBER(n_elsewhere),
        MEMBER(ask),
        MEMBER(served_by),
        MEMBER(subscription),
        MEMBER(own_text),
        MEMBER(next),
        {0},
    };
    for (size_t i = 0; i < sizeof small_members; i++)
        assert_true(!((const char *)&small_members)[i] || is_in(pl_command_wire_ask, i) ||
                    is_in(pl_command_wire_answer, i) || is_in(others, i));
    for (const struct pl_wire_field *f = pl_command_wire_ask; f->kind != PL_WIRE_END; f++)
        assert_false(is_in(pl_command_wire_answer, f->offset));
}

/* --- there and back -------------------------------------------------------------------------- */

static void write_ask(const struct pl_session_command *command, struct pl_buf *to)
{
    struct pl_error err = {0};
    pl_buf_init(to, 0);
    assert_int_equal(pl_command_wire_write_ask(command, to, &err), PL_OK);
}

static enum pl_status read_ask(struct pl_str bytes, struct pl_arena *arena,
                               struct pl_session_command *ret_command, struct pl_error *err)
{
    pl_session_command_init(ret_command, PL_COMMAND_CREATE, NULL, (struct pl_str){0},
                            (struct pl_str){0});
    return pl_command_wire_read_ask(bytes, arena, ret_command, err);
}

static void every_event_comes_as_it_was_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EVENTS; i++) {
        struct pl_session_command sent = full_command(PL_COMMAND_EVENT, &events[i]), got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        write_ask(&sent, &bytes);
        assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
        memset(bytes.ptr, 'x', bytes.len); /* nothing reads it any more */
        members_are_equal(pl_command_wire_ask, &sent, &got);
        members_are_equal(pl_command_wire_span, &sent.by, &got.by);
        members_are_equal(pl_command_wire_writes, &sent.writes, &got.writes);
        assert_int_equal(got.event.kind, events[i].kind);
        assert_null(got.event.seed);
        members_are_equal(pl_event_wire_fields(events[i].kind), &sent.event, &got.event);
        assert_int_equal(got.problem, PL_PROBLEM_COUNT);
    }
}

static void other_commands_come_as_they_were_sent(void **state)
{
    (void)state;
    static const enum pl_command_kind kinds[] = {PL_COMMAND_LOOK, PL_COMMAND_SUBSCRIBE,
                                                 PL_COMMAND_DELETE, PL_COMMAND_REST};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct pl_session_command sent = full_command(kinds[i], &events[0]), got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        write_ask(&sent, &bytes);
        assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
        members_are_equal(pl_command_wire_ask, &sent, &got);
        assert_int_equal(got.kind, kinds[i]);
    }
}

static void the_service_itself_is_not_a_user_without_a_name(void **state)
{
    (void)state;
    static const struct pl_str users[] = {{NULL, 0}, {"", 0}, {"u", 1}};
    for (size_t i = 0; i < 3; i++) {
        struct pl_session_command sent = full_command(PL_COMMAND_LOOK, &events[0]), got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        sent.user_id = users[i];
        write_ask(&sent, &bytes);
        assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
        assert_int_equal(!got.user_id.ptr, !users[i].ptr);
        assert_int_equal(got.user_id.len, users[i].len);
    }
}

static void the_lane_of_a_listener_becomes_a_wish(void **state)
{
    (void)state;
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++) {
        struct pl_subscription sub = {.lane = (enum pl_lane)lane};
        struct pl_session_command sent = full_command(PL_COMMAND_SUBSCRIBE, &events[0]), got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        sent.subscription = &sub;
        write_ask(&sent, &bytes);
        assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
        assert_int_equal(got.wants_whole, lane == PL_LANE_WS_WHOLE || lane == PL_LANE_SSE_WHOLE);
        assert_null(got.subscription);
    }
}

static void an_answer_comes_as_it_was_given(void **state)
{
    (void)state;
    for (int problem = 0; problem <= PL_PROBLEM_COUNT; problem++) {
        struct pl_session_command given = full_command(PL_COMMAND_EVENT, &events[0]);
        struct pl_session_command asked = full_command(PL_COMMAND_EVENT, &events[0]);
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_buf_init(&bytes, 0);
        answer_fully(&given);
        given.problem = (enum pl_problem)problem;
        pl_buf_adds(&asked.reply, "an old one");
        assert_int_equal(pl_command_wire_write_answer(&given, &bytes, NULL), PL_OK);
        assert_int_equal(pl_command_wire_read_answer(pl_buf_str(&bytes), &asked, NULL), PL_OK);
        members_are_equal(pl_command_wire_answer, &given, &asked);
        members_are_equal(pl_command_wire_error, &given.err, &asked.err);
        assert_true(pl_str_eq(pl_buf_str(&given.reply), pl_buf_str(&asked.reply)));
        members_are_equal(pl_command_wire_ask, &given, &asked);
        pl_buf_deinit(&given.reply);
        pl_buf_deinit(&asked.reply);
    }
}

/* --- commands that cannot be sent ------------------------------------------------------------ */

static void extend(struct pl_session_command *command, struct pl_batch *batch)
{
    (void)command;
    (void)batch;
}

static void refuses_to_write(const struct pl_session_command *command)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    pl_buf_adds(&bytes, "before");
    assert_int_equal(pl_command_wire_write_ask(command, &bytes, &err), PL_INVALID);
    assert_true(err.message[0]);
    assert_true(pl_str_eq(pl_buf_str(&bytes), PL_STR("before")));
    assert_int_equal(bytes.status, PL_OK);
}

static void what_cannot_travel_is_refused(void **state)
{
    (void)state;
    struct pl_session_command command = full_command(PL_COMMAND_CREATE, &events[0]);
    refuses_to_write(&command);
    command = full_command(PL_COMMAND_DELETE, &events[0]);
    command.extend = extend;
    refuses_to_write(&command);
    size_t n_travel = 0;
    for (int kind = 0; kind <= PL_SE_TOOL_GO + 1; kind++) {
        bool travels = false;
        for (size_t i = 0; i < N_EVENTS; i++)
            travels |= (int)events[i].kind == kind;
        assert_int_equal(pl_event_wire_fields((enum pl_session_event_kind)kind) != NULL, travels);
        struct pl_session_event event = {.kind = (enum pl_session_event_kind)kind};
        command = full_command(PL_COMMAND_EVENT, &event);
        n_travel += travels;
        if (!travels)
            refuses_to_write(&command);
    }
    assert_int_equal(n_travel, N_EVENTS);
}

/* --- invalid bytes --------------------------------------------------------------------------- */

static void is_refused(struct pl_str bytes)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_error err = {0};
    struct pl_session_command got;
    pl_arena_init(&arena, 0);
    enum pl_status status = read_ask(bytes, &arena, &got, &err);
    assert_true(status == PL_SYNTAX || status == PL_INVALID);
    assert_true(err.message[0]);
    assert_int_equal(got.kind, PL_COMMAND_CREATE); /* unchanged */
    assert_null(got.session_id.ptr);
}

static void an_ask_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EVENTS; i++) {
        struct pl_session_command sent = full_command(PL_COMMAND_EVENT, &events[i]);
        PL_CLEANUP_BUF struct pl_buf bytes;
        write_ask(&sent, &bytes);
        for (size_t n = 0; n < bytes.len; n++) {
            char *copy = malloc(n ? n : 1); /* exact size: the sanitizer detects an extra byte */
            memcpy(copy, bytes.ptr, n);
            is_refused((struct pl_str){copy, n});
            free(copy);
        }
    }
}

static void an_answer_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct pl_session_command given = full_command(PL_COMMAND_EVENT, &events[0]);
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    answer_fully(&given);
    assert_int_equal(pl_command_wire_write_answer(&given, &bytes, NULL), PL_OK);
    for (size_t n = 0; n < bytes.len; n++) {
        struct pl_session_command asked = full_command(PL_COMMAND_LOOK, &events[0]);
        struct pl_error err = {0};
        assert_int_equal(pl_command_wire_read_answer((struct pl_str){bytes.ptr, n}, &asked, &err),
                         PL_SYNTAX);
        assert_true(err.message[0]);
        assert_int_equal(asked.problem, PL_PROBLEM_COUNT);
        assert_int_equal(asked.epoch, 0);
        assert_false(asked.err.message[0]);
        assert_int_equal(asked.reply.len, 0);
    }
    pl_buf_deinit(&given.reply);
}

/* Every byte changed: a refusal at worst, never an invalid value. */
static void an_ask_with_any_other_byte_is_read_or_refused(void **state)
{
    (void)state;
    static const char others[] = {'\0', 'n', 'b', '\xff'};
    struct pl_session_command sent = full_command(PL_COMMAND_EVENT, &events[0]), got;
    PL_CLEANUP_BUF struct pl_buf bytes;
    write_ask(&sent, &bytes);
    size_t n_refused = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        for (size_t k = 0; k < sizeof others; k++) {
            PL_CLEANUP_ARENA struct pl_arena arena;
            char was = bytes.ptr[i];
            pl_arena_init(&arena, 0);
            bytes.ptr[i] = others[k];
            if (read_ask(pl_buf_str(&bytes), &arena, &got, NULL) == PL_OK) {
                assert_true(got.kind != PL_COMMAND_CREATE && got.kind <= PL_COMMAND_REST);
                assert_true(pl_event_wire_fields(got.event.kind) != NULL);
            } else {
                n_refused++;
            }
            bytes.ptr[i] = was;
        }
    }
    assert_true(n_refused > 0);
}

static void replace(struct pl_buf *bytes, const char *word, const char *by)
{
    size_t at = pl_str_find(pl_buf_str(bytes), pl_str_of(word));
    assert_true(at != SIZE_MAX);
    memcpy(bytes->ptr + at, by, strlen(word));
}

static void words_that_are_unknown_here_are_named(void **state)
{
    (void)state;
    static const char *const changes[][3] = {
        {"event", "evenT", "kind"},
        {"chat", "chaT", "event.kind"},
        {"executing", "executinG", "chat.mode"},
        {"steer", "steeR", "chat.when_busy"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct pl_session_command sent = full_command(PL_COMMAND_EVENT, &events[0]), got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        struct pl_error err = {0};
        pl_arena_init(&arena, 0);
        write_ask(&sent, &bytes);
        replace(&bytes, changes[i][0], changes[i][1]);
        assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, &err), PL_INVALID);
        assert_non_null(strstr(err.message, changes[i][2]));
    }
}

/* Numbers that do not fit, and texts that are too long for their field. */
static void huge_values_are_refused(void **state)
{
    (void)state;
    struct {
        struct pl_session_command command;
    } given = {full_command(PL_COMMAND_EVENT, &events[0])};
    PL_CLEANUP_BUF struct pl_buf bytes, huge;
    pl_buf_init(&bytes, 0);
    pl_buf_init(&huge, 0);
    answer_fully(&given.command);
    given.command.n_frames = UINT32_MAX;
    assert_int_equal(pl_command_wire_write_answer(&given.command, &bytes, NULL), PL_OK);
    struct pl_session_command asked = full_command(PL_COMMAND_LOOK, &events[0]);
    assert_int_equal(pl_command_wire_read_answer(pl_buf_str(&bytes), &asked, NULL), PL_OK);
    assert_int_equal(asked.n_frames, UINT32_MAX);
    pl_buf_deinit(&asked.reply);
    replace(&bytes, "\xff\xff\xff\xff", "\x7f\xff\xff\xff");
    size_t at = pl_str_find(pl_buf_str(&bytes), PL_STR("\x7f\xff\xff\xff"));
    bytes.ptr[at - 1] = 1; /* 0x17fffffff */
    asked = full_command(PL_COMMAND_LOOK, &events[0]);
    assert_int_equal(pl_command_wire_read_answer(pl_buf_str(&bytes), &asked, NULL), PL_INVALID);
    assert_int_equal(asked.n_frames, 0);

    /* One digit more than a span has. */
    struct {
        char trace_id[40];
    } longer = {"0123456789abcdef0123456789abcdef0"};
    static const struct pl_wire_field table[] = {
        {PL_WIRE_CHARS, "trace_id", 0, sizeof longer.trace_id, NULL}, {0}};
    struct pl_span span;
    assert_int_equal(pl_wire_put(&huge, table, &longer, NULL), PL_OK);
    struct pl_node_fields fields = pl_node_fields_of(pl_buf_str(&huge));
    assert_int_equal(pl_wire_take(&fields, pl_command_wire_span, &span, NULL), PL_INVALID);
    pl_buf_deinit(&given.command.reply);
}

static void what_comes_after_the_known_fields_is_left(void **state)
{
    (void)state;
    struct pl_session_command sent = full_command(PL_COMMAND_EVENT, &events[0]), got;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_arena_init(&arena, 0);
    write_ask(&sent, &bytes);
    pl_node_fields_put_number(&bytes, 5);
    assert_int_equal(read_ask(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
    members_are_equal(pl_event_wire_fields(PL_SE_CHAT), &sent.event, &got.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_member_is_forgotten),
        cmocka_unit_test(no_member_of_a_command_is_forgotten),
        cmocka_unit_test(every_event_comes_as_it_was_sent),
        cmocka_unit_test(other_commands_come_as_they_were_sent),
        cmocka_unit_test(the_service_itself_is_not_a_user_without_a_name),
        cmocka_unit_test(the_lane_of_a_listener_becomes_a_wish),
        cmocka_unit_test(an_answer_comes_as_it_was_given),
        cmocka_unit_test(what_cannot_travel_is_refused),
        cmocka_unit_test(an_ask_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(an_answer_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(an_ask_with_any_other_byte_is_read_or_refused),
        cmocka_unit_test(words_that_are_unknown_here_are_named),
        cmocka_unit_test(huge_values_are_refused),
        cmocka_unit_test(what_comes_after_the_known_fields_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
