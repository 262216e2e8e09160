/* A command to a session that another server drives, and its answer: the bodies of an ask and of an
 * answer between nodes. Who numbers them, sends them and waits is not here.
 *
 * PL_COMMAND_CREATE does not travel: a session is made where the request arrives. Nor do `extend`, a
 * function, and the subscription, an address: a node listens itself (`wants_whole`), and gets the
 * missed frames unspelled (frames_wire.h). A message that extensions have changed travels as
 * event.chat.message; the memory behind it (own_text) stays. */
#ifndef PL_LIVE_WIRE_COMMAND_WIRE_H
#define PL_LIVE_WIRE_COMMAND_WIRE_H

#include "live/command.h"
#include "live/wire/wire_fields.h"

/* Appends the ask. PL_INVALID: it cannot travel (CREATE, an event of a kind that no command brings, an
 * `extend`), and *err says what; PL_NOMEM, PL_LIMIT: as the status of `to`. Nothing is appended then. */
enum pl_status pl_command_wire_write_ask(const struct pl_session_command *command,
                                         struct pl_buf *to, struct pl_error *err);
/* Reads an ask into a command that pl_session_command_init has made, with its home; its strings are
 * copied to the arena, which must live as long as the command. PL_SYNTAX, PL_INVALID, PL_NOMEM: the
 * command is as it was. */
enum pl_status pl_command_wire_read_ask(struct pl_str bytes, struct pl_arena *arena,
                                        struct pl_session_command *command, struct pl_error *err);

/* Appends the answer of a command that is carried out. Failures as above. */
enum pl_status pl_command_wire_write_answer(const struct pl_session_command *command,
                                            struct pl_buf *to, struct pl_error *err);
/* Puts the answer into the command that was asked: problem, err, reply and all. The reply is copied
 * into command->reply. PL_SYNTAX, PL_INVALID, PL_NOMEM: its answer is as it was. */
enum pl_status pl_command_wire_read_answer(struct pl_str bytes, struct pl_session_command *command,
                                           struct pl_error *err);

/* The members that travel by a table, for the tests: the ask's, those of its writes, the span's, the answer's and the
 * error's. */
extern const struct pl_wire_field pl_command_wire_ask[], pl_command_wire_writes[],
    pl_command_wire_span[], pl_command_wire_answer[], pl_command_wire_error[];

#endif
