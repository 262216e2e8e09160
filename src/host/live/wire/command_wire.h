/* A command to a session that another server drives, and its answer: the bodies of an ask and of an
 * answer between nodes. Numbering, sending and waiting are elsewhere.
 *
 * PL_COMMAND_CREATE is not sent: a session is created where the request arrives. `extend`, a
 * function, and the subscription, an address, are not sent either: a node subscribes itself
 * (`wants_whole`) and gets the missed frames in the form of frames_wire.h. A message that
 * extensions have changed is sent as event.chat.message; its memory (own_text) stays. */
#ifndef PL_LIVE_WIRE_COMMAND_WIRE_H
#define PL_LIVE_WIRE_COMMAND_WIRE_H

#include "live/command.h"
#include "live/wire/wire_fields.h"

/* Appends the ask. PL_INVALID: it cannot be sent (CREATE, an event of a kind that no command has,
 * an `extend`), and *err says which; PL_NOMEM, PL_LIMIT: as the status of `to`. On failure nothing
 * is appended. */
enum pl_status pl_command_wire_write_ask(const struct pl_session_command *command,
                                         struct pl_buf *to, struct pl_error *err);
/* Reads an ask into a command that pl_session_command_init has initialized, with its home. Its
 * strings are copied to the arena, which must live as long as the command. PL_SYNTAX, PL_INVALID,
 * PL_NOMEM: the command is unchanged. */
enum pl_status pl_command_wire_read_ask(struct pl_str bytes, struct pl_arena *arena,
                                        struct pl_session_command *command, struct pl_error *err);

/* Appends the answer of an executed command. Fails like the function above. */
enum pl_status pl_command_wire_write_answer(const struct pl_session_command *command,
                                            struct pl_buf *to, struct pl_error *err);
/* Copies the answer into the command that was sent: problem, err, reply and the rest. PL_SYNTAX,
 * PL_INVALID, PL_NOMEM: its answer is unchanged. */
enum pl_status pl_command_wire_read_answer(struct pl_str bytes, struct pl_session_command *command,
                                           struct pl_error *err);

/* The members that are sent by a table, for the tests: of the ask, its writes, the span, the answer
 * and the error. */
extern const struct pl_wire_field pl_command_wire_ask[], pl_command_wire_writes[],
    pl_command_wire_span[], pl_command_wire_answer[], pl_command_wire_error[];

#endif
