/* ask:    fields of the command, its writes, its span, the kind of its event and that event
 * answer: fields of the answer, its error, the reply */
#include "live/wire/command_wire.h"

#include "live/encode.h"
#include "live/listener.h"
#include "live/wire/event_wire.h"

#define OF_COMMAND(kind, member) PL_WIRE(kind, pl_session_command, member)

static const char *const kind_names[] = {
    [PL_COMMAND_EVENT] = "event",         [PL_COMMAND_LOOK] = "look",
    [PL_COMMAND_SUBSCRIBE] = "subscribe", [PL_COMMAND_DELETE] = "delete",
    [PL_COMMAND_REST] = "rest",
};
static const struct pl_wire_words kinds = PL_WIRE_WORDS(kind_names);

static const char *const resume_names[] = {
    [PL_RESUME_REPLAY] = "replay",
    [PL_RESUME_COMPACTED] = "compacted",
    [PL_RESUME_SNAPSHOT] = "snapshot",
};
static const struct pl_wire_words resumes = PL_WIRE_WORDS(resume_names);

static const char *const session_status_names[] = {
#define X(name, text) [PL_SESSION_##name] = (text),
    PL_SESSION_STATUS_TABLE(X)
#undef X
};
static const struct pl_wire_words session_statuses = PL_WIRE_WORDS(session_status_names);

static const char *const claim_names[] = {
    [PL_CLAIM_NONE] = "none",
    [PL_CLAIM_LISTED] = "listed",
    [PL_CLAIM_CLAIMED] = "claimed",
    [PL_CLAIM_ANSWERED] = "answered",
};
static const struct pl_wire_words claims = PL_WIRE_WORDS(claim_names);

static const char *const problem_names[] = {
#define X(name, code, http, retry, title) [PL_PROBLEM_##name] = (code),
    PL_PROBLEM_TABLE(X)
#undef X
        [PL_PROBLEM_COUNT] = "",
};
static const struct pl_wire_words problems = PL_WIRE_WORDS(problem_names);

static const char *const status_names[] = {
#define X(name, exit, http, ext, retry, text) [PL_##name] = #name,
    PL_STATUS_TABLE(X)
#undef X
};
static const struct pl_wire_words statuses = PL_WIRE_WORDS(status_names);

const struct pl_wire_field pl_command_wire_ask[] = {
    PL_WIRE_ENUM(pl_session_command, kind, kinds),
    OF_COMMAND(TEXT, user_id),
    OF_COMMAND(TEXT, session_id),
    OF_COMMAND(FLAG, is_kept),
    OF_COMMAND(NUMBER, if_version),
    OF_COMMAND(FLAG, has_since),
    OF_COMMAND(NUMBER, since_epoch),
    OF_COMMAND(NUMBER, since_sequence),
    OF_COMMAND(FLAG, wants_whole),
    OF_COMMAND(FLAG, is_admitted),
    OF_COMMAND(FLAG, waits_for_person),
    {0},
};

#define OF_WRITES(kind, member) PL_WIRE(kind, pl_command_writes, member)
const struct pl_wire_field pl_command_wire_writes[] = {
    OF_WRITES(FLAG, ends_shares),
    OF_WRITES(TEXT, share.id),
    OF_WRITES(TEXT, share.user_id),
    OF_WRITES(TEXT, share.session_id),
    OF_WRITES(TEXT, share.hash),
    OF_WRITES(NUMBER, share.created_ms),
    OF_WRITES(TEXT, claim.user_id),
    OF_WRITES(TEXT, claim.key),
    OF_WRITES(TEXT, claim.request_hash),
    OF_WRITES(NUMBER, claim.seed.sign),
    OF_WRITES(NUMBER, claim.seed.unix_ms),
    OF_WRITES(NUMBER, claim.seed.random[0]),
    OF_WRITES(NUMBER, claim.seed.random[1]),
    OF_WRITES(NUMBER, claim.seed.note),
    OF_WRITES(FLAG, claim.is_settling),
    OF_WRITES(FLAG, claim.is_expired),
    OF_WRITES(NUMBER, claim.status),
    OF_WRITES(TEXT, claim.content_type),
    OF_WRITES(TEXT, claim.headers),
    OF_WRITES(TEXT, kept),
    {0},
};

const struct pl_wire_field pl_command_wire_span[] = {
    PL_WIRE(CHARS, pl_span, trace_id), PL_WIRE(CHARS, pl_span, id),
    PL_WIRE(CHARS, pl_span, parent),   PL_WIRE(NUMBER, pl_span, start_us),
    PL_WIRE(FLAG, pl_span, is_told),   {0},
};

const struct pl_wire_field pl_command_wire_answer[] = {
    PL_WIRE_ENUM(pl_session_command, problem, problems),
    PL_WIRE_ENUM(pl_session_command, status, session_statuses),
    PL_WIRE_ENUM(pl_session_command, resume, resumes),
    PL_WIRE_ENUM(pl_session_command, claimed, claims),
    OF_COMMAND(COUNT, n_frames),
    OF_COMMAND(NUMBER, epoch),
    OF_COMMAND(NUMBER, position),
    OF_COMMAND(NUMBER, version),
    OF_COMMAND(NUMBER, before),
    OF_COMMAND(NUMBER, next_entry),
    {0},
};

