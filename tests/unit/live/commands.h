/* Commands with every member set, for the tests of their wire format. The initialisers are
 * positional, and it is an error to omit one: a new member of a struct fails here first, and then
 * in the test until it is in a table of live/wire. */
#ifndef PL_TESTS_UNIT_LIVE_COMMANDS_H
#define PL_TESTS_UNIT_LIVE_COMMANDS_H

#include "live/command.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"

#define TX(text)                                                                                   \
    {                                                                                              \
        "" text, sizeof(text) - 1                                                                  \
    }
/* None of its bytes is zero. */
#define NR(last) INT64_C(0x01020304050607##last)

static const struct pl_session_event events[] = {
    {.kind = PL_SE_CHAT,
     .chat = {TX("\"hello\""), true, TX("c1"), TX("m1"), NR(11), PL_CHAT_MODE_EXECUTING,
              PL_CHAT_CHINESE, PL_BUSY_STEER, TX("{}"), TX("t1"), TX("k1")}},
    {.kind = PL_SE_ANSWER, .answer = {TX("call"), TX("{\"approve\":true}"), TX("t2"), TX("k2")}},
    {.kind = PL_SE_STOP},
    {.kind = PL_SE_COMPACT, .compact = {TX("manual"), TX("root")}},
    {.kind = PL_SE_SETTINGS, .settings = {true,          true,
                                          true,          true,
                                          true,          true,
                                          true,          true,
                                          true,          true,
                                          true,          true,
                                          true,          TX("int"),
                                          TX("mod"),     TX("sol"),
                                          TX("rol"),     true,
                                          true,          true,
                                          true,          TX("{\"s\":1}"),
                                          true,          true,
                                          true,          TX("2.5"),
                                          TX("be kind"), TX("{\"t\":1}"),
                                          TX("[1]"),     TX("{\"h\":1}")}},
    {.kind = PL_SE_NOTICE, .notice = {TX("note")}},
    {.kind = PL_SE_GO_ON},
    {.kind = PL_SE_CLIENT_RESULT,
     .tool = {TX("call_2"), TX("[{}]"), true, NR(12), TX("confirm"), TX("{\"q\":1}"), NR(13)}},
    {.kind = PL_SE_ASIDE, .aside = {TX("a1"), TX("turn_1"), TX("ask"), TX("{\"questions\":[]}")}},
    {.kind = PL_SE_ASIDE_END, .aside = {TX("a2"), TX("turn_2"), TX("capability"), TX("{}")}},
};
enum { N_EVENTS = sizeof events / sizeof *events };

static const struct pl_span full_span = {
    "0123456789abcdef0123456789abcdef", "fedcba9876543210", "0011223344556677", NR(21), true,
};

static const struct pl_error full_error = {
    PL_CONFLICT, true, (size_t)NR(22), (size_t)NR(23), (size_t)NR(24), "/a/b", "What, and why.",
};

static const struct pl_command_writes full_writes = {
    true,
    {TX("share_1"), TX("user_1"), TX("sess_1"), TX("hash"), NR(25)},
    {TX("user_1"),
     TX("key"),
     TX("request"),
     {NR(26), NR(27), {NR(28), NR(29)}, NR(2a)},
     true,
     true,
     NR(2b),
     TX("application/json"),
     TX("A: b\r\n")},
    TX("{}"),
};

/* Every small member set; struct members are in the other tables here, or are not sent. */
static const struct pl_session_command small_members = {
    {},
    PL_COMMAND_STATE_HOME,
    PL_COMMAND_REST,
    (void *)NR(51),
    TX("u"),
    TX("s"),
    {0},
    {0},
    (void *)NR(52),
    1,
    {0},
    true,
    NR(53),
    {0},
    (void *)NR(54),
    (void *)NR(55),
    {{0x60}},
    NR(61),
    (size_t)NR(62),
    NR(63),
    true,
    NR(56),
    NR(57),
    (void *)NR(58),
    true,
    PL_RESUME_SNAPSHOT,
    0x01020304,
    true,
    (void *)NR(59),
    true,
    {{0x64}},
    PL_SESSION_WAITING,
    PL_PROBLEM_TIMEOUT,
    {0},
    {0},
    NR(5a),
    NR(5b),
    NR(5c),
    PL_CLAIM_ANSWERED,
    NR(5d),
    NR(5e),
    (void *)NR(5f),
};

#pragma GCC diagnostic pop

/* A command to ask, with every member that the kind may have. */
static inline struct pl_session_command full_command(enum pl_command_kind kind,
                                                     const struct pl_session_event *event)
{
    struct pl_session_command command;
    pl_session_command_init(&command, kind, NULL, PL_STR("user_1"), PL_STR("sess_1"));
    command.event = *event;
    command.by = full_span;
    command.writes = full_writes;
    command.is_kept = command.has_since = command.wants_whole = true;
    command.is_admitted = command.waits_for_person = true;
    command.if_version = NR(31);
    command.since_epoch = NR(32);
    command.since_sequence = NR(33);
    return command;
}

/* … and its answer; the caller frees the reply. */
static inline void answer_fully(struct pl_session_command *command)
{
    command->problem = PL_PROBLEM_SESSION_BUSY;
    command->status = PL_SESSION_WAITING;
    command->resume = PL_RESUME_SNAPSHOT;
    command->n_frames = 0x01020304;
    command->claimed = PL_CLAIM_ANSWERED;
    command->epoch = NR(41);
    command->position = NR(42);
    command->version = NR(43);
    command->before = NR(44);
    command->next_entry = NR(45);
    command->err = full_error;
    pl_buf_adds(&command->reply, "{\"session\":{}}");
}

#endif