const struct pl_wire_field pl_command_wire_error[] = {
    PL_WIRE_ENUM(pl_error, status, statuses), PL_WIRE(FLAG, pl_error, has_position),
    PL_WIRE(COUNT, pl_error, offset),         PL_WIRE(COUNT, pl_error, line),
    PL_WIRE(COUNT, pl_error, column),         PL_WIRE(CHARS, pl_error, pointer),
    PL_WIRE(CHARS, pl_error, message),        {0},
};

/* All or nothing. */
static enum pl_status end_writing(struct pl_buf *to, size_t at, enum pl_status status)
{
    if (status == PL_OK)
        status = to->status;
    if (status != PL_OK)
        to->len = at;
    return status;
}

/* --- asks ------------------------------------------------------------------------------------ */

static enum pl_status write_ask(const struct pl_session_command *command, struct pl_buf *to,
                                struct pl_error *err)
{
    struct pl_session_command asked = *command;
    const struct pl_session_event none = {.kind = PL_SE_STOP};
    if (command->extend)
        return pl_fail(
            err, PL_INVALID,
            "A function that adds to the transaction does not travel to another server.");
    if (command->subscription)
        asked.wants_whole = pl_lane_is_whole(command->subscription->lane);
    enum pl_status status = pl_wire_put(to, pl_command_wire_ask, &asked, err);
    if (status == PL_OK)
        status = pl_wire_put(to, pl_command_wire_writes, &command->writes, err);
    if (status == PL_OK)
        status = pl_wire_put(to, pl_command_wire_span, &command->by, err);
    if (status == PL_OK)
        status =
            pl_event_wire_put(to, command->kind == PL_COMMAND_EVENT ? &command->event : &none, err);
    return status;
}

enum pl_status pl_command_wire_write_ask(const struct pl_session_command *command,
                                         struct pl_buf *to, struct pl_error *err)
{
    size_t at = to->len;
    return end_writing(to, at, write_ask(command, to, err));
}

enum pl_status pl_command_wire_read_ask(struct pl_str bytes, struct pl_arena *arena,
                                        struct pl_session_command *command, struct pl_error *err)
{
    struct pl_session_command asked = *command;
    struct pl_str own = pl_arena_dup(arena, bytes);
    if (bytes.len && !own.ptr)
        return pl_fail(err, PL_NOMEM, "There is not enough memory for this.");
    struct pl_node_fields fields = pl_node_fields_of(own);
    enum pl_status status = pl_wire_take(&fields, pl_command_wire_ask, &asked, err);
    if (status == PL_OK)
        status = pl_wire_take(&fields, pl_command_wire_writes, &asked.writes, err);
    if (status == PL_OK)
        status = pl_wire_take(&fields, pl_command_wire_span, &asked.by, err);
    if (status == PL_OK)
        status = pl_event_wire_take(&fields, &asked.event, err);
    if (status == PL_SYNTAX)
        return pl_wire_fail_syntax(err);
    if (status != PL_OK)
        return status;
    pl_wire_copy(pl_command_wire_ask, &asked, command);
    command->writes = asked.writes;
    command->by = asked.by;
    if (command->kind == PL_COMMAND_EVENT)
        command->event = asked.event;
    return PL_OK;
}

/* --- answers --------------------------------------------------------------------------------- */

enum pl_status pl_command_wire_write_answer(const struct pl_session_command *command,
                                            struct pl_buf *to, struct pl_error *err)
{
    size_t at = to->len;
    enum pl_status status = pl_wire_put(to, pl_command_wire_answer, command, err);
    if (status == PL_OK)
        status = pl_wire_put(to, pl_command_wire_error, &command->err, err);
    if (status == PL_OK)
        pl_node_fields_put_bytes(to, pl_buf_str(&command->reply));
    return end_writing(to, at, status);
}

enum pl_status pl_command_wire_read_answer(struct pl_str bytes, struct pl_session_command *command,
                                           struct pl_error *err)
{
    struct pl_session_command answered = *command;
    struct pl_node_fields fields = pl_node_fields_of(bytes);
    enum pl_status status = pl_wire_take(&fields, pl_command_wire_answer, &answered, err);
    if (status == PL_OK)
        status = pl_wire_take(&fields, pl_command_wire_error, &answered.err, err);
    struct pl_str reply = pl_node_fields_bytes(&fields);
    if (status == PL_OK)
        status = fields.status;
    if (status == PL_SYNTAX)
        return pl_wire_fail_syntax(err);
    if (status != PL_OK)
        return status;
    PL_CLEANUP_BUF struct pl_buf copy;
    pl_buf_init(&copy, 0);
    pl_buf_add(&copy, reply);
    if (copy.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "There is not enough memory for the answer.");
    pl_wire_copy(pl_command_wire_answer, &answered, command);
    command->err = answered.err;
    struct pl_buf before = command->reply;
    command->reply = copy;
    copy = before;
    return PL_OK;
}
